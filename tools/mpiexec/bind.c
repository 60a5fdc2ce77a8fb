/* mpiexec: chooses CPUs for ranks. Places (cores, NUMA nodes, sockets) are read from sysfs and cut to the
 * CPUs that the launcher itself may use under taskset, a container or a batch system. Ranks get places in
 * blocks by default, so that neighbours in rank are neighbours in the machine. A list given by the user names
 * the CPUs of each rank. */
#include "mx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    cpu_set_t cpus;
    int id; /* the system's number of the place */
};
struct places {
    struct place *at;
    int n;
};
static struct places bound; /* the places to which ranks are bound; none: ranks are not bound */
static int *place_at;       /* [ranks]: index of the place of each */
static cpu_set_t allowed;   /* CPUs that the launcher may use */
static const struct hl_mx_opts *opts;

static const char *const names[] = {
    [HL_MX_BIND_NONE] = "none",      [HL_MX_BIND_CORE] = "core",     [HL_MX_BIND_THREAD] = "hwthread",
    [HL_MX_BIND_NUMA] = "NUMA node", [HL_MX_BIND_SOCKET] = "socket", [HL_MX_BIND_LIST] = "list",
};

enum { PATH = 512 };

#define REFUSE(...) (hl_mx_say(__VA_ARGS__), 2)

/* Adds a place with those of `cpus` that the launcher may use, unless there are none. */
static void add_place(struct places *to, const cpu_set_t *cpus, int id)
{
    to->at = hl_mx_realloc(to->at, sizeof *to->at * (size_t)(to->n + 1));
    CPU_AND(&to->at[to->n].cpus, cpus, &allowed);
    to->at[to->n].id = id;
    to->n += CPU_COUNT(&to->at[to->n].cpus) > 0;
}

/* Reads the CPUs that share a core or socket with `cpu`, at least itself, from the first of the two files
 * that exists. */
static void beside(int cpu, const char *file, const char *older, cpu_set_t *set)
{
    char path[PATH];
    const char *const files[] = {file, older};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d/topology/%s", opts->sys_root, cpu, files[i]);
        if (hl_mx_cpus_read(path, set)) {
            break;
        }
        CPU_ZERO(set);
    }
    CPU_SET(cpu, set);
}

/* Finds cores or sockets: groups of CPUs whose files name each other; single CPUs where there is no file.
 * Sockets are numbered from 0 in the order of their CPUs. */
static void find_groups(struct places *to, const char *file, const char *older)
{
    cpu_set_t seen, set;
    CPU_ZERO(&seen);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || CPU_ISSET(cpu, &seen)) {
            continue;
        }
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        if (file) {
            beside(cpu, file, older, &set);
        }
        CPU_OR(&seen, &seen, &set);
        add_place(to, &set, to->n);
    }
}

static void find_sockets(struct places *to)
{
    find_groups(to, "package_cpus_list", "core_siblings_list");
}

static void find_nodes(struct places *to)
{
    char path[PATH];
    cpu_set_t set;
    for (int node = 0; node < 1024; node++) {
        snprintf(path, sizeof path, "%s/devices/system/node/node%d/cpulist", opts->sys_root, node);
        if (hl_mx_cpus_read(path, &set)) {
            add_place(to, &set, node);
        }
    }
    if (!to->n) {
        add_place(to, &allowed, 0); /* a kernel without NUMA */
    }
}

/* Reads the user's sets of CPUs, one for each rank. Checks that the launcher may use them. Returns 0, or,
 * after an error message, an exit code. */
static int read_list(void)
{
    const char *text = opts->bind_list;
    char may[HL_MX_CPUS_TEXT], set_text[HL_MX_CPUS_TEXT];
    for (;; text++) {
        cpu_set_t set, both;
        text = hl_mx_cpus_parse(text, CPU_SETSIZE - 1, &set);
        if (!text || (*text && *text != ':')) {
            return REFUSE(
                "--bind-to %s: must be none, core, hwthread, numa, socket, or a set of CPUs for each "
                "rank as in 0-3:4-7",
                opts->bind_list);
        }
        CPU_AND(&both, &set, &allowed);
        if (!CPU_EQUAL(&both, &set)) {
            return REFUSE("--bind-to %s: set %d is %s, but this launcher may use %s only", opts->bind_list,
                          bound.n + 1, hl_mx_cpus_write(&set, set_text, sizeof set_text),
                          hl_mx_cpus_write(&allowed, may, sizeof may));
        }
        add_place(&bound, &set, bound.n);
        if (!*text) {
            break;
        }
    }
    return bound.n == opts->size
               ? 0
               : REFUSE("--bind-to %s: %d set%s of CPUs for %d rank%s: write one for each rank",
                        opts->bind_list, bound.n, hl_mx_plural(bound.n), opts->size,
                        hl_mx_plural(opts->size));
}

