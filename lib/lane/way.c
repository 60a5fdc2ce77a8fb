/* Ways: what each lane knows of each target, and the bits that tell flushes where to look. */
#include "lane_internal.h"

#include "err.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 16u

static struct hl_way *find_in(const struct hl_way_table *t, int peer)
{
    uint32_t at = (uint32_t)hl_mix64((uint64_t)peer) & (t->room - 1);
    for (;;) {
        /* acquire: the way; pairs with the release in add_to. */
        struct hl_way *way = hl_aptr_load_acquire(&t->at[at].way);
        if (way == NULL || t->at[at].peer == peer) {
            return way;
        }
        at = (at + 1) & (t->room - 1);
    }
}

struct hl_way *hl_way_find(const struct hl_lane *lane, int peer)
{
    /* acquire: the table; pairs with the release in grow_ways. */
    const struct hl_way_table *t = hl_aptr_load_acquire(&lane->ways);
    return t != NULL ? find_in(t, peer) : NULL;
}

static void add_to(struct hl_way_table *t, struct hl_way *way)
{
    uint32_t at = (uint32_t)hl_mix64((uint64_t)way->peer) & (t->room - 1);
    while (hl_aptr_load_relaxed(&t->at[at].way) != NULL) { /* relaxed: written by the leaseholder only. */
        at = (at + 1) & (t->room - 1);
    }
    t->at[at].peer = way->peer;
    hl_aptr_store_release(&t->at[at].way, way); /* release: the way; pairs with the acquire in find_in. */
    t->count++;
}

static struct hl_way_table *grow_ways(struct hl_lane *lane, struct hl_way_table *old)
{
    uint32_t room = old == NULL ? FIRST_ROOM : 2 * old->room;
    size_t size = hl_round_up(sizeof *old + room * sizeof old->at[0], HL_CACHELINE);
    /* every flush reads it, so it shares no cache line */
    struct hl_way_table *t = aligned_alloc(HL_CACHELINE, size);
    if (t == NULL) {
        return NULL;
    }
    memset(t, 0, size);
    t->room = room;
    t->older = old;
    for (uint32_t i = 0; old != NULL && i < old->room; i++) {
        struct hl_way *way =
            hl_aptr_load_relaxed(&old->at[i].way); /* relaxed: written by the leaseholder only. */
        if (way != NULL) {
            add_to(t, way);
        }
    }
    hl_aptr_store_release(&lane->ways, t); /* release: the table; pairs with the acquire in hl_way_find. */
    return t;
}

struct hl_way *hl_way_make(struct hl_lane *lane, int peer, const struct hl_rx_card *card, int *rc)
{
    struct hl_way_table *t =
        hl_aptr_load_relaxed(&lane->ways); /* relaxed: written by the leaseholder only. */
    if (t == NULL || 2 * (t->count + 1) > t->room) {
        t = grow_ways(lane, t);
    }
    struct hl_way *way =
        t != NULL ? aligned_alloc(HL_CACHELINE, hl_round_up(sizeof *way, HL_CACHELINE)) : NULL;
    if (way == NULL) {
        *rc = hl_err_say(HL_ERR_NO_MEM, "no memory for a connection to rank %d", peer);
        return NULL;
    }
    *way = (struct hl_way){
        .peer = peer, .heartbeat_addr = card->heartbeat_addr, .heartbeat_key = card->heartbeat_key};
    *rc = hl_fab_ep_insert(lane->fab, card->name, card->name_len, &way->addr);
    if (*rc != 0) {
        free(way);
        return NULL;
    }
    way->dead = hl_rx_is_dead(peer); /* the death may have been counted before this way was made */
    add_to(t, way);
    return way;
}

void hl_way_mark(struct hl_lane *lane, struct hl_way *way)
{
    /* full: rare; before the first post: a thread that learns of the operation sees the bit. */
    hl_a64_or_full(&lane->pool->used[way->peer], UINT64_C(1) << lane->index);
    way->marked = true;
}

void hl_way_sweep(struct hl_lane *lane)
{
    uint64_t leases = hl_a64_load_relaxed(&lane->stat.at[HL_STAT_LANE_leases]); /* relaxed: mine now. */
    lane->swept = leases;
    const struct hl_way_table *t =
        hl_aptr_load_relaxed(&lane->ways); /* relaxed: written by the holder only. */
    for (uint32_t i = 0; t != NULL && i < t->room; i++) {
        struct hl_way *way = hl_aptr_load_relaxed(&t->at[i].way); /* relaxed: written by the holder only. */
        if (way != NULL && way->marked && way->first == NULL && leases - way->touched > HL_IDLE_LEASES) {
            way->marked = false;
            /* full: after done and the error words; pairs with the acquire in flush_peer. */
            hl_a64_and_full(&lane->pool->used[way->peer], ~(UINT64_C(1) << lane->index));
        }
    }
}

void hl_way_free_all(struct hl_lane *lane)
{
    struct hl_way_table *t = hl_aptr_load_relaxed(&lane->ways); /* relaxed: no other thread is left. */
    for (uint32_t i = 0; t != NULL && i < t->room; i++) {
        free(hl_aptr_load_relaxed(&t->at[i].way)); /* relaxed: no other thread is left. */
    }
    while (t != NULL) {
        struct hl_way_table *older = t->older;
        free(t);
        t = older;
    }
    hl_aptr_store_relaxed(&lane->ways, NULL); /* relaxed: no other thread is left. */
}
