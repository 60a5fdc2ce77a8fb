/* Inside the module: the index of segments by id and by address. It changes under mem's lock; lookups take no
 * lock. */
#ifndef HL_MEM_INDEX_H
#define HL_MEM_INDEX_H

#include "mem.h"

/* Returns a segment record with a new id, which lookups do not find yet; NULL when there are too many or
 * there is no memory. */
struct hl_seg *hl_index_new(void);

/* Gives the record back; lookups must not find it any more. */
void hl_index_drop(struct hl_seg *seg);

/* Makes a filled record findable. Returns 0, or HL_ERR_NO_MEM without a text, and has changed nothing. */
int hl_index_show(struct hl_seg *seg);

/* Hides a record from lookups again. */
void hl_index_hide(struct hl_seg *seg);

/* Calls fn for every findable segment, in the order of their records, until one returns non-zero; returns
 * that, or 0. */
int hl_index_each(int (*fn)(struct hl_seg *seg, void *arg), void *arg);

#endif
