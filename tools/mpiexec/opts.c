/* mpiexec: reads the command line by the table of options: one dash or two, the value behind a blank or
 * `=`. */
#include "hl_build.h"
#include "mx.h"
#include "options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static char none[] = "";
extern char **environ;

#define COMPLAIN(...) (hl_mx_say(__VA_ARGS__), 2)

static int env_add(struct hl_mx_env *e, const char *arg, const char *name, const char *value)
{
    size_t cap = strlen(name) + strlen(value) + 2;
    char *pair = hl_mx_alloc(cap);
    snprintf(pair, cap, "%s=%s", name, value);
    if (hl_mx_spawn_owns(pair)) {
        free(pair);
        return COMPLAIN("%s: %s is set by this launcher, which gives each rank a value of its own or none",
                        arg, name);
    }
    e->set = hl_mx_realloc(e->set, sizeof *e->set * (size_t)(e->n + 1));
    e->set[e->n++] = pair;
    return -1;
}

static const char *find_pair(char *const *set, int n, const char *name)
{
    size_t len = strlen(name);
    while (n-- > 0) {
        if (!strncmp(set[n], name, len) && set[n][len] == '=') {
            return set[n] + len + 1;
        }
    }
    return NULL;
}

const char *hl_mx_env_get(const struct hl_mx_opts *o, const struct hl_mx_part *p, const char *name)
{
    int n = 0;
    while (environ[n]) {
        n++;
    }
    const char *found = find_pair(p->env.set, p->env.n, name);
    found = found ? found : find_pair(o->genv.set, o->genv.n, name);
    return found ? found : find_pair(environ, n, name);
}

static const struct hl_mx_row *find_row(const char *name)
{
    for (int i = 0; i < hl_mx_row_count; i++) {
        if (!strcmp(hl_mx_rows[i].name, name)) {
            return &hl_mx_rows[i];
        }
    }
    return NULL;
}

/* Refuses an option of other launchers and prints what to write instead. */
static int refuse_row(const struct hl_mx_row *r, const char *arg)
{
    char shown[1024];
    while (!r->text) {
        r--;
    }
    return COMPLAIN("no option %s here; write %s (--help lists all)", arg,
                    hl_mx_words(r->text, shown, sizeof shown));
}

static int refuse_unknown(const char *arg, const char *name)
{
    const char **names = hl_mx_alloc(sizeof *names * (size_t)hl_mx_row_count);
    int n = 0;
    for (int i = 0; i < hl_mx_row_count; i++) {
        if (hl_mx_rows[i].id != HL_MX_OPT_REFUSED) {
            names[n++] = hl_mx_rows[i].name;
        }
    }
    const char *near = hl_mx_nearest(name, names, n);
    free(names);
    if (near == NULL) {
        return COMPLAIN("unknown option %s (--help lists all)", arg);
    }
    return COMPLAIN("unknown option %s; the nearest is %s%s (--help lists all)", arg, near[1] ? "--" : "-",
                    near);
}

/* Notes an option without effect, for the one line that names them. */
static int note(struct hl_mx_opts *o, const char *arg, const char *value)
{
    size_t had = o->unused ? strlen(o->unused) : 0, cap = had + strlen(arg) + strlen(value) + 4;
    bool apart = *value && !strchr(arg, '=');
    o->unused = hl_mx_realloc(o->unused, cap);
    snprintf(o->unused + had, cap - had, "%s%s%s%s", had ? ", " : "", arg, apart ? " " : "",
             apart ? value : "");
    return -1;
}

#define RANKS_MOST 100000

/* Reads a number of ranks, `number`, which is `text` or a part of it. */
static int set_number(int *n, const char *arg, const char *text, const char *number)
{
    char *end;
    errno = 0;
    long v = strtol(number, &end, 10);
    if (errno || end == number || *end || v < 1 || v > RANKS_MOST) {
        return COMPLAIN("%s %s: the number of ranks must be 1 to %d", arg, text, RANKS_MOST);
    }
    *n = (int)v;
    return -1;
}

