/* Sleeping at the process's door.
 *
 * Sleeper: read the word, say that somebody sleeps, full barrier, arm the peers' side, look once more, futex
 * wait on the value read. Waker: make the condition true, full barrier, ask whether somebody sleeps; then
 * take that back, raise the word, futex wake. Of "condition" and "somebody sleeps" one side sees the other's
 * write (store buffering with full barriers on both sides). Whoever takes back what a sleeper said raises the
 * word after that sleeper has read it, so its futex call ends or returns at once; and until somebody lies
 * down again, wakers have nothing to do: who was woken need not have run yet. Every sleep is bounded besides:
 * some conditions have no waker. */
#include "inner.h"

#include "stat.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct hl_prog_door own_door;

static hl_aptr door_now = {&own_door}; /* atomic: read by whoever wakes, also while it changes */

/* Changed only while no other thread waits (hl_prog_set_door). */
static hl_prog_arm *arm_peers;
static void *arm_arg;

void hl_prog_set_door(struct hl_prog_door *to, hl_prog_arm *arm, void *arg)
{
    /* release: the door's words are ready; pairs with the acquires below. A late wake at the old door is
     * harmless: nobody sleeps there any more, and it stays mapped. */
    hl_aptr_store_release(&door_now, to != NULL ? to : &own_door);
    arm_peers = to != NULL ? arm : NULL;
    arm_arg = arg;
}

/* Those of all ranks of the node; set once, before anybody wakes a peer. */
static char *first_door;
static size_t door_stride;

void hl_prog_know_doors(struct hl_prog_door *first, size_t stride)
{
    first_door = (char *)first;
    door_stride = stride;
}

void hl_prog_wake_peers(const int *node_ranks, int n)
{
    /* full: the caller's store comes before the loads of who sleeps; pairs with the exchange in
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
    /* full: the word changes before anybody is woken; pairs with the full load in hl_prog_sleep. */
    hl_a32_add_full(&d->word, 1);
    syscall(SYS_futex, &d->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void hl_prog_ring_awaited(struct hl_prog_door *d)
{
    /* full: of those who saw it one rings; the word is raised after the sleepers have read it. */
    if (hl_a32_xchg_full(&d->awaited, 0) != 0) {
        hl_prog_ring(d);
    }
}

void hl_prog_wake_fenced(void)
{
    hl_fence_behind_full();
    hl_prog_ring_sleepers(hl_aptr_load_acquire(&door_now)); /* acquire: see hl_prog_set_door */
}

void hl_prog_wake(void)
{
    /* full: the caller's store of the condition comes before the load of the count. */
    hl_fence_full();
    hl_prog_wake_fenced();
}

/* A condition that says true once. */
struct once {
    const struct hl_prog_waits *w;
    bool done;
};

static bool look_at_condition(void *arg)
{
    struct once *o = arg;
    return o->done = o->done || o->w->cond(o->w->arg);
}

/* Naps for `ns`, or until the door rings; true when the time has passed. Where a plain store may be the end
 * (`looks`), the condition is looked at every HL_NAP_NS, and nothing else is: what must be polled rings. */
static bool nap_at_door(struct hl_prog_door *d, uint32_t word, uint64_t ns, bool looks, struct once *o)
{
    for (;;) {
        uint64_t once = looks && ns > HL_NAP_NS ? HL_NAP_NS : ns;
        struct timespec t = {0, (long)once};
        hl_prog_give_way();
        bool over = syscall(SYS_futex, &d->word, FUTEX_WAIT, word, &t, NULL, 0) != 0 && errno == ETIMEDOUT;
        hl_prog_come_back();
        hl_stat_rank_add(HL_STAT_RANK_naps, 1);
        ns -= once;
        if (!over || ns == 0 || look_at_condition(o)) {
            return over && ns == 0;
        }
    }
}

bool hl_prog_sleep(const struct hl_prog_waits *w, uint64_t ns)
{
    struct hl_prog_door *d = hl_aptr_load_acquire(&door_now); /* acquire: see hl_prog_set_door */
    struct once o = {w, false};
    if (HL_UNLIKELY(hl_prog_tells)) {
        hl_prog_tell_awaited(w);
    }
    /* acquire: the value that a wake changes is read before we say that we sleep. */
    uint32_t word = hl_a32_load_acquire(&d->word);
    /* full: said before the condition is read again; pairs with the waker's barrier. */
    hl_a32_xchg_full(&d->awaited, 1);
    hl_fence_behind_full();
    enum hl_prog_armed armed = arm_peers != NULL ? arm_peers(arm_arg) : HL_PROG_POLLED;
    if (armed == HL_PROG_SERVED) {
        hl_prog_yield();
    } else if (armed != HL_PROG_WAITING && !look_at_condition(&o)) {
        bool rings = armed == HL_PROG_RINGS && w->rung && ns >= HL_NAP_NS;
        ns = armed == HL_PROG_RINGS || ns < HL_NAP_NS ? ns : HL_NAP_NS;
        if (nap_at_door(d, word, ns, !rings, &o) && rings) {
            /* relaxed: a count of rings that are missing for a whole nap. */
            bool late = (look_at_condition(&o) || arm_peers(arm_arg) == HL_PROG_WAITING) &&
                        hl_a32_load_relaxed(&d->word) == word;
            hl_stat_rank_add(HL_STAT_RANK_late_wakes, late);
        }
    }
    return o.done;
}
