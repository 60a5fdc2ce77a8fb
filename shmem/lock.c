/* Locks: symmetric longs, 0 when no PE holds or waits for them. (OpenSHMEM 1.5, section 9.12.)
 *
 * Threads of a PE first take turns among themselves; then the PE enters the queue of PEs (Mellor-Crummey and
 * Scott), whose links are the copies of the lock itself:
 *
 *   low half, at the lock's home PE   the last PE of the queue + 1, or 0
 *   high half, at every PE            bit 63: my turn has come; below: the PE behind me + 1, or 0
 *
 * A PE swaps its number in as the last, tells the PE before it, and waits for its own word, which only its
 * predecessor and its successor change, once each. So PEs get the lock in the order of arrival, waiting costs
 * no traffic, and neither home nor holder need do anything while others queue up. */
#include <shmem.h>
#include <stdlib.h>

#include "attr.h"
#include "entry.h"
#include "lock.h"
#include "near.h"
#include "prog.h"
#include "shm.h"
#include "sym.h"
#include "xfer.h"

#define TURN ((uint64_t)1 << 63)

/* ---- threads of this PE ---- */

/* A lock that threads of this PE hold or wait for. */
struct line {
    struct line *next;
    const long *lock;
    uint64_t tickets; /* number given out; guarded by list_lock */
    uint64_t winner;  /* the thread that has taken it, 0: none, or it gives it up; guarded by list_lock */
    hl_a64 turn;      /* the ticket whose turn it is; written under list_lock, read by waiters */
};

static struct hl_mutex list_lock = HL_MUTEX_INIT;
static struct line *lines HL_GUARDED_BY(list_lock);
static uint64_t threads HL_GUARDED_BY(list_lock); /* threads that have used locks so far */
static HL_THREAD_LOCAL uint64_t my_number;        /* this thread's number among them; 0: none yet */

static struct line **find_line(const long *lock) HL_REQUIRES(list_lock)
{
    struct line **at = &lines;
    while (*at != NULL && (*at)->lock != lock) {
        at = &(*at)->next;
    }
    return at;
}

struct ticket {
    struct line *line; /* NULL: none was given */
    uint64_t number;
};

/* Draws a ticket for the line of `lock`; with `only_first` only if no thread of this PE holds it or waits.
 * Ends the program when this thread holds the lock. */
static struct ticket draw_ticket(const long *lock, bool only_first, const char *func)
{
    struct ticket t = {NULL, 0};
    hl_mutex_lock(&list_lock);
    struct line **at = find_line(lock);
    bool first = *at == NULL;
    if (first && (*at = calloc(1, sizeof **at)) != NULL) {
        (*at)->lock = lock;
    }
    my_number = my_number != 0 ? my_number : ++threads;
    bool failed = *at == NULL, mine = !failed && !only_first && (*at)->winner == my_number;
    if (!failed && (first || !only_first)) {
        t = (struct ticket){*at, (*at)->tickets++};
    }
    hl_mutex_unlock(&list_lock);
    if (failed) {
        hl_shmem_die(func, "no memory to note one more lock");
    }
    if (mine) {
        hl_shmem_die(func, "lock %p is held by this thread of this PE already", (const void *)lock);
    }
    return t;
}

static bool is_turn(void *arg)
{
    const struct ticket *t = arg;
    /* acquire: what the thread before did; pairs with the release in leave_line. */
    return hl_a64_load_acquire(&t->line->turn) == t->number;
}

static void describe_lock_turn(const void *arg, struct hl_wait_desc *t)
{
    hl_desc_say(t, "lock %p, which another thread of this PE holds",
                (const void *)((const struct ticket *)arg)->line->lock);
}
HL_HANG_WORDS(is_turn, describe_lock_turn);

/* Notes that the calling thread has taken the lock. */
static void note_win(struct line *line)
{
    hl_mutex_lock(&list_lock);
    line->winner = my_number;
    hl_mutex_unlock(&list_lock);
}

/* Is the lock held by a thread of this PE? True for one caller after each note_win, which then gives the lock
 * up. */
static bool take_win(const long *lock)
{
    hl_mutex_lock(&list_lock);
    struct line *line = *find_line(lock);
    bool won = line != NULL && line->winner != 0;
    if (won) {
        line->winner = 0;
    }
    hl_mutex_unlock(&list_lock);
    return won;
}

/* Gives the turn to the next thread of this PE. The thread that has the turn calls it. */
static void leave_line(const long *lock)
{
    hl_mutex_lock(&list_lock);
    struct line **at = find_line(lock), *line = *at;
    /* relaxed: changed under the lock. */
    uint64_t turn = line != NULL ? hl_a64_load_relaxed(&line->turn) + 1 : 0;
    if (line != NULL && turn == line->tickets) {
        *at = line->next; /* no thread waits */
        free(line);
    } else if (line != NULL) {
        hl_a64_store_release(&line->turn, turn); /* release: pairs with the acquire in is_turn. */
    }
    hl_mutex_unlock(&list_lock);
    hl_prog_wake();
}

/* ---- the queue of PEs ---- */

