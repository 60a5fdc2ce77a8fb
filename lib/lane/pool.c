/* The pool: made once, lanes opened with their first lease. */
#include "lane_internal.h"

#include "conf.h"
#include "err.h"
#include "log.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

/* reads of the queue of an endpoint that is closed, to get back pings, and operations to ranks that died */
#define LAST_READS 1000
#define CHAIN_DEFAULT 4096 /* larger operations gain nothing in a chain */

int hl_lane_make_ready(struct hl_lane *lane)
{
    if (lane->broken) {
        return HL_LANE_BROKEN;
    }
    int rc = hl_fab_ep_open(HL_FAB_LANE, lane->fab);
    if (rc != 0) {
        lane->broken = true;
        if (lane->index != 0) { /* for lane 0, the opening of the pool fails */
            hl_log(HL_LOG_WARN, "lane %u does not open: %s", lane->index, hl_err_text(rc));
        }
        return HL_LANE_BROKEN;
    }
    memset(lane->slots, 0, sizeof lane->slots);
    lane->ep = lane->fab->ep;
    lane->kept = hl_prog_keeper_add(lane->fab->wait_fd);
    hl_stat_lane_enrol(&lane->stat);
    /* full: rare; the lane before its bit. Pairs with the acquires of `opened` in hl_pool_tick and
     * flush.c. */
    hl_a64_or_full(&lane->pool->opened, UINT64_C(1) << lane->index);
    return 0;
}

/* Bytes of the largest put or get that is chained: what the user wants, as far as a chain holds it. */
static size_t chain_bytes(void)
{
    size_t wish = hl_conf.chain != UINT64_MAX ? hl_conf.chain : hl_fab.row->chain ? CHAIN_DEFAULT : 0;
    return hl_min_size(wish, hl_chain_room());
}

/* Bytes of one post: whole cache lines, as many as the provider takes, at most HL_PIECE. That is more than
 * any chain has room for, whose message the provider takes, too. */
static size_t piece_bytes(void)
{
    return hl_min_size(HL_PIECE, hl_fab.post_max & ~(size_t)63);
}

/* Makes lane `i`: in the memory that it had when the pool was open before, unless that is lent. */
static bool make_lane(struct hl_lane_pool *p, uint32_t i)
{
    struct hl_lane *had = p->head.lanes[i], *lane = had != NULL && !had->lent ? had : NULL;
    struct hl_lane *older = lane != NULL ? lane->older : had;
    if (lane == NULL) {
        lane = aligned_alloc(HL_CACHELINE, hl_round_up(sizeof *lane + sizeof *lane->fab, HL_CACHELINE));
    }
    if (lane == NULL) {
        return false;
    }
    memset(lane, 0, offsetof(struct hl_lane, slots)); /* a lane that nobody needs takes 1 KiB */
    lane->fab = (struct hl_fab_ep *)(lane + 1);
    lane->pool = p;
    lane->index = i;
    lane->older = older;
    p->head.lanes[i] = lane;
    return true;
}

int hl_pool_open(struct hl_lane_pool *p, uint32_t lanes, int ranks)
{
    p->ranks = ranks;
    hl_a32_store_relaxed(&p->next, 0); /* relaxed, all: no other thread yet. */
    hl_a32_store_relaxed(&p->deaths, 0);
    hl_a32_store_relaxed(&p->expected, 0);
    hl_a64_store_relaxed(&p->opening, 0);
    hl_a64_store_relaxed(&p->owned, 0);
    hl_a64_store_relaxed(&p->apart, 0);
    hl_a64_store_relaxed(&p->head.bound, 0);
    p->head.chain_max = chain_bytes();
    p->piece = piece_bytes();
    p->greets = p->head.chain_max == 0 && hl_fab.row->greets;
    p->used = calloc((size_t)ranks, sizeof *p->used);
    bool ok = p->used != NULL;
    for (uint32_t i = 0; ok && i < lanes; i++) {
        ok = make_lane(p, i);
    }
    if (!ok) {
        hl_pool_close(p);
        return hl_err_say(HL_ERR_NO_MEM, "no memory for %u lanes", lanes);
    }
    /* release: the lanes; pairs with the acquire in hl_pool_count. */
    hl_a32_store_release(&p->head.count, lanes);
    return 0;
}

/* True while the provider still holds operations to ranks that have died. */
static bool does_hold_dead(const struct hl_lane *lane) HL_NO_TSA
{
    for (uint32_t i = 0; i < HL_LANE_SLOTS; i++) {
        if (lane->slots[i].quarantined) {
            return true;
        }
    }
    return false;
}

/* Closes the endpoint, unless it still holds operations to dead ranks: then it is leaked, because libfabric
 * 1.17 crashes when an endpoint with open reads is closed. The memory of pings that do not come back is never
 * used again. False: it stays open, and slots, ways, chains and receives with it. */
static bool close_endpoint(struct hl_lane *lane) HL_NO_TSA
{
    bool closed = false;
    if (lane->kept) {
        hl_prog_keeper_drop(lane->fab->wait_fd);
    }
    for (int reads = 0; reads < LAST_READS && (lane->pings != NULL || does_hold_dead(lane)); reads++) {
        (void)hl_lane_progress(lane);
    }
    if (does_hold_dead(lane)) {
        hl_log(HL_LOG_DEBUG, "lane %u stays open: the provider holds operations to ranks that have died",
               lane->index);
    } else {
        closed = hl_rx_close_ep(lane->fab);
    }
    lane->ep = NULL;
    return closed;
}

/* Clears what the lane has but its slots, and the ways of one that is lent, into which a heartbeat may still
 * be read. */
static void clear_lane(struct hl_lane *lane, bool lent) HL_NO_TSA
{
    struct hl_lane *older = lane->older;
    if (!lent) {
        hl_way_free_all(lane);
    }
    void *ways = hl_aptr_load_relaxed(&lane->ways); /* relaxed, both: no other thread is left. */
    memset(lane, 0, offsetof(struct hl_lane, slots));
    hl_aptr_store_relaxed(&lane->ways, ways);
    lane->lent = lent;
    lane->older = older;
}

void hl_pool_close(struct hl_lane_pool *p) HL_NO_TSA
{
    hl_a32_store_relaxed(&p->head.count, 0); /* relaxed: no other thread uses lanes. */
    p->closings++;
    for (uint32_t i = 0; i < HL_LANES_MAX; i++) {
        struct hl_lane *lane = p->head.lanes[i];
        if (lane == NULL || lane->pool == NULL) {
            continue;
        }
        bool lent = false;
        if (lane->ep != NULL) { /* else its slots have never been cleared */
            lent = !close_endpoint(lane);
            hl_chain_free_all(lane, !lent);
        }
        hl_stat_lane_retire(&lane->stat);
        clear_lane(lane, lent);
    }
    free(p->used);
    p->used = NULL;
    hl_a64_store_relaxed(&p->opened, 0); /* relaxed: no other thread is left. */
}
