/* Faults for test_lane.c, between the files of lane by the linker (--wrap): each breaks a promise that the
 * stories there check. */
#ifndef LANE_FAULTS_H
#define LANE_FAULTS_H

#include "../unit/unit.h"

#include "lane_internal.h"

#include <unistd.h>

enum { RANKS = 3, FOUND = 7 };

enum fault {
    NONE,
    COUNTING_DONE,     /* done counts what has ended */
    DONE_PASSES,       /* done passes to the slot that ended last */
    TAIL_PASSES,       /* the tail passes open slots */
    SENT_IS_DELIVERED, /* the completion of a message ends it */
    CHAIN_STAYS_OPEN,  /* flush leaves chains open */
    BIT_AFTER_LEAVING, /* the bit is set after the lease was left */
    BIT_CLEARED_CHAIN, /* a way with an open chain counts as empty */
    MARK_STAYS,        /* the way believes that its bit is still set */
    ERROR_AFTER_DONE,  /* done passes before the error is stored */
    GOAL_MOVES,        /* a flush goes on until nothing is open */
    TAKES_STAYS,       /* the lane takes records for a chain that was sent */
    FAULTS
};

static enum fault fault;

/* A broken promise: fails the test, or ends the process that carries a planted fault. Check hears of broken
 * ones only: it writes a line for each assertion. */
#define PROMISE(kept, ...)                                                                                   \
    do {                                                                                                     \
        if (!(kept)) {                                                                                       \
            if (fault != NONE) {                                                                             \
                _exit(FOUND);                                                                                \
            }                                                                                                \
            ck_abort_msg(__VA_ARGS__);                                                                       \
        }                                                                                                    \
    } while (0)

HL_NO_TSA void __real_hl_lane_slot_close(struct hl_lane *lane, struct hl_lane_slot *slot, unsigned part,
                                         int err);
HL_NO_TSA void __wrap_hl_lane_slot_close(struct hl_lane *lane, struct hl_lane_slot *slot, unsigned part,
                                         int err);
HL_NO_TSA void __real_hl_lane_slot_advance(struct hl_lane *lane);
HL_NO_TSA void __wrap_hl_lane_slot_advance(struct hl_lane *lane);
HL_NO_TSA int __real_hl_chain_send(struct hl_lane *lane, struct hl_way *way, enum hl_chain_form form);
HL_NO_TSA int __wrap_hl_chain_send(struct hl_lane *lane, struct hl_way *way, enum hl_chain_form form);
HL_NO_TSA void __real_hl_chain_send_all(struct hl_lane *lane, uint64_t before);
HL_NO_TSA void __wrap_hl_chain_send_all(struct hl_lane *lane, uint64_t before);
HL_NO_TSA void __real_hl_way_mark(struct hl_lane *lane, struct hl_way *way);
HL_NO_TSA void __wrap_hl_way_mark(struct hl_lane *lane, struct hl_way *way);
HL_NO_TSA void __real_hl_way_sweep(struct hl_lane *lane);
HL_NO_TSA void __wrap_hl_way_sweep(struct hl_lane *lane);

void __wrap_hl_lane_slot_close(struct hl_lane *lane, struct hl_lane_slot *slot, unsigned part, int err)
{
    struct hl_way *way = slot->way;
    uint64_t before = way->done.v, seq = slot->way_seq;
    if (fault == SENT_IS_DELIVERED && (slot->open & HL_PART_ACK) != 0) {
        part |= HL_PART_ACK;
    }
    if (fault == ERROR_AFTER_DONE && err != 0 && seq == before + 1) {
        hl_a64_store_release(&way->done, seq); /* release: as the library's */
        hl_pause();
    }
    __real_hl_lane_slot_close(lane, slot, part, err);
    if (fault == COUNTING_DONE && slot->open == 0 && way->done.v == before) {
        hl_a64_store_release(&way->done, before + 1);
    } else if (fault == DONE_PASSES && slot->open == 0 && way->done.v < seq) {
        hl_a64_store_release(&way->done, seq);
    }
}

void __wrap_hl_lane_slot_advance(struct hl_lane *lane)
{
    __real_hl_lane_slot_advance(lane);
    if (fault == TAIL_PASSES) {
        hl_a64_store_release(&lane->tail, lane->issued.v); /* release: as the library's */
    }
}

/* The lane's chain was sent: goes on taking records for it. */
static void take_on(struct hl_lane *lane, struct hl_chain_head *chain, uint64_t takes)
{
    if (fault == TAKES_STAYS && chain != NULL && lane->last.chain == NULL) {
        lane->last.chain = chain;
        hl_a64_store_relaxed(&lane->last.takes, takes); /* relaxed: as the library's */
    }
}

int __wrap_hl_chain_send(struct hl_lane *lane, struct hl_way *way, enum hl_chain_form form)
{
    if (fault == CHAIN_STAYS_OPEN && form == HL_CHAIN_MAY_GO_ALONE) {
        return 0;
    }
    struct hl_chain_head *chain = lane->last.chain;
    uint64_t takes = lane->last.takes.v;
    int rc = __real_hl_chain_send(lane, way, form);
    take_on(lane, chain, takes);
    return rc;
}

