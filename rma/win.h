/* Windows: what a rank knows of every target, decided when the window is made. */
#ifndef HL_WIN_H
#define HL_WIN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "attr.h"
#include "boot.h"
#include "comm.h"
#include "epoch.h"
#include "fab.h"
#include "fault.h"
#include "handle.h"
#include "hang.h"
#include "lane.h"
#include "lock.h"
#include "lockword.h"
#include "mem.h"
#include "near.h"
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

/* How a target is reached, in 16 bytes. The upper bits of `where` tell:
 *
 *   0 .. 47       MAPPED  where = the window's first byte in my address space, at = its control block there
 *   bits 63, 62   PRIVATE where = its address in the target's process, at = its control block in mine;
 *                         bit 61: the kernel does not let us copy there
 *   bit 63        FAR     where = the address that RMA operations name, at = the registration key
 *
 * Targets of a dynamic window (dyn.h) are PRIVATE with address 0, or FAR with bit 61: where its memory is
 * must be asked each time. */
struct hl_target {
    uint64_t where;
    uint64_t at;
};
#define HL_TARGET_FAR ((uint64_t)1 << 63)
#define HL_TARGET_PRIVATE ((uint64_t)3 << 62)
#define HL_TARGET_NO_CMA ((uint64_t)1 << 61)
#define HL_TARGET_BITS ((uint64_t)7 << 61)

/* Bytes of a target's window and its displacement unit. */
struct hl_extent {
    uint64_t size, unit;
};

/* One for each (window, rank), in that rank's arena: mapped by node peers. Zero = free. */
struct hl_win_ctl {
    hl_a64 lock;             /* lockword.h; atomic */
    struct hl_near_lock acc; /* whose lock guards elements that CPUs have no atomics for */
    hl_a32 holder;           /* for the watchdog: world rank + 1 of who took the lock last; atomic, a hint */
    hl_a32 told;             /* some process of the node has said that a hint is broken; atomic */
    hl_a64 words[]; /* [2 * node rank + enum hl_side]: the newest post or complete of that peer, its number
                     * twice, + 1 when it gave up (pscw.c); atomic, written by the peer */
    /* Behind the words: hl_a8 holds[2][size of the window], see hl_win_holds; atomic. In checked_mode then
     * what the rank shows of its operations (conflict.c). */
};

/* The user's window. Fields are read-only once it is made, but for those that say otherwise.
 *
 * THE SHORT WAY (fast.h) reads the first line of the window and the target's record, nothing else. The word
 * that opens it is epoch.reach: an operation goes the short way when its displacement is below it. It is 0
 * unless every target may be accessed now (epoch.c), and always 0 in windows whose open_reach is 0: those
 * with `detour` set, or whose targets differ in size or unit. A kind of window or a mode that needs more than
 * "check, then copy or hand to a lane" sets `detour` before hl_win_reach_all, and costs the others nothing.
 */
struct hl_win {
    struct hl_handle h;
    int size, rank;
    struct hl_target *targets; /* [size], then hl_win_acc_word */
    uint64_t scale;            /* displacement unit of every target, when their sizes and units agree */
    struct hl_epoch epoch;     /* has its own rules; its first words end the line */

    struct hl_extent all;      /* of every target, when they agree */
    struct hl_extent *extents; /* &all, or one for each target */
    uint32_t extent_mask;      /* 0: &all; else all ones */
    bool mapped;               /* some target is not FAR: flush ends with the fence of near.h */
    bool detour;               /* every operation takes the long way (mode.h) */
    bool far;                  /* some target is FAR */
    hl_a8 waits;               /* a flush is more than a fence: far, detour, conflicts, a death; atomic */
    hl_a8 mixes;               /* some FAR target had an accumulate: see hl_win_follow_acc; atomic */
    hl_a8 singles;             /* elements are updated by instructions: no target has rows; atomic */
    hl_a8 news;                /* a near target has died and no flush of all has told it; atomic */
    bool message_acc;          /* FAR targets' addresses do not tell alignment: records only */
    bool unordered;            /* accumulate_ordering = none; MPI_Win_set_info changes it and the next */
    hl_a8 no_locks;            /* a lock breaks a hint; atomic: the first one takes it back */
    bool bereft;               /* a rank of the window has died; guarded by the lock of table.c */
    uint8_t mem_kind;          /* enum hl_mem_kind that my piece was asked with */
    uint8_t mem_rule;          /* enum hl_mem_rule that holds for it */
    hl_a32 flushing;           /* flushes with a request that will look at it once more; atomic */
    struct hl_pairs *pairs;    /* pairs.h: has its own rules */
    struct hl_comm *comm;      /* my own duplicate of the user's */
    hl_a32 *errors;            /* [size] of the lanes, atomic; NULL without FAR targets */
    uint64_t tokens;           /* of target 0, as hl_win_token */
    hl_a64 errors_seen;        /* hl_lane_errors when all of them were looked at; atomic */
    uint64_t id;               /* the same on all ranks, never reused: comm->ctx */

