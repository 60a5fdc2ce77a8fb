/* The queues of flights. A thread that polls takes a flight out, steps it and puts it back: so a flight is
 * one thread's at a time, and a long step of one holds up no other.
 *
 * Each thread puts flights that it starts into its own queue (one of SHARDS, given out in turn) and looks
 * into the others only when its own is empty, or now and then. So threads that wait for what they started do
 * not meet. No thread waits for a queue: flights are pushed onto its stack, and the thread that gets its flag
 * takes them out.
 *
 *   fresh (a stack, anybody pushes)  --its owner, when `first` is empty: all, turned round-->  first (a list)
 *
 * Flights end when messages come, of which a pass brings a few: if each pass stepped all of many flights,
 * they would cost the square of their number. So a pass leaves the rest of a queue to the next one when VAIN
 * steps have ended none. Once all have been stepped in vain, nothing can go on: from then on, until one ends,
 * a pass steps all of them, and a thread may sleep behind it. */
#include "flight.h"

#include "lock.h"
#include "prog.h"

#define SHARDS 16
#define VAIN 64        /* steps of a pass that end no flight */
#define OTHERS_EVERY 8 /* passes after which a thread with flights of its own looks into all queues */

struct shard {
    HL_ALIGNED_LINE hl_aptr fresh; /* atomic: the flight that was put in last */
    hl_a32 count;                  /* atomic: flights of this shard, including those being stepped */
    hl_a32 vain;                   /* atomic: steps since one last ended a flight, while flights are many */
    struct hl_flag busy;
    struct hl_flight *first; /* guarded by busy */
};

static struct shard shards[SHARDS];
static hl_a32 turn;       /* atomic: counts threads, to give them shards in turn */
static hl_a32 registered; /* atomic: changed under lock */
static struct hl_mutex lock = HL_MUTEX_INIT;

static HL_THREAD_LOCAL unsigned own; /* the thread's shard + 1 */
static HL_THREAD_LOCAL unsigned passes;

static unsigned own_shard(void)
{
    if (HL_UNLIKELY(own == 0)) {
        own = hl_a32_add_relaxed(&turn, 1) % SHARDS + 1; /* relaxed: only draws a number. */
    }
    return own - 1;
}

static void put_flight(struct shard *s, struct hl_flight *f)
{
    void *last = hl_aptr_load_relaxed(&s->fresh); /* relaxed: only the first guess of the exchange */

    do {
        f->next = last;
        /* full: publishes what the step did; pairs with the exchange in take_fresh. */
    } while (!hl_aptr_cas_full(&s->fresh, &last, f));
}

/* Takes all flights off the stack and returns them as a list, the oldest first. */
static struct hl_flight *take_fresh(struct shard *s)
{
    struct hl_flight *last = NULL, *first = NULL;

    /* relaxed: a glance */
    if (hl_aptr_load_relaxed(&s->fresh) != NULL) {
        /* acquire: sees what the last steps did; pairs with the exchange in put_flight. */
        last = hl_aptr_xchg_acquire(&s->fresh, NULL);
    }
    while (last != NULL) {
        struct hl_flight *next = last->next;
        last->next = first;
        first = last;
        last = next;
    }
    return first;
}

/* Takes one flight out; NULL: none is left, or another thread is taking one. */
static struct hl_flight *take_flight(struct shard *s)
{
    if (!hl_flag_try(&s->busy)) {
        return NULL;
    }
    if (s->first == NULL) {
        s->first = take_fresh(s);
    }
    struct hl_flight *f = s->first;
    s->first = f != NULL ? f->next : NULL;
    hl_flag_leave(&s->busy);
    return f;
}

/* Notes the steps of a pass over more than VAIN flights; false: all were stepped in vain. */
static bool note_steps(struct shard *s, uint32_t all, uint32_t steps, int ended)
{
    /* relaxed, all: a hint; what threads take from each other's sum costs passes, and no flight is lost. */
    if (ended > 0) {
        hl_a32_store_relaxed(&s->vain, 0);
        return true;
    }
    return hl_a32_load_relaxed(&s->vain) < all && hl_a32_add_relaxed(&s->vain, steps) + steps < all;
}

/* Steps flights; *rest is set when the pass has left some that may go on. Returns how many have ended. */
static int poll_shard(struct shard *s, bool *rest)
{
    /* relaxed: a flight that is just being started waits for the next pass. */
    uint32_t all = hl_a32_load_relaxed(&s->count), i, vain = 0;
    int ended = 0;

    if (all == 0) {
        return 0;
    }
    /* relaxed: as in note_steps */
    uint32_t most = hl_a32_load_relaxed(&s->vain) < all ? VAIN : UINT32_MAX;
    for (i = 0; i < all && vain < most; i++) {
        struct hl_flight *f = take_flight(s);
        if (f == NULL) {
            break;
        }
        if (f->step(f)) {
            hl_a32_add_relaxed(&s->count, UINT32_MAX); /* relaxed: it is only a number of tries */
            f->end(f);
            ended++;
        } else {
            put_flight(s, f);
            vain++;
        }
    }
    if (all > VAIN && note_steps(s, all, i, ended) && i < all && vain == most) {
        *rest = true;
    }
    return ended;
}

static int poll_flights(void *unused)
{
    unsigned mine = own_shard();
    bool rest = false;
    int ended = poll_shard(&shards[mine], &rest);

    /* relaxed: a flight that is just being started waits for the next pass. */
    if (hl_a32_load_relaxed(&shards[mine].count) == 0 || ++passes % OTHERS_EVERY == 0) {
        for (unsigned i = 1; i < SHARDS; i++) {
            ended += poll_shard(&shards[(mine + i) % SHARDS], &rest);
        }
    }
    if (ended > 0) {
        hl_prog_wake();
    }
    return ended + rest;
}

int hl_flight_ready(void)
{
    int err = 0;

    /* acquire: it is registered; pairs with the release below. */
    if (hl_a32_load_acquire(&registered) != 0) {
        return 0;
    }
    hl_mutex_lock(&lock);
    if (hl_a32_load_relaxed(&registered) == 0) { /* relaxed: under lock */
        err = hl_prog_register(poll_flights, NULL, 1);
        /* release: it is registered; pairs with the acquire above. */
        hl_a32_store_release(&registered, err == 0);
    }
    hl_mutex_unlock(&lock);
    return err;
}

int hl_flight_start(struct hl_flight *f)
{
    int err = hl_flight_ready();

    if (err != 0) {
        return err;
    }
    if (f->step(f)) {
        f->end(f);
    } else {
        struct shard *s = &shards[own_shard()];
        hl_a32_add_relaxed(&s->count, 1); /* relaxed: it is only a number of tries */
        put_flight(s, f);
    }
    return 0;
}

bool hl_flight_any(void)
{
    for (int i = 0; i < SHARDS; i++) {
        if (hl_a32_load_relaxed(&shards[i].count) != 0) { /* relaxed: may miss one that is being started */
            return true;
        }
    }
    return false;
}

void hl_flight_close(void)
{
    hl_mutex_lock(&lock);
    if (hl_a32_load_relaxed(&registered) != 0) { /* relaxed: under lock */
        hl_prog_unregister(poll_flights, NULL);
    }
    hl_a32_store_relaxed(&registered, 0); /* relaxed: no thread starts flights any more */
    hl_mutex_unlock(&lock);
}
