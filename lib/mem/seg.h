/* Inside the module: the memory of a segment. */
#ifndef HL_MEM_SEG_H
#define HL_MEM_SEG_H

#include "inner.h"

/* When the pages of a new segment are taken from the system. */
enum hl_seg_take {
    HL_SEG_LAZY,    /* when touched; of huge pages only with hl_seg_populate before the touch */
    HL_SEG_PROMISE, /* when touched, by whom and where that is; huge ones are reserved now */
    HL_SEG_NOW,
    HL_SEG_JOIN /* now, base pages joined to huge ones where the kernel can */
};

/* Makes `len` bytes (rounded up to pages) at a multiple of `align` for `seg`: reads policy, nodes, page
 * (0: base pages) and, when it is reserved, base; fills base, len, page, fd. What is not HL_SEG_LAZY is
 * there, of that page size and, under HL_MEM_BIND, on those nodes, when this returns 0. On failure nothing is
 * left behind or taken. Errors: HL_ERR_NO_MEM with the text; HL_ERR_ARG when a reserved base is not aligned.
 * Any thread. */
int hl_seg_make(struct hl_seg *seg, size_t len, size_t align, enum hl_seg_take take);

/* Makes the sealed file of seg->len bytes in pages of seg->page: its fd. HL_ERR_NO_MEM with the text. */
int hl_seg_make_file(struct hl_seg *seg);

/* The commons (commons.h): puts `seg` in my slice; false when it is taken, or there are none. */
bool hl_commons_take(struct hl_seg *seg) HL_REQUIRES(hl_mem_lock);

/* Lets peers find a segment that lies in my slice; others are left alone. */
void hl_commons_publish(const struct hl_seg *seg);

/* Gives the memory back, a reserved range as such. */
void hl_seg_unmake(struct hl_seg *seg);

/* Takes the pages of [off, off + len) from the system now. HL_ERR_NO_MEM when there are too few; some may
 * have been taken then. Silent when the kernel gives none, since the caller tries elsewhere and the text
 * costs more than the try. */
int hl_seg_populate(const struct hl_seg *seg, size_t off, size_t len);

/* Joins the base pages around [off, off + len) to huge ones where the kernel can. Takes the rest of those
 * pages, which stay. */
void hl_seg_join(const struct hl_seg *seg, size_t off, size_t len);

/* Gives the pages that lie wholly in [off, off + len) back to the system; they read as zeroes afterwards.
 * False, with a line in the log, when the system does not take them. */
bool hl_seg_punch(const struct hl_seg *seg, size_t off, size_t len);

#endif
