/* What the kernel says about its huge pages: how many are free, who limits them, how to reserve more. */
#include "hugepool.h"

#include "err.h"
#include "topo.h"
#include "util.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

char *hl_hugepool_nodes_text(uint64_t nodes, char out[HL_HUGEPOOL_NODES])
{
    char set[HL_TOPO_TEXT];
    if (nodes == 0) {
        snprintf(out, HL_HUGEPOOL_NODES, "any node");
    } else {
        snprintf(out, HL_HUGEPOOL_NODES, "node%s %s", (nodes & (nodes - 1)) != 0 ? "s" : "",
                 hl_topo_text(nodes, set, sizeof set));
    }
    return out;
}

/* All and free pages of the pools of these nodes; nodes 0: of the machine. */
static struct hl_topo_pool pool_of(uint64_t nodes, size_t page)
{
    struct hl_topo_pool sum = {0, 0, 0}, one;
    hl_topo_page_pool(page, &sum);
    if (nodes != 0) {
        sum.total = sum.unused = 0;
    }
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        if ((nodes >> i & 1) != 0 && hl_topo_page_pool_on(i, page, &one)) {
            sum.total += one.total;
            sum.unused += one.unused;
        }
    }
    return sum;
}

int hl_hugepool_refuse(const struct hl_seg *seg, size_t len, int e)
{
    char size[HL_BYTES_TEXT], where[HL_HUGEPOOL_NODES], node[48] = "kernel/mm";
    struct hl_topo_pool pool = pool_of(seg->nodes, seg->page);
    uint64_t want = (len + seg->page - 1) / seg->page;
    hl_bytes_text(seg->page, size);
    hl_hugepool_nodes_text(seg->nodes, where);
    if (pool.unused >= want) {
        return hl_err_say(HL_ERR_NO_MEM,
                          "%" PRIu64 " x %s pages on %s: %s, though %" PRIu64 " are free of %" PRIu64
                          " (a limit of the control group, or others took them meanwhile?)",
                          want, size, where, strerror(e), pool.unused, pool.total);
    }
    if (seg->nodes != 0 && (seg->nodes & (seg->nodes - 1)) == 0) {
        snprintf(node, sizeof node, "devices/system/node/node%d", __builtin_ctzll(seg->nodes));
    }
    return hl_err_say(HL_ERR_NO_MEM,
                      "%" PRIu64 " x %s pages on %s: %" PRIu64 " free of %" PRIu64 ", overcommit %" PRIu64
                      ". Reserve: echo %" PRIu64 " > /sys/%s/hugepages/hugepages-%zukB/nr_hugepages",
                      want, size, where, pool.unused, pool.total, pool.overcommit,
                      pool.total - pool.unused + want, node, seg->page / 1024);
}
