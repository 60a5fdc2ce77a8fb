/* Slots and cells in node-shared memory. Nothing between a claim and its stamp can fault or take long: a
 * claimed slot holds up everybody behind it. */
#include "inner.h"

#include <string.h>

bool hl_ring_push(struct hl_home *to, unsigned inbox, const struct hl_slot *slot)
{
    struct hl_ring *ring = &to->rings[inbox];
    /* relaxed: the CAS below checks it. */
    uint64_t tail = hl_a64_load_relaxed(&ring->tail);
    uint64_t ticket;
    do {
        ticket = tail >> 1;
        /* acquire: the consumer has read the slot that we overwrite; pairs with its release of head. */
        if (ticket - hl_a64_load_acquire(&ring->head) >= HL_RING_SLOTS) {
            return false;
        }
        /* full: orders messages of one thread; takes the armed bit over from the sleeper. */
    } while (!hl_a64_cas_full(&ring->tail, &tail, (ticket + 1) << 1));

    struct hl_slot *s = &ring->slots[ticket % HL_RING_SLOTS];
    hl_handover_take(s); /* the last round's writer, by way of the consumer */
    s->head = slot->head;
    s->area = slot->area;
    hl_handover_give(s);
    /* release: publishes the slot; pairs with the acquire in hl_inbox_poll's service. */
    hl_a64_store_release(&s->stamp, ticket + 1);
    if (HL_UNLIKELY((tail & 1) != 0)) {
        hl_prog_ring(&to->door);
    }
    return true;
}

int hl_cell_take(struct hl_home *mine)
{
    /* relaxed: the CAS checks it. */
    uint64_t taken = hl_a64_load_relaxed(&mine->cells_taken);
    while (taken != UINT64_MAX) {
        int i = __builtin_ctzll(~taken);
        /* full: the receiver is done reading; pairs with the release in hl_cell_give. */
        if (hl_a64_cas_full(&mine->cells_taken, &taken, taken | (UINT64_C(1) << i))) {
            hl_handover_take(mine->cells[i]);
            return i;
        }
    }
    return -1;
}

void hl_cell_give(struct hl_home *owner, uint32_t i)
{
    /* full: our reads of the cell come before; pairs with the CAS in hl_cell_take. */
    hl_a64_and_full(&owner->cells_taken, ~(UINT64_C(1) << (i % HL_CELLS)));
}
