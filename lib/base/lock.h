/* Locks: a try-lock of one byte in a word for leases, and the mutex of cold paths, both known to clang's
 * analysis. */
#ifndef HL_LOCK_H
#define HL_LOCK_H

#include "atomic.h"

#include <pthread.h>

/* A mutex for cold paths. Initialise with HL_MUTEX_INIT. */
struct HL_CAPABILITY("mutex") hl_mutex {
    pthread_mutex_t m;
};
#define HL_MUTEX_MOST 48 /* bytes of it on the machine where it is largest: aarch64 (40 on x86-64) */
#define HL_MUTEX_INIT                                                                                        \
    {                                                                                                        \
        PTHREAD_MUTEX_INITIALIZER                                                                            \
    }

HL_INLINE void hl_mutex_lock(struct hl_mutex *l) HL_ACQUIRE(l) HL_NO_TSA
{
    pthread_mutex_lock(&l->m);
}

HL_INLINE bool hl_mutex_try(struct hl_mutex *l) HL_TRY_ACQUIRE(true, l) HL_NO_TSA
{
    return pthread_mutex_trylock(&l->m) == 0;
}

HL_INLINE void hl_mutex_unlock(struct hl_mutex *l) HL_RELEASE(l) HL_NO_TSA
{
    pthread_mutex_unlock(&l->m);
}

_Static_assert(sizeof(struct hl_mutex) <= HL_MUTEX_MOST, "no machine has a larger one");

/* A test-and-set flag: the thread that sets it owns what it guards. The owner must not wait. */
struct HL_CAPABILITY("flag") hl_flag {
    hl_a32 held;
};

/* True when the caller owns the flag now. It is one load, and a read-modify-write only if the flag
 * looks free. */
HL_INLINE bool hl_flag_try(struct hl_flag *f) HL_TRY_ACQUIRE(true, f) HL_NO_TSA
{
    /* relaxed: only a guess whether the exchange is worth its cost. */
    /* acquire: all stores of the last owner are seen; pairs with the release in hl_flag_leave. */
    return hl_a32_load_relaxed(&f->held) == 0 && hl_a32_xchg_acquire(&f->held, 1) == 0;
}

HL_INLINE void hl_flag_leave(struct hl_flag *f) HL_RELEASE(f) HL_NO_TSA
{
    /* release: publishes the owner's stores; pairs with the acquire in hl_flag_try. */
    hl_a32_store_release(&f->held, 0);
}

#endif