static void check_lock(const long *lock, const char *func)
{
    hl_shmem_need_open(func);
    if (!hl_sym_is(lock, sizeof *lock)) {
        hl_shmem_bad_access(func, lock, sizeof *lock, hl_sym.my_pe);
    }
    if ((uintptr_t)lock % sizeof *lock != 0) {
        hl_shmem_die(func, "lock %p is not aligned to %zu bytes", (const void *)lock, sizeof *lock);
    }
}

/* The lock's home PE, chosen by the offset in its area, which is the same at all PEs: so many locks have many
 * homes. */
static int lock_home(const long *lock)
{
    const struct hl_sym_area *a = &hl_sym.heap;
    uint64_t off = (uint64_t)((const char *)lock - a->base);
    for (int i = 0; off >= a->len && i < hl_sym.n_statics; i++) {
        a = &hl_sym.statics[i];
        off = (uint64_t)((const char *)lock - a->base);
    }
    return (int)(off / sizeof *lock % (uint64_t)hl_sym.n_pes);
}

/* A wait for bits of my word in the queue. */
struct queue_place {
    hl_a64 *word;
    uint64_t mask;
    int before; /* the PE before me, or -1: I wait for the PE behind me to name itself */
};

static bool is_lock_set(void *arg)
{
    const struct queue_place *p = arg;
    /* acquire: what the holder before me did; pairs with the signals of enter_queue and pass_lock. */
    return (hl_a64_load_acquire(p->word) & p->mask) != 0;
}

static void describe_place(const void *arg, struct hl_wait_desc *t)
{
    const struct queue_place *p = arg;
    hl_desc_say(t, p->before >= 0 ? "lock %p, behind PE %d in its queue" : "lock %p, to be passed on",
                (const void *)p->word, p->before);
    hl_desc_await(t, p->before);
}
HL_HANG_WORDS(is_lock_set, describe_place);

/* The PE for a half of the lock's word, which holds its number + 1. A wrong number ends the program. */
static int named_pe(uint32_t pe, const long *lock, const char *func)
{
    if (HL_UNLIKELY(pe - 1 >= (uint32_t)hl_sym.n_pes)) {
        hl_shmem_die(func, "lock %p was not 0 at first, or was written to: it names PE %u",
                     (const void *)lock, pe - 1);
    }
    return (int)pe - 1;
}

static void enter_queue(long *lock)
{
    uint32_t mine = (uint32_t)hl_sym.my_pe + 1;
    uint32_t before = pshmem_uint32_atomic_swap((uint32_t *)lock, mine, lock_home(lock));
    if (before != 0) {
        struct queue_place p = {(hl_a64 *)lock, TURN, named_pe(before, lock, "shmem_set_lock")};
        pshmem_signal_add((uint64_t *)lock, (uint64_t)mine << 32, p.before);
        hl_prog_wait_rung(is_lock_set, &p);
        hl_a64_and_full(p.word, ~TURN); /* full: pairs with the signal of my successor */
    }
}

static void pass_lock(long *lock)
{
    uint32_t mine = (uint32_t)hl_sym.my_pe + 1;
    struct queue_place p = {(hl_a64 *)lock, ~TURN & ~(uint64_t)UINT32_MAX, -1};
    /* If no PE has named itself and I am still the last, the lock is free now. */
    if (!is_lock_set(&p) &&
        pshmem_uint32_atomic_compare_swap((uint32_t *)lock, mine, 0, lock_home(lock)) == mine) {
        return;
    }
    hl_prog_wait_rung(is_lock_set, &p);
    uint64_t behind = hl_a64_load_relaxed(p.word) & p.mask; /* relaxed: the wait ordered it. */
    int next = named_pe((uint32_t)(behind >> 32), lock, "shmem_clear_lock");
    hl_a64_and_full(p.word, ~p.mask); /* full: comes before I enter the queue again. */
    pshmem_signal_add((uint64_t *)lock, TURN, next);
    (void)hl_prog_poll(); /* sends it at once if `next` is far */
}

/* ---- the functions ---- */

HL_SHMEM_API(shmem_set_lock);
void pshmem_set_lock(long *lock)
{
    check_lock(lock, "shmem_set_lock");
    struct ticket t = draw_ticket(lock, false, "shmem_set_lock");
    hl_prog_wait_rung(is_turn, &t);
    enter_queue(lock);
    note_win(t.line);
    hl_near_fence();
}

HL_SHMEM_API(shmem_test_lock);
int pshmem_test_lock(long *lock)
{
    check_lock(lock, "shmem_test_lock");
    struct ticket t = draw_ticket(lock, true, "shmem_test_lock");
    if (t.line == NULL) {
        hl_prog_look();
        return 1;
    }
    uint32_t mine = (uint32_t)hl_sym.my_pe + 1;
    if (pshmem_uint32_atomic_compare_swap((uint32_t *)lock, 0, mine, lock_home(lock)) != 0) {
        leave_line(lock);
        return 1;
    }
    note_win(t.line);
    hl_near_fence();
    return 0;
}

HL_SHMEM_API(shmem_clear_lock);
void pshmem_clear_lock(long *lock)
{
    check_lock(lock, "shmem_clear_lock");
    if (!take_win(lock)) {
        hl_shmem_die("shmem_clear_lock", "lock %p is not held by this PE", (void *)lock);
    }
    hl_shmem_quiet(&hl_ctx_default, "shmem_clear_lock");
    pass_lock(lock);
    leave_line(lock);
}
