/* Inside the module: destinations that took nothing in one pass over a list. What comes later for them waits
 * too, so that each gets its messages in order; nobody else does. */
#ifndef HL_RX_STUCK_H
#define HL_RX_STUCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One thread's; zeroed is empty. Its room is kept from pass to pass. */
struct hl_rx_stuck {
    uint64_t *at;
    size_t count, room;
};

bool hl_rx_stuck_has(const struct hl_rx_stuck *s, uint64_t to);

/* False: no memory to note it, and the pass must end. */
bool hl_rx_stuck_note(struct hl_rx_stuck *s, uint64_t to);

void hl_rx_stuck_free(struct hl_rx_stuck *s);

#endif