/* `between` stands between name and value in the message: a blank for an option, `=` for a variable. */
static int set_timeout(struct hl_mx_opts *o, const char *arg, char between, const char *text)
{
    char *end;
    double s = strtod(text, &end);
    if (end == text || *end || !(s > 0) || s > 1e9) {
        return COMPLAIN("%s%c%s: a number of seconds above 0 and at most 1e9 is needed", arg, between, text);
    }
    o->timeout_s = s;
    return -1;
}

/* Does `text` begin with `word`, in any case of letters, followed by its end or a colon? */
static bool begins_with(const char *text, const char *word)
{
    size_t n = strlen(word);
    return !strncasecmp(text, word, n) && (!text[n] || text[n] == ':');
}

static int set_bind(struct hl_mx_opts *o, const char *arg, const char *text)
{
    static const struct {
        const char *word;
        enum hl_mx_bind bind;
    } places[] = {{"none", HL_MX_BIND_NONE}, {"core", HL_MX_BIND_CORE},     {"hwthread", HL_MX_BIND_THREAD},
                  {"numa", HL_MX_BIND_NUMA}, {"socket", HL_MX_BIND_SOCKET}, {"package", HL_MX_BIND_SOCKET}};
    o->bind = HL_MX_BIND_LIST;
    o->bind_list = text;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!begins_with(text, places[i].word)) {
            continue;
        }
        const char *more = text + strlen(places[i].word);
        o->bind = places[i].bind;
        if (!strcasecmp(more, ":overload-allowed")) {
            o->oversubscribe = true;
        } else if (*more && strcasecmp(more, ":if-supported") != 0) {
            return COMPLAIN("%s %s: behind %s may follow :overload-allowed only; to give each rank several, "
                            "write a set of CPUs for each, as in 0-3:4-7",
                            arg, text, places[i].word);
        }
    }
    return -1;
}

/* Takes "ppr:N:node", ranks on each machine. Returns what follows, or NULL after an error message. */
static const char *take_ppr(struct hl_mx_part *p, const char *arg, const char *text)
{
    int n = 0;
    const char *of = strchr(text + 4, ':');
    size_t len = of ? (size_t)(of - text - 4) : 0;
    char number[16] = "";
    if (len < sizeof number) {
        memcpy(number, text + 4, len);
    }
    if (!of || !begins_with(of + 1, "node")) {
        hl_mx_say("%s %s: ranks for each node only, as in ppr:4:node; for others write -n and --bind-to", arg,
                  text);
        return NULL;
    }
    if (set_number(&n, arg, text, number) >= 0) {
        return NULL;
    }
    p->each = n;
    p->each_arg = arg;
    return of + 1 + strlen("node");
}

/* May ranks share slots and CPUs? The last word of it counts, but a line that is not wanted stays away. */
static int set_sharing(struct hl_mx_opts *o, bool may)
{
    o->oversubscribe |= may;
    o->strict = !may;
    return -1;
}

/* Takes the modifiers behind the place to map by: words between commas or colons. */
static int set_map_words(struct hl_mx_opts *o, const char *arg, const char *text, const char *words)
{
    static const char *const idle[] = {"span", "inherit", "noinherit", "pe=1", "if-supported"};
    char *copy = strcpy(hl_mx_alloc(strlen(words) + 1), words), *save = NULL;
    int rc = -1;
    for (char *w = strtok_r(copy, ":,", &save); w && rc < 0; w = strtok_r(NULL, ":,", &save)) {
        bool share = !strcasecmp(w, "oversubscribe"), known = share || !strcasecmp(w, "nooversubscribe");
        rc = known ? set_sharing(o, share) : rc;
        for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
            known |= !strcasecmp(w, idle[i]);
        }
        if (!known) {
            rc = COMPLAIN("%s %s: no %s here; --bind-to 0-3:4-7 names the CPUs of each rank", arg, text, w);
        }
    }
    free(copy);
    return rc;
}

