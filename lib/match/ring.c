/* Slots and cells in node-shared memory. Nothing between a claim and its stamp can fault or take long: a
 * claimed slot holds up everybody behind it. */
#include "slots.h"

void hl_ring_publish(struct hl_match_part *to, struct hl_ring_slot *s, uint64_t claimed)
{
    if (HL_UNLIKELY(hl_mpsc_stamp(&s->stamp, claimed))) {
        hl_prog_ring(&to->door);
    }
}

bool hl_ring_push(const struct hl_matcher *m, struct hl_match_part *to, unsigned inbox,
                  const struct hl_ring_slot *slot)
{
    uint64_t claimed;
    if (HL_UNLIKELY(hl_mpsc_my_place == 0)) {
        hl_mpsc_enrol(); /* a thread that only waits also sends messages that others have left */
    }
    struct hl_ring_slot *s = hl_ring_claim(m, to, inbox, &claimed);
    if (s == NULL) {
        return false;
    }
    s->head = slot->head;
    s->area = slot->area;
    hl_ring_publish(to, s, claimed);
    return true;
}

int hl_cell_take(struct hl_match_part *mine)
{
    /* relaxed: the CAS checks it. */
    uint64_t taken = hl_a64_load_relaxed(&mine->cells_taken);
    while (taken != UINT64_MAX) {
        int i = __builtin_ctzll(~taken);
        /* full: the receiver has read it; pairs with the full and in hl_cell_give. */
        if (hl_a64_cas_full(&mine->cells_taken, &taken, taken | (UINT64_C(1) << i))) {
            hl_handover_take(mine->cells[i]);
            return i;
        }
    }
    return -1;
}

void hl_cell_give(struct hl_match_part *owner, uint32_t i)
{
    /* full: the caller's reads of the cell come before; pairs with the CAS in hl_cell_take. */
    hl_a64_and_full(&owner->cells_taken, ~(UINT64_C(1) << (i % HL_CELLS)));
}
