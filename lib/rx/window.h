/* Messages that come before their turn. FI_ORDER_SAS orders how a provider matches sends with receives, not
 * when receives complete: one that travels by several packets, or by a hand-shake, completes after a later
 * short one. All messages of a stream have numbers, so what comes early is kept, as a copy, until those
 * before it have come.
 *
 * Messages stay below the limit from which a provider takes a hand-shake where that is known, and still this
 * is needed: efa and psm3 cut messages far below that limit into packets, several rails have an order each,
 * and who knows the limit of a provider knows it of one version.
 *
 * A gap may also be a loss. A probe is whatever says a number beyond it: a COUNT, or a lane's ping. It may
 * be early like any other message, so it takes two of them for the same gap, HL_RX_WINDOW_NS apart. Time
 * alone says nothing: the message may wait for its sender to call its provider, which who answers a probe
 * does.
 *
 * Not for providers whose receives complete in order (hl_fab.ordered): there a gap is a loss at once, and
 * nothing of this is looked at. No locks: a window belongs to the owner of the streams in it. */
#ifndef HL_RX_WINDOW_H
#define HL_RX_WINDOW_H

#include "attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HL_RX_WINDOW_NS UINT64_C(1000000000)

/* A message that waits for its turn. */
struct hl_rx_parked {
    struct hl_rx_parked *next; /* of the same stream, a later one */
    uint64_t seq;
    size_t len;
    _Alignas(8) uint8_t bytes[];
};

struct hl_rx_gap {
    struct hl_rx_gap *next;
    uint64_t stream;
    uint64_t probed_ns, probed; /* first probe of this gap, 0: none; the last number before it then */
    struct hl_rx_parked *first, *last;
};

/* Zeroed: empty. It has no gap for a stream without messages that wait or probes that wonder. */
struct hl_rx_window {
    struct hl_rx_gap *gaps;
};

/* A stream's name: its sender. */
HL_INLINE uint64_t hl_rx_window_stream(uint32_t rank, unsigned lane)
{
    return (uint64_t)rank << 16 | (lane & 0xffffu);
}

HL_INLINE int hl_rx_window_rank(const struct hl_rx_gap *gap)
{
    return (int)(gap->stream >> 16);
}

/* Copies a message that is not the next one; one whose number waits already is dropped. Without memory it is
 * dropped with a line, and will be missed. */
void hl_rx_window_park(struct hl_rx_window *w, uint64_t stream, uint64_t seq, const void *bytes, size_t len);

/* The message of that number, to be freed by the caller, or NULL: it has not come. Earlier ones go. */
struct hl_rx_parked *hl_rx_window_take(struct hl_rx_window *w, uint64_t stream, uint64_t seq);

/* The first one that waits; stays the window's. NULL: none does. */
const struct hl_rx_parked *hl_rx_window_first(const struct hl_rx_window *w, uint64_t stream);

/* A probe says that all up to `number` were sent; `heard` is the last one before the gap, if there is one.
 * True: what lies between is lost. */
bool hl_rx_window_probe(struct hl_rx_window *w, uint64_t stream, uint64_t heard, uint64_t number,
                        uint64_t now_ns);

/* Drops what waits of the stream. */
void hl_rx_window_forget(struct hl_rx_window *w, uint64_t stream);

/* Drops all. */
void hl_rx_window_free(struct hl_rx_window *w);

#endif
