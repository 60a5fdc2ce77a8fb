/* Inside the module: what its files share. */
#ifndef HL_MEM_INTERNAL_H
#define HL_MEM_INTERNAL_H

#include "lock.h"
#include "mem.h"

/* Guards arenas, watchers and changes of the index. */
extern struct hl_mutex hl_mem_lock;

/* Shows a new segment to the watchers, then enters it into the index. Returns 0, the error of a watcher, or
 * HL_ERR_NO_MEM with the text; after an error nobody knows the segment. */
int hl_mem_introduce(struct hl_seg *seg) HL_REQUIRES(hl_mem_lock);

/* Returns HL_ERR_NO_MEM with the text: there was no memory for the records about `len` bytes. */
int hl_mem_no_record(size_t len);

#endif
