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
 * sees WAITERS and tells the receive thread. So no wake-up is lost.
 *
 * New readers wait behind a queued writer, so writers do not starve. But a rank may ask for a lock while it
 * holds others: MPI_Win_lock_all takes those of far targets one by one. Readers that hold one lock each, and
 * each wait behind a writer that waits for the other's, would wait for ever. Therefore the readers in a queue
 * pass its writers when the first request is a writer's and the lock has not changed for HL_LOCK_PASS_NS,
 * however short they have waited themselves. Each time that they do, the time doubles for that first writer:
 * once it is longer than readers hold the lock, they pass no more. It ends at HL_LOCK_PASS_MOST_NS, so that
 * readers go on beside one who holds the lock until they have done their work. */
#ifndef HL_LOCKWORD_H
#define HL_LOCKWORD_H

#include "atomic.h"
#include "attr.h"

#include <stdbool.h>
#include <stdint.h>

#define HL_LOCK_EXCLUSIVE ((uint64_t)1 << 63)
#define HL_LOCK_WAITERS ((uint64_t)1 << 62)
#define HL_LOCK_READERS ((uint64_t)0xffffffff)
#define HL_LOCK_PASS_NS UINT64_C(10000000)
#define HL_LOCK_PASS_MOST_NS UINT64_C(1000000000)
#define HL_LOCK_NEVER UINT64_MAX

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
    int node_rank;  /* where the asker sees `mark`, its rank on this node; else -1: it is sent the grant */
    uint64_t token; /* the asker's number of the request */
    bool exclusive;
    hl_a32 *holder; /* the target's word that names the holder; set by the grant */
    hl_a8 *mark;    /* the asker's mark that it holds the lock (hl_win_holds); set by the grant */
    void (*grant)(const struct hl_lock_ask *); /* tells the asker that it has the lock; must not wait */
    /* Only of the first request: when the lock last changed, how long it stays so before readers pass, and
     * the number of readers in the queue. */
    uint64_t since_ns, pass_ns, readers;
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

/* When the queued readers may pass the first request, by hl_now_ns; HL_LOCK_NEVER: this is no writer that
 * waits for readers, or no reader waits behind it. It changes with every other call. */
uint64_t hl_lockq_due(const struct hl_lockq *q);

/* Grants the lock to the queued readers if this is due at `now_ns`. */
void hl_lockq_pass(struct hl_lockq *q, uint64_t now_ns);

/* `peer` has died: removes its requests and grants what the next ones can get now. */
void hl_lockq_drop_peer(struct hl_lockq *q, int peer);

/* Rank `holder` has died with the lock: calls `refuse` for the queued requests. Those that are free to have
 * the lock all the same (a reader beside a dead reader) are granted. */
void hl_lockq_refuse(struct hl_lockq *q, void (*refuse)(const struct hl_lock_ask *ask, int holder),
                     int holder);

/* Frees all queued requests, when the window is freed. */
void hl_lockq_fini(struct hl_lockq *q);

#endif