/* Is each place meant for one rank? */
static bool is_single(void)
{
    return opts->bind == HL_MX_BIND_CORE || opts->bind == HL_MX_BIND_THREAD;
}

static int find_places(void)
{
    char may[HL_MX_CPUS_TEXT];
    switch (opts->bind) {
    case HL_MX_BIND_NONE:
        return 0;
    case HL_MX_BIND_CORE:
        find_groups(&bound, "core_cpus_list", "thread_siblings_list");
        break;
    case HL_MX_BIND_THREAD:
        find_groups(&bound, NULL, NULL);
        break;
    case HL_MX_BIND_NUMA:
        find_nodes(&bound);
        break;
    case HL_MX_BIND_SOCKET:
        find_sockets(&bound);
        break;
    case HL_MX_BIND_LIST:
        return read_list();
    }
    if (is_single() && opts->size > bound.n && !opts->oversubscribe) {
        return REFUSE("--bind-to %s: %d ranks, but this launcher may use %d %s%s (%s); take fewer ranks, "
                      "or let them share by --oversubscribe",
                      names[opts->bind], opts->size, bound.n, names[opts->bind], hl_mx_plural(bound.n),
                      hl_mx_cpus_write(&allowed, may, sizeof may));
    }
    return 0;
}

/* Chooses the order by the user's option, else by the variable of Cray's launchers: 0: in turn, 1: blocks, 2:
 * folded; their nodes are NUMA nodes here. Returns 0, or, after an error message, an exit code. */
static int choose_map(enum hl_mx_map *map)
{
    static const char name[] = "MPICH_RANK_REORDER_METHOD";
    static const enum hl_mx_map of[] = {HL_MX_MAP_NUMA, HL_MX_MAP_BLOCKS, HL_MX_MAP_FOLDED};
    const char *text = hl_mx_env_get(opts, &opts->part[0], name);
    *map = opts->map;
    if (opts->map != HL_MX_MAP_ANY || !bound.n || opts->bind == HL_MX_BIND_LIST || !text || !*text) {
        return 0;
    }
    if (text[0] < '0' || text[0] > '2' || text[1]) {
        return REFUSE(
            "%s=%s: must be 0, 1 or 2 with --bind-to here; for an order of your own --bind-to 0-3:4-7 "
            "names the CPUs of each rank",
            name, text);
    }
    *map = of[text[0] - '0'];
    return 0;
}

/* The domain (NUMA node, socket) in which place i lies, or begins. */
static int domain_of(const struct places *domains, int i)
{
    cpu_set_t both;
    for (int d = 0; d < domains->n; d++) {
        CPU_AND(&both, &bound.at[i].cpus, &domains->at[d].cpus);
        if (CPU_COUNT(&both)) {
            return d;
        }
    }
    return 0;
}

/* Ranks go to the domains in turn and take a place there that has the fewest ranks. */
static void place_in_turn(enum hl_mx_map map)
{
    struct places domains = {0};
    int *domain = hl_mx_alloc(sizeof *domain * (size_t)bound.n),
        *users = hl_mx_alloc(sizeof *users * (size_t)bound.n);
    int level = 0, left = bound.n;
    if (map == HL_MX_MAP_SOCKETS) {
        find_sockets(&domains);
    } else {
        find_nodes(&domains);
    }
    for (int i = 0; i < bound.n; i++) {
        domain[i] = domain_of(&domains, i);
    }
    for (int rank = 0, step = 0; rank < opts->size; step++) {
        int turn = step % domains.n,
            here = map == HL_MX_MAP_FOLDED && step / domains.n % 2 ? domains.n - 1 - turn : turn;
        int i = 0;
        while (i < bound.n && (domain[i] != here || users[i] > level)) {
            i++;
        }
        if (i < bound.n) {
            place_at[rank++] = i;
            users[i]++;
            left--;
        }
        if (!left) {
            level++;
            left = bound.n;
        }
    }
    free(domain);
    free(users);
    free(domains.at);
}

static void place_in_blocks(void)
{
    bool each = opts->size <= bound.n && is_single();
    for (int rank = 0; rank < opts->size; rank++) {
        place_at[rank] = each ? rank : (int)((int64_t)rank * bound.n / opts->size);
    }
}

