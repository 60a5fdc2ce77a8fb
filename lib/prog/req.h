/* Requests: 128 bytes each, recycled through per-thread caches, never unmapped.
 *
 *   INACTIVE --start--> ACTIVE --complete--> DONE --finish--> freed (or INACTIVE when persistent)
 *
 * The completer writes the results, then does one release store of DONE. That is its last access, so no
 * reference is counted. Only the thread that waits for or tests a request finishes it; if two threads finish
 * one request, that is the user's error. */
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
    HL_REQ_ORPHANED, /* a generalized request that the user has freed but not completed */
};

/* Which module's operation a request is, and so how to read its body. */
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
    HL_REQ_STATIC = 1,     /* the shared completed requests: finishing does nothing */
    HL_REQ_PERSISTENT = 2, /* finishing makes it INACTIVE */
    HL_REQ_CANCELLED = 4,  /* for MPI_Test_cancelled; set before DONE */
    HL_REQ_LOCAL = 8,      /* lives on a caller's stack: finishing does not put it into a pool */
    HL_REQ_MOVING = 16,    /* for the watchdog: a receive that has its message, but not yet all data */
};

#define HL_REQ_BODY 64

struct hl_req {
    uint32_t kind;  /* HL_KIND_REQ (HL_KIND_MESSAGE) while allocated: validates user handles */
    hl_a32 state;   /* enum hl_req_state. atomic: release by the completer, acquire by the waiter */
    hl_a32 parts;   /* atomic: open parts of an operation in several parts; of a message that failed with
                     * HL_ERR_PROC_ABORTED: 1 + the rank that died; with HL_ERR_TRUNCATE: how many bytes
                     * it has beyond `bytes`, at most UINT32_MAX */
    hl_a32 error;   /* atomic: 0 or the HL_ERR_* of the first part that failed */
    uint8_t what;   /* enum hl_req_what */
    hl_a8 flags;    /* atomic: enum hl_req_flag; changed before ACTIVE, or by the completer before DONE */
    uint16_t spare; /* for the owner's use */
    int32_t source; /* results, written before DONE: MPI_SOURCE */
    int64_t bytes;  /* bytes received */
    int32_t tag;    /* MPI_TAG */
    uint32_t generation;
    uint64_t ctx;                   /* of the communicator, for errors; 0: none */
    const struct hl_req_more *more; /* what is special about the request, or NULL; changed like flags */
    struct hl_req *next;            /* used by the pool while free, by the owner while allocated */
    /* The owner's (enum hl_req_what), which states what is in it. */
    _Alignas(8) unsigned char body[HL_REQ_BODY];
};
_Static_assert(sizeof(struct hl_req) == 128, "a request is 128 bytes, two cache lines");

/* Has the request any of these flags? */
HL_INLINE bool hl_req_has(const struct hl_req *r, int flags)
{
    return (hl_a8_load_relaxed(&r->flags) & flags) != 0; /* relaxed: changed before ACTIVE or before DONE. */
}

HL_INLINE void hl_req_mark(struct hl_req *r, enum hl_req_flag flag)
{
    /* relaxed: changed before ACTIVE or before DONE. */
    hl_a8_store_relaxed(&r->flags, (uint8_t)(hl_a8_load_relaxed(&r->flags) | flag));
}

/* Body of HL_REQ_RMA. */
struct hl_req_target {
    int world; /* rank of the target, for errors */
};

HL_INLINE struct hl_req_target *hl_req_target(struct hl_req *r)
{
    return (struct hl_req_target *)(void *)r->body;
}

/* A new ACTIVE request with clear results; its body is not cleared. NULL: no memory. Any thread; takes a lock
 * in one of 32 calls at most. */
struct hl_req *hl_req_new(enum hl_req_what what);

/* hl_req_new in two inlined halves, for callers that may write the results between them: hl_req_take returns
 * a place with nothing but its generation in it, or NULL; hl_req_begin makes a new ACTIVE request of it. */
HL_INLINE struct hl_req *hl_req_take(void);
HL_INLINE void hl_req_begin(struct hl_req *r, enum hl_req_what what, uint8_t flags);

