/* hotlane-info: shows what this installation is, what it finds on this machine and what it would choose. */
#include "info.h"

#include "check.h"
#include "err.h"
#include "fab.h"
#include "hl_build.h"
#include "lane.h"
#include "missing.h"
#include "proof.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char usage[] =
    "usage: hotlane-info [OPTION]\n"
    "Shows version, build, network provider and why, lanes, CPUs and memory, and every variable.\n"
    "  --check           examines this machine: a line for each thing that matters, with the command that "
    "makes "
    "it\n"
    "                    better; under mpiexec or srun also what the ranks see\n"
    "  --env             only the variables: value, origin, meaning\n"
    "  --explain NAME    what an error class (MPI_ERR_RMA_RANGE, 48), a variable (HOTLANE_CHAIN) or a\n"
    "                    counter (lease_waits) means\n"
    "  --memory          only memory: kinds, nearest nodes, huge pages, what the variables ask for and what "
    "a\n"
    "                    small piece really gets\n"
    "  --json            everything as JSON; with --check, --env, --memory, --functions or --prove that\n"
    "  --functions       the MPI functions that are there but not supported\n"
    "  --markdown        the variables as docs/ENVIRONMENT.md\n"
    "  --machine FILE    memory of a machine saved by `lstopo FILE.xml` in place of this one's\n"
    "  --prove           tries the network with a job of two processes, or, under mpiexec or srun, with that "
    "one's\n"
    "                    ranks: random puts, gets, atomics and messages against a model, order, a lost "
    "process,\n"
    "                    figures; prints a report that can be mailed\n"
    "  --seconds N       how long the random operations of --prove go on (10)\n"
    "  --root FOLDER     the kernel's files lie under FOLDER, in place of this machine's (--check)\n"
    "  --no-network      do not load libfabric\n"
    "  --help, --version (-h, -V)\n"
    "Exit code 1 when a variable has a value that Hotlane would refuse, --memory is refused its piece,\n"
    "--check finds something broken, or --prove something that fails.\n";

static void show_functions(const struct facts *f)
{
    for (const char *const *name = hl_api_missing(); *name != NULL; name++) {
        puts(*name);
    }
}

/* A place in the table of reports only: info_check and info_prove print their own. */
static void show_check(const struct facts *f)
{
    (void)f;
}

static void show_proof(const struct facts *f)
{
    (void)f;
}

struct options {
    void (*show)(const struct facts *);
    const char *machine, *root, *asked;
    bool network, json;
    double seconds; /* seconds of --prove; negative: not given */
};

static const struct option longs[] = {
    {"check", no_argument, NULL, 'c'},
    {"env", no_argument, NULL, 'e'},
    {"functions", no_argument, NULL, 'f'},
    {"json", no_argument, NULL, 'j'},
    {"markdown", no_argument, NULL, 'm'},
    {"memory", no_argument, NULL, 'M'},
    {"machine", required_argument, NULL, 'x'},
    {"root", required_argument, NULL, 'r'},
    {"no-network", no_argument, NULL, 'n'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {"prove", no_argument, NULL, 'p'},
    {"seconds", required_argument, NULL, 's'},
    {"explain", required_argument, NULL, 'X'},
    {NULL, 0, NULL, 0},
};

/* Refuses an argument, or an option that there is not, and prints the one that may have been meant. */
_Noreturn static void refuse(const char *word)
{
    if (word[0] != '-') {
        fprintf(stderr, "hotlane-info: %s: no argument is taken, only options (--help lists all)\n", word);
        exit(2);
    }
    const char *meant = NULL, *letters = word + strspn(word, "-");
    for (const struct option *o = longs; o->name != NULL; o++) {
        meant = hl_conf_nearer(letters, o->name, meant);
    }
    fprintf(stderr, "hotlane-info: unknown option %s%s%s (--help lists all)\n", word,
            meant != NULL ? "; the nearest is --" : "", meant != NULL ? meant : "");
    exit(2);
}

static void check_root(const char *folder)
{
    struct stat s;
    int rc = stat(folder, &s);
    if (rc != 0 || !S_ISDIR(s.st_mode)) {
        fprintf(stderr, "hotlane-info: --root %s: %s\n", folder, strerror(rc != 0 ? errno : ENOTDIR));
        exit(2);
    }
}

static double seconds_of(const char *text)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds > 0 && seconds <= 1e6)) {
        fprintf(stderr, "hotlane-info: --seconds %s: a number above 0 is expected (--help lists all)\n",
                text);
        exit(2);
    }
    return seconds;
}

/* Takes an option that does not choose a report. */
static void take(int c, struct options *o)
{
    switch (c) {
    case 'j':
        o->json = true;
        break;
    case 'x':
        o->machine = optarg;
        break;
    case 'r':
        check_root(optarg);
        o->root = optarg;
        break;
    case 'n':
        o->network = false;
        break;
    case 's':
        o->seconds = seconds_of(optarg);
        break;
    case 'h':
        fputs(usage, stdout);
        exit(0);
    case 'V':
        puts("hotlane-info " HL_VERSION);
        exit(0);
    }
}

_Noreturn static void refuse_missing(const char *option, const char *next)
{
    fprintf(stderr, "hotlane-info: %s: its value is missing%s%s%s (--help lists all)\n", option,
            next != NULL ? ", as " : "", next != NULL ? next : "", next != NULL ? " follows" : "");
    exit(2);
}

static const char *name_of(int letter)
{
    const struct option *o = longs;
    while (o->name != NULL && o->val != letter) {
        o++;
    }
    return o->name;
}

