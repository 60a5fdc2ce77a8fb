/* A deterministic scheduler of interleavings for builds with -Datomics=scheduled: of the threads under it
 * exactly one runs, and at every atomic access a generator chooses who goes on: by a seed, or every choice
 * in turn. The same seed, or the same choices, give the same interleaving. The threads are contexts of the
 * caller with thread-local variables of their own. Not reentrant. */
#ifndef HL_INTERLEAVE_H
#define HL_INTERLEAVE_H

#include <stdbool.h>
#include <stdint.h>

/* Runs fn(arg, 0) .. fn(arg, threads-1) as `threads` threads under one interleaving chosen by `seed`; returns
 * when all have returned. Returns 0, or HL_ERR_NO_MEM when threads cannot be made. */
int hl_interleave_run(uint64_t seed, int threads, void (*fn)(void *arg, int thread), void *arg);

#define HL_INTERLEAVE_CHOICES 4096

/* A walk over all interleavings with at most `switches` places where a thread that could go on does not. At
 * a pause (hl_pause) and at a thread's end another thread goes on, which costs nothing. The caller sets
 * `switches` and leaves the rest zero. */
struct hl_interleave_walk {
    int switches;
    int depth;                               /* choices that were made in the run */
    int left;                                /* switches left in the run */
    unsigned char at[HL_INTERLEAVE_CHOICES]; /* which one */
    unsigned char of[HL_INTERLEAVE_CHOICES]; /* of how many */
};

/* Runs the next interleaving as above. *more: there is another one. Returns 0, HL_ERR_NO_MEM, or HL_ERR_OTHER
 * when a run makes more choices than fit (the walk is cut off there then, and not complete). */
int hl_interleave_next(struct hl_interleave_walk *walk, int threads, void (*fn)(void *arg, int thread),
                       void *arg, bool *more);

#endif
