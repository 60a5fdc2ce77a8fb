/* Which targets a window may access now: one atomic word, and a small hash of the locked targets.
 *
 *   NONE --fence--> FENCE --fence(NOSUCCEED)--> NONE
 *   NONE or FENCE --lock--> LOCKS --last unlock--> NONE
 *   NONE or FENCE --lock_all--> ALL --unlock_all--> NONE
 *   NONE or FENCE --start--> START --complete--> NONE
 *
 * A fence opens an epoch in which nothing need happen, so locks may follow it directly. Beside the mode the
 * window may be exposed (post to wait): then fence and locks of my own memory are errors, start is not.
 * Reading (the check of every operation) takes no lock; changing takes the mutex. Neither costs O(ranks). */
#ifndef HL_EPOCH_H
#define HL_EPOCH_H

#include "atomic.h"
#include "attr.h"
#include "lock.h"

#include <stdbool.h>
#include <stdint.h>

enum hl_epoch_mode {
    HL_EPOCH_NONE = 0,
    HL_EPOCH_FENCE = 1,
    HL_EPOCH_ALL = 2,
    HL_EPOCH_LOCKS = 4,
    HL_EPOCH_START = 8,
};

/* How a target is locked; kept in its entry of the hash. */
enum hl_epoch_how {
    HL_EPOCH_SHARED = 1,
    HL_EPOCH_EXCLUSIVE = 2,
    HL_EPOCH_NOCHECK = 4, /* MPI_MODE_NOCHECK: no lock was taken */
    HL_EPOCH_LAZY = 8,    /* under lock_all, taken by the first operation */
    HL_EPOCH_HELD = 16,   /* of a lazy lock: it has been granted */
    HL_EPOCH_MEMBER = 32, /* not locked: in the group of start */
};

/* Entries are 0, or target + 1 in the lower half and enum hl_epoch_how in the upper half. Linear probing;
 * deletion shifts later entries back. `moves` tells readers that found nothing that entries moved, so that
 * they look again. */
struct hl_epoch_table {
    struct hl_epoch_table *smaller; /* the outgrown one: readers may still be inside, so it is freed with the
                                     * epoch */
    uint32_t mask;
    hl_a64 entries[];
};

struct hl_epoch {
    hl_a64 limit;          /* open_limit under FENCE and ALL, else 0; atomic, changed under mutex */
    hl_a64 limit8;         /* open_limit8 under FENCE and ALL, else 0; atomic, changed under mutex */
    hl_a32 flush_is_fence; /* fence_only under ALL, else 0; atomic, changed under mutex */
    hl_a32 mode;           /* enum hl_epoch_mode; atomic, changed under mutex */
    hl_a32 moves;          /* odd while entries move; atomic, changed under mutex */
    hl_aptr table;         /* struct hl_epoch_table; atomic, changed under mutex */
    uint32_t count;        /* entries; guarded by mutex */
    uint32_t all_how;      /* how lock_all was called; guarded by mutex */
    int exposed;           /* my rank + 1 from post to wait, else 0; guarded by mutex */
    /* These are set when the window is made, before its first epoch (see win.h, the short way). fence_only is
     * guarded by mutex later. */
    uint32_t fence_only;
    uint64_t open_limit, open_limit8;
    struct hl_mutex mutex;
};

/* hl_epoch_init returns 0 or HL_ERR_NO_MEM. */
int hl_epoch_init(struct hl_epoch *e);
void hl_epoch_fini(struct hl_epoch *e);

/* How `target` is locked (bits of enum hl_epoch_how), or 0 if it has no entry. Any thread, no lock. */
uint32_t hl_epoch_find(const struct hl_epoch *e, int target);

HL_INLINE uint32_t hl_epoch_mode_of(const struct hl_epoch *e)
{
    /* relaxed: the user orders a thread's synchronizing call before other threads' operations. */
    return hl_a32_load_relaxed(&e->mode);
}

/* The displacement below which operations on any target may go the short way; 0: none may. */
HL_INLINE uint64_t hl_epoch_limit(const struct hl_epoch *e)
{
    /* relaxed: the user orders it, like the mode. */
    return hl_a64_load_relaxed(&e->limit);
}

/* The displacement below which operations on 8 bytes of any target may go the short way; 0: none may. */
HL_INLINE uint64_t hl_epoch_limit8(const struct hl_epoch *e)
{
    /* relaxed: the user orders it, like the mode. */
    return hl_a64_load_relaxed(&e->limit8);
}

/* Is a flush of any target nothing but a fence? */
HL_INLINE bool hl_epoch_flush_is_fence(const struct hl_epoch *e)
{
    /* relaxed: the user orders it, like the mode. */
    return hl_a32_load_relaxed(&e->flush_is_fence) != 0;
}

