/* A deterministic scheduler of interleavings for builds with -Datomics=scheduled: of the threads under it
 * exactly one runs, and at every atomic access a seeded generator chooses who goes on. The same seed gives
 * the same interleaving. */
#ifndef HL_INTERLEAVE_H
#define HL_INTERLEAVE_H

#include <stdint.h>

/* Runs fn(arg, 0) .. fn(arg, threads-1) as `threads` threads under one interleaving chosen by `seed`; returns
 * when all have returned. Not reentrant. Returns 0, or HL_ERR_NO_MEM when threads cannot be made. */
int hl_interleave_run(uint64_t seed, int threads, void (*fn)(void *arg, int thread), void *arg);

#endif
