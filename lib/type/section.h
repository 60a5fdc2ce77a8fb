/* Array sections (hotlane.h) as types for one call: a plain section costs no allocation. */
#ifndef HL_SECTION_H
#define HL_SECTION_H

#include <hotlane.h>

#include "loop.h"

#define HL_SECTION_LOOPS 4 /* blocks, and three dimensions that are not merged with the one before */

/* A section whose dimensions are merged where they continue each other. */
struct hl_section_shape {
    int64_t block;  /* bytes that are contiguous */
    int64_t total;  /* bytes of all data */
    int64_t lo, hi; /* offsets of the lowest and the highest block from the first element */
    int n;
    bool unbounded; /* a section of assumed size; then n is 0 */
    struct {
        int64_t times, stride;
    } dims[MPIX_SECTION_RANKS]; /* [n], the fastest first */
};

/* Reads a section into a shape. 0, or HL_ERR_ARG. */
int hl_section_read(const MPIX_Section *s, struct hl_section_shape *shape);

/* True if the section is one block that is not empty. */
HL_INLINE bool hl_section_is_plain(const struct hl_section_shape *shape)
{
    return shape->n == 0 && (shape->total != 0 || shape->unbounded);
}

/* Copies all elements of a section that is not plain to `packed` (pack) or from it. */
void hl_section_pack(const struct hl_section_shape *shape, char *first, char *packed, bool pack);

/* hl_section_pack for a section of one dimension, as the user gave it. */
HL_INLINE void hl_section_pack_line(const MPIX_Section *s, char *first, char *packed, bool pack)
{
    int64_t block = s->elem_len, stride = s->dims->stride, times = s->dims->extent;
    struct hl_grid g = {packed, first, block, stride, times, 0, 0, 1};
    if (!pack) {
        g = (struct hl_grid){first, packed, stride, block, times, 0, 0, 1};
    }
    hl_grid_copy(&g, block);
}

/* Memory for the type that describes a section. */
struct hl_section {
    struct hl_type *made; /* allocated, or NULL */
    struct hl_type type;
    struct hl_loop loops[HL_SECTION_LOOPS];
};

/* Finds the type and count that describe `count` elements of `given` on the section `s`: *n elements of
 * *type, at the address of the section's first element. These are `count` and `given` where the data lies as
 * in a plain buffer, and where they are wrong (`given` NULL or not committed, a negative count), so that the
 * caller reports that. `lasts`: the operation outlives the call, so *type must be a counted type; else it is
 * valid until hl_section_end, which must follow every call. HL_ERR_ARG, HL_ERR_COUNT, HL_ERR_NO_MEM,
 * HL_ERR_VALUE_TOO_LARGE. */
int hl_section_begin(struct hl_section *room, const MPIX_Section *s, const struct hl_type *given,
                     int64_t count, bool lasts, const struct hl_type **type, int64_t *n);

HL_INLINE void hl_section_end(struct hl_section *room)
{
    if (HL_UNLIKELY(room->made != NULL)) {
        hl_type_unref(room->made);
    }
}

#endif
