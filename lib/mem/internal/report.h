/* Inside the module: the line in the log that tells which memory a request got. */
#ifndef HL_MEM_REPORT_H
#define HL_MEM_REPORT_H

#include "plan.h"

/* Writes the line, if HOTLANE_MEM_REPORT says so: `caller` asked for `len` bytes under `plan` and got
 * `piece`. */
void hl_report(const char *caller, size_t len, const struct hl_plan *plan, const struct hl_piece *piece);

/* True: hl_mem_report_mute was called, so another process of the node writes the line of level 1. */
bool hl_report_is_mute(void);

/* The node with most bytes among those whose bit in `told` is 0; -1: none of them has any. */
int hl_got_next(const struct hl_mem_got *got, uint64_t told);

#endif
