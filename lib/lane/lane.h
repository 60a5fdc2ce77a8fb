/* The pool of lanes: one-sided operations to ranks that are reached by the network.
 *
 * A lane is an endpoint with its domain, completion queue and a ring of operations in flight; one thread
 * leases it for one operation (one atomic read-modify-write). See docs/design/lane.md. Small operations
 * are copied into a chain, which travels as one message: then their buffers are free again and their
 * request's part is done at once, unless they want something back. Others are complete at the target when
 * they end here.
 *
 * Calls return 0 or a negative HL_ERR_* that is known at once (nothing was started then, or the parts that
 * were are flushed as usual). What fails later is stored in *error of the operation, first error wins, before
 * the flush that covers it returns; the caller takes it with hl_lane_error_take. Buffers stay the caller's
 * and must not change (or be read) before that flush, or before `req` is done. Any thread, no lease or lock
 * held. What is copied travels with a flush, with a wait of this thread, or by a tick of the receive thread,
 * a few milliseconds later.
 * Waits inside only for a lane (never for another thread's operations to end, but for its lease). */
#ifndef HL_LANE_H
#define HL_LANE_H

#include "atomic.h"
#include "op.h"
#include "req.h"
#include "wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hl_lane;

/* One transfer between my memory and a peer's region. */
struct hl_xfer {
    int peer;       /* world rank */
    uint64_t addr;  /* remote: hl_fab_mr.addr + offset */
    uint64_t key;   /* hl_fab_mr.key */
    void *buf;      /* mine; writes only read it */
    size_t len;     /* bytes; 0 is nothing */
    hl_a32 *error;  /* the error word of (window, target); never NULL */
    uint64_t token; /* 0, or a number of (window, target) that is never reused: see short.h */
    struct hl_req
        *req; /* NULL, or gets one part for each piece, ended with its error (copied ones: with 0) */
};

int hl_lane_write(const struct hl_xfer *x);
int hl_lane_read(const struct hl_xfer *x);

/* Writes at most 8 bytes as an operation of its own, without a request, from a copy of them; on the caller's
 * own lane, if that is not NULL (below). False: nothing was done, because that needs more than a post now. */
bool hl_lane_write_word(struct hl_lane *own, const struct hl_xfer *x);

/* An atomic operation on naturally aligned elements of 1, 2, 4 or 8 bytes: by the provider where
 * hl_lane_can_atomic says so, else, and where small operations are chained, by the target's receive thread.
 * x.len is ignored. Without `compare`: x.buf = the n operands (NULL for HL_OP_NO_OP), result = the elements
 * before, or NULL. With it (n = 1): x.buf replaces the element when it equals *compare. */
struct hl_lane_atomic {
    struct hl_xfer x;
    enum hl_op_kind op;
    enum hl_basic basic;
    size_t n;            /* elements, any number */
    const void *compare; /* stays the caller's as buf does */
    void *result;
    bool ordered; /* applied in the order of issue among the ordered ones of one order_key by one thread */
    uint64_t order_key; /* hash of (window, target) */
};

int hl_lane_atomic(const struct hl_lane_atomic *a);
bool hl_lane_can_atomic(enum hl_op_kind op, enum hl_basic basic, bool fetch, bool compare);

/* A record for the target's receive thread. rec is copied (index is filled in here), payload too. The
 * operation ends when the record was handled there and its answer, if any, was copied to reply. */
struct hl_lane_message {
    int peer;
    const struct hl_wire_rec *rec;
    const void *payload; /* rec->len bytes, at most hl_lane_payload_max() */
    void *reply;         /* or NULL */
    size_t reply_cap;    /* bytes the answer must have exactly, when reply is set */
    hl_a32 *error;
    struct hl_req *req;
    bool ordered; /* as above */
    uint64_t order_key;
};

int hl_lane_message(const struct hl_lane_message *m);
size_t hl_lane_payload_max(void);

/* ---- lanes that are somebody's own ---- */

/* Takes a lane out of the pool: operations that name it use it, others choose it no more (but those whose
 * order binds them to it). Opens it if need be (milliseconds), and waits for what others have issued there.
 * NULL when none is left, which is no error: half of the pool, with lane 0, stays shared. It remains good
 * until hl_lane_disown or hl_lane_close. Any thread, no lease or lock held. */
struct hl_lane *hl_lane_own(void);

/* Gives it back: its owner has flushed it and names it no more. */
void hl_lane_disown(struct hl_lane *lane);

/* The same as above on a lane of the caller's own, or on hl_lane_bound() (NULL: on any, as above). Threads
 * may take turns; if two come at once, one waits. */
int hl_lane_write_on(struct hl_lane *lane, const struct hl_xfer *x);
int hl_lane_read_on(struct hl_lane *lane, const struct hl_xfer *x);
int hl_lane_atomic_on(struct hl_lane *lane, const struct hl_lane_atomic *a);
int hl_lane_message_on(struct hl_lane *lane, const struct hl_lane_message *m);

