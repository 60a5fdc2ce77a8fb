/* Inside the module: which parts of a range of bytes are taken. The records lie outside the range, which is
 * never touched; offsets depend on the sequence of calls alone. The work of a call grows with the number of
 * different lengths of free blocks, not with the number of blocks, unless an aligned block fits in few of
 * them. The caller locks. */
#ifndef HL_BLOCKS_H
#define HL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

struct hl_block;

struct hl_blocks {
    size_t granule;           /* power of two: offsets and lengths are multiples of it */
    struct hl_block *lowest;  /* block at the lowest address; its record is never freed */
    struct hl_block *by_len;  /* free blocks: a tree by length; blocks of one length hang behind each other */
    struct hl_block **by_off; /* taken blocks: hash by offset */
    size_t slots, count;      /* slots of the hash (a power of two); blocks in it */
    size_t first;             /* offset of the range's first byte */
    size_t len, taken;        /* bytes of the range, bytes of taken blocks */
};

/* Begins with one free range of `len` bytes, a multiple of `granule`, at offset 0. hl_blocks_fini frees the
 * records. Returns 0, or HL_ERR_NO_MEM without a text. */
int hl_blocks_init(struct hl_blocks *b, size_t len, size_t granule);

/* hl_blocks_init for a range that begins at offset `first`, a multiple of `granule`; alignments are those of
 * offsets. */
int hl_blocks_init_at(struct hl_blocks *b, size_t first, size_t len, size_t granule);
void hl_blocks_fini(struct hl_blocks *b);

/* Takes `len` bytes from a free block of the least length that holds them, and sets *off to where they begin,
 * a multiple of `align` (power of two). Where that block holds no aligned ones, another is taken. Returns 0,
 * or HL_ERR_NO_MEM without a text when no free block holds them, and has changed nothing. */
int hl_blocks_take(struct hl_blocks *b, size_t len, size_t align, size_t *off);

/* Marks the taken block at `off`; there must be one. hl_blocks_is_marked: a marked block begins there. */
void hl_blocks_mark(struct hl_blocks *b, size_t off);
bool hl_blocks_is_marked(const struct hl_blocks *b, size_t off);

/* Makes the taken block at `off` longer or shorter, in place. Returns 0, or HL_ERR_NO_MEM without a text when
 * the free block behind it is too short or there is no memory for a record; nothing has changed then. */
int hl_blocks_resize(struct hl_blocks *b, size_t off, size_t len);

/* Length of the largest free block. */
size_t hl_blocks_largest(const struct hl_blocks *b);

/* Length of the taken block that begins at `off`, or 0 when none does. */
size_t hl_blocks_len_at(const struct hl_blocks *b, size_t off);

/* Gives the taken block at `off` back; there must be one. */
void hl_blocks_give(struct hl_blocks *b, size_t off);

/* True when lists, trees and sums agree. For tests. */
bool hl_blocks_sane(const struct hl_blocks *b);

#endif
