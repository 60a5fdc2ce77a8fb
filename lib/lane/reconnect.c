/* Lost connections. For example, a put with a key that the target has taken back makes its provider close the
 * connection.
 *
 * Our provider connects anew by itself once it has noticed the loss, which may take many reads of the queue;
 * until then it accepts operations and fails them. So nothing is posted on such a way before the queue has
 * been read often enough, and 8 bytes of the target (its heartbeat) could be read. */
#include "inner.h"

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

static bool is_open(const struct hl_way *way)
{
    const struct hl_slot *slot = way->probe;
    return slot->way == way && slot->way_seq == way->probe_seq && slot->open != 0;
}

static bool try_again(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease)
{
    if (hl_lane_read_heartbeat(lane, way) != 0) {
        return false;
    }
    way->probe = way->last;
    way->probe_seq = way->probe->way_seq;
    return true;
}

/* One step: reads the queue, and then tries a read of the heartbeat. The queue may tell that the connection
 * is lost again: then it begins anew. False: nothing more can be done now (a provider may try to connect for
 * seconds before it reports). */
static bool step_reconnect(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease)
{
    (void)hl_lane_progress(lane);
    bool has_heartbeat = way->heartbeat_addr != 0 || way->heartbeat_key != 0;
    if (way->reads > 0) {
        way->reads--;
    } else if (way->probe == NULL && has_heartbeat) {
        return try_again(lane, way);
    } else if (way->probe == NULL || !is_open(way)) {
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