enum hl_lane_scope { HL_LOCAL, HL_REMOTE };

/* Waits until all operations to `peer` (-1: to anybody) that were issued (by this thread, or by others before
 * this call in the order that the program made) have ended: at the target, results stored. HL_LOCAL: results
 * stored, and buffers not read any more. Operations issued meanwhile by others are not waited for. Errors are
 * in the error words. */
void hl_lane_flush(int peer, enum hl_lane_scope scope);

/* The same for what was issued on a lane of the caller's own; or (NULL) on all others: what only owners have
 * issued on theirs is not waited for. */
void hl_lane_flush_on(struct hl_lane *lane, int peer, enum hl_lane_scope scope);

/* What hl_lane_flush_on with these arguments would wait for, and nothing issued later; *goals is NULL when
 * that is nothing. HL_ERR_NO_MEM. Any thread. */
struct hl_lane_goals;
int hl_lane_goals(struct hl_lane *lane, int peer, enum hl_lane_scope scope, struct hl_lane_goals **goals);

/* Has all of it ended? Never waits: it sends what is still open of it, and reads the queues of lanes that
 * nobody holds. One thread at a time; no lease or lock held. */
bool hl_lane_goals_reached(struct hl_lane_goals *goals);

void hl_lane_goals_free(struct hl_lane_goals *goals);

/* Says what of it is open, and whom it awaits. */
struct hl_told;
void hl_lane_goals_tell(const struct hl_lane_goals *goals, struct hl_told *t);

/* Later operations to each peer, on a lane of the caller's own, or (NULL) on no lane in particular, are
 * applied there after those which a flush of the same would cover (reads: neither waited for nor kept back).
 * Free where both have one stream: one lane, and chained. Else it waits, or has the first later one that
 * leaves the stream wait, for exactly the peers concerned. also_near: peers that the caller also reaches
 * without lanes, so that its stores must come later too (NULL: none); called with the lease held. Errors
 * are in the error words. */
void hl_lane_fence(struct hl_lane *lane, bool (*also_near)(int peer));

/* After hl_lane_fence(NULL), while it is not all done: the lane that operations on no lane in particular have
 * to name, so that they come later; else NULL. (short.h asks without a call.) */
struct hl_lane *hl_lane_bound_now(void);

/* Nothing issued to `peer` (or to anybody) is open: one or a few loads, for callers that want to skip. */
bool hl_lane_is_quiet(int peer);

/* How often an error was kept: who has many error words looks at them when this has changed. Atomic. */
extern hl_a64 hl_lane_errors;

/* Keeps an error in an error word, where the first one stays; before the operation is said to be over. */
HL_INLINE void hl_lane_error_keep(hl_a32 *error, int rc)
{
    uint32_t none = 0;
    /* acquire: the first error stays; published by what tells that the operation is over. */
    (void)hl_a32_cas_acquire(error, &none, (uint32_t)-rc);
    hl_a64_add_full(&hl_lane_errors, 1); /* full: after the word; pairs with the acquire of who looks. */
}

/* Takes the error out of an error word: 0, or the HL_ERR_* of the first operation that failed. */
HL_INLINE int hl_lane_error_take(hl_a32 *error)
{
    /* relaxed: the flush before it ordered the failing lane's store; taking needs the exchange only when
     * there is one. acquire: not needed for the code itself, pairs with nothing. */
    if (HL_LIKELY(hl_a32_load_relaxed(error) == 0)) {
        return 0;
    }
    return -(int)hl_a32_xchg_acquire(error, 0);
}

/* One pass over the open lanes' queues: how many completions were read. Registered with prog. */
int hl_lane_poll(void *unused);

/* Is anything in flight that hl_lane_poll must be called for? A guess. Any thread. */
bool hl_lane_is_busy(void);

/* Lanes that hl_lane_open would make of a process that may use `cpus` CPUs: by HOTLANE_LANES, CPUs, the
 * provider (when it is open), and files it may open. */
uint32_t hl_lane_plan(bool threads, int cpus);

/* `threads`: MPI_THREAD_MULTIPLE is in force, else one lane serves. `cpus`: as above. Before any
 * hl_lane_open. */
void hl_lane_threads(bool threads, int cpus);

/* Sets up the pool; lane 0 opens at once, others in the background when threads come that have no lane.
 * Called by who needs lanes: each takes 17 MB, which programs that only send short messages save. After
 * hl_rx_network. Any thread; later calls return 0. */
int hl_lane_open(void);
bool hl_lane_is_open(void);

/* The same for who can do without: false, and no error, when they do not open. Is tried again ten
 * seconds later. */
bool hl_lane_wish(void);

/* Operations will come, perhaps to this rank (reached by the network): connects to it in the background,
 * which also makes the provider touch its buffers here and there. The first call counts. Any thread. */
void hl_lane_expect(int peer);

/* Closes all lanes: the caller has flushed, and the job's ranks have met since. */
void hl_lane_close(void);

/* In a forked child: every later call is an error. Async-signal-safe. */
void hl_lane_forget(void);

#endif
