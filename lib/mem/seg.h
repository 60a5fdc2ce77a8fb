/* Inside the module: the memory of a segment. */
#ifndef HL_MEM_SEG_H
#define HL_MEM_SEG_H

#include "mem.h"

/* Makes `len` bytes (rounded up to pages) at a multiple of `align` for `seg`: fills base, len, page, fd.
 * Nothing is left behind on failure. Errors: HL_ERR_NO_MEM with the text. Any thread. */
int hl_seg_make(struct hl_seg *seg, size_t len, size_t align, bool populate);

/* Gives the memory back. */
void hl_seg_unmake(struct hl_seg *seg);

/* Takes the pages of [off, off + len) from the system now. HL_ERR_NO_MEM with the text when there are too
 * few. */
int hl_seg_populate(const struct hl_seg *seg, size_t off, size_t len);

/* Gives the pages that lie wholly in [off, off + len) back to the system; they read as zeroes afterwards. */
void hl_seg_punch(const struct hl_seg *seg, size_t off, size_t len);

#endif
