/* The symmetric heap: how PEs reach each other's parts (heap.c), and who has which bytes (alloc.c). */
#ifndef HL_HEAP_H
#define HL_HEAP_H

#include <stddef.h>

/* Takes the memory (parts.h), tells all PEs, maps what is near: fills hl_sym.heap and hl_sym.parts.
 * Collective; an error is the same on all PEs. */
int hl_heap_open(void);
void hl_heap_close(void);

/* `bytes` for the library itself, at the same offset on all PEs when they ask in the same order, not zeroed;
 * NULL when there is no room. At start only, after hl_heap_open. */
void *hl_heap_internal_alloc(size_t bytes);

/* Part of hl_heap_open and hl_heap_close: the records of alloc.c. */
int hl_alloc_open(void);
void hl_alloc_close(void);

/* `size` bytes at a multiple of `align`, from partition `id`, in the name of `func`. Collective, with the
 * barrier of shmem_malloc. NULL when it is full or there is no such one, with a line. */
void *hl_alloc_take(int id, size_t align, size_t size, const char *func);

#endif
