/*
 * The command line of the stencil.
 */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
    const char *name;
    int value;
};

static const struct word boundary_words[] = {
    {"periodic", BOUNDARY_PERIODIC}, {"outflow", BOUNDARY_OUTFLOW}, {NULL, 0}};
static const struct word api_words[] = {{"mpi", API_MPI}, {"shmem", API_SHMEM}, {NULL, 0}};
static const struct word transfer_words[] = {{"put", TRANSFER_PUT}, {"get", TRANSFER_GET}, {NULL, 0}};
static const struct word signal_words[] = {{"put", SIGNAL_PUT},
                                           {"accumulate", SIGNAL_ACCUMULATE},
                                           {"fetch_op", SIGNAL_FETCH_OP},
                                           {"notify", SIGNAL_NOTIFY},
                                           {"atomic", SIGNAL_ATOMIC},
                                           {"put_signal", SIGNAL_PUT_SIGNAL},
                                           {NULL, 0}};
static const struct word flush_words[] = {{"patch", FLUSH_PATCH},
                                          {"batch", FLUSH_BATCH},
                                          {"all", FLUSH_ALL},
                                          {"nonblocking", FLUSH_NONBLOCKING},
                                          {NULL, 0}};
static const struct word plant_words[] = {
    {"none", PLANT_NONE}, {"pack", PLANT_PACK}, {"parity", PLANT_PARITY}, {NULL, 0}};

static const char help_text[] =
    "Usage: stencil [options], or mpiexec -n RANKS stencil [options]\n"
    "\n"
    "Ideal magnetohydrodynamics on a grid of patches; every OpenMP thread of every rank issues one-sided\n"
    "communication on one shared window.\n"
    "\n"
    "  --problem NAME      orszag-tang (default), brio-wu, alfven, blast or sedov\n"
    "  --zones NX,NY[,NZ]  zones of the whole grid, in two or three dimensions (default: the problem's own)\n"
    "  --boundary WHAT     periodic or outflow (default: the problem's own)\n"
    "  --patch N           zones along each side of a patch; must divide NX, NY and NZ\n"
    "  --time T            run to time T (default: the problem's own)\n"
    "  --steps N           run N steps instead\n"
    "  --threads N         threads of each rank (default: OMP_NUM_THREADS)\n"
    "  --api WHAT          mpi (default) or shmem: what the ranks communicate with\n"
    "  --transfer WHAT     put (default): the owner writes its neighbours' ghost zones; get: the reader "
    "fetches them\n"
    "  --signal WHAT       how a flag says that data is there: put (default); over MPI also accumulate,\n"
    "                      fetch_op or notify (MPIX_Put_notify), over SHMEM also atomic or put_signal\n"
    "  --flush WHAT        patch, batch (default) or all: flush after each patch, after a few, or everything "
    "at once;\n"
    "                      nonblocking: begin a flush after each patch and go on (MPIX_Win_iflush, MPI "
    "only)\n"
    "  --overlap           update the patches without remote neighbours while data travels\n"
    "  --serial            one array, one thread, no patch and no MPI call: the answer to compare with\n"
    "  --picture F.png     draw the density (of the middle layer; the profile along x for brio-wu)\n"
    "  --profile F.json    write what each thread did when, for chrome://tracing or ui.perfetto.dev\n"
    "  --json F            write the results (- for standard output)\n"
    "  --checkpoint F      write the last state to a file, by MPI's file operations (over MPI only)\n"
    "  --restart F         begin with such a state of the same zones; --steps count from there\n"
    "  --quiet             no progress line, no closing table\n"
    "  --plant WHAT        for tests: none, pack or parity: a fault in packing or in the slot's parity\n"
    "  --help              this text\n"
    "\n"
    "The hash of the final state is the same for every number of ranks and threads, patch size and "
    "variant.\n";

void options_help(void)
{
    fputs(help_text, stdout);
}