    void *base;                 /* mine */
    uint64_t bytes;             /* mine */
    int flavor;                 /* MPI_WIN_FLAVOR_*; what the attribute points at */
    int unit;                   /* mine, saturated */
    uint32_t n_wants;           /* of wants */
    int n_near;                 /* targets with a control block in my address space, and which */
    int *near_ranks;            /* ascending */
    struct hl_piece piece;      /* memory that I own; seg NULL: the user's */
    struct hl_piece ctl_piece;  /* of hl_win_ctl */
    uint64_t region;            /* hl_fab_register's id of the memory, 0: none */
    struct hl_near_want *wants; /* mappings that I hold */
    struct hl_lockq lockq;      /* under the lock of table.c */
    struct hl_win *next;        /* table.c's chain */

    struct hl_mutex section;        /* of operations (cs.h): nests, as progress may run inside */
    char *name;                     /* NULL: none; guarded by the lock of win_obj.c */
    struct hl_errh *errh;           /* NULL: MPI_ERRORS_ARE_FATAL; changed as errh.h says */
    struct hl_info *info;           /* NULL: no hints; changed as info.h says */
    struct hl_dyn *dyn;             /* a dynamic window's; else NULL */
    struct hl_attr_set *attrs;      /* NULL: none; changed as keyval.h says */
    struct hl_conflicts *conflicts; /* of checked_mode, else NULL; has its own rules */
};

_Static_assert(sizeof(struct hl_win) <= HL_HANDLE_SIZE, "a window fits its place");
_Static_assert(offsetof(struct hl_win, epoch.mode) < 64, "the short way reads one line");

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
    return (t->where & HL_TARGET_FAR) == 0;
}

/* Reached by messages and lanes, with no control block here. */
HL_INLINE bool hl_target_is_far(const struct hl_target *t)
{
    return (t->where & HL_TARGET_PRIVATE) == HL_TARGET_FAR;
}

/* FAR, and all of its memory by one key. */
HL_INLINE bool hl_target_is_plain_far(const struct hl_target *t)
{
    return (t->where & HL_TARGET_BITS) == HL_TARGET_FAR;
}

HL_INLINE struct hl_win_ctl *hl_target_ctl(const struct hl_target *t)
{
    return (struct hl_win_ctl *)(uintptr_t)t->at;
}

/* Who holds which lock, for those who outlive him: [0][target] in the control block of the holder,
 * [1][holder] in that of the target, for holders who are far from it. Set before a lock is taken by its word,
 * by the target's receive thread before it is granted, and cleared after it is left: a dead rank's mark may
 * tell too much, when it died just there, never too little. */
HL_INLINE hl_a8 *hl_win_holds(const struct hl_win_ctl *ctl)
{
    return (hl_a8 *)(uintptr_t)&ctl->words[2 * hl_boot.node_size];
}

