/* A deterministic scheduler of interleavings, for builds with -Datomics=scheduled. Exactly one of its threads
 * runs, and at every atomic access the scheduler chooses which one goes on: by a seed, or by all choices in
 * turn. The same seed, or the same choices, give the same interleaving. Its threads are contexts within the
 * calling thread, with their own thread-local variables. It is not reentrant. */
#ifndef HL_INTERLEAVE_H
#define HL_INTERLEAVE_H

#include <stdbool.h>
#include <stdint.h>

/* Runs fn(arg, 0) .. fn(arg, threads-1) as `threads` threads under one interleaving chosen by `seed`; returns
 * when all have returned. Returns 0, or HL_ERR_NO_MEM when threads cannot be made. */
int hl_interleave_run(uint64_t seed, int threads, void (*fn)(void *arg, int thread), void *arg);

#define HL_INTERLEAVE_CHOICES 4096

/* A walk over all interleavings with at most `switches` switches, places where a thread that could go on does
 * not. Where a thread pauses (hl_pause) or ends, another one goes on, which counts as no switch. The caller
 * sets `switches` and leaves the rest zero. */
struct hl_interleave_walk {
    int switches;
    int depth;                               /* choices that were made in the run */
    int left;                                /* switches left in the run */
    unsigned char at[HL_INTERLEAVE_CHOICES]; /* for each choice: which one was made */
    unsigned char of[HL_INTERLEAVE_CHOICES]; /* for each choice: of how many */
};

/* Runs fn in `threads` threads under the walk's next interleaving. *more: there is another one. Returns 0,
 * HL_ERR_NO_MEM, or HL_ERR_OTHER when a run makes more choices than fit (the walk is not complete then). */
int hl_interleave_next(struct hl_interleave_walk *walk, int threads, void (*fn)(void *arg, int thread),
                       void *arg, bool *more);

#endif
