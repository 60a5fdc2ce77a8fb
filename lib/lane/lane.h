/* The pool of lanes: one-sided operations to ranks that are reached by the network.
 *
 * A lane is an endpoint with its domain, completion queue and a ring of operations in flight; one thread
 * leases it for one operation (one atomic read-modify-write). See docs/design/lane.md. Small operations are
 * copied into a chain, which travels as one message: their buffers are free again and their request's part is
 * done at once, unless they want something back. Any other operation is complete at the target when it ends
 * here.
 *
 * Calls return 0 or a negative HL_ERR_* that is known at once (then nothing was started, or the started parts
 * are flushed as usual). What fails later is stored in *error of the operation, first error wins, before the
 * flush that covers it returns; the caller takes it with hl_lane_error_take. Buffers stay the caller's and
 * must not change (or be read) before that flush, or before `req` is done. Any thread, no lease or lock held.
 * What is copied travels with a flush, with a wait of the thread that opened its chain (of any thread, where
 * another one wants an answer from the chain), or by a tick of the receive thread (hl_rx_on_tick), a few
 * milliseconds later. These calls wait for nothing but a lane: for another thread's lease, never for its
 * operations to end. */
#ifndef HL_LANE_H
#define HL_LANE_H

#include "atomic.h"
#include "op.h"
#include "prog.h"
#include "req.h"
#include "wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hl_lane;

/* One transfer between my memory and a peer's region. */
struct hl_xfer {
    int peer;       /* world rank */
    uint64_t addr;  /* remote: hl_mr.addr + offset */
    uint64_t key;   /* hl_mr.key */
    void *buf;      /* the caller's buffer; writes only read it */
    size_t len;     /* bytes; 0: nothing is done */
    hl_a32 *error;  /* the error word of (window, target); never NULL */
    uint64_t token; /* 0, or a number of (window, target) that is never reused: see short.h */
    /* NULL, or a request that gets one part for each piece; it ends with the piece's error (0: copied) */
    struct hl_req *req;
};

/* Put and get: the transfer is cut into pieces of 1 MiB, or of what the provider takes. hl_lane_write reads
 * x->buf, hl_lane_read writes it. */
int hl_lane_write(const struct hl_xfer *x);
int hl_lane_read(const struct hl_xfer *x);

/* Writes at most 8 bytes, without a request, as an operation of its own that posts a copy of them; on the
 * caller's own lane, if `own` is not NULL (hl_lane_own). False: nothing was done, because such writes are
 * chained, or the lane cannot take the post at once. */
bool hl_lane_write_word(struct hl_lane *own, const struct hl_xfer *x);

/* An atomic operation on naturally aligned elements of 1, 2, 4 or 8 bytes: by the provider where
 * hl_lane_can_atomic says so, else, and where small operations are chained, by the target's receive thread.
 * x.len is ignored. Without `compare`: x.buf = the n operands (NULL for HL_OP_NO_OP), result = the elements
 * before, or NULL. With `compare` (n = 1): x.buf replaces the element when it equals *compare. */
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

/* Issues an atomic operation, in pieces where it is too long for one post. */
int hl_lane_atomic(const struct hl_lane_atomic *a);
/* True if hl_lane_atomic may be called for this: the provider does it, or with chains the target's receive
 * thread. */
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
    bool ordered; /* applied in the order of issue among the ordered ones of one order_key by one thread */
    uint64_t order_key;
};

/* Sends a record. HL_ERR_INTERN: its payload or answer is longer than hl_lane_payload_max() bytes. */
int hl_lane_message(const struct hl_lane_message *m);
size_t hl_lane_payload_max(void); /* bytes */

/* ---- lanes that are somebody's own ---- */

/* Takes a lane out of the pool: operations that name it use it, and others no longer choose it, except those
 * whose order binds them to it. Opens it if need be (milliseconds), and waits for what others have issued
 * there. NULL when none is left, which is no error: half of the pool, with lane 0, stays shared. The lane
 * stays valid until hl_lane_disown or hl_lane_close. Any thread, no lease or lock held. */
struct hl_lane *hl_lane_own(void);

/* Gives an owned lane back to the pool. Before that, its owner has flushed it; afterwards it must not name
 * it. Any thread, no lease held. */
void hl_lane_disown(struct hl_lane *lane);

/* hl_lane_write, _read, _atomic and _message on a lane of the caller's own, or on hl_lane_bound(). NULL: on
 * any lane, as without _on. Threads may take turns; if two come at once, one waits. */
int hl_lane_write_on(struct hl_lane *lane, const struct hl_xfer *x);
int hl_lane_read_on(struct hl_lane *lane, const struct hl_xfer *x);
int hl_lane_atomic_on(struct hl_lane *lane, const struct hl_lane_atomic *a);
int hl_lane_message_on(struct hl_lane *lane, const struct hl_lane_message *m);

enum hl_lane_scope { HL_LOCAL, HL_REMOTE };

/* Waits until all operations to `peer` (-1: to any rank) that this thread issued, or that other threads
 * issued before this call in the order that the program made, have ended. HL_REMOTE: they are applied at the
 * target, and their results stored here. HL_LOCAL: their results are stored, and their buffers are not read
 * any more. What others issue meanwhile is not waited for. Errors are in the error words. */
