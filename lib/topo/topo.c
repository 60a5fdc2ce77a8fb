/* This machine, or a saved one, through hwloc. */
#include "topo.h"

#include "conf.h"
#include "err.h"
#include "kinds.h"
#include "lock.h"
#include "log.h"
#include "util.h"

#include <errno.h>
#include <numaif.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Loads hwloc in 1 ms. Its plugins open X11 and OpenCL, and other components probe what the kernel already
 * says, which would take 20 ms and 3.6 MiB. */
const char *const hl_topo_lean[] = {"HWLOC_COMPONENTS=linux,stop", "HWLOC_PLUGINS_PATH=", NULL};

#define KERNEL_NODES_MOST 4096
#define POLICY_MODE 0xff /* the mode without the flags that the kernel keeps in the same number */

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct hl_topo here HL_GUARDED_BY(lock);
static char why[HL_ERR_TEXT]; /* read-only after the first hl_topo_here */
static enum { UNKNOWN, LOADED, FAILED } state HL_GUARDED_BY(lock);

/* Asks for a memory policy of the calling thread (get_mempolicy). The kernel demands room for every node that
 * it could have. False where a sandbox forbids it. */
static bool ask_policy(int *mode, unsigned flags, hl_topo_set *nodes)
{
    unsigned long mask[KERNEL_NODES_MOST / (8 * sizeof(unsigned long))] = {0};
    if (get_mempolicy(mode, mask, KERNEL_NODES_MOST, NULL, flags) != 0) {
        return false;
    }
    *nodes = mask[0];
    return true;
}

/* Loads a machine saved at `path`, or, when that is NULL, this machine. */
static int load_topo(const char *path, const char *fastmem, struct hl_topo *out)
{
    hwloc_topology_t t;
    if (hwloc_topology_init(&t) != 0) {
        return hl_err_say(HL_ERR_OTHER, "hwloc cannot start: %s", strerror(errno));
    }
    int rc = 0;
    if (path != NULL && hwloc_topology_set_xml(t, path) != 0) {
        rc = hl_err_say(HL_ERR_ARG, "%s: hwloc cannot read it: %s", path, strerror(errno));
    } else if (hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
               hwloc_topology_load(t) != 0) {
        rc = hl_err_say(HL_ERR_ARG, "%s: hwloc cannot load its topology: %s",
                        path != NULL ? path : "this machine", strerror(errno));
    } else {
        rc = hl_topo_classify(t, fastmem, out);
        hl_topo_set permitted;
        if (hwloc_topology_is_thissystem(t) && ask_policy(NULL, MPOL_F_MEMS_ALLOWED, &permitted)) {
            out->allowed &= permitted; /* hwloc cannot see every container's control group */
        }
    }
    hwloc_topology_destroy(t);
    return rc;
}

struct load_args {
    struct hl_topo *out;
    int rc;
};

static void load_here(void *arg)
{
    struct load_args *a = arg;
    a->rc = load_topo(NULL, hl_conf.fastmem_nodes, a->out);
}

const struct hl_topo *hl_topo_here(void)
{
    hl_mutex_lock(&lock);
    if (state == UNKNOWN) {
        struct load_args args = {&here, 0};
        hl_conf_with_env(hl_topo_lean, load_here, &args);
        state = args.rc == 0 ? LOADED : FAILED;
        if (args.rc != 0) {
            snprintf(why, sizeof why, "%s", hl_err_text(args.rc));
            hl_log(HL_LOG_WARN, "memory placement is left to the system: %s", why);
        } else if (here.beyond > 0) {
            hl_log(HL_LOG_WARN, "%d memory node%s numbered %d or higher %s not used", here.beyond,
                   hl_plural(here.beyond), HL_TOPO_NODES, here.beyond == 1 ? "is" : "are");
        }
    }
    const struct hl_topo *found = state == LOADED ? &here : NULL;
    hl_mutex_unlock(&lock);
    return found;
}

const char *hl_topo_why(void)
{
    return why;
}

int hl_topo_load_xml(const char *path, const char *fastmem, struct hl_topo *out)
{
    struct hl_topo *read = malloc(sizeof *read);
    int rc =
        read != NULL ? load_topo(path, fastmem, read) : hl_err_say(HL_ERR_NO_MEM, "no memory for a machine");
    if (rc == 0) {
        *out = *read;
    }
    free(read);
    return rc;
}

