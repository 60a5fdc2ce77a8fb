/* Requests: 128 bytes each, recycled through per-thread caches, never unmapped.
 *
 *   INACTIVE --start--> ACTIVE --complete--> DONE --finish--> freed (or INACTIVE when persistent)
 *
 * The completer writes the results, then one release store of DONE: its last touch, so no reference is
 * counted. Only the one thread that waits for or tests a request finishes it; two threads finishing one
 * request is the user's error. */
#ifndef HL_REQ_H
#define HL_REQ_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "attr.h"
#include "cs.h"
#include "handle.h"
#include "hang.h"

enum hl_req_state {
    HL_REQ_INACTIVE,
    HL_REQ_ACTIVE,
    HL_REQ_DONE,
    HL_REQ_ORPHANED, /* generalized: freed by the user, who still has to complete it */
};

/* Whose operation it is; tells how to read the body. */
enum hl_req_what {
    HL_REQ_SEND, /* match */
    HL_REQ_RECV, /* match */
    HL_REQ_RMA,
    HL_REQ_COLL,
    HL_REQ_PAIR,    /* a send and a receive */
    HL_REQ_GENERAL, /* generalized */
    HL_REQ_PSEND,   /* match: partitioned */
    HL_REQ_PRECV,
    HL_REQ_FLUSH,   /* match: of a buffer */
    HL_REQ_FILE,    /* io */
    HL_REQ_WIN,     /* a flush of a window */
    HL_REQ_MESSAGE, /* match: no operation; HL_KIND_MESSAGE */
};

enum hl_req_flag {
    HL_REQ_STATIC = 1,     /* the shared completed ones: finishing does nothing */
    HL_REQ_PERSISTENT = 2, /* finishing makes it INACTIVE */
    HL_REQ_CANCELLED = 4,  /* for MPI_Test_cancelled; set before DONE */
    HL_REQ_LOCAL = 8,      /* lives on a caller's stack: finishing does not put it into a pool */
    HL_REQ_MOVING = 16,    /* a receive that has its message, whose data are on their way: for the watchdog */
};

#define HL_REQ_BODY 64

struct hl_req {
    uint32_t kind;  /* HL_KIND_REQ (HL_KIND_MESSAGE) while allocated: validates user handles */
    hl_a32 state;   /* enum hl_req_state. atomic: release by the completer, acquire by the waiter */
    hl_a32 parts;   /* open parts of an operation in several parts; of a message that failed with
                       HL_ERR_PROC_ABORTED: 1 + the rank that died. atomic */
    hl_a32 error;   /* 0 or the HL_ERR_* of the first part that failed. atomic */
    uint8_t what;   /* enum hl_req_what */
    hl_a8 flags;    /* enum hl_req_flag; changed before ACTIVE, or by the completer before DONE. atomic */
    uint16_t spare; /* the owner's */
    int32_t source; /* results, written before DONE: MPI_SOURCE */
    int64_t bytes;  /* bytes received */
    int32_t tag;    /* MPI_TAG */
    uint32_t generation;
    uint64_t ctx;                   /* of the communicator, for the error path; 0: none */
    const struct hl_req_more *more; /* what is special about it, or NULL; changed like flags */
    struct hl_req *next;            /* pool's while free; the owner's while allocated */
    /* The owner's (enum hl_req_what): he states what is in it. */
    _Alignas(8) unsigned char body[HL_REQ_BODY];
};
_Static_assert(sizeof(struct hl_req) == 128, "a request is two lines");

/* Any of these flags. */
HL_INLINE bool hl_req_has(const struct hl_req *r, int flags)
{
    return (hl_a8_load_relaxed(&r->flags) & flags) != 0; /* relaxed: who may change it is said above. */
}

HL_INLINE void hl_req_mark(struct hl_req *r, enum hl_req_flag flag)
{
    hl_a8_store_relaxed(&r->flags, (uint8_t)(hl_a8_load_relaxed(&r->flags) | flag)); /* relaxed: as above. */
}

/* Body of HL_REQ_RMA. */
struct hl_req_target {
    int world; /* rank of the target, for errors */
};

HL_INLINE struct hl_req_target *hl_req_target(struct hl_req *r)
{
    return (struct hl_req_target *)(void *)r->body;
}

/* A new ACTIVE request with clear results; its body is not cleared. NULL: no memory. Any thread, no lock
 * but once in 32 calls at worst. */
struct hl_req *hl_req_new(enum hl_req_what what);

/* The same in two halves, in line, for who writes the results between them anyway: a place, with nothing in
 * it but its generation, and the new request in it. */
HL_INLINE struct hl_req *hl_req_take(void);
HL_INLINE void hl_req_begin(struct hl_req *r, enum hl_req_what what, uint8_t flags);

