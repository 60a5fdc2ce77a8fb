/*
 * Ghost zones of other ranks through one window: put or get, flush, signal, wait.
 *
 * The window of each rank holds slots[parity 2][patch][direction 8 or 26], then flags
 * uint64[parity][patch][direction]; the parity of step s is s & 1.
 *
 *   put: the owner of the zones writes its block into the reader's slot, flushes the reader, writes flag =
 * step + 1 into the reader's flag; the reader waits for that value. get: the owner packs into its own slot
 * and writes READY = step + 1 into the reader's flag; the reader waits for it, gets the slot, flushes,
 * unpacks. Its own READY of the next step says that it has done so, and the owner sees that before it packs
 * into the same parity again.
 *
 * With --signal notify or put_signal the flag of put travels with its block, and no flush stands between.
 *
 * Slots and flags are numbered by the reader in put and flags by the reader in get; a slot of get is the
 * owner's. A thread issues all its sends of a step before it waits, so no number of threads can deadlock. Two
 * parities suffice because neighbours exchange symmetrically: a neighbour two steps ahead would need a flag
 * that is not yet sent.
 */
#ifndef STENCIL_EXCHANGE_H
#define STENCIL_EXCHANGE_H

#include "grid.h"
#include "phase.h"
#include "wire.h"

struct exchange {
    const struct grid *grid;
    const struct options *options;
    double *base;  /* this rank's window */
    double *stage; /* [patch][direction] blocks on their way out (put) or in (get), not in the window */
    long offset[MOST_DIR]; /* of a direction's block among the doubles of a patch */
    long slots;            /* doubles of all blocks of a patch */
};

/* What waits for the next drain: a flag to write, or a patch whose blocks are on their way in. */
struct pending {
    int rank;
    long flag; /* place in that rank's window */
};

/* A flush that was begun, and how many of the flags may be written when it has ended. */
struct lap {
    void *begun;
    int flags;
};

/* A thread's part of the exchange. */
struct courier {
    struct exchange *x;
    struct sheet *sheet;
    uint64_t value;     /* of this step's flags */
    int step, patches;  /* patches since the last drain */
    int npending, room; /* flags to write */
    struct pending *pending;
    uint64_t *old;            /* what fetch_op returns, one for each pending flag */
    int ntargets, *targets;   /* ranks written to or read from since the last drain */
    int narrivals, *arrivals; /* patches whose gets are under way */
    /* Of --flush nonblocking: flushes that were begun in this step, the oldest that has not ended, and how
     * many of the flags are written. */
    int nlaps, oldest, written;
    struct lap *laps;
};

/* Opens the window; collective. 0, or -1 without memory. */
int exchange_open(struct exchange *x, const struct grid *g, const struct options *o);
void exchange_close(struct exchange *x);

/* A courier for the calling thread; 0, or -1 without memory. */
int courier_make(struct courier *c, struct exchange *x, struct sheet *sheet);
void courier_free(struct courier *c);

/* Starts a step. */
void courier_begin(struct courier *c, int step);

/* Sends what the other ranks need of patch p; flushes and signals as the options say. */
void courier_send(struct courier *c, int p);

/* Writes the flags of sends that have ended meanwhile (--flush nonblocking). */
void courier_poll(struct courier *c);

/* Flushes and signals what is left of the thread's sends. */
void courier_finish_sends(struct courier *c);

/* put: waits for the ghost zones of patch p from other ranks and unpacks them. */
void courier_receive(struct courier *c, int p);

/* get: waits for READY and fetches the ghost zones of patch p; they are there after courier_finish_gets. */
void courier_fetch(struct courier *c, int p);
void courier_finish_gets(struct courier *c);

#endif
