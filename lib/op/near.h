/* Memory that ranks of a node share: copies, atomic updates, the lock of updates, fences.
 *
 * Memory model. A copy of 1, 2, 4 or 8 bytes whose address in the window is aligned to its length is ONE
 * relaxed atomic access there; other copies have no order and no atomicity inside. An accumulate is atomic
 * for each element. hl_near_fence orders copies against those of other ranks. Every call that completes
 * operations at the target (flush, unlock, complete, fence, sync) ends with it: without the fence, two ranks
 * that each do "put; flush; get" may both read old values (store buffers; litmus test SB). */
#ifndef HL_NEAR_H
#define HL_NEAR_H

#include "atomic.h"
#include "op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- copies ---- */

/* Copies `len` bytes between ranges that do not overlap. A copy of 1, 2, 4 or 8 bytes is one access on each
 * side that is aligned to its length. With len 0 the addresses may be NULL. Any thread. */
void hl_near_copy_any(void *dst, const void *src, size_t len);

/* hl_near_copy_any, with the copy of 8 bytes inlined. */
HL_INLINE void hl_near_copy(void *dst, const void *src, size_t len)
{
    if (HL_LIKELY(len == 8)) {
        /* relaxed: a put orders nothing; the flush's fence does. */
        hl_any64_store_relaxed(dst, hl_any64_load_relaxed(src));
        return;
    }
    hl_near_copy_any(dst, src, len);
}

/* ---- atomics ---- */

/* The lock under which elements are updated that no single instruction can update. Near peers, the target
 * itself and its receive thread all take it, so all of a target's memory has ONE lock, in its part of the
 * board. A window keeps such a structure, too, but only to name that part. All zero: free. */
struct hl_near_lock {
    hl_a32 holder;  /* node rank + 1 of the holder; 0: free; atomic */
    uint32_t owner; /* node rank + 1 of the rank in whose part the lock is; 0: this structure is the lock */
    hl_a32 rows;    /* in a window's structure; 1: nobody updates single elements of it by instructions, so
                    * loops update rows under the lock. It is set before other ranks know the window; the
                    * first rank that uses an instruction clears it for good; atomic */
};

/* A request slot carries an operation on private memory to the peer that owns the memory, which executes it,
 * and carries the result back. The threads of the request slot's owner agree by `busy`. The other fields
 * belong to the owner until it has sent the request, then to the peer until that sets `done`. */
#define HL_NEAR_RPC_SLOTS 4
#define HL_NEAR_RPC_BYTES ((size_t)(32 * 1024 - 64))

struct hl_near_rpc_slot {
    HL_ALIGNED_LINE hl_a32 busy; /* atomic: taken by a thread of the owner */
    hl_a32 done;                 /* atomic: the peer's answer is here */
    int32_t rc;
    HL_ALIGNED_LINE char bytes[HL_NEAR_RPC_BYTES];
};

/* What a rank has in the node's board for all its windows and heaps. */
struct hl_near_part {
    struct hl_near_lock lock; /* of all the rank's memory */
    hl_a32 overlaid;          /* 1: windows without `rows` reach this memory, too; atomic, set under `lock` */
    struct hl_near_rpc_slot rpc_slots[HL_NEAR_RPC_SLOTS];
};

/* Bytes of the board that the parts of `node_size` ranks take. */
size_t hl_near_board_bytes(int node_size);

/* Takes these bytes, which were zero before the first rank came, for the parts, before other calls. */
void hl_near_open(void *board);

/* A node rank's part of the board. */
struct hl_near_part *hl_near_part(int node_rank);

/* Waits (spins, yields, naps) until this rank holds the lock that `l` names, and returns that one. A holder
 * never waits for anything and holds the lock for at most 256 elements, or 16 KiB of a row. If the holder's
 * process has died, the lock is taken over after about 100 ms; the element that the dead rank was updating
 * may be half done. Any thread. */
struct hl_near_lock *hl_near_lock_take(struct hl_near_lock *l);

/* Gives back what hl_near_lock_take returned (`l` may name another lock by now). The thread that took it. */
void hl_near_lock_leave(struct hl_near_lock *held);

/* Ends the updates of rows by loops under the lock, for the window that keeps `l` and for good. A rank calls
 * it before it updates elements of the window by instructions. Any thread; may wait as hl_near_lock_take
 * does. */
void hl_near_end_rows(struct hl_near_lock *l);

/* Ends them in all memory of a rank of this node. */
void hl_near_overlay(int node_rank);