/* What an owner does about a request besides completing it; usually the first part of an object of his. */
struct hl_req_more {
    /* Reads the results of a DONE request, as hl_req_results does. `end`: for the last time, by who finishes
     * it; else several threads may be in it at once. NULL: hl_req_results itself. */
    int (*results)(struct hl_req *r, MPI_Status *status, bool end);
    /* Persistent ones. Begins the operation of a request that is ACTIVE and whose results are clear; may end
     * it at once. After an error nothing has begun. */
    int (*start)(struct hl_req *r);
    /* Persistent ones. Frees what hangs on the request, `more` too; it goes away afterwards and is not under
     * way. */
    void (*drop)(struct hl_req *r);
};

/* Makes an allocated request persistent and INACTIVE. `more` is alive until its `drop` was called. */
void hl_req_set_again(struct hl_req *r, const struct hl_req_more *more);

/* Starts a persistent request that is INACTIVE: returns its start's result, and it stays INACTIVE when that
 * is an error. */
int hl_req_start(struct hl_req *r);

/* Makes `r`, on the caller's stack, such a request (HL_REQ_LOCAL). */
void hl_req_init(struct hl_req *r, enum hl_req_what what);

/* One of a one-sided operation on this world rank. */
HL_INLINE void hl_req_init_rma(struct hl_req *r, int world)
{
    hl_req_init(r, HL_REQ_RMA);
    hl_req_target(r)->world = world;
}

/* The shared completed request of eager sends and near one-sided operations: empty status, never freed. */
HL_INLINE struct hl_req *hl_req_completed(void);

/* The same for communication with MPI_PROC_NULL: source MPI_PROC_NULL, tag MPI_ANY_TAG, no bytes. */
struct hl_req *hl_req_proc_null(void);

/* Gives an allocated request back without looking at it (an operation that never started). */
HL_INLINE void hl_req_free(struct hl_req *r);

/* A thread's own free requests (pool.c). */
struct hl_req_cache {
    struct hl_req *head;
    unsigned count;
    unsigned most; /* that it keeps; 0: the pool does not get them when the thread ends, so it keeps none */
};
HL_HIDDEN extern HL_THREAD_LOCAL struct hl_req_cache hl_req_cache;

/* Both where the cache cannot serve: it is empty or full, or threads have one pool. */
struct hl_req *hl_req_take_slow(void) HL_NOINLINE;
void hl_req_free_slow(struct hl_req *r) HL_NOINLINE;

HL_INLINE struct hl_req *hl_req_take(void)
{
    struct hl_req *r = hl_req_cache.head;
    if (HL_UNLIKELY(r == NULL || hl_cs_any())) {
        return hl_req_take_slow();
    }
    hl_req_cache.head = r->next;
    hl_req_cache.count--;
    r->generation++;
    return r;
}

HL_INLINE void hl_req_free(struct hl_req *r)
{
    r->kind = HL_KIND_FREE;
    if (HL_UNLIKELY(hl_req_cache.count >= hl_req_cache.most || hl_cs_any())) {
        hl_req_free_slow(r);
        return;
    }
    r->next = hl_req_cache.head;
    hl_req_cache.head = r;
    hl_req_cache.count++;
}

HL_INLINE void hl_req_begin(struct hl_req *r, enum hl_req_what what, uint8_t flags)
{
    r->kind = HL_KIND_REQ;
    /* relaxed: nobody else knows the request yet. */
    hl_a32_store_relaxed(&r->state, HL_REQ_ACTIVE);
    hl_a32_store_relaxed(&r->parts, 0);
    hl_a32_store_relaxed(&r->error, 0);
    r->what = (uint8_t)what;
    hl_a8_store_relaxed(&r->flags, flags);
    r->spare = 0;
    r->source = MPI_ANY_SOURCE;
    r->bytes = 0;
    r->tag = MPI_ANY_TAG;
    r->ctx = 0;
    r->more = NULL;
    r->next = NULL;
}

extern char *hl_req_base;   /* the range of all requests but local ones; NULL before the first */
extern size_t hl_req_range; /* its bytes; 0 before the first */

HL_INLINE struct hl_req *hl_req_completed(void)
{
    return (struct hl_req *)(void *)hl_req_base;
}

/* The place behind a user's handle if there is something of `kind` in it, else NULL. Accepts any bit pattern.
 */
HL_INLINE struct hl_req *hl_req_place(const void *handle, enum hl_kind kind)
{
    size_t at = (size_t)((uintptr_t)handle - (uintptr_t)hl_req_base);
    if (HL_UNLIKELY(at >= hl_req_range || at % sizeof(struct hl_req) != 0)) {
        return NULL;
    }
    struct hl_req *r = (struct hl_req *)(void *)(hl_req_base + at);
    return HL_LIKELY(r->kind == (uint32_t)kind) ? r : NULL;
}

/* The request behind a user's handle (its address) if it is an allocated one, else NULL. Accepts any bit
 * pattern; MPI_REQUEST_NULL gives NULL. */
HL_INLINE struct hl_req *hl_req_of(MPI_Request handle)
{
    return hl_req_place(handle, HL_KIND_REQ);
}

HL_INLINE MPI_Request hl_req_handle(struct hl_req *r)
{
    return (MPI_Request)(void *)r;
}

HL_INLINE bool hl_req_is_done(const struct hl_req *r)
{
    /* acquire: sees the results; pairs with the release in hl_req_done. */
    return hl_a32_load_acquire(&r->state) == HL_REQ_DONE;
}

