/* Memory of node peers: mapping it, copying, CPU atomics, fences.
 *
 * Memory model. Copies of 1, 2, 4, 8 bytes whose window side is aligned to their length are ONE relaxed
 * atomic access there; other copies have no order and no atomicity inside. An accumulate is atomic for each
 * element. What orders copies against other ranks' is hl_near_fence, which every call that completes
 * operations at the target (flush, unlock, complete, fence, sync) ends with: without it "put; flush; get" on
 * two ranks may both read old values (store buffers; litmus test SB). */
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

/* One wanted mapping: the first four are the caller's, the last two are set by the call. */
struct hl_near_want {
    int node_rank;   /* owner; may be me */
    uint64_t seg_id; /* the owner's hl_seg.id */
    size_t seg_len;  /* its hl_seg.len */
    void *at;   /* where it shall be: in a range that the caller reserved (hl_mem_reserve); NULL: anywhere */
    char *base; /* where it is here; NULL when rc != 0 */
    int rc;     /* 0, or the error of this one */
};

/* Maps peers' segments: opens them by what their owners list in the board, or, where that is not possible,
 * asks the owners and waits for their receive threads' answers. Mine must
 * run too (rx started), or another thread must feed hl_near_serve. Each success holds one reference, given
 * back by hl_near_unmap. Mappings are cached: one that exists answers without a message, and "network"
 * answers are kept. Returns 0 when all rc are 0, else the first rc that is not: HL_ERR_RMA_SHARED (cannot be
 * mapped here or there: use the network; the text says why), HL_ERR_PROC_ABORTED (the owner is gone). Any
 * thread but the receive thread. */
int hl_near_map_all(struct hl_near_want *wants, size_t count);

/* The same for one. */
int hl_near_map(int node_rank, uint64_t seg_id, size_t seg_len, char **base);

/* Gives one reference back. Arenas stay mapped (they never die), other segments are unmapped with their last
 * reference: true then (what was mapped at a given address is reserved again). Any thread. */
bool hl_near_unmap(int node_rank, uint64_t seg_id);

/* Where [theirs, theirs + len) of a peer's segment, addresses of its owner, is mapped here: with a reference,
 * given back by hl_near_unmap. False: it is not mapped here, or not all of it. Sends nothing. Any thread. */
bool hl_near_borrow(int node_rank, uint64_t seg_id, uint64_t theirs, size_t len, char **here);

/* The node rank of the peer in whose segment, mapped here, this address lies, or -1. Any thread. */
int hl_near_owner(const void *addr);

/* Handles one message of the node socket, sent by `from` with descriptor `fd` (or -1). The receive thread
 * calls it for every message; it never waits for long. Returns 0 when the message was near's (then it owns
 * fd), or HL_ERR_FOUND_NONE (silent) when it is somebody else's: near's begin with HL_NEAR_MAGIC. */
int hl_near_serve(const void *msg, size_t len, int from, int fd);
#define HL_NEAR_MAGIC 0x7261654eu /* "Near", the first 32 bits */

/* ---- copies ---- */

/* Copies of any length, not overlapping. Aligned 1, 2, 4, 8: one access on each side that is aligned. */
void hl_near_copy_any(void *dst, const void *src, size_t len);

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
 * how many were copied: fewer than `len` when it refuses, and errno says why (EPERM: we may not; ESRCH: no
 * such process; EFAULT: nothing is mapped there). Any thread. */
size_t hl_near_kernel_copy(pid_t pid, enum hl_near_way way, void *mine, uint64_t theirs, size_t len);

/* The same for pieces of both, HL_NEAR_PIECES and 1 GiB at most, by one system call. */
struct iovec;
#define HL_NEAR_PIECES 64
size_t hl_near_kernel_pieces(pid_t pid, enum hl_near_way way, const struct iovec *mine, size_t n_mine,
                             const struct iovec *theirs, size_t n_theirs);

/* ---- atomics ---- */

/* Who does what the CPU cannot do in one instruction. Guards such elements against near peers, self and the
 * receive thread alike, so all of a target's memory has ONE: what windows keep only says whose. Zero = free.
 */
struct hl_near_lock {
    hl_a32 holder; /* node rank + 1 of the holder; atomic */
    uint32_t home; /* node rank + 1 of the rank whose home's lock is meant; 0: this one */
    hl_a32 rows;   /* of what a window keeps: rows are updated under the lock, as nobody updates elements by
                    * instructions so far; atomic, 1 from before others know it until the first does */
};

/* A tray carries a request to a peer that must do it itself, and back what it did: its memory is private.
 * Guarded by its user: `busy` by the owner's threads, the others by the owner until `asked`, then by the peer
 * until `done`. */
#define HL_NEAR_TRAYS 4
#define HL_NEAR_TRAY_BYTES ((size_t)(32 * 1024 - 64))

struct hl_near_tray {
    HL_ALIGNED_LINE hl_a32 busy; /* atomic: taken by a thread of the owner */
    hl_a32 done;                 /* atomic: the peer's answer is here */
    int32_t rc;
    HL_ALIGNED_LINE char bytes[HL_NEAR_TRAY_BYTES];
};

