/* Progress: what must be polled, and the one routine in which every blocking call waits. */
#ifndef HL_PROG_H
#define HL_PROG_H

#include "atomic.h"
#include "attr.h"
#include "hang.h" /* a condition goes with its words: HL_HANG_WORDS */

#include <stdbool.h>
#include <stddef.h>

/* Polls one source of progress and returns the number of things that moved, 0 when idle. It may wake threads,
 * and may wait until a lane is free, but never for what a peer does. A poll within it does nothing. Several
 * threads may be inside at once. */
typedef int hl_prog_fn(void *arg);

/* True when the waiting thread may go on. Only that thread calls it, often, and never again once it was true,
 * so it may be the step that ends something. Usually it is an acquire load. It may wait itself (for a turn at
 * a port, for an answer), which polls. Under HOTLANE_CS=global it is called inside the lock. */
typedef bool hl_prog_cond(void *arg);

/* Adds a source that is polled on every `every`-th pass (a power of two; 1 = each pass). Returns 0, or
 * HL_ERR_NO_MEM when the table (16 rows) is full. Any thread. */
int hl_prog_register(hl_prog_fn *fn, void *arg, unsigned every);

/* Removes a source. No other thread may be within a pass: a module removes its sources with its last user. */
void hl_prog_unregister(hl_prog_fn *fn, void *arg);

/* Makes one pass over all sources and returns the sum of their results. Within a pass (from a callback) it
 * does nothing and returns 0. Any thread. */
int hl_prog_poll(void);

/* Makes the pass of a call that does not wait (a test, a probe). A thread that calls it again and again in
 * vain yields now and then where cores are few: otherwise what it looks for could not come. Any thread. */
void hl_prog_look(void);

/* The slow part of both waits. It is not inlined: the watchdog finds the user's call by the frame to which it
 * returns. */
void hl_prog_wait_slow(hl_prog_cond *cond, void *arg, bool rung) HL_NOINLINE;

/* Waits until cond(arg) is true, and polls: first with pauses (none when ranks x threads exceed the node's
 * CPUs), then with sched_yield, then with sleeps of 20 us, doubling to 1 ms, which a ring of the process's
 * door ends early. Where all sources ring, naps look only at the condition, each ms, and sources are polled
 * every 10 ms. The caller holds no lease, inbox or lock. Any thread. */
HL_INLINE void hl_prog_wait(hl_prog_cond *cond, void *arg)
{
    if (!cond(arg)) {
        hl_prog_wait_slow(cond, arg, false);
    }
}

/* hl_prog_wait for conditions whose writers ring the door: naps grow to 10 ms if all sources ring too. A ring
 * that did not come is counted (late_wakes). */
HL_INLINE void hl_prog_wait_rung(hl_prog_cond *cond, void *arg)
{
    if (!cond(arg)) {
        hl_prog_wait_slow(cond, arg, true);
    }
}

/* Says that something has begun (by 1), or is over (by -1), whose end rings no door: meanwhile no thread
 * takes long naps. */
void hl_prog_expect(int by);

/* Tells sleeping threads of this process that a condition may have become true. A thread that completes
 * something for another one calls it after the release store. Costs one fence and one load when no thread
 * sleeps. */
void hl_prog_wake(void);

/* hl_prog_wake without the fence, for callers whose last access was a sequentially consistent
 * read-modify-write. */
void hl_prog_wake_fenced(void);

/* A door: the words by which threads sleep and are woken, in memory that node peers may share, so that they
 * can wake this process. */
struct hl_prog_door {
    hl_a32 word;    /* raised by every ring; sleepers wait on it (futex) */
    hl_a32 awaited; /* 1: a thread has gone to sleep since the last ring */
};

enum hl_prog_armed {
    HL_PROG_WAITING, /* something has come already: the thread does not sleep */
    HL_PROG_SERVED,  /* another thread is reading: this one does not sleep */
    HL_PROG_RINGS,   /* all that may come rings */
    HL_PROG_POLLED   /* messages ring, but something under way must be polled: short naps only */
};

/* Called before a thread sleeps, after it has set `awaited`: makes the next message of peers ring the
 * door. */
typedef enum hl_prog_armed hl_prog_arm(void *arg);

