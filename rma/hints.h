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

/* What the kernel says of memory, in the words of MPI_Win_get_info. */
struct hl_hints_got {
    uint64_t page; /* bytes */
    enum hl_mem_rule rule;
    char kinds[HL_MEM_KINDS_TEXT]; /* "": nobody asked for a kind, or no page is there */
    char nodes[HL_MEM_NODES_TEXT]; /* "": no page is there */
};

/* My piece of the window was taken as `wish` has it; NULL: nothing was asked. */
void hl_hints_taken(struct hl_win *w, const struct hl_mem_wish *wish);

/* Asks the kernel about my piece. */
void hl_hints_look(const struct hl_win *w, struct hl_hints_got *out);

/* For memory that another rank took: what MPI_Win_get_info shows of it. About a rank's own it asks the kernel
 * anew. HL_ERR_NO_MEM. */
int hl_hints_show_got(struct hl_info *info, const struct hl_hints_got *got);

/* alloc_shared_noncontig */
bool hl_hints_noncontig(const struct hl_info *info);

#endif