/* A segment that peers may open by themselves: see offers.c. Written by its owner, read by all. */
struct hl_near_offer {
    HL_ALIGNED_LINE hl_a64 id; /* of the segment, 0: none; atomic, released after the rest */
    int32_t pid, fd;           /* the owner's process, and the descriptor there */
    uint64_t dev, ino; /* of the file: what proves that the descriptor is still the one that was meant */
    uint64_t off, len; /* the segment's bytes in the file */
    uint64_t base;     /* its address at its owner */
    uint32_t arena;    /* it never dies */
};

#define HL_NEAR_OFFERS 64 /* segments of a rank that are listed at a time */

/* What a rank has in the node's board for all its windows and heaps. */
struct hl_near_home {
    struct hl_near_lock lock; /* of all its memory */
    hl_a32 overlaid;          /* others reach it by windows that do not know of `rows`; atomic */
    struct hl_near_tray trays[HL_NEAR_TRAYS];
    struct hl_near_offer offers[HL_NEAR_OFFERS]; /* its segments */
};

/* Board bytes of `node_size` ranks, and their use: before the others; zeroed memory the first time. From
 * hl_near_open on, peers find my segments there. It returns 0 or an error of hl_mem_watch. */
size_t hl_near_board_bytes(int node_size);
int hl_near_open(void *board);

/* The home of a node rank. */
struct hl_near_home *hl_near_home(int node_rank);

/* Waits (spins, yields, naps) until the lock is mine. Holders never wait for anything and hold it for at most
 * 256 elements, or 16 KiB of a row. If the holder's process has died, the lock is taken over after about
 * 100 ms (elements that it was at may be half done). Any thread. */
void hl_near_lock_take(struct hl_near_lock *l);
void hl_near_lock_leave(struct hl_near_lock *l);

/* Who updates elements by instructions says so first, once: from then on nobody updates rows by loops under
 * the lock. Any thread; may wait as hl_near_lock_take. */
void hl_near_end_rows(struct hl_near_lock *l);

/* The same for all memory of a rank of this node. */
void hl_near_overlay(int node_rank);

/* True: elements of `basic` at `target` are updated by CPU atomics; false: under the target's lock. A
 * function of type and address only, so that every user of a location agrees: sizes 1, 2, 4, 8 naturally
 * aligned, no pairs. While the lock has `rows`, the first kind is updated under it as well, in rows. */
bool hl_near_is_cpu(enum hl_basic basic, const void *target);

/* target[i] = target[i] op origin[i] for i < n, each element atomically; with `fetched`, fetched[i] = the
 * value before. Elements stand at the distance of their extent on all sides; origin and fetched may have any
 * alignment and are the caller's. HL_OP_NO_OP: only fetches, origin may be NULL. `lock`: the target rank's.
 * Any thread, the receive thread too. Errors: HL_ERR_OP when the operation is not defined for the type
 * (nothing was changed). */
int hl_near_acc(enum hl_op_kind op, enum hl_basic basic, void *target, const void *origin, void *fetched,
                size_t n, struct hl_near_lock *lock);

/* Blocks of `len` elements, `times` in all: at base + disp[i], or without disp at base + i * stride. */
struct hl_near_blocks {
    char *base;
    size_t len;
    int64_t stride;
    size_t times;
    const int64_t *disp;
};

/* The same where the target's elements are in blocks; origin and fetched have them all in a row. */
int hl_near_acc_blocks(enum hl_op_kind op, enum hl_basic basic, const struct hl_near_blocks *b,
                       const void *origin, void *fetched, struct hl_near_lock *lock);

/* The same for one integer of `bytes`, where the CPU has an instruction for it: false when it has none, and
 * nothing was done. */
HL_INLINE bool hl_near_acc_word(enum hl_op_kind op, size_t bytes, void *target, const void *origin,
                                void *fetched)
{
    uint64_t v = 0;
    if (HL_UNLIKELY(((uintptr_t)target & (bytes - 1)) != 0)) {
        return false;
    }
    memcpy(&v, origin, bytes);
    if (HL_LIKELY(op == HL_OP_SUM)) {
        /* relaxed, here and below: as hl_near_acc. */
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

/* One element: *fetched = *target; if it was equal to *compare, byte for byte, *target = *origin. `lock` as
 * above. Errors: HL_ERR_TYPE for a type that MPI_Compare_and_swap does not take (floating point, complex,
 * pairs). */
int hl_near_cas(enum hl_basic basic, void *target, const void *origin, const void *compare, void *fetched,
                struct hl_near_lock *lock);

/* The same for an integer of 8 bytes; false when it is not aligned, and nothing was done. */
HL_INLINE bool hl_near_cas_word(void *target, const void *origin, const void *compare, void *fetched)
{
    uint64_t expected, desired;
    if (HL_UNLIKELY(((uintptr_t)target & 7) != 0)) {
        return false;
    }
    memcpy(&expected, compare, sizeof expected);
    memcpy(&desired, origin, sizeof desired);
    /* full: as hl_near_cas. */
    (void)hl_a64_cas_full(target, &expected, desired);
    memcpy(fetched, &expected, sizeof expected);
    return true;
}

/* ---- order ---- */

/* Ends every synchronizing call when a window or heap has a mapped target (self included). seq_cst: later
 * reads of this thread do not pass its earlier puts (litmus SB in tests/unit/near_litmus.h). */
HL_INLINE void hl_near_fence(void)
{
    hl_fence_full();
}

#endif
