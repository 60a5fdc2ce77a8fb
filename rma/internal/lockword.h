/* The lock word of one (window, target) and its queue: the state machine behind MPI_Win_lock.
 *
 *   bit 63  EXCLUSIVE   held by one writer
 *   bit 62  WAITERS     requests stand in the target's queue
 *   0..31               number of readers
 *
 * While WAITERS is clear, any process that can reach the word takes and leaves the lock by one
 * compare-and-swap. A process that finds the lock taken asks the target's receive thread, which sets WAITERS
 * by fetch-or. From then on every compare-and-swap that assumed WAITERS clear fails, and only the receive
 * thread changes the word until its queue is empty. If the lock is free after the fetch-or, the receive
 * thread grants it at once. A holder that leaves before the fetch-or sees no waiter; one that leaves after it
 * sees WAITERS and tells the receive thread. So no wake-up is lost. New readers wait behind a queued writer,
 * so writers do not starve. */
#ifndef HL_LOCKWORD_H
#define HL_LOCKWORD_H

#include "atomic.h"
#include "attr.h"

#include <stdbool.h>
#include <stdint.h>

#define HL_LOCK_EXCLUSIVE ((uint64_t)1 << 63)
#define HL_LOCK_WAITERS ((uint64_t)1 << 62)
#define HL_LOCK_READERS ((uint64_t)0xffffffff)

/* Takes the lock if it is free for this kind and nobody is queued. Any thread of any process that maps
 * `word`. */
bool hl_lockword_try(hl_a64 *word, bool exclusive);

/* Leaves the lock. False: requests are queued and the word is unchanged; the holder must then tell the
 * receive thread, which leaves it by hl_lockq_leave. */
bool hl_lockword_leave(hl_a64 *word, bool exclusive);

/* Does somebody hold it in this way? */
bool hl_lockword_is_held(hl_a64 *word, bool exclusive);

/* One queued request for the lock. */
struct hl_lock_ask {
    int peer;       /* world rank */
    uint64_t token; /* the asker's number of the request */
    bool exclusive;
    hl_a32 *holder; /* the target's word that names the holder; set by the grant */
    hl_a8 *mark;    /* the asker's mark that it holds the lock (hl_win_holds); set by the grant */
    void (*grant)(const struct hl_lock_ask *); /* tells the asker that it has the lock; must not wait */
    struct hl_lock_ask *next;
};

/* The queue at the target. All calls come from its receive thread or under one lock. It starts as zeros but
 * for `word`. */
struct hl_lockq {
    hl_a64 *word;
    struct hl_lock_ask *head, *tail;
};

/* Queues a copy of `ask`, or grants it at once. HL_ERR_NO_MEM: nothing was queued. */
int hl_lockq_ask(struct hl_lockq *q, const struct hl_lock_ask *ask);

/* Leaves the lock for a holder that found WAITERS set or cannot reach the word, and grants it to the next. */
void hl_lockq_leave(struct hl_lockq *q, bool exclusive);

/* `peer` has died: removes its requests and grants what the next ones can get now. */
void hl_lockq_drop_peer(struct hl_lockq *q, int peer);

/* Rank `holder` has died with the lock: calls `refuse` for the queued requests. Those that are free to have
 * the lock all the same (a reader beside a dead reader) are granted. */
void hl_lockq_refuse(struct hl_lockq *q, void (*refuse)(const struct hl_lock_ask *ask, int holder),
                     int holder);

/* Frees all queued requests, when the window is freed. */
void hl_lockq_fini(struct hl_lockq *q);

#endif
