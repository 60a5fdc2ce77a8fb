/* Info keys of windows. */
#ifndef HL_HINTS_H
#define HL_HINTS_H

#include "win.h"

/* Makes w->info: every key we know with its default, overridden by the user's (NULL: none), and what follows
 * from them. HL_ERR_NO_MEM, HL_ERR_INFO_VALUE for an alignment that is no power of two. */
int hl_hints_init(struct hl_win *w, const struct hl_info *user);

/* MPI_Win_set_info: takes over the keys that may change later. */
int hl_hints_change(struct hl_win *w, const struct hl_info *user);

/* mpi_minimum_memory_alignment: bytes, 0 when not asked for. */
size_t hl_hints_alignment(const struct hl_info *info);

/* alloc_shared_noncontig */
bool hl_hints_noncontig(const struct hl_info *info);

#endif
