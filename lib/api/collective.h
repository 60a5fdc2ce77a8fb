/* Inside the module: one routine that checks and runs every blocking collective call. */
#ifndef HL_COLLECTIVE_H
#define HL_COLLECTIVE_H

#include "coll.h"
#include "widen.h"

/* The user's arguments for one side. Forms with arrays set counts and displs, and types in the w forms. */
struct hl_api_side {
    const void *buf;
    int64_t count;
    MPI_Datatype type;
    struct hl_wide counts, displs;
    const MPI_Datatype *types;
};

/* Reductions: count and type in recv, send.buf the operand. Bcast: recv only. */
struct hl_api_coll {
    const char *func;
    enum hl_coll what;
    MPI_Comm comm;
    int root;
    MPI_Op op;
    struct hl_api_side send, recv;
};

/* Returns the MPI code for the user. */
int hl_api_collective(const struct hl_api_coll *a);

#endif
