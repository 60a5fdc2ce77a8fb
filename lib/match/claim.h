/* Inside the module: slots and cells, and which thread is about to fill which slot. */
#ifndef HL_CLAIM_H
#define HL_CLAIM_H

#include "inner.h"

/* ring.c */
void hl_ring_publish(struct hl_match_part *to, struct hl_ring_slot *slot, uint64_t claimed);
/* Claims and publishes a slot for a complete message. False: the ring is full, or the thread has not
 * enrolled. */
bool hl_ring_push(const struct hl_matcher *m, struct hl_match_part *to, unsigned inbox,
                  const struct hl_ring_slot *slot);
int hl_cell_take(struct hl_match_part *mine); /* index, or -1: none free */
/* frees the cell: called by the receiver, or by a sender that did not use it */
void hl_cell_give(struct hl_match_part *owner, uint32_t i);

/* claim.c */
extern HL_THREAD_LOCAL unsigned
    /* bytes from hl_matcher.claiming to the thread's place; 0: it has none yet */
    hl_claim_place;
/* gives the thread a place, if it has none; must come before its first claim */
void hl_claim_enrol(void) HL_COLD;
/* True when no living thread will fill the slot of this claimed ticket of this rank's ring. Only the inbox's
 * owner calls it. */
bool hl_claim_is_dead(const struct hl_matcher *m, const struct hl_ring *ring, uint64_t ticket) HL_COLD;

/* Claims a slot for one message. NULL: the ring is full, or the thread has not enrolled. The caller writes
 * head and area at once (nothing that can fault or wait), and publishes the slot with what it got in
 * *claimed. */
HL_INLINE struct hl_ring_slot *hl_ring_claim(const struct hl_matcher *m, struct hl_match_part *to,
                                             unsigned inbox, uint64_t *claimed)
{
    struct hl_ring *ring = &to->rings[inbox];
    unsigned place = hl_claim_place;
    if (HL_UNLIKELY(place == 0)) {
        return NULL;
    }
    struct hl_claiming *mine = (struct hl_claiming *)(void *)((char *)m->claiming + place);
    /* relaxed: the CAS below checks it. */
    uint64_t tail = hl_a64_load_relaxed(&ring->tail);
    uint64_t ticket;
    do {
        ticket = tail >> 1;
        /* acquire: the consumer has read the slot that is overwritten; pairs with the release in set_head
         * (inbox.c). */
        if (ticket - hl_a64_load_acquire(&ring->head) >= to->ring_room) {
            hl_a64_store_relaxed(&mine->what, UINT64_MAX); /* relaxed: nothing is claimed */
            return NULL;
        }
        /* release: a thread that reads this claim also sees the stamp of the last one; pairs with the acquire
         * in hl_claim_is_dead. The CAS makes it visible before the claim. */
        hl_a64_store_release(&mine->what, ring->mark + ticket);
        /* full: orders messages of one thread; takes the armed bit over from the sleeper. */
    } while (!hl_a64_cas_full(&ring->tail, &tail, (ticket + 1) << 1));

    struct hl_ring_slot *s = &ring->slots[ticket % HL_RING_SLOTS];
    hl_handover_take(s); /* written last by the last round's sender, read by the consumer */
    *claimed = tail;
    return s;
}

#endif
