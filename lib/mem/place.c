/* Placement through the kernel's memory policies.
 *
 * Base pages are never given a policy of BIND: when the nodes are full the kernel would end a process for it,
 * even from MADV_POPULATE_WRITE. They prefer their nodes, are populated, and then must all be there: a strict
 * BIND over pages that exist only looks (EIO when one is elsewhere), and the policy is put back at once. */
#include "place.h"

#include "err.h"
#include "log.h"
#include "topo.h"
#include "util.h"

#include <errno.h>
#include <inttypes.h>
#include <numa.h>
#include <numaif.h>
#include <string.h>

#define NODE_BITS (8 * sizeof(uint64_t) + 1) /* the kernel looks at one less */
#define PAGES_AT_ONCE 1024

static int apply(const struct hl_seg *seg, size_t off, size_t len, int mode, unsigned flags)
{
    /* Preferred takes one node; for sets the kernel has a newer mode, and interleaving prefers too. */
    unsigned long mask = seg->nodes;
    if (mode == MPOL_PREFERRED && __builtin_popcountll(seg->nodes) > 1) {
        mode = MPOL_INTERLEAVE;
    }
    return mbind(seg->base + off, len, mode, &mask, NODE_BITS, flags) == 0 ? 0 : errno;
}

static int mode_of(const struct hl_seg *seg)
{
    return seg->policy == HL_MEM_INTERLEAVE ? MPOL_INTERLEAVE : MPOL_PREFERRED;
}

int hl_place_set(const struct hl_seg *seg)
{
    if (seg->policy == HL_MEM_SYSTEM) {
        return 0;
    }
    int e = apply(seg, 0, seg->len, mode_of(seg), 0);
    if (e != 0 && seg->policy == HL_MEM_BIND) {
        return hl_err_say(HL_ERR_NO_MEM, "%zu bytes on nodes 0x%" PRIx64 ": %s", seg->len, seg->nodes,
                          strerror(e));
    }
    if (e != 0) {
        hl_log_once("memory cannot be placed on nodes 0x%" PRIx64 " (%s): the system places it", seg->nodes,
                    strerror(e));
    }
    return 0;
}

/* Bytes free on the segment's nodes. */
static long long unused(const struct hl_seg *seg)
{
    long long sum = 0;
    for (int node = 0; node < HL_TOPO_NODES; node++) {
        long long there = 0;
        if ((seg->nodes >> node & 1) != 0 && numa_node_size64(node, &there) >= 0) {
            sum += there;
        }
    }
    return sum;
}

int hl_place_verify(const struct hl_seg *seg, size_t off, size_t len)
{
    if (seg->policy != HL_MEM_BIND) {
        return 0;
    }
    size_t first = off & ~(seg->page - 1), end = hl_round_up(off + len, seg->page);
    int e = apply(seg, first, end - first, MPOL_BIND, MPOL_MF_STRICT);
    int back = apply(seg, first, end - first, mode_of(seg), 0);
    if (e == 0 && back == 0) {
        return 0;
    }
    return hl_err_say(HL_ERR_NO_MEM, "%zu bytes on nodes 0x%" PRIx64 ": %s; %lld bytes are free there", len,
                      seg->nodes, e == EIO ? "some pages came to lie elsewhere" : strerror(e != 0 ? e : back),
                      unused(seg));
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
        if (move_pages(0, count, at, NULL, node, 0) != 0) {
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
