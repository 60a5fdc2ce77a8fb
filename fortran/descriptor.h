/* Array descriptors: how a choice buffer of mpi_f08, TYPE(*), DIMENSION(..), comes to C. These are the fields
 * of CFI_cdesc_t in ISO_Fortran_binding.h that the compilers have in the same places (gfortran, flang), so
 * that this needs no header of theirs. The library looks at its start whether its compiler agrees (facts.h).
 * (Fortran 2018, 18.5) */
#ifndef HL_FORT_DESCRIPTOR_H
#define HL_FORT_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sentinel.h"

enum { HL_FORT_RANKS = 15 }; /* dimensions that an array of Fortran has at most */

struct hl_fort_dim {
    intptr_t lower_bound;
    intptr_t extent; /* elements; -1 in the last dimension of an array of assumed size */
    intptr_t step;   /* bytes from one element to the next, of any sign */
};

struct hl_fort_array {
    void *addr;      /* of the first element; NULL: not allocated */
    size_t elem_len; /* bytes of an element */
    int version;
    int8_t rank;
    int8_t type[3]; /* of no interest; compilers differ */
    struct hl_fort_dim dim[];
};
_Static_assert(offsetof(struct hl_fort_array, dim) == 24, "as in ISO_Fortran_binding.h");

/* Whether the elements lie one behind the other (or there is but one, or none). */
bool hl_fort_is_dense(const struct hl_fort_array *a);

/* The same, but that false is also the answer for an array of rank 1 with one element or none, and for one of
 * more dimensions: it costs little then. */
static inline bool hl_fort_is_plain(const struct hl_fort_array *a)
{
    return a->rank == 0 || (a->rank == 1 && (size_t)a->dim[0].step == a->elem_len);
}

/* The same for an array that may have more dimensions. */
static inline bool hl_fort_is_in_one_piece(const struct hl_fort_array *a)
{
    return a->rank > 1 ? hl_fort_is_dense(a) : hl_fort_is_plain(a);
}

/* The same for an array that is not plain: false is also the answer for one of rank 1 with fewer than two
 * elements, which is a section as any other. */
static inline bool hl_fort_is_whole(const struct hl_fort_array *a)
{
    return a->addr == NULL || (a->rank > 1 && hl_fort_is_dense(a));
}

#endif
