/* Which messages a window's process and each of its peers still owe each other between post, start, complete
 * and wait.
 *
 * Both ends number the epochs of a pair from 1, so a message names its epoch by the number alone. A message
 * that comes before this end has called its part is kept as a number.
 *
 *   ACCESS    mine = my starts to the peer       theirs = the highest post of the peer that arrived
 *   EXPOSURE  mine = my posts to the peer        theirs = the highest complete of the peer that arrived
 *
 * An epoch of one side is open from hl_pairs_begin to hl_pairs_end; `missing` counts the members whose
 * message has not come. Any thread may call all functions; none of them waits. */
#ifndef HL_PAIRS_H
#define HL_PAIRS_H

#include "atomic.h"
#include "attr.h"
#include "lock.h"

#include <stdbool.h>
#include <stdint.h>

enum hl_side { HL_ACCESS, HL_EXPOSURE, HL_SIDES };

struct hl_pair {
    int peer; /* world rank + 1; 0: an empty place */
    struct {
        uint64_t mine, theirs;
        bool wanted; /* counted in `missing` */
        bool failed; /* the message `theirs` said that its sender gave up */
    } side[HL_SIDES];
};

struct hl_pairs {
    struct hl_mutex mutex;
    struct hl_pair *rows; /* open addressing, never deleted from; guarded by mutex */
    uint32_t mask, used;
    struct {
        hl_a32 missing;  /* atomic: changed under mutex, read by waiting threads */
        bool open;       /* guarded by mutex */
        int n, *members; /* world ranks; changed under mutex; the epoch's own calls read them without it */
    } side[HL_SIDES];
    hl_a64 seen[]; /* the words of the control block (win.h) as last taken in; atomic, changed by the waiting
                    * thread */
};

/* For a window on a node of `node_size` ranks; *made is the caller's, freed by hl_pairs_free.
 * HL_ERR_NO_MEM. */
int hl_pairs_make(int node_size, struct hl_pairs **made);
void hl_pairs_free(struct hl_pairs *p); /* p may be NULL */

/* Opens an epoch with `n` members (world ranks). On success p takes over the array, which is from malloc.
 * `wait`: hl_pairs_ready becomes true only after a message of each. HL_ERR_RMA_SYNC when an epoch of this
 * side is open already, HL_ERR_NO_MEM. */
int hl_pairs_begin(struct hl_pairs *p, enum hl_side side, int *members, int n, bool wait);

/* The number of my newest epoch with `peer`, which must be or have been a member. */
uint64_t hl_pairs_number(struct hl_pairs *p, enum hl_side side, int peer);

/* Takes in a message with this number; `failed`: its sender gave up. Returns 1 when it was the last one that
 * an epoch waited for, else 0 or HL_ERR_NO_MEM. */
int hl_pairs_arrive(struct hl_pairs *p, enum hl_side side, int peer, uint64_t number, bool failed);

/* Has every message of the open epoch come? */
HL_INLINE bool hl_pairs_ready(const struct hl_pairs *p, enum hl_side side)
{
    /* acquire: what the members did before they sent; pairs with the full subtraction in hl_pairs_arrive. */
    return hl_a32_load_acquire(&p->side[side].missing) == 0;
}

/* Is the message of this member of the open epoch still to come? */
bool hl_pairs_is_missing(struct hl_pairs *p, enum hl_side side, int peer);

/* Closes the epoch: *failed is a member (world rank) that gave up, or -1. HL_ERR_RMA_SYNC when none is
 * open. */
int hl_pairs_end(struct hl_pairs *p, enum hl_side side, int *failed);

bool hl_pairs_is_open(struct hl_pairs *p, enum hl_side side);

#endif
