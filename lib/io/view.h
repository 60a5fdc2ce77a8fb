/* Views: which bytes of a file a rank sees, and in which order. A filetype is walked as the loops that it is,
 * never flattened: places are addresses that nobody reads. */
#ifndef HL_IO_VIEW_H
#define HL_IO_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "rep.h"
#include "type.h"

/* Read-only once made, but for refs. */
struct hl_view {
    hl_a32 refs;
    int64_t disp;                     /* bytes */
    struct hl_type *etype, *filetype; /* the user's, with references */
    const struct hl_rep *rep;
    struct hl_type *tile; /* filetype with the sizes that data have in the file; committed */
    int64_t unit;         /* bytes of an etype in the file */
};

/* What a view is made of; types are committed. */
struct hl_view_ask {
    int64_t disp;
    struct hl_type *etype, *filetype;
    const struct hl_rep *rep;
    bool writes; /* the filetype may not overlap itself */
};

/* A new one with one reference; the types get references of their own. HL_ERR_ARG: the filetype is not made
 * of etypes, `disp` is negative, or the etype is empty; HL_ERR_IO: its data are not in the order of the file;
 * HL_ERR_NO_MEM; errors of the representation. */
int hl_view_make(const struct hl_view_ask *ask, struct hl_view **made);

/* Does each block of data begin after the one before, none before the origin, and with `apart` behind its
 * end?
 */
bool hl_view_is_ordered(const struct hl_type *filetype, bool apart);
void hl_view_ref(struct hl_view *v);
void hl_view_unref(struct hl_view *v);

/* Starts a walk over bytes [at, at + bytes) of the view, counted without its holes. What the cursor calls
 * addresses are places in the file, by hl_view_place. HL_ERR_ARG: they end beyond all files; HL_ERR_NO_MEM.
 */
int hl_view_walk(const struct hl_view *v, int64_t at, int64_t bytes, struct hl_type_cursor *c);

/* Would a walk over them begin? HL_ERR_ARG, as above. */
int hl_view_check(const struct hl_view *v, int64_t at, int64_t bytes);

#define HL_VIEW_BASE ((uintptr_t)1 << 62) /* so that no place is the null pointer or before it */

HL_INLINE int64_t hl_view_place(const char *addr)
{
    return (int64_t)((uintptr_t)addr - HL_VIEW_BASE);
}

/* Where byte `at` of the view is in the file. Errors as above. */
int hl_view_byte(const struct hl_view *v, int64_t at, int64_t *place);

/* Etypes of the view before the first one that begins at or after byte `size` of the file. */
int hl_view_end(const struct hl_view *v, int64_t size, int64_t *etypes);

/* Etypes that `count` elements in memory are in the file. HL_ERR_TYPE: not a whole number of them;
 * HL_ERR_VALUE_TOO_LARGE. */
int hl_view_etypes(const struct hl_view *v, const struct hl_type *type, int64_t count, int64_t *etypes);

#endif
