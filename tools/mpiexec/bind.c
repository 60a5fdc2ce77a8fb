/* mpiexec: CPUs for ranks. Places (cores, or NUMA nodes with CPUs) are read from sysfs and cut to the CPUs
 * that the launcher itself may use; ranks get places in blocks, so that neighbours in rank are neighbours in
 * the machine. */
#include "mx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cpu_set_t *place;
static int places;
static const struct hl_mx_opts *opts;

/* Adds the CPUs of a kernel list ("0-3,8") to *set. */
static void parse_list(const char *text, cpu_set_t *set)
{
    char *end;
    for (;; text = end + 1) {
        long first = strtol(text, &end, 10), last = first;
        if (end == text)
            return;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long i = first; i >= 0 && i <= last && i < CPU_SETSIZE; i++)
            CPU_SET((int)i, set);
        if (*end != ',')
            return;
    }
}

/* Reads a file with a kernel CPU list. Returns false if it cannot be read. */
static bool read_list(const char *path, cpu_set_t *set)
{
    char text[8192] = "";
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    CPU_ZERO(set);
    if (fgets(text, sizeof text, f))
        parse_list(text, set);
    fclose(f);
    return true;
}

static void add_place(const cpu_set_t *cpus)
{
    cpu_set_t *more = realloc(place, sizeof *more * (size_t)(places + 1));
    if (!more)
        return;
    place = more;
    place[places++] = *cpus;
}

static void find_cores(const cpu_set_t *allowed)
{
    char path[512];
    cpu_set_t seen, set;
    CPU_ZERO(&seen);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, allowed) || CPU_ISSET(cpu, &seen))
            continue;
        snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                 opts->sys_root, cpu);
        if (!read_list(path, &set))
            CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        CPU_AND(&set, &set, allowed);
        CPU_OR(&seen, &seen, &set);
        add_place(&set);
    }
}

static void find_nodes(const cpu_set_t *allowed)
{
    char path[512];
    cpu_set_t set;
    for (int node = 0; node < 1024; node++) {
        snprintf(path, sizeof path, "%s/devices/system/node/node%d/cpulist", opts->sys_root, node);
        if (!read_list(path, &set))
            continue;
        CPU_AND(&set, &set, allowed);
        if (CPU_COUNT(&set))
            add_place(&set);
    }
    if (!places)
        add_place(allowed);
}

int hl_mx_bind_open(const struct hl_mx_opts *o)
{
    cpu_set_t allowed;
    opts = o;
    if (o->bind == HL_MX_BIND_NONE)
        return 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) {
        hl_mx_say("--bind-to: the CPUs of this process cannot be read (more than %d?)", CPU_SETSIZE);
        return 1;
    }
    if (o->bind == HL_MX_BIND_CORE)
        find_cores(&allowed);
    else
        find_nodes(&allowed);
    if (!places)
        return 1;
    if (o->bind == HL_MX_BIND_CORE && o->size > places)
        hl_mx_say("--bind-to core: %d ranks share %d cores", o->size, places);
    return 0;
}

static int place_of(int rank)
{
    if (opts->size <= places && opts->bind == HL_MX_BIND_CORE)
        return rank;
    return (int)((int64_t)rank * places / opts->size);
}

const cpu_set_t *hl_mx_bind_of(int rank)
{
    return places ? &place[place_of(rank)] : NULL;
}

/* CPU numbers of a set as the kernel writes them. */
static void write_list(const cpu_set_t *set, char *out, size_t cap)
{
    size_t at = 0;
    out[0] = 0;
    for (int i = 0; i < CPU_SETSIZE && at + 24 < cap; i++) {
        int last = i;
        if (!CPU_ISSET(i, set))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set))
            last++;
        at += (size_t)snprintf(out + at, cap - at, last > i ? "%s%d-%d" : "%s%d", at ? "," : "", i, last);
        i = last;
    }
}

void hl_mx_bind_report(int rank)
{
    char list[512];
    cpu_set_t all;
    if (places) {
        write_list(&place[place_of(rank)], list, sizeof list);
        hl_mx_say("rank %d: %s %d of %d, CPUs %s", rank, opts->bind == HL_MX_BIND_CORE ? "core" : "NUMA node",
                  place_of(rank), places, list);
    } else if (!sched_getaffinity(0, sizeof all, &all)) {
        write_list(&all, list, sizeof list);
        hl_mx_say("rank %d: not bound, CPUs %s", rank, list);
    }
}
