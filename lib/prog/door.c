/* Sleeping at the process's door, and ringing it.
 *
 * A sleeper reads `word`, sets `awaited`, issues a full barrier, arms the peers' side, looks at the condition
 * once more, and waits by futex on the value that it read; one sleeper may wait at descriptors instead
 * (keeper.c). A waker makes the condition true, issues a full barrier, and reads `awaited`; if it is set, it
 * clears it, raises `word` and wakes by futex. Of the writes to the condition and to `awaited`, at least
 * one side sees the other's (store buffering with full barriers on both sides). The waker that clears
 * `awaited` raises `word` after the sleeper has read it, so the sleeper's futex call ends or returns at
 * once. Until a thread goes to sleep again wakers have nothing to do, even if those that were woken have
 * not run yet. Every sleep is bounded as well, since some conditions have no waker. */
#include "prog_internal.h"

#include "stat.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct hl_prog_door own_door;

static hl_aptr door_now = {&own_door}; /* atomic: wakers read it, also while it changes */

/* Both are changed only while no other thread waits (hl_prog_set_door). */
static hl_prog_arm *arm_peers;
static void *arm_arg;

void hl_prog_set_door(struct hl_prog_door *to, hl_prog_arm *arm, void *arg)
{
    /* release: the door's words are ready; pairs with the acquires in hl_prog_wake_fenced and hl_prog_sleep.
     * A late ring of the old door is harmless: no thread sleeps there any more, and it stays mapped. */
    hl_aptr_store_release(&door_now, to != NULL ? to : &own_door);
    arm_peers = to != NULL ? arm : NULL;
    arm_arg = arg;
}

/* The doors of all ranks of the node; set once, before any thread wakes a peer. */
static char *first_door;
static size_t door_stride;

void hl_prog_know_doors(struct hl_prog_door *first, size_t stride)
{
    first_door = (char *)first;
    door_stride = stride;
}

void hl_prog_wake_peers(const int *node_ranks, int n)
{
    /* full: the caller's store comes before the loads of `awaited`; pairs with the exchange in
     * hl_prog_sleep. */
    hl_fence_full();
    for (int i = 0; i < n; i++) {
        char *door = first_door + (size_t)node_ranks[i] * door_stride;
        hl_prog_ring_sleepers((struct hl_prog_door *)(void *)door);
    }
}

void hl_prog_wake_peer(int node_rank)
{
    hl_prog_wake_peers(&node_rank, 1);
}

void hl_prog_ring(struct hl_prog_door *d)
{
    /* full: the word changes before the wake; pairs with the acquire load in hl_prog_sleep and the kernel's
     * of FUTEX_WAIT. */
    hl_a32_add_full(&d->word, 1);
    hl_fence_behind_full();
    if (!hl_prog_keeper_ring()) {
        syscall(SYS_futex, &d->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
}

void hl_prog_ring_awaited(struct hl_prog_door *d)
{
    /* full: one of several wakers rings; `word` is raised after sleepers have read it. Pairs with the
     * exchange in hl_prog_sleep. */
    if (hl_a32_xchg_full(&d->awaited, 0) != 0) {
        hl_prog_ring(d);
    }
}

void hl_prog_wake_fenced(void)
{
    hl_fence_behind_full();
    hl_prog_ring_sleepers(hl_aptr_load_acquire(&door_now)); /* acquire: pairs with hl_prog_set_door */
}

void hl_prog_wake(void)
{
    /* full: the caller's store of the condition comes before the load of `awaited`; pairs with the exchange
     * in hl_prog_sleep. */
    hl_fence_full();
    hl_prog_wake_fenced();
}

void hl_prog_ring_own(void)
{
    hl_prog_ring(hl_aptr_load_acquire(&door_now)); /* acquire: pairs with hl_prog_set_door */
}

/* A condition that is not called again once it was true, and what its sleeper is. */
struct once {
    const struct hl_prog_waits *w;
    bool done;
    enum hl_prog_role role;
};

static bool look_at_condition(void *arg)
{
    struct once *o = arg;
    return o->done = o->done || o->w->cond(o->w->arg);
}

/* One nap; true when the time has passed. */
static bool nap_once(struct hl_prog_door *d, uint32_t word, uint64_t ns, enum hl_prog_role role)
{
    struct timespec t = {0, (long)ns};
    hl_prog_give_way();
    bool over = role >= HL_PROG_KEEPER
                    ? hl_prog_keeper_sleep(ns)
                    : syscall(SYS_futex, &d->word, FUTEX_WAIT, word, &t, NULL, 0) != 0 && errno == ETIMEDOUT;
    hl_prog_come_back();
    hl_stat_rank_add(HL_STAT_RANK_naps, 1);
    return over;
}

/* Naps for `ns`, or until the door rings; true when the time has passed. Where a plain store may make the
 * condition true (`looks`), it looks at the condition, and nothing else, every HL_NAP_NS: what must be polled
 * rings. */
static bool nap_at_door(struct hl_prog_door *d, uint32_t word, uint64_t ns, bool looks, struct once *o)
{
    for (;;) {
        uint64_t once = looks && ns > HL_NAP_NS ? HL_NAP_NS : ns;
        bool over = nap_once(d, word, once, o->role);
        ns -= once;
        if (!over || ns == 0 || look_at_condition(o)) {
            return over && ns == 0;
        }
    }
}

bool hl_prog_sleep(const struct hl_prog_waits *w, uint64_t ns)
{
    struct hl_prog_door *d = hl_aptr_load_acquire(&door_now); /* acquire: pairs with hl_prog_set_door */
    struct once o = {.w = w};
    if (HL_UNLIKELY(hl_prog_tells)) {
        hl_prog_describe_awaited(w);
    }
    /* acquire: `word` is read before `awaited` is set; pairs with the addition in hl_prog_ring. */
    uint32_t word = hl_a32_load_acquire(&d->word);
    /* full: `awaited` is set before the condition is read again; pairs with the fences in hl_prog_wake and
     * hl_prog_wake_peers. */
    hl_a32_xchg_full(&d->awaited, 1);
    o.role = hl_prog_keeper_enter();
    hl_fence_behind_full();
    enum hl_prog_armed armed = arm_peers != NULL ? arm_peers(arm_arg) : HL_PROG_POLLED;
    if (armed == HL_PROG_SERVED) {
        hl_prog_yield();
    } else if (armed != HL_PROG_WAITING && !look_at_condition(&o)) {
        bool rings = armed == HL_PROG_RINGS && w->rung;
        ns = rings && o.role != HL_PROG_ALONE && ns < HL_NAP_NS ? HL_NAP_NS : ns;
        rings = rings && ns >= HL_NAP_NS;
        ns = armed == HL_PROG_RINGS || ns < HL_NAP_NS ? ns : HL_NAP_NS;
        if (nap_at_door(d, word, ns, !rings, &o) && rings) {
            /* relaxed: only counts rings that were missing for a whole nap. */
            bool late = (look_at_condition(&o) || arm_peers(arm_arg) == HL_PROG_WAITING) &&
                        hl_a32_load_relaxed(&d->word) == word;
            hl_stat_rank_add(HL_STAT_RANK_late_wakes, late);
        }
    }
    hl_prog_keeper_leave(o.role, d);
    return o.done;
}