/* What an owner does for a request besides completing it; usually the first member of an object of the
 * owner. */
struct hl_req_more {
    /* Reads the results of a DONE request, as hl_req_results does. `end`: this is the last time, by the
     * thread that finishes it; else several threads may be in it at once. NULL: hl_req_results is used. */
    int (*results)(struct hl_req *r, MPI_Status *status, bool end);
    /* For persistent requests. Begins the operation of a request that is ACTIVE and has clear results; may
     * end it at once. After an error nothing has begun. */
    int (*start)(struct hl_req *r);
    /* For persistent requests. Frees what belongs to the request, `more` too. The request is not active, and
     * is freed afterwards. */
    void (*drop)(struct hl_req *r);
};

/* Makes an allocated request persistent and INACTIVE. `more` must stay until its `drop` was called. */
void hl_req_set_again(struct hl_req *r, const struct hl_req_more *more);

/* Starts a persistent request that is INACTIVE. Returns the result of its `start`; after an error it is
 * INACTIVE still. */
int hl_req_start(struct hl_req *r);

/* Makes `r`, on the caller's stack, an ACTIVE request that is not of the pool (HL_REQ_LOCAL). */
void hl_req_init(struct hl_req *r, enum hl_req_what what);

/* Makes `r`, on the caller's stack, the request of a one-sided operation on this world rank. */
HL_INLINE void hl_req_init_rma(struct hl_req *r, int world)
{
    hl_req_init(r, HL_REQ_RMA);
    hl_req_target(r)->world = world;
}

/* The shared completed request of eager sends and near one-sided operations: empty status, never freed. */
HL_INLINE struct hl_req *hl_req_completed(void);

/* The shared completed request of communication with MPI_PROC_NULL: source MPI_PROC_NULL, tag MPI_ANY_TAG, no
 * bytes. */
struct hl_req *hl_req_proc_null(void);

/* Gives an allocated request back without looking at it (an operation that never started). */
HL_INLINE void hl_req_free(struct hl_req *r);

/* A thread's own free requests (pool.c). */
struct hl_req_cache {
    struct hl_req *head;
    unsigned count;
    unsigned most; /* most that it keeps; 0: none, since the pool would not get them when the thread ends */
};
HL_HIDDEN extern HL_THREAD_LOCAL struct hl_req_cache hl_req_cache;

/* hl_req_take and hl_req_free where the cache cannot serve: it is empty or full, or threads share one pool
 * (cs.h). */
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
    /* relaxed, all: no other thread knows the request yet. */
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

extern char *hl_req_base;   /* the range of all requests except local ones; NULL before the first */
extern size_t hl_req_range; /* its bytes; 0 before the first */

HL_INLINE struct hl_req *hl_req_completed(void)
{
    return (struct hl_req *)(void *)hl_req_base;
}

/* The place behind a user's handle if it holds something of `kind`, else NULL. Accepts any bit pattern. */
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
    /* relaxed: called by the thread that starts and finishes it. */
    return hl_a32_load_relaxed(&r->state) != HL_REQ_INACTIVE;
}

/* The active request behind a handle that hl_req_of has accepted before, or that is MPI_REQUEST_NULL. NULL
 * for MPI_REQUEST_NULL, for an inactive request, and for one that stood in an array twice and was freed by
 * its first place. */
HL_INLINE struct hl_req *hl_req_open_of(MPI_Request handle)
{
    struct hl_req *r = (struct hl_req *)(void *)handle;
    return handle != MPI_REQUEST_NULL && r->kind == HL_KIND_REQ && hl_req_is_active(r) ? r : NULL;
}

/* Completes the request; the completer's last access. It does not wake sleeping threads: the caller calls
 * hl_prog_wake once for a batch. Any thread. */
HL_INLINE void hl_req_done(struct hl_req *r)
{
    /* release: publishes the results; pairs with the acquire in hl_req_is_done. */
    hl_a32_store_release(&r->state, HL_REQ_DONE);
}

/* Notes an error of an operation; the first one is kept. Any thread, before the part that failed is done. */
void hl_req_fail(struct hl_req *r, int error);