/* Bytes of the control block of a window over `size` ranks, without what checked_mode adds. */
HL_INLINE size_t hl_win_ctl_len(int size)
{
    size_t words = 2 * (size_t)hl_boot.node_size, holds = 2 * (size_t)size * sizeof(hl_a8);
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

/* Names (window, target) to lanes; never 0, never reused: lanes may meet it after the window is gone. */
HL_INLINE uint64_t hl_win_token(const struct hl_win *w, int target)
{
    return w->tokens + (uint32_t)target;
}

/* A transfer between `mine` and RMA address `addr` of FAR memory `t` of this target, without a request. (A
 * window whose targets are all mapped has no words of errors: the address of one is then a number that nobody
 * uses.) */
HL_INLINE struct hl_xfer hl_win_far_xfer(const struct hl_win *w, int target, const struct hl_target *t,
                                         uint64_t addr, void *mine, size_t len)
{
    uintptr_t error = (uintptr_t)w->errors + (size_t)target * sizeof *w->errors;
    return (struct hl_xfer){.peer = hl_win_world(w, target),
                            .addr = addr,
                            .key = t->at,
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

/* Moves data between the origin's buffer and a target's window: any types and any error. (fast.h has the
 * short way.) Done after the flush, or when m->req is. Returns 0 or what the checks say (HL_ERR_RANK, _COUNT,
 * _TYPE, _DISP, _RMA_RANGE, _RMA_SYNC, _TRUNCATE, _WIN) or the lane's error. */
int hl_win_xfer(const struct hl_move *m);

/* A failed operation's error, for the next flush of its target; the first one stays. */
void hl_win_keep_error(struct hl_win *w, int target, int rc);

/* The same for `len` contiguous bytes at offset `at`, already checked, of a target that is not mapped. */
int hl_win_far(const struct hl_move *m, uint64_t at, uint64_t len);

/* What a checked call is about: the displacement in bytes from the window's base, and bytes of data. */
struct hl_span {
    int64_t at, len;
};

/* What hl_win_xfer does after its checks. */
int hl_win_move(const struct hl_move *m, const struct hl_span *span);

/* Is the target's side one block of memory? Then *at is its first byte's offset in the window. */
bool hl_move_target_block(const struct hl_move *m, const struct hl_span *span, int64_t *at);

/* How all memory that an operation touches at its target is reached. */
struct hl_ground {
    struct hl_target t;
    uint64_t base;             /* MAPPED, PRIVATE: the address of offset 0 of the window */
    struct hl_near_lock *lock; /* MAPPED: of the elements there */
    struct hl_near_lock own;   /* where a dynamic window's is kept */
};

/* False: it is not one region. */
bool hl_win_ground(const struct hl_move *m, const struct hl_span *span, struct hl_ground *g);

/* ---- gets and puts behind the thread's own accumulates to the same FAR target (order.c) ---- */

/* Who has accumulated there: a word for each target, behind their records; atomic. */
HL_INLINE hl_a64 *hl_win_acc_word(const struct hl_win *w, int target)
{
    return (hl_a64 *)(void *)&w->targets[w->size] + target;
}

/* After an accumulate to it was issued. */
void hl_win_mark_acc(struct hl_win *w, int target);

/* Waits for this thread's, if there are any. */
void hl_win_await_acc(struct hl_win *w, int target) HL_COLD;

/* Nothing was ever accumulated off the node: gets and puts need not look further. */
HL_INLINE bool hl_win_mixes(const struct hl_win *w)
{
    return hl_a8_load_relaxed(&w->mixes) != 0; /* relaxed: this thread's own accumulates are what counts. */
}

/* Before a get or put: waits for the thread's accumulates there. */
HL_INLINE void hl_win_follow_acc(struct hl_win *w, int target)
{
    if (HL_UNLIKELY(hl_win_mixes(w))) {
        hl_win_await_acc(w, target);
    }
}

/* Checks all arguments of a call and names the first that is wrong. For MPI_PROC_NULL as target: 0 without
 * looking further. */
int hl_win_check(const struct hl_move *m, struct hl_span *span);

/* 0, or HL_ERR_RANK with its text. */
int hl_win_check_target(const struct hl_win *w, int target);

/* HL_ERR_WIN; hl_win_raise finds the words. HL_ERR_ARG: an argument is NULL. */
int hl_win_bad(void) HL_COLD;
int hl_win_null(const char *what) HL_COLD;

/* What a call's handles stand for, and the error when that was NULL or HL_OP_KINDS: bad handles are noted,
 * for their words only, by thread. */
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

/* Runs the window's error handler (w NULL: no window's) and returns the MPI error code. */
int hl_win_raise(struct hl_win *w, MPI_Win win, const char *func, int rc) HL_COLD;

/* The same, for a handle that may be of no window. */
int hl_win_fail(MPI_Win win, const char *func, int rc) HL_COLD;

/* The end of a call: MPI's code for rc; an error goes to the window's handler first. */
HL_INLINE int hl_win_end(MPI_Win win, const char *func, int rc)
{
    return HL_LIKELY(rc == 0) ? MPI_SUCCESS : hl_win_fail(win, func, rc);
}

/* "window NAME", or that it has none, for messages. */
void hl_win_words(struct hl_win *w, char *out, size_t cap);

/* Before an operation on a FAR target: under lock_all its lock is taken now. */
int hl_win_reach(struct hl_win *w, int target);

/* Around an operation that the user gets a request for: *r is shared and completed when nothing will be left
 * to do; else m->req is it, and it ends with the last part. `rc`: how the operation started. HL_ERR_NO_MEM,
 * HL_ERR_RMA_SYNC outside of a passive target epoch. */
int hl_win_request_begin(struct hl_move *m, struct hl_req **r);
void hl_win_request_end(const struct hl_move *m, int rc);

struct hl_acc {
    struct hl_move m; /* origin: the operands */
    char *result;     /* gets the elements before; NULL: nothing if not `fetches`, else MPI_BOTTOM */
    int64_t result_count;
    const struct hl_type *result_type;
    enum hl_op_kind op;
    bool fetches;
};

/* What hl_win_acc and hl_win_cas do after their checks. */
int hl_acc_apply(const struct hl_acc *a, const struct hl_span *span);
int hl_cas_apply(const struct hl_acc *a, const struct hl_span *span, const void *compare);

/* Ends rows (near.h) at all near targets, before this process updates the first element by an instruction. */
void hl_win_end_rows(struct hl_win *w) HL_COLD;

/* The same in windows that own this memory, for a window over it: len bytes of `owner`'s, a rank of this node
 * or -1. */
void hl_win_overlay(const void *base, uint64_t len, int owner);

/* Accumulate, Get_accumulate, Fetch_and_op: as hl_win_xfer, element by element. Also HL_ERR_OP. */
int hl_win_acc(const struct hl_acc *a);

/* MPI_Compare_and_swap. Errors as hl_win_xfer, and HL_ERR_TYPE for types that it does not take. */
int hl_win_cas(const struct hl_acc *a, const void *compare);

/* Ordered operations of one (window, target) share it. */
HL_INLINE uint64_t hl_win_order_key(const struct hl_win *w, int target)
{
    return hl_mix64(w->id ^ (uint64_t)(uint32_t)target << 40);
}

/* ---- memory of a node peer that is not mapped ---- */

/* Remembers a peer's process for CMA; true when its memory can be read: `token` stands at `at` there. */
bool hl_cma_probe(int node_rank, int pid, uint64_t at, uint64_t token);

/* Copies between my memory and an address of the peer's process. HL_ERR_RMA_RANGE, HL_ERR_PROC_ABORTED. */
int hl_cma_copy(int node_rank, enum hl_dir dir, void *mine, uint64_t theirs, size_t len);

/* The same for layouts, walks of bytes, until either ends; theirs are at hl_zip_at(address - base). */
int hl_cma_walk(int node_rank, enum hl_dir dir, struct hl_type_cursor *mine, struct hl_type_cursor *theirs,
                uint64_t base);

/* ---- synchronization ---- */

/* Waits until what was issued to `target` (-1: all) is complete there, then orders my accesses: the common
 * end of flush, unlock and fence. Returns the error that an operation left, once. */
int hl_win_flush(struct hl_win *w, int target);

/* Waits until no flush with a request looks at the window any more: what they wait for has ended. */
void hl_win_end_flushes(struct hl_win *w);

/* Asks the receive thread of `peer` (world rank) for a lock of window `id` and waits for its grant. */
int hl_ask_lock(int peer, uint64_t id, bool exclusive);

/* Sends a LOCK or UNLOCK record to whoever keeps that window's queue, also myself. Errors of hl_rx_send. */
int hl_win_send(int peer, const struct hl_wire_rec *rec);

/* What the grant's record says: ends the wait of the thread that knows `token`. `rc`: 0, HL_ERR_NO_MEM, or
 * HL_ERR_PROC_ABORTED when world rank `holder` died with the lock. On the receive thread. */
void hl_ask_granted(uint64_t token, int rc, int holder);

/* ---- all living windows, for the receive thread ---- */

void hl_win_table_add(struct hl_win *w);
void hl_win_table_remove(struct hl_win *w);

/* `len` bytes of my part of the window from displacement `at`, in bytes, or NULL when they are not all in it.
 * Of dynamic windows only with the window held by hl_win_table_with. */
char *hl_win_memory(const struct hl_win *w, uint64_t at, uint64_t len);

/* Calls fn(window with this id, arg) so that it is not freed meanwhile; HL_ERR_WIN when there is none. */
int hl_win_table_with(uint64_t id, int (*fn)(struct hl_win *w, void *arg), void *arg);

/* A rank has died: flushes of windows that reach it through shared memory tell so from now on, as stores to
 * its memory still succeed. Who waits for a lock that it holds is told. On the receive thread. */
void hl_win_bereave(int world);

/* Its part for my own lock, with the lock of table.c. */
void hl_win_bereave_lock(struct hl_win *w, int world);

/* The window one of whose error words this is, or NULL. */
struct hl_win *hl_win_table_of_word(const void *word);

/* ---- for the watchdog (tell.c) ---- */

void hl_win_tell(struct hl_win *w, struct hl_told *t);
/* Of the window with this id, the lock of world rank `peer`. */
void hl_win_tell_lock(uint64_t id, int peer, struct hl_told *t);
/* Leaves word for others who holds the lock of a target that is near: I do, or I no longer do. */
void hl_win_note_holder(const struct hl_win *w, int target, bool mine) HL_COLD;

/* Registers the handlers of window records with rx. */
int hl_win_serve(void);

#endif
