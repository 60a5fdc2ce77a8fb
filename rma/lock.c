/* Passive target: lock, unlock, lock_all, unlock_all. */
#include "win_call.h"

#include "api.h"
#include "err.h"
#include "hints.h"
#include "prog.h"

#define TRIES 64 /* tries of the word before a request by message, which costs a wake-up */

static int take_lock(struct hl_win *w, int target, bool exclusive)
{
    const struct hl_target *t = &w->targets[target];
    hl_a8 *mark = hl_win_holds(hl_win_ctl(w)) + target;
    if (!hl_target_is_far(t)) {
        int tries = hl_prog_crowded() ? 1 : TRIES;
        hl_a8_store_relaxed(mark, 1); /* relaxed: peers read it after this process has ended. */
        for (int i = 0; i < tries; i++) {
            if (hl_lockword_try(&hl_target_ctl(t)->lock, exclusive)) {
                return 0;
            }
            HL_CPU_PAUSE();
        }
        hl_a8_store_relaxed(mark, 0); /* relaxed: the grant, which sets it again, comes after the request. */
    }
    return hl_ask_lock(hl_win_world(w, target), w->id, exclusive, mark);
}

/* Takes the lock of a target; waits for it. Errors of hl_ask_lock. */
static int acquire_lock(struct hl_win *w, int target, bool exclusive)
{
    int rc = take_lock(w, target, exclusive);
    if (HL_UNLIKELY(hl_hang_is_on()) && rc == 0) {
        hl_win_note_holder(w, target, true);
    }
    return rc;
}

/* Has the target leave the lock. */
static int send_release(struct hl_win *w, int target, bool exclusive)
{
    struct hl_wire_rec rec = {.op = HL_WIRE_UNLOCK, .kind = exclusive, .aux = w->id};
    const struct hl_target *t = &w->targets[target];
    if (!hl_target_is_far(t)) {
        /* relaxed: the target reads it when it has the record, or after this process has ended. */
        hl_a8_add_relaxed(hl_win_released(w, hl_target_ctl(t), w->rank), 1);
    }
    return hl_win_send(hl_win_world(w, target), &rec);
}

static int release_lock(struct hl_win *w, int target, bool exclusive)
{
    const struct hl_target *t = &w->targets[target];
    if (HL_UNLIKELY(hl_hang_is_on())) {
        hl_win_note_holder(w, target, false);
    }
    int rc = 0;
    if (hl_target_is_far(t) || !hl_lockword_leave(&hl_target_ctl(t)->lock, exclusive)) {
        rc = send_release(w, target, exclusive);
    }
    /* relaxed: peers read it after this process has ended. Another thread that locks this target again has
     * ordered its call behind this one: else MPI's epochs of one process at one target would overlap. So its
     * mark is stored later. */
    hl_a8_store_relaxed(hl_win_holds(hl_win_ctl(w)) + target, 0);
    return rc;
}

struct lock_claim {
    const struct hl_epoch *epoch;
    int target;
};

/* Is the lock held, or given up by the thread that claimed it? */
static bool is_lock_settled(void *arg)
{
    const struct lock_claim *c = arg;
    uint32_t how = hl_epoch_find(c->epoch, c->target);
    return how == 0 || (how & HL_EPOCH_HELD) != 0;
}

static void describe_lock_claim(const void *arg, struct hl_wait_desc *t)
{
    const struct lock_claim *c = arg;
    hl_win_describe(HL_CONTAINER_OF((struct hl_epoch *)(uintptr_t)c->epoch, struct hl_win, epoch), t);
    hl_desc_say(t, ", lock of target %d, which another thread asks for", c->target);
}
HL_HANG_WORDS(is_lock_settled, describe_lock_claim);

int hl_win_take_lock(struct hl_win *w, int target)
{
    struct hl_epoch *e = &w->epoch;
    /* Only lock_all takes locks late, and none with MPI_MODE_NOCHECK. */
    if (hl_epoch_mode_of(e) != HL_EPOCH_ALL || (e->all_how & HL_EPOCH_NOCHECK) != 0) {
        return 0;
    }
    while ((hl_epoch_find(e, target) & HL_EPOCH_HELD) == 0) {
        bool mine;
        int rc = hl_epoch_claim(e, target, &mine);
        if (rc == 0 && mine) {
            rc = acquire_lock(w, target, false);
            hl_epoch_settle(e, target, rc);
            hl_prog_wake();
        }
        if (rc != 0) {
            return rc;
        }
        hl_prog_wait_rung(is_lock_settled, &(struct lock_claim){e, target});
    }
    return 0;
}

static int check_hint(struct hl_win *w)
{
    return HL_UNLIKELY(hl_a8_load_relaxed(&w->no_locks) != 0) /* relaxed: decides only what is reported. */
               ? hl_hints_break_no_locks(w)
               : 0;
}

