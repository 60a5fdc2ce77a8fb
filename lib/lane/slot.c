/* Slots: how operations end. */
#include "lane_internal.h"

#include "err.h"

/* Reports the end of a slot: error words, requests. The provider may still hold it. */
static void finish_slot(struct hl_lane *lane, struct hl_lane_slot *slot) HL_REQUIRES(lane->lease)
{
    if (HL_UNLIKELY(slot->err != 0)) {
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_errors, 1);
    }
    if (slot->chain != NULL) {
        hl_chain_finish(lane, slot->chain, slot->err);
        return;
    }
    if (HL_UNLIKELY(slot->err != 0)) {
        hl_lane_error_keep(slot->error, slot->err);
    }
    if (slot->req != NULL) {
        (void)hl_req_part_done(slot->req, slot->err);
        slot->req = NULL;
    }
}

static bool has_ended(const struct hl_lane_slot *slot)
{
    return slot->open == 0 || slot->quarantined;
}

/* True when the origin's buffers no longer wait for this slot. False for the newest slot with a chain: that
 * may get records which want an answer. */
static bool is_local_no_more(const struct hl_lane_slot *slot)
{
    return has_ended(slot) || (slot->chain != NULL && slot->chain->head.ask_count == 0 && slot->next != NULL);
}

/* Advances `done` and `local_done` over slots that have ended, in the order of issue. */
static void advance_way(struct hl_way *way)
{
    struct hl_lane_slot *slot = way->local;
    uint64_t done = 0;
    for (; slot != NULL && is_local_no_more(slot); slot = slot->next) {
        done = slot->way_seq;
    }
    way->local = slot;
    if (done != 0) {
        /* release: results; pairs with the acquire in is_goal_reached (flush.c). */
        hl_a64_store_release(&way->local_done, done);
    }
    done = 0;
    for (slot = way->first; slot != NULL && has_ended(slot); slot = slot->next) {
        done = slot->way_seq;
    }
    if (done != 0) {
        way->first = slot;
        /* release: results and error words; pairs with the acquire in is_goal_reached (flush.c). */
        hl_a64_store_release(&way->done, done);
    }
}

/* Sends the open chains, since the tail may wait for the oldest of them, and reads the queue. False: nothing
 * came; or ways were found lost or dead, perhaps that of the caller, who has to look at it again before it
 * posts there. Takes no slot: sending a chain never does. */
static HL_COLD bool poll_for_slot(struct hl_lane *lane) HL_REQUIRES(lane->lease)
{
    uint32_t breaks = lane->breaks;
    hl_chain_send_all(lane, UINT64_MAX);
    return hl_lane_progress(lane) != 0 && lane->breaks == breaks;
}

struct hl_lane_slot *hl_lane_slot_take(struct hl_lane *lane)
{
    for (;;) {
        /* relaxed: both are written by the leaseholder only. */
        uint64_t number = hl_a64_load_relaxed(&lane->issued);
        if (HL_UNLIKELY(number - hl_a64_load_relaxed(&lane->tail) >= HL_LANE_SLOTS)) {
            if (!poll_for_slot(lane) || number - hl_a64_load_relaxed(&lane->tail) >= HL_LANE_SLOTS) {
                return NULL;
            }
        }
        struct hl_lane_slot *slot = &lane->slots[number % HL_LANE_SLOTS];
        if (HL_LIKELY(!slot->quarantined)) {
            slot->number = number;
            return slot;
        }
        /* The provider still holds this slot: pass over it. A full lap of such slots is a full ring. */
        /* release: pairs with the acquire in flush_lanes (flush.c). */
        hl_a64_store_release(&lane->issued, number + 1);
        hl_lane_slot_advance(lane);
        lane->wake = true; /* a flush may wait for this number */
        if (hl_a64_load_relaxed(&lane->issued) % HL_LANE_SLOTS == 0 && !poll_for_slot(lane)) {
            return NULL;
        }
    }
}

void hl_lane_slot_commit(struct hl_lane *lane, struct hl_way *way, struct hl_lane_slot *slot, bool local)
{
    slot->way = way;
    slot->next = NULL;
    slot->err = 0;
    uint64_t seq = hl_a64_load_relaxed(&way->issued) + 1; /* relaxed: written by the leaseholder only. */
    slot->way_seq = seq;
    if (way->first == NULL) {
        way->first = slot;
    } else {
        way->last->next = slot;
    }
    if (way->local == NULL) {
        way->local = slot;
    }
    way->last = slot;
    /* relaxed: mine, under the lease. */
    way->touched = hl_a64_load_relaxed(&lane->stat.at[HL_STAT_LANE_leases]);
    if (local) {
        hl_lane_slot_make_local(way, slot);
    }
    /* release: pairs with the acquires in snapshot_goal and flush_lanes (flush.c): what a flush sees issued
     * has its slot in place. */
    hl_a64_store_release(&way->issued, seq);
    hl_a64_store_release(&lane->issued, slot->number + 1);
}