hl_topo_set hl_topo_of(const struct hl_topo *t, enum hl_topo_kind kind)
{
    hl_topo_set of = kind == HL_TOPO_FAST  ? t->fast
                     : kind == HL_TOPO_DDR ? t->ddr
                                           : t->all & ~(t->fast | t->ddr);
    return of & t->allowed;
}

int hl_topo_nearest_in(const struct hl_topo *t, hl_topo_set set, int cpu)
{
    int home = cpu >= 0 && cpu < HL_TOPO_CPUS ? t->home[cpu] : -1, best = -1;
    for (int i = 0; i < HL_TOPO_NODES && home >= 0; i++) {
        if ((set >> i & 1) != 0 && (best < 0 || t->far[home][i] < t->far[home][best])) {
            best = i;
        }
    }
    return best;
}

hl_topo_set hl_topo_bound(void)
{
    int mode;
    hl_topo_set nodes;
    return ask_policy(&mode, 0, &nodes) && (mode & POLICY_MODE) == MPOL_BIND ? nodes : ~(hl_topo_set)0;
}

hl_topo_set hl_topo_nodes_of(enum hl_topo_kind kind)
{
    const struct hl_topo *t = hl_topo_here();
    hl_topo_set of = t != NULL ? hl_topo_of(t, kind) : 0, bound = hl_topo_bound();
    if ((of & ~bound) != 0) {
        char left[HL_TOPO_TEXT], permitted[HL_TOPO_TEXT];
        hl_log_once(
            "the memory policy of this process (numactl --membind) permits node %s only: %s memory of node "
            "%s is not used",
            hl_topo_text(bound & t->all, permitted, sizeof permitted), hl_topo_kind_name(kind),
            hl_topo_text(of & ~bound, left, sizeof left));
    }
    return of & bound;
}

int hl_topo_nearest_here(enum hl_topo_kind kind)
{
    hl_topo_set set = hl_topo_nodes_of(kind);
    int near = set != 0 ? hl_topo_nearest_in(hl_topo_here(), set, sched_getcpu()) : -1;
    return near >= 0 || set == 0 ? near : __builtin_ctzll(set);
}

char *hl_topo_text(hl_topo_set set, char *out, size_t cap)
{
    size_t at = 0;
    snprintf(out, cap, "none");
    for (int i = 0; i < HL_TOPO_NODES && at < cap; i++) {
        int last = i;
        while (last + 1 < HL_TOPO_NODES && (set >> i & 1) != 0 && (set >> (last + 1) & 1) != 0) {
            last++;
        }
        if ((set >> i & 1) != 0) {
            at += (size_t)snprintf(out + at, cap - at, last > i ? "%s%d-%d" : "%s%d", at > 0 ? "," : "", i,
                                   last);
        }
        i = last;
    }
    return out;
}

enum hl_topo_kind hl_topo_kind_of(const struct hl_topo *t, int node)
{
    hl_topo_set bit = (hl_topo_set)1 << node;
    return (t->fast & bit) != 0 ? HL_TOPO_FAST : (t->ddr & bit) != 0 ? HL_TOPO_DDR : HL_TOPO_OTHER;
}

const char *hl_topo_kind_name(enum hl_topo_kind kind)
{
    static const char *const names[] = {"DDR", "fast", "other"};
    return names[kind];
}

char *hl_topo_no_fast(const struct hl_topo *t, char *out, size_t cap)
{
    char set[HL_TOPO_TEXT], rest[HL_TOPO_TEXT];
    if (t->fast != 0) {
        snprintf(out, cap, "fast memory is on node %s, and this process may use node %s only",
                 hl_topo_text(t->fast, set, sizeof set), hl_topo_text(t->allowed, rest, sizeof rest));
        return out;
    }
    int nodes = __builtin_popcountll(t->all);
    const char *data = t->told ? "" : ", no bandwidth data";
    hl_topo_text(t->unknown, set, sizeof set);
    if (t->unknown != 0) {
        snprintf(out, cap,
                 "no fast memory found on this machine (%d nodes%s; node %s has no CPUs: if that is HBM set "
                 "HOTLANE_FASTMEM_NODES=%s)",
                 nodes, data, set, set);
    } else {
        snprintf(out, cap,
                 "no fast memory found on this machine (%d node%s%s; if all of it is HBM set "
                 "HOTLANE_FASTMEM_NODES=all)",
                 nodes, hl_plural(nodes), data);
    }
    return out;
}
