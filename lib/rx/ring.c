/* The ring of records from node peers. */
#include "ring.h"

#include "util.h"

#include <string.h>

#define PUBLISH 16u /* cells that are freed at once: fewer looks of producers at the consumer's line */

enum hl_rx_put hl_rx_ring_put(struct hl_rx_ring *r, struct hl_rx_ring *mine, int from, const void *head,
                              uint32_t head_len, const void *tail, uint32_t tail_len)
{
    uint64_t claimed;
    if (HL_UNLIKELY(hl_mpsc_my_place == 0)) {
        hl_mpsc_enrol();
    }
    if (!hl_mpsc_claim(&r->q, mine->places, HL_RX_CELLS, &claimed)) {
        return HL_RX_PUT_FULL;
    }
    struct hl_rx_cell *cell = &r->cells[(claimed >> 1) % HL_RX_CELLS];
    hl_handover_take(&cell->stamp);
    cell->from = (uint32_t)from;
    cell->len = head_len + tail_len;
    memcpy(cell->bytes, head, head_len);
    if (tail_len > 0) {
        memcpy(cell->bytes + head_len, tail, tail_len);
    }
    return hl_mpsc_stamp(&cell->stamp, claimed) ? HL_RX_PUT_WAKE : HL_RX_PUT_DONE;
}

/* Frees the next cell. */
static void leave_cell(struct hl_rx_ring *r)
{
    if (++r->next % PUBLISH == 0) {
        hl_mpsc_publish(&r->q, r->next);
    }
}

bool hl_rx_ring_skip(struct hl_rx_ring *r, const struct hl_mpsc_node *node)
{
    if (!hl_mpsc_is_hole(&r->q, &r->cells[r->next % HL_RX_CELLS].stamp, r->next, node)) {
        return false;
    }
    leave_cell(r);
    return true;
}

bool hl_rx_ring_take(struct hl_rx_ring *r, int *from, void *out, uint32_t *len)
{
    const struct hl_rx_cell *cell = &r->cells[r->next % HL_RX_CELLS];
    if (!hl_mpsc_is_there(&cell->stamp, r->next)) {
        return false;
    }
    *from = (int)cell->from;
    *len = (uint32_t)hl_min_size(HL_ONCE(cell->len), HL_WIRE_NEAR_MAX);
    memcpy(out, cell->bytes, *len);
    leave_cell(r);
    return true;
}

enum hl_rx_sleep hl_rx_ring_sleep(struct hl_rx_ring *r)
{
    const hl_a64 *stamp = &r->cells[r->next % HL_RX_CELLS].stamp;
    if (hl_mpsc_is_there(stamp, r->next)) {
        return HL_RX_SLEEP_NOT;
    }
    if (hl_mpsc_arm(&r->q) == r->next) {
        return HL_RX_SLEEP_LONG;
    }
    if (!hl_mpsc_is_there(stamp, r->next)) {
        return HL_RX_SLEEP_BRIEF;
    }
    hl_rx_ring_awake(r);
    return HL_RX_SLEEP_NOT;
}
