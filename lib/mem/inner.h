/* Inside the module: what its files share. */
#ifndef HL_MEM_INNER_H
#define HL_MEM_INNER_H

#include "lock.h"
#include "mem.h"

/* Guards arenas, watchers and the index's changes. */
extern struct hl_mutex hl_mem_lock;

/* Shows a made segment to the watchers, then to everybody. An error of a watcher, or HL_ERR_NO_MEM with the
 * text: nobody knows it. */
int hl_mem_introduce(struct hl_seg *seg) HL_REQUIRES(hl_mem_lock);

/* HL_ERR_NO_MEM with the text: nothing to write down with what `len` bytes are used for. */
int hl_mem_no_record(size_t len);

#endif
