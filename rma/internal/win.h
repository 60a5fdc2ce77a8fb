/* Windows: what a rank knows of every target, decided when the window is made. */
#ifndef HL_WIN_H
#define HL_WIN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api.h"
#include "atomic.h"
#include "attr.h"
#include "comm.h"
#include "epoch.h"
#include "handle.h"
#include "hang.h"
#include "hl_build.h"
#include "job.h"
#include "lane.h"
#include "lock.h"
#include "lockword.h"
#include "mem.h"
#include "mr.h"
#include "near.h"
#include "near_map.h"
#include "req.h"
#include "type.h"
#include "util.h"
#include "wire.h"

struct hl_errh;      /* errh.h */
struct hl_info;      /* info.h */
struct hl_attr_set;  /* keyval.h */
struct hl_dyn;       /* dyn.h */
struct hl_pairs;     /* pairs.h */
struct hl_conflicts; /* conflict.h */

/* How a target is reached, in 16 bytes. The upper bits of `where` tell which way:
 *
 *                         where                                   key_or_ctl
 *   0 .. 47       MAPPED  the window's first byte in my space     its control block, at my address
 *   bits 63, 62   PRIVATE its address in the target's process     the same
 *                         (bit 61: the kernel does not let us copy there)
 *   bit 63        FAR     the address that RMA operations name    the registration key
 *
 * Targets of a dynamic window (dyn.h) are PRIVATE with address 0, or FAR with bit 61: each operation must
 * look up where its memory is. */
struct hl_target {
    uint64_t where;
    uint64_t key_or_ctl;
};
#define HL_TARGET_UNMAPPED ((uint64_t)1 << 63)
#define HL_TARGET_PRIVATE ((uint64_t)3 << 62)
#define HL_TARGET_NO_CMA ((uint64_t)1 << 61)
#define HL_TARGET_BITS ((uint64_t)7 << 61)

/* Bytes of a target's window and its displacement unit. */
struct hl_extent {
    uint64_t size, unit;
};

/* A window's control block at one rank, in memory of that rank that node peers map. It starts as zeros: the
 * lock is free. */
struct hl_win_ctl {
    hl_a64 lock;             /* lockword.h; atomic */
    struct hl_near_lock acc; /* names the rank whose lock guards elements that no CPU instruction updates */
    hl_a32 holder;           /* for the watchdog: 1 + world rank that took the lock last; atomic, a hint */
    hl_a32 told;             /* some process of the node has said that a hint is broken; atomic */
    hl_a64 notes[]; /* [2 * node rank + enum hl_side]: the newest post or complete of that peer: twice its
                     * number, + 1 when the peer gave up (pscw.c); atomic, written by the peer */
    /* Behind the notes: hl_a8 holds[2][size of the window] (hl_win_holds), atomic; in checked_mode then what
     * the rank shows of its operations (conflict.c). */
};

/* The user's window. Once it is made fields are read-only, except those whose comment says otherwise.
 *
 * THE SHORT WAY (fast.h) of 8 bytes in mapped memory reads the first cache line of the window, 64 bytes, and
 * the target's record, nothing else. Other lengths also read `all`, and memory that is not mapped `mixes` and
 * `tokens`. One word opens the short way, epoch.limit: an operation goes the short way when its displacement
 * is below that word. The word is 0 unless every target may be accessed now (epoch.c). It is always 0 in
 * windows whose open_limit is 0: those with `detour` set, those whose targets differ in size or unit, and all
 * in checked_mode. A kind of window or a mode that needs more than "check, then copy or hand to a lane" sets
 * `detour` before hl_win_reach_all, so that it costs the others nothing. */
struct hl_win {
    struct hl_handle h;
    int size, rank;
    struct hl_target *targets; /* [size]; where ranks are alike, few pages mapped over and over (repeat.h) */
    uint64_t scale;            /* displacement unit of every target, when their sizes and units agree */
    struct hl_epoch epoch;     /* has its own rules; its first words are on the window's first cache line */

