/* The lock word of one (window, target) and its queue: the state machine behind MPI_Win_lock.
 *
 *   bit 63  EXCLUSIVE   held by one writer
 *   bit 62  WAITERS     requests stand in the target's queue
 *   0..31               number of readers
 *
 * While WAITERS is clear anybody who can reach the word takes and leaves the lock by one compare-and-swap.
 * A taker that finds it taken asks the target's receive thread, which sets WAITERS by fetch-or; from then on
 * every compare-and-swap that assumed it clear fails, and only the receive thread changes the word until its
 * queue is empty. If the fetch-or finds the word free, it grants at once: whoever released before the
 * fetch-or saw no waiter, whoever releases after it sees WAITERS and tells the receive thread. So no wake-up
 * is lost; new readers wait behind a queued writer, so writers do not starve. */
#ifndef HL_LOCKWORD_H
#define HL_LOCKWORD_H

#include "atomic.h"
#include "attr.h"

#include <stdbool.h>
#include <stdint.h>

#define HL_LOCK_EXCLUSIVE ((uint64_t)1 << 63)
#define HL_LOCK_WAITERS ((uint64_t)1 << 62)
#define HL_LOCK_READERS ((uint64_t)0xffffffff)

/* Takes the lock if it is free for this kind and nobody queues. Any thread of any process that maps `word`.
 */
bool hl_lockword_try(hl_a64 *word, bool exclusive);

/* Leaves the lock. False: requests are queued and the word is unchanged; the holder must tell the receive
 * thread, whose hl_lockq_leave does it. */
bool hl_lockword_leave(hl_a64 *word, bool exclusive);

/* Does somebody hold it in this way? */
bool hl_lockword_is_held(hl_a64 *word, bool exclusive);

/* One queued request: who waits and the number he knows it by. */
struct hl_lock_ask {
    int peer;       /* world rank */
    uint64_t token; /* the asker's */
    bool exclusive;
    hl_a32 *holder; /* whoever grants it notes it there (win.h) */
    hl_a8 *mark;    /* and here that the asker holds it (win.h) */
    struct hl_lock_ask *next;
};

/* The target's side. All calls from its receive thread, or under one lock. Zeroed but for `word` and
 * `grant`. */
struct hl_lockq {
    hl_a64 *word;
    struct hl_lock_ask *head, *tail;
    void (*grant)(const struct hl_lock_ask *ask); /* tells the asker that the lock is his; must not wait */
};

/* Queues a copy of `ask`, or grants at once. HL_ERR_NO_MEM: nothing was queued. */
int hl_lockq_ask(struct hl_lockq *q, const struct hl_lock_ask *ask);

/* Leaves the lock for a holder that could not, or has no access to the word; grants to who is next. */
void hl_lockq_leave(struct hl_lockq *q, bool exclusive);

/* `peer` has died: what it asked for goes to who is next. */
void hl_lockq_bury(struct hl_lockq *q, int peer);

/* A dead rank keeps the lock: tells all who wait for it, by `refuse`. What is free for them is granted. */
void hl_lockq_refuse(struct hl_lockq *q, void (*refuse)(const struct hl_lock_ask *ask, int holder),
                     int holder);

/* Forgets who waits, when the window is freed. */
void hl_lockq_fini(struct hl_lockq *q);

#endif
