/* Active target by fence. */
#include "win_call.h"

#include "api.h"
#include "coll.h"
#include "conflict.h"
#include "err.h"

#define NEITHER (MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED)
#define KNOWN (MPI_MODE_NOSTORE | MPI_MODE_NOPUT | NEITHER)

static int fence_window(struct hl_win *w, int assert)
{
    if ((assert & ~KNOWN) != 0) {
        return hl_err_say(
            HL_ERR_ASSERT,
            "assertion %#x: this call takes MPI_MODE_NOSTORE, _NOPUT, _NOPRECEDE and _NOSUCCEED",
            (unsigned)assert);
    }
    int rc = hl_epoch_fence(&w->epoch, (assert &MPI_MODE_NOSUCCEED) == 0);
    if (rc != 0) {
        return rc;
    }
    int failed = 0;
    bool alone = (assert &NEITHER) == NEITHER;
    if (HL_CHECKED && !alone) {
        hl_conflict_fence(w, true);
    }
    if ((assert &MPI_MODE_NOPRECEDE) == 0) {
        failed = hl_win_flush(w, -1);
    } else {
        hl_near_fence();
    }
    /* With both assertions nothing was accessed before and nothing will be: no rank need be waited for.
     * NOPRECEDE alone needs the barrier: a target's memory must not be written before the target's own stores
     * are over. */
    rc = alone ? 0 : hl_coll_barrier(w->comm);
    if (HL_CHECKED && !alone) {
        hl_conflict_fence(w, false);
    }
    return failed != 0 ? failed : rc;
}

HL_CALL_EPOCH(MPI_Win_fence, (int assert, MPI_Win win), fence_window(w, assert))