    struct hl_extent all;      /* size and unit of every target, when they agree */
    struct hl_extent *extents; /* &all, or one for each target */
    uint32_t extent_mask;      /* 0: &all; else all ones */
    bool mapped;               /* some target is not FAR: a flush ends with the fence of near.h */
    bool detour;               /* every operation takes the long way (mode.h) */
    bool far;                  /* some target is FAR */
    hl_a8 waits;               /* a flush is more than a fence (FAR, detour, checked_mode, death); atomic */
    hl_a8 mixes;               /* some FAR target had an accumulate (hl_win_follow_acc); atomic */
    hl_a8 singles;             /* CPU instructions update elements: no target has rows (near.h); atomic */
    hl_a8 news;                /* a near target has died, which no flush of all has reported yet; atomic */
    bool message_acc;          /* accumulates on FAR targets go by records only (win_reach.c) */
    bool unordered;            /* accumulate_ordering = none; changed by MPI_Win_set_info */
    hl_a8 no_locks;            /* the hint is set; atomic: the first lock and MPI_Win_set_info change it */
    bool bereft;               /* a rank of the window has died; guarded by the lock of table.c */
    uint8_t mem_kind;          /* enum hl_mem_kind that was asked for my piece */
    uint8_t mem_rule;          /* enum hl_mem_rule that holds for it */
    hl_a32 flushing;           /* flushes with a request that will still use the window; atomic */
    struct hl_pairs *pairs;    /* pairs.h: has its own rules */
    struct hl_comm *comm;      /* my own duplicate of the user's */
    hl_a32 *errors;            /* [size], atomic, written by lanes; NULL where all flushes are fences */
    uint64_t tokens;           /* hl_win_token of target 0 */
    hl_a64 errors_seen;        /* hl_lane_errors when the words of `errors` were last looked at; atomic */
    uint64_t id;               /* of the window, the same on all ranks and never reused: comm->ctx */

    void *base;                 /* of my part of the window */
    uint64_t bytes;             /* of my part of the window */
    int flavor;                 /* MPI_WIN_FLAVOR_*; the attribute MPI_WIN_CREATE_FLAVOR points at it */
    int unit;                   /* my displacement unit, at most INT32_MAX */
    uint32_t n_wants;           /* length of `wants` */
    int n_near;                 /* number of targets whose control block is in my address space */
    int *near_ranks;            /* those targets, ascending */
    struct hl_piece piece;      /* the memory, where the library took it; seg NULL: it is the user's */
    struct hl_piece ctl_piece;  /* memory of hl_win_ctl */
    uint64_t region;            /* hl_mr_register's id of the memory, 0: none */
    struct hl_near_want *wants; /* mappings that I hold */
    hl_a64 *acc_words;          /* [size], of order.c; atomic */
    struct hl_lockq lockq;      /* guarded by the lock of table.c */
    struct hl_win *next;        /* in table.c's chain; guarded by its lock */

    struct hl_mutex section;        /* around operations (cs.h); recursive, since progress may run inside */
    char *name;                     /* NULL: the window has none; guarded by the lock of win_obj.c */
    struct hl_errh *errh;           /* NULL: MPI_ERRORS_ARE_FATAL; changed as errh.h says */
    struct hl_info *info;           /* NULL: no hints; changed as info.h says */
    struct hl_dyn *dyn;             /* of a dynamic window, else NULL */
    struct hl_attr_set *attrs;      /* NULL: none; changed as keyval.h says */
    struct hl_conflicts *conflicts; /* in checked_mode, else NULL; has its own rules */
};

/* It has two mutexes. */
_Static_assert(sizeof(struct hl_win) + 2 * (HL_MUTEX_MOST - sizeof(struct hl_mutex)) <= HL_HANDLE_SIZE,
               "a window fits its place on every machine");
_Static_assert(offsetof(struct hl_win, epoch.mode) < 64, "the short way of 8 bytes reads one cache line");

/* My control block. */
HL_INLINE struct hl_win_ctl *hl_win_ctl(const struct hl_win *w)
{
    return w->ctl_piece.addr;
}

/* The window behind a handle, or NULL for MPI_WIN_NULL, freed, foreign and garbage values. Any thread. */
HL_INLINE struct hl_win *hl_win_of(MPI_Win handle)
{
    return hl_handle_get(handle, HL_KIND_WIN);
}

HL_INLINE bool hl_target_is_mapped(const struct hl_target *t)
{
    return (t->where & HL_TARGET_UNMAPPED) == 0;
}

