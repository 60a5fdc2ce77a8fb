/* Inside the module: what the receive endpoint sends. A buffer is the provider's while it travels, or waits
 * in a list, in order for each destination, until the provider takes it; the buffers of that list are bounded
 * by the senders' credits. The receive thread's. */
#ifndef HL_RX_SENDS_H
#define HL_RX_SENDS_H

#include "fab.h"

#include <stdbool.h>
#include <stdint.h>

/* What a completion's context points to. */
struct hl_rx_op {
    struct fi_context2 context;
    enum { HL_RX_SENDS, HL_RX_RECEIVES, HL_RX_READS } what;
};

struct hl_rx_outbound {
    struct hl_rx_op op;
    struct hl_rx_outbound *next;
    fi_addr_t to;
    int peer;          /* world rank */
    uint64_t since_ns; /* first refusal, 0: none */
    uint32_t len;
    _Alignas(8) uint8_t bytes[]; /* hl_fab.eager */
};

/* Sends leave by this endpoint from now on. */
void hl_rx_sends_open(struct hl_fab_ep *ep);

/* A buffer, or NULL: no memory. And back. */
struct hl_rx_outbound *hl_rx_sends_new(void);
void hl_rx_sends_recycle(struct hl_rx_outbound *out);

/* Posts it: 0, HL_ERR_AGAIN, or another error. On 0 the buffer is the provider's, or recycled. */
int hl_rx_sends_post(struct hl_rx_outbound *out);

/* Posts it, or keeps it until it can be, in any case not before what is kept already. */
void hl_rx_sends_take(struct hl_rx_outbound *out);

/* Tries what is kept once more; returns how much has left. One destination that refuses does not hold up the
 * others. */
int hl_rx_sends_again(void);
bool hl_rx_sends_wait(void); /* is something kept? */

/* After the endpoint is closed: frees all. */
void hl_rx_sends_close(void);

#endif
