/* The short way of small puts and gets: one more record in the chain that is open already.
 *
 * It is inlined into the entry points. Every other case (no chain, another target, no room, the lease taken)
 * is left to hl_lane_write and hl_lane_read, nearly always before the read-modify-write of the lease. */
#ifndef HL_LANE_SHORT_H
#define HL_LANE_SHORT_H

#include "state.h"

#include <string.h>

/* Wakes the thread that waits for the lease which the caller has left. */
void hl_lane_short_wake(void) HL_COLD;

/* The thread's lane, with its lease held, if its chain got a record of this (window, target) last; else
 * NULL. */
HL_INLINE struct hl_lane *hl_lane_short_enter(uint64_t token) HL_NO_TSA
{
    uint32_t at = hl_lane_preferred;
    if (HL_UNLIKELY(at >= hl_pool_count(&hl_pool))) {
        return NULL;
    }
    struct hl_lane *lane = hl_pool.lanes[at];
    /* relaxed: a guess; certain under the lease. */
    bool likely = hl_a64_load_relaxed(&lane->takes) == token;
    return HL_LIKELY(likely) && HL_LIKELY(hl_lease_try(&lane->lease)) ? lane : NULL;
}

/* Enters the lane that the caller names, if its chain got a record of this (window, target) last; else
 * NULL. */
HL_INLINE struct hl_lane *hl_lane_short_enter_own(struct hl_lane *lane, uint64_t token) HL_NO_TSA
{
    /* relaxed: a guess; certain under the lease. */
    bool likely = hl_a64_load_relaxed(&lane->takes) == token;
    return HL_LIKELY(likely) && HL_LIKELY(hl_lease_try_any(&lane->lease)) ? lane : NULL;
}

/* Asked under the lease: does the lane's chain still take records of `token`, and has it `bytes` left? */
HL_INLINE bool hl_lane_short_fits(const struct hl_lane *lane, uint64_t token, size_t bytes) HL_NO_TSA
{
    /* relaxed: written by the leaseholder only. */
    return HL_LIKELY(hl_a64_load_relaxed(&lane->takes) == token) &&
           HL_LIKELY(bytes <= hl_chain_left(lane->chain));
}

/* Leaves the lease and returns `done`. When that is false, the caller goes on with a call that wakes, too. */
HL_INLINE bool hl_lane_short_leave(struct hl_lane *lane, bool done) HL_NO_TSA
{
    bool wanted = hl_lease_leave(&lane->lease);
    if (HL_UNLIKELY(wanted) && done) {
        hl_lane_short_wake();
    }
    return done;
}

/* Appends a record that wants nothing back, a put or an atomic, with rec.len bytes from buf. `lane` was
 * entered, or is NULL. False: nothing was appended. The lease is left. */
