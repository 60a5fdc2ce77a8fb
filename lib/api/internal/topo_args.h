/* Inside the module: what the files of topologies share. */
#ifndef HL_TOPO_ARGS_H
#define HL_TOPO_ARGS_H

#include "args.h"
#include "shape.h"

/* The communicator and its topology, which must be of `kind`. HL_ERR_COMM, HL_ERR_TOPOLOGY. */
int hl_api_get_shape(MPI_Comm comm, int kind, struct hl_comm **c, const struct hl_shape **shape);

/* A row that makes a function (HL_CALL in args.h), which sees also the topology `s` of `comm`. */
#define HL_CALL_SHAPE(name, params, kind, check, what)                                                       \
    HL_CALL(name, params, struct hl_comm *c; const struct hl_shape *s, hl_api_get_shape(comm, kind, &c, &s), \
                                             check, what, hl_api_leave(c, #name, err))

/* Makes a communicator of the first `n` ranks (NULL on the others). Collective over `c`. `wrong`: 0 or the
 * error that this rank has found: all ranks then get an error. */
int hl_api_first_ranks(struct hl_comm *c, int wrong, int64_t n, struct hl_comm **made);

/* The end of a call that makes a communicator with a topology and began with hl_api_enter. It takes `shape`
 * over, also after an error. Returns the MPI code. */
int hl_api_give_shaped(struct hl_comm *parent, const char *func, int err, struct hl_comm *made,
                       struct hl_shape *shape, MPI_Comm *newcomm);

/* Checks the length of a user's array: not negative. */
int hl_api_check_most(int n, const char *what);

/* Checks a rank: a member, not MPI_PROC_NULL. */
HL_INLINE int hl_api_check_member(const struct hl_comm *c, int rank)
{
    return (unsigned)rank < (unsigned)c->size ? 0 : hl_api_sure(hl_api_bad_rank(c, rank));
}

#endif
