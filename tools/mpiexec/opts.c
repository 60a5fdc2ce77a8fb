/* mpiexec: the command line. One table of options; one dash or two, value after a blank or `=`. */
#include "hl_build.h"
#include "mx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum opt {
    OPT_N,
    OPT_ENV,
    OPT_X,
    OPT_WDIR,
    OPT_GENV,
    OPT_LABEL,
    OPT_BIND,
    OPT_REPORT,
    OPT_TIMEOUT,
    OPT_KEEP,
    OPT_ERRHANDLER,
    OPT_SHARE,
    OPT_HOSTS,
    OPT_HOSTFILE,
    OPT_SYSFS,
    OPT_HELP,
    OPT_VERSION,
    OPT_SLOT,   /* accepted when the value is "slot" */
    OPT_NOTHING /* accepted without effect */
};

static const struct row {
    const char *name;
    enum opt id;
    int values;
} table[] = {
    {"n", OPT_N, 1},
    {"np", OPT_N, 1},
    {"env", OPT_ENV, 2},
    {"x", OPT_X, 1},
    {"wdir", OPT_WDIR, 1},
    {"wd", OPT_WDIR, 1},
    {"cwd", OPT_WDIR, 1},
    {"genv", OPT_GENV, 2},
    {"l", OPT_LABEL, 0},
    {"tag-output", OPT_LABEL, 0},
    {"prepend-rank", OPT_LABEL, 0},
    {"bind-to", OPT_BIND, 1},
    {"report-bindings", OPT_REPORT, 0},
    {"timeout", OPT_TIMEOUT, 1},
    {"keep-going", OPT_KEEP, 0},
    {"initial-errhandler", OPT_ERRHANDLER, 1},
    {"hosts", OPT_HOSTS, 1},
    {"host", OPT_HOSTS, 1},
    {"H", OPT_HOSTS, 1},
    {"machinefile", OPT_HOSTFILE, 1},
    {"hostfile", OPT_HOSTFILE, 1},
    {"f", OPT_HOSTFILE, 1},
    {"sysfs", OPT_SYSFS, 1},
    {"help", OPT_HELP, 0},
    {"h", OPT_HELP, 0},
    {"version", OPT_VERSION, 0},
    {"V", OPT_VERSION, 0},
    {"map-by", OPT_SLOT, 1},
    {"rank-by", OPT_SLOT, 1},
    {"oversubscribe", OPT_SHARE, 0},
    {"allow-run-as-root", OPT_NOTHING, 0},
    {"genvall", OPT_NOTHING, 0},
    {"envall", OPT_NOTHING, 0},
    {"ppn", OPT_NOTHING, 1},
    {"N", OPT_NOTHING, 1},
};
enum { ROWS = sizeof table / sizeof *table };

static char none[] = "";
extern char **environ;

#define COMPLAIN(...) (hl_mx_say(__VA_ARGS__), 2)

static int env_add(struct hl_mx_env *e, const char *arg, const char *name, const char *value)
{
    size_t cap = strlen(name) + strlen(value) + 2;
    char *pair = hl_mx_alloc(cap);
    snprintf(pair, cap, "%s=%s", name, value);
    if (hl_mx_spawn_owns(pair)) {
        return COMPLAIN("%s: %s is set by this launcher, for each rank its own or none", arg, name);
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

/* Options that other launchers have, and what does the same here. */
static const char *const elsewhere[][2] = {
    {"configfile", "write its parts here, one after the other with a `:` between them"},
    {"app", "write its parts here, one after the other with a `:` between them"},
    {"mca", "settings are environment variables, set by -genv NAME VALUE; see hotlane-info --env"},
    {"pmixmca", "settings are environment variables, set by -genv NAME VALUE; see hotlane-info --env"},
    {"ntasks", "the number of ranks is given by -n"},
    {"cpu-bind", "CPUs are given by --bind-to"},
    {"genvlist", "all variables are passed on"},
    {"envlist", "all variables are passed on"},
    {"genvnone", "all variables are passed on; `env -i` before this command leaves them out"},
    {"envnone", "all variables are passed on; `env -i` before this command leaves them out"},
};

static int unknown(const char *arg, const char *name)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        if (!strcmp(elsewhere[i][0], name)) {
            return COMPLAIN("no option %s: %s (--help lists all)", arg, elsewhere[i][1]);
        }
    }
    const char *names[ROWS];
    for (int i = 0; i < ROWS; i++) {
        names[i] = table[i].name;
    }
    const char *near = hl_mx_nearest(name, names, ROWS);
    if (near == NULL) {
        return COMPLAIN("unknown option %s (--help lists all)", arg);
    }
    return COMPLAIN("unknown option %s; the nearest is %s%s (--help lists all)", arg, near[1] ? "--" : "-",
                    near);
}

static int set_n(struct hl_mx_part *p, const char *arg, const char *text)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < 1 || n > 100000) {
        return COMPLAIN("%s %s: the number of ranks must be 1 to 100000", arg, text);
    }
    p->n = (int)n;
    return -1;
}

static int set_timeout(struct hl_mx_opts *o, const char *arg, const char *text)
{
    char *end;
    double s = strtod(text, &end);
    if (end == text || *end || !(s > 0) || s > 1e9) {
        return COMPLAIN("%s %s: a number of seconds above 0 and at most 1e9 is needed", arg, text);
    }
    o->timeout_s = s;
    return -1;
}

