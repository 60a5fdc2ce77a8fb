/* The machine under this rank: CPUs it may use, memory nodes by kind, page sizes.
 *
 * Counting CPUs and page sizes is cheap. The nodes come from hwloc, which is loaded on the first question
 * about them and not at start-up. Everything here may be called from any thread. */
#ifndef HL_TOPO_H
#define HL_TOPO_H

#include "attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hl_topo_kind {
    HL_TOPO_DDR,  /* ordinary memory: what a CPU calls its own */
    HL_TOPO_FAST, /* MCDRAM, HBM */
    HL_TOPO_OTHER /* CXL, persistent, device memory: never chosen unless there is nothing else */
};

#define HL_TOPO_NODES 64 /* nodes with higher numbers are not used */
#define HL_TOPO_CPUS 4096

/* Bit i: node i. */
typedef uint64_t hl_topo_set;

/* What one hwloc topology says. Read-only after it was made. Sets and reasons cover the whole machine, also
 * what a container keeps from this process: a node's kind does not depend on who asks. */
struct hl_topo {
    hl_topo_set all, fast, ddr; /* of the machine; ddr is never empty: it is all when all are fast */
    hl_topo_set allowed;        /* those that this process may use (cpuset of its container or batch job) */
    uint64_t bytes[HL_TOPO_NODES];              /* local memory of a node */
    const char *why[HL_TOPO_NODES];             /* what decided its kind, a few words */
    int8_t home[HL_TOPO_CPUS];                  /* the node whose CPUs include this one; -1: no such CPU */
    uint16_t far[HL_TOPO_NODES][HL_TOPO_NODES]; /* [home][node]: grows with the way between them */
    hl_topo_set unknown; /* of the machine: no CPUs, and nothing tells how fast they are */
    bool told;           /* the firmware tells bandwidths */
    int beyond;          /* nodes numbered HL_TOPO_NODES or higher: not used */
    int cpus;            /* processing units of the whole machine that hwloc sees */
};

/* CPUs that this process may use (its affinity mask at the first call), at least 1. */
int hl_topo_cpu_count(void);

/* This machine, loaded by the first call. `HOTLANE_FASTMEM_NODES` overrides what is fast. NULL when hwloc
 * fails or there are no such nodes (said once in the log): callers then leave placement to the system. */
const struct hl_topo *hl_topo_here(void);

/* Why hl_topo_here has returned NULL; empty when it has not. */
const char *hl_topo_why(void);

/* Reads a machine saved as XML by lstopo, with `fastmem` in place of HOTLANE_FASTMEM_NODES ("" = decide by
 * the rule). For tests and for `hotlane-info --machine`. Returns 0, or HL_ERR_ARG with the text. */
int hl_topo_load_xml(const char *path, const char *fastmem, struct hl_topo *out);

/* Nodes of `kind` on `t` that its process may use. HL_TOPO_OTHER: those that are neither. */
hl_topo_set hl_topo_of(const struct hl_topo *t, enum hl_topo_kind kind);

/* The node among `set` that is nearest to CPU `cpu` (numbered as the kernel does): the least NUMA distance,
 * of equals the CPU's own, of those the lowest number. -1 when `set` is empty or hwloc knows no such CPU. */
int hl_topo_nearest_in(const struct hl_topo *t, hl_topo_set set, int cpu);

/* Nodes of `kind` on this machine for memory that the calling thread asks for now: those its process may use,
 * less those that a strict memory policy of the thread (numactl --membind) leaves out, which is said once in
 * the log. 0: none, or hwloc failed. */
hl_topo_set hl_topo_nodes_of(enum hl_topo_kind kind);

/* The one of them nearest to the CPU the calling thread runs on; -1: none. */
int hl_topo_nearest_here(enum hl_topo_kind kind);

/* What a strict memory policy (MPOL_BIND) of the calling thread permits; all bits when it has none. */
hl_topo_set hl_topo_bound(void);

/* Writes why `t` has no fast memory for its process, and what to do where that can be known. Returns `out`.
 */
char *hl_topo_no_fast(const struct hl_topo *t, char *out, size_t cap);

#define HL_TOPO_TEXT 200 /* room for any set */

/* Writes a set as people do: "0,8-15", "none" when empty. Returns `out`. */
char *hl_topo_text(hl_topo_set set, char *out, size_t cap);

/* Kind of node `node`. */
enum hl_topo_kind hl_topo_kind_of(const struct hl_topo *t, int node);
const char *hl_topo_kind_name(enum hl_topo_kind kind);

/* Size of a base page. */
size_t hl_topo_page(void);

/* Page sizes that the kernel offers, ascending, base page first. Returns how many were stored (at most cap).
 */
size_t hl_topo_pages(size_t *sizes, size_t cap);

/* The natural size for a wish: the largest of `sizes` (ascending) that is <= asked, else the smallest. */
size_t hl_topo_page_natural(const size_t *sizes, size_t count, size_t asked);

/* Huge pages of `size` bytes: in the pool, free, and allowed beyond it. False when the size is not offered.
 */
struct hl_topo_pool {
    uint64_t total, unused, overcommit;
};
bool hl_topo_page_pool(size_t size, struct hl_topo_pool *out);

/* The part of the pool that lies on `node`; `overcommit` is 0, it belongs to no node. False when the kernel
 * does not tell. */
bool hl_topo_page_pool_on(int node, size_t size, struct hl_topo_pool *out);

/* A kind of hardware by hwloc's name ("Package", "L3Cache", "NUMANode", ...), and the number of the one that
 * holds every CPU this process may use now, the same number in all processes of the machine; -1: several do.
 */
struct hl_topo_resource {
    char name[20];
    int instance;
};

/* Asks hwloc each time (some milliseconds): outermost kind first, NUMANode last. Returns how many were
 * stored, at most `cap`; 0 when hwloc fails. */
int hl_topo_resources(struct hl_topo_resource *out, int cap);

/* Inside the module: the environment that hwloc is loaded with. */
extern const char *const hl_topo_lean[];

/* Unit tests, and `hotlane-info --check --root`, put another kernel's files and base page here, before they
 * start threads. */
extern struct hl_topo_kernel {
    const char *sys; /* "/sys" */
    size_t page;     /* 0: as sysconf says */
} hl_topo_kernel;

#endif