/* May operations on `target` be issued? */
HL_INLINE bool hl_epoch_allows(const struct hl_epoch *e, int target)
{
    uint32_t mode = hl_epoch_mode_of(e);
    return HL_LIKELY((mode & (HL_EPOCH_FENCE | HL_EPOCH_ALL)) != 0) ||
           (mode != HL_EPOCH_NONE && hl_epoch_find(e, target) != 0);
}

/* A quick form of hl_epoch_allows without a function call. True is certain; false may be wrong. */
HL_INLINE bool hl_epoch_allows_at_once(const struct hl_epoch *e, int target)
{
    uint32_t mode = hl_epoch_mode_of(e);
    if (HL_LIKELY((mode & (HL_EPOCH_FENCE | HL_EPOCH_ALL)) != 0)) {
        return true;
    }
    /* acquire: sees the entries; pairs with the release in grow_epoch. */
    const struct hl_epoch_table *t = hl_aptr_load_acquire(&e->table);
    /* relaxed: an entry is one word. */
    return mode != HL_EPOCH_NONE &&
           (uint32_t)hl_a64_load_relaxed(&t->entries[(uint32_t)target & t->mask]) == (uint32_t)target + 1;
}

/* True: no operation has to take the lock of `target` first. False may be wrong; then hl_win_take_lock
 * decides. */
HL_INLINE bool hl_epoch_holds_at_once(const struct hl_epoch *e, int target)
{
    /* acquire: sees the entries; pairs with the release in grow_epoch. */
    const struct hl_epoch_table *t = hl_aptr_load_acquire(&e->table);
    /* relaxed: an entry is one word. */
    uint64_t entry = hl_a64_load_relaxed(&t->entries[(uint32_t)target & t->mask]);
    return hl_epoch_mode_of(e) != HL_EPOCH_ALL ||
           ((uint32_t)entry == (uint32_t)target + 1 && (entry >> 32 & HL_EPOCH_HELD) != 0);
}

/* Is `target` locked, by itself or by lock_all, so that it may be flushed? */
HL_INLINE bool hl_epoch_is_locked(const struct hl_epoch *e, int target)
{
    uint32_t mode = hl_epoch_mode_of(e);
    return HL_LIKELY((mode & HL_EPOCH_ALL) != 0) || (mode == HL_EPOCH_LOCKS && hl_epoch_find(e, target) != 0);
}

/* Enters `target` as locked `how`. HL_ERR_RMA_SYNC when it is locked already, under lock_all or start, or
 * when it is my own memory and exposed; HL_ERR_NO_MEM. */
int hl_epoch_lock(struct hl_epoch *e, int target, uint32_t how);

/* Removes `target`; *how: how it was locked. HL_ERR_RMA_SYNC when hl_epoch_lock had not locked it. */
int hl_epoch_unlock(struct hl_epoch *e, int target, uint32_t *how);

/* Enters lock_all. HL_ERR_RMA_SYNC when anything is locked, started or exposed. */
int hl_epoch_lock_all(struct hl_epoch *e, uint32_t how);

/* Leaves lock_all; *how: how it was called. Before, the caller must take all lazy entries out by
 * hl_epoch_drop. HL_ERR_RMA_SYNC when not under lock_all. */
int hl_epoch_unlock_all(struct hl_epoch *e, uint32_t *how);

/* Under lock_all: enters `target` as lazily locked unless a thread has done so. *mine: this caller did it,
 * and must get the lock, then call hl_epoch_settle. HL_ERR_NO_MEM, or HL_ERR_RMA_SYNC (lock_all was left
 * meanwhile). */
int hl_epoch_claim(struct hl_epoch *e, int target, bool *mine);

/* Marks a claimed target as HELD (error 0), or removes it again (another error). */
void hl_epoch_settle(struct hl_epoch *e, int target, int error);

/* Removes any one lazily locked target and returns it, or -1 when there is none left. */
int hl_epoch_drop(struct hl_epoch *e);

/* From now on hl_epoch_flush_is_fence is false: a flush is more than a fence. Any thread. */
void hl_epoch_flush_is_more(struct hl_epoch *e);

/* Enters (open) or leaves a fence epoch. HL_ERR_RMA_SYNC while anything is locked, started or exposed. */
int hl_epoch_fence(struct hl_epoch *e, bool open);

/* Enters an access epoch to `n` targets, all different. HL_ERR_RMA_SYNC when anything is locked or started,
 * HL_ERR_NO_MEM. */
int hl_epoch_start(struct hl_epoch *e, const int *targets, int n);

/* Leaves the access epoch of hl_epoch_start. HL_ERR_RMA_SYNC when none is open. */
int hl_epoch_complete(struct hl_epoch *e);

/* Begins an exposure epoch of my memory (I am rank `self`), and ends it. HL_ERR_RMA_SYNC when one is open
 * already, or my own memory is locked by me. */
int hl_epoch_expose(struct hl_epoch *e, int self);
void hl_epoch_conceal(struct hl_epoch *e);

/* What keeps the window from being freed, in words, or NULL when nothing does. */
const char *hl_epoch_busy(struct hl_epoch *e);

#endif
