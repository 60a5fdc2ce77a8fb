/* Places of threads that claim, and holes that dead ranks have left.
 *
 * The consumer looks in this order. (1) The tail shows the claim, so it also shows what the claimer said
 * before. (2) It reads what the living say: the ticket, or something later, which they say after the stamp.
 * If one names the ticket, it will fill the slot, or claim another one because somebody was faster; if none
 * does, a dead thread claimed it. (3) It looks at the stamp again.
 *
 * Threads above HL_MPSC_PLACES share the last place, which then tells nothing: while a living rank has used
 * it, no hole is passed over. */
#include "mpsc.h"

#include "lock.h"

#include <pthread.h>

HL_THREAD_LOCAL unsigned hl_mpsc_my_place;

static struct hl_mutex lock = HL_MUTEX_INIT;
static bool taken[HL_MPSC_PLACES] HL_GUARDED_BY(lock); /* no thread gets [0] or the last */
static bool have_key HL_GUARDED_BY(lock);
static pthread_key_t key; /* written once under lock */

/* Called when a thread ends: another thread may get its place. */
static void give_back_place(void *place)
{
    hl_mutex_lock(&lock);
    taken[(uintptr_t)place] = false;
    hl_mpsc_my_place = 0;
    hl_mutex_unlock(&lock);
}

void hl_mpsc_enrol(void)
{
    unsigned place = 1;
    if (hl_mpsc_my_place != 0) {
        return;
    }
    hl_mutex_lock(&lock);
    if (!have_key) {
        have_key = pthread_key_create(&key, give_back_place) == 0;
    }
    while (place < HL_MPSC_PLACES - 1 && taken[place]) {
        place++;
    }
    if (place < HL_MPSC_PLACES - 1) {
        /* Without a destructor the place never becomes free. */
        taken[place] = true;
        (void)(have_key && pthread_setspecific(key, (void *)(uintptr_t)place));
    }
    hl_mutex_unlock(&lock);
    hl_mpsc_my_place = place * (unsigned)sizeof(struct hl_mpsc_place);
}

/* True if a thread of the rank of these places claims what it says, or may do so. */
static bool has_claim_for(const struct hl_mpsc_place *places, uint64_t what)
{
    for (unsigned i = 0; i < HL_MPSC_PLACES; i++) {
        /* acquire: the last claim has its stamp; pairs with the release in hl_mpsc_claim. */
        uint64_t said = hl_a64_load_acquire(&places[i].what);
        if (said == what || (i == HL_MPSC_PLACES - 1 && said != 0)) {
            return true;
        }
    }
    return false;
}

bool hl_mpsc_is_hole(const struct hl_mpsc *q, const hl_a64 *stamp, uint64_t ticket,
                     const struct hl_mpsc_node *node)
{
    /* acquire: sees what the claimer said; pairs with the CAS in hl_mpsc_claim. */
    if (hl_mpsc_is_there(stamp, ticket) || hl_a64_load_acquire(&q->tail) >> 1 == ticket) {
        return false;
    }
    const char *places = (const char *)node->first;
    for (int i = 0; i < node->size; i++, places += node->stride) {
        if (!node->is_dead(node->world[i]) &&
            has_claim_for((const void *)places,
                          hl_a64_load_relaxed(&q->mark) + ticket)) { /* relaxed: it is set */
            return false;
        }
    }
    return !hl_mpsc_is_there(stamp, ticket);
}
