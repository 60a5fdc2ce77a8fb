/* Info keys of windows. */
#ifndef HL_HINTS_H
#define HL_HINTS_H

#include "win.h"

/* Makes w->info: every key we know for w's flavor with its default, overridden by the user's (NULL: none),
 * and what follows from them. A wrong value is said by rank 0 in one line and not taken: MPI_Win_get_info
 * shows what is in use. HL_ERR_NO_MEM. */
int hl_hints_init(struct hl_win *w, const struct hl_info *user);

/* Takes back assertions about all ranks that do not hold; when the extents are known. */
void hl_hints_verify(struct hl_win *w);

/* The window is locked in spite of no_locks: HL_ERR_RMA_SYNC, or, as HOTLANE_BROKEN_HINTS has it, 0 after one
 * line on a node, and the hint is gone. Any thread. */
int hl_hints_break_no_locks(struct hl_win *w) HL_COLD;

/* mpi_minimum_memory_alignment: bytes, 0 when not asked for. */
size_t hl_hints_alignment(const struct hl_info *info);

/* The memory that the environment asks for, and the user's keys over it, but for those with wrong values. */
void hl_hints_wish(const struct hl_info *user, struct hl_mem_wish *out);

/* For memory that another rank took: what MPI_Win_get_info shows of it. About a rank's own it asks the kernel
 * anew. `nodes` as hl_mem_got_nodes_text. HL_ERR_NO_MEM. */
int hl_hints_show_got(struct hl_info *info, size_t page, const char *nodes);

/* alloc_shared_noncontig */
bool hl_hints_noncontig(const struct hl_info *info);

#endif
