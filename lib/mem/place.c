/* Placement through the kernel's memory policies.
 *
 * Base pages never get the policy BIND: when the nodes are full, the kernel would kill a process for it, even
 * from MADV_POPULATE_WRITE. They prefer their nodes, are populated, and then it is proved that all lie there:
 * a strict BIND over pages that exist changes nothing and fails with EIO when one is elsewhere; the policy is
 * put back at once. Huge pages come from a pool, so there BIND is refused when the pool is empty. Nothing is
 * ever moved: moving huge pages moves the pool itself from node to node. */
#include "place.h"

#include "err.h"
#include "hugepool.h"
#include "log.h"
#include "sys.h"
#include "topo.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <numa.h>
#include <numaif.h>
#include <string.h>
#include <unistd.h>

#define NODE_BITS (8 * sizeof(uint64_t) + 1) /* the kernel reads one bit less */
#define KERNEL_NODES_MOST 4096
#define MODE_ONLY 0xff /* the mode without the flags that the kernel keeps in the same number */
#define PAGES_AT_ONCE 64

static int mode_of(const struct hl_seg *seg)
{
    switch (seg->policy) {
    case HL_MEM_INTERLEAVE:
        return MPOL_INTERLEAVE;
    case HL_MEM_BIND:
        return seg->page > hl_topo_page() ? MPOL_BIND : MPOL_PREFERRED;
    default:
        return MPOL_PREFERRED;
    }
}

static int apply_policy(const struct hl_seg *seg, size_t off, size_t len, int mode, unsigned flags)
{
    unsigned long mask = seg->nodes;
    return hl_sys.mbind(seg->base + off, len, mode, &mask, NODE_BITS, flags) == 0 ? 0 : errno;
}

int hl_place_set(const struct hl_seg *seg)
{
    char where[HL_HUGEPOOL_NODES];
    if (seg->policy == HL_MEM_SYSTEM) {
        return 0;
    }
    int e = apply_policy(seg, 0, seg->len, mode_of(seg), 0);
    if (e != 0 && seg->policy == HL_MEM_BIND) {
        return hl_err_say(HL_ERR_NO_MEM, "%zu bytes on %s: this process may not place memory there: %s",
                          seg->len, hl_hugepool_nodes_text(seg->nodes, where), strerror(e));
    }
    if (e != 0) {
        hl_log_once("memory cannot be placed on %s (%s): the system places it",
                    hl_hugepool_nodes_text(seg->nodes, where), strerror(e));
    }
    return 0;
}

void hl_place_turn(const struct hl_seg *seg, size_t off, size_t len, size_t turn)
{
    uint64_t left = seg->nodes;
    for (size_t skip = turn % (size_t)__builtin_popcountll(seg->nodes); skip > 0; skip--) {
        left &= left - 1;
    }
    struct hl_seg one = {.base = seg->base, .nodes = left & -left};
    apply_policy(&one, off, len, MPOL_PREFERRED, 0);
}

void hl_place_turned(const struct hl_seg *seg, size_t off, size_t len)
{
    apply_policy(seg, off, len, mode_of(seg), 0);
}

/* The thread's own policy, in the form of get_mempolicy and set_mempolicy. */
struct own_policy {
    int mode;
    unsigned long mask[KERNEL_NODES_MOST / (8 * sizeof(unsigned long))];
};

static bool ask_own(struct own_policy *own)
{
    memset(own, 0, sizeof *own);
    return hl_sys.get_mempolicy(&own->mode, own->mask, KERNEL_NODES_MOST, NULL, 0) == 0;
}

bool hl_place_has_policy(void)
{
    struct own_policy own;
    return !ask_own(&own) || (own.mode & MODE_ONLY) != MPOL_DEFAULT;
}