/* Fails a receive whose message is `excess` bytes longer than there is room for. Before it is DONE. */
void hl_req_fail_long(struct hl_req *r, uint64_t excess) HL_COLD;

/* These `excess` bytes, at most UINT32_MAX, of a DONE receive that failed so. */
HL_INLINE int64_t hl_req_excess(const struct hl_req *r)
{
    return hl_a32_load_relaxed(&r->parts); /* relaxed: ordered by the acquire of DONE. */
}

/* Opens `n` parts, before the first of them can end. An issuer may open one of its own, so that the request
 * cannot complete while it still issues parts. */
HL_INLINE void hl_req_add_parts(struct hl_req *r, uint32_t n)
{
    /* relaxed: parts are handed to completers by other means after this. */
    hl_a32_add_relaxed(&r->parts, n);
}

/* Ends one part, with its error or 0. The last part completes the request and returns true: the caller must
 * then wake sleeping threads. Any thread. */
bool hl_req_part_done(struct hl_req *r, int error);

/* hl_req_describe describes an open request for the watchdog: by the function that its owner's module gave to
 * hl_req_on_describe while the library opened, else by its kind. */
typedef void hl_req_describe_fn(const struct hl_req *r, struct hl_wait_desc *t);
void hl_req_on_describe(enum hl_req_what what, hl_req_describe_fn *tell);
void hl_req_describe(const struct hl_req *r, struct hl_wait_desc *t);

/* Waits until the request is DONE (hl_prog_wait_rung). */
void hl_req_wait(struct hl_req *r);

/* Finishes a DONE request: writes *status unless it is MPI_STATUS_IGNORE (all fields but MPI_ERROR), and
 * frees it, or makes it INACTIVE when persistent. Returns its error code (0 or HL_ERR_*). */
int hl_req_finish(struct hl_req *r, MPI_Status *status);

/* Writes the status of a DONE request without finishing it (MPI_Request_get_status). `r` NULL or inactive:
 * the empty status. Returns its error code. Any number of threads. */
int hl_req_status(struct hl_req *r, MPI_Status *status);

/* Writes the results in the request to *status and returns its error, with a text; for an owner's
 * `results`. */
int hl_req_results(struct hl_req *r, MPI_Status *status);

/* Writes the fields of a status except MPI_ERROR. `status` may be MPI_STATUS_IGNORE. */
void hl_req_set_status(MPI_Status *status, int source, int tag, int64_t bytes, bool cancelled);

/* Finishes the request and writes its status, if it is DONE without an error and nothing is special about it.
 * False: nothing was changed. */
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

/* The bytes, and whether it was cancelled, in a status that hl_req_set_status wrote. */
int64_t hl_req_status_bytes(const MPI_Status *status);
bool hl_req_status_cancelled(const MPI_Status *status);

/* 0, or HL_ERR_REQUEST: the user must wait for this active operation. Others wait for parts of it that are
 * not on their way yet, or it is one-sided (MPI 4.1, 12.3.5). */
int hl_req_check_orphan(const struct hl_req *r);

/* MPI_Request_free: no thread waits for the request any more. It is freed at once when it is INACTIVE or
 * DONE, else by a later sweep. Any thread. */
void hl_req_orphan(struct hl_req *r);

/* Waits until the freed requests (hl_req_orphan) of the communicator with this context of plane 0 (ctx 0: of
 * all communicators) have ended. */
void hl_req_complete(uint64_t ctx);

/* Is there a freed request that has not ended? */
bool hl_req_has_orphans(void);

/* Finishes freed requests that are done and returns their number. hl_req_open registers it with prog. */
int hl_req_sweep(void *unused);

/* Opens the module: reserves the range of requests and registers the sweep. HL_ERR_NO_MEM. hl_req_new works
 * before it, too. */
int hl_req_open(void);

/* Waits for freed requests of sends, whose data peers still have to fetch. The end of the library calls it
 * before its fence. */
void hl_req_quiet(void);

/* Closes the module. Freed requests that never completed are forgotten: receives for which no message
 * came. */
void hl_req_close(void);

#endif