void hl_lane_flush(int peer, enum hl_lane_scope scope);

/* hl_lane_flush for operations issued on a lane of the caller's own; or (NULL) on all lanes but owned ones
 * that only their owners use. */
void hl_lane_flush_on(struct hl_lane *lane, int peer, enum hl_lane_scope scope);

/* What hl_lane_flush_on with these arguments would wait for, and nothing issued later; *goals is NULL when
 * that is nothing. HL_ERR_NO_MEM. Any thread. */
struct hl_lane_goals;
int hl_lane_goals_make(struct hl_lane *lane, int peer, enum hl_lane_scope scope,
                       struct hl_lane_goals **goals);

/* True when all operations of `goals` have ended. It never waits: it sends those that are still in open
 * chains, and reads the queues of lanes that nobody holds. One thread at a time; no lease or lock held. */
bool hl_lane_goals_reached(struct hl_lane_goals *goals);

void hl_lane_goals_free(struct hl_lane_goals *goals);

/* Tells the watchdog which operations of `goals` are open, and which ranks they wait for. */
struct hl_wait_desc;
void hl_lane_goals_describe(const struct hl_lane_goals *goals, struct hl_wait_desc *t);

/* Orders operations: at each peer, later ones on a lane of the caller's own, or (NULL) on no lane in
 * particular, are applied after the earlier ones that a flush with the same `lane` would cover. Reads are
 * neither waited for nor kept back. This costs nothing where earlier and later ones travel in one stream (one
 * lane, and chained). Else it waits, or has the first later operation that leaves the stream wait, for
 * exactly the peers concerned. also_near: tells of a peer whether the caller also reaches it without lanes,
 * so that its stores, too, must come later (NULL: no peer); called with the lease held. Errors are in the
 * error words. */
void hl_lane_fence(struct hl_lane *lane, bool (*also_near)(int peer));

/* After hl_lane_fence(NULL), while operations before it are open: the lane that later operations on no lane
 * in particular must name to come after them. Else NULL. (hl_lane_bound asks without a call.) */
struct hl_lane *hl_lane_bound_now(void);

/* Counts errors that were kept: a caller with many error words reads them only when this has changed.
 * Atomic. */
extern hl_a64 hl_lane_errors;

/* Keeps an error in an error word, unless there is one already. The caller does so before the operation
 * counts as ended. */
HL_INLINE void hl_lane_error_keep(hl_a32 *error, int rc)
{
    uint32_t none = 0;
    /* acquire: the first error stays; what marks the operation as ended publishes it. */
    (void)hl_a32_cas_acquire(error, &none, (uint32_t)-rc);
    /* full: after the word; pairs with the acquire of callers that compare the count. */
    hl_a64_add_full(&hl_lane_errors, 1);
}

/* Takes the error out of an error word: 0, or the HL_ERR_* of the first operation that failed. */
HL_INLINE int hl_lane_error_take(hl_a32 *error)
{
    /* relaxed: the flush before ordered the store of the error; only an error needs the exchange. acquire:
     * pairs with nothing, no other data is read. */
    if (HL_LIKELY(hl_a32_load_relaxed(error) == 0)) {
        return 0;
    }
    return -(int)hl_a32_xchg_acquire(error, 0);
}

/* Reads the queues of the thread's lane and of one other: returns how many completions there were. It is
 * registered with prog. (It also sends the thread's open chains there.) */
int hl_lane_poll(void *unused);

/* Called before a thread sleeps: tells whether the ends of what is in flight wake it, or hl_lane_poll must be
 * called for them. Any thread. */
enum hl_prog_armed hl_lane_arm(void);

/* How many lanes hl_lane_open makes of a process that may use `cpus` CPUs: by HOTLANE_LANES, CPUs, the
 * provider (when it is open), and the number of files that the process may open. */
uint32_t hl_lane_plan(bool threads, int cpus);

/* `threads`: MPI_THREAD_MULTIPLE is in force, else one lane serves. `cpus`: CPUs that the process may use.
 * This call comes before any hl_lane_open. */
void hl_lane_threads(bool threads, int cpus);

/* Sets up the pool; lane 0 opens at once, others in the background when threads come that have no lane. Only
 * what needs lanes calls it: each takes memory (over tcp;ofi_rxm 17 MB, and as much again when it connects),
 * which programs that only send short messages save. After hl_rx_network. Any thread; later calls return 0.
 * HL_ERR_OTHER: no lane opens; HL_ERR_NO_MEM. */
int hl_lane_open(void);
bool hl_lane_is_open(void);

/* hl_lane_open for callers that can do without lanes: false, and no error, when no lane opens. It is tried
 * again ten seconds later. */
bool hl_lane_wish(void);

/* Announces operations, perhaps to rank `peer` (reached by the network): connects to it in the background,
 * which also makes the provider touch its buffers here and there. The first call counts. Any thread. */
void hl_lane_expect(int peer);

/* Closes all lanes: the caller has flushed, and the job's ranks have met since. */
void hl_lane_close(void);

/* Called in a forked child: every later call is an error. Async-signal-safe. */
void hl_lane_forget(void);

#endif
