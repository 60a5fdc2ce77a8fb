/* Messages that come before their turn. FI_ORDER_SAS orders how a provider matches sends with receives,
 * not when receives complete: a message of several packets, or one with a hand-shake, completes after a
 * later short one. All messages of a stream have numbers, so an early message is kept, as a copy, until
 * those before it have come.
 *
 * Messages stay below the limit above which a provider makes a hand-shake, where it is known. The window is
 * needed all the same: efa and psm3 cut messages far below that limit into packets, each of several rails has
 * an order of its own, and a known limit is that of one version of the provider.
 *
 * A gap may also be a loss. A probe is a message that tells a number beyond the gap: a COUNT, or a lane's
 * ping (a message without records). It may be early like any other message, so a gap is a loss after two
 * probes of it, HL_RX_WINDOW_NS apart. Time alone says nothing: a message leaves only while its sender calls
 * its provider, and a sender that probes does call it.
 *
 * Providers whose receives complete in order (hl_fab.ordered) need no window: there a gap is a loss at once.
 * No locks: a window belongs to the owner of its streams. */
#ifndef HL_RX_WINDOW_H
#define HL_RX_WINDOW_H

#include "attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HL_RX_WINDOW_NS UINT64_C(1000000000)

/* A message that waits for its turn. */
struct hl_rx_parked {
    struct hl_rx_parked *next; /* a later one of the same stream */
    uint64_t seq;
    size_t len;
    _Alignas(8) uint8_t bytes[];
};

/* A gap in a stream, and the messages behind it. */
struct hl_rx_gap {
    struct hl_rx_gap *next;
    uint64_t stream;
    uint64_t probed_ns, probed; /* time of its first probe, 0: none; the last number before the gap then */
    struct hl_rx_parked *first, *last;
};

/* All zero: empty. A stream has a gap here while messages wait or a probe has shown one. */
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

/* What is to be done with a numbered message. */
enum hl_rx_turn {
    HL_RX_NEXT, /* it is to be handled now */
    HL_RX_OLD,  /* it is to be dropped: its number was handled before */
    HL_RX_DONE, /* nothing: it has been handled, or waits in the window */
    HL_RX_GAP   /* receives complete in order, and those before it have not come: they are lost */
};

/* Judges message number `seq` of a stream of which all up to `heard` have been handled. */
enum hl_rx_turn hl_rx_window_turn(struct hl_rx_window *w, uint64_t stream, uint64_t heard, uint64_t seq,
                                  const void *bytes, size_t len);

/* Ends the job, with a line, when `missing` messages of a rank are lost that nobody sends again: true. False:
 * none is, or the rank is dead and they are not needed. */
bool hl_rx_window_loss(uint64_t stream, uint64_t missing, bool dead);

/* Keeps a copy of a message that is not the next one; if one of its number waits already, it is dropped.
 * Without memory it is dropped with a line in the log, and counts as lost later. */
void hl_rx_window_park(struct hl_rx_window *w, uint64_t stream, uint64_t seq, const void *bytes, size_t len);

/* Returns the waiting message of that number, which the caller frees, or NULL: it has not come. Waiting
 * messages with lower numbers are dropped. */
struct hl_rx_parked *hl_rx_window_take(struct hl_rx_window *w, uint64_t stream, uint64_t seq);

/* The first waiting message, which stays the window's; NULL: none waits. */
const struct hl_rx_parked *hl_rx_window_first(const struct hl_rx_window *w, uint64_t stream);

/* A probe says that all messages up to `number` were sent; all up to `heard` have come in order. Returns true
 * when messages between the two are lost: at once where receives complete in order. */
bool hl_rx_window_probe(struct hl_rx_window *w, uint64_t stream, uint64_t heard, uint64_t number,
                        uint64_t now_ns);

/* Drops all waiting messages. */
void hl_rx_window_free(struct hl_rx_window *w);

#endif
