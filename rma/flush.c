/* Completion: flush, flush_local and their forms for all targets, and sync. */
#include "flush.h"

#include "api.h"
#include "conflict.h"
#include "err.h"
#include "rx.h"

/* Reports an operation that failed after its call had found no fault; attached memory may have been detached
 * since. */
static int tell_failed(const struct hl_win *w, int target, int rc)
{
    return hl_err_say(rc,
                      w->dyn != NULL && rc == HL_ERR_RMA_RANGE
                          ? "target %d has detached memory while an operation on it was under way"
                          : "an operation on target %d failed",
                      target);
}

static int take_all_errors(struct hl_win *w)
{
    int failed = 0;
    /* acquire: the error words; pairs with the addition in hl_lane_error_keep. */
    uint64_t errors = hl_a64_load_acquire(&hl_lane_errors);
    /* relaxed, both: of several threads one or more look at the words. */
    if (hl_a64_load_relaxed(&w->errors_seen) == errors) {
        return 0;
    }
    hl_a64_store_relaxed(&w->errors_seen, errors);
    for (int i = 0; w->errors != NULL && i < w->size; i++) {
        int rc = hl_lane_error_take(&w->errors[i]);
        if (rc != 0) {
            failed = tell_failed(w, i, rc);
        }
    }
    return failed;
}

int hl_flush_take_errors(struct hl_win *w, int target)
{
    if (target < 0) {
        return take_all_errors(w);
    }
    int failed = hl_lane_error_take(&w->errors[target]);
    return failed == 0 ? 0 : tell_failed(w, target, failed);
}

/* HL_ERR_PROC_ABORTED when a target whose memory is mapped has died; a flush of all targets (-1) reports it
 * once. */
static int tell_near_death(struct hl_win *w, int target)
{
    /* relaxed: a guess; full: one of several threads reports. */
    if (target < 0 && (hl_a8_load_relaxed(&w->news) == 0 || hl_a8_xchg_full(&w->news, 0) == 0)) {
        return 0;
    }
    for (int i = target < 0 ? 0 : target; i < w->size && (target < 0 || i == target); i++) {
        if (!hl_target_is_far(&w->targets[i]) && hl_rx_is_dead(hl_win_world(w, i))) {
            return hl_err_say(HL_ERR_PROC_ABORTED, "target %d has ended", i);
        }
    }
    return 0;
}

bool hl_flush_begin(struct hl_win *w, int target, int *dead)
{
    if (hl_mode_defers(w)) {
        hl_mode_drain();
    }
    *dead = tell_near_death(w, target);
    if (HL_CHECKED && !w->detour && !w->far) { /* checked mode takes the flush of mapped memory here, too */
        return false;
    }
    return w->detour || target < 0 || hl_target_is_far(&w->targets[target]);
}

/* Flushes one target, or all (-1), after the checks. In windows with FAR targets, with `detour`, in
 * checked_mode or with a dead target it does more than the fence. */
HL_INLINE int flush_targets(struct hl_win *w, int target, enum hl_lane_scope scope)
{
    /* relaxed: a flush that misses a death counts as earlier. */
    if (HL_LIKELY(hl_a8_load_relaxed(&w->waits) == 0)) {
        hl_flush_mapped(w, scope);
        return 0;
    }
    int dead, rc = 0;
    hl_conflict_forget(w, target, scope == HL_LOCAL);
    if (hl_flush_begin(w, target, &dead)) {
        hl_win_enter(w);
        hl_lane_flush(target < 0 ? -1 : hl_win_world(w, target), scope);
        rc = hl_flush_take_errors(w, target);
        hl_win_leave(w);
    }
    hl_flush_mapped(w, scope);
    return rc != 0 ? rc : dead;
}

void hl_win_keep_error(struct hl_win *w, int target, int rc)
{
    hl_lane_error_keep(&w->errors[target], rc);
}

int hl_win_flush(struct hl_win *w, int target)
{
    return flush_targets(w, target, HL_REMOTE);
}

