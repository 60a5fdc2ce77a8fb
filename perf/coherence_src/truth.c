/* Calls of which it is known how many lines they have brought. */
#include "coherence.h"

#include "lock.h"

#include <stdlib.h>
#include <string.h>

static struct {
    HL_ALIGNED_LINE hl_a64 word;
    HL_ALIGNED_LINE struct hl_mutex lock;
    HL_ALIGNED_LINE uint64_t counter; /* under the lock */
} shared = {.lock = HL_MUTEX_INIT};

static struct own {
    HL_ALIGNED_LINE hl_a64 word;
} * own;

static void make_own(int threads)
{
    own = aligned_alloc(HL_CACHELINE, (size_t)threads * sizeof *own);
    memset(own, 0, (size_t)threads * sizeof *own);
}

static void add_own(int thread)
{
    hl_a64_add_full(&own[thread].word, 1);
}

/* relaxed: nothing is ordered by a counter; on x86 it costs as much as full order. */
static void add_shared(int thread)
{
    (void)thread;
    hl_a64_add_relaxed(&shared.word, 1);
}

/* The lock's line for the lock, the counter's for reading it, and again for changing it. */
static void count_locked(int thread)
{
    (void)thread;
    hl_mutex_lock(&shared.lock);
    shared.counter++;
    hl_mutex_unlock(&shared.lock);
}

const struct coherence_call coherence_truth[] = {{"add_own", 1, make_own, add_own, NULL},
                                                 {"add_shared", 1, NULL, add_shared, NULL},
                                                 {"count_locked", 1, NULL, count_locked, NULL},
                                                 {NULL, 0, NULL, NULL, NULL}};
