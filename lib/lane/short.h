/* The short way of small puts and gets: one more record in the chain that is open already.
 *
 * It is inlined into the entry points. Every other case (no chain, another target, no room, the lease taken)
 * is left to hl_lane_write and hl_lane_read, nearly always before the read-modify-write of the lease. */
#ifndef HL_LANE_SHORT_H
#define HL_LANE_SHORT_H

#include "short_state.h"

#include <string.h>

/* Wakes the thread that waits for the lease which the caller has left. */
void hl_lane_short_wake(void) HL_COLD;

/* Copies `len` bytes, the data of the record that the caller has just appended, pads them and leaves the
 * lease. Not inlined: with a call of memcpy inside, a put of 8 bytes would need a stack frame. */
HL_NOINLINE void hl_lane_short_fill(struct hl_lane *lane, uint8_t *at, const void *buf, size_t len) HL_NO_TSA;

/* May a put or get of `len` bytes, not 0, ride in a chain? What may is copied, so that its buffer is free at
 * once. */
HL_INLINE bool hl_lane_is_chained(size_t len)
{
    return len <= hl_pool_head(&hl_pool)->chain_max;
}

/* The thread's lane, with its lease held, if its chain got a record of this (window, target) last; else
 * NULL. */
HL_INLINE struct hl_lane *hl_lane_short_enter(uint64_t token) HL_NO_TSA
{
    uint32_t at = hl_lane_preferred;
    if (HL_UNLIKELY(at >= hl_pool_count(&hl_pool))) {
        return NULL;
    }
    struct hl_lane *lane = hl_pool_head(&hl_pool)->lanes[at];
    /* relaxed: a guess; certain under the lease. */
    bool likely = hl_a64_load_relaxed(&hl_lane_last(lane)->takes) == token;
    return HL_LIKELY(likely) && HL_LIKELY(hl_lease_try(hl_lane_lease(lane))) ? lane : NULL;
}

/* Enters the lane that the caller names, if its chain got a record of this (window, target) last; else
 * NULL. */
HL_INLINE struct hl_lane *hl_lane_short_enter_own(struct hl_lane *lane, uint64_t token) HL_NO_TSA
{
    /* relaxed: a guess; certain under the lease. */
    bool likely = hl_a64_load_relaxed(&hl_lane_last(lane)->takes) == token;
    return HL_LIKELY(likely) && HL_LIKELY(hl_lease_try_any(hl_lane_lease(lane))) ? lane : NULL;
}

/* The lease's holder asks: does the lane's chain still take records of `token`, and has it `bytes` left? */
HL_INLINE bool hl_lane_short_has_room(struct hl_lane *lane, uint64_t token, size_t bytes) HL_NO_TSA
{
    /* relaxed: written by the leaseholder only. */
    if (HL_UNLIKELY(hl_a64_load_relaxed(&hl_lane_last(lane)->takes) != token)) {
        return false;
    }
    /* A sum: a difference would need one register more. */
    const struct hl_chain_head *chain = hl_lane_last(lane)->chain;
    return HL_LIKELY((uintptr_t)chain->end + bytes <= (uintptr_t)chain->limit);
}

/* Leaves the lease and returns `done`. When that is false, the caller goes on with a call that wakes, too. */
HL_INLINE bool hl_lane_short_leave(struct hl_lane *lane, bool done) HL_NO_TSA
{
    bool wanted = hl_lease_leave(hl_lane_lease(lane));
    if (HL_UNLIKELY(wanted) && done) {
        hl_lane_short_wake();
    }
    return done;
}

/* Appends a record that wants nothing back, a put or an atomic, with `len` bytes from buf. `lane` was
 * entered, or is NULL, also where `len` may not be chained. rec.len is filled in here, since only a length
 * that may be chained is sure to fit its 32 bits. False: nothing was appended. The lease is left. */
