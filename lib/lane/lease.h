/* A lease: the thread that holds it owns a lane for one operation. One read-modify-write to enter, one store
 * to leave.
 *
 *   held   1 while somebody owns the lane
 *   wanted 0, or the id of the one thread that waits for this lane: nobody else may enter meanwhile; or
 *          HL_LEASE_OWNED: the lane belongs to one owner (own.c); only the owner enters, and threads that
 *          read its queue or flush
 *
 * A thread that found all lanes taken in two scans puts its id into `wanted` of one and tries only that.
 * Others look at `wanted` before they try, so each of them overtakes the waiter at most once, namely when it
 * looked just before the id was stored. Nobody waits while holding a lease. */
#ifndef HL_LANE_LEASE_H
#define HL_LANE_LEASE_H

#include "atomic.h"
#include "attr.h"

#include <stdbool.h>
#include <stdint.h>

/* Both words are on one cache line: reading `wanted` costs nothing when the exchange of `held` follows. */
struct HL_CAPABILITY("lease") hl_lease {
    HL_ALIGNED_LINE hl_a32 held;
    hl_a32 wanted;
};

/* No thread has this id: ids are positive as signed numbers. */
#define HL_LEASE_OWNED UINT32_C(0x80000000)

/* The value of both words, read as one, of a lease that is owned and free. */
#define HL_LEASE_OWNED_FREE                                                                                  \
    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? (uint64_t)HL_LEASE_OWNED << 32 : (uint64_t)HL_LEASE_OWNED)

/* Enters if the lease is free and nobody waits for it or owns it. */
HL_INLINE bool hl_lease_try(struct hl_lease *l) HL_TRY_ACQUIRE(true, l) HL_NO_TSA
{
    /* relaxed: reads both words at once as a guess; a thread that misses `wanted` overtakes once. */
    /* acquire: sees what the last holder did; pairs with the release in hl_lease_leave. */
    return hl_a64_load_relaxed((const hl_a64 *)(const void *)l) == 0 && hl_a32_xchg_acquire(&l->held, 1) == 0;
}

/* Enters a lease that is owned and free; only its owner calls this. False also when it is not owned. */
HL_INLINE bool hl_lease_try_owned(struct hl_lease *l) HL_TRY_ACQUIRE(true, l) HL_NO_TSA
{
    /* relaxed: a guess. acquire: sees what the last holder did; pairs with the release in hl_lease_leave. */
    return hl_a64_load_relaxed((const hl_a64 *)(const void *)l) == HL_LEASE_OWNED_FREE &&
           hl_a32_xchg_acquire(&l->held, 1) == 0;
}

/* Enters a free lease that is owned, or that nobody waits for: for threads that read the queue, flush, or
 * have to issue on this very lane: its owner, and operations that keep an order. */
HL_INLINE bool hl_lease_try_any(struct hl_lease *l) HL_TRY_ACQUIRE(true, l) HL_NO_TSA
{
    /* relaxed: a guess. acquire: sees what the last holder did; pairs with the release in hl_lease_leave. */
    uint64_t both = hl_a64_load_relaxed((const hl_a64 *)(const void *)l);
    return (both & ~HL_LEASE_OWNED_FREE) == 0 && hl_a32_xchg_acquire(&l->held, 1) == 0;
}

HL_INLINE bool hl_lease_is_owned(const struct hl_lease *l)
{
    return hl_a32_load_relaxed(&l->wanted) == HL_LEASE_OWNED; /* relaxed: asked under the lease. */
}

/* Puts my id (not 0) into `wanted`. False: another thread waits there. */
HL_INLINE bool hl_lease_want(struct hl_lease *l, uint32_t me)
{
    /* relaxed: a look before the exchange, which leaves the cache line with its holder. */
    uint32_t nobody = hl_a32_load_relaxed(&l->wanted);
    /* acquire: nothing is published; a thread in hl_lease_try sees the id, or looked before it. */
    return nobody == 0 && hl_a32_cas_acquire(&l->wanted, &nobody, me);
}

/* Enters for the thread whose id is in `wanted`; once inside, it calls hl_lease_unwant. */
HL_INLINE bool hl_lease_try_wanted(struct hl_lease *l) HL_TRY_ACQUIRE(true, l) HL_NO_TSA
{
    /* relaxed: a guess. acquire: sees what the last holder did; pairs with the release in hl_lease_leave. */
    return hl_a32_load_relaxed(&l->held) == 0 && hl_a32_xchg_acquire(&l->held, 1) == 0;
}

HL_INLINE void hl_lease_unwant(struct hl_lease *l)
{
    /* relaxed: the lease itself orders what it guards. */
    hl_a32_store_relaxed(&l->wanted, 0);
}

/* Leaves. True: a thread waits for this lane and may sleep, so the caller has to call hl_prog_wake. */
HL_INLINE bool hl_lease_leave(struct hl_lease *l) HL_RELEASE(l) HL_NO_TSA
{
    /* release: publishes what the holder did; pairs with the acquire in hl_lease_try. */
    hl_a32_store_release(&l->held, 0);
    /* relaxed: a waiter that stores its id later tries the lease itself before it sleeps. */
    return HL_UNLIKELY((int32_t)hl_a32_load_relaxed(&l->wanted) > 0);
}

#endif
