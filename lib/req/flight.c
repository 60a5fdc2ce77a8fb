/* The list of flights. New ones come by a list of their own, so that starting never waits for steps. */
#include "flight.h"

#include "lock.h"
#include "prog.h"

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct hl_flight *fresh HL_GUARDED_BY(lock);
static bool registered HL_GUARDED_BY(lock);
static struct hl_flag stepping; /* its owner alone touches `air` */
static struct hl_flight *air HL_GUARDED_BY(stepping);
static hl_a32 count; /* atomic: flights that have not ended */

static void take_fresh(void) HL_REQUIRES(stepping)
{
    hl_mutex_lock(&lock);
    while (fresh != NULL) {
        struct hl_flight *f = fresh;
        fresh = f->next;
        f->next = air;
        air = f;
    }
    hl_mutex_unlock(&lock);
}

/* Steps all; returns those that have ended. */
static struct hl_flight *step_all(void) HL_REQUIRES(stepping)
{
    struct hl_flight *ended = NULL, **at = &air;

    while (*at != NULL) {
        struct hl_flight *f = *at;
        if (f->step(f)) {
            *at = f->next;
            f->next = ended;
            ended = f;
        } else {
            at = &f->next;
        }
    }
    return ended;
}

static int poll_flights(void *unused)
{
    int n = 0;

    /* relaxed: one that is just being started waits for the next pass. */
    if (hl_a32_load_relaxed(&count) == 0 || !hl_flag_try(&stepping)) {
        return 0;
    }
    take_fresh();
    struct hl_flight *ended = step_all();
    hl_flag_leave(&stepping);
    while (ended != NULL) {
        struct hl_flight *f = ended;
        ended = f->next;
        f->end(f);
        /* relaxed: only a guess whether there is anything to do. */
        hl_a32_add_relaxed(&count, (uint32_t)-1);
        n++;
    }
    if (n > 0) {
        hl_prog_wake();
    }
    return n;
}

int hl_flight_start(struct hl_flight *f)
{
    int err = 0;

    hl_mutex_lock(&lock);
    if (!registered) {
        err = hl_prog_register(poll_flights, NULL, 1);
        registered = err == 0;
    }
    if (err == 0) {
        f->next = fresh;
        fresh = f;
        hl_a32_add_relaxed(&count, 1); /* relaxed: as above. */
    }
    hl_mutex_unlock(&lock);
    return err;
}

void hl_flight_close(void)
{
    hl_mutex_lock(&lock);
    if (registered) {
        hl_prog_unregister(poll_flights, NULL);
    }
    registered = false;
    hl_mutex_unlock(&lock);
}