/* Is some thread of this process in a wait in which it first slept more than a second ago? Any thread;
 * `now_ns`: hl_now_ns. */
bool hl_prog_waits_for_long(uint64_t now_ns);

/* Has a thread that has slept in a wait for more than a second call `fn`, about each second, with the world
 * ranks that it waits for, as far as its condition tells them (HL_HANG_WORDS). NULL: none is called. Any
 * thread. */
void hl_prog_on_long(void (*fn)(int world));

/* Makes `door` the one at which this process sleeps; NULL: its private one again. `arm` and `arg`: what makes
 * peers ring it. Only while no other thread waits. */
void hl_prog_set_door(struct hl_prog_door *door, hl_prog_arm *arm, void *arg);

/* Lets one thread of this process that sleeps do so at descriptors, so that these wake it themselves. Only
 * where no other process rings this one's door. False: there are no descriptors left. Any thread. */
bool hl_prog_keeper_open(void);

/* Only while no other thread waits. */
void hl_prog_keeper_close(void);

/* A descriptor that speaks (an edge, after the arm function found nothing to read) wakes a sleeper from now
 * on. False: there is no such sleeper here, or `fd` cannot be watched. Any thread. */
bool hl_prog_keeper_add(int fd);

/* Has `fd` speak again if it can be read now. Whoever waits calls it after fi_trywait has allowed a sleep.
 * Any thread. */
void hl_prog_keeper_again(int fd);

/* Called before `fd` is closed. Any thread. */
void hl_prog_keeper_drop(int fd);

/* Says where the doors of all ranks of this node are: that of node rank n lies n * stride bytes behind the
 * first. */
void hl_prog_know_doors(struct hl_prog_door *first, size_t stride);

/* Wakes sleeping threads of a node peer (or of this rank). The caller has stored into its memory something
 * for which a thread there may wait. Costs a fence and a load when none sleeps. Any thread, after
 * hl_prog_know_doors. */
void hl_prog_wake_peer(int node_rank);

/* hl_prog_wake_peer for n peers, with one fence. */
void hl_prog_wake_peers(const int *node_ranks, int n);

/* Rings a door, also a peer's in shared memory. Any thread of any process. */
void hl_prog_ring(struct hl_prog_door *door);

/* Rings a door if a thread sleeps there that was not woken yet. The caller has made the condition true, then
 * issued a full barrier. */
void hl_prog_ring_awaited(struct hl_prog_door *d) HL_COLD;
HL_INLINE void hl_prog_ring_sleepers(struct hl_prog_door *d)
{
    /* relaxed: the caller's barrier orders it; pairs with the exchange in hl_prog_sleep. */
    if (HL_UNLIKELY(hl_a32_load_relaxed(&d->awaited) != 0)) {
        hl_prog_ring_awaited(d);
    }
}

/* Says how many ranks share how many CPUs, which decides whether threads spin. Until then: one rank on this
 * process's CPUs. */
void hl_prog_crowd(int ranks, int cpus);

/* The number of ranks that share a CPU, rounded up; 1 where there are CPUs for all. */
unsigned hl_prog_ranks_per_cpu(void);

/* True when more threads than CPUs are known to wait or compute here: then no thread should spin. */
bool hl_prog_crowded(void);

/* True when there are CPUs for one more thread of each rank here. */
bool hl_prog_has_spare_cpus(void);

/* Called between two looks in vain at what another thread is about to give up: `pauses` of the processor,
 * which leave that thread the cache line; none where threads exceed CPUs and yield instead. Any thread. */
void hl_prog_stand_back(unsigned pauses);

/* Number of other threads of this process that wait: in any calls, those without a name, too, or in calls of
 * OpenSHMEM alone (hl_hang_is_shmem); `calls` gets the calls' names. It takes some milliseconds if there are
 * any. */
int hl_prog_left(bool shmem_only, char *calls, size_t cap);

/* Says that the calling thread ends the library, or (false) that it opens again. While it has ended, a thread
 * that sleeps in a wait ends the job, since nothing else would ever happen there; so the caller waits, for
 * seconds at most, until no other thread is in a wait, before it closes what they look at. */
void hl_prog_end(bool ended);

/* In a forked child: forgets the parent's sleepers and sources. */
void hl_prog_forget(void);

#endif
