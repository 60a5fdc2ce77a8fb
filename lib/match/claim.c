/* Claims of slots that their sender never filled.
 *
 * A rank that is killed between its claim of a ticket and the stamp leaves a slot that holds up all messages
 * behind it. So each thread first stores, in a line of its own in node-shared memory, which ticket of which
 * ring it is going to claim. After a death, when the next ticket of an inbox is claimed but its message is
 * not there, the inbox's owner reads what the living threads say. If one of them names the ticket, it will
 * fill the slot, or claim another one because somebody was faster. If none does, a dead thread claimed it.
 *
 * The owner looks in this order. (1) The tail shows the claim, so it also shows what the claimer said before.
 * (2) It reads what the living say: the ticket, or something later, which they say after the stamp. (3) It
 * looks at the stamp again.
 *
 * Threads above HL_CLAIMING share the last place, which then tells nothing: while a living rank has used it,
 * no slot is passed over. */
#include "claim.h"

#include <pthread.h>
#include <stdint.h>

HL_THREAD_LOCAL unsigned hl_claim_place;

static struct hl_mutex lock = HL_MUTEX_INIT;
static bool taken[HL_CLAIMING] HL_GUARDED_BY(lock); /* no thread gets [0] or the last */
static bool have_key HL_GUARDED_BY(lock);
static pthread_key_t key; /* written once under lock */

/* Called when a thread ends: another thread may get its place. */
static void give_back_claim(void *place)
{
    hl_mutex_lock(&lock);
    taken[(uintptr_t)place] = false;
    hl_claim_place = 0;
    hl_mutex_unlock(&lock);
}

void hl_claim_enrol(void)
{
    unsigned place = 1;
    if (hl_claim_place != 0) {
        return;
    }
    hl_mutex_lock(&lock);
    if (!have_key) {
        have_key = pthread_key_create(&key, give_back_claim) == 0;
    }
    while (place < HL_CLAIMING - 1 && taken[place]) {
        place++;
    }
    if (place < HL_CLAIMING - 1) {
        /* Without a destructor the place never becomes free. */
        taken[place] = true;
        (void)(have_key && pthread_setspecific(key, (void *)(uintptr_t)place));
    }
    hl_mutex_unlock(&lock);
    hl_claim_place = place * (unsigned)sizeof(struct hl_claiming);
}

/* True if a thread of this rank claims the ticket, or may do so. */
static bool may_fill(const struct hl_match_part *part, const struct hl_ring *ring, uint64_t ticket)
{
    for (unsigned i = 0; i < HL_CLAIMING; i++) {
        /* acquire: the last claim has its stamp; pairs with the release in hl_ring_claim. */
        uint64_t what = hl_a64_load_acquire(&part->claiming[i].what);
        if (what == ring->mark + ticket || (i == HL_CLAIMING - 1 && what != 0)) {
            return true;
        }
    }
    return false;
}

bool hl_claim_is_dead(const struct hl_matcher *m, const struct hl_ring *ring, uint64_t ticket)
{
    /* acquire: sees what the claimer said; pairs with the CAS in hl_ring_claim. */
    if (hl_a64_load_acquire(&ring->tail) >> 1 == ticket) {
        return false;
    }
    for (int i = 0; i < m->node_size; i++) {
        if (!m->is_dead(m->node_world[i]) && may_fill(hl_match_part_of(m, i), ring, ticket)) {
            return false;
        }
    }
    return true;
}