static int file_take(const struct hl_seg *seg, size_t off, size_t len)
{
    int rc = TEMP_FAILURE_RETRY(
        hl_sys.fallocate(seg->fd, FALLOC_FL_KEEP_SIZE, (off_t)(seg->file_off + off), (off_t)len));
    return rc == 0 ? 0 : errno;
}

int hl_place_fallocate(const struct hl_seg *seg, size_t off, size_t len)
{
    struct own_policy own;
    unsigned long mask = seg->nodes;
    /* A file of base pages keeps the policy of mbind; for huge pages only the thread's policy counts. */
    bool switched = seg->policy != HL_MEM_SYSTEM && seg->page > hl_topo_page() && ask_own(&own) &&
                    hl_sys.set_mempolicy(mode_of(seg), &mask, NODE_BITS) == 0;
    int e = file_take(seg, off, len);
    if (switched && hl_sys.set_mempolicy(own.mode, own.mask, KERNEL_NODES_MOST) != 0) {
        hl_log_once("the memory policy that this thread had cannot be set again (%s): it has none now",
                    strerror(errno));
        hl_sys.set_mempolicy(MPOL_DEFAULT, NULL, 0); /* a strict one would end it when the node is full */
    }
    return e;
}

bool hl_place_holds(const struct hl_seg *seg, size_t off, size_t len, int *e)
{
    size_t first = off & ~(seg->page - 1), end = hl_round_up(off + len, seg->page);
    int found = apply_policy(seg, first, end - first, MPOL_BIND, MPOL_MF_STRICT);
    int back = apply_policy(seg, first, end - first, mode_of(seg), 0);
    *e = found == EIO ? back : found != 0 ? found : back;
    return found == 0 && back == 0;
}

/* Free bytes on the segment's nodes. */
static uint64_t count_unused(const struct hl_seg *seg)
{
    uint64_t sum = 0;
    for (int node = 0; node < HL_TOPO_NODES; node++) {
        long long there = 0;
        if ((seg->nodes >> node & 1) != 0 && numa_node_size64(node, &there) >= 0) {
            sum += (uint64_t)there;
        }
    }
    return sum;
}

int hl_place_verify(const struct hl_seg *seg, size_t off, size_t len)
{
    char where[HL_HUGEPOOL_NODES], size[HL_BYTES_TEXT], there[HL_BYTES_TEXT];
    int e = 0;
    if (seg->policy != HL_MEM_BIND || hl_place_holds(seg, off, len, &e)) {
        return 0;
    }
    hl_bytes_text(seg->page, size);
    hl_hugepool_nodes_text(seg->nodes, where);
    if (e != 0) {
        return hl_err_say(HL_ERR_NO_MEM,
                          "%zu bytes in %s pages: the kernel does not say whether they lie on %s: %s", len,
                          size, where, strerror(e));
    }
    return hl_err_say(
        HL_ERR_NO_MEM,
        "%zu bytes in %s pages on %s: some pages came to lie elsewhere; %s bytes are free there", len, size,
        where, hl_bytes_text(count_unused(seg), there));
}

int hl_mem_where(const struct hl_piece *piece, uint64_t *bytes, size_t nodes)
{
    size_t page = piece->seg->page, first = piece->off & ~(page - 1), end = piece->off + piece->len;
    memset(bytes, 0, nodes * sizeof *bytes);
    while (first < end) {
        void *at[PAGES_AT_ONCE];
        int node[PAGES_AT_ONCE];
        size_t count = 0;
        for (; count < PAGES_AT_ONCE && first < end; first += page) {
            at[count++] = piece->seg->base + first;
        }
        if (hl_sys.move_pages(0, count, at, NULL, node, 0) != 0) {
            return hl_err_say(HL_ERR_OTHER, "the kernel does not say where pages are: %s", strerror(errno));
        }
        for (size_t i = 0; i < count; i++) {
            if (node[i] >= 0 && (size_t)node[i] < nodes) { /* negative: not there yet */
                bytes[node[i]] += page;
            }
        }
    }
    return 0;
}
