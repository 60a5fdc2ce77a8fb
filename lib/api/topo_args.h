/* Inside the module: what the files of topologies share. */
#ifndef HL_TOPO_ARGS_H
#define HL_TOPO_ARGS_H

#include "args.h"
#include "shape.h"

/* The shape of a communicator that must have one of `kind`. HL_ERR_COMM, HL_ERR_TOPOLOGY. */
int hl_api_get_shape(MPI_Comm comm, int kind, struct hl_comm **c, const struct hl_shape **shape);

/* A communicator of the first `n` ranks (NULL on the others); `wrong` is what is wrong with my call: all
 * ranks then get an error. */
int hl_api_first_ranks(struct hl_comm *c, int wrong, int64_t n, struct hl_comm **made);

/* The end of a call that makes a communicator with a topology and began with hl_api_enter: `shape` is
 * consumed. Returns the MPI code. */
int hl_api_give_shaped(struct hl_comm *parent, const char *func, int err, struct hl_comm *made,
                       struct hl_shape *shape, MPI_Comm *newcomm);

/* The length of a user's array. */
int hl_api_check_most(int n, const char *what);

/* A member: not MPI_PROC_NULL. */
HL_INLINE int hl_api_check_member(const struct hl_comm *c, int rank)
{
    return (unsigned)rank < (unsigned)c->size ? 0 : hl_api_sure(hl_api_bad_rank(c, rank));
}

#endif
