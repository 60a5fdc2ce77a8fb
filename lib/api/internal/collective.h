/* Inside the module: the routines that check and run every collective call, one for each form. */
#ifndef HL_COLLECTIVE_H
#define HL_COLLECTIVE_H

#include "coll.h"
#include "widen.h"

/* The arrays of one side: counts, in most forms displacements, in the w forms types. The flags say which of
 * them there are, since an array of no elements may be NULL. */
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

/* The user's arguments. Reductions have count and type in recv, the operand in send.buf; a broadcast has recv
 * only. The structure is small, since filling it is a visible part of the cost of short calls. */
struct hl_api_coll {
    enum hl_coll what;
    int root;
    MPI_Op op;
    struct hl_api_side send, recv;
};

/* The call's name and its communicator. */
struct hl_api_on {
    const char *func;
    MPI_Comm comm;
};

/* Check the arguments and run the operation: blocking, nonblocking and persistent. All return the MPI code
 * for the user. */
int hl_api_collective(struct hl_api_on on, const struct hl_api_coll *a);
int hl_api_icollective(struct hl_api_on on, const struct hl_api_coll *a, MPI_Request *request);
int hl_api_collective_init(struct hl_api_on on, const struct hl_api_coll *a, MPI_Info info,
                           MPI_Request *request);

#endif
