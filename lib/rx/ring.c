/* The ring of records from node peers. */
#include "ring.h"

#include "util.h"

#include <string.h>

static uint64_t lap_start(uint64_t position)
{
    return position - position % HL_RX_CELLS;
}

#define CLAIMED (UINT64_C(1) << 63) /* the turn of a claimed cell: with LAP_BIT in odd laps, and the rank */
#define LAP_BIT (UINT64_C(1) << 62)

static uint64_t ring_claim_word(uint64_t position, int rank)
{
    return CLAIMED | (position / HL_RX_CELLS % 2 != 0 ? LAP_BIT : 0) | (uint32_t)rank;
}

/* True when the cell of this position is still in the lap before. */
static bool is_behind(uint64_t turn, uint64_t position)
{
    return (turn & CLAIMED) != 0 ? ((turn ^ ring_claim_word(position, 0)) & LAP_BIT) != 0
                                 : turn < lap_start(position);
}

/* Claims the next cell and sets its position; NULL: the ring is full. */
static struct hl_rx_cell *claim_cell(struct hl_rx_ring *r, int rank, uint64_t *position)
{
    for (;;) {
        uint64_t at = hl_a64_load_relaxed(&r->head), next = at; /* relaxed: both exchanges check it. */
        struct hl_rx_cell *cell = &r->cells[at % HL_RX_CELLS];
        uint64_t turn = lap_start(at);
        /* acquire: the consumer has read the bytes of the last lap; pairs with the release in leave_cell. */
        bool mine = hl_a64_cas_acquire(&cell->turn, &turn, ring_claim_word(at, rank));
        if (!mine && is_behind(turn, at)) {
            return NULL;
        }
        /* acquire: only the position matters. Any producer moves it on, since the claimer may have died. */
        hl_a64_cas_acquire(&r->head, &next, at + 1);
        if (mine) {
            *position = at;
            return cell;
        }
    }
}

bool hl_rx_ring_put(struct hl_rx_ring *r, int from, const void *head, uint32_t head_len, const void *tail,
                    uint32_t tail_len)
{
    uint64_t at;
    struct hl_rx_cell *cell = claim_cell(r, from, &at);
    if (cell == NULL) {
        return false;
    }
    cell->from = (uint32_t)from;
    cell->len = head_len + tail_len;
    memcpy(cell->bytes, head, head_len);
    if (tail_len > 0) {
        memcpy(cell->bytes + head_len, tail, tail_len);
    }
    /* release: publishes the entry; pairs with the acquire in has_entry. */
    hl_a64_store_release(&cell->turn, lap_start(at) + 1);
    return true;
}

bool hl_rx_ring_must_wake(struct hl_rx_ring *r)
{
    /* full: the entry is put before asleep is read; pairs with the fence in hl_rx_ring_sleep (litmus SB). */
    hl_fence_full();
    /* relaxed, then acquire: only one of several producers rings; nothing is read afterwards. */
    return hl_a32_load_relaxed(&r->asleep) != 0 && hl_a32_xchg_acquire(&r->asleep, 0) != 0;
}

static bool has_entry(struct hl_rx_ring *r)
{
    /* acquire: the entry is filled; pairs with the release in hl_rx_ring_put. */
    return hl_a64_load_acquire(&r->cells[r->tail % HL_RX_CELLS].turn) == lap_start(r->tail) + 1;
}

/* Frees the next cell for the next lap. */
static void leave_cell(struct hl_rx_ring *r, struct hl_rx_cell *cell)
{
    /* release: the bytes were read; pairs with the acquire in claim_cell. */
    hl_a64_store_release(&cell->turn, lap_start(r->tail) + HL_RX_CELLS);
    r->tail++;
}

bool hl_rx_ring_skip(struct hl_rx_ring *r, bool (*is_dead)(int rank))
{
    struct hl_rx_cell *cell = &r->cells[r->tail % HL_RX_CELLS];
    uint64_t turn = hl_a64_load_relaxed(&cell->turn); /* relaxed: a dead rank writes nothing any more. */
    if ((turn & CLAIMED) == 0 || !is_dead((int)(uint32_t)turn)) {
        return false;
    }
    leave_cell(r, cell);
    return true;
}

bool hl_rx_ring_take(struct hl_rx_ring *r, int *from, void *out, uint32_t *len)
{
    if (!has_entry(r)) {
        return false;
    }
    struct hl_rx_cell *cell = &r->cells[r->tail % HL_RX_CELLS];
    *from = (int)cell->from;
    *len = (uint32_t)hl_min_size(HL_ONCE(cell->len), HL_WIRE_NEAR_MAX);
    memcpy(out, cell->bytes, *len);
    leave_cell(r, cell);
    return true;
}

bool hl_rx_ring_sleep(struct hl_rx_ring *r)
{
    hl_a32_store_relaxed(&r->asleep, 1); /* relaxed: the fence orders it. */
    /* full: asleep is set before the ring is read; pairs with the fence in hl_rx_ring_must_wake. */
    hl_fence_full();
    if (has_entry(r)) {
        hl_rx_ring_awake(r);
        return false;
    }
    return true;
}

void hl_rx_ring_awake(struct hl_rx_ring *r)
{
    hl_a32_store_relaxed(&r->asleep, 0); /* relaxed: at worst a producer rings once without need. */
}