/* Is the target reached by messages and lanes, with no control block here? */
HL_INLINE bool hl_target_is_far(const struct hl_target *t)
{
    return (t->where & HL_TARGET_PRIVATE) == HL_TARGET_UNMAPPED;
}

/* Is the target FAR, and does one registration key cover all of its memory? */
HL_INLINE bool hl_target_is_plain_far(const struct hl_target *t)
{
    return (t->where & HL_TARGET_BITS) == HL_TARGET_UNMAPPED;
}

HL_INLINE struct hl_win_ctl *hl_target_ctl(const struct hl_target *t)
{
    return (struct hl_win_ctl *)(uintptr_t)t->key_or_ctl;
}

/* Marks of which rank holds which lock, for the others when the holder dies: [0][target] in the control block
 * of the holder, [1][holder] in that of the target, for holders that are far from it. A mark is set before a
 * lock is taken by its word, or by the target's receive thread before it grants the lock, and cleared after
 * the lock is left. So the mark of a dead rank may be set although it did not hold the lock, but is never
 * missing when it did: [1][holder] of a near holder counts the releases that it has sent as records, until
 * the target has them, for a record may end with its sender (hl_win_released). */
HL_INLINE hl_a8 *hl_win_holds(const struct hl_win_ctl *ctl)
{
    return (hl_a8 *)(uintptr_t)&ctl->notes[2 * hl_job.node_size];
}

HL_INLINE hl_a8 *hl_win_released(const struct hl_win *w, const struct hl_win_ctl *target, int holder)
{
    return hl_win_holds(target) + w->size + holder;
}

/* Bytes of the control block of a window over `size` ranks, without those that checked_mode adds. */
HL_INLINE size_t hl_win_ctl_len(int size)
{
    size_t words = 2 * (size_t)hl_job.node_size, holds = 2 * (size_t)size * sizeof(hl_a8);
    return sizeof(struct hl_win_ctl) + words * sizeof(hl_a64) + (holds + 7) / 8 * 8;
}

HL_INLINE const struct hl_extent *hl_win_extent(const struct hl_win *w, int target)
{
    return &w->extents[(uint32_t)target & w->extent_mask];
}

HL_INLINE int hl_win_world(const struct hl_win *w, int target)
{
    return hl_comm_world(w->comm, target);
}

/* The number that names (window, target) to lanes. Never 0 and never reused, since lanes may meet it after
 * the window is gone. */
HL_INLINE uint64_t hl_win_token(const struct hl_win *w, int target)
{
    return w->tokens + (uint32_t)target;
}

/* A transfer of `len` bytes between `mine` and RMA address `addr` of FAR memory `t` of this target, without a
 * request. (Where `errors` is NULL, the address of the error word is a number that nobody uses.) */
HL_INLINE struct hl_xfer hl_xfer_to_far(const struct hl_win *w, int target, const struct hl_target *t,
                                        uint64_t addr, void *mine, size_t len)
{
    uintptr_t error = (uintptr_t)w->errors + (size_t)target * sizeof *w->errors;
    return (struct hl_xfer){.peer = hl_win_world(w, target),
                            .addr = addr,
                            .key = t->key_or_ctl,
                            .buf = mine,
                            .len = len,
                            .error = (hl_a32 *)error,
                            .token = hl_win_token(w, target)};
}

/* ---- operations ---- */

enum hl_dir { HL_PUT, HL_GET };

/* One call of the user, handles resolved (NULL: the handle was bad), nothing checked. */
struct hl_move {
    struct hl_win *win;
    char *origin;
    int64_t origin_count;
    const struct hl_type *origin_type;
    int target;
    int64_t disp;
    int64_t target_count;
    const struct hl_type *target_type;
    enum hl_dir dir;
    struct hl_req *req; /* NULL, or gets a part for each transfer by a lane */
};

/* Moves data between the origin's buffer and a target's window, checking all arguments: any types, the long
 * way (fast.h has the short one). The move is complete after the next flush, or when m->req is. Returns 0, or
 * what the checks found (HL_ERR_RANK, _COUNT, _TYPE, _DISP, _BUFFER, _RMA_RANGE, _RMA_SYNC, _RMA_CONFLICT,
 * _TRUNCATE, _WIN), or the lane's error. */
