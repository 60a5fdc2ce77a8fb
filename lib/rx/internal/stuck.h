/* Inside the module: destinations that took nothing in one pass over a list. Later messages to them wait,
 * too, so that each gets its messages in order; messages to others do not wait. */
#ifndef HL_RX_STUCK_H
#define HL_RX_STUCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: empty. One thread. The memory is kept from pass to pass; count = 0 begins a pass. */
struct hl_rx_stuck {
    uint64_t *at;
    size_t count, room;
};

/* True when the destination took nothing in this pass. */
bool hl_rx_stuck_has(const struct hl_rx_stuck *s, uint64_t to);

/* Notes a destination that took nothing. False: there is no memory to note it, and the pass must end. */
bool hl_rx_stuck_note(struct hl_rx_stuck *s, uint64_t to);

void hl_rx_stuck_free(struct hl_rx_stuck *s);

#endif
