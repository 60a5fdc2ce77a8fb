/* Lost connections. For example, a put with a key that the target has taken back makes its provider close the
 * connection.
 *
 * Our provider connects anew by itself once it has noticed the loss, which may take many reads of the queue;
 * until then it accepts operations and fails them. So nothing is posted on such a way before the queue has
 * been read often enough, and 8 bytes of the target (its heartbeat) could be read. */
#include "lane_internal.h"

#include "err.h"

#define READS_AT_ONCE 32                /* reads of the queue under one lease */
#define TIMEOUT_NS UINT64_C(2000000000) /* the target may be dead, and nobody says so */

int hl_lane_read_heartbeat(struct hl_lane *lane, struct hl_way *way)
{
    struct hl_issue op = {.what = HL_ISSUE_READ,
                          .peer = way->peer,
                          .error = &way->greeting,
                          .addr = way->heartbeat_addr,
                          .key = way->heartbeat_key,
                          .buf = &way->heartbeat,
                          .len = sizeof way->heartbeat};
    return hl_lane_post_direct(lane, way, &op);
}

static bool is_probing(const struct hl_way *way)
{
    const struct hl_lane_slot *slot = way->probe;
    return slot->way == way && slot->way_seq == way->probe_seq && (slot->open & HL_PART_POST) != 0;
}

/* Reads the heartbeat with the slot of the way's chain, whose context nobody uses before the chain is sent.
 * (The read must not ask for a slot of its own: in a full ring the tail may wait for this very chain.)
 * Returns what hl_lane_post_direct does. */
static int probe_by_chain(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease)
{
    struct hl_lane_slot *slot = way->chain->slot;
    if (slot->open != HL_PART_CHAIN) {
        return HL_LANE_STAY; /* a read before the last loss has not come back */
    }
    struct hl_xfer x = {.addr = way->heartbeat_addr,
                        .key = way->heartbeat_key,
                        .buf = &way->heartbeat,
                        .len = sizeof way->heartbeat};
    int rc = hl_lane_post_rma(lane, way, slot, &x, true);
    if (rc != 0) {
        slot->open = HL_PART_CHAIN;
        return hl_lane_refused(lane, way, rc);
    }
    slot->open = HL_PART_CHAIN | HL_PART_POST;
    return 0;
}

static bool is_ring_full(const struct hl_lane *lane) HL_REQUIRES(lane->lease)
{
    /* relaxed, both: written by the leaseholder only. */
    return hl_a64_load_relaxed(&lane->issued) - hl_a64_load_relaxed(&lane->tail) >= HL_LANE_SLOTS;
}

static bool try_again(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease)
{
    bool by_chain = way->chain != NULL;
    if ((by_chain ? probe_by_chain(lane, way) : hl_lane_read_heartbeat(lane, way)) != 0) {
        if (!by_chain && is_ring_full(lane)) {
            way->reconnect.looked_ns = 0; /* what keeps the ring full says nothing of this peer */
        }
        return false;
    }
    way->probe = by_chain ? way->chain->slot : way->last;
    way->probe_seq = way->probe->way_seq;
    return true;
}

/* One step: reads the queue, and then tries a read of the heartbeat. The queue may tell that the connection
 * is lost again: then it begins anew. False: nothing more can be done now (a provider may try to connect for
 * seconds before it reports), or the peer is dead. */
static bool step_reconnect(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease)
{
    (void)hl_lane_progress(lane);
    bool has_heartbeat = way->heartbeat_addr != 0 || way->heartbeat_key != 0;
    if (way->dead) {
        return false;
    }
    if (way->reads > 0) {
        way->reads--;
    } else if (way->probe == NULL && has_heartbeat) {
        return try_again(lane, way);
    } else if (way->probe == NULL || !is_probing(way)) {
        way->lost = false;
        way->reconnect.looked_ns = way->refused.looked_ns = 0;
    }
    return true;
}

int hl_lane_reconnect(struct hl_lane *lane, struct hl_way *way)
{
    for (int i = 0; i < READS_AT_ONCE && way->lost && !way->dead && step_reconnect(lane, way); i++) {
    }
    if (way->dead) {
        return hl_err_say(HL_ERR_PROC_ABORTED, "rank %d has ended", way->peer);
    }
    if (!way->lost) {
        return 0;
    }
    return hl_stall_timer_read(&way->reconnect) < TIMEOUT_NS
               ? HL_LANE_STAY
               : hl_err_say(HL_ERR_PROC_ABORTED, "the connection to rank %d is lost and does not come back",
                            way->peer);
}