int hl_win_move(const struct hl_move *m);

/* Keeps a failed operation's error for the next flush of its target; of several the first one stays. */
void hl_win_keep_error(struct hl_win *w, int target, int rc);

/* Moves `len` contiguous bytes at `offset` of a target that is not mapped; the arguments were checked. Of
 * m it reads win, origin, target, dir and req. Returns 0 or an error as hl_win_move. */
int hl_move_unmapped(const struct hl_move *m, uint64_t offset, uint64_t len);

/* What a checked call touches: `offset`, the displacement in bytes from the window's base, and bytes of
 * data. */
struct hl_span {
    int64_t offset, len;
};

/* What hl_win_move does after its checks, with their result in `span`. */
int hl_move_apply(const struct hl_move *m, const struct hl_span *span);

/* Is the target's side one block of memory? If so, *offset is the offset of its first byte in the window. */
bool hl_move_target_block(const struct hl_move *m, const struct hl_span *span, int64_t *offset);

/* How the memory is reached that an operation touches at its target. */
struct hl_ground {
    struct hl_target t;
    uint64_t base;             /* of MAPPED and PRIVATE memory: the address of offset 0 of the window */
    struct hl_near_lock *lock; /* of MAPPED memory: guards the elements there, else NULL */
    struct hl_near_lock own;   /* storage of `lock` for a dynamic window */
};

/* Fills *g; false when the operation's memory is not in one attached region of a dynamic window. It may
 * wait for the target's receive thread. */
bool hl_win_ground(const struct hl_move *m, const struct hl_span *span, struct hl_ground *g);

/* ---- gets and puts that follow the thread's own accumulates to the same FAR target (order.c) ---- */

/* Which threads have accumulated to this target (order.c): one word for each target; atomic. */
HL_INLINE hl_a64 *hl_win_acc_word(const struct hl_win *w, int target)
{
    return &w->acc_words[target];
}

/* Notes that the calling thread has issued an accumulate to FAR `target`. */
void hl_win_mark_acc(struct hl_win *w, int target);

/* Waits until this thread's accumulates to `target`, if there are any, are done there. */
void hl_win_await_acc(struct hl_win *w, int target) HL_COLD;

/* Has this window ever accumulated to a FAR target? If not, gets and puts need not look further. */
HL_INLINE bool hl_win_mixes(const struct hl_win *w)
{
    return hl_a8_load_relaxed(&w->mixes) != 0; /* relaxed: only this thread's own accumulates matter. */
}

/* Called before a get or put of a FAR target: waits for the thread's own accumulates there. */
HL_INLINE void hl_win_follow_acc(struct hl_win *w, int target)
{
    if (HL_UNLIKELY(hl_win_mixes(w))) {
        hl_win_await_acc(w, target);
    }
}

/* Checks all arguments of a call; the error text names the first that is wrong. Fills *span. For
 * MPI_PROC_NULL as target it returns 0 and leaves *span alone. Errors as hl_win_move, but for those of lanes
 * and HL_ERR_RMA_CONFLICT. */
int hl_win_check(const struct hl_move *m, struct hl_span *span);

/* Returns 0, or HL_ERR_RANK with its text when `target` is no rank of w. */
int hl_win_check_target(const struct hl_win *w, int target);

/* hl_win_bad returns HL_ERR_WIN, whose text hl_win_raise completes, or the error that the library is not
 * open. hl_win_null returns HL_ERR_ARG: argument `what` is NULL. */
int hl_win_bad(void) HL_COLD;
int hl_win_null(const char *what) HL_COLD;

/* hl_win_type and hl_win_op resolve the handles of a call. A bad handle gives NULL or HL_OP_KINDS and is
 * noted for the thread, so that hl_win_bad_type and hl_win_bad_op, which return HL_ERR_TYPE and HL_ERR_OP,
 * can show it. */
enum hl_arg { HL_ARG_ORIGIN, HL_ARG_TARGET, HL_ARG_RESULT, HL_ARG_OP, HL_ARGS };
void hl_win_note_none(enum hl_arg arg, const void *handle) HL_COLD;
int hl_win_bad_type(enum hl_arg arg) HL_COLD;
int hl_win_bad_op(void) HL_COLD;

