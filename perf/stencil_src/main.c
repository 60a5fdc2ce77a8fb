/*
 * The stencil application: ideal magnetohydrodynamics by threads that all communicate one-sided.
 *
 * See --help. The serial run never communicates.
 */
#include "exchange.h"
#include "parallel.h"
#include "picture.h"
#include "report.h"
#include "serial.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2 };

/* Everything that one rank writes at the end. */
static int results_write(struct report *r, const struct field *f)
{
    const struct options *o = r->options;
    int rc = 0;

    r->figures = field_figures(f, o->problem);
    r->field_time = f->time;
    if (!o->quiet)
        report_table(r);
    if (o->json)
        rc |= report_json(r);
    if (o->picture)
        rc |= picture_write(o->picture, f, o->problem, &r->figures);
    return rc;
}

static int serial_main(const struct options *o)
{
    struct field f = {.u = NULL};
    struct report r = {.options = o,
                       .outcome = {.ranks = 1, .threads = 1},
                       .totals = {.lanes = -1.0, .leases_contended = -1.0, .retries = -1.0}};
    int rc = serial_run(o, &f, &r.outcome.pace, &r.outcome.seconds);

    if (!rc)
        rc = results_write(&r, &f);
    free(f.u);
    return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int parallel_main(const struct options *o, const struct world *world)
{
    struct field f = {.u = NULL};
    struct report r = {.options = o};
    int rc = parallel_run(o, world, &f, &r.outcome);

    if (!rc)
        rc = report_totals(&r.totals, &r.outcome);
    if (!rc && r.outcome.rank == 0)
        rc = results_write(&r, &f);
    if (o->profile && r.outcome.seconds > 0.0)
        rc |= report_trace(o->profile, &r.outcome);
    report_totals_free(&r.totals);
    for (int t = 0; r.outcome.sheets && t < r.outcome.threads; t++)
        sheet_free(&r.outcome.sheets[t]);
    free(r.outcome.sheets);
    free(f.u);
    return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* The interface that has such a signal; `any`: both do. */
static enum api api_of(enum signal_by signal, enum api any)
{
    switch (signal) {
    case SIGNAL_ACCUMULATE:
    case SIGNAL_FETCH_OP:
    case SIGNAL_NOTIFY:
        return API_MPI;
    case SIGNAL_ATOMIC:
    case SIGNAL_PUT_SIGNAL:
        return API_SHMEM;
    case SIGNAL_PUT:
        break;
    }
    return any;
}

/* What the options ask for and this program or its library cannot give; `world` NULL: not yet started. */
static int possible(const struct options *o, const struct world *world, char *error)
{
    int threads = o->threads ? o->threads : omp_get_max_threads();

    if (o->picture && !picture_possible()) {
        snprintf(error, OPTIONS_ERROR, "--picture: this stencil was built without cairo");
        return -1;
    }
    if (!wire) {
        snprintf(error, OPTIONS_ERROR, "--api %s: this stencil was built without it; use --api mpi",
                 options_api(o));
        return -1;
    }
    if (api_of(o->signal, o->api) != o->api) {
        snprintf(error, OPTIONS_ERROR, "--api %s --signal %s: such a signal is of --api %s; use --signal put",
                 options_api(o), options_signal(o), o->api == API_MPI ? "shmem" : "mpi");
        return -1;
    }
    if (!wire->has(o->signal)) {
        snprintf(error, OPTIONS_ERROR,
                 "--api %s --signal %s: this library does not have it; use --signal put", options_api(o),
                 options_signal(o));
        return -1;
    }
    if (o->flush == FLUSH_NONBLOCKING && !(wire->can_begin && wire->can_begin())) {
        snprintf(error, OPTIONS_ERROR,
                 "--api %s --flush nonblocking: this library does not have it; use --flush batch",
                 options_api(o));
        return -1;
    }
    if (world && !world->any_thread && threads > 1) {
        snprintf(error, OPTIONS_ERROR,
                 "--threads %d: this library does not grant all threads; use --threads 1", threads);
        return -1;
    }
    return 0;
}

/* Ranks that a launcher has started, by the variables of PMI-1, Open MPI or a step of Slurm; 1: none has.
 * Which of them this is goes to *rank. */
static int launched(int *rank)
{
    static const char *const names[][2] = {{"PMI_SIZE", "PMI_RANK"},
                                           {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                           {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *size = getenv(names[i][0]), *which = getenv(names[i][1]);
        if (!size || !which)
            continue;
        *rank = atoi(which);
        return atoi(size);
    }
    *rank = 0;
    return 1;
}

/* One run is enough, and two would write the same files: the first rank says so, and its code is the job's. 0
 * to go on. */
static int alone_check(int *code)
{
    int rank, size = launched(&rank);

    *code = rank == 0 ? EXIT_USAGE : EXIT_SUCCESS;
    if (size > 1 && rank == 0)
        fprintf(stderr,
                "stencil: --serial: %d ranks were started for a run of one; start it without launcher\n",
                size);
    return size > 1;
}

/* Whether a file is there to be written over or can be made; errno says why not. */
static int can_write(const char *name)
{
    char folder[PATH_MAX];

    if (!access(name, F_OK))
        return !access(name, W_OK);
    snprintf(folder, sizeof folder, "%s", name);
    return !access(dirname(folder), W_OK | X_OK);
}

/* A mistyped name shall not cost the run that ends with it. For the rank that writes; 0, or -1 after a line.
 */
static int files_check(const struct options *o)
{
    const struct {
        const char *option, *name;
    } files[] = {{"--picture", o->picture},
                 {"--profile", o->profile},
                 {"--json", o->json},
                 {"--checkpoint", o->checkpoint}};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *name = files[i].name;
        if (!name || !strcmp(name, "-") || can_write(name))
            continue;
        fprintf(stderr, "stencil: %s %s: %s\n", files[i].option, name, strerror(errno));
        return -1;
    }
    return 0;
}

const struct wire *wire;

int main(int argc, char **argv)
{
    struct options o;
    struct world world;
    char error[OPTIONS_ERROR];
    int bad = options_parse(&o, argc, argv, error), rc = EXIT_USAGE;

    if (!bad && o.help) {
        options_help();
        return EXIT_SUCCESS;
    }
    wire = o.api == API_SHMEM ? wire_shmem() : wire_mpi();
    bad = bad || possible(&o, NULL, error);
    if (o.serial && !bad && alone_check(&rc))
        return rc;
    if (o.serial && !bad)
        return files_check(&o) ? EXIT_FAILURE : serial_main(&o);
    if (o.serial || !wire) {
        fprintf(stderr, "stencil: %s\n", error);
        return EXIT_USAGE;
    }
    world = wire->start();
    if (!bad && !possible(&o, &world, error))
        rc = wire->max(world.rank == 0 && files_check(&o)) > 0.0 ? EXIT_FAILURE : parallel_main(&o, &world);
    else if (world.rank == 0)
        fprintf(stderr, "stencil: %s\n", error);
    wire->finish();
    return rc;
}
