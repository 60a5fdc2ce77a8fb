/* Which targets a window may access now: the hash of locked targets. */
#include "epoch.h"

#include "err.h"

#include <stdlib.h>

#define FIRST_MASK 15u

static struct hl_epoch_table *make_epoch_table(uint32_t mask)
{
    struct hl_epoch_table *t = calloc(1, sizeof *t + (mask + (size_t)1) * sizeof t->entries[0]);
    if (t != NULL) {
        t->mask = mask;
    }
    return t;
}

static struct hl_epoch_table *epoch_table_of(const struct hl_epoch *e)
{
    /* acquire: sees the entries; pairs with the release in grow_epoch. */
    return hl_aptr_load_acquire(&e->table);
}

int hl_epoch_init(struct hl_epoch *e)
{
    *e = (struct hl_epoch){.mutex = HL_MUTEX_INIT};
    struct hl_epoch_table *t = make_epoch_table(FIRST_MASK);
    if (t == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a window's table of locked targets");
    }
    /* release: pairs with the acquire in epoch_table_of. */
    hl_aptr_store_release(&e->table, t);
    return 0;
}

void hl_epoch_fini(struct hl_epoch *e)
{
    struct hl_epoch_table *t = epoch_table_of(e);
    while (t != NULL) {
        struct hl_epoch_table *smaller = t->smaller;
        free(t);
        t = smaller;
    }
}

/* The slot of `target`, or the empty one where it belongs (*entry 0). */
static uint32_t probe_table(const struct hl_epoch_table *t, int target, uint64_t *entry)
{
    uint32_t at = (uint32_t)target & t->mask;
    for (uint32_t tries = 0; tries <= t->mask; tries++, at = (at + 1) & t->mask) {
        /* relaxed: an entry is one word; `moves` orders what a miss means. */
        *entry = hl_a64_load_relaxed(&t->entries[at]);
        if (*entry == 0 || (uint32_t)*entry == (uint32_t)target + 1) {
            return at;
        }
    }
    *entry = 0;
    return at;
}

uint32_t hl_epoch_find(const struct hl_epoch *e, int target)
{
    for (;;) {
        /* acquire: the probes come after it; pairs with the full additions in shift_back, clear_table and
         * grow_epoch. */
        uint32_t moves = hl_a32_load_acquire(&e->moves);
        uint64_t entry;
        probe_table(epoch_table_of(e), target, &entry);
        if (entry != 0) {
            return (uint32_t)(entry >> 32);
        }
        hl_fence_acquire(); /* the probes come before the second load; pairs with the additions to `moves` */
        /* relaxed: ordered by the fence above. */
        if ((moves & 1) == 0 && hl_a32_load_relaxed(&e->moves) == moves) {
            return 0;
        }
        HL_CPU_PAUSE();
    }
}

static void put_entry(struct hl_epoch_table *t, uint32_t at, int target, uint32_t how)
{
    /* relaxed: an entry is one word; other threads learn of it by the user's own ordering. */
    hl_a64_store_relaxed(&t->entries[at], (uint64_t)how << 32 | ((uint32_t)target + 1));
}

static int grow_epoch(struct hl_epoch *e)
{
    struct hl_epoch_table *old = epoch_table_of(e);
    struct hl_epoch_table *t = make_epoch_table(old->mask * 2 + 1);
    if (t == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory to lock one more target than %u", e->count);
    }
    for (uint32_t i = 0; i <= old->mask; i++) {
        /* relaxed: only the holder of the mutex writes entries. */
        uint64_t entry = hl_a64_load_relaxed(&old->entries[i]), there;
        if (entry != 0) {
            int target = (int)((uint32_t)entry - 1);
            put_entry(t, probe_table(t, target, &there), target, (uint32_t)(entry >> 32));
        }
    }
    t->smaller = old;
    hl_aptr_store_release(&e->table, t); /* release: publishes the entries; pairs with epoch_table_of */
    /* full: readers that found nothing in the old table look again; pairs with the acquire in
     * hl_epoch_find. */
    hl_a32_add_full(&e->moves, 2);
    return 0;
}

