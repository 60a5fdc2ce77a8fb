/* Groups: ordered sets of world ranks. A group never changes once it is made, and is shared by counting
 * references. */
#ifndef HL_GROUP_H
#define HL_GROUP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "atomic.h"
#include "attr.h"
#include "handle.h"

struct hl_session;

/* The session that a group or communicator was made from; session.h tells whether it still exists. */
struct hl_origin {
    struct hl_session *session; /* NULL: none */
    uint32_t generation;        /* generation of its handle */
};

/* Read-only except `refs` and `handles`. The world rank of member i is first + i * stride, or world[i] when
 * there is a table. */
struct hl_group {
    struct hl_handle h;
    MPI_Group handle; /* what the user calls it: MPI_GROUP_EMPTY or this address */
    hl_a32 refs;      /* references of each handle, communicator and window */
    hl_a32 handles;   /* atomic: handles that the user has; counted in `refs`, too */
    int size;
    int rank; /* this process's rank in the group, or MPI_UNDEFINED */
    int first, stride;
    int *world;              /* [size]; NULL when first and stride are enough */
    int *sorted;             /* [size] members in the order of their world ranks; NULL without a table */
    struct hl_origin origin; /* set before the user has the handle */
};

extern struct hl_group hl_group_empty;

/* The group behind a handle, or NULL for MPI_GROUP_NULL, freed, foreign and garbage values. Any thread. */
HL_INLINE struct hl_group *hl_group_of(MPI_Group handle)
{
    if (handle == MPI_GROUP_EMPTY) {
        return &hl_group_empty;
    }
    return (uintptr_t)handle < 0x1000 ? NULL : hl_handle_get(handle, HL_KIND_GROUP);
}

/* World rank of member `rank`, which must be in 0 .. size - 1. O(1). */
HL_INLINE int hl_group_world(const struct hl_group *g, int rank)
{
    return HL_LIKELY(g->world == NULL) ? g->first + rank * g->stride : g->world[rank];
}

/* The member whose world rank is `world`, or MPI_UNDEFINED. O(1) without a table, else O(log size). */
int hl_group_rank(const struct hl_group *g, int world);

/* hl_group_ref takes a reference for a new user of the group; hl_group_unref gives it back, and the last one
 * destroys the group. */
void hl_group_ref(struct hl_group *g);
void hl_group_unref(struct hl_group *g);

/* hl_group_give: gives the user a handle, with the caller's reference. hl_group_take_back: the user frees a
 * handle; HL_ERR_GROUP when the user has none left. */
MPI_Group hl_group_give(struct hl_group *g);
int hl_group_take_back(struct hl_group *g);

/* The functions that follow set *made to a new group with one reference for the caller (hl_group_empty if it
 * has no members), or return HL_ERR_NO_MEM. They check ranks as the standard asks: HL_ERR_RANK for a rank
 * outside the group or named twice, HL_ERR_ARG for impossible counts and ranges. */

/* A group of the world ranks world[0 .. n-1], which must differ; the array stays the caller's. */
int hl_group_make(const int *world, int n, struct hl_group **made);

/* A group of n world ranks: first, first + stride, ...; stride is not 0 unless n is 1. */
int hl_group_make_strided(int first, int stride, int n, struct hl_group **made);

/* A group of the members of `g` that are named, in that order, or of those that are not (`with` false), in
 * that of `g`. ranges[i] = {first, last, stride} */
int hl_group_choose(const struct hl_group *g, int64_t n, const int *ranks, bool with, struct hl_group **made);
int hl_group_choose_ranges(const struct hl_group *g, int n, const int (*ranges)[3], bool with,
                           struct hl_group **made);

int hl_group_union(const struct hl_group *a, const struct hl_group *b, struct hl_group **made);
int hl_group_intersection(const struct hl_group *a, const struct hl_group *b, struct hl_group **made);
int hl_group_difference(const struct hl_group *a, const struct hl_group *b, struct hl_group **made);

/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL. */
int hl_group_compare(const struct hl_group *a, const struct hl_group *b);

/* out[i] = rank in `b` of member ranks[i] of `a`, or MPI_UNDEFINED; MPI_PROC_NULL stays. HL_ERR_RANK. */
int hl_group_translate(const struct hl_group *a, int n, const int *ranks, const struct hl_group *b, int *out);

#endif