static int set_map(struct hl_mx_opts *o, struct hl_mx_part *p, const char *arg, const char *text)
{
    static const struct {
        const char *word;
        enum hl_mx_map map;
    } places[] = {
        {"", HL_MX_MAP_BLOCKS},         {"slot", HL_MX_MAP_BLOCKS},    {"core", HL_MX_MAP_BLOCKS},
        {"hwthread", HL_MX_MAP_BLOCKS}, {"node", HL_MX_MAP_BLOCKS},    {"board", HL_MX_MAP_BLOCKS},
        {"numa", HL_MX_MAP_NUMA},       {"socket", HL_MX_MAP_SOCKETS}, {"package", HL_MX_MAP_SOCKETS}};
    if (!strncasecmp(text, "ppr:", 4)) {
        const char *words = take_ppr(p, arg, text);
        return words ? set_map_words(o, arg, text, words) : 2;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (begins_with(text, places[i].word)) {
            o->map = places[i].map;
            return set_map_words(o, arg, text, text + strlen(places[i].word));
        }
    }
    return COMPLAIN("%s %s: must be slot, core, hwthread, numa, socket, node or ppr:N:node", arg, text);
}

/* Takes --rank-by: ranks are numbered as they are placed, so only that has no effect and is accepted. */
static int set_rank_by(struct hl_mx_opts *o, const char *arg, const char *text)
{
    if (begins_with(text, "slot") || begins_with(text, "core") || begins_with(text, "hwthread") ||
        begins_with(text, "node")) {
        return note(o, arg, text);
    }
    return COMPLAIN("%s %s: ranks are numbered as they are placed; write --map-by with --bind-to", arg, text);
}

/* Takes --output: of Open MPI's words for it only tag has a counterpart. */
static int set_output(struct hl_mx_opts *o, const char *arg, const char *text)
{
    bool file = strchr(text, '=') || strcasestr(text, "file") || strcasestr(text, "dir");
    char shown[1024];
    o->label = true;
    if (!strcasecmp(text, "tag")) {
        return -1;
    }
    if (!file && strcasestr(text, "merge")) {
        return COMPLAIN("%s %s: must be tag; write 2>&1 to merge", arg, text);
    }
    return COMPLAIN("%s %s: must be tag; for others write %s", arg, text,
                    hl_mx_words(find_row("output-filename")->text, shown, sizeof shown));
}

/* Takes --forward-signals: the signals that are passed to the ranks anyway, by name or number. */
static int set_signals(struct hl_mx_opts *o, const char *arg, const char *text)
{
    static const struct {
        const char *name;
        int number;
    } passed[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"CONT", SIGCONT}, {"TSTP", SIGTSTP}, {"INT", SIGINT},
                  {"TERM", SIGTERM}, {"HUP", SIGHUP},   {"QUIT", SIGQUIT}, {"none", 0}};
    char *copy = strcpy(hl_mx_alloc(strlen(text) + 1), text), *save = NULL;
    int rc = -1;
    for (char *w = strtok_r(copy, ",", &save); w && rc < 0; w = strtok_r(NULL, ",", &save)) {
        char *end;
        long number = strtol(w, &end, 10);
        bool known = false;
        for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
            known |= !strcasecmp(w + (strncasecmp(w, "SIG", 3) ? 0 : 3), passed[i].name) ||
                     (end != w && !*end && number == passed[i].number);
        }
        if (!known) {
            rc = COMPLAIN(
                "%s %s: %s is not passed to the ranks; INT, TERM, HUP, QUIT, USR1, USR2, CONT and TSTP are",
                arg, text, w);
        }
    }
    free(copy);
    return rc < 0 ? note(o, arg, text) : rc;
}

static int set_x(struct hl_mx_part *p, const char *arg, const char *text)
{
    const char *eq = strchr(text, '=');
    if (eq == text || !*text || *text == '-') {
        return COMPLAIN("%s %s: a variable's name is missing", arg, text);
    }
    if (!eq) {
        return -1;
    }
    char *name = hl_mx_alloc((size_t)(eq - text) + 1);
    memcpy(name, text, (size_t)(eq - text));
    int rc = env_add(&p->env, arg, name, eq + 1);
    free(name);
    return rc;
}

