/* Inside the module: slots and cells of node-shared memory. */
#ifndef HL_SLOTS_H
#define HL_SLOTS_H

#include "match_internal.h"

/* ring.c */
void hl_ring_publish(struct hl_match_part *to, struct hl_ring_slot *slot, uint64_t claimed);
/* Claims and publishes a slot for a complete message. False: the ring is full. */
bool hl_ring_push(const struct hl_matcher *m, struct hl_match_part *to, unsigned inbox,
                  const struct hl_ring_slot *slot);
/* Takes as many cells, one behind the other, as hold `len` bytes: the index of the first; -1: there are
 * none. */
int hl_cell_take(struct hl_match_part *mine, uint64_t len);
/* Frees them: called by the receiver, or by a sender that did not use them. */
void hl_cell_give(struct hl_match_part *owner, uint32_t i, uint64_t len);
/* The sender has written them; the receiver gives them back. */
void hl_cell_hand_over(struct hl_match_part *mine, uint32_t i, uint64_t len);

/* Claims a slot for one message. NULL: the ring is full, or the thread has not enrolled. The caller writes
 * head and area at once (nothing that can fault or wait), and publishes the slot with what it got in
 * *claimed. */
HL_INLINE struct hl_ring_slot *hl_ring_claim(const struct hl_matcher *m, struct hl_match_part *to,
                                             unsigned inbox, uint64_t *claimed)
{
    struct hl_ring *ring = &to->rings[inbox];
    if (!hl_mpsc_claim(&ring->q, m->places, to->ring_room, claimed)) {
        return NULL;
    }
    struct hl_ring_slot *s = &ring->slots[(*claimed >> 1) % HL_RING_SLOTS];
    hl_handover_take(&s->stamp);
    return s;
}

#endif
