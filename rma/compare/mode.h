/* Windows whose operations take other designs, which this library is compared with (HOTLANE_RMA_MODE).
 *
 *   global    one lock for the process around every call; a thread that waits gives it away meanwhile. It is
 *             the lock of HOTLANE_CS=global (cs.h), for these calls alone
 *   enqueue   all threads put descriptors of operations into one queue; one thread at a time takes them out
 *             and performs them; a flush waits until all that was in the queue is performed
 *
 * Both use one lane. With HOTLANE_CS, operations run inside the sections of cs.h. Such windows have `detour`
 * set, so their operations fail the test of the short way and cost the others nothing. Source of enqueue:
 * Kandalla et al., CUG 2016, figure 1(b). */
#ifndef HL_MODE_H
#define HL_MODE_H

#include "win.h"

#include "conf.h"
#include "cs.h"

enum hl_mode { HL_MODE_HOT, HL_MODE_GLOBAL, HL_MODE_ENQUEUE }; /* in the order of the words in conf/vars.h */

enum hl_mode_job_kind { HL_JOB_MOVE, HL_JOB_ACC, HL_JOB_CAS };

/* An operation whose arguments were checked. */
struct hl_mode_job {
    enum hl_mode_job_kind kind;
    struct hl_span span;
    struct hl_acc a;     /* a MOVE uses only a.m */
    const void *compare; /* of a CAS; must stay until the job is performed */
};

/* Performs the job of a window with `detour`, or queues it (enqueue). Returns 0 or the error; an error that
 * comes only later is reported by the job's request, or by the next flush of its target. Any thread; may wait
 * for the network or for room in the queue. */
int hl_mode_issue(const struct hl_mode_job *job);

/* Called before a flush: waits until the jobs that all threads have queued before are performed. */
void hl_mode_drain(void);

/* May operations be unfinished when their calls return, also those on near targets? */
HL_INLINE bool hl_mode_defers(const struct hl_win *w)
{
    return w->detour && hl_conf.rma_mode == HL_MODE_ENQUEUE;
}

/* Is the window one that the library is compared with? */
HL_INLINE bool hl_mode_is_detour(void)
{
    return hl_conf.rma_mode != HL_MODE_HOT || hl_cs_has_locks();
}

/* Does every call on the window take the process's lock (win_call.h)? */
HL_INLINE bool hl_mode_is_global(const struct hl_win *w)
{
    return w != NULL && w->detour && (hl_conf.rma_mode == HL_MODE_GLOBAL || hl_cs_mode == HL_CS_GLOBAL);
}

#endif