static int set_errhandler(struct hl_mx_opts *o, const char *arg, const char *text)
{
    static const char *const handlers[] = {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"};

    for (int i = 0; i < 3; i++) {
        if (!strcmp(text, handlers[i])) {
            return env_add(&o->genv, arg, "HOTLANE_INITIAL_ERRHANDLER", text);
        }
    }
    return COMPLAIN("%s %s: must be %s, %s or %s", arg, text, handlers[0], handlers[1], handlers[2]);
}

static int set_env(struct hl_mx_env *e, const char *arg, char **v)
{
    char *eq = strchr(v[0], '=');
    if (!*v[0] || eq == v[0] || *v[0] == '-') {
        return COMPLAIN("%s %s: not the name of a variable (%s NAME VALUE)", arg, v[0], arg);
    }
    if (!eq) {
        return env_add(e, arg, v[0], v[1]);
    }
    *eq = 0;
    int rc = env_add(e, arg, v[0], eq + 1);
    *eq = '=';
    return rc;
}

/* Applies an option of one part. Returns -1, or the exit code. */
static int apply_to_part(struct hl_mx_part *p, const struct hl_mx_row *r, const char *arg, char **v)
{
    switch (r->id) {
    case HL_MX_OPT_N:
        return set_number(&p->n, arg, v[0], v[0]);
    case HL_MX_OPT_EACH:
        p->each_arg = arg;
        return set_number(&p->each, arg, v[0], v[0]);
    case HL_MX_OPT_ENV:
        return set_env(&p->env, arg, v);
    case HL_MX_OPT_X:
        return set_x(p, arg, v[0]);
    default:
        p->wdir = v[0];
        return -1;
    }
}

/* Sets the flag of an option without values. */
static int switch_on(struct hl_mx_opts *o, const struct hl_mx_row *r)
{
    bool *flag = r->id == HL_MX_OPT_LABEL     ? &o->label
                 : r->id == HL_MX_OPT_REPORT  ? &o->report
                 : r->id == HL_MX_OPT_KEEP    ? &o->keep_going
                 : r->id == HL_MX_OPT_QUIET   ? &o->quiet
                 : r->id == HL_MX_OPT_LIBRARY ? &o->no_library
                                              : &o->verbose;
    *flag = true;
    return -1;
}

/* Applies one option with its values v[]. Returns -1, or the exit code. */
static int apply(struct hl_mx_opts *o, struct hl_mx_part *p, const struct hl_mx_row *r, const char *arg,
                 char **v)
{
    switch (r->id) {
    case HL_MX_OPT_GENV:
        return set_env(&o->genv, arg, v);
    case HL_MX_OPT_SHARE:
    case HL_MX_OPT_STRICT:
        return set_sharing(o, r->id == HL_MX_OPT_SHARE);
    case HL_MX_OPT_OUTPUT:
        return set_output(o, arg, v[0]);
    case HL_MX_OPT_BIND:
        return set_bind(o, arg, v[0]);
    case HL_MX_OPT_MAP:
        return set_map(o, p, arg, v[0]);
    case HL_MX_OPT_TIMEOUT:
        return set_timeout(o, arg, ' ', v[0]);
    case HL_MX_OPT_ERRHANDLER:
        return set_errhandler(o, arg, v[0]);
    case HL_MX_OPT_HOSTS:
        return hl_mx_hosts_list(arg, v[0], &o->slots);
    case HL_MX_OPT_HOSTFILE:
        return hl_mx_hosts_file(arg, v[0], &o->slots);
    case HL_MX_OPT_SYSFS:
        o->sys_root = v[0];
        return -1;
    case HL_MX_OPT_HELP:
        hl_mx_help();
        return 0;
    case HL_MX_OPT_VERSION:
        printf("%s (Hotlane) %s\n", program_invocation_short_name, HL_VERSION);
        return 0;
    case HL_MX_OPT_RANK:
        return set_rank_by(o, arg, v[0]);
    case HL_MX_OPT_SIGNALS:
        return set_signals(o, arg, v[0]);
    case HL_MX_OPT_NOTHING:
        return note(o, arg, v[0]);
    default:
        return r->id <= HL_MX_OPT_WDIR ? apply_to_part(p, r, arg, v) : switch_on(o, r);
    }
}

enum { NAME_MOST = 64 };

/* Finds the row of a word that begins with a dash; NULL: there is none. Writes the word without dashes and
 * `=VALUE` to `name`. */
static const struct hl_mx_row *row_of_word(const char *arg, char name[NAME_MOST])
{
    const char *start = arg + 1 + (arg[1] == '-');
    size_t len = strcspn(start, "=");
    len = len < NAME_MOST ? len : NAME_MOST - 1;
    memcpy(name, start, len);
    name[len] = 0;
    return find_row(name);
}

/* Returns -1, or, after an error message, the exit code where value `i` of an option is not there: the next
 * word, `next`, is an option or NULL. v: its values before that. */
static int check_value(const struct hl_mx_row *r, const char *arg, char *const *v, int i, const char *next)
{
    char name[NAME_MOST], what[32] = "its value", why[128] = "";
    if (next && (*next != '-' || !next[1] || !row_of_word(next, name))) {
        return -1;
    }
    const char *second = strchr(r->values, ' ');
    if (second) { /* NAME VALUE, KEY VALUE */
        snprintf(what, sizeof what, "its %.*s", i ? 9 : (int)(second - r->values),
                 i ? second + 1 : r->values);
    }
    if (next) {
        snprintf(why, sizeof why, " (%.40s follows%s)", next,
                 i && r->id != HL_MX_OPT_NOTHING ? "; NAME=VALUE in one word takes any value" : "");
    }
    return COMPLAIN("%s%s%s: %s is missing%s", arg, i ? " " : "", i ? v[0] : "", what, why);
}

/* Reads the option at argv[*at] and moves *at behind its values. Returns -1, or the exit code. */
static int parse_one(struct hl_mx_opts *o, struct hl_mx_part *p, char **argv, int *at)
{
    char *arg = argv[*at], *eq = strchr(arg, '='), *v[2] = {none, none}, name[NAME_MOST];
    const struct hl_mx_row *r = row_of_word(arg, name);
    if (!r || r->id == HL_MX_OPT_REFUSED) {
        return r ? refuse_row(r, arg) : refuse_unknown(arg, name);
    }
    bool pair = !strcmp(r->values, HL_MX_PAIR);
    int values = !*r->values ? 0 : strchr(r->values, ' ') ? 2 : 1;
    if (eq && values != 1 && !(pair && strchr(eq + 1, '='))) {
        return COMPLAIN("%s: the option %s takes %s%s", arg, name, values ? "two values, " : "no value",
                        r->values);
    }
    ++*at;
    for (int i = 0; i < values; i++) {
        int rc = eq ? -1 : check_value(r, arg, v, i, argv[*at]);
        if (rc >= 0) {
            return rc;
        }
        v[i] = eq ? eq + 1 : argv[*at];
        *at += eq ? 0 : 1;
        if (pair && strchr(v[0], '=')) {
            break;
        }
    }
    return apply(o, p, r, arg, v);
}

/* Sets the number of a part's ranks: -n, else the number for each machine, else 1. */
static void count_ranks(struct hl_mx_opts *o, struct hl_mx_part *p)
{
    char text[16];
    if (!p->n) {
        o->unasked |= !p->each;
        p->n = p->each ? p->each : 1;
    } else if (p->each && p->n > p->each) {
        snprintf(text, sizeof text, "%d", p->each);
        note(o, p->each_arg, text);
    }
}

/* Reads one part up to `:` or the end, and cuts argv there. Returns -1, or the exit code. */
static int parse_part(struct hl_mx_opts *o, struct hl_mx_part *p, char **argv, int *at)
{
    *p = (struct hl_mx_part){.n = 0};
    while (argv[*at] && argv[*at][0] == '-' && argv[*at][1]) {
        if (!strcmp(argv[*at], "--")) {
            ++*at;
            break;
        }
        int rc = parse_one(o, p, argv, at);
        if (rc >= 0) {
            return rc;
        }
    }
    p->argv = argv + *at;
    while (argv[*at] && strcmp(argv[*at], ":") != 0) {
        ++*at;
    }
    if (p->argv == argv + *at) {
        return COMPLAIN("no program to run%s",
                        o->nparts > 1 || argv[*at] ? " in one of the parts" : "; try --help");
    }
    if (argv[*at]) {
        argv[*at] = NULL;
        ++*at;
        return argv[*at] ? -1 : COMPLAIN("no program to run after the last `:`");
    }
    return -1;
}

/* Are there more ranks than slots? Where a host has no number of slots there never are. */
static bool exceeds_slots(const struct hl_mx_opts *o)
{
    return o->slots.n && !o->slots.open && o->size > o->slots.n;
}

/* Returns -1, or, after an error message, the exit code. */
static int check_slots(const struct hl_mx_opts *o)
{
    if (!o->strict || !exceeds_slots(o)) {
        return -1;
    }
    return COMPLAIN(
        "%d rank%s for %lld slot%s of the hosts named, and --nooversubscribe refuses more ranks than "
        "slots; write -n %lld, or more slots, as in localhost:%d",
        o->size, hl_mx_plural(o->size), (long long)o->slots.n, hl_mx_plural(o->slots.n),
        (long long)o->slots.n, o->size);
}

/* How many ranks Open MPI would start without -n: as many as there are slots, of the hosts named or of
 * Slurm's allocation; 1 if that is not known. */
static int64_t ranks_elsewhere(const struct hl_mx_opts *o)
{
    const char *tasks = getenv("SLURM_NTASKS");
    int64_t n = o->slots.open ? 1 : o->slots.n ? o->slots.n : tasks ? strtol(tasks, NULL, 10) : 1;
    return n >= 1 && n <= RANKS_MOST ? n : 1;
}

/* Prints one line that names all options without effect, then hints that only a user on a terminal (or -v)
 * gets, since test suites compare output. */
static void tell(struct hl_mx_opts *o)
{
    bool placed = o->bind != HL_MX_BIND_NONE && o->bind != HL_MX_BIND_LIST;
    if (!placed && (o->map == HL_MX_MAP_NUMA || o->map == HL_MX_MAP_SOCKETS)) {
        note(o, "--map-by without --bind-to", "");
    }
    if (o->unused && !o->quiet) {
        hl_mx_say("accepted, without effect here: %s (--help says why)", o->unused);
    }
    int64_t there = ranks_elsewhere(o);
    if (o->unasked && o->size == 1 && there > 1 && hl_mx_opts_chatty(o)) {
        hl_mx_say("1 rank starts: write -n N (Open MPI would start %lld here)", (long long)there);
    }
    if (exceeds_slots(o) && hl_mx_opts_chatty(o)) {
        hl_mx_say("%d rank%s for %lld slot%s of the hosts named: all start on this machine "
                  "(--oversubscribe: this is meant)",
                  o->size, hl_mx_plural(o->size), (long long)o->slots.n, hl_mx_plural(o->slots.n));
    }
}

bool hl_mx_opts_chatty(const struct hl_mx_opts *o)
{
    return !o->oversubscribe && (o->verbose || isatty(2));
}

int hl_mx_opts_parse(int argc, char **argv, struct hl_mx_opts *o)
{
    int at = 1;
    *o = (struct hl_mx_opts){.sys_root = "/sys"};
    o->part = hl_mx_alloc(sizeof *o->part * (size_t)(argc + 1));
    do {
        struct hl_mx_part *p = &o->part[o->nparts++];
        int rc = parse_part(o, p, argv, &at);
        if (rc >= 0) {
            return rc;
        }
        count_ranks(o, p);
        if (p->n > RANKS_MOST - o->size) {
            return COMPLAIN("%d ranks and %d more: a job has at most %d", o->size, p->n, RANKS_MOST);
        }
        o->size += p->n;
    } while (argv[at]);
    const char *timeout = getenv("MPIEXEC_TIMEOUT");
    int rc = check_slots(o);
    if (rc < 0 && o->timeout_s == 0 && timeout && *timeout) {
        rc = set_timeout(o, "MPIEXEC_TIMEOUT", '=', timeout);
    }
    if (rc < 0) {
        tell(o);
    }
    return rc;
}
