/* Info keys of windows. */
#ifndef HL_HINTS_H
#define HL_HINTS_H

#include "win.h"

/* Makes w->info: every key that is known for w's flavor, with its default or the user's value (user NULL:
 * there are none), and sets the fields that follow from them. For a wrong value rank 0 prints one line, and
 * the value is not taken: MPI_Win_get_info shows what is in use. HL_ERR_NO_MEM. */
int hl_hints_init(struct hl_win *w, const struct hl_info *user);

/* Takes back same_size and same_disp_unit where they do not hold. The caller knows the extents of all
 * ranks. */
void hl_hints_verify(struct hl_win *w);

/* The window is locked in spite of no_locks. Returns HL_ERR_RMA_SYNC, or, as HOTLANE_BROKEN_HINTS says,
 * prints one line on each node, takes the hint back and returns 0. Any thread. */
int hl_hints_break_no_locks(struct hl_win *w) HL_COLD;

/* The value of mpi_minimum_memory_alignment in bytes, 0 when it is not asked for. */
size_t hl_hints_alignment(const struct hl_info *info);

/* Fills *out with what the environment asks for; the user's keys, where their values are right, override
 * it. */
void hl_hints_wish(const struct hl_info *user, struct hl_mem_wish *out);

/* What the kernel says about a rank's memory, in the words of MPI_Win_get_info. */
struct hl_hints_got {
    uint64_t page; /* bytes */
    enum hl_mem_rule rule;
    char kinds[HL_MEM_KINDS_TEXT]; /* "": nobody asked for a kind, or no page is there */
    char nodes[HL_MEM_NODES_TEXT]; /* "": no page is there */
};

/* Notes that my piece of the window was taken with `wish` (NULL: with none). */
void hl_hints_taken(struct hl_win *w, const struct hl_mem_wish *wish);

/* Asks the kernel about my piece; fills *out. */
void hl_hints_look(const struct hl_win *w, struct hl_hints_got *out);

/* Puts into `info` what MPI_Win_get_info shows of memory that another rank took. (For a rank's own memory the
 * kernel is asked anew each time.) HL_ERR_NO_MEM. */
int hl_hints_show_got(struct hl_info *info, const struct hl_hints_got *got);

/* What the user wants of the base addresses (hotlane_symmetric). */
enum hl_hints_same { HL_SAME_NO, HL_SAME_TRY, HL_SAME_YES };
enum hl_hints_same hl_hints_same(const struct hl_info *info);

/* Shows whether all ranks' bases are the same. `why`: the reason why they are not although they should, which
 * is one line, or NULL. HL_ERR_NO_MEM. */
int hl_hints_show_same(struct hl_win *w, bool same, const char *why);

/* Is the key alloc_shared_noncontig "true"? */
bool hl_hints_noncontig(const struct hl_info *info);

#endif
