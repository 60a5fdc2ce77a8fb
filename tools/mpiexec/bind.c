/* mpiexec: CPUs for ranks. Places (cores, NUMA nodes, sockets) are read from sysfs and cut to the CPUs that
 * the launcher itself may use, be it by taskset, a container or a batch system; ranks get places in blocks,
 * so that neighbours in rank are neighbours in the machine. A list names the CPUs of each rank itself. */
#include "mx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    cpu_set_t cpus;
    int id; /* the system's number of it */
};
static struct place *place;
static int places;
static cpu_set_t allowed; /* to the launcher */
static const struct hl_mx_opts *opts;

static const char *const names[] = {
    [HL_MX_BIND_NONE] = "none",     [HL_MX_BIND_CORE] = "core", [HL_MX_BIND_NUMA] = "NUMA node",
    [HL_MX_BIND_SOCKET] = "socket", [HL_MX_BIND_LIST] = "list",
};

enum { PATH = 512 };

#define REFUSE(...) (hl_mx_say(__VA_ARGS__), 2)

/* Adds what of `cpus` the launcher may use, if there is any. */
static void add_place(const cpu_set_t *cpus, int id)
{
    place = hl_mx_realloc(place, sizeof *place * (size_t)(places + 1));
    CPU_AND(&place[places].cpus, cpus, &allowed);
    place[places].id = id;
    places += CPU_COUNT(&place[places].cpus) > 0;
}

/* The CPUs that share `what` with `cpu`, itself at least: the first of the two files that is there. */
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

/* Cores or sockets: groups of CPUs that name each other. Sockets count from 0 in the order of their CPUs. */
static void find_groups(const char *file, const char *older)
{
    cpu_set_t seen, set;
    CPU_ZERO(&seen);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || CPU_ISSET(cpu, &seen)) {
            continue;
        }
        beside(cpu, file, older, &set);
        CPU_OR(&seen, &seen, &set);
        add_place(&set, places);
    }
}

static void find_nodes(void)
{
    char path[PATH];
    cpu_set_t set;
    for (int node = 0; node < 1024; node++) {
        snprintf(path, sizeof path, "%s/devices/system/node/node%d/cpulist", opts->sys_root, node);
        if (hl_mx_cpus_read(path, &set)) {
            add_place(&set, node);
        }
    }
    if (!places) {
        add_place(&allowed, 0); /* a kernel without NUMA */
    }
}

/* The user's own sets: one for each rank, all of them permitted. */
static int read_list(void)
{
    const char *text = opts->bind_list;
    char may[HL_MX_CPUS_TEXT], set_text[HL_MX_CPUS_TEXT];
    for (;; text++) {
        cpu_set_t set, both;
        text = hl_mx_cpus_parse(text, CPU_SETSIZE - 1, &set);
        if (!text || (*text && *text != ':')) {
            return REFUSE("--bind-to %s: must be none, core, numa, socket, or a set of CPUs for each rank as "
                          "in 0-3:4-7",
                          opts->bind_list);
        }
        CPU_AND(&both, &set, &allowed);
        if (!CPU_EQUAL(&both, &set)) {
            return REFUSE("--bind-to %s: set %d is %s, but this launcher may use %s only", opts->bind_list,
                          places + 1, hl_mx_cpus_write(&set, set_text, sizeof set_text),
                          hl_mx_cpus_write(&allowed, may, sizeof may));
        }
        add_place(&set, places);
        if (!*text) {
            break;
        }
    }
    return places == opts->size ? 0
                                : REFUSE("--bind-to %s: %d set%s of CPUs for %d rank%s", opts->bind_list,
                                         places, hl_mx_plural(places), opts->size, hl_mx_plural(opts->size));
}

