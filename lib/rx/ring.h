/* A ring of 64 records with many producers in several processes and one consumer, in shared memory.
 *
 *   cell i, lap L (position p = 64 L + i), word `turn`, all zero at birth:
 *     64 L      free for the producer of position p
 *     claimed by rank R, who fills it
 *     64 L + 1  filled, for the consumer
 *     64 L + 64 free again, for the next lap
 *
 * A producer claims the cell of position `head`, moves `head` on unless another producer has, fills the cell
 * and sets turn. A claim names the producer's rank, so that the consumer can pass over claims of dead ranks.
 * Only the consumer moves `tail`. When a producer finds the consumer asleep, its caller rings the bell. */
#ifndef HL_RX_RING_H
#define HL_RX_RING_H

#include "atomic.h"
#include "wire.h"

#include <stdbool.h>
#include <stdint.h>

#define HL_RX_CELLS 64u

struct hl_rx_cell {
    hl_a64 turn;   /* atomic: the state of the cell */
    uint32_t from; /* world rank of the producer; guarded by turn, as the fields below */
    uint32_t len;
    uint8_t bytes[HL_WIRE_NEAR_MAX];
};

/* Zeroed memory is an empty ring whose consumer is awake. */
struct hl_rx_ring {
    HL_ALIGNED_LINE hl_a64 head;   /* atomic: next position to fill; written by producers */
    HL_ALIGNED_LINE hl_a32 asleep; /* atomic: set by the consumer, cleared by whoever wakes it */
    uint64_t tail;                 /* the consumer's: next position to empty */
    HL_ALIGNED_LINE struct hl_rx_cell cells[HL_RX_CELLS];
};

/* Puts two pieces, together at most HL_WIRE_NEAR_MAX bytes, as one entry. Returns false when the ring is
 * full. Any thread of any process. */
bool hl_rx_ring_put(struct hl_rx_ring *r, int from, const void *head, uint32_t head_len, const void *tail,
                    uint32_t tail_len);

/* After a put: true when the caller must ring the consumer's bell. */
bool hl_rx_ring_must_wake(struct hl_rx_ring *r);

/* Copies the next entry to out (room for HL_WIRE_NEAR_MAX bytes; it never writes more, whatever is in the
 * cell) and frees its cell. Returns false when the ring is empty. The consumer only. */
bool hl_rx_ring_take(struct hl_rx_ring *r, int *from, void *out, uint32_t *len);

/* Passes over the next cell if a dead rank has claimed it and not filled it; false: it has not. The consumer
 * only. */
bool hl_rx_ring_skip(struct hl_rx_ring *r, bool (*is_dead)(int rank));

/* Says that the consumer is about to sleep. Returns false when there is an entry: it must stay awake then. */
bool hl_rx_ring_sleep(struct hl_rx_ring *r);

/* Says that the consumer is awake again. */
void hl_rx_ring_awake(struct hl_rx_ring *r);

#endif
