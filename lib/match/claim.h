/* Inside the module: slots and cells, and who is about to fill which slot. */
#ifndef HL_CLAIM_H
#define HL_CLAIM_H

#include "inner.h"

/* ring.c */
void hl_ring_publish(struct hl_home *to, struct hl_ring_slot *slot, uint64_t claimed);
/* Both, for a message that is ready. False: full. */
bool hl_ring_push(const struct hl_matcher *m, struct hl_home *to, unsigned inbox,
                  const struct hl_ring_slot *slot);
int hl_cell_take(struct hl_home *mine);               /* index, or -1: none free */
void hl_cell_give(struct hl_home *owner, uint32_t i); /* by the receiver, or the sender that did not use it */

/* claim.c */
extern HL_THREAD_LOCAL unsigned
    hl_claim_place;                /* bytes from `claiming` to the thread's; 0: it has none yet */
void hl_claim_enrol(void) HL_COLD; /* gives it one, unless it has; before it may claim */
/* Of a ticket of my ring that was claimed: will nobody living fill its slot? The inbox's owner only. */
bool hl_claim_is_dead(const struct hl_matcher *m, const struct hl_ring *ring, uint64_t ticket) HL_COLD;

/* A place for one message, or NULL: the ring is full, or the thread has not enrolled. The caller writes head
 * and area at once (nothing that can fault or wait) and publishes it with what was put into *claimed. */
HL_INLINE struct hl_ring_slot *hl_ring_claim(const struct hl_matcher *m, struct hl_home *to, unsigned inbox,
                                             uint64_t *claimed)
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
        /* acquire: the consumer has read the slot that we overwrite; pairs with its release of head. */
        if (ticket - hl_a64_load_acquire(&ring->head) >= to->ring_room) {
            hl_a64_store_relaxed(&mine->what, UINT64_MAX); /* relaxed: we have claimed nothing */
            return NULL;
        }
        /* release: whoever reads that we claim this sees the stamp of what we claimed before; pairs with the
         * acquire in hl_claim_is_dead. The CAS has it seen before the claim. */
        hl_a64_store_release(&mine->what, ring->mark + ticket);
        /* full: orders messages of one thread; takes the armed bit over from the sleeper. */
    } while (!hl_a64_cas_full(&ring->tail, &tail, (ticket + 1) << 1));

    struct hl_ring_slot *s = &ring->slots[ticket % HL_RING_SLOTS];
    hl_handover_take(s); /* the last round's writer, by way of the consumer */
    *claimed = tail;
    return s;
}

#endif
