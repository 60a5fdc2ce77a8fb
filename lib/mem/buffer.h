/* Memory of the library's own: message buffers, cut from arenas that no peer and no network knows, and the
 * node's board.
 *
 * HOTLANE_INTERNAL_PG_SZ says on which pages. `auto`: huge ones from the pool while nobody who uses the
 * library asks for huge pages, at most a quarter of those that were free at first, shared by the ranks here;
 * else base pages. A size is preferred; where the pool has none, base pages are joined to huge ones, but not
 * before start-up is over. */
#ifndef HL_MEM_BUFFER_H
#define HL_MEM_BUFFER_H

#include <stddef.h>

/* Ranks that take huge pages from the same pool. Before the others, one thread. */
void hl_mem_buffer_ranks(int ranks);

/* Start-up is over: joining pages, which takes a millisecond for each, is allowed. */
void hl_mem_buffer_started(void);

/* At least `len` (less than 8 MiB) bytes at a multiple of 64, not zeroed, the caller's until
 * hl_mem_buffer_give; NULL when there is no memory. Any thread; takes mem's lock and calls nobody. */
void *hl_mem_buffer_take(size_t len);
void hl_mem_buffer_give(void *buffer); /* NULL is fine */

/* A sealed file of at least `bytes` zeroed bytes for the node's board, all pages there if they are huge: the
 * caller's descriptor, or HL_ERR_NO_MEM with the text. */
int hl_mem_buffer_board(size_t bytes);

/* What `auto` or the size means here and now, as words. Returns out. */
char *hl_mem_buffer_text(char *out, size_t cap);
#define HL_MEM_BUFFER_TEXT 200

#endif
