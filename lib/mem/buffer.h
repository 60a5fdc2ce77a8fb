/* The library's own memory: message buffers, cut from arenas of which no watcher is told,
 * and the node's board.
 *
 * HOTLANE_INTERNAL_PG_SZ gives the page size. `auto`: huge pages from the pool, at most a quarter of those
 * that were free at first, shared by the ranks of the node, and none once the program asks for huge pages;
 * else base pages. A size is preferred; where the pool has no such page, base pages are joined to huge ones,
 * but not before start-up is over. */
#ifndef HL_MEM_BUFFER_H
#define HL_MEM_BUFFER_H

#include <stddef.h>

/* Sets how many ranks take huge pages from the same pool. One thread calls it, before the other calls. */
void hl_mem_buffer_ranks(int ranks);

/* Says that start-up is over: from now on pages may be joined, which takes a millisecond for each huge
 * page. */
void hl_mem_buffer_started(void);

/* Returns at least `len` (less than 8 MiB) bytes at a multiple of HL_CACHELINE, not zeroed, which are the
 * caller's until hl_mem_buffer_give; NULL when there is no memory. Any thread; takes mem's lock and
 * calls no watcher. */
void *hl_mem_buffer_take(size_t len);
void hl_mem_buffer_give(void *buffer); /* buffer may be NULL */

/* Makes a sealed file of at least `bytes` zeroed bytes for the node's board; huge pages are taken now.
 * Returns its descriptor, which is the caller's, or HL_ERR_NO_MEM with the text. */
int hl_mem_buffer_board(size_t bytes);

/* Writes what HOTLANE_INTERNAL_PG_SZ means on this machine now, as words. Returns out. */
char *hl_mem_buffer_text(char *out, size_t cap);
#define HL_MEM_BUFFER_TEXT 200

#endif