static int set_bind(struct hl_mx_opts *o, const char *text)
{
    static const char *const places[] = {"none", "core", "numa", "socket"};
    o->bind = HL_MX_BIND_LIST;
    o->bind_list = text;
    for (int i = 0; i < 4; i++) {
        if (!strcmp(text, places[i])) {
            o->bind = (enum hl_mx_bind)i;
        }
    }
    return -1;
}

static int set_x(struct hl_mx_part *p, const char *arg, const char *text)
{
    const char *eq = strchr(text, '=');
    if (eq == text || !*text) {
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
    return COMPLAIN("%s %s: it is %s, %s or %s", arg, text, handlers[0], handlers[1], handlers[2]);
}

static int set_env(struct hl_mx_env *e, const char *arg, char **v)
{
    if (!*v[0] || strchr(v[0], '=')) {
        return COMPLAIN("%s %s: not the name of a variable (%s NAME VALUE)", arg, v[0], arg);
    }
    return env_add(e, arg, v[0], v[1]);
}

static int print_version(void)
{
    printf("%s (Hotlane) %s\n", program_invocation_short_name, HL_VERSION);
    return 0;
}

static int print_help(void)
{
    hl_mx_help();
    return 0;
}

/* Carries out one option with its values v[]. Returns -1, or the exit code. */
static int apply(struct hl_mx_opts *o, struct hl_mx_part *p, const struct row *r, const char *arg, char **v)
{
    switch (r->id) {
    case OPT_N:
        return set_n(p, arg, v[0]);
    case OPT_ENV:
        return set_env(&p->env, arg, v);
    case OPT_GENV:
        return set_env(&o->genv, arg, v);
    case OPT_X:
        return set_x(p, arg, v[0]);
    case OPT_WDIR:
        p->wdir = v[0];
        return -1;
    case OPT_LABEL:
        o->label = true;
        return -1;
    case OPT_BIND:
        return set_bind(o, v[0]);
    case OPT_REPORT:
        o->report = true;
        return -1;
    case OPT_TIMEOUT:
        return set_timeout(o, arg, v[0]);
    case OPT_KEEP:
        o->keep_going = true;
        return -1;
    case OPT_ERRHANDLER:
        return set_errhandler(o, arg, v[0]);
    case OPT_SHARE:
        o->oversubscribe = true;
        return -1;
    case OPT_HOSTS:
        return hl_mx_hosts_list(arg, v[0], &o->slots);
    case OPT_HOSTFILE:
        return hl_mx_hosts_file(arg, v[0], &o->slots);
    case OPT_SYSFS:
        o->sys_root = v[0];
        return -1;
    case OPT_HELP:
        return print_help();
    case OPT_VERSION:
        return print_version();
    case OPT_SLOT:
        if (strcmp(v[0], "slot") != 0) {
            return COMPLAIN("%s %s: ranks are placed by slot only (see --bind-to)", arg, v[0]);
        }
        hl_mx_say("%s %s: accepted, it is what happens anyway", arg, v[0]);
        return -1;
    case OPT_NOTHING:
        hl_mx_say("%s: accepted, it has no effect here", arg);
        return -1;
    }
    return -1;
}

/* Reads the option at argv[*at] and moves *at behind its values. Returns -1, or the exit code. */
static int parse_one(struct hl_mx_opts *o, struct hl_mx_part *p, char **argv, int *at)
{
    char *arg = argv[*at], *eq = strchr(arg, '='), *v[2] = {none, none}, name[64];
    const char *start = arg + 1 + (arg[1] == '-');
    size_t len = eq ? (size_t)(eq - start) : strlen(start);
    const struct row *r = NULL;
    if (len >= sizeof name) {
        len = sizeof name - 1;
    }
    memcpy(name, start, len);
    name[len] = 0;
    for (int i = 0; i < ROWS && !r; i++) {
        if (!strcmp(table[i].name, name)) {
            r = &table[i];
        }
    }
    if (!r) {
        return unknown(arg, name);
    }
    if (eq && r->values != 1) {
        return COMPLAIN("%s: the option %s takes %s", arg, name,
                        r->values ? "two values, NAME VALUE" : "no value");
    }
    ++*at;
    for (int i = 0; i < r->values; i++) {
        v[i] = eq ? eq + 1 : argv[*at];
        if (!v[i]) {
            return COMPLAIN("%s: %s is missing", arg, r->values == 2 ? "NAME VALUE" : "its value");
        }
        *at += eq ? 0 : 1;
    }
    return apply(o, p, r, arg, v);
}

/* Reads one part up to `:` or the end; its argv is cut there. Returns -1, or the exit code. */
static int parse_part(struct hl_mx_opts *o, struct hl_mx_part *p, char **argv, int *at)
{
    *p = (struct hl_mx_part){.n = 1};
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
        o->size += p->n;
    } while (argv[at]);
    if (o->slots.n && !o->slots.open && o->size > o->slots.n && !o->oversubscribe) {
        hl_mx_say("%d ranks for %lld slot%s of the hosts named: all start on this machine "
                  "(--oversubscribe: this is meant)",
                  o->size, (long long)o->slots.n, hl_mx_plural(o->slots.n));
    }
    return -1;
}