static const char *word_of(const struct word *words, int value)
{
    while (words->name && words->value != value)
        words++;
    return words->name;
}

const char *options_api(const struct options *o)
{
    return word_of(api_words, (int)o->api);
}

const char *options_transfer(const struct options *o)
{
    return word_of(transfer_words, (int)o->transfer);
}

const char *options_signal(const struct options *o)
{
    return word_of(signal_words, (int)o->signal);
}

const char *options_flush(const struct options *o)
{
    return word_of(flush_words, (int)o->flush);
}

/* "a, b, c". */
static void word_list(const struct word *words, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (; words->name && used < size; words++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", words->name);
}

static int word_read(const struct word *words, const char *option, const char *value, int *out, char *error)
{
    char list[160];

    word_list(words, list, sizeof list);
    for (const struct word *w = words; w->name; w++) {
        if (strcmp(w->name, value))
            continue;
        *out = w->value;
        return 0;
    }
    snprintf(error, OPTIONS_ERROR, "%s %s: not known; use %s", option, value, list);
    return -1;
}

static int count_read(const char *option, const char *value, long max, long *out, char *error)
{
    char *end;

    errno = 0;
    *out = strtol(value, &end, 10);
    if (end != value && !*end && !errno && *out >= 1 && *out <= max)
        return 0;
    snprintf(error, OPTIONS_ERROR, "%s %s: need a whole number from 1 to %ld", option, value, max);
    return -1;
}

static int time_read(const char *value, double *out, char *error)
{
    char *end;

    *out = strtod(value, &end);
    if (end != value && !*end && isfinite(*out) && *out > 0.0)
        return 0;
    snprintf(error, OPTIONS_ERROR, "--time %s: need a number above 0", value);
    return -1;
}

static int zones_read(struct options *o, const char *value, char *error)
{
    long n[3] = {0, 0, 1};
    int used = 0, fields = sscanf(value, "%ld,%ld%n,%ld%n", &n[0], &n[1], &used, &n[2], &used);
    bool good = fields >= 2 && !value[used];

    for (int a = X; a <= Z; a++) {
        good = good && n[a] >= 1 && n[a] <= 65536;
        o->n[a] = (int)n[a];
    }
    if (good)
        return 0;
    snprintf(error, OPTIONS_ERROR, "--zones %s: need NX,NY or NX,NY,NZ with whole numbers from 1 to 65536",
             value);
    return -1;
}

static int problem_read(struct options *o, const char *value, char *error)
{
    o->problem = problem_find(value);
    if (o->problem)
        return 0;
    int used = snprintf(error, OPTIONS_ERROR, "--problem %s: not known; use", value);
    for (int i = 0; problem_at(i); i++)
        used += snprintf(error + used, (size_t)(OPTIONS_ERROR - used), "%s %s", i ? "," : "",
                         problem_at(i)->name);
    return -1;
}

enum option {
    OPT_PROBLEM,
    OPT_ZONES,
    OPT_BOUNDARY,
    OPT_API,
    OPT_THREADS,
    OPT_PATCH,
    OPT_STEPS,
    OPT_TIME,
    OPT_TRANSFER,
    OPT_SIGNAL,
    OPT_FLUSH,
    OPT_PLANT,
    OPT_PICTURE,
    OPT_PROFILE,
    OPT_JSON,
    OPT_CHECKPOINT,
    OPT_RESTART,
    OPT_FIRST_SWITCH,
    OPT_OVERLAP = OPT_FIRST_SWITCH,
    OPT_SERIAL,
    OPT_QUIET,
    OPT_HELP
};

static const struct word option_words[] = {{"--problem", OPT_PROBLEM},   {"--zones", OPT_ZONES},
                                           {"--boundary", OPT_BOUNDARY}, {"--api", OPT_API},
                                           {"--threads", OPT_THREADS},   {"--patch", OPT_PATCH},
                                           {"--steps", OPT_STEPS},       {"--time", OPT_TIME},
                                           {"--transfer", OPT_TRANSFER}, {"--signal", OPT_SIGNAL},
                                           {"--flush", OPT_FLUSH},       {"--plant", OPT_PLANT},
                                           {"--picture", OPT_PICTURE},   {"--profile", OPT_PROFILE},
                                           {"--json", OPT_JSON},         {"--checkpoint", OPT_CHECKPOINT},
                                           {"--restart", OPT_RESTART},   {"--overlap", OPT_OVERLAP},
                                           {"--serial", OPT_SERIAL},     {"--quiet", OPT_QUIET},
                                           {"--help", OPT_HELP},         {NULL, 0}};

/* Values of options that may be left out: -1 or 0 until seen. */
struct raw {
    int boundary;
    long threads, patch, steps;
    double time;
};

static int number_read(struct raw *r, enum option opt, const char *name, const char *value, char *error)
{
    switch (opt) {
    case OPT_THREADS:
        return count_read(name, value, 1024, &r->threads, error);
    case OPT_PATCH:
        return count_read(name, value, 65536, &r->patch, error);
    case OPT_STEPS:
        return count_read(name, value, 1000000000, &r->steps, error);
    default:
        return time_read(value, &r->time, error);
    }
}

static int value_read(struct options *o, struct raw *r, enum option opt, const char *value, char *error)
{
    const char *name = word_of(option_words, (int)opt);
    int word = 0, rc = 0;

    switch (opt) {
    case OPT_PROBLEM:
        return problem_read(o, value, error);
    case OPT_ZONES:
        return zones_read(o, value, error);
    case OPT_BOUNDARY:
        return word_read(boundary_words, name, value, &r->boundary, error);
    case OPT_API:
        rc = word_read(api_words, name, value, &word, error);
        o->api = (enum api)word;
        return rc;
    case OPT_TRANSFER:
        rc = word_read(transfer_words, name, value, &word, error);
        o->transfer = (enum transfer)word;
        return rc;
    case OPT_SIGNAL:
        rc = word_read(signal_words, name, value, &word, error);
        o->signal = (enum signal_by)word;
        return rc;
    case OPT_FLUSH:
        rc = word_read(flush_words, name, value, &word, error);
        o->flush = (enum flush_per)word;
        return rc;
    case OPT_PLANT:
        rc = word_read(plant_words, name, value, &word, error);
        o->plant = (enum plant)word;
        return rc;
    case OPT_PICTURE:
        o->picture = value;
        return 0;
    case OPT_PROFILE:
        o->profile = value;
        return 0;
    case OPT_JSON:
        o->json = value;
        return 0;
    case OPT_CHECKPOINT:
        o->checkpoint = value;
        return 0;
    case OPT_RESTART:
        o->restart = value;
        return 0;
    default:
        return number_read(r, opt, name, value, error);
    }
}

static void switch_set(struct options *o, enum option opt)
{
    o->overlap |= opt == OPT_OVERLAP;
    o->serial |= opt == OPT_SERIAL;
    o->quiet |= opt == OPT_QUIET;
    o->help |= opt == OPT_HELP;
}

/* The words one after another; both "--name value" and "--name=value" will do. */
static int words_read(struct options *o, struct raw *r, int argc, char **argv, char *error)
{
    for (int i = 1; i < argc; i++) {
        size_t len = strcspn(argv[i], "=");
        const char *value = argv[i][len] ? argv[i] + len + 1 : NULL;
        const struct word *w = option_words;

        while (w->name && (strlen(w->name) != len || strncmp(w->name, argv[i], len)))
            w++;
        if (!w->name) {
            snprintf(error, OPTIONS_ERROR, "%.100s: not an option; see --help", argv[i]);
            return -1;
        }
        if (w->value >= OPT_FIRST_SWITCH && value) {
            snprintf(error, OPTIONS_ERROR, "%.100s: %s takes no value", argv[i], w->name);
            return -1;
        }
        if (w->value >= OPT_FIRST_SWITCH) {
            switch_set(o, (enum option)w->value);
            continue;
        }
        if (!value && ++i < argc)
            value = argv[i];
        if (!value) {
            snprintf(error, OPTIONS_ERROR, "%s: needs a value; see --help", w->name);
            return -1;
        }
        if (value_read(o, r, (enum option)w->value, value, error))
            return -1;
    }
    return 0;
}

/* Whether patches of n zones along each side tile the grid. */
static bool tiles(const struct options *o, int n)
{
    return o->n[X] % n == 0 && o->n[Y] % n == 0 && (o->n[Z] == 1 || o->n[Z] % n == 0);
}

/* The patch must tile the grid and be at least as wide as the ghost zones that a neighbour copies from it. */
static int patch_check(const struct options *o, char *error)
{
    char zones[DOMAIN_TEXT];
    int best = 0;

    if (o->patch < NGHOST) {
        snprintf(error, OPTIONS_ERROR, "--patch %d: narrower than the %d ghost zones; use at least %d",
                 o->patch, NGHOST, NGHOST);
        return -1;
    }
    if (tiles(o, o->patch))
        return 0;
    for (int n = NGHOST; n <= o->n[X]; n++)
        if (tiles(o, n) && (!best || abs(n - o->patch) < abs(best - o->patch)))
            best = n;
    domain_text(zones, o->n, ",");
    if (best)
        snprintf(error, OPTIONS_ERROR,
                 "--zones %s --patch %d: the patch does not divide the zones; --patch %d would", zones,
                 o->patch, best);
    else
        snprintf(error, OPTIONS_ERROR, "--zones %s: no patch of at least %d zones divides them", zones,
                 NGHOST);
    return -1;
}

/* Some problems have three dimensions or none. */
static int dims_check(const struct options *o, char *error)
{
    if (o->n[Z] > 1 || o->problem->n[Z] == 1)
        return 0;
    snprintf(error, OPTIONS_ERROR, "--problem %s --zones %d,%d: has three dimensions; use --zones %d,%d,%d",
             o->problem->name, o->n[X], o->n[Y], o->n[X], o->n[Y], o->n[X]);
    return -1;
}

/* Only ranks of MPI write and read files together; only threads have something to draw. */
static int files_check(const struct options *o, char *error)
{
    const char *file = o->checkpoint ? "--checkpoint" : "--restart";

    if (o->serial && o->profile) {
        snprintf(error, OPTIONS_ERROR,
                 "--serial --profile %.200s: a serial run has no threads; leave one out", o->profile);
        return -1;
    }
    if ((!o->checkpoint && !o->restart) || (!o->serial && o->api == API_MPI))
        return 0;
    snprintf(error, OPTIONS_ERROR, "%s %s: only runs over MPI share a file; use --api mpi",
             o->serial ? "--serial" : "--api shmem", file);
    return -1;
}

int options_parse(struct options *o, int argc, char **argv, char *error)
{
    struct raw r = {.boundary = -1};

    *o = (struct options){.problem = problem_at(0), .flush = FLUSH_BATCH};
    if (words_read(o, &r, argc, argv, error))
        return -1;
    if (r.steps && r.time > 0.0) {
        snprintf(error, OPTIONS_ERROR, "--steps %ld --time %g: use one of them", r.steps, r.time);
        return -1;
    }
    if (!o->n[X])
        memcpy(o->n, o->problem->n, sizeof o->n);
    o->patch = r.patch ? (int)r.patch : o->problem->patch;
    o->boundary = r.boundary < 0 ? o->problem->boundary : (enum boundary)r.boundary;
    o->threads = (int)r.threads;
    o->steps = r.steps;
    o->end_time = r.steps ? HUGE_VAL : r.time > 0.0 ? r.time : o->problem->end_time;
    if (o->help)
        return 0;
    return dims_check(o, error) || files_check(o, error) || (!o->serial && patch_check(o, error)) ? -1 : 0;
}