HL_INLINE bool hl_req_is_active(const struct hl_req *r)
{
    /* relaxed: asked by the thread that starts and finishes it. */
    return hl_a32_load_relaxed(&r->state) != HL_REQ_INACTIVE;
}

/* The open request behind a handle that hl_req_of has accepted, or MPI_REQUEST_NULL. NULL for a null or
 * inactive one, and for one that stood in an array twice and is gone. */
HL_INLINE struct hl_req *hl_req_open_of(MPI_Request handle)
{
    struct hl_req *r = (struct hl_req *)(void *)handle;
    return handle != MPI_REQUEST_NULL && r->kind == HL_KIND_REQ && hl_req_is_active(r) ? r : NULL;
}

/* Completes it: the completer's last touch. Does not wake sleepers: the caller does hl_prog_wake once for a
 * batch. Any thread. */
HL_INLINE void hl_req_done(struct hl_req *r)
{
    /* release: publishes the results; pairs with the acquire in hl_req_is_done. */
    hl_a32_store_release(&r->state, HL_REQ_DONE);
}

/* Keeps the first error of an operation. Any thread, before that part is done. */
void hl_req_fail(struct hl_req *r, int error);

/* Opens `n` parts, before the first one can end. A request with parts starts with 1 of the issuer's own, if
 * he wishes, so that it cannot end while he is still issuing. */
HL_INLINE void hl_req_add_parts(struct hl_req *r, uint32_t n)
{
    /* relaxed: parts are handed to completers by other means after this. */
    hl_a32_add_relaxed(&r->parts, n);
}

/* Ends one part, with its error or 0; the last one completes the request (and returns true: wake then). Any
 * thread. */
bool hl_req_part_done(struct hl_req *r, int error);

/* Puts an open request into words, for the watchdog: by what its owner's module said it can be told by, set
 * while opening, else by its kind. */
typedef void hl_req_tell_fn(const struct hl_req *r, struct hl_told *t);
void hl_req_on_tell(enum hl_req_what what, hl_req_tell_fn *tell);
void hl_req_tell(const struct hl_req *r, struct hl_told *t);

/* Waits until it is DONE (hl_prog_wait). */
void hl_req_wait(struct hl_req *r);

/* Waits until all of them are done; NULL and inactive entries count as done. */
void hl_req_wait_all(size_t n, struct hl_req *const *reqs);

/* Finishes a DONE request: writes *status unless it is MPI_STATUS_IGNORE (all fields but MPI_ERROR), and
 * frees it, or makes it INACTIVE when persistent. Returns its error code (0 or HL_ERR_*). */
int hl_req_finish(struct hl_req *r, MPI_Status *status);

/* Writes the status of a DONE request without finishing it (MPI_Request_get_status). `r` NULL or inactive:
 * the empty status. Returns its error code. Any number of threads. */
int hl_req_status(struct hl_req *r, MPI_Status *status);

/* The results as they stand in the request: for an owner's `results`. */
int hl_req_results(struct hl_req *r, MPI_Status *status);

/* Fields of a status; MPI_ERROR stays as it is. `status` may be MPI_STATUS_IGNORE. */
void hl_req_set_status(MPI_Status *status, int source, int tag, int64_t bytes, bool cancelled);

/* Finishes it, status and all, if it is DONE without an error and nothing is special about it. False: it was
 * not touched. */
HL_INLINE bool hl_req_end_plain(struct hl_req *r, MPI_Status *status)
{
    /* relaxed: ordered by the acquire of DONE. */
    if (!hl_req_is_done(r) || hl_req_has(r, ~HL_REQ_STATIC) || r->more != NULL ||
        hl_a32_load_relaxed(&r->error) != 0) {
        return false;
    }
    hl_req_set_status(status, r->source, r->tag, r->bytes, false);
    if (HL_LIKELY(!hl_req_has(r, ~0))) {
        hl_req_free(r);
    }
    return true;
}

/* Bytes in a status, as hl_req_set_status stored them. */
int64_t hl_req_status_bytes(const MPI_Status *status);
bool hl_req_status_cancelled(const MPI_Status *status);

/* MPI_Request_free: nobody waits for it any more; it is finished by a later sweep, at once when it is
 * INACTIVE. Any thread. */
void hl_req_orphan(struct hl_req *r);

/* Waits until those of the communicator with this context (plane 0; 0: of any) have ended. */
void hl_req_complete(uint64_t ctx);

/* Is one of them left that has not ended? */
bool hl_req_has_orphans(void);

/* Finishes orphans that are done; returns how many. Registered with prog by hl_req_open. */
int hl_req_sweep(void *unused);

/* Start and end of the module: registers the sweep. hl_req_new works without. */
int hl_req_open(void);

/* Waits (hl_prog_wait) for orphaned sends: peers still have to fetch them. Before the fence of the end. */
void hl_req_quiet(void);

/* Forgets orphans that never completed: receives nobody sent to. */
void hl_req_close(void);

#endif
