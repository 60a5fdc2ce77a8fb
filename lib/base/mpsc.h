/* A ring in memory of the node, with many producers in several processes and one consumer.
 *
 *   tail = ticket << 1 | armed
 *
 * A producer says in a line of its thread's own which ticket it is going to claim, claims it by a
 * compare-and-swap of `tail`, fills the ticket's slot, and stores the slot's stamp, ticket + 1. A
 * producer that takes `armed` away with its claim wakes the consumer behind the stamp. The consumer publishes
 * now and then, by `head`, which slots it has read. Slots lie with the user of the ring, whose constants are
 * their size and their number (a power of two); each has a stamp. Nothing between a claim and its stamp
 * faults or takes long, since it holds up everybody behind it. Zeroed memory is an empty ring.
 *
 * A rank that is killed between claim and stamp leaves a hole. After a death, when the next ticket is claimed
 * but its stamp is not there, the consumer reads what the threads of living ranks say (mpsc.c). */
#ifndef HL_MPSC_H
#define HL_MPSC_H

#include "atomic.h"
#include "attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hl_mpsc {
    HL_ALIGNED_LINE hl_a64 tail; /* atomic */
    hl_a64 mark;                 /* atomic: hl_mpsc_name */
    HL_ALIGNED_LINE hl_a64 head; /* atomic: written by the consumer */
};

#define HL_MPSC_PLACES 256u /* of threads of a rank; all later threads share the last one */

/* What one thread is claiming or has claimed last. A rank has an array of HL_MPSC_PLACES in zeroed memory of
 * the node for all rings of a kind. */
struct hl_mpsc_place {
    HL_ALIGNED_LINE hl_a64 what; /* atomic: ticket + the mark of its ring; 0: never used */
};

/* The places of all ranks of the node, and which ranks live. */
struct hl_mpsc_node {
    const struct hl_mpsc_place *first; /* those of node rank n lie n * stride bytes behind it */
    size_t stride;
    int size;
    const int *world; /* [size] world ranks */
    bool (*is_dead)(int world);
};

/* Bytes from the first of a rank's places to the thread's; 0: it has none yet. */
extern HL_THREAD_LOCAL unsigned hl_mpsc_my_place;

/* Gives the thread a place, if it has none. A thread calls it before its first claim. */
void hl_mpsc_enrol(void) HL_COLD;

/* True when no living thread will fill the slot of this ticket, the next one to read. The consumer only. */
bool hl_mpsc_is_hole(const struct hl_mpsc *q, const hl_a64 *stamp, uint64_t ticket,
                     const struct hl_mpsc_node *node) HL_COLD;

/* Gives the ring its number among rings whose producers use the same places: 1 to 2^20 - 1. It comes before
 * the first claim: the consumer does it, or each producer. */
HL_INLINE void hl_mpsc_name(struct hl_mpsc *q, unsigned number)
{
    /* relaxed, both: everybody stores the same, and its own claim orders it for the consumer. */
    if (hl_a64_load_relaxed(&q->mark) == 0) {
        hl_a64_store_relaxed(&q->mark, (uint64_t)number << 44);
    }
}

/* Claims a ticket: `room` is the number of slots in use, `places` those of the caller's rank. The caller
 * fills the slot of the ticket *claimed >> 1, of whose stamp it calls hl_handover_take before, then calls
 * hl_mpsc_stamp: the consumer has read what the last round's producer wrote there. False: the ring is full,
 * or the thread has not enrolled. */
HL_INLINE bool hl_mpsc_claim(struct hl_mpsc *q, struct hl_mpsc_place *places, uint64_t room,
                             uint64_t *claimed)
{
    unsigned place = hl_mpsc_my_place;
    if (HL_UNLIKELY(place == 0)) {
        return false;
    }
    struct hl_mpsc_place *mine = (struct hl_mpsc_place *)(void *)((char *)places + place);
    /* relaxed: the CAS below checks it. */
    uint64_t tail = hl_a64_load_relaxed(&q->tail);
    uint64_t ticket;
    do {
        ticket = tail >> 1;
        /* acquire: the consumer has read the slot that is overwritten; pairs with the release in
         * hl_mpsc_publish. A tail that was read long ago may lie below head: the CAS finds that out. */
        if ((int64_t)(ticket - hl_a64_load_acquire(&q->head)) >= (int64_t)room) {
            /* release: behind the last claim's stamp; pairs with the acquire in hl_mpsc_is_hole. */
            hl_a64_store_release(&mine->what, UINT64_MAX);
            return false;
        }
        /* release: a thread that reads this claim also sees the stamp of the last one; pairs with the acquire
         * in hl_mpsc_is_hole. The CAS makes it visible before the claim. relaxed: see hl_mpsc_name. */
        hl_a64_store_release(&mine->what, hl_a64_load_relaxed(&q->mark) + ticket);
        /* full: orders what one thread puts; takes the armed bit over from the sleeper. */
    } while (!hl_a64_cas_full(&q->tail, &tail, (ticket + 1) << 1));
    *claimed = tail;
    return true;
}

/* Publishes the filled slot. True: the caller must wake the consumer. */
HL_INLINE bool hl_mpsc_stamp(hl_a64 *stamp, uint64_t claimed)
{
    hl_handover_give(stamp); /* to the next round's producer */
    /* release: publishes the slot; pairs with the acquire in hl_mpsc_is_there. */
    hl_a64_store_release(stamp, (claimed >> 1) + 1);
    return (claimed & 1) != 0;
}

/* Is the slot of that ticket filled? The consumer only; a guess for others. */
HL_INLINE bool hl_mpsc_is_there(const hl_a64 *stamp, uint64_t ticket)
{
    return hl_a64_load_acquire(stamp) == ticket + 1; /* acquire: its contents; pairs with hl_mpsc_stamp. */
}

/* The consumer has read all slots below `ticket`. */
HL_INLINE void hl_mpsc_publish(struct hl_mpsc *q, uint64_t ticket)
{
    hl_a64_store_release(&q->head, ticket); /* release: after reading them; pairs with hl_mpsc_claim. */
}

/* The next ticket that nobody has claimed yet. What a thread claims that has ended lies below it. */
HL_INLINE uint64_t hl_mpsc_end(const struct hl_mpsc *q)
{
    return hl_a64_load_acquire(&q->tail) >> 1; /* acquire: pairs with the CAS in hl_mpsc_claim. */
}

/* Arms the ring and returns the next ticket that nobody has claimed: a producer that claims that one or a
 * later one wakes the consumer, one that claimed an earlier one perhaps not. The consumer only. */
HL_INLINE uint64_t hl_mpsc_arm(struct hl_mpsc *q)
{
    return hl_a64_or_full(&q->tail, 1) >> 1; /* full: pairs with the CAS in hl_mpsc_claim. */
}

/* Takes the armed bit away if nobody has. The consumer only. */
HL_INLINE void hl_mpsc_disarm(struct hl_mpsc *q)
{
    /* relaxed: at worst a producer wakes it once without need. */
    if ((hl_a64_load_relaxed(&q->tail) & 1) != 0) {
        hl_a64_and_full(&q->tail, ~UINT64_C(1));
    }
}

#endif
