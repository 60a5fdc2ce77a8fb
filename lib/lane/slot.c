/* Slots: how operations end. */
#include "inner.h"

#include "err.h"

static void store_error(struct hl_slot *slot)
{
    uint32_t none = 0;
    /* acquire: the first error stays; published by the release of way->done that follows. */
    (void)hl_a32_cas_acquire(slot->error, &none, (uint32_t)-slot->err);
}

/* Everybody but the provider is done with it. */
static void finish(struct hl_lane *lane, struct hl_slot *slot)
{
    if (HL_UNLIKELY(slot->err != 0)) {
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_errors, 1);
        store_error(slot);
    }
    if (slot->req != NULL) {
        (void)hl_req_part_done(slot->req, slot->err);
        slot->req = NULL;
    }
}

/* Advances done over what has ended, in the order of issue. */
static void advance_way(struct hl_way *way)
{
    struct hl_slot *slot = way->first;
    uint64_t done = 0;
    while (slot != NULL && (slot->open == 0 || slot->quarantined)) {
        done = slot->way_seq;
        slot = slot->next;
    }
    if (done != 0) {
        way->first = slot;
        /* release: results and error words; pairs with the acquire in the flushes. */
        hl_a64_store_release(&way->done, done);
    }
}

void hl_slot_advance(struct hl_lane *lane)
{
    /* relaxed: both are written by the leaseholder only. */
    uint64_t tail = hl_a64_load_relaxed(&lane->tail);
    uint64_t issued = hl_a64_load_relaxed(&lane->issued);
    uint64_t at = tail;
    while (at != issued) {
        const struct hl_slot *slot = &lane->slots[at % HL_SLOTS];
        if (slot->open != 0 && !slot->quarantined) {
            break;
        }
        at++;
    }
    if (at != tail) {
        /* release: results and error words; pairs with the acquire in hl_pool_flush_all. */
        hl_a64_store_release(&lane->tail, at);
        lane->wake = true;
    }
}

static void drop_letter(struct hl_lane *lane, struct hl_slot *slot) HL_REQUIRES(lane->lease)
{
    if (slot->letter != NULL && (slot->open & HL_PART_POST) == 0) {
        hl_mail_unuse(lane, slot->letter);
        slot->letter = NULL;
    }
}

void hl_slot_close(struct hl_lane *lane, struct hl_slot *slot, unsigned part, int err)
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
        lane->mail--;
    }
    slot->open &= (uint8_t)~part;
    drop_letter(lane, slot);
    if (slot->open != 0) {
        return;
    }
    if (slot->quarantined) {
        slot->quarantined = false; /* it ended long ago: now its place may be used again */
        return;
    }
    finish(lane, slot);
    advance_way(slot->way);
}

void hl_slot_bury(struct hl_lane *lane, struct hl_way *way)
{
    way->dead = true;
    way->marked = false; /* the next post looks closer; the bit itself may stay: nothing will be open */
    for (struct hl_slot *slot = way->first; slot != NULL; slot = slot->next) {
        if (slot->open == 0 || slot->quarantined) {
            continue;
        }
        if (slot->open & HL_PART_ACK) {
            slot->open &= (uint8_t)~HL_PART_ACK;
            way->unacked--;
            lane->mail--;
        }
        slot->err = slot->err != 0 ? slot->err : HL_ERR_PROC_ABORTED;
        slot->quarantined = slot->open != 0;
        slot->reply = NULL;
        drop_letter(lane, slot);
        finish(lane, slot);
    }
    advance_way(way);
    hl_slot_advance(lane);
}

void hl_slot_lost(struct hl_lane *lane, struct hl_way *way)
{
    way->hello_said = false;
    struct hl_slot *slot = way->first;
    while (slot != NULL) {
        struct hl_slot *next = slot->next;
        if (slot->open == HL_PART_ACK) {
            hl_slot_close(lane, slot, HL_PART_ACK, HL_ERR_PROC_ABORTED);
        }
        slot = next;
    }
}