HL_INLINE bool hl_lane_short_put(struct hl_lane *lane, uint64_t token, struct hl_wire_short rec,
                                 const void *buf) HL_NO_TSA
{
    size_t len = rec.len, bytes = sizeof rec + HL_WIRE_PAD(len);
    if (HL_UNLIKELY(lane == NULL)) {
        return false;
    }
    bool fits = hl_lane_short_fits(lane, token, bytes);
    if (HL_LIKELY(fits)) {
        struct hl_chain *chain = lane->chain;
        uint8_t *at = chain->end;
        memcpy(at, &rec, sizeof rec);
        if (len % 8 != 0) {
            memset(at + bytes - 8, 0, 8); /* the padding */
        }
        memcpy(at + sizeof rec, buf, len);
        chain->end = at + bytes;
        chain->records++;
    }
    return hl_lane_short_leave(lane, fits);
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
    bool fits = hl_lane_short_fits(lane, token, sizeof(struct hl_wire_short) + answer) &&
                lane->chain->ask_count - 1 < HL_CHAIN_ASKS - 1;
    if (HL_LIKELY(fits)) {
        struct hl_chain *chain = lane->chain;
        struct hl_wire_short rec = {.op = HL_WIRE_GET, .len = (uint32_t)len, .addr = addr};
        chain->asks[chain->ask_count++] =
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
    struct hl_lane *lane = len <= hl_pool.chain ? hl_lane_short_enter(token) : NULL;
    struct hl_wire_short rec = {.op = HL_WIRE_PUT, .len = (uint32_t)len, .addr = addr};
    return hl_lane_short_put(lane, token, rec, buf);
}

/* Appends any record that wants nothing back, on the caller's own lane, or (NULL) on the thread's. False:
 * nothing was done. */
HL_INLINE bool hl_lane_record_short(struct hl_lane *own, uint64_t token, struct hl_wire_short rec,
                                    const void *buf)
{
    struct hl_lane *lane = rec.len > hl_pool.chain ? NULL
                           : own != NULL           ? hl_lane_short_enter_own(own, token)
                                                   : hl_lane_short_enter(token);
    return hl_lane_short_put(lane, token, rec, buf);
}

HL_INLINE bool hl_lane_get_short(uint64_t token, uint64_t addr, void *buf, size_t len)
{
    struct hl_lane *lane = len <= hl_pool.chain ? hl_lane_short_enter(token) : NULL;
    return hl_lane_short_get(lane, token, addr, buf, len);
}

/* The lane that operations must name after a fence, or NULL (hl_lane_bound_now). */
HL_INLINE struct hl_lane *hl_lane_bound(void)
{
    /* relaxed: a thread that is ordered after the fence sees what the fence stored. */
    return HL_LIKELY(hl_a64_load_relaxed(&hl_pool.bound) == 0) ? NULL : hl_lane_bound_now();
}

/* hl_lane_is_open, inlined; may be true a little earlier. */
HL_INLINE bool hl_lane_is_there(void)
{
    return hl_pool_count(&hl_pool) != 0;
}

/* The calling thread has just put 8 bytes: its next calls that differ only in the
 * displacement and the origin buffer may try hl_lane_put_again first. `last`: the put, without its lane. */
HL_INLINE void hl_lane_remember(struct hl_lane_memo last)
{
    if (HL_LIKELY(hl_lane_preferred < hl_pool_count(&hl_pool))) {
        last.lane = hl_pool.lanes[hl_lane_preferred];
        hl_lane_last = last;
    }
}

enum hl_lane_again { HL_AGAIN_DONE, HL_AGAIN_WAKE, HL_AGAIN_TAKEN, HL_AGAIN_HELD };

/* Puts 8 bytes at a displacement that is below hl_lane_last.limit, where the thread's last put went. All that
 * was checked for the last put still holds if the lane's chain takes such records: the token belongs to one
 * window only, and the end of an epoch sends all chains.
 *
 * Returns DONE; WAKE: done, and the caller must call hl_lane_short_wake; TAKEN: another thread holds the
 * lane; HELD: the caller holds the lease now, and the chain does not take this record. */
HL_INLINE enum hl_lane_again hl_lane_put_again(uint64_t disp, const void *buf) HL_NO_TSA
{
    struct hl_lane *lane = hl_lane_last.lane;
    if (HL_UNLIKELY(!hl_lease_try_now(&lane->lease))) {
        return HL_AGAIN_TAKEN;
    }
    struct hl_chain *chain = lane->chain;
    /* relaxed: written by the leaseholder only. */
    if (HL_UNLIKELY(hl_a64_load_relaxed(&lane->takes) != hl_lane_last.token || chain->end > chain->limit)) {
        return HL_AGAIN_HELD;
    }
    uint8_t *at = chain->end;
    struct hl_wire_short rec = {
        .op = HL_WIRE_PUT, .len = 8, .addr = hl_lane_last.addr + disp * hl_lane_last.unit};
    memcpy(at, &rec, sizeof rec);
    memcpy(at + sizeof rec, buf, 8);
    chain->end = at + sizeof rec + 8;
    chain->records++;
    return HL_LIKELY(!hl_lease_leave(&lane->lease)) ? HL_AGAIN_DONE : HL_AGAIN_WAKE;
}

#endif
