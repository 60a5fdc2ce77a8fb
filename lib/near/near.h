/* Memory of node peers: mapping it, copying, CPU atomics, fences.
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
#include <sys/types.h>

/* ---- mapping ---- */

/* One wanted mapping: the caller sets the first four fields, hl_near_map_all sets the last two. */
struct hl_near_want {
    int node_rank;   /* owner; may be this rank */
    uint64_t seg_id; /* the owner's hl_seg.id */
    size_t seg_len;  /* its hl_seg.len */
    void *at;   /* wanted address, in a range that the caller reserved (hl_mem_reserve); NULL: anywhere */
    char *base; /* address of the mapping in this process; NULL when rc != 0 */
    int rc;     /* 0, or the error of this mapping */
};

/* Maps peers' segments. It opens the files that their owners list in the board; where that is not possible,
 * it asks the owners and waits for the answers of their receive threads. The receive thread of this rank must
 * run (rx started), or another thread must call hl_near_serve. Each success holds one reference, which
 * hl_near_unmap gives back. Mappings are cached: an existing one costs no message, and refusals are kept,
 * too. Returns 0 when all rc are 0, else the first rc that is not: HL_ERR_RMA_SHARED (the owner cannot share
 * the segment, or this rank cannot map it: use the network; the text says why), HL_ERR_PROC_ABORTED (the
 * owner has died), HL_ERR_NO_MEM (with the text). Any thread but the receive thread. */
int hl_near_map_all(struct hl_near_want *wants, size_t count);

/* Maps one segment, anywhere, as hl_near_map_all does; sets *base on success. */
int hl_near_map(int node_rank, uint64_t seg_id, size_t seg_len, char **base);

/* Gives one reference of a mapping back. Returns true when the segment was unmapped: that happens with the
 * last reference, but never to an arena, which lives as long as its owner. A range in which the mapping was
 * placed is reserved again. False for a segment of this rank. Any thread. */
bool hl_near_unmap(int node_rank, uint64_t seg_id);

/* Sets *here to where bytes [theirs, theirs + len) of a peer's segment are mapped in this process; `theirs`
 * is an address at the owner. The caller then holds a reference, which hl_near_unmap gives back. Returns
 * false when these bytes are not all mapped. Sends nothing. Any thread. */
bool hl_near_borrow(int node_rank, uint64_t seg_id, uint64_t theirs, size_t len, char **here);

/* The node rank of the peer that owns the mapped segment in which this address lies, or -1. Any thread. */
int hl_near_owner(const void *addr);

/* Handles one message of the node socket, sent by node rank `from` with descriptor `fd` (or -1). The receive
 * thread calls it for every message; it never waits for long. Returns 0 when the message belongs to near,
 * which then owns fd, or HL_ERR_FOUND_NONE (without a text) when it belongs to another module: near's
 * messages begin with HL_NEAR_MAGIC. */
int hl_near_serve(const void *msg, size_t len, int from, int fd);
#define HL_NEAR_MAGIC 0x7261654eu /* "Near", the first 32 bits */

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

/* ---- memory that is not mapped ---- */

enum hl_near_way { HL_NEAR_READ, HL_NEAR_WRITE };

/* Copies `len` bytes between `mine` and the address `theirs` of process `pid`, through the kernel. Returns
 * how many bytes were copied: fewer than `len` when the kernel refuses, and errno says why (EPERM: not
 * permitted; ESRCH: no such process; EFAULT: nothing is mapped there). Any thread. */
size_t hl_near_kernel_copy(pid_t pid, enum hl_near_way way, void *mine, uint64_t theirs, size_t len);

/* Copies between a list of pieces here and one in process `pid` by one system call: at most HL_NEAR_PIECES
 * pieces on each side and 1 GiB in all. Returns the bytes copied; errno is set as hl_near_kernel_copy
 * does. */
struct iovec;
#define HL_NEAR_PIECES 64
size_t hl_near_kernel_pieces(pid_t pid, enum hl_near_way way, const struct iovec *mine, size_t n_mine,
                             const struct iovec *theirs, size_t n_theirs);

/* ---- atomics ---- */

/* The lock under which elements are updated that no single instruction can update. Near peers, the target
 * itself and its receive thread all take it, so all of a target's memory has ONE lock, in its home. A window
 * keeps such a structure, too, but only to name that home. All zero: free. */
struct hl_near_lock {
    hl_a32 holder; /* node rank + 1 of the holder; 0: free; atomic */
    uint32_t home; /* node rank + 1 of the rank in whose home the lock is; 0: this structure is the lock */
    hl_a32 rows;   /* in a window's structure; 1: nobody updates single elements of it by instructions, so
                    * loops update rows under the lock. Set before other ranks know the window; the first
                    * rank that uses an instruction clears it for good; atomic */
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

/* A segment that peers may open by themselves (offers.c). Its owner writes it, ranks of the node read it. */
struct hl_near_offer {
    HL_ALIGNED_LINE hl_a64 id; /* of the segment, 0: none; atomic, released after the other fields */
    int32_t pid, fd;           /* the owner's process, and the descriptor there */
    uint64_t dev, ino; /* device and number of the file: they prove that the descriptor still means it */
    uint64_t off, len; /* the segment's bytes in the file */
    uint64_t base;     /* its address at its owner */
    uint32_t arena;    /* 1: the segment is an arena and lives as long as its owner */
};

#define HL_NEAR_OFFERS 64 /* segments of a rank that are listed at a time */

/* What a rank has in the node's board for all its windows and heaps. */
struct hl_near_home {
    struct hl_near_lock lock; /* of all the rank's memory */
    hl_a32 overlaid;          /* 1: windows without `rows` reach this memory, too; atomic, set under `lock` */
    struct hl_near_rpc_slot rpc_slots[HL_NEAR_RPC_SLOTS];
    struct hl_near_offer offers[HL_NEAR_OFFERS]; /* its segments */
};

/* Bytes of the board that this module needs for `node_size` ranks. */
size_t hl_near_board_bytes(int node_size);

/* Opens the module over these bytes, which were zero before the first rank came, before any other call of
 * this header. From then on peers find this rank's segments there. Returns 0 or an error of hl_mem_watch. */
int hl_near_open(void *board);

/* The home of a node rank. */
struct hl_near_home *hl_near_home(int node_rank);

/* Waits (spins, yields, naps) until this rank holds the lock. A holder never waits for anything and holds the
 * lock for at most 256 elements, or 16 KiB of a row. If the holder's process has died, the lock is taken over
 * after about 100 ms; the element that the dead rank was updating may be half done. Any thread. */
void hl_near_lock_take(struct hl_near_lock *l);

/* Gives the lock back. The thread that took it. */
void hl_near_lock_leave(struct hl_near_lock *l);

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
    memcpy(&v, origin, bytes);
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
