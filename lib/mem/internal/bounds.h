/* Inside the module: limits of machine and process on memory, and the error texts about them. */
#ifndef HL_MEM_BOUNDS_H
#define HL_MEM_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

/* Returns HL_ERR_NO_MEM with the text when `len` bytes are more than the machine has or than a file may have
 * (such a file would end in a signal), else 0. */
int hl_bounds_size(size_t len);

/* Looks at the limit of file size only, for a sparse file, which need not fit into memory: HL_ERR_NO_MEM with
 * the text, else 0. */
int hl_bounds_file(size_t len);

/* Bytes that could be taken in base pages now without the kernel having to kill a process. */
uint64_t hl_bounds_available(void);

/* Returns HL_ERR_NO_MEM with the text: no file of `len` bytes in pages of `page` bytes could be made. errno
 * says why. */
int hl_bounds_refuse_file(size_t len, size_t page);

/* Returns HL_ERR_NO_MEM with the text: `len` bytes could not be mapped. errno says why. */
int hl_bounds_refuse_map(size_t len);

#endif
