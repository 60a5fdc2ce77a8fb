/* Inside the module: which parts of a range of bytes are taken. Keeps its records outside the range and never
 * looks at it; offsets depend on nothing but the sequence of calls. The work of a call depends on how many
 * lengths free blocks have, not on the number of blocks. Not locked: the caller does. */
#ifndef HL_BLOCKS_H
#define HL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

struct hl_block;

struct hl_blocks {
    size_t granule;          /* power of two: offsets and lengths are multiples of it */
    struct hl_block *lowest; /* by address: its record is never given back */
    struct hl_block
        *by_len; /* free blocks: tree by length, and one behind the other where that is the same */
    struct hl_block **by_off; /* taken blocks: hash by offset */
    size_t slots, count;      /* of the hash (a power of two), and blocks in it */
    size_t first;             /* offset of the range's first byte */
    size_t len, taken;        /* bytes of the range, bytes of taken blocks */
};

/* A free range of `len` bytes, a multiple of `granule`, that begins at offset 0. Returns 0 or HL_ERR_NO_MEM
 * (silent). */
int hl_blocks_init(struct hl_blocks *b, size_t len, size_t granule);

/* The same, at offset `first`, a multiple of `granule`: alignments are those of offsets. */
int hl_blocks_init_at(struct hl_blocks *b, size_t first, size_t len, size_t granule);
void hl_blocks_fini(struct hl_blocks *b);

/* Takes a free block of the least length that holds `len` bytes; *off is a multiple of `align` (power of
 * two). Returns 0, or HL_ERR_NO_MEM (silent) and changes nothing. */
int hl_blocks_take(struct hl_blocks *b, size_t len, size_t align, size_t *off);

/* Makes the taken block at `off` longer or shorter, where it is. Returns 0, or HL_ERR_NO_MEM (silent, nothing
 * has changed) when the free block behind it is too short. */
int hl_blocks_resize(struct hl_blocks *b, size_t off, size_t len);

/* Length of the largest free block. */
size_t hl_blocks_largest(const struct hl_blocks *b);

/* Length of the taken block that begins at `off`, or 0 when none does. */
size_t hl_blocks_len_at(const struct hl_blocks *b, size_t off);

/* Gives back the taken block at `off` (there must be one). */
void hl_blocks_give(struct hl_blocks *b, size_t off);

/* True when lists, trees and sums agree. For tests. */
bool hl_blocks_sane(const struct hl_blocks *b);

#endif