HL_INLINE const struct hl_type *hl_win_type(enum hl_arg arg, MPI_Datatype handle)
{
    const struct hl_type *t = hl_type_of(handle);
    if (HL_UNLIKELY(t == NULL)) {
        hl_win_note_none(arg, handle);
    }
    return t;
}

HL_INLINE enum hl_op_kind hl_win_op(MPI_Op handle)
{
    enum hl_op_kind op = hl_op_kind_of(handle);
    if (HL_UNLIKELY(op == HL_OP_KINDS)) {
        hl_win_note_none(HL_ARG_OP, handle);
    }
    return op;
}

/* Runs the error handler of w (NULL: the one for errors of no window) for error rc of `func` and returns the
 * MPI error code. */
int hl_win_raise(struct hl_win *w, MPI_Win win, const char *func, int rc) HL_COLD;

/* hl_win_raise for a handle that may be bad. */
int hl_win_fail(MPI_Win win, const char *func, int rc) HL_COLD;

/* Ends a call: returns MPI's code for rc. An error goes to the window's error handler first. */
HL_INLINE int hl_win_end(MPI_Win win, const char *func, int rc)
{
    return HL_LIKELY(rc == 0) ? MPI_SUCCESS : hl_win_fail(win, func, rc);
}

/* A row that makes a call on a window: `what`, 0 or HL_ERR_*, sees it as `w`. */
#define HL_CALL_WIN(name, params, what)                                                                      \
    HL_API(name);                                                                                            \
    int P##name params                                                                                       \
    {                                                                                                        \
        struct hl_win *w = hl_win_of(win);                                                                   \
        return hl_win_end(win, #name, w == NULL ? hl_win_bad() : (what));                                    \
    }

/* Writes "window NAME" for messages, or "a window without a name". */
void hl_win_words(struct hl_win *w, char *out, size_t cap);

/* Called before an operation on a FAR target: under lock_all the first one takes the target's lock, and waits
 * for it. Returns 0 or the error of the lock (HL_ERR_NO_MEM, HL_ERR_RMA_SYNC, HL_ERR_PROC_ABORTED, or of
 * hl_rx_send). */
int hl_win_take_lock(struct hl_win *w, int target);

/* Called around an operation for which the user gets a request. *r is a shared completed request when nothing
 * will be left to do; else it is m->req as well and completes with the operation's last part. `rc`: the
 * result of starting the operation. HL_ERR_NO_MEM; HL_ERR_RMA_SYNC in an epoch of fence or start. */
int hl_win_request_begin(struct hl_move *m, struct hl_req **r);
void hl_win_request_end(const struct hl_move *m, int rc);

struct hl_acc {
    struct hl_move m; /* m.origin has the operands */
    char *result;     /* gets the old elements; NULL: unused if not `fetches`, else MPI_BOTTOM */
    int64_t result_count;
    const struct hl_type *result_type;
    enum hl_op_kind op;
    bool fetches;
};

/* What hl_win_acc and hl_win_cas do after their checks, with the result in `span`. */
int hl_acc_apply(const struct hl_acc *a, const struct hl_span *span);
int hl_cas_apply(const struct hl_acc *a, const struct hl_span *span, const void *compare);

/* Ends rows (near.h) at all near targets, before this process updates the first element by an instruction. */
void hl_win_end_rows(struct hl_win *w) HL_COLD;

/* Ends rows of all windows that own memory in [base, base + len), because a new window or an attached region
 * covers it. `owner`: the node rank whose segment holds it, or -1. */
void hl_win_overlay(const void *base, uint64_t len, int owner);

/* Accumulate, Get_accumulate, Fetch_and_op: checks as hl_win_move, then updates element by element. Errors as
 * hl_win_move, and HL_ERR_OP. */
int hl_win_acc(const struct hl_acc *a);

/* MPI_Compare_and_swap. Errors as hl_win_move; HL_ERR_TYPE also for types that the standard does not allow
 * here. */
int hl_win_cas(const struct hl_acc *a, const void *compare);

/* The key that all ordered operations on one (window, target) share. */
HL_INLINE uint64_t hl_win_order_key(const struct hl_win *w, int target)
{
    return hl_mix64(w->id ^ (uint64_t)(uint32_t)target << 40);
}

/* ---- memory of a node peer that is not mapped ---- */

/* Remembers a peer's process for CMA (cross-memory attach). True when its memory can be read and written:
 * `token` stands at address `at` there. */
bool hl_cma_probe(int node_rank, int pid, uint64_t at, uint64_t token);

/* Copies `len` bytes between `mine` and address `theirs` of the peer's process. HL_ERR_RMA_RANGE,
 * HL_ERR_PROC_ABORTED. */
int hl_cma_copy(int node_rank, enum hl_dir dir, void *mine, uint64_t theirs, size_t len);

/* Copies between two layouts, both walks of bytes, until either ends; the blocks of `theirs` are at
 * hl_layout_at(address - base). Errors as hl_cma_copy. */
int hl_cma_walk(int node_rank, enum hl_dir dir, struct hl_type_cursor *mine, struct hl_type_cursor *theirs,
                uint64_t base);

/* ---- synchronization ---- */

/* Waits until what was issued to `target` (-1: all) is complete there, then orders my memory accesses by a
 * fence: the common end of flush, unlock and fence. Returns the error that an operation left, once, or
 * HL_ERR_PROC_ABORTED of a dead near target. */
int hl_win_flush(struct hl_win *w, int target);

/* Waits until every flush with a request has used the window for the last time. The operations that they wait
 * for have ended already. */
void hl_win_end_flushes(struct hl_win *w);

/* Asks the receive thread of `peer` (world rank) for the lock of its part of window `id` and waits until
 * `mark`, my mark that I hold it, is set, or the grant comes. HL_ERR_NO_MEM, HL_ERR_PROC_ABORTED when `peer`
 * or the lock's holder has died, errors of hl_rx_send. */
int hl_ask_lock(int peer, uint64_t id, bool exclusive, hl_a8 *mark);

/* Sends a LOCK or UNLOCK record to `peer` (world rank, also my own), which keeps the queue. Errors of
 * hl_rx_send. */
int hl_win_send(int peer, const struct hl_wire_rec *rec);

/* Takes in a grant: ends the wait of the thread that asked with `token`. `rc`: 0, HL_ERR_NO_MEM, or
 * HL_ERR_PROC_ABORTED when world rank `holder` died with the lock. The receive thread calls it, or any thread
 * for a lock of its own rank. */
void hl_ask_granted(uint64_t token, int rc, int holder);

/* ---- all living windows, for the receive thread ---- */

void hl_win_table_add(struct hl_win *w);
void hl_win_table_remove(struct hl_win *w);

/* The address of `len` bytes of my part of the window at offset `at` in bytes, or NULL when they are not all
 * in it. For dynamic windows the caller must hold the window by hl_win_table_with. */
char *hl_win_memory(const struct hl_win *w, uint64_t at, uint64_t len);

/* Calls fn(w, arg) for the window with this id, under the table's lock, so that w is not freed meanwhile.
 * Returns fn's result, or HL_ERR_WIN when there is no such window. */
int hl_win_table_with(uint64_t id, int (*fn)(struct hl_win *w, void *arg), void *arg);

/* Calls fn(w, arg) for each window, as hl_win_table_with does for one. */
void hl_win_table_each(void (*fn)(struct hl_win *w, void *arg), void *arg);

/* World rank `world` has died: flushes of windows that reach it through shared memory report so from now on,
 * since stores to its memory still succeed. Threads that wait for a lock that it holds get an error. On the
 * receive thread. */
void hl_win_bereave(int world);

/* The part of hl_win_bereave for my own lock. The caller has the lock of table.c. */
void hl_win_bereave_lock(struct hl_win *w, int world);

/* The window that has `word` among its error words, or NULL. */
struct hl_win *hl_win_table_of_word(const void *word);

/* ---- for the watchdog (describe.c) ---- */

void hl_win_describe(struct hl_win *w, struct hl_wait_desc *t);
/* Describes a wait for the lock of world rank `peer` in the window with this id. */
void hl_win_describe_lock(uint64_t id, int peer, struct hl_wait_desc *t);
/* Notes for others that I hold the lock of a near target, or (mine false) that I no longer do. */
void hl_win_note_holder(const struct hl_win *w, int target, bool mine) HL_COLD;

/* Registers the handlers of window records with rx. */
int hl_win_serve(void);

#endif
