/* The end of a stream of numbered messages. A later number shows that one was lost before it; after the last
 * one nothing comes that could. So who has sent and rests tells the receiver the last number, behind it in
 * the stream, again and again until the receiver has said that it came. A stream that goes on pays nothing.
 */
#ifndef HL_RX_TAIL_H
#define HL_RX_TAIL_H

#include <stdbool.h>
#include <stdint.h>

/* Of one stream, at its sender. Zeroed: nothing was sent. */
struct hl_rx_tail {
    uint64_t seen;       /* last number at the last look */
    uint64_t known;      /* the receiver has said that all up to here came */
    uint8_t pause, left; /* looks between two tellings, and until the next one */
};

/* Once a look: shall the last number, `sent`, be told now? */
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

/* It was told: the next time after 1, 3, 7, 15, 15 ... looks without an answer. */
static inline void hl_rx_tail_told(struct hl_rx_tail *t)
{
    t->pause = t->pause < 15 ? (uint8_t)(2 * t->pause + 1) : t->pause;
    t->left = t->pause;
}

/* The receiver says what came. A number that was never sent is nobody's of ours. */
static inline void hl_rx_tail_answered(struct hl_rx_tail *t, uint64_t sent, uint64_t heard)
{
    t->known = heard > t->known && heard <= sent ? heard : t->known;
}

#endif
