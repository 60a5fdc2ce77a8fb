/* The ring of records from node peers. */
#include "ring.h"

#include "util.h"

#include <string.h>

#define PUBLISH 16u /* slots that are freed at once: fewer looks of producers at the consumer's line */

enum hl_rx_put hl_rx_ring_put(struct hl_rx_ring *r, struct hl_rx_ring *mine, int from, const void *head,
                              uint32_t head_len, const void *tail, uint32_t tail_len)
{
    uint64_t claimed;
    if (HL_UNLIKELY(hl_mpsc_my_place == 0)) {
        hl_mpsc_enrol();
    }
    if (!hl_mpsc_claim(&r->q, mine->places, HL_RX_SLOTS, &claimed)) {
        return HL_RX_PUT_FULL;
    }
    struct hl_rx_slot *slot = &r->slots[(claimed >> 1) % HL_RX_SLOTS];
    hl_handover_take(&slot->stamp);
    slot->from = (uint32_t)from;
    slot->len = head_len + tail_len;
    memcpy(slot->bytes, head, head_len);
    if (tail_len > 0) {
        memcpy(slot->bytes + head_len, tail, tail_len);
    }
    return hl_mpsc_stamp(&slot->stamp, claimed) ? HL_RX_PUT_WAKE : HL_RX_PUT_DONE;
}

/* Frees the next slot. */
static void leave_rx_slot(struct hl_rx_ring *r)
{
    if (++r->next % PUBLISH == 0) {
        hl_mpsc_publish(&r->q, r->next);
    }
}

bool hl_rx_ring_skip(struct hl_rx_ring *r, const struct hl_mpsc_node *node)
{
    if (!hl_mpsc_is_hole(&r->q, &r->slots[r->next % HL_RX_SLOTS].stamp, r->next, node)) {
        return false;
    }
    leave_rx_slot(r);
    return true;
}

bool hl_rx_ring_take(struct hl_rx_ring *r, int *from, void *out, uint32_t *len)
{
    const struct hl_rx_slot *slot = &r->slots[r->next % HL_RX_SLOTS];
    if (!hl_mpsc_is_there(&slot->stamp, r->next)) {
        return false;
    }
    *from = (int)slot->from;
    *len = (uint32_t)hl_min_size(HL_ONCE(slot->len), HL_WIRE_NEAR_MAX);
    memcpy(out, slot->bytes, *len);
    leave_rx_slot(r);
    return true;
}

enum hl_rx_sleep hl_rx_ring_sleep(struct hl_rx_ring *r)
{
    const hl_a64 *stamp = &r->slots[r->next % HL_RX_SLOTS].stamp;
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
