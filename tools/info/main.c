/* hotlane-info: what this installation is, sees and would do. */
#include "info.h"

#include "err.h"
#include "fab.h"
#include "hl_build.h"
#include "lane.h"
#include "missing.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: hotlane-info [OPTION]\n"
    "Shows version, build, network provider and why, lanes, CPUs and memory, and every variable.\n"
    "  --env             only the variables: value, origin, meaning\n"
    "  --memory          only memory: kinds, nearest nodes, huge pages, what the variables ask for and what "
    "a\n"
    "                    small piece really gets\n"
    "  --json            everything as JSON; after --memory that\n"
    "  --functions       the MPI functions that are there but not built yet\n"
    "  --markdown        the variables as docs/ENVIRONMENT.md\n"
    "  --machine FILE    memory of a machine saved by `lstopo FILE.xml` in place of this one's\n"
    "  --no-network      do not load libfabric\n"
    "  --help, --version\n"
    "Exit code 1 when a variable has a value that Hotlane would refuse, or --memory is refused its piece.\n";

/* They return MPI_ERR_UNSUPPORTED_OPERATION through the error handler. */
static void show_functions(const struct facts *f)
{
    for (const char *const *name = hl_api_missing(); *name != NULL; name++) {
        puts(*name);
    }
}

struct options {
    void (*show)(const struct facts *);
    const char *machine;
    bool network;
};

static void parse(int argc, char **argv, struct options *o)
{
    static const struct option longs[] = {
        {"env", no_argument, NULL, 'e'},           {"functions", no_argument, NULL, 'f'},
        {"json", no_argument, NULL, 'j'},          {"markdown", no_argument, NULL, 'm'},
        {"machine", required_argument, NULL, 'x'}, {"memory", no_argument, NULL, 'M'},
        {"no-network", no_argument, NULL, 'n'},    {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},       {NULL, 0, NULL, 0},
    };
    *o = (struct options){.show = info_text, .network = true};
    for (int c; (c = getopt_long(argc, argv, "h", longs, NULL)) != -1;) {
        switch (c) {
        case 'e':
            o->show = info_env;
            break;
        case 'f':
            o->show = show_functions;
            break;
        case 'j':
            o->show = o->show == info_memory ? info_memory_json : info_json;
            break;
        case 'm':
            o->show = info_markdown;
            break;
        case 'M':
            o->show = o->show == info_json ? info_memory_json : info_memory;
            break;
        case 'x':
            o->machine = optarg;
            break;
        case 'n':
            o->network = false;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        case 'V':
            puts("hotlane-info " HL_VERSION);
            exit(0);
        default:
            fputs("hotlane-info --help lists the options\n", stderr);
            exit(2);
        }
    }
    if (optind < argc) {
        fprintf(stderr, "hotlane-info: what is `%s`? hotlane-info --help lists the options\n", argv[optind]);
        exit(2);
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
    f->net_rc = wanted ? hl_fab_open() : 0;
    snprintf(f->net, sizeof f->net, "%s",
             !wanted          ? "not asked (--no-network)"
             : f->net_rc == 0 ? hl_fab_why()
                              : hl_err_text(f->net_rc));
    f->lanes = (int)hl_lane_plan(true);
}

int main(int argc, char **argv)
{
    static struct facts f;
    struct options o;
    parse(argc, argv, &o);
    f.conf_rc = hl_conf_load();
    snprintf(f.conf_error, sizeof f.conf_error, "%s", f.conf_rc != 0 ? hl_err_text(f.conf_rc) : "");
    f.vars = hl_conf_vars(&f.var_count);
    if (!hl_conf_prefix(f.prefix, sizeof f.prefix)) {
        f.prefix[0] = '\0';
    }
    bool memory = o.show == info_memory || o.show == info_memory_json,
         all = o.show == info_text || o.show == info_json;
    if (memory || all) {
        find_machine(o.machine, &f);
    }
    if (memory && f.conf_rc == 0) {
        info_try_memory(&f);
    }
    if (all) {
        find_network(o.network && f.conf_rc == 0, &f);
    }
    o.show(&f);
    if (f.conf_rc != 0) {
        fprintf(stderr, "hotlane-info: %s\n", f.conf_error);
    }
    return (f.conf_rc != 0 && o.show != info_markdown) || f.trial.rc != 0;
}
