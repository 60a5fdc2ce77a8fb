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
    HL_TOPO_DDR,  /* ordinary memory: the home node of some CPU */
    HL_TOPO_FAST, /* MCDRAM, HBM */
    HL_TOPO_OTHER /* CXL, persistent, device memory: chosen only when there is nothing else */
};

#define HL_TOPO_NODES 64 /* nodes with higher numbers are not used */
#define HL_TOPO_CPUS 4096

/* Bit i: node i. */
typedef uint64_t hl_topo_set;

/* What one hwloc topology says. Nobody changes it after it was made. Sets and reasons are about the whole
 * machine, with nodes that a container keeps from this process: a node's kind does not depend on the process
 * that asks. */
struct hl_topo {
    hl_topo_set all, fast, ddr; /* nodes of the machine; ddr is never empty: it is `all` when all are fast */
    hl_topo_set allowed;        /* nodes that this process may use (cpuset of its container or batch job) */
    uint64_t bytes[HL_TOPO_NODES];              /* local memory of a node */
    const char *why[HL_TOPO_NODES];             /* a few words on what decided the node's kind */
    int8_t home[HL_TOPO_CPUS];                  /* home node of a CPU; -1: no such CPU */
    uint16_t far[HL_TOPO_NODES][HL_TOPO_NODES]; /* [home][node]: grows with their NUMA distance */
    hl_topo_set unknown; /* nodes of the machine without CPUs, of which nothing tells how fast they are */
    bool told;           /* the firmware tells bandwidths */
    int beyond;          /* number of nodes numbered HL_TOPO_NODES or higher, which are not used */
    int cpus;            /* processing units of the whole machine that hwloc sees */
};

/* CPUs that this process may use (its affinity mask at the first call), at least 1. */
int hl_topo_cpu_count(void);

/* This machine, loaded by the first call. HOTLANE_FASTMEM_NODES overrides which nodes are fast. NULL when
 * hwloc fails or that variable names nodes that are not there (one line in the log says so): callers then
 * leave placement to the system. */
const struct hl_topo *hl_topo_here(void);

/* Why hl_topo_here has returned NULL; "" when it has not. */
const char *hl_topo_why(void);

/* Reads a machine saved as XML by lstopo, with `fastmem` in place of HOTLANE_FASTMEM_NODES ("": the rule
 * decides). For tests and for `hotlane-info --machine`. Returns 0, or HL_ERR_ARG, HL_ERR_OTHER or
 * HL_ERR_NO_MEM with the text. */
int hl_topo_load_xml(const char *path, const char *fastmem, struct hl_topo *out);

/* Nodes of `kind` on `t` that its process may use. HL_TOPO_OTHER: those that are neither fast nor
 * ordinary. */
hl_topo_set hl_topo_of(const struct hl_topo *t, enum hl_topo_kind kind);

/* The node of `set` that is nearest to CPU `cpu` (the kernel's number): that with the least NUMA
 * distance; of equal ones the CPU's own node, else the lowest number. -1 when `set` is empty or hwloc
 * knows no such CPU. */
int hl_topo_nearest_in(const struct hl_topo *t, hl_topo_set set, int cpu);

/* Nodes of `kind` on this machine for memory that the calling thread asks for now: those that its process may
 * use, without those that a strict memory policy of the thread (numactl --membind) leaves out; one line in
 * the log tells of the latter. 0: none, or hwloc failed. */
hl_topo_set hl_topo_nodes_of(enum hl_topo_kind kind);

/* The node of hl_topo_nodes_of that is nearest to the CPU on which the calling thread runs; -1: none. */
int hl_topo_nearest_here(enum hl_topo_kind kind);

/* Nodes that a strict memory policy (MPOL_BIND) of the calling thread permits; all bits when it has none. */
hl_topo_set hl_topo_bound(void);

/* Writes why `t` has no fast memory for its process, and what to do if that can be known. Returns `out`. */
char *hl_topo_no_fast(const struct hl_topo *t, char *out, size_t cap);

#define HL_TOPO_TEXT 200 /* bytes for the words of any set */

/* Writes a set as words: "0,8-15"; "none" for an empty one. Returns `out`. */
char *hl_topo_text(hl_topo_set set, char *out, size_t cap);

/* Kind of a node, and the name of a kind. */
enum hl_topo_kind hl_topo_kind_of(const struct hl_topo *t, int node);
const char *hl_topo_kind_name(enum hl_topo_kind kind);

/* Bytes of a base page. */
size_t hl_topo_page(void);

/* Stores the page sizes that the kernel offers, in bytes, ascending, the base page first. Returns how many
 * were stored, at most `cap`. */
size_t hl_topo_pages(size_t *sizes, size_t cap);

/* The page size for a wish: the largest of `sizes` (ascending) that is at most `asked`, else the smallest. */
size_t hl_topo_page_natural(const size_t *sizes, size_t count, size_t asked);

/* Numbers of huge pages of `size` bytes: in the pool, free in it, and allowed beyond it. Returns false when
 * the kernel does not offer this size. */
struct hl_topo_pool {
    uint64_t total, unused, overcommit;
};
bool hl_topo_page_pool(size_t size, struct hl_topo_pool *out);

/* The part of the pool that lies on `node`; `overcommit` is 0, since it belongs to no node. Returns false
 * when the kernel does not tell. */
bool hl_topo_page_pool_on(int node, size_t size, struct hl_topo_pool *out);

/* A kind of hardware by hwloc's name ("Package", "L3Cache", "NUMANode", ...), and the number of the only
 * object of this kind that holds all CPUs that this process may use now. The number is the same in all
 * processes of the machine; -1: there is no such object, or several. */
struct hl_topo_resource {
    char name[20];
    int instance;
};

/* Stores the kinds, the outermost first, NUMANode last. Returns how many were stored, at most `cap`; 0 when
 * hwloc fails. It asks hwloc each time (some milliseconds). */
int hl_topo_resources(struct hl_topo_resource *out, int cap);

/* Inside the module: the environment in which hwloc is loaded. */
extern const char *const hl_topo_lean[];

/* Where the kernel's files lie, and the base page. Unit tests and `hotlane-info --check --root` change it,
 * before they start threads. */
extern struct hl_topo_kernel {
    const char *sys; /* "/sys" */
    size_t page;     /* bytes of a base page; 0: what sysconf says */
} hl_topo_kernel;

#endif
