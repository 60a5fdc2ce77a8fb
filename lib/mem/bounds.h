/* Inside the module: limits of machine and process on memory, and the words when one is met. */
#ifndef HL_MEM_BOUNDS_H
#define HL_MEM_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

/* HL_ERR_NO_MEM with the text for a size that can never be had or whose file would end in a signal, else 0.
 */
int hl_bounds_size(size_t len);

/* The same for a sparse file, which need not fit into memory. */
int hl_bounds_file(size_t len);

/* Bytes that could be taken in base pages now without the kernel having to end a process. */
uint64_t hl_bounds_available(void);

/* HL_ERR_NO_MEM with the text: by errno, no file of `len` bytes in pages of `page`. */
int hl_bounds_refuse_file(size_t len, size_t page);

/* The same: it cannot be mapped. */
int hl_bounds_refuse_map(size_t len);

#endif