static int insert_target(struct hl_epoch *e, int target, uint32_t how)
{
    if (e->count * 2 > epoch_table_of(e)->mask) {
        int rc = grow_epoch(e);
        if (rc != 0) {
            return rc;
        }
    }
    struct hl_epoch_table *t = epoch_table_of(e);
    uint64_t there;
    put_entry(t, probe_table(t, target, &there), target, how);
    e->count++;
    return 0;
}

/* Empties slot `hole`: moves into it those behind it that would not be found any more. */
static void shift_back(struct hl_epoch *e, struct hl_epoch_table *t, uint32_t hole)
{
    hl_a32_add_full(&e->moves, 1); /* full: odd, so readers look again; pairs with the acquire in
                                    * hl_epoch_find */
    hl_fence_release();            /* before the first entry moves; pairs with the fence in hl_epoch_find */
    for (uint32_t at = (hole + 1) & t->mask;; at = (at + 1) & t->mask) {
        /* relaxed, here and below: only the holder of the mutex writes; readers check `moves`. */
        uint64_t entry = hl_a64_load_relaxed(&t->entries[at]);
        if (entry == 0) {
            break;
        }
        uint32_t home = ((uint32_t)entry - 1) & t->mask;
        if (((at - home) & t->mask) >= ((at - hole) & t->mask)) {
            hl_a64_store_relaxed(&t->entries[hole], entry);
            hole = at;
        }
    }
    hl_a64_store_relaxed(&t->entries[hole], 0);
    hl_a32_add_full(&e->moves, 1); /* full: even after the last move; pairs with the acquire in
                                    * hl_epoch_find */
    e->count--;
}

static void set_mode(struct hl_epoch *e, uint32_t mode)
{
    bool all = (mode & (HL_EPOCH_FENCE | HL_EPOCH_ALL)) != 0;
    /* relaxed, all four: the user orders this call before other threads' operations. */
    hl_a32_store_relaxed(&e->mode, mode);
    hl_a64_store_relaxed(&e->limit, all ? e->open_limit : 0);
    hl_a64_store_relaxed(&e->limit8, all ? e->open_limit8 : 0);
    hl_a32_store_relaxed(&e->flush_is_fence, mode == HL_EPOCH_ALL ? e->fence_only : 0);
}

void hl_epoch_flush_is_more(struct hl_epoch *e)
{
    hl_mutex_lock(&e->mutex);
    e->fence_only = 0;
    hl_a32_store_relaxed(&e->flush_is_fence, 0); /* relaxed: a flush that misses it counts as earlier. */
    hl_mutex_unlock(&e->mutex);
}

/* HL_ERR_RMA_SYNC with the reason why `target` (-1: all) cannot be locked now, or 0. */
static int refuse_lock(const struct hl_epoch *e, int target)
{
    if ((hl_epoch_mode_of(e) & HL_EPOCH_ALL) != 0) {
        return hl_err_say(HL_ERR_RMA_SYNC, "all targets are locked already by MPI_Win_lock_all");
    }
    if (hl_epoch_mode_of(e) == HL_EPOCH_START) {
        return hl_err_say(HL_ERR_RMA_SYNC, "the epoch of MPI_Win_start is still open");
    }
    if (e->exposed != 0 && (target < 0 || target + 1 == e->exposed)) {
        return hl_err_say(HL_ERR_RMA_SYNC,
                          "the memory of this rank, %d, is exposed by MPI_Win_post: MPI_Win_wait ends that",
                          e->exposed - 1);
    }
    return 0;
}

int hl_epoch_lock(struct hl_epoch *e, int target, uint32_t how)
{
    hl_mutex_lock(&e->mutex);
    int rc = refuse_lock(e, target);
    if (rc != 0) {
        hl_mutex_unlock(&e->mutex);
        return rc;
    }
    if (hl_epoch_find(e, target) != 0) {
        rc = hl_err_say(HL_ERR_RMA_SYNC, "target %d is locked already by this process", target);
    } else if ((rc = insert_target(e, target, how)) == 0) {
        set_mode(e, HL_EPOCH_LOCKS);
    }
    hl_mutex_unlock(&e->mutex);
    return rc;
}