HL_INLINE bool hl_lane_short_put(struct hl_lane *lane, uint64_t token, struct hl_wire_short rec,
                                 const void *buf, size_t len) HL_NO_TSA
{
    if (HL_UNLIKELY(lane == NULL)) {
        return false;
    }
    size_t bytes = sizeof rec + HL_WIRE_PAD(len);
    if (HL_UNLIKELY(!hl_lane_short_has_room(lane, token, bytes))) {
        return hl_lane_short_leave(lane, false);
    }
    struct hl_chain_head *chain = hl_lane_last(lane)->chain;
    uint8_t *at = chain->end;
    rec.len = (uint32_t)len;
    memcpy(at, &rec, sizeof rec);
    chain->end = at + bytes;
    chain->records++;
    if (HL_UNLIKELY(len != 8)) {
        hl_lane_short_fill(lane, at + sizeof rec, buf, len);
        return true;
    }
    memcpy(at + sizeof rec, buf, 8);
    return hl_lane_short_leave(lane, true);
}

/* Appends a get into `buf` and leaves the lease. Only a chain that has gets already is joined; the first get
 * has to pass more checks (hl_chain_append). False: nothing was appended. */
HL_INLINE bool hl_lane_short_get(struct hl_lane *lane, uint64_t token, uint64_t addr, void *buf,
                                 size_t len) HL_NO_TSA
{
    size_t answer = HL_WIRE_PAD(len);
    if (HL_UNLIKELY(lane == NULL)) {
        return false;
    }
    bool fits = hl_lane_short_has_room(lane, token, sizeof(struct hl_wire_short) + answer) &&
                hl_lane_last(lane)->chain->ask_count - 1 < HL_CHAIN_ASKS - 1;
    if (HL_LIKELY(fits)) {
        struct hl_chain_head *chain = hl_lane_last(lane)->chain;
        struct hl_wire_short rec = {.op = HL_WIRE_GET, .len = (uint32_t)len, .addr = addr};
        hl_chain_asks(chain)[chain->ask_count++] =
            (struct hl_ask){.reply = buf, .len = (uint32_t)len, .record = chain->records++};
        memcpy(chain->end, &rec, sizeof rec);
        chain->end += sizeof rec;
        chain->limit -= answer;
        if (HL_UNLIKELY(chain->opener != &hl_lane_preferred)) {
            chain->opener = NULL;
        }
    }
    return hl_lane_short_leave(lane, fits);
}

/* Puts `len` bytes at RMA address `addr` of the target that `token` names, whose memory has one key. True:
 * the put was copied, and `buf` is free. False: nothing was done, and the caller calls hl_lane_write. Any
 * thread, no lease held. */
HL_INLINE bool hl_lane_put_short(uint64_t token, uint64_t addr, const void *buf, size_t len)
{
    struct hl_lane *lane = hl_lane_is_chained(len) ? hl_lane_short_enter(token) : NULL;
    return hl_lane_short_put(lane, token, (struct hl_wire_short){.op = HL_WIRE_PUT, .addr = addr}, buf, len);
}

/* Appends any record that wants nothing back, of `len` bytes from `buf`, on the caller's own lane, or (NULL)
 * on the thread's. False: nothing was done. */
HL_INLINE bool hl_lane_record_short(struct hl_lane *own, uint64_t token, struct hl_wire_short rec,
                                    const void *buf, size_t len)
{
    struct hl_lane *lane = !hl_lane_is_chained(len) ? NULL
                           : own != NULL            ? hl_lane_short_enter_own(own, token)
                                                    : hl_lane_short_enter(token);
    return hl_lane_short_put(lane, token, rec, buf, len);
}

HL_INLINE bool hl_lane_get_short(uint64_t token, uint64_t addr, void *buf, size_t len)
{
    struct hl_lane *lane = hl_lane_is_chained(len) ? hl_lane_short_enter(token) : NULL;
    return hl_lane_short_get(lane, token, addr, buf, len);
}

/* The lane that operations must name after a fence, or NULL (hl_lane_bound_now). */
HL_INLINE struct hl_lane *hl_lane_bound(void)
{
    /* relaxed: a thread that is ordered after the fence sees what the fence stored. */
    return HL_LIKELY(hl_a64_load_relaxed(&hl_pool_head(&hl_pool)->bound) == 0) ? NULL : hl_lane_bound_now();
}

/* hl_lane_is_open, inlined; may be true a little earlier. */
HL_INLINE bool hl_lane_is_there(void)
{
    return hl_pool_count(&hl_pool) != 0;
}

#endif
