/* The blocking collective calls: names and arguments only, the work is in collective.c. */
#include "api.h"
#include "args.h"
#include "collective.h"

HL_API(MPI_Barrier)
int PMPI_Barrier(MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Barrier", .what = HL_COLL_BARRIER, .comm = comm};

    return hl_api_collective(&a);
}

HL_API(MPI_Bcast)
int PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Bcast",
                            .what = HL_COLL_BCAST,
                            .comm = comm,
                            .root = root,
                            .recv = {.buf = buffer, .count = count, .type = datatype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Bcast_c)
int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Bcast_c",
                            .what = HL_COLL_BCAST,
                            .comm = comm,
                            .root = root,
                            .recv = {.buf = buffer, .count = count, .type = datatype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Reduce)
int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Reduce",
                            .what = HL_COLL_REDUCE,
                            .comm = comm,
                            .root = root,
                            .op = op,
                            .send = {.buf = sendbuf},
                            .recv = {.buf = recvbuf, .count = count, .type = datatype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Reduce_c)
int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                  int root, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Reduce_c",
                            .what = HL_COLL_REDUCE,
                            .comm = comm,
                            .root = root,
                            .op = op,
                            .send = {.buf = sendbuf},
                            .recv = {.buf = recvbuf, .count = count, .type = datatype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Allreduce)
int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Allreduce",
                            .what = HL_COLL_ALLREDUCE,
                            .comm = comm,
                            .op = op,
                            .send = {.buf = sendbuf},
                            .recv = {.buf = recvbuf, .count = count, .type = datatype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Allreduce_c)
int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                     MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Allreduce_c",
                            .what = HL_COLL_ALLREDUCE,
                            .comm = comm,
                            .op = op,
                            .send = {.buf = sendbuf},
                            .recv = {.buf = recvbuf, .count = count, .type = datatype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Scan)
int PMPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Scan",
                            .what = HL_COLL_SCAN,
                            .comm = comm,
                            .op = op,
                            .send = {.buf = sendbuf},
                            .recv = {.buf = recvbuf, .count = count, .type = datatype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Scan_c)
int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Scan_c",
                            .what = HL_COLL_SCAN,
                            .comm = comm,
                            .op = op,
                            .send = {.buf = sendbuf},
                            .recv = {.buf = recvbuf, .count = count, .type = datatype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Exscan)
int PMPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Exscan",
                            .what = HL_COLL_EXSCAN,
                            .comm = comm,
                            .op = op,
                            .send = {.buf = sendbuf},
                            .recv = {.buf = recvbuf, .count = count, .type = datatype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Exscan_c)
int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Exscan_c",
                            .what = HL_COLL_EXSCAN,
                            .comm = comm,
                            .op = op,
                            .send = {.buf = sendbuf},
                            .recv = {.buf = recvbuf, .count = count, .type = datatype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Reduce_scatter_block)
int PMPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Reduce_scatter_block",
                            .what = HL_COLL_REDUCE_SCATTER,
                            .comm = comm,
                            .op = op,
                            .send = {.buf = sendbuf},
                            .recv = {.buf = recvbuf, .count = recvcount, .type = datatype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Reduce_scatter_block_c)
int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Reduce_scatter_block_c",
                            .what = HL_COLL_REDUCE_SCATTER,
                            .comm = comm,
                            .op = op,
                            .send = {.buf = sendbuf},
                            .recv = {.buf = recvbuf, .count = recvcount, .type = datatype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Reduce_scatter)
int PMPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Reduce_scatter",
                            .what = HL_COLL_REDUCE_SCATTER,
                            .comm = comm,
                            .op = op,
                            .send = {.buf = sendbuf},
                            .recv = {.buf = recvbuf, .type = datatype, .counts = {.narrow = recvcounts}}};

    return hl_api_collective(&a);
}

HL_API(MPI_Reduce_scatter_c)
int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Reduce_scatter_c",
                            .what = HL_COLL_REDUCE_SCATTER,
                            .comm = comm,
                            .op = op,
                            .send = {.buf = sendbuf},
                            .recv = {.buf = recvbuf, .type = datatype, .counts = {.wide = recvcounts}}};

    return hl_api_collective(&a);
}

HL_API(MPI_Gather)
int PMPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Gather",
                            .what = HL_COLL_GATHER,
                            .comm = comm,
                            .root = root,
                            .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
                            .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Gather_c)
int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Gather_c",
                            .what = HL_COLL_GATHER,
                            .comm = comm,
                            .root = root,
                            .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
                            .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Gatherv)
int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Gatherv",
                            .what = HL_COLL_GATHERV,
                            .comm = comm,
                            .root = root,
                            .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
                            .recv = {.buf = recvbuf,
                                     .type = recvtype,
                                     .counts = {.narrow = recvcounts},
                                     .displs = {.narrow = displs}}};

    return hl_api_collective(&a);
}