int hl_epoch_unlock(struct hl_epoch *e, int target, uint32_t *how)
{
    int rc = 0;
    hl_mutex_lock(&e->mutex);
    struct hl_epoch_table *t = epoch_table_of(e);
    uint64_t entry;
    uint32_t at = probe_table(t, target, &entry);
    if (hl_epoch_mode_of(e) != HL_EPOCH_LOCKS || entry == 0) {
        rc = hl_err_say(HL_ERR_RMA_SYNC, "target %d is not locked", target);
    } else {
        *how = (uint32_t)(entry >> 32);
        shift_back(e, t, at);
        if (e->count == 0) {
            set_mode(e, HL_EPOCH_NONE);
        }
    }
    hl_mutex_unlock(&e->mutex);
    return rc;
}

int hl_epoch_lock_all(struct hl_epoch *e, uint32_t how)
{
    hl_mutex_lock(&e->mutex);
    int rc = refuse_lock(e, -1);
    if (rc == 0 && e->count != 0) {
        rc = hl_err_say(HL_ERR_RMA_SYNC, "%u target%s locked already by MPI_Win_lock", e->count,
                        e->count == 1 ? " is" : "s are");
    } else if (rc == 0) {
        e->all_how = how;
        set_mode(e, HL_EPOCH_ALL);
    }
    hl_mutex_unlock(&e->mutex);
    return rc;
}

int hl_epoch_unlock_all(struct hl_epoch *e, uint32_t *how)
{
    int rc = 0;
    hl_mutex_lock(&e->mutex);
    if (hl_epoch_mode_of(e) != HL_EPOCH_ALL) {
        rc = hl_err_say(HL_ERR_RMA_SYNC, "MPI_Win_lock_all was not called");
    } else {
        *how = e->all_how;
        set_mode(e, HL_EPOCH_NONE);
    }
    hl_mutex_unlock(&e->mutex);
    return rc;
}

int hl_epoch_claim(struct hl_epoch *e, int target, bool *mine)
{
    int rc = 0;
    *mine = false;
    hl_mutex_lock(&e->mutex);
    if (hl_epoch_mode_of(e) != HL_EPOCH_ALL) {
        rc = hl_err_say(HL_ERR_RMA_SYNC, "MPI_Win_unlock_all came before the operation on target %d", target);
    } else if (hl_epoch_find(e, target) == 0) {
        *mine = (rc = insert_target(e, target, HL_EPOCH_SHARED | HL_EPOCH_LAZY)) == 0;
    }
    hl_mutex_unlock(&e->mutex);
    return rc;
}

void hl_epoch_settle(struct hl_epoch *e, int target, int error)
{
    hl_mutex_lock(&e->mutex);
    struct hl_epoch_table *t = epoch_table_of(e);
    uint64_t entry;
    uint32_t at = probe_table(t, target, &entry);
    if (entry != 0 && error != 0) {
        shift_back(e, t, at);
    } else if (entry != 0) {
        put_entry(t, at, target, (uint32_t)(entry >> 32) | HL_EPOCH_HELD);
    }
    hl_mutex_unlock(&e->mutex);
}

int hl_epoch_drop(struct hl_epoch *e)
{
    int target = -1;
    hl_mutex_lock(&e->mutex);
    struct hl_epoch_table *t = epoch_table_of(e);
    for (uint32_t i = 0; e->count != 0 && i <= t->mask; i++) {
        /* relaxed: only the holder of the mutex writes entries. */
        uint64_t entry = hl_a64_load_relaxed(&t->entries[i]);
        if (entry != 0) {
            target = (int)((uint32_t)entry - 1);
            shift_back(e, t, i);
            break;
        }
    }
    hl_mutex_unlock(&e->mutex);
    return target;
}