void hl_lane_slot_make_local(struct hl_way *way, const struct hl_lane_slot *slot)
{
    /* relaxed: the leaseholder alone writes it. release: pairs with the acquire in snapshot_goal
     * (flush.c). */
    if (slot->way_seq > hl_a64_load_relaxed(&way->local_issued)) {
        hl_a64_store_release(&way->local_issued, slot->way_seq);
    }
}

void hl_lane_slot_advance(struct hl_lane *lane)
{
    /* relaxed: both are written by the leaseholder only. */
    uint64_t tail = hl_a64_load_relaxed(&lane->tail);
    uint64_t issued = hl_a64_load_relaxed(&lane->issued);
    uint64_t at = tail;
    while (at != issued) {
        const struct hl_lane_slot *slot = &lane->slots[at % HL_LANE_SLOTS];
        if (slot->open != 0 && !slot->quarantined) {
            break;
        }
        at++;
    }
    if (at != tail) {
        /* release: results and error words; pairs with the acquire in is_goal_reached (flush.c). */
        hl_a64_store_release(&lane->tail, at);
    }
}

/* Takes the chain out of a slot whose parts have all ended, and keeps its buffer. */
static void drop_chain(struct hl_lane *lane, struct hl_lane_slot *slot) HL_REQUIRES(lane->lease)
{
    if (slot->chain != NULL && slot->open == 0) {
        hl_chain_unuse(lane, slot->chain);
        slot->chain = NULL;
    }
}

void hl_lane_slot_close(struct hl_lane *lane, struct hl_lane_slot *slot, unsigned part, int err)
{
    if ((slot->open & part) == 0) {
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_stray, 1);
        return;
    }
    if (err != 0 && slot->err == 0) {
        slot->err = err;
    }
    if (part & HL_PART_ACK & slot->open) {
        slot->way->unacked--;
        lane->unacked--;
    }
    slot->open &= (uint8_t)~part;
    if (slot->open != 0) {
        return;
    }
    if (slot->quarantined) {
        /* its end was reported before: now the provider is done, and the slot can be used again */
        slot->quarantined = false;
        drop_chain(lane, slot);
        return;
    }
    finish_slot(lane, slot);
    drop_chain(lane, slot);
    advance_way(slot->way);
    lane->wake = true;
}

void hl_lane_slot_quarantine(struct hl_lane *lane, struct hl_lane_slot *slot)
{
    slot->quarantined = true;
    finish_slot(lane, slot);
    advance_way(slot->way);
    lane->wake = true;
}

void hl_lane_slot_fail_peer(struct hl_lane *lane, struct hl_way *way)
{
    way->dead = true;
    lane->breaks++;
    hl_chain_fail(lane, way, HL_ERR_PROC_ABORTED);
    /* so that the next post sees that the way is dead; the bit itself may stay: nothing will be open */
    way->marked = false;
    for (struct hl_lane_slot *slot = way->first; slot != NULL; slot = slot->next) {
        if (slot->open == 0 || slot->quarantined) {
            continue;
        }
        if (slot->open & HL_PART_ACK) {
            slot->open &= (uint8_t)~HL_PART_ACK;
            way->unacked--;
            lane->unacked--;
        }
        slot->err = slot->err != 0 ? slot->err : HL_ERR_PROC_ABORTED;
        slot->quarantined = slot->open != 0;
        finish_slot(lane, slot);
        drop_chain(lane, slot);
        lane->wake = true;
    }
    advance_way(way);
    hl_lane_slot_advance(lane);
}

void hl_lane_slot_lost(struct hl_lane *lane, struct hl_way *way)
{
    way->hello_said = way->greeted = false;
    way->greeted_from = way->messages;
    way->lost = true;
    lane->breaks++;
    way->marked = false; /* so that the next post sees that the way is lost; the bit itself stays */
    way->reads = HL_RECONNECT_READS;
    way->probe = NULL;
    struct hl_lane_slot *slot = way->first;
    while (slot != NULL) {
        struct hl_lane_slot *next = slot->next;
        if ((slot->open & HL_PART_ACK) != 0) {
            hl_lane_slot_close(lane, slot, HL_PART_ACK, HL_ERR_PROC_ABORTED);
        }
        slot = next;
    }
    hl_lane_slot_advance(lane);
}