static int lock_target(struct hl_win *w, int type, int target, int assert)
{
    if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE) {
        return hl_err_say(HL_ERR_LOCKTYPE, "lock type %d is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE",
                          type);
    }
    if (target == MPI_PROC_NULL) {
        return 0;
    }
    int rc = hl_win_check_target(w, target);
    if (rc != 0 || (rc = check_hint(w)) != 0) {
        return rc;
    }
    if ((assert & ~MPI_MODE_NOCHECK) != 0) {
        return hl_err_say(HL_ERR_ASSERT, "assertion %#x: this call takes 0 or MPI_MODE_NOCHECK",
                          (unsigned)assert);
    }
    bool exclusive = type == MPI_LOCK_EXCLUSIVE;
    bool none = (assert &MPI_MODE_NOCHECK) != 0;
    rc = hl_epoch_lock(&w->epoch, target,
                       (exclusive ? HL_EPOCH_EXCLUSIVE : HL_EPOCH_SHARED) | (none ? HL_EPOCH_NOCHECK : 0));
    if (rc == 0 && !none && (rc = acquire_lock(w, target, exclusive)) != 0) {
        uint32_t how;
        hl_epoch_unlock(&w->epoch, target, &how);
    }
    return rc;
}

static int unlock_target(struct hl_win *w, int target)
{
    uint32_t how;
    if (target == MPI_PROC_NULL) {
        return 0;
    }
    int rc = hl_win_check_target(w, target);
    if (rc != 0) {
        return rc;
    }
    uint32_t mode = hl_epoch_mode_of(&w->epoch);
    if (mode != HL_EPOCH_LOCKS || hl_epoch_find(&w->epoch, target) == 0) {
        return hl_err_say(HL_ERR_RMA_SYNC,
                          mode == HL_EPOCH_ALL
                              ? "target %d is locked by MPI_Win_lock_all, which MPI_Win_unlock_all ends"
                              : "target %d is not locked",
                          target);
    }
    /* The lock is left even if an operation has failed, whose error is returned. */
    int failed = hl_win_flush(w, target);
    rc = hl_epoch_unlock(&w->epoch, target, &how);
    if (rc == 0 && (how & HL_EPOCH_NOCHECK) == 0) {
        rc = release_lock(w, target, (how & HL_EPOCH_EXCLUSIVE) != 0);
    }
    return failed != 0 ? failed : rc;
}

/* Leaves the locks of the first n near targets. */
static int release_near(struct hl_win *w, int n)
{
    int failed = 0;
    for (int i = 0; i < n; i++) {
        int rc = release_lock(w, w->near_ranks[i], false);
        failed = failed != 0 ? failed : rc;
    }
    return failed;
}

static int lock_all(struct hl_win *w, int assert)
{
    if ((assert & ~MPI_MODE_NOCHECK) != 0) {
        return hl_err_say(HL_ERR_ASSERT, "assertion %#x: this call takes 0 or MPI_MODE_NOCHECK",
                          (unsigned)assert);
    }
    bool none = (assert &MPI_MODE_NOCHECK) != 0;
    int rc = check_hint(w);
    rc = rc != 0 ? rc : hl_epoch_lock_all(&w->epoch, HL_EPOCH_SHARED | (none ? HL_EPOCH_NOCHECK : 0));
    if (rc != 0 || none) {
        return rc;
    }
    /* Near targets are locked at once, far ones by the first operation (hl_win_take_lock). */
    for (int i = 0; i < w->n_near; i++) {
        if ((rc = acquire_lock(w, w->near_ranks[i], false)) != 0) {
            uint32_t how;
            release_near(w, i);
            hl_epoch_unlock_all(&w->epoch, &how);
            return rc;
        }
    }
    return 0;
}

static int unlock_all(struct hl_win *w)
{
    uint32_t how;
    if (hl_epoch_mode_of(&w->epoch) != HL_EPOCH_ALL) {
        return hl_err_say(HL_ERR_RMA_SYNC, "MPI_Win_lock_all was not called");
    }
    int failed = hl_win_flush(w, -1);
    for (int target; (target = hl_epoch_drop(&w->epoch)) >= 0;) {
        int rc = release_lock(w, target, false);
        failed = failed != 0 ? failed : rc;
    }
    int rc = hl_epoch_unlock_all(&w->epoch, &how);
    if (rc == 0 && (how & HL_EPOCH_NOCHECK) == 0) {
        rc = release_near(w, w->n_near);
    }
    return failed != 0 ? failed : rc;
}

HL_CALL_EPOCH(MPI_Win_lock, (int lock_type, int rank, int assert, MPI_Win win),
              lock_target(w, lock_type, rank, assert))
HL_CALL_EPOCH(MPI_Win_unlock, (int rank, MPI_Win win), unlock_target(w, rank))
HL_CALL_EPOCH(MPI_Win_lock_all, (int assert, MPI_Win win), lock_all(w, assert))
HL_CALL_EPOCH(MPI_Win_unlock_all, (MPI_Win win), unlock_all(w))