void __wrap_hl_chain_send_all(struct hl_lane *lane, uint64_t before)
{
    if (fault != CHAIN_STAYS_OPEN) {
        struct hl_chain_head *chain = lane->last.chain;
        uint64_t takes = lane->last.takes.v;
        __real_hl_chain_send_all(lane, before);
        take_on(lane, chain, takes);
    }
}

static __thread uint64_t late[HL_LANES_MAX]; /* ranks whose bits I still have to set, by lane */

void __wrap_hl_way_mark(struct hl_lane *lane, struct hl_way *way)
{
    if (fault == BIT_AFTER_LEAVING) {
        way->marked = true;
        late[lane->index] |= UINT64_C(1) << way->peer;
    } else {
        __real_hl_way_mark(lane, way);
    }
}

static void set_late_bits(void)
{
    for (uint32_t i = 0; fault == BIT_AFTER_LEAVING && i < hl_pool_count(&hl_pool); i++) {
        uint64_t ranks = late[i];
        for (int peer = 0; ranks != 0 && peer < RANKS; peer++) {
            if (ranks >> peer & 1) {
                hl_a64_or_full(&hl_pool.used[peer], UINT64_C(1) << i); /* full: as the library's */
                late[i] &= ~(UINT64_C(1) << peer);
            }
        }
    }
}

static void clear(struct hl_lane *lane, struct hl_way *way)
{
    hl_a64_and_full(&lane->pool->used[way->peer], ~(UINT64_C(1) << lane->index)); /* full: as the library's */
}

static bool idle_stay; /* bits of rank 1 are not taken back: sweeps go on */

/* Also clears at once, not after many leases: what is idle for long is rare in a short run. */
void __wrap_hl_way_sweep(struct hl_lane *lane)
{
    __real_hl_way_sweep(lane);
    lane->swept -= HL_IDLE_LEASES + 1; /* the next one is due at once */
    for (int peer = 0; peer < RANKS; peer++) {
        struct hl_way *way = hl_way_find(lane, peer);
        bool empty = way->first == NULL || (fault == BIT_CLEARED_CHAIN && way->chain != NULL);
        if (way->marked && empty && !(peer == 1 && idle_stay)) {
            way->marked = fault == MARK_STAYS;
            clear(lane, way);
        }
    }
}

/* The flush that this thread is in, and how much was issued when it first read a lane's queue. */
static __thread struct {
    bool inside;
    int peer;
    uint64_t bound[HL_LANES_MAX];
} flushing;

HL_NO_TSA int __real_hl_lane_progress(struct hl_lane *lane);
HL_NO_TSA int __wrap_hl_lane_progress(struct hl_lane *lane);
HL_NO_TSA void __real_hl_lane_flush(int peer, enum hl_lane_scope scope);
HL_NO_TSA void __wrap_hl_lane_flush(int peer, enum hl_lane_scope scope);

/* A flush reads no queue for what was issued after it began. */
int __wrap_hl_lane_progress(struct hl_lane *lane)
{
    const struct hl_way *way = flushing.inside ? hl_way_find(lane, flushing.peer) : NULL;
    if (way != NULL) {
        uint64_t *bound = &flushing.bound[lane->index];
        *bound = *bound != 0 ? *bound : way->issued.v;
        PROMISE(way->done.v < *bound || *bound == 0, "a flush reads completions of later operations");
    }
    return __real_hl_lane_progress(lane);
}

/* True when nothing issued to `peer` is open. */
static bool is_quiet(int peer)
{
    /* acquire, all: pair with hl_way_sweep, hl_lane_slot_commit and advance_way. */
    for (uint64_t rest = hl_a64_load_acquire(&hl_pool.used[peer]); rest != 0; rest &= rest - 1) {
        const struct hl_way *way = hl_way_find(hl_pool.head.lanes[__builtin_ctzll(rest)], peer);
        if (way != NULL && hl_a64_load_acquire(&way->done) < hl_a64_load_acquire(&way->issued)) {
            return false;
        }
    }
    return true;
}

void __wrap_hl_lane_flush(int peer, enum hl_lane_scope scope)
{
    memset(&flushing, 0, sizeof flushing);
    flushing.peer = peer;
    flushing.inside = scope == HL_REMOTE && peer >= 0; /* one of all peers is not looked at */
    __real_hl_lane_flush(peer, scope);
    while (fault == GOAL_MOVES && peer >= 0 && !is_quiet(peer)) {
        __real_hl_lane_flush(peer, scope);
    }
    flushing.inside = false;
}

/* One pause lets others go on as well as a thousand. */
void __wrap_hl_prog_stand_back(unsigned pauses);
void __wrap_hl_prog_stand_back(unsigned pauses)
{
    if (pauses != 0) {
        hl_pause();
    }
}

/* Waits without sleeping, and not for ever. */
void __wrap_hl_prog_wait_slow(hl_prog_cond *cond, void *arg);
void __wrap_hl_prog_wait_slow(hl_prog_cond *cond, void *arg)
{
    for (int turns = 0; !cond(arg); turns++) {
        PROMISE(turns < 50000, "somebody waits for ever");
        hl_pause();
    }
}

#endif
