/* Hardware around a process: for each kind of hwloc's objects, the one that holds all CPUs that this
 * process may use now. */
#include <hwloc.h>
#include <stdio.h>
#include <string.h>

#include "conf.h"
#include "topo.h"

/* Adds a kind; one whose name was there before (levels of groups) is left out. Returns the new number
 * of kinds. */
static int add_resource(struct hl_topo_resource *out, int n, int cap, const char *name, int instance)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(out[i].name, name) == 0) {
            return n;
        }
    }
    if (n < cap) {
        snprintf(out[n].name, sizeof out[n].name, "%s", name);
        out[n++].instance = instance;
    }
    return n;
}

/* The number of the only object of a level that holds all the CPUs, or -1. */
static int sole_object_around(hwloc_topology_t t, int depth, hwloc_const_cpuset_t cpus)
{
    int found = -1, holders = 0;

    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_depth(t, depth, o)) != NULL;) {
        if (!hwloc_bitmap_iszero(cpus) && hwloc_bitmap_isincluded(cpus, o->cpuset)) {
            found = (int)o->logical_index;
            holders++;
        }
    }
    return holders == 1 ? found : -1;
}

struct resource_list {
    struct hl_topo_resource *out;
    int cap, n;
};

static void list_resources(hwloc_topology_t t, struct resource_list *a)
{
    hwloc_cpuset_t cpus = hwloc_bitmap_alloc();

    if (cpus != NULL && hwloc_get_cpubind(t, cpus, HWLOC_CPUBIND_PROCESS) == 0) {
        for (int d = 0; d < hwloc_topology_get_depth(t); d++) {
            a->n = add_resource(a->out, a->n, a->cap, hwloc_obj_type_string(hwloc_get_depth_type(t, d)),
                                sole_object_around(t, d, cpus));
        }
        a->n = add_resource(a->out, a->n, a->cap, hwloc_obj_type_string(HWLOC_OBJ_NUMANODE),
                            sole_object_around(t, HWLOC_TYPE_DEPTH_NUMANODE, cpus));
    }
    hwloc_bitmap_free(cpus);
}

/* Loads the whole machine, with CPUs that this process may not use: all ranks of a node must number alike. */
static void load_resources(void *arg)
{
    hwloc_topology_t t;

    if (hwloc_topology_init(&t) != 0) {
        return;
    }
    if (hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
        hwloc_topology_load(t) == 0) {
        list_resources(t, arg);
    }
    hwloc_topology_destroy(t);
}

int hl_topo_resources(struct hl_topo_resource *out, int cap)
{
    struct resource_list a = {out, cap, 0};

    hl_conf_with_env(hl_topo_lean, load_resources, &a);
    return a.n;
}