/* The error that says why `target` (-1: all) cannot be flushed now. */
static HL_COLD int flush_error(struct hl_win *w, int target)
{
    if (w == NULL) {
        return hl_win_bad();
    }
    uint32_t mode = hl_epoch_mode_of(&w->epoch);
    if (mode == HL_EPOCH_NONE || mode == HL_EPOCH_LOCKS) {
        return hl_err_say(HL_ERR_RMA_SYNC, target < 0 ? "no target is locked" : "target %d is not locked",
                          target);
    }
    return hl_err_say(HL_ERR_RMA_SYNC,
                      "a flush needs a lock of its target, and here the epoch of MPI_Win_%s is open",
                      mode == HL_EPOCH_START ? "start" : "fence");
}

int hl_flush_check(struct hl_win *w, int target)
{
    int rc = w != NULL ? hl_win_check_target(w, target) : 0;
    if (rc == 0 && (w == NULL || !hl_epoch_is_locked(&w->epoch, target))) {
        rc = flush_error(w, target);
    }
    return rc;
}

int hl_flush_check_all(struct hl_win *w)
{
    bool locks = w != NULL && (hl_epoch_mode_of(&w->epoch) & (HL_EPOCH_ALL | HL_EPOCH_LOCKS)) != 0;
    return locks ? 0 : flush_error(w, -1);
}

/* A flush of one target that may be more than a fence: it is FAR or locked by itself, or the call is
 * wrong. */
static HL_NOINLINE int flush_any(int target, MPI_Win win, enum hl_lane_scope scope, const char *func)
{
    struct hl_win *w = hl_win_of(win);
    if (w != NULL && target == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    int rc = hl_flush_check(w, target);
    return hl_win_end(win, func, rc == 0 ? flush_targets(w, target, scope) : rc);
}

/* A flush of all targets that may be more than a fence, or a wrong call. */
static HL_NOINLINE int flush_each(MPI_Win win, enum hl_lane_scope scope, const char *func)
{
    struct hl_win *w = hl_win_of(win);
    int rc = hl_flush_check_all(w);
    return hl_win_end(win, func, rc == 0 ? flush_targets(w, -1, scope) : rc);
}

/* Are all targets mapped and locked, so that a flush of any or all is a fence of the processor? */
HL_INLINE bool is_only_fence(const struct hl_win *w)
{
    return w != NULL && hl_epoch_flush_is_fence(&w->epoch);
}

HL_INLINE bool is_only_fence_of(const struct hl_win *w, int target)
{
    return is_only_fence(w) && (uint32_t)target < (uint32_t)w->size;
}

HL_API(MPI_Win_flush);
int PMPI_Win_flush(int rank, MPI_Win win)
{
    if (HL_LIKELY(is_only_fence_of(hl_win_of(win), rank))) {
        hl_near_fence();
        return MPI_SUCCESS;
    }
    return flush_any(rank, win, HL_REMOTE, "MPI_Win_flush");
}

HL_API(MPI_Win_flush_all);
int PMPI_Win_flush_all(MPI_Win win)
{
    if (HL_LIKELY(is_only_fence(hl_win_of(win)))) {
        hl_near_fence();
        return MPI_SUCCESS;
    }
    return flush_each(win, HL_REMOTE, "MPI_Win_flush_all");
}

HL_API(MPI_Win_flush_local);
int PMPI_Win_flush_local(int rank, MPI_Win win)
{
    return HL_LIKELY(is_only_fence_of(hl_win_of(win), rank))
               ? MPI_SUCCESS
               : flush_any(rank, win, HL_LOCAL, "MPI_Win_flush_local");
}

HL_API(MPI_Win_flush_local_all);
int PMPI_Win_flush_local_all(MPI_Win win)
{
    return HL_LIKELY(is_only_fence(hl_win_of(win))) ? MPI_SUCCESS
                                                    : flush_each(win, HL_LOCAL, "MPI_Win_flush_local_all");
}

HL_API(MPI_Win_sync);
int PMPI_Win_sync(MPI_Win win)
{
    struct hl_win *w = hl_win_of(win);
    if (w == NULL) {
        return hl_win_raise(w, win, "MPI_Win_sync", hl_win_bad());
    }
    hl_handover_give(&hl_rx_order);
    hl_near_fence();
    hl_handover_take(&hl_rx_order);
    return MPI_SUCCESS;
}
