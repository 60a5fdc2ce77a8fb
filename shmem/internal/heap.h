/* The symmetric heap: how PEs reach each other's parts (heap.c), and which bytes are taken (alloc.c). */
#ifndef HL_HEAP_H
#define HL_HEAP_H

#include <stddef.h>

/* hl_heap_open takes the memory (parts.h), tells all PEs, maps the parts of near PEs, and fills hl_sym.heap
 * and hl_sym.parts. Collective; an error is the same on all PEs. */
int hl_heap_open(void);
void hl_heap_close(void);

/* Takes `bytes` of the library's own part; NULL when there is no room. They are at the same offset on all PEs
 * if these ask in the same order, and not zeroed. Only at start, after hl_heap_open. */
void *hl_heap_internal_alloc(size_t bytes);

/* Make and free the records of alloc.c; called by hl_heap_open and hl_heap_close. HL_ERR_NO_MEM. */
int hl_alloc_open(void);
void hl_alloc_close(void);

/* Takes `size` bytes at a multiple of `align` from partition `id`, in the name of `func`. Collective, with
 * the barrier of shmem_malloc. Returns NULL for size 0, and, after a line of PE 0, when the partition is full
 * or does not exist, or `align` is wrong. */
void *hl_alloc_take(int id, size_t align, size_t size, const char *func);

#endif
