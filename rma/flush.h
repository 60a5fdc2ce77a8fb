/* What flushes that wait and those with a request share. */
#ifndef HL_FLUSH_H
#define HL_FLUSH_H

#include "mode.h"

/* 0, or what is wrong with a flush of `target`; of all targets. `w` may be NULL. */
int hl_flush_check(struct hl_win *w, int target);
int hl_flush_check_all(struct hl_win *w);

/* The first half of a flush that is more than a fence (target -1: all). What checked_mode forgets was issued
 * before; what others issue meanwhile stays. *dead: 0, or that a target whose memory is mapped has ended.
 * True: lanes have to be flushed, too. */
bool hl_flush_begin(struct hl_win *w, int target, enum hl_lane_scope scope, int *dead);

/* The error that an operation on `target` (-1: any) has left, or 0; once. After they have ended. */
int hl_flush_take_errors(struct hl_win *w, int target);

#endif
