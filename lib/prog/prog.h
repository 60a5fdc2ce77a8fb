/* Progress: what must be polled, and the one routine in which every blocking call waits. */
#ifndef HL_PROG_H
#define HL_PROG_H

#include "atomic.h"
#include "attr.h"
#include "hang.h" /* a condition goes with its words: HL_HANG_TELLS */

#include <stdbool.h>
#include <stddef.h>

/* Polls one source of progress: returns the number of things that moved, 0 when idle. Never waits and never
 * calls hl_prog_*. Several threads may be inside at once. */
typedef int hl_prog_fn(void *arg);

/* True when the waiter may go on. Called often, by the waiting thread only, and never again once it was true:
 * it may be the step that ends something. An acquire load is the usual text. It may wait itself (for a turn
 * at a port, for an answer), which polls; within the lock of HOTLANE_CS=global it is called inside. */
typedef bool hl_prog_cond(void *arg);

/* Adds a source, polled on every `every`-th pass (a power of two; 1 = each pass). Returns 0 or HL_ERR_NO_MEM
 * when the table (16 rows) is full. Any thread. */
int hl_prog_register(hl_prog_fn *fn, void *arg, unsigned every);

/* Removes a source. Only while no other thread is within a pass: the sources of a module go with the last
 * user. */
void hl_prog_unregister(hl_prog_fn *fn, void *arg);

/* One pass over all sources; returns the sum of their results. Within a pass (from a callback) it returns 0:
 * there is no recursion. Any thread. */
int hl_prog_poll(void);

/* The pass of a call that does not wait (a test, a probe): who looks again and again and sees nothing yields
 * now and then where cores are few, or what he looks for could not come. Any thread. */
void hl_prog_look(void);

/* The slow part of both waits. Not inlined: the watchdog names the call by the frame that it returns to. */
void hl_prog_wait_slow(hl_prog_cond *cond, void *arg, bool rung) HL_NOINLINE;

/* Waits until cond(arg), polling: pauses (none when ranks x threads exceed the node's CPUs), then
 * sched_yield, then sleeps of 20 us doubling to 1 ms that a door (below) ends early; where all that has to be
 * polled rings, only the condition is looked at then, and sources every 10 ms. The caller holds no lease,
 * inbox or lock. Any thread. */
HL_INLINE void hl_prog_wait(hl_prog_cond *cond, void *arg)
{
    if (!cond(arg)) {
        hl_prog_wait_slow(cond, arg, false);
    }
}

/* The same where whoever makes the condition true rings the door: naps grow to 10 ms, if all that has to be
 * polled for it rings too. A ring that did not come is counted (late_wakes). */
HL_INLINE void hl_prog_wait_rung(hl_prog_cond *cond, void *arg)
{
    if (!cond(arg)) {
        hl_prog_wait_slow(cond, arg, true);
    }
}

/* Something has begun (by 1), or is over (-1), whose end rings at no door: meanwhile nobody naps for long. */
void hl_prog_expect(int by);

/* Tells sleepers of this process that a condition may have become true: called after the release store, by
 * whoever completes something for another thread. One fence and one load when nobody sleeps. */
void hl_prog_wake(void);

/* The same without the fence: for callers whose last access was a sequentially consistent read-modify-write.
 */
void hl_prog_wake_fenced(void);

/* A door: in memory that node peers may share, so that they can wake us. */
struct hl_prog_door {
    hl_a32 word;    /* raised by every wake; what sleepers wait on */
    hl_a32 awaited; /* 1: somebody has lain down since it was rung for sleepers */
};

enum hl_prog_armed {
    HL_PROG_WAITING, /* something is waiting already: nobody sleeps */
    HL_PROG_SERVED,  /* another thread is reading: nobody sleeps */
    HL_PROG_RINGS,   /* whatever comes rings */
    HL_PROG_POLLED   /* messages ring, but something is under way that must be polled: short naps only */
};

/* Before sleeping, after that was said: makes peers' next message ring the door. */
typedef enum hl_prog_armed hl_prog_arm(void *arg);

/* Is some thread of this process in a wait in which it lay down more than a second ago? Any thread; `now_ns`:
 * hl_now_ns. */
bool hl_prog_waits_for_long(uint64_t now_ns);

/* Such a thread calls `fn`, about each second, with the world ranks that it waits for, as far as its wait has
 * words (HL_HANG_TELLS). NULL: nobody is called. Any thread. */
void hl_prog_on_long(void (*fn)(int world));

/* Makes `door` the one this process sleeps at; NULL goes back to the private one. Only while no other thread
 * waits. */
void hl_prog_set_door(struct hl_prog_door *door, hl_prog_arm *arm, void *arg);

/* Tells of the doors of all ranks of this node: that of node rank n lies n * stride bytes behind the first.
 */
void hl_prog_know_doors(struct hl_prog_door *first, size_t stride);

/* Wakes the sleepers of a node peer (or mine): after a store into its memory that somebody there may wait
 * for. A fence and a load when nobody sleeps. Any thread, after hl_prog_know_doors. */
void hl_prog_wake_peer(int node_rank);

/* The same for several, with one fence. */
void hl_prog_wake_peers(const int *node_ranks, int n);

/* Raises a door, also a peer's in shared memory: any thread of any process. */
void hl_prog_ring(struct hl_prog_door *door);

/* The same if somebody sleeps there who was not woken yet. The caller has made the condition true, and a full
 * barrier after it. */
void hl_prog_ring_awaited(struct hl_prog_door *d) HL_COLD;
HL_INLINE void hl_prog_ring_sleepers(struct hl_prog_door *d)
{
    /* relaxed: the caller's barrier orders it; pairs with the exchange in hl_prog_sleep. */
    if (HL_UNLIKELY(hl_a32_load_relaxed(&d->awaited) != 0)) {
        hl_prog_ring_awaited(d);
    }
}

/* How many ranks share how many CPUs: decides about spinning. Before that: one rank on this process's CPUs.
 */
void hl_prog_crowd(int ranks, int cpus);

/* How many ranks share a CPU, rounded up: 1 where there are CPUs for all. */
unsigned hl_prog_ranks_per_cpu(void);

/* True when more threads than CPUs are known to wait or compute here: then nobody should spin. */
bool hl_prog_crowded(void);

/* True when there is a CPU for one more thread of each rank here besides those. */
bool hl_prog_has_spare_cpus(void);

/* Between two looks in vain at what another thread is about to give up: `pauses` of the processor, so that it
 * keeps the line meanwhile; none where more threads than CPUs wait, which yield instead. Any thread. */
void hl_prog_stand_back(unsigned pauses);

/* In a forked child: forgets sleepers and sources of the parent. */
void hl_prog_forget(void);

#endif
