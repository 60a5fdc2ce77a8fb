/* This machine, or a saved one, through hwloc. */
#include "topo.h"

#include "conf.h"
#include "err.h"
#include "kinds.h"
#include "lock.h"
#include "log.h"

#include <errno.h>
#include <string.h>

/* hwloc's plugins open X11 and OpenCL, and its other components probe what the kernel already says: 20 ms and
 * 3.6 MiB instead of 1 ms. */
const char *const hl_topo_lean[] = {"HWLOC_COMPONENTS=linux,stop", "HWLOC_PLUGINS_PATH=", NULL};

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct hl_topo here HL_GUARDED_BY(lock);
static enum { UNKNOWN, LOADED, FAILED } state HL_GUARDED_BY(lock);

/* `path` NULL: the machine this runs on. */
static int load(const char *path, const char *fastmem, struct hl_topo *out)
{
    hwloc_topology_t t;
    if (hwloc_topology_init(&t) != 0) {
        return hl_err_say(HL_ERR_OTHER, "hwloc cannot start: %s", strerror(errno));
    }
    int rc = 0;
    if (path != NULL && hwloc_topology_set_xml(t, path) != 0) {
        rc = hl_err_say(HL_ERR_ARG, "%s: hwloc cannot read it: %s", path, strerror(errno));
    } else if (hwloc_topology_load(t) != 0) {
        rc = hl_err_say(HL_ERR_ARG, "%s: hwloc cannot load it: %s", path != NULL ? path : "this machine",
                        strerror(errno));
    } else {
        rc = hl_topo_classify(t, fastmem, out);
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
    a->rc = load(NULL, hl_conf.fastmem_nodes, a->out);
}

const struct hl_topo *hl_topo_here(void)
{
    hl_mutex_lock(&lock);
    if (state == UNKNOWN) {
        struct load_args args = {&here, 0};
        hl_conf_with_env(hl_topo_lean, load_here, &args);
        state = args.rc == 0 ? LOADED : FAILED;
        if (args.rc != 0) {
            hl_log(HL_LOG_WARN, "memory placement is left to the system: %s", hl_err_text(args.rc));
        }
    }
    const struct hl_topo *found = state == LOADED ? &here : NULL;
    hl_mutex_unlock(&lock);
    return found;
}

int hl_topo_load_xml(const char *path, const char *fastmem, struct hl_topo *out)
{
    struct hl_topo read;
    int rc = load(path, fastmem, &read);
    if (rc == 0) {
        *out = read;
    }
    return rc;
}

int hl_topo_nearest(const struct hl_topo *t, enum hl_topo_kind kind, int cpu)
{
    if (cpu < 0 || cpu >= HL_TOPO_CPUS || kind == HL_TOPO_OTHER) {
        return -1;
    }
    return kind == HL_TOPO_FAST ? t->near_fast[cpu] : t->near_ddr[cpu];
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
