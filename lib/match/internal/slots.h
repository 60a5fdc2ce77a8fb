/* Inside the module: slots and cells of node-shared memory. */
#ifndef HL_SLOTS_H
#define HL_SLOTS_H

#include "match_internal.h"

/* ring.c */
void hl_ring_publish(struct hl_match_part *to, struct hl_ring_slot *slot, uint64_t claimed);
/* Claims and publishes a slot for a complete message. False: the ring is full. */
bool hl_ring_push(const struct hl_matcher *m, struct hl_match_part *to, unsigned inbox,
                  const struct hl_ring_slot *slot);
int hl_cell_take(struct hl_match_part *mine); /* index, or -1: none free */
/* frees the cell: called by the receiver, or by a sender that did not use it */
void hl_cell_give(struct hl_match_part *owner, uint32_t i);

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
