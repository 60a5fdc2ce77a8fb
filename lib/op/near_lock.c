/* The target's lock, under which elements are updated that no single instruction can update. */
#include "near_lock.h"

#include "near.h"

#include "job.h"
#include "log.h"
#include "stat.h"
#include "util.h"

#include <sched.h>
#include <time.h>

#define SPINS 100    /* tries before the first yield */
#define YIELDS 50    /* tries before the first nap */
#define NAP_NS 50000 /* nanoseconds of a nap */

uint64_t hl_near_holder_timeout_ns = 100000000;

static struct hl_near_part *parts; /* [node_size], in the board */

size_t hl_near_board_bytes(int node_size)
{
    return sizeof *parts * (size_t)node_size;
}

void hl_near_open(void *board)
{
    parts = board;
}

struct hl_near_part *hl_near_part(int node_rank)
{
    return &parts[node_rank];
}

/* The part of the board that `l` names; NULL: none. Peers can write `owner`, so a number that no rank has is
 * ignored. */
static struct hl_near_part *named_part(const struct hl_near_lock *l)
{
    uint32_t number = HL_ONCE(l->owner);
    return number == 0 || number > (uint32_t)hl_job.node_size ? NULL : &parts[number - 1];
}

static uint32_t get_own_holder(void)
{
    return (uint32_t)hl_job.node_rank + 1;
}

static bool try_take(struct hl_near_lock *l)
{
    uint32_t nobody = 0;
    /* relaxed: only a guess whether the exchange is worth its cost. */
    /* acquire: the last holder's elements are seen; pairs with the release in hl_near_lock_leave. */
    return hl_a32_load_relaxed(&l->holder) == 0 && hl_a32_cas_acquire(&l->holder, &nobody, get_own_holder());
}

/* True when the holder's process has ended and this rank has taken the lock over. */
static bool take_over(struct hl_near_lock *l)
{
    /* relaxed: the compare-and-swap decides. */
    uint32_t holder = hl_a32_load_relaxed(&l->holder);
    if (holder == 0 || holder == get_own_holder() || (int)holder > hl_job.node_size ||
        hl_job_node_lives((int)holder - 1)) {
        return false;
    }
    /* acquire: the elements as earlier holders left them; pairs with the release in hl_near_lock_leave. */
    bool mine = hl_a32_cas_acquire(&l->holder, &holder, get_own_holder());
    if (mine) {
        hl_log(HL_LOG_WARN, "rank %d died during an accumulate: its last element may be half done",
               hl_job.node_world != NULL ? hl_job.node_world[holder - 1] : (int)holder - 1);
    }
    return mine;
}

static void wait_long(struct hl_near_lock *l)
{
    uint64_t asked = hl_now_ns();
    for (int yields = 0; !try_take(l); yields++) {
        if (yields < YIELDS) {
            sched_yield();
            continue;
        }
        struct timespec nap = {0, NAP_NS};
        nanosleep(&nap, NULL);
        if (hl_now_ns() - asked > hl_near_holder_timeout_ns) {
            if (take_over(l)) {
                return;
            }
            asked = hl_now_ns();
        }
    }
}

/* Takes this lock, whatever part it names. */
static struct hl_near_lock *take_near_lock(struct hl_near_lock *l)
{
    hl_stat_rank_add(HL_STAT_RANK_near_locks, 1);
    for (int spins = 0; spins < SPINS; spins++) {
        if (try_take(l)) {
            return l;
        }
        hl_pause();
    }
    wait_long(l);
    return l;
}

struct hl_near_lock *hl_near_lock_take(struct hl_near_lock *l)
{
    struct hl_near_part *part = named_part(l);
    return take_near_lock(part == NULL ? l : &part->lock);
}

void hl_near_lock_leave(struct hl_near_lock *held)
{
    /* release: publishes the elements; pairs with the acquire in try_take. */
    hl_a32_store_release(&held->holder, 0);
}

struct hl_near_lock *hl_near_rows_take(struct hl_near_lock *l)
{
    /* relaxed: a guess; it is read again under the lock. */
    struct hl_near_part *part = l != NULL && hl_a32_load_relaxed(&l->rows) != 0 ? named_part(l) : NULL;
    if (part == NULL) {
        return NULL;
    }
    struct hl_near_lock *held = take_near_lock(&part->lock);
    /* relaxed, twice: both flags change only under the lock. */
    if (hl_a32_load_relaxed(&l->rows) != 0 && hl_a32_load_relaxed(&part->overlaid) == 0) {
        return held;
    }
    hl_near_lock_leave(held);
    return NULL;
}

void hl_near_end_rows(struct hl_near_lock *l)
{
    /* acquire: a rank that reads 0 sees all rows as the loops left them; pairs with the release below. */
    if (HL_UNLIKELY(hl_a32_load_acquire(&l->rows) != 0)) {
        struct hl_near_lock *held = hl_near_lock_take(l);
        hl_a32_store_release(&l->rows, 0); /* release: publishes the rows of earlier holders. */
        hl_near_lock_leave(held);
    }
}

void hl_near_overlay(int node_rank)
{
    struct hl_near_lock *held = take_near_lock(&parts[node_rank].lock);
    hl_a32_store_relaxed(&parts[node_rank].overlaid, 1); /* relaxed: read under the lock. */
    hl_near_lock_leave(held);
}
