/* Views: which bytes of a file a rank sees, and in which order. A filetype is walked as a tree of loops,
 * never flattened: a walk's addresses are places in the file, and nobody reads there. */
#ifndef HL_IO_VIEW_H
#define HL_IO_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "rep.h"
#include "type.h"

/* Read-only once made, except `refs`. */
struct hl_view {
    hl_a32 refs;
    int64_t disp;                     /* displacement, bytes */
    struct hl_type *etype, *filetype; /* the user's, with references */
    const struct hl_rep *rep;
    struct hl_type *tile; /* the filetype with the sizes that data have in the file; committed */
    int64_t unit;         /* bytes of an etype in the file */
    bool apart;           /* blocks of a tile do not overlap; tiles may, and may lie between each other */
};

/* The arguments of a view; types are committed. */
struct hl_view_ask {
    int64_t disp;
    struct hl_type *etype, *filetype;
    const struct hl_rep *rep;
    bool writes; /* the filetype may not overlap itself */
};

/* Makes a view with one reference; it takes references to the types. HL_ERR_ARG: the filetype is not made of
 * etypes, `disp` is negative, or the etype is empty. HL_ERR_IO: the filetype's data are not in the order of
 * the file, in memory or by the sizes that they have in the file. HL_ERR_NO_MEM; errors of the
 * representation. */
int hl_view_make(const struct hl_view_ask *ask, struct hl_view **made);

/* True if each block of data begins after the one before it (with `apart`: after its end), and none before
 * the origin. */
bool hl_view_is_ordered(const struct hl_type *filetype, bool apart);
void hl_view_ref(struct hl_view *v);
void hl_view_unref(struct hl_view *v);

/* Starts a walk over bytes [at, at + bytes) of the view, which are counted without its holes. hl_view_place
 * makes the cursor's addresses places in the file. HL_ERR_ARG: the bytes end beyond all files;
 * HL_ERR_NO_MEM. */
int hl_view_walk(const struct hl_view *v, int64_t at, int64_t bytes, struct hl_type_cursor *c);

/* Checks whether hl_view_walk accepts these bytes. HL_ERR_ARG: they end beyond all files. */
int hl_view_check(const struct hl_view *v, int64_t at, int64_t bytes);

#define HL_VIEW_BASE ((uintptr_t)1 << 62) /* added, so that no place is the null pointer or before it */

HL_INLINE int64_t hl_view_place(const char *addr)
{
    return (int64_t)((uintptr_t)addr - HL_VIEW_BASE);
}

/* The place in the file of byte `at` of the view. Errors of hl_view_walk. */
int hl_view_byte(const struct hl_view *v, int64_t at, int64_t *place);

/* The bytes of the file from *first up to *end that hold bytes [at, at + bytes) of the view, at least one;
 * holes, and what other parts of the view hold, between them. Errors of hl_view_walk. */
int hl_view_range(const struct hl_view *v, int64_t at, int64_t bytes, int64_t *first, int64_t *end);

/* Number of etypes of the view before the first one that begins at or after byte `size` of the file; of one
 * tile, if all tiles begin at one place and have none. HL_ERR_ARG: too many; HL_ERR_NO_MEM. */
int hl_view_end(const struct hl_view *v, int64_t size, int64_t *etypes);

/* Number of etypes that `count` elements of memory are in the file. HL_ERR_TYPE: no whole number;
 * HL_ERR_VALUE_TOO_LARGE; errors of the representation. */
int hl_view_etypes(const struct hl_view *v, const struct hl_type *type, int64_t count, int64_t *etypes);

#endif