/* Which epoch is open that forbids a fence, a start or MPI_Win_free, in words; NULL: none. */
static const char *open_epoch_text(const struct hl_epoch *e)
{
    switch (hl_epoch_mode_of(e)) {
    case HL_EPOCH_ALL:
        return "all targets are still locked by MPI_Win_lock_all";
    case HL_EPOCH_LOCKS:
        return "targets are still locked by MPI_Win_lock";
    case HL_EPOCH_START:
        return "the epoch of MPI_Win_start is still open";
    default:
        return e->exposed != 0 ? "the window is still exposed by MPI_Win_post" : NULL;
    }
}

int hl_epoch_fence(struct hl_epoch *e, bool open)
{
    int rc = 0;
    hl_mutex_lock(&e->mutex);
    const char *busy = open_epoch_text(e);
    if (busy != NULL) {
        rc = hl_err_say(HL_ERR_RMA_SYNC, "%s", busy);
    } else {
        set_mode(e, open ? HL_EPOCH_FENCE : HL_EPOCH_NONE);
    }
    hl_mutex_unlock(&e->mutex);
    return rc;
}

/* Empties the hash. */
static void clear_table(struct hl_epoch *e)
{
    struct hl_epoch_table *t = epoch_table_of(e);
    hl_a32_add_full(&e->moves, 1); /* full, both: odd meanwhile; pairs with the acquire in hl_epoch_find */
    hl_fence_release();            /* before the first entry goes; pairs with the fence in hl_epoch_find */
    for (uint32_t i = 0; i <= t->mask; i++) {
        hl_a64_store_relaxed(&t->entries[i], 0); /* relaxed: readers check `moves` */
    }
    hl_a32_add_full(&e->moves, 1);
    e->count = 0;
}

int hl_epoch_start(struct hl_epoch *e, const int *targets, int n)
{
    int rc = 0;
    hl_mutex_lock(&e->mutex);
    if ((hl_epoch_mode_of(e) & ~(uint32_t)HL_EPOCH_FENCE) != 0) {
        rc = hl_err_say(HL_ERR_RMA_SYNC, "%s", open_epoch_text(e));
        n = 0;
    }
    for (int i = 0; i < n && rc == 0; i++) {
        rc = insert_target(e, targets[i], HL_EPOCH_MEMBER);
    }
    if (rc == 0) {
        set_mode(e, HL_EPOCH_START);
    } else if (n != 0) {
        clear_table(e);
    }
    hl_mutex_unlock(&e->mutex);
    return rc;
}

int hl_epoch_complete(struct hl_epoch *e)
{
    int rc = 0;
    hl_mutex_lock(&e->mutex);
    if (hl_epoch_mode_of(e) != HL_EPOCH_START) {
        rc = hl_err_say(HL_ERR_RMA_SYNC, "MPI_Win_start was not called before");
    } else {
        set_mode(e, HL_EPOCH_NONE);
        clear_table(e);
    }
    hl_mutex_unlock(&e->mutex);
    return rc;
}

int hl_epoch_expose(struct hl_epoch *e, int self)
{
    int rc = 0;
    hl_mutex_lock(&e->mutex);
    uint32_t mode = hl_epoch_mode_of(e);
    if (e->exposed != 0) {
        rc = hl_err_say(
            HL_ERR_RMA_SYNC,
            "the window is exposed already: MPI_Win_wait or MPI_Win_test comes before the next MPI_Win_post");
    } else if (mode == HL_EPOCH_ALL || (mode == HL_EPOCH_LOCKS && hl_epoch_find(e, self) != 0)) {
        rc = hl_err_say(HL_ERR_RMA_SYNC,
                        "the memory of this rank, %d, is locked by this rank: unlock it first", self);
    } else {
        e->exposed = self + 1;
        if (mode == HL_EPOCH_FENCE) {
            set_mode(e, HL_EPOCH_NONE);
        }
    }
    hl_mutex_unlock(&e->mutex);
    return rc;
}

void hl_epoch_conceal(struct hl_epoch *e)
{
    hl_mutex_lock(&e->mutex);
    e->exposed = 0;
    hl_mutex_unlock(&e->mutex);
}

const char *hl_epoch_busy(struct hl_epoch *e)
{
    hl_mutex_lock(&e->mutex);
    const char *busy = open_epoch_text(e);
    hl_mutex_unlock(&e->mutex);
    return busy;
}
