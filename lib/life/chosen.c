/* HOTLANE_LOG=info and debug: prints what a run has found and chosen at its start. Without them it asks the
 * system nothing. */
#include "boot.h"
#include "conf.h"
#include "job.h"
#include "lane.h"
#include "log.h"
#include "mem.h"
#include "modules.h"
#include "rx.h"
#include "topo.h"
#include "util.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { TEXT = 1024 };

/* Writes the nodes of a kind with their size, like ", DDR on node 0-1 (64G)". Returns the bytes written. */
static size_t kind_text(const struct hl_topo *t, enum hl_topo_kind kind, char *out, size_t cap)
{
    char nodes[HL_TOPO_TEXT], size[HL_BYTES_TEXT];
    hl_topo_set set = hl_topo_of(t, kind);
    uint64_t bytes = 0;
    for (int i = 0; i < HL_TOPO_NODES; i++) {
        bytes += (set >> i & 1) != 0 ? t->bytes[i] : 0;
    }
    if (set == 0) {
        return 0;
    }
    int n = snprintf(out, cap, ", %s on node %s (%s)", hl_topo_kind_name(kind),
                     hl_topo_text(set, nodes, sizeof nodes), hl_bytes_text(bytes & ~UINT64_C(0xfffff), size));
    return n > 0 ? hl_min_size((size_t)n, cap - 1) : 0;
}

/* Writes the page sizes, for those in pools with what is free, like "4K, 2M (8 of 512 free)". */
static void pages_text(char *out, size_t cap)
{
    size_t sizes[8], count = hl_topo_pages(sizes, HL_COUNT_OF(sizes)), at = 0;
    for (size_t i = 0; i < count && at + 80 < cap; i++) {
        char size[HL_BYTES_TEXT];
        struct hl_topo_pool pool;
        at += (size_t)snprintf(out + at, cap - at, "%s%s", i > 0 ? ", " : "", hl_bytes_text(sizes[i], size));
        if (i > 0 && hl_topo_page_pool(sizes[i], &pool)) {
            at += (size_t)snprintf(out + at, cap - at, " (%" PRIu64 " of %" PRIu64 " free)", pool.unused,
                                   pool.total);
        }
    }
}

static void tell_memory(void)
{
    static const enum hl_topo_kind kinds[] = {HL_TOPO_DDR, HL_TOPO_FAST, HL_TOPO_OTHER};
    const struct hl_topo *t = hl_topo_here();
    char nodes[TEXT] = "", pages[TEXT] = "";
    size_t at = 0;
    for (size_t i = 0; t != NULL && i < HL_COUNT_OF(kinds); i++) {
        at += kind_text(t, kinds[i], nodes + at, sizeof nodes - at);
    }
    pages_text(pages, sizeof pages);
    hl_log(HL_LOG_INFO, "memory: %s; pages of %s", at > 0 ? nodes + 2 : hl_topo_why(), pages);
}

static void tell_job(bool threads)
{
    bool one_node = hl_job.node_size == hl_job.size;
    hl_log(HL_LOG_INFO, "start-up by %s: %s", hl_boot.method, hl_boot.reason);
    if (hl_job.size > 1) {
        hl_log(HL_LOG_INFO, "%d processes, %d on this node; %s%s", hl_job.size, hl_job.node_size,
               one_node ? "what they send goes through shared memory" : "the others are reached by ",
               one_node ? "" : hl_rx_provider());
    }
    if (!one_node) {
        uint32_t lanes = hl_lane_plan(threads, hl_topo_cpu_count());
        hl_log(HL_LOG_INFO, "%u lane%s when somebody needs them: %s, HOTLANE_LANES=%lld, %d CPU%s", lanes,
               hl_plural(lanes), threads ? "MPI_THREAD_MULTIPLE" : "not MPI_THREAD_MULTIPLE",
               (long long)hl_conf.lanes, hl_topo_cpu_count(), hl_plural(hl_topo_cpu_count()));
    }
}

void hl_modules_tell_choices(bool threads)
{
    if (hl_conf.log < HL_LOG_INFO) {
        return;
    }
    if (hl_job.rank == 0) {
        tell_job(threads);
    }
    if (hl_job.node_rank == 0) {
        tell_memory();
    }
    hl_log(HL_LOG_DEBUG, "number %d of %d on this node, process %d, %d CPU%s", hl_job.node_rank,
           hl_job.node_size, (int)getpid(), hl_topo_cpu_count(), hl_plural(hl_topo_cpu_count()));
}