/* True: elements of `basic` at `target` are updated by CPU atomics (sizes 1, 2, 4, 8, naturally aligned, no
 * pairs); false: under the target's lock. It depends on type and address only, so that all ranks that update
 * a location agree. While the window has `rows`, rows of the first kind are updated under the lock as
 * well. */
bool hl_near_is_cpu(enum hl_basic basic, const void *target);

/* Sets target[i] = target[i] op origin[i] for i < n, each element atomically; unless `fetched` is NULL,
 * fetched[i] becomes the value before. Elements stand at the distance of their extent on all sides; origin
 * and fetched may have any alignment and are the caller's. With HL_OP_NO_OP it only fetches, and origin may
 * be NULL. `lock` is the target rank's, or the structure of the window that names it; it may be NULL where
 * all elements are updated by CPU atomics (hl_near_is_cpu) and the memory has no `rows`. Returns 0, or
 * HL_ERR_OP with the text when the operation is not defined for the type (nothing was changed). Any
 * thread. */
int hl_near_acc(enum hl_op_kind op, enum hl_basic basic, void *target, const void *origin, void *fetched,
                size_t n, struct hl_near_lock *lock);

/* `times` blocks of `len` elements each: block i is at base + disp[i], or, without disp, at base + i * stride
 * (bytes). */
struct hl_near_blocks {
    char *base;
    size_t len;
    int64_t stride;
    size_t times;
    const int64_t *disp;
};

/* hl_near_acc for target elements in blocks; origin and fetched have all of them one after the other. */
int hl_near_acc_blocks(enum hl_op_kind op, enum hl_basic basic, const struct hl_near_blocks *b,
                       const void *origin, void *fetched, struct hl_near_lock *lock);

/* Updates one integer of 4 or 8 `bytes` by one CPU instruction; fetched (NULL: not wanted) becomes the value
 * before. Returns false, and has done nothing, when there is no instruction for it or target is not
 * aligned. */
HL_INLINE bool hl_near_acc_word(enum hl_op_kind op, size_t bytes, void *target, const void *origin,
                                void *fetched)
{
    uint64_t v = 0;
    if (HL_UNLIKELY(((uintptr_t)target & (bytes - 1)) != 0)) {
        return false;
    }
    if (HL_LIKELY(op != HL_OP_NO_OP)) { /* which ignores its origin */
        memcpy(&v, origin, bytes);
    }
    if (HL_LIKELY(op == HL_OP_SUM)) {
        /* relaxed or the weakest there is: an accumulate orders nothing; the flush's fence does. */
        v = bytes == 8 ? hl_a64_add_relaxed(target, v) : hl_a32_add_relaxed(target, (uint32_t)v);
    } else if (op == HL_OP_REPLACE && fetched != NULL) {
        v = bytes == 8 ? hl_a64_xchg_acquire(target, v) : hl_a32_xchg_acquire(target, (uint32_t)v);
    } else if (op == HL_OP_NO_OP && fetched != NULL) {
        v = bytes == 8 ? hl_a64_load_relaxed(target) : hl_a32_load_relaxed(target);
    } else {
        return false;
    }
    if (fetched != NULL) {
        memcpy(fetched, &v, bytes);
    }
    return true;
}

/* Compare-and-swap of one element: *fetched = *target, and, if that equals *compare byte for byte, *target =
 * *origin. `lock`: what hl_near_acc takes. Returns 0, or HL_ERR_TYPE with the text for a type that
 * MPI_Compare_and_swap does not take (floating point, complex, pairs). Any thread. */
int hl_near_cas(enum hl_basic basic, void *target, const void *origin, const void *compare, void *fetched,
                struct hl_near_lock *lock);

/* hl_near_cas of an integer of 8 bytes; returns false, and has done nothing, when target is not aligned. */
HL_INLINE bool hl_near_cas_word(void *target, const void *origin, const void *compare, void *fetched)
{
    uint64_t expected, desired;
    if (HL_UNLIKELY(((uintptr_t)target & 7) != 0)) {
        return false;
    }
    memcpy(&expected, compare, sizeof expected);
    memcpy(&desired, origin, sizeof desired);
    /* full: lock-free algorithms are built on this call; the price is the same on x86. */
    (void)hl_a64_cas_full(target, &expected, desired);
    memcpy(fetched, &expected, sizeof expected);
    return true;
}

/* ---- order ---- */

/* Every synchronizing call ends with this fence when its window or heap has a mapped target (this rank
 * included). seq_cst: no later read of this thread passes its earlier puts (litmus test SB in
 * tests/unit/near_litmus.h). */
HL_INLINE void hl_near_fence(void)
{
    hl_fence_full();
}

#endif
