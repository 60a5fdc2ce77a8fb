/* The queues of flights. Who polls takes one out, steps it and puts it back: a flight is one thread's at a
 * time, and a long step of one holds up no other.
 *
 * Each thread puts what it starts into a queue of its own (of SHARDS, by turns) and looks into the others
 * only when its own is empty, or now and then; so threads that wait for what they started do not meet. Nobody
 * waits for a queue: it is put into by a push on its stack, and taken from by whoever gets its flag.
 *
 *   fresh (a stack, anybody pushes)  --its owner, when `first` is empty: all, turned round-->  first (a list)
 */
#include "flight.h"

#include "lock.h"
#include "prog.h"

#define SHARDS 16
#define OTHERS_EVERY 8 /* passes of a thread with flights of its own, until it looks at all */

struct shard {
    HL_ALIGNED_LINE hl_aptr fresh; /* atomic: the last that was put */
    hl_a32 count;                  /* atomic: flights of this shard, those that are being stepped too */
    struct hl_flag busy;
    struct hl_flight *first; /* guarded by busy */
};

static struct shard shards[SHARDS];
static hl_a32 turn;       /* atomic: gives threads their shards */
static hl_a32 registered; /* atomic: changed under lock */
static struct hl_mutex lock = HL_MUTEX_INIT;

static HL_THREAD_LOCAL unsigned own; /* the thread's shard + 1 */
static HL_THREAD_LOCAL unsigned passes;

static unsigned own_shard(void)
{
    if (HL_UNLIKELY(own == 0)) {
        own = hl_a32_add_relaxed(&turn, 1) % SHARDS + 1; /* relaxed: any number will do. */
    }
    return own - 1;
}

static void put_flight(struct shard *s, struct hl_flight *f)
{
    void *last = hl_aptr_load_relaxed(&s->fresh); /* relaxed: a guess for the exchange */

    do {
        f->next = last;
        /* full: hands over what the step did; pairs with the exchange in take_fresh. */
    } while (!hl_aptr_cas_full(&s->fresh, &last, f));
}

/* All that was put, the oldest first. */
static struct hl_flight *take_fresh(struct shard *s)
{
    struct hl_flight *last = NULL, *first = NULL;

    /* relaxed: a glance */
    if (hl_aptr_load_relaxed(&s->fresh) != NULL) {
        /* acquire: sees what the last steps did; pairs with the CAS in put. */
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

/* NULL: none is left, or somebody else is at it. */
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

static int poll_shard(struct shard *s)
{
    /* relaxed: one that is just being started waits for the next pass. */
    uint32_t all = hl_a32_load_relaxed(&s->count);
    int ended = 0;

    for (uint32_t i = 0; i < all; i++) {
        struct hl_flight *f = take_flight(s);
        if (f == NULL) {
            break;
        }
        if (f->step(f)) {
            hl_a32_add_relaxed(&s->count, UINT32_MAX); /* relaxed: a number of tries and nothing else */
            f->end(f);
            ended++;
        } else {
            put_flight(s, f);
        }
    }
    return ended;
}

static int poll_flights(void *unused)
{
    unsigned mine = own_shard();
    int ended = poll_shard(&shards[mine]);

    /* relaxed: as above. */
    if (hl_a32_load_relaxed(&shards[mine].count) == 0 || ++passes % OTHERS_EVERY == 0) {
        for (unsigned i = 1; i < SHARDS; i++) {
            ended += poll_shard(&shards[(mine + i) % SHARDS]);
        }
    }
    if (ended > 0) {
        hl_prog_wake();
    }
    return ended;
}

int hl_flight_ready(void)
{
    int err = 0;

    /* acquire: pairs with the release below. */
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
        hl_a32_add_relaxed(&s->count, 1); /* relaxed: as above */
        put_flight(s, f);
    }
    return 0;
}

bool hl_flight_any(void)
{
    for (int i = 0; i < SHARDS; i++) {
        if (hl_a32_load_relaxed(&shards[i].count) != 0) { /* relaxed: as the header says */
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
    hl_a32_store_relaxed(&registered, 0); /* relaxed: nobody starts flights any more */
    hl_mutex_unlock(&lock);
}
