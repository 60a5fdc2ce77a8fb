/* Inside the module: messages that the receive endpoint sends. While a message travels, its buffer belongs to
 * the provider. A message that the provider does not take now waits in a list, in order for each destination;
 * the senders' credits bound the length of that list. All calls are for the receive thread. */
#ifndef HL_RX_SENDS_H
#define HL_RX_SENDS_H

#include "fab.h"

#include <stdbool.h>
#include <stdint.h>

/* The context of a completion that is no receive's points to this. */
struct hl_rx_op {
    struct fi_context2 context;
    enum { HL_RX_SENDS, HL_RX_READS } what;
};

struct hl_rx_outbound {
    struct hl_rx_op op;
    struct hl_rx_outbound *next;
    fi_addr_t to;
    int peer;          /* world rank */
    uint64_t since_ns; /* time of the first refusal, 0: none */
    uint32_t len;
    bool needs_end;              /* the provider has to tell how it ends: its loss would show nowhere else */
    _Alignas(8) uint8_t bytes[]; /* room for hl_fab.eager bytes */
};

/* Messages leave by this endpoint from now on. */
void hl_rx_sends_open(struct hl_fab_ep *ep);

/* Returns a buffer, which the caller posts or recycles; NULL: no memory. */
struct hl_rx_outbound *hl_rx_sends_new(void);
void hl_rx_sends_recycle(struct hl_rx_outbound *out);

/* Recycles a message that the provider had taken, or was to take, and that does not arrive. */
void hl_rx_sends_lose(struct hl_rx_outbound *out);

/* Posts a message at once. Returns 0, and the buffer belongs to the provider or was recycled; HL_ERR_AGAIN or
 * HL_ERR_OTHER without a text, and the buffer stays the caller's. */
int hl_rx_sends_post(struct hl_rx_outbound *out);

/* Takes the buffer over: posts the message, or keeps it behind those that wait already. It is lost when the
 * provider refuses it for good. */
void hl_rx_sends_send(struct hl_rx_outbound *out);

/* Tries the waiting messages once more; returns how many are done with. A destination that refuses does not
 * hold up the others. */
int hl_rx_sends_again(void);
bool hl_rx_sends_wait(void); /* true when messages wait */

/* Frees all buffers, after the endpoint is closed. */
void hl_rx_sends_close(void);

#endif
