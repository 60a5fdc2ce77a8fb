/* The near ring. */
#include "ring.h"

#include "util.h"

#include <string.h>

static uint64_t lap_start(uint64_t position)
{
    return position - position % HL_RX_CELLS;
}

bool hl_rx_ring_put(struct hl_rx_ring *r, int from, const void *head, uint32_t head_len, const void *tail,
                    uint32_t tail_len)
{
    uint64_t at = hl_a64_load_relaxed(&r->head); /* relaxed: a first guess, checked by the exchange. */
    struct hl_rx_cell *cell;
    for (;;) {
        cell = &r->cells[at % HL_RX_CELLS];
        /* acquire: the consumer has read the bytes of the last lap; pairs with the release in take. */
        uint64_t turn = hl_a64_load_acquire(&cell->turn);
        if (turn == lap_start(at)) {
            /* acquire: no more than the cell's turn needs; the position belongs to one producer. */
            if (hl_a64_cas_acquire(&r->head, &at, at + 1)) {
                break;
            }
        } else if ((int64_t)(turn - lap_start(at)) < 0) {
            return false;
        } else {
            at = hl_a64_load_relaxed(&r->head); /* relaxed: as above. */
        }
    }
    cell->from = (uint32_t)from;
    cell->len = head_len + tail_len;
    memcpy(cell->bytes, head, head_len);
    if (tail_len > 0) {
        memcpy(cell->bytes + head_len, tail, tail_len);
    }
    hl_a64_store_release(&cell->turn,
                         lap_start(at) + 1); /* release: the entry; pairs with the acquire in take. */
    return true;
}

bool hl_rx_ring_must_wake(struct hl_rx_ring *r)
{
    /* full: the entry before the look at asleep; pairs with the fence in hl_rx_ring_sleep (litmus SB). */
    hl_fence_full();
    /* relaxed, then acquire: of several producers one rings; nothing is read after. */
    return hl_a32_load_relaxed(&r->asleep) != 0 && hl_a32_xchg_acquire(&r->asleep, 0) != 0;
}

static bool has_entry(struct hl_rx_ring *r)
{
    /* acquire: the entry; pairs with the release in put. */
    return hl_a64_load_acquire(&r->cells[r->tail % HL_RX_CELLS].turn) == lap_start(r->tail) + 1;
}

bool hl_rx_ring_take(struct hl_rx_ring *r, int *from, void *out, uint32_t *len)
{
    if (!has_entry(r)) {
        return false;
    }
    struct hl_rx_cell *cell = &r->cells[r->tail % HL_RX_CELLS];
    *from = (int)cell->from;
    *len = (uint32_t)hl_min_size(cell->len, HL_WIRE_NEAR_MAX);
    memcpy(out, cell->bytes, *len);
    /* release: the bytes were read; pairs with the acquire in put. */
    hl_a64_store_release(&cell->turn, lap_start(r->tail) + HL_RX_CELLS);
    r->tail++;
    return true;
}

bool hl_rx_ring_sleep(struct hl_rx_ring *r)
{
    hl_a32_store_relaxed(&r->asleep, 1); /* relaxed: the fence orders it. */
    /* full: asleep before the look at the ring; pairs with the fence in hl_rx_ring_must_wake. */
    hl_fence_full();
    if (has_entry(r)) {
        hl_rx_ring_awake(r);
        return false;
    }
    return true;
}

void hl_rx_ring_awake(struct hl_rx_ring *r)
{
    hl_a32_store_relaxed(&r->asleep, 0); /* relaxed: a late producer rings once too often, no more. */
}
