/* The short way of small puts and gets: one more record in the chain that is open already.
 *
 * Inlined into the entry points. Whatever is not so (no chain, another target, no room, the lease taken) is
 * left to hl_lane_write and hl_lane_read, nearly always before the read-modify-write of the lease. */
#ifndef HL_LANE_SHORT_H
#define HL_LANE_SHORT_H

#include "state.h"

#include <string.h>

/* Somebody waits for the lease that was left. */
void hl_lane_short_wake(void) HL_COLD;

/* The thread's lane with its lease, when its chain got a record of this (window, target) last; else NULL. */
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

/* The same with a lane that the caller names. */
HL_INLINE struct hl_lane *hl_lane_short_enter_own(struct hl_lane *lane, uint64_t token) HL_NO_TSA
{
    /* relaxed: as above. */
    bool likely = hl_a64_load_relaxed(&lane->takes) == token;
    return HL_LIKELY(likely) && HL_LIKELY(hl_lease_try_any(&lane->lease)) ? lane : NULL;
}

/* Under the lease: it still does, and has room for `bytes` more. */
HL_INLINE bool hl_lane_short_fits(const struct hl_lane *lane, uint64_t token, size_t bytes) HL_NO_TSA
{
    /* relaxed: written by the leaseholder only. */
    return HL_LIKELY(hl_a64_load_relaxed(&lane->takes) == token) &&
           HL_LIKELY(bytes <= hl_chain_left(lane->chain));
}

/* Returns `done`. When it is not, the caller goes on with a call that wakes as well. */
HL_INLINE bool hl_lane_short_leave(struct hl_lane *lane, bool done) HL_NO_TSA
{
    bool wanted = hl_lease_leave(&lane->lease);
    if (HL_UNLIKELY(wanted) && done) {
        hl_lane_short_wake();
    }
    return done;
}

/* A record that wants nothing back, a put or an atomic, with rec.len bytes from buf, on the lane that was
 * entered (or NULL). */
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
        uint8_t *at = chain->at;
        memcpy(at, &rec, sizeof rec);
        if (len % 8 != 0) {
            memset(at + bytes - 8, 0, 8); /* the padding */
        }
        memcpy(at + sizeof rec, buf, len);
        chain->at = at + bytes;
        chain->records++;
    }
    return hl_lane_short_leave(lane, fits);
}

/* A get into `buf`. Gets join a chain that has some; the first one asks more questions
 * (hl_chain_append). */
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
        memcpy(chain->at, &rec, sizeof rec);
        chain->at += sizeof rec;
        chain->limit -= answer;
        if (HL_UNLIKELY(chain->opener != &hl_lane_preferred)) {
            chain->opener = NULL;
        }
    }
    return hl_lane_short_leave(lane, fits);
}

/* Puts `len` bytes at RMA address `addr` of the target that `token` names, whose memory has one key.
 * True: done as far as the origin is concerned. False: nothing was done, hl_lane_write does it. Any thread,
 * like that. */
HL_INLINE bool hl_lane_put_short(uint64_t token, uint64_t addr, const void *buf, size_t len)
{
    struct hl_lane *lane = len <= hl_pool.chain ? hl_lane_short_enter(token) : NULL;
    struct hl_wire_short rec = {.op = HL_WIRE_PUT, .len = (uint32_t)len, .addr = addr};
    return hl_lane_short_put(lane, token, rec, buf);
}

/* The same for any record that wants nothing back; on the caller's own lane, if that is not NULL. */
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

/* hl_lane_bound_now, where a fence was. */
HL_INLINE struct hl_lane *hl_lane_bound(void)
{
    /* relaxed: who comes later than the fence sees what it left. */
    return HL_LIKELY(hl_a64_load_relaxed(&hl_pool.bound) == 0) ? NULL : hl_lane_bound_now();
}

/* hl_lane_is_open, inlined. */
HL_INLINE bool hl_lane_is_there(void)
{
    return hl_pool_count(&hl_pool) != 0;
}

/* The calling thread just put 8 bytes by hl_lane_write: the next calls that say the same of everything but
 * the displacement and the origin may come here first. `last` without its lane. */
HL_INLINE void hl_lane_remember(struct hl_lane_last last)
{
    if (HL_LIKELY(hl_lane_preferred < hl_pool_count(&hl_pool))) {
        last.lane = hl_pool.lanes[hl_lane_preferred];
        hl_lane_last = last;
    }
}

enum hl_lane_again { HL_AGAIN_DONE, HL_AGAIN_WAKE, HL_AGAIN_TAKEN, HL_AGAIN_HELD };

/* Puts 8 bytes at a displacement that is below hl_lane_last.reach, where the thread's last put went. What was
 * checked for that one is known to hold still when the lane's chain takes such records: the token is of one
 * window only, and the end of an epoch sends all chains.
 *
 * DONE; WAKE: the same, and the caller calls hl_lane_short_wake; TAKEN: somebody has the lane; HELD: the
 * caller has its lease, and the chain does not take this record. */
HL_INLINE enum hl_lane_again hl_lane_put_again(uint64_t disp, const void *buf) HL_NO_TSA
{
    struct hl_lane *lane = hl_lane_last.lane;
    if (HL_UNLIKELY(!hl_lease_try_now(&lane->lease))) {
        return HL_AGAIN_TAKEN;
    }
    struct hl_chain *chain = lane->chain;
    /* relaxed: written by the leaseholder only. */
    if (HL_UNLIKELY(hl_a64_load_relaxed(&lane->takes) != hl_lane_last.token || chain->at > chain->limit)) {
        return HL_AGAIN_HELD;
    }
    uint8_t *at = chain->at;
    struct hl_wire_short rec = {
        .op = HL_WIRE_PUT, .len = 8, .addr = hl_lane_last.addr + disp * hl_lane_last.unit};
    memcpy(at, &rec, sizeof rec);
    memcpy(at + sizeof rec, buf, 8);
    chain->at = at + sizeof rec + 8;
    chain->records++;
    return HL_LIKELY(!hl_lease_leave(&lane->lease)) ? HL_AGAIN_DONE : HL_AGAIN_WAKE;
}

#endif
