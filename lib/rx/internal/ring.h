/* The ring of records from node peers to a receive thread (mpsc.h): 64 slots in shared memory. */
#ifndef HL_RX_RING_H
#define HL_RX_RING_H

#include "mpsc.h"
#include "wire.h"

#include <stdbool.h>
#include <stdint.h>

#define HL_RX_SLOTS 64u

struct hl_rx_slot {
    hl_a64 stamp;  /* atomic: ticket + 1 when the slot holds that ticket's record */
    uint32_t from; /* world rank of the producer; guarded by the stamp, as the fields below */
    uint32_t len;
    uint8_t bytes[HL_WIRE_NEAR_MAX];
};

/* One rank's ring, and the places from which its threads put into all others. Zeroed memory is an empty ring
 * whose consumer is awake. */
struct hl_rx_ring {
    struct hl_mpsc q;
    HL_ALIGNED_LINE uint64_t next; /* the consumer's: next ticket to read */
    HL_ALIGNED_LINE struct hl_rx_slot slots[HL_RX_SLOTS];
    struct hl_mpsc_place places[HL_MPSC_PLACES];
};

enum hl_rx_put {
    HL_RX_PUT_FULL, /* nothing was put */
    HL_RX_PUT_DONE,
    HL_RX_PUT_WAKE, /* the caller must ring the consumer's bell */
};

/* Puts two pieces, together at most HL_WIRE_NEAR_MAX bytes, as one entry. `mine`: the ring of the caller's
 * rank. Any thread of any process. */
enum hl_rx_put hl_rx_ring_put(struct hl_rx_ring *r, struct hl_rx_ring *mine, int from, const void *head,
                              uint32_t head_len, const void *tail, uint32_t tail_len);

/* Copies the next entry to out (room for HL_WIRE_NEAR_MAX bytes; it never writes more, whatever is in the
 * slot) and frees its slot. Returns false when the ring is empty. The consumer only. */
bool hl_rx_ring_take(struct hl_rx_ring *r, int *from, void *out, uint32_t *len);

/* Passes over the next slot if a dead rank has claimed it and not filled it; false: it has not. The consumer
 * only. */
bool hl_rx_ring_skip(struct hl_rx_ring *r, const struct hl_mpsc_node *node);

enum hl_rx_sleep {
    HL_RX_SLEEP_NOT,   /* there is an entry */
    HL_RX_SLEEP_BRIEF, /* an entry is about to come, whose producer perhaps does not ring */
    HL_RX_SLEEP_LONG,  /* the next producer rings the bell */
};

/* Says that the consumer is about to sleep, and how it may. */
enum hl_rx_sleep hl_rx_ring_sleep(struct hl_rx_ring *r);

/* Says that the consumer is awake again. */
HL_INLINE void hl_rx_ring_awake(struct hl_rx_ring *r)
{
    hl_mpsc_disarm(&r->q);
}

#endif
