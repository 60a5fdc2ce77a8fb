/* Inside the module: segments by id and by address. Changes under mem's lock; lookups take none. */
#ifndef HL_MEM_INDEX_H
#define HL_MEM_INDEX_H

#include "mem.h"

/* A segment record with a new id, not findable yet; NULL when there are too many or no memory. */
struct hl_seg *hl_index_new(void);

/* Gives the record back; it must not be findable. */
void hl_index_drop(struct hl_seg *seg);

/* Makes a filled record findable. Returns 0, or HL_ERR_NO_MEM (silent) and changes nothing. */
int hl_index_show(struct hl_seg *seg);

/* Hides it again. */
void hl_index_hide(struct hl_seg *seg);

/* Calls fn for every findable segment, oldest record first, until one returns non-zero; returns that. */
int hl_index_each(int (*fn)(struct hl_seg *seg, void *arg), void *arg);

#endif
