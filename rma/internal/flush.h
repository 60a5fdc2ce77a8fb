/* What waiting flushes (flush.c) and flushes with a request (iflush.c) share. */
#ifndef HL_FLUSH_H
#define HL_FLUSH_H

#include "win_call.h"

/* Checks a flush of `target`, and one of all targets. `w` may be NULL. HL_ERR_WIN, HL_ERR_RANK,
 * HL_ERR_RMA_SYNC. */
int hl_flush_check(struct hl_win *w, int target);
int hl_flush_check_all(struct hl_win *w);

/* The first half of a flush that is more than a fence (target -1: all). *dead: 0, or the error that a target
 * whose memory is mapped has ended. True: the caller must flush lanes, too. */
bool hl_flush_begin(struct hl_win *w, int target, int *dead);

/* The flush of mapped memory. */
HL_INLINE void hl_flush_mapped(const struct hl_win *w, enum hl_lane_scope scope)
{
    if (scope == HL_REMOTE && w->mapped) {
        hl_near_fence();
    }
}

/* Returns the error that an operation on `target` (-1: any) has left, once, or 0. The operations have ended
 * by then. */
int hl_flush_take_errors(struct hl_win *w, int target);

#endif
