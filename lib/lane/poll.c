/* Reading a lane's completion queue. */
#include "lane_internal.h"

#include "err.h"
#include "log.h"
#include "util.h"

#include <errno.h>

/* The slot whose context this is, or NULL. */
static struct hl_lane_slot *slot_of(struct hl_lane *lane, const void *context) HL_REQUIRES(lane->lease)
{
    uintptr_t at = (uintptr_t)context - (uintptr_t)lane->slots;
    if (at >= sizeof lane->slots || at % sizeof(struct hl_lane_slot) != 0) {
        return NULL;
    }
    return &lane->slots[at / sizeof(struct hl_lane_slot)];
}

static void close_completed(struct hl_lane *lane, const struct fi_cq_msg_entry *entry)
    HL_REQUIRES(lane->lease)
{
    struct hl_lane_slot *slot = slot_of(lane, entry->op_context);
    if (HL_LIKELY(slot != NULL)) {
        hl_lane_slot_close(lane, slot, HL_PART_POST, 0);
        return;
    }
    struct hl_fab_receive *ack = hl_fab_ep_receive(lane->fab, entry->op_context);
    if (ack != NULL) {
        hl_acks_in(lane, ack, entry->len);
    } else if (!hl_lane_end_ping(lane, entry->op_context)) {
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_stray, 1);
    }
}

/* Errors of a connection that is broken: everything else on it will fail, too. */
static bool is_lost(int provider_error)
{
    switch (provider_error) {
    case ECANCELED:
    case ENOTCONN:
    case ECONNRESET:
    case ECONNABORTED:
    case ECONNREFUSED:
    case EPIPE:
    case ETIMEDOUT:
    case EHOSTUNREACH:
        return true;
    default:
        return false;
    }
}

static int read_lane_error(struct hl_lane *lane) HL_REQUIRES(lane->lease)
{
    struct fi_cq_err_entry error;
    if (!hl_fab_ep_error(lane->fab, &error)) {
        return 0;
    }
    struct hl_lane_slot *slot = slot_of(lane, error.op_context);
    if (slot != NULL && (slot->open & HL_PART_POST) != 0) {
        bool lost = is_lost(error.err) || hl_provider_says_lost(hl_fab.row, error.prov_errno);
        hl_log(HL_LOG_DEBUG, "lane %u, rank %d: %s (provider's code %d)", lane->index, slot->way->peer,
               hl_fab_strerror(error.err), error.prov_errno);
        if ((slot->open & HL_PART_CHAIN) != 0) { /* the way was tried (reconnect.c), the chain was not sent */
            hl_lane_slot_close(lane, slot, HL_PART_POST, 0);
        } else {
            slot->way->hello_said &= slot->chain == NULL; /* the target may miss this message's number */
            hl_lane_slot_close(lane, slot, slot->open, lost ? HL_ERR_PROC_ABORTED : HL_ERR_OTHER);
        }
        if (lost) {
            hl_lane_slot_lost(lane, slot->way);
        }
    } else if (!hl_lane_end_ping(lane, error.op_context)) {
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_stray, 1); /* some errors come without a context */
    }
    return 1;
}

/* Ends everything on ways to ranks that have been reported dead since the last look. */
static void fail_dead_peers(struct hl_lane *lane, uint32_t deaths) HL_REQUIRES(lane->lease)
{
    lane->deaths_seen = deaths;
    const struct hl_way_table *t =
        hl_aptr_load_relaxed(&lane->ways); /* relaxed: written by the holder only. */
    for (uint32_t i = 0; t != NULL && i < t->room; i++) {
        struct hl_way *way = hl_aptr_load_relaxed(&t->at[i].way); /* relaxed: written by the holder only. */
        if (way != NULL && !way->dead && hl_rx_is_dead(way->peer)) {
            hl_lane_slot_fail_peer(lane, way);
        }
    }
}

int hl_lane_progress(struct hl_lane *lane)
{
    if (HL_UNLIKELY(lane->ep == NULL)) {
        return 0;
    }
    struct fi_cq_msg_entry entries[16];
    int n = hl_fab_ep_completed(lane->fab, entries, HL_COUNT_OF(entries));
    for (int i = 0; i < n; i++) {
        close_completed(lane, &entries[i]);
    }
    int moved = n >= 0 ? n : read_lane_error(lane);
    if (moved > 0) {
        hl_lane_slot_advance(lane);
    }
    /* acquire: the ranks' marks; pairs with the full add in count_death (lane.c). */
    uint32_t deaths = hl_a32_load_acquire(&lane->pool->deaths);
    if (HL_UNLIKELY(deaths != lane->deaths_seen)) {
        fail_dead_peers(lane, deaths);
    }
    return moved;
}

/* The lane may have chains that the caller opened and waits for now; they are sent first. */
static int poll_open(uint32_t index)
{
    struct hl_lane *lane = hl_pool.head.lanes[index];
    /* relaxed: a guess whether anything is in flight. */
    if (hl_a64_load_relaxed(&lane->issued) == hl_a64_load_relaxed(&lane->tail) ||
        !hl_lease_try_any(&lane->lease)) {
        return 0;
    }
    if (lane->open != NULL) {
        hl_chain_send_mine(lane);
    }
    int moved = hl_lane_progress(lane);
    hl_lane_leave(lane);
    return moved;
}

/* Polls the caller's own lane, and the others in turn, where its ordered operations are: so waiting threads
 * do not all try the same leases. */
int hl_lane_poll(void *unused)
{
    static HL_THREAD_LOCAL uint32_t turn;
    (void)unused;
    uint32_t count = hl_pool_count(&hl_pool);
    if (count == 0) {
        return 0;
    }
    uint32_t own = hl_lane_preferred < count ? hl_lane_preferred : 0;
    uint32_t other = ++turn % count;
    int moved = poll_open(own);
    return other == own ? moved : moved + poll_open(other);
}