/* Gives each rank its place. Returns 0, or, after an error message, an exit code. */
static int place_ranks(void)
{
    enum hl_mx_map map;
    int rc = choose_map(&map);
    if (rc || !bound.n) {
        return rc;
    }
    place_at = hl_mx_alloc(sizeof *place_at * (size_t)opts->size);
    if (map == HL_MX_MAP_ANY || map == HL_MX_MAP_BLOCKS || opts->bind == HL_MX_BIND_LIST) {
        place_in_blocks();
    } else {
        place_in_turn(map);
    }
    return 0;
}

/* The number of threads of a rank as far as its environment tells: the first number of OMP_NUM_THREADS, else
 * 1. *told: it was given. */
static int threads_of(const struct hl_mx_part *p, bool *told)
{
    const char *text = hl_mx_env_get(opts, p, "OMP_NUM_THREADS");
    long n = text ? strtol(text, NULL, 10) : 0;
    *told |= n > 0;
    return n > 0 && n < 1 << 20 ? (int)n : 1;
}

/* The number of threads in all places that lie within place i, since the sets of a list may overlap. */
static int64_t threads_within(int i, const int64_t *of_place)
{
    int64_t n = 0;
    cpu_set_t both;
    for (int k = 0; k < bound.n; k++) {
        CPU_AND(&both, &bound.at[i].cpus, &bound.at[k].cpus);
        n += CPU_EQUAL(&both, &bound.at[k].cpus) ? of_place[k] : 0;
    }
    return n;
}

/* Prints one line when there are more threads than CPUs, which is legal but often an oversight. */
static void check_threads(void)
{
    int64_t all = 0, *of_place = hl_mx_alloc(sizeof *of_place * (size_t)(bound.n + 1));
    bool told = false;
    char text[HL_MX_CPUS_TEXT];
    for (int p = 0, rank = 0; p < opts->nparts; p++) {
        int threads = threads_of(&opts->part[p], &told);
        for (int i = 0; i < opts->part[p].n; i++, rank++) {
            all += threads;
            of_place[bound.n ? place_at[rank] : 0] += threads;
        }
    }
    const char *source = told ? " (OMP_NUM_THREADS)" : "";
    int crowded = 0;
    while (crowded < bound.n && threads_within(crowded, of_place) <= CPU_COUNT(&bound.at[crowded].cpus)) {
        crowded++;
    }
    if (crowded < bound.n) {
        hl_mx_say(
            "the ranks bound to %s have %lld threads%s, which take turns (--oversubscribe: this is meant)",
            hl_mx_cpus_write(&bound.at[crowded].cpus, text, sizeof text),
            (long long)threads_within(crowded, of_place), source);
    } else if (!bound.n && all > CPU_COUNT(&allowed)) {
        hl_mx_say(
            "%d rank%s %s %lld threads%s, which take turns on %d CPU%s (--oversubscribe: this is meant)",
            opts->size, hl_mx_plural(opts->size), opts->size == 1 ? "has" : "have", (long long)all, source,
            CPU_COUNT(&allowed), hl_mx_plural(CPU_COUNT(&allowed)));
    }
    free(of_place);
}

int hl_mx_bind_open(const struct hl_mx_opts *o)
{
    opts = o;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) {
        if (o->bind == HL_MX_BIND_NONE) {
            return 0;
        }
        return REFUSE("--bind-to %s: the CPUs of this process cannot be read: %s", names[o->bind],
                      errno == EINVAL ? "there are more than 1024" : strerror(errno));
    }
    int rc = find_places();
    rc = rc ? rc : place_ranks();
    if (!rc && hl_mx_opts_chatty(o)) {
        check_threads();
    }
    return rc;
}

const cpu_set_t *hl_mx_bind_of(int rank)
{
    return bound.n ? &bound.at[place_at[rank]].cpus : NULL;
}

void hl_mx_bind_report(int rank)
{
    char list[HL_MX_CPUS_TEXT], where[64] = "not bound", shared[48] = "";
    int at = bound.n ? place_at[rank] : -1, beside_it = -1;
    for (int i = 0; bound.n && i < opts->size; i++) {
        beside_it += place_at[i] == at;
    }
    if (beside_it > 0) {
        snprintf(shared, sizeof shared, ", shared with %d other%s", beside_it, hl_mx_plural(beside_it));
    }
    if (opts->bind == HL_MX_BIND_LIST || is_single()) {
        snprintf(where, sizeof where, "bound%s%s", is_single() ? " to one " : "",
                 is_single() ? names[opts->bind] : "");
    } else if (bound.n) {
        snprintf(where, sizeof where, "bound to %s %d", names[opts->bind], bound.at[at].id);
    }
    hl_mx_say("rank %d: %s, %s%s", rank, where,
              hl_mx_cpus_write(bound.n ? &bound.at[at].cpus : &allowed, list, sizeof list), shared);
}