HL_API(MPI_Gatherv_c)
int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
                   MPI_Comm comm)
{
    struct hl_api_coll a = {
        .func = "MPI_Gatherv_c",
        .what = HL_COLL_GATHERV,
        .comm = comm,
        .root = root,
        .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
        .recv = {
            .buf = recvbuf, .type = recvtype, .counts = {.wide = recvcounts}, .displs = {.wide = displs}}};

    return hl_api_collective(&a);
}

HL_API(MPI_Scatter)
int PMPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Scatter",
                            .what = HL_COLL_SCATTER,
                            .comm = comm,
                            .root = root,
                            .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
                            .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Scatter_c)
int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Scatter_c",
                            .what = HL_COLL_SCATTER,
                            .comm = comm,
                            .root = root,
                            .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
                            .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Scatterv)
int PMPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                  void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Scatterv",
                            .what = HL_COLL_SCATTERV,
                            .comm = comm,
                            .root = root,
                            .send = {.buf = sendbuf,
                                     .type = sendtype,
                                     .counts = {.narrow = sendcounts},
                                     .displs = {.narrow = displs}},
                            .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Scatterv_c)
int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int root, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Scatterv_c",
                            .what = HL_COLL_SCATTERV,
                            .comm = comm,
                            .root = root,
                            .send = {.buf = sendbuf,
                                     .type = sendtype,
                                     .counts = {.wide = sendcounts},
                                     .displs = {.wide = displs}},
                            .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Allgather)
int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Allgather",
                            .what = HL_COLL_ALLGATHER,
                            .comm = comm,
                            .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
                            .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Allgather_c)
int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Allgather_c",
                            .what = HL_COLL_ALLGATHER,
                            .comm = comm,
                            .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
                            .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Allgatherv)
int PMPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Allgatherv",
                            .what = HL_COLL_ALLGATHERV,
                            .comm = comm,
                            .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
                            .recv = {.buf = recvbuf,
                                     .type = recvtype,
                                     .counts = {.narrow = recvcounts},
                                     .displs = {.narrow = displs}}};

    return hl_api_collective(&a);
}

HL_API(MPI_Allgatherv_c)
int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                      const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                      MPI_Comm comm)
{
    struct hl_api_coll a = {
        .func = "MPI_Allgatherv_c",
        .what = HL_COLL_ALLGATHERV,
        .comm = comm,
        .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
        .recv = {
            .buf = recvbuf, .type = recvtype, .counts = {.wide = recvcounts}, .displs = {.wide = displs}}};

    return hl_api_collective(&a);
}

HL_API(MPI_Alltoall)
int PMPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Alltoall",
                            .what = HL_COLL_ALLTOALL,
                            .comm = comm,
                            .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
                            .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Alltoall_c)
int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Alltoall_c",
                            .what = HL_COLL_ALLTOALL,
                            .comm = comm,
                            .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
                            .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype}};

    return hl_api_collective(&a);
}

HL_API(MPI_Alltoallv)
int PMPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                   MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Alltoallv",
                            .what = HL_COLL_ALLTOALLV,
                            .comm = comm,
                            .send = {.buf = sendbuf,
                                     .type = sendtype,
                                     .counts = {.narrow = sendcounts},
                                     .displs = {.narrow = sdispls}},
                            .recv = {.buf = recvbuf,
                                     .type = recvtype,
                                     .counts = {.narrow = recvcounts},
                                     .displs = {.narrow = rdispls}}};

    return hl_api_collective(&a);
}

HL_API(MPI_Alltoallv_c)
int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct hl_api_coll a = {
        .func = "MPI_Alltoallv_c",
        .what = HL_COLL_ALLTOALLV,
        .comm = comm,
        .send = {.buf = sendbuf,
                 .type = sendtype,
                 .counts = {.wide = sendcounts},
                 .displs = {.wide = sdispls}},
        .recv = {
            .buf = recvbuf, .type = recvtype, .counts = {.wide = recvcounts}, .displs = {.wide = rdispls}}};

    return hl_api_collective(&a);
}

HL_API(MPI_Alltoallw)
int PMPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                   const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
                   const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct hl_api_coll a = {.func = "MPI_Alltoallw",
                            .what = HL_COLL_ALLTOALLV,
                            .comm = comm,
                            .send = {.buf = sendbuf,
                                     .types = sendtypes,
                                     .counts = {.narrow = sendcounts},
                                     .displs = {.narrow = sdispls}},
                            .recv = {.buf = recvbuf,
                                     .types = recvtypes,
                                     .counts = {.narrow = recvcounts},
                                     .displs = {.narrow = rdispls}}};

    return hl_api_collective(&a);
}

HL_API(MPI_Alltoallw_c)
int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct hl_api_coll a = {
        .func = "MPI_Alltoallw_c",
        .what = HL_COLL_ALLTOALLV,
        .comm = comm,
        .send = {.buf = sendbuf,
                 .types = sendtypes,
                 .counts = {.wide = sendcounts},
                 .displs = {.wide = sdispls}},
        .recv = {
            .buf = recvbuf, .types = recvtypes, .counts = {.wide = recvcounts}, .displs = {.wide = rdispls}}};

    return hl_api_collective(&a);
}
