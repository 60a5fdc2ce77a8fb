/* A walk over two or three layouts side by side, by spans that are contiguous on every side. */
#ifndef HL_LAYOUT_H
#define HL_LAYOUT_H

#include "type.h"

#define HL_LAYOUT_SIDES 3

/* One layout. The walk only computes its addresses and never follows them. */
struct hl_layout_side {
    const struct hl_type *type;
    int64_t count;
    char *buf;
};

/* The buffer of a target's side is an offset in its window, plus this: a layout may have bytes before its
 * buffer, and computing addresses below 0 would be undefined. */
#define HL_LAYOUT_ORIGIN ((uintptr_t)1 << 62)

HL_INLINE char *hl_layout_at(int64_t offset)
{
    return (char *)((uintptr_t)offset + HL_LAYOUT_ORIGIN);
}

HL_INLINE int64_t hl_layout_offset(const char *at)
{
    return (int64_t)((uintptr_t)at - HL_LAYOUT_ORIGIN);
}

struct hl_layout_iter {
    char *at[HL_LAYOUT_SIDES]; /* the current span on each side */
    int64_t n;                 /* its bytes or elements */
    int sides;
    int64_t unit;                  /* bytes from one counted thing to the next */
    char *next[HL_LAYOUT_SIDES];   /* the rest of each side's current span */
    int64_t left[HL_LAYOUT_SIDES]; /* its bytes or elements */
    struct hl_type_cursor cursors[HL_LAYOUT_SIDES];
};

/* Starts the walk, which ends with the shortest side. `unit`: bytes in memory from one counted thing to the
 * next: 1, or the extent of the basic type. The caller ends the walk with hl_layout_end, also after an error.
 * HL_ERR_NO_MEM. */
int hl_layout_begin(struct hl_layout_iter *z, enum hl_walk how, size_t unit,
                    const struct hl_layout_side *sides, int n);

/* Moves to the next span: z->at and z->n. False at the end. */
bool hl_layout_next(struct hl_layout_iter *z);

void hl_layout_end(struct hl_layout_iter *z);

#endif
