/* Inside the module: the line that tells what a request got. */
#ifndef HL_MEM_REPORT_H
#define HL_MEM_REPORT_H

#include "plan.h"

/* Tells it as HOTLANE_MEM_REPORT says: `caller` asked for `len` bytes under `plan` and has `piece`. */
void hl_report(const char *caller, size_t len, const struct hl_plan *plan, const struct hl_piece *piece);

/* True: another process of the node tells. */
bool hl_report_is_mute(void);

/* The node with most bytes among those whose bit in `told` is 0; -1: none has any. */
int hl_got_next(const struct hl_mem_got *got, uint64_t told);

#endif