/* Chooses the report; a second one beside it is refused. */
static int choose(int before, int now)
{
    if (before != 0 && before != now) {
        fprintf(stderr, "hotlane-info: --%s and --%s are two reports: ask for one (--help lists all)\n",
                name_of(before), name_of(now));
        exit(2);
    }
    return now;
}

static void parse(int argc, char **argv, struct options *o)
{
    static const struct {
        int letter;
        void (*text)(const struct facts *), (*json)(const struct facts *);
    } reports[] = {
        {'c', show_check, show_check},
        {'e', info_env, info_env_json},
        {'f', show_functions, info_functions_json},
        {'m', info_markdown, NULL},
        {'X', info_explain, NULL},
        {'M', info_memory, info_memory_json},
        {'p', show_proof, show_proof},
        {0, info_text, info_json},
    };
    *o = (struct options){.root = "", .network = true, .seconds = -1};
    int report = 0;
    for (int c, at; at = optind, (c = getopt_long(argc, argv, "+:hV", longs, NULL)) != -1;) {
        if (c == '?') {
            refuse(argv[at]);
        } else if (c == ':') {
            refuse_missing(argv[at], NULL);
        } else if (optarg != NULL && optarg == argv[optind - 1] && strncmp(optarg, "--", 2) == 0) {
            refuse_missing(argv[at], optarg);
        } else if (strchr("cefmMpX", c) != NULL) {
            report = choose(report, c);
            o->asked = c == 'X' ? optarg : o->asked;
        } else {
            take(c, o);
        }
    }
    if (optind < argc) {
        refuse(argv[optind]);
    }
    if ((report == 'm' || report == 'X') && o->json) {
        fprintf(stderr, "hotlane-info: --%s is text of its own: not with --json (--help lists all)\n",
                name_of(report));
        exit(2);
    }
    if (report != 'p' && o->seconds > 0) {
        fputs("hotlane-info: --seconds is for --prove (--help lists all)\n", stderr);
        exit(2);
    }
    for (size_t i = 0; o->show == NULL; i++) {
        if (reports[i].letter == report) {
            o->show = o->json ? reports[i].json : reports[i].text;
        }
    }
}

static void find_machine(const char *file, struct facts *f)
{
    static struct hl_topo saved;
    f->cpus = hl_topo_cpu_count();
    f->page_count = hl_topo_pages(f->pages, sizeof f->pages / sizeof f->pages[0]);
    if (file == NULL) {
        f->topo = hl_topo_here();
        return;
    }
    int rc = hl_topo_load_xml(file, hl_conf.fastmem_nodes, &saved);
    if (rc != 0) {
        fprintf(stderr, "hotlane-info: %s\n", hl_err_text(rc));
        exit(2);
    }
    f->topo = &saved;
    f->machine = file;
}

static void find_network(bool wanted, struct facts *f)
{
    f->net_rc = wanted && f->conf_rc == 0 ? hl_fab_open() : 0;
    snprintf(f->net, sizeof f->net, "%s",
             !wanted           ? "not asked (--no-network)"
             : f->conf_rc != 0 ? "not asked, as a variable is refused"
             : f->net_rc == 0  ? hl_fab_why()
                               : hl_err_text(f->net_rc));
    f->lanes = (int)hl_lane_plan(true, hl_topo_cpu_count());
}

/* Reads the settings, or notes why they are refused. */
static void find_settings(struct facts *f)
{
    f->conf_rc = hl_conf_load();
    snprintf(f->conf_error, sizeof f->conf_error, "%s", f->conf_rc != 0 ? hl_err_text(f->conf_rc) : "");
    f->vars = hl_conf_vars(&f->var_count);
    if (!hl_conf_prefix(f->prefix, sizeof f->prefix)) {
        f->prefix[0] = '\0';
    }
}

/* Returns the exit code; 1 when the output could not be written, as on a full disk. */
static int shown(int code)
{
    if (fflush(stdout) == 0 && ferror(stdout) == 0) {
        return code;
    }
    fprintf(stderr, "hotlane-info: cannot write standard output: %s\n", strerror(errno));
    return 1;
}

int main(int argc, char **argv)
{
    static struct facts f;
    static char sys[PATH_MAX];
    struct options o;
    parse(argc, argv, &o);
    if (o.show == show_proof) {
        setenv("HOTLANE_NEAR", "0", 0); /* ranks of one host use the network, unless told otherwise */
    }
    find_settings(&f);
    f.asked = o.asked;
    if (o.show == show_proof) {
        return shown(info_prove(&f, o.seconds > 0 ? o.seconds : 10, o.json, argv));
    }
    if (o.root[0] != '\0') {
        snprintf(sys, sizeof sys, "%s/sys", o.root);
        hl_topo_kernel.sys = sys;
    }
    bool memory = o.show == info_memory || o.show == info_memory_json, check = o.show == show_check,
         all = o.show == info_text || o.show == info_json || check;
    if (memory || all) {
        find_machine(o.machine, &f);
    }
    if (memory && f.conf_rc == 0) {
        info_try_memory(&f);
    }
    if (all) {
        find_network(o.network, &f);
    }
    if (check) {
        hl_mem_wish_of_env(&f.wish);
        return shown(info_check(&f, o.root, o.json));
    }
    o.show(&f);
    if (f.conf_rc != 0) {
        (void)fflush(stdout); /* so that the line follows the report where both go to one file */
        fprintf(stderr, "hotlane-info: %s\n", f.conf_error);
    }
    return shown((f.conf_rc != 0 && o.show != info_markdown) || f.trial.rc != 0);
}
