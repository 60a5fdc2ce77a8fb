/* The end of a stream of numbered messages. A lost message is found by the number of a later one, but
 * after the last message no later one comes. So a sender whose stream rests tells the receiver the
 * last number, again and again, until the receiver has said that this message came. A stream that
 * goes on costs nothing. */
#ifndef HL_RX_TAIL_H
#define HL_RX_TAIL_H

#include <stdbool.h>
#include <stdint.h>

/* State of one stream at its sender. All zero: nothing was sent. */
struct hl_rx_tail {
    uint64_t seen;       /* last number at the last look */
    uint64_t known;      /* the receiver has said that all up to this number came */
    uint8_t pause, left; /* looks between two tellings; looks until the next telling */
};

/* Called once for each look: true when the last number, `sent`, is to be told now. */
static inline bool hl_rx_tail_is_due(struct hl_rx_tail *t, uint64_t sent)
{
    if (t->seen != sent) {
        t->seen = sent;
        t->pause = t->left = 0;
        return false;
    }
    if (t->known == sent || t->left == 0) {
        return t->known != sent;
    }
    t->left--;
    return false;
}

/* The number was told. Without an answer it is told again after 1, 3, 7, 15, 15 ... looks. */
static inline void hl_rx_tail_told(struct hl_rx_tail *t)
{
    t->pause = t->pause < 15 ? (uint8_t)(2 * t->pause + 1) : t->pause;
    t->left = t->pause;
}

/* The receiver says that all up to `heard` came. A number that was never sent is ignored. */
static inline void hl_rx_tail_answered(struct hl_rx_tail *t, uint64_t sent, uint64_t heard)
{
    t->known = heard > t->known && heard <= sent ? heard : t->known;
}

#endif