static int find_places(void)
{
    char may[HL_MX_CPUS_TEXT];
    switch (opts->bind) {
    case HL_MX_BIND_NONE:
        return 0;
    case HL_MX_BIND_CORE:
        find_groups("core_cpus_list", "thread_siblings_list");
        break;
    case HL_MX_BIND_NUMA:
        find_nodes();
        break;
    case HL_MX_BIND_SOCKET:
        find_groups("package_cpus_list", "core_siblings_list");
        break;
    case HL_MX_BIND_LIST:
        return read_list();
    }
    if (opts->bind == HL_MX_BIND_CORE && opts->size > places && !opts->oversubscribe) {
        return REFUSE("--bind-to core: %d ranks, but this launcher may use %d core%s (%s); take fewer ranks, "
                      "or let them share by --oversubscribe",
                      opts->size, places, hl_mx_plural(places), hl_mx_cpus_write(&allowed, may, sizeof may));
    }
    return 0;
}

static int place_of(int rank)
{
    if (opts->size <= places && opts->bind == HL_MX_BIND_CORE) {
        return rank;
    }
    return (int)((int64_t)rank * places / opts->size);
}

/* Threads of a rank as far as its environment tells: the first number of OMP_NUM_THREADS. */
static int threads_of(const struct hl_mx_part *p, bool *told)
{
    const char *text = hl_mx_env_get(opts, p, "OMP_NUM_THREADS");
    long n = text ? strtol(text, NULL, 10) : 0;
    *told |= n > 0;
    return n > 0 && n < 1 << 20 ? (int)n : 1;
}

/* Threads of all places that lie within place i: sets of a list may overlap. */
static int64_t threads_within(int i, const int64_t *of_place)
{
    int64_t n = 0;
    cpu_set_t both;
    for (int k = 0; k < places; k++) {
        CPU_AND(&both, &place[i].cpus, &place[k].cpus);
        n += CPU_EQUAL(&both, &place[k].cpus) ? of_place[k] : 0;
    }
    return n;
}

/* One line when threads will have to take turns; which is legal, and often an oversight. */
static void check_threads(void)
{
    int64_t all = 0, *of_place = hl_mx_alloc(sizeof *of_place * (size_t)(places + 1));
    bool told = false;
    char text[HL_MX_CPUS_TEXT];
    for (int p = 0, rank = 0; p < opts->nparts; p++) {
        int threads = threads_of(&opts->part[p], &told);
        for (int i = 0; i < opts->part[p].n; i++, rank++) {
            all += threads;
            of_place[places ? place_of(rank) : 0] += threads;
        }
    }
    const char *source = told ? " (OMP_NUM_THREADS)" : "";
    int crowded = 0;
    while (crowded < places && threads_within(crowded, of_place) <= CPU_COUNT(&place[crowded].cpus)) {
        crowded++;
    }
    if (crowded < places) {
        hl_mx_say(
            "the ranks bound to %s have %lld threads%s, which take turns (--oversubscribe: this is meant)",
            hl_mx_cpus_write(&place[crowded].cpus, text, sizeof text),
            (long long)threads_within(crowded, of_place), source);
    } else if (!places && all > CPU_COUNT(&allowed)) {
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
    if (!rc && !o->oversubscribe) {
        check_threads();
    }
    return rc;
}

const cpu_set_t *hl_mx_bind_of(int rank)
{
    return places ? &place[place_of(rank)].cpus : NULL;
}

void hl_mx_bind_report(int rank)
{
    char list[HL_MX_CPUS_TEXT], where[64] = "not bound", shared[48] = "";
    int at = places ? place_of(rank) : -1, beside_it = -1;
    for (int i = 0; places && i < opts->size; i++) {
        beside_it += place_of(i) == at;
    }
    if (beside_it > 0) {
        snprintf(shared, sizeof shared, ", shared with %d other%s", beside_it, hl_mx_plural(beside_it));
    }
    if (opts->bind == HL_MX_BIND_LIST || opts->bind == HL_MX_BIND_CORE) {
        snprintf(where, sizeof where, "bound%s", opts->bind == HL_MX_BIND_CORE ? " to one core" : "");
    } else if (places) {
        snprintf(where, sizeof where, "bound to %s %d", names[opts->bind], place[at].id);
    }
    hl_mx_say("rank %d: %s, %s%s", rank, where,
              hl_mx_cpus_write(places ? &place[at].cpus : &allowed, list, sizeof list), shared);
}
