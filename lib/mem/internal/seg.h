/* Inside the module: the memory of a segment. */
#ifndef HL_MEM_SEG_H
#define HL_MEM_SEG_H

#include "mem_internal.h"

/* When the pages of a new segment are taken from the system. */
enum hl_seg_take {
    HL_SEG_LAZY,    /* when touched; huge pages need hl_seg_populate before the touch */
    HL_SEG_PROMISE, /* when touched, on the node of the touching CPU; huge pages are reserved now */
    HL_SEG_NOW,     /* now */
    HL_SEG_JOIN     /* now, base pages joined to huge ones where the kernel can */
};

/* Makes `len` bytes (rounded up to pages) at a multiple of `align` for `seg`: reads policy, nodes, page (0:
 * base pages), reserved and, when that is set, base; fills base, len, page, fd. When it returns 0 with
 * HL_SEG_NOW or HL_SEG_JOIN, the pages are there, of that page size and, under HL_MEM_BIND, on those nodes.
 * On failure nothing is left behind or taken. Errors: HL_ERR_NO_MEM with the text; HL_ERR_ARG with the text
 * when a reserved base is not aligned. Any thread. */
int hl_seg_make(struct hl_seg *seg, size_t len, size_t align, enum hl_seg_take take);

/* Makes the sealed file of seg->len bytes in pages of seg->page and sets seg->fd. Returns 0, or HL_ERR_NO_MEM
 * with the text. */
int hl_seg_make_file(struct hl_seg *seg);

/* Reserves [base, base + len) as hl_mem_reserve does. Returns 0, or HL_ERR_NO_MEM without a text when
 * something else is mapped there, or the range cannot be had. */
int hl_mem_reserve_at(char *base, size_t len);

/* The commons (commons.h): puts `seg` in this rank's slice for plain arenas, or for symmetric ones. Returns
 * false when that is taken, or nothing is mapped (for symmetric ones: where all ranks have it). */
bool hl_commons_take(struct hl_seg *seg, bool symmetric) HL_REQUIRES(hl_mem_lock);

/* Lets peers find the segment if it lies in this rank's slice; else does nothing. */
void hl_commons_publish(const struct hl_seg *seg);

/* Gives the memory back; a reserved range is reserved again. */
void hl_seg_unmake(struct hl_seg *seg);

/* Takes the pages of [off, off + len) from the system now. Returns 0, or HL_ERR_NO_MEM when there are too
 * few; some pages may have been taken then. There is no text when the kernel refuses pages, since the caller
 * tries elsewhere and the text costs more than the try. */
int hl_seg_populate(const struct hl_seg *seg, size_t off, size_t len);

/* Joins the base pages around [off, off + len) to huge ones where the kernel can. It takes all base pages of
 * these huge pages, and they stay taken. */
void hl_seg_join(const struct hl_seg *seg, size_t off, size_t len);

/* Gives the pages that lie wholly in [off, off + len) back to the system; they read as zeroes afterwards.
 * Returns false, with a line in the log, when the system refuses. */
bool hl_seg_punch(const struct hl_seg *seg, size_t off, size_t len);

#endif
