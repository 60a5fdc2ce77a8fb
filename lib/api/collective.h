/* Inside the module: the routines that check and run every collective call, one for each form. */
#ifndef HL_COLLECTIVE_H
#define HL_COLLECTIVE_H

#include "coll.h"
#include "widen.h"

/* The arrays of one side: counts, in most forms displacements, in the w forms types. The flags say which
 * there are: an array of no elements may be NULL. */
struct hl_api_arrays {
    struct hl_wide counts, displs;
    bool has_displs, has_types;
    const MPI_Datatype *types;
};

/* The user's arguments for one side. */
struct hl_api_side {
    const void *buf;
    int64_t count;
    MPI_Datatype type;
    const struct hl_api_arrays *arrays; /* NULL: equal blocks */
};

/* Reductions: count and type in recv, send.buf the operand. Bcast: recv only. Small, as short calls are told
 * apart by what it costs to fill it. */
struct hl_api_coll {
    enum hl_coll what;
    int root;
    MPI_Op op;
    struct hl_api_side send, recv;
};

/* Where a call comes from and on which communicator it is. */
struct hl_api_on {
    const char *func;
    MPI_Comm comm;
};

/* All return the MPI code for the user. */
int hl_api_collective(struct hl_api_on on, const struct hl_api_coll *a);
int hl_api_icollective(struct hl_api_on on, const struct hl_api_coll *a, MPI_Request *request);
int hl_api_collective_init(struct hl_api_on on, const struct hl_api_coll *a, MPI_Info info,
                           MPI_Request *request);

#endif
