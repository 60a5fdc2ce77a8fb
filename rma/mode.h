/* Windows that do not go the way of this library: the designs it is compared with (HOTLANE_RMA_MODE).
 *
 *   global    one lock for the process around every call; who waits gives it away for the moment: that of
 *             HOTLANE_CS=global (cs.h), for these calls alone
 *   enqueue   all threads put descriptors of operations into one queue; one thread at a time takes them out
 *             and performs them; a flush waits until what was in the queue is performed
 *
 * Both use one lane. Under HOTLANE_CS operations are in the sections of cs.h. Such windows have `detour` set,
 * so their operations fail the test of the short way and cost the others nothing. Source of enqueue: Kandalla
 * et al., CUG 2016, figure 1(b). */
#ifndef HL_MODE_H
#define HL_MODE_H

#include "win.h"

#include "conf.h"
#include "cs.h"
#include "rx.h"

enum hl_mode { HL_MODE_HOT, HL_MODE_GLOBAL, HL_MODE_ENQUEUE }; /* in the order of conf's words */

enum hl_job_kind { HL_JOB_MOVE, HL_JOB_ACC, HL_JOB_CAS };

/* A checked operation. */
struct hl_job {
    enum hl_job_kind kind;
    struct hl_span span;
    struct hl_acc a;     /* of a MOVE, only a.m */
    const void *compare; /* of a CAS */
};

/* Performs the job of a window with `detour`, or has it performed; what can only fail later is told by the
 * next flush of its target, or by its request. Any thread; may wait for the network or for room. */
int hl_mode_issue(const struct hl_job *job);

/* Before a flush: waits until what all threads issued before has been performed. */
void hl_mode_drain(void);

/* Is an operation not over when its call returns, near targets included? */
HL_INLINE bool hl_mode_defers(const struct hl_win *w)
{
    return w->detour && hl_conf.rma_mode == HL_MODE_ENQUEUE;
}

HL_INLINE bool hl_mode_is_global(const struct hl_win *w)
{
    return w != NULL && w->detour && (hl_conf.rma_mode == HL_MODE_GLOBAL || hl_cs_mode == HL_CS_GLOBAL);
}

/* Around a call on such a window that is not a job. Such calls order accesses (see hl_rx_order). */
HL_INLINE void hl_mode_enter(const struct hl_win *w)
{
    hl_handover_give(&hl_rx_order);
    if (HL_UNLIKELY(hl_mode_is_global(w))) {
        hl_cs_enter_process(HL_CS_window);
    }
}

HL_INLINE void hl_mode_leave(const struct hl_win *w)
{
    if (HL_UNLIKELY(hl_mode_is_global(w))) {
        hl_cs_leave_process();
    }
    hl_handover_take(&hl_rx_order);
}

/* Both for a call that users make: its window, NULL for a handle of none; and its end with MPI's code. */
HL_INLINE struct hl_win *hl_mode_begin(MPI_Win win)
{
    struct hl_win *w = hl_win_of(win);
    hl_mode_enter(w);
    return w;
}

HL_INLINE int hl_mode_end(const struct hl_win *w, MPI_Win win, const char *func, int rc)
{
    hl_mode_leave(w);
    return hl_win_end(win, func, rc);
}

#endif
