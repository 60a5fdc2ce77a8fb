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

static unsigned cells_for(uint64_t len)
{
    return (unsigned)((len + HL_CELL_BYTES - 1) / HL_CELL_BYTES);
}

int hl_cell_take(struct hl_match_part *mine, uint64_t len)
{
    /* relaxed: the CAS checks it. */
    uint64_t taken = hl_a64_load_relaxed(&mine->cells_taken), fit;
    unsigned n = cells_for(len);
    do {
        fit = ~taken; /* bit i: so many cells are free from cell i on */
        for (unsigned k = 1; k < n; k++) {
            fit &= ~taken >> k;
        }
        if (fit == 0) {
            return -1;
        }
        /* full: the receiver has read them; pairs with the full and in hl_cell_give. */
    } while (!hl_a64_cas_full(&mine->cells_taken, &taken,
                              taken | ((UINT64_C(1) << n) - 1) << __builtin_ctzll(fit)));
    int first = __builtin_ctzll(fit);
    for (unsigned k = 0; k < n; k++) {
        hl_handover_take(mine->cells[(unsigned)first + k]);
    }
    return first;
}

void hl_cell_hand_over(struct hl_match_part *mine, uint32_t i, uint64_t len)
{
    for (unsigned k = 0; k < cells_for(len); k++) {
        hl_handover_give(mine->cells[i + k]);
    }
}

void hl_cell_give(struct hl_match_part *owner, uint32_t i, uint64_t len)
{
    /* full: the caller's reads of the cells come before; pairs with the CAS in hl_cell_take. */
    hl_a64_and_full(&owner->cells_taken, ~(((UINT64_C(1) << cells_for(len)) - 1) << (i % HL_CELLS)));
}
