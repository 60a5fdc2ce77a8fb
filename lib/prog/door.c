/* Sleeping at the process's door.
 *
 * Sleeper: count itself (full), read the word, arm the peers' side, look once more, futex wait on the value
 * read. Waker: make the condition true, full barrier, read the count; not zero: raise the word, futex wake.
 * Of "condition" and "count" one side sees the other's write (store buffering with full barriers on both
 * sides), and a wake between the sleeper's read of the word and its futex call changes the word, so the call
 * returns at once. Every sleep is bounded besides: some conditions have no waker. */
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

bool hl_prog_is_waiting(void)
{
    const struct hl_prog_door *door = hl_aptr_load_acquire(&door_now); /* acquire: see hl_prog_set_door */
    return hl_a32_load_relaxed(&door->sleepers) != 0;                  /* relaxed: a glance */
}

void hl_prog_ring(struct hl_prog_door *d)
{
    /* full: the word changes before anybody is woken; pairs with the full load in hl_prog_sleep. */
    hl_a32_add_full(&d->word, 1);
    syscall(SYS_futex, &d->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void hl_prog_wake_fenced(void)
{
    struct hl_prog_door *door = hl_aptr_load_acquire(&door_now); /* acquire: see hl_prog_set_door */
    /* relaxed: the caller's read-modify-write is the barrier; pairs with the count in hl_prog_sleep. */
    if (HL_UNLIKELY(hl_a32_load_relaxed(&door->sleepers) != 0)) {
        hl_prog_ring(door);
    }
}

void hl_prog_wake(void)
{
    /* full: the caller's store of the condition comes before the load of the count. */
    hl_fence_full();
    hl_prog_wake_fenced();
}

bool hl_prog_sleep(hl_prog_cond *cond, void *arg, uint64_t ns)
{
    struct hl_prog_door *d = hl_aptr_load_acquire(&door_now); /* acquire: see hl_prog_set_door */
    /* full: counted before the condition is read again; pairs with the barrier in hl_prog_wake. */
    hl_a32_add_full(&d->sleepers, 1);
    /* acquire: the value a wake changes must be read before the condition. */
    uint32_t word = hl_a32_load_acquire(&d->word);
    enum hl_prog_armed armed = arm_peers != NULL ? arm_peers(arm_arg) : HL_PROG_POLLED;
    bool done = armed != HL_PROG_WAITING && cond(arg);
    if (armed != HL_PROG_WAITING && !done) {
        bool rings = armed == HL_PROG_RINGS && hl_prog_is_rung && ns >= HL_NAP_NS;
        struct timespec t = {0, (long)(rings || ns < HL_NAP_NS ? ns : HL_NAP_NS)};
        long rc = syscall(SYS_futex, &d->word, FUTEX_WAIT, word, &t, NULL, 0);
        hl_stat_rank_add(HL_STAT_RANK_naps, 1);
        if (rc != 0 && errno == ETIMEDOUT && rings) {
            done = cond(arg);
            /* relaxed: a count of rings that are missing for a whole nap. */
            bool late =
                (done || arm_peers(arm_arg) == HL_PROG_WAITING) && hl_a32_load_relaxed(&d->word) == word;
            hl_stat_rank_add(HL_STAT_RANK_late_wakes, late);
        }
    }
    /* relaxed: leaving late only costs the waker a needless call. */
    hl_a32_add_relaxed(&d->sleepers, (uint32_t)-1);
    return done;
}
