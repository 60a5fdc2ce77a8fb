/* The blocking collective calls as nonblocking or persistent ones, by turns: included in front of a test's
 * text, which then tests all three forms. */
#ifndef COLL_FORMS_H
#define COLL_FORMS_H

#include "mpi_test.h"

static int coll_form; /* 0 blocking, 1 nonblocking, 2 persistent and started twice */
static MPI_Request coll_request;

static inline int coll_wait(int code, MPI_Request *request)
{
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (coll_form == 2) {
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        MPI_Start(request);
    }
    MPI_Wait(request, MPI_STATUS_IGNORE);
    if (coll_form == 2) {
        MPI_Request_free(request);
    }
    CHECK(*request == MPI_REQUEST_NULL);
    return MPI_SUCCESS;
}

#define COLL_BEGIN(Name, name, ...)                                                                          \
    (coll_form == 1 ? MPI_I##name(__VA_ARGS__, &coll_request)                                                \
                    : MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &coll_request))
#define COLL_FORM(Name, name, ...)                                                                           \
    (coll_form == 0 ? MPI_##Name(__VA_ARGS__) : coll_wait(COLL_BEGIN(Name, name, __VA_ARGS__), &coll_request))

#define MPI_Barrier(...) COLL_FORM(Barrier, barrier, __VA_ARGS__)
#define MPI_Bcast(...) COLL_FORM(Bcast, bcast, __VA_ARGS__)
#define MPI_Reduce(...) COLL_FORM(Reduce, reduce, __VA_ARGS__)
#define MPI_Allreduce(...) COLL_FORM(Allreduce, allreduce, __VA_ARGS__)
#define MPI_Scan(...) COLL_FORM(Scan, scan, __VA_ARGS__)
#define MPI_Reduce_scatter(...) COLL_FORM(Reduce_scatter, reduce_scatter, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) COLL_FORM(Reduce_scatter_block, reduce_scatter_block, __VA_ARGS__)
#define MPI_Gather(...) COLL_FORM(Gather, gather, __VA_ARGS__)
#define MPI_Gatherv(...) COLL_FORM(Gatherv, gatherv, __VA_ARGS__)
#define MPI_Scatter(...) COLL_FORM(Scatter, scatter, __VA_ARGS__)
#define MPI_Scatterv(...) COLL_FORM(Scatterv, scatterv, __VA_ARGS__)
#define MPI_Allgather(...) COLL_FORM(Allgather, allgather, __VA_ARGS__)
#define MPI_Allgatherv(...) COLL_FORM(Allgatherv, allgatherv, __VA_ARGS__)
#define MPI_Alltoall(...) COLL_FORM(Alltoall, alltoall, __VA_ARGS__)
#define MPI_Alltoallv(...) COLL_FORM(Alltoallv, alltoallv, __VA_ARGS__)
#define MPI_Neighbor_allgather(...) COLL_FORM(Neighbor_allgather, neighbor_allgather, __VA_ARGS__)
#define MPI_Neighbor_allgatherv(...) COLL_FORM(Neighbor_allgatherv, neighbor_allgatherv, __VA_ARGS__)
#define MPI_Neighbor_alltoall(...) COLL_FORM(Neighbor_alltoall, neighbor_alltoall, __VA_ARGS__)
#define MPI_Neighbor_alltoallv(...) COLL_FORM(Neighbor_alltoallv, neighbor_alltoallv, __VA_ARGS__)
#define MPI_Neighbor_alltoallw(...) COLL_FORM(Neighbor_alltoallw, neighbor_alltoallw, __VA_ARGS__)

#endif
