/* Rows of colls.c. COLL(Name, name, operation, parameters before the communicator, the call's fields) is the
 * blocking, the nonblocking and the persistent function: MPI_Name, MPI_Iname, MPI_Name_init. The includer
 * says what COUNT and DISPL are. */
// clang-format off

/* Defines: MPI_Bcast MPI_Ibcast MPI_Bcast_init MPI_Bcast_c MPI_Ibcast_c MPI_Bcast_init_c */
COLL(Bcast, bcast, BCAST,
     PARAMS(void *buffer, COUNT count, MPI_Datatype datatype, int root),
     .root = root,
     .recv = {.buf = buffer, .count = count, .type = datatype})

/* Defines: MPI_Reduce MPI_Ireduce MPI_Reduce_init MPI_Reduce_c MPI_Ireduce_c MPI_Reduce_init_c */
COLL(Reduce, reduce, REDUCE,
     PARAMS(const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op, int root),
     .root = root, .op = op,
     .send = {.buf = sendbuf},
     .recv = {.buf = recvbuf, .count = count, .type = datatype})

/* Defines: MPI_Allreduce MPI_Iallreduce MPI_Allreduce_init MPI_Allreduce_c MPI_Iallreduce_c
 * MPI_Allreduce_init_c */
COLL(Allreduce, allreduce, ALLREDUCE,
     PARAMS(const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op),
     .op = op,
     .send = {.buf = sendbuf},
     .recv = {.buf = recvbuf, .count = count, .type = datatype})

/* Defines: MPI_Scan MPI_Iscan MPI_Scan_init MPI_Scan_c MPI_Iscan_c MPI_Scan_init_c */
COLL(Scan, scan, SCAN,
     PARAMS(const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op),
     .op = op,
     .send = {.buf = sendbuf},
     .recv = {.buf = recvbuf, .count = count, .type = datatype})

/* Defines: MPI_Exscan MPI_Iexscan MPI_Exscan_init MPI_Exscan_c MPI_Iexscan_c MPI_Exscan_init_c */
COLL(Exscan, exscan, EXSCAN,
     PARAMS(const void *sendbuf, void *recvbuf, COUNT count, MPI_Datatype datatype, MPI_Op op),
     .op = op,
     .send = {.buf = sendbuf},
     .recv = {.buf = recvbuf, .count = count, .type = datatype})

/* Defines: MPI_Reduce_scatter_block MPI_Ireduce_scatter_block MPI_Reduce_scatter_block_init
 * MPI_Reduce_scatter_block_c MPI_Ireduce_scatter_block_c MPI_Reduce_scatter_block_init_c */
COLL(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER,
     PARAMS(const void *sendbuf, void *recvbuf, COUNT recvcount, MPI_Datatype datatype, MPI_Op op),
     .op = op,
     .send = {.buf = sendbuf},
     .recv = {.buf = recvbuf, .count = recvcount, .type = datatype})

/* Defines: MPI_Reduce_scatter MPI_Ireduce_scatter MPI_Reduce_scatter_init MPI_Reduce_scatter_c
 * MPI_Ireduce_scatter_c MPI_Reduce_scatter_init_c */
COLL(Reduce_scatter, reduce_scatter, REDUCE_SCATTER,
     PARAMS(const void *sendbuf, void *recvbuf, const COUNT recvcounts[], MPI_Datatype datatype, MPI_Op op),
     .op = op,
     .send = {.buf = sendbuf},
     .recv = {.buf = recvbuf, .type = datatype, ARRAYS(COUNTS(recvcounts))})

/* Defines: MPI_Gather MPI_Igather MPI_Gather_init MPI_Gather_c MPI_Igather_c MPI_Gather_init_c */
COLL(Gather, gather, GATHER,
     PARAMS(const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,
            MPI_Datatype recvtype, int root),
     .root = root,
     .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
     .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype})

/* Defines: MPI_Gatherv MPI_Igatherv MPI_Gatherv_init MPI_Gatherv_c MPI_Igatherv_c MPI_Gatherv_init_c */
COLL(Gatherv, gatherv, GATHERV,
     PARAMS(const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf,
            const COUNT recvcounts[], const DISPL displs[], MPI_Datatype recvtype, int root),
     .root = root,
     .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
     .recv = {.buf = recvbuf, .type = recvtype, ARRAYS(COUNTS(recvcounts), DISPLS(displs))})

/* Defines: MPI_Scatter MPI_Iscatter MPI_Scatter_init MPI_Scatter_c MPI_Iscatter_c MPI_Scatter_init_c */
COLL(Scatter, scatter, SCATTER,
     PARAMS(const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,
            MPI_Datatype recvtype, int root),
     .root = root,
     .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
     .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype})

/* Defines: MPI_Scatterv MPI_Iscatterv MPI_Scatterv_init MPI_Scatterv_c MPI_Iscatterv_c MPI_Scatterv_init_c */
COLL(Scatterv, scatterv, SCATTERV,
     PARAMS(const void *sendbuf, const COUNT sendcounts[], const DISPL displs[], MPI_Datatype sendtype,
            void *recvbuf, COUNT recvcount, MPI_Datatype recvtype, int root),
     .root = root,
     .send = {.buf = sendbuf, .type = sendtype, ARRAYS(COUNTS(sendcounts), DISPLS(displs))},
     .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype})

/* Defines: MPI_Allgather MPI_Iallgather MPI_Allgather_init MPI_Allgather_c MPI_Iallgather_c
 * MPI_Allgather_init_c */
COLL(Allgather, allgather, ALLGATHER,
     PARAMS(const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,
            MPI_Datatype recvtype),
     .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
     .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype})

/* Defines: MPI_Allgatherv MPI_Iallgatherv MPI_Allgatherv_init MPI_Allgatherv_c MPI_Iallgatherv_c
 * MPI_Allgatherv_init_c */
COLL(Allgatherv, allgatherv, ALLGATHERV,
     PARAMS(const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf,
            const COUNT recvcounts[], const DISPL displs[], MPI_Datatype recvtype),
     .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
     .recv = {.buf = recvbuf, .type = recvtype, ARRAYS(COUNTS(recvcounts), DISPLS(displs))})

/* Defines: MPI_Alltoall MPI_Ialltoall MPI_Alltoall_init MPI_Alltoall_c MPI_Ialltoall_c MPI_Alltoall_init_c */
COLL(Alltoall, alltoall, ALLTOALL,
     PARAMS(const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,
            MPI_Datatype recvtype),
     .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
     .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype})

/* Defines: MPI_Alltoallv MPI_Ialltoallv MPI_Alltoallv_init MPI_Alltoallv_c MPI_Ialltoallv_c
 * MPI_Alltoallv_init_c */
COLL(Alltoallv, alltoallv, ALLTOALLV,
     PARAMS(const void *sendbuf, const COUNT sendcounts[], const DISPL sdispls[], MPI_Datatype sendtype,
            void *recvbuf, const COUNT recvcounts[], const DISPL rdispls[], MPI_Datatype recvtype),
     .send = {.buf = sendbuf, .type = sendtype, ARRAYS(COUNTS(sendcounts), DISPLS(sdispls))},
     .recv = {.buf = recvbuf, .type = recvtype, ARRAYS(COUNTS(recvcounts), DISPLS(rdispls))})

/* Defines: MPI_Alltoallw MPI_Ialltoallw MPI_Alltoallw_init MPI_Alltoallw_c MPI_Ialltoallw_c
 * MPI_Alltoallw_init_c */
COLL(Alltoallw, alltoallw, ALLTOALLV,
     PARAMS(const void *sendbuf, const COUNT sendcounts[], const DISPL sdispls[],
            const MPI_Datatype sendtypes[], void *recvbuf, const COUNT recvcounts[], const DISPL rdispls[],
            const MPI_Datatype recvtypes[]),
     .send = {.buf = sendbuf, ARRAYS(TYPES(sendtypes), COUNTS(sendcounts), DISPLS(sdispls))},
     .recv = {.buf = recvbuf, ARRAYS(TYPES(recvtypes), COUNTS(recvcounts), DISPLS(rdispls))})

/* Defines: MPI_Neighbor_allgather MPI_Ineighbor_allgather MPI_Neighbor_allgather_init
 * MPI_Neighbor_allgather_c MPI_Ineighbor_allgather_c MPI_Neighbor_allgather_init_c */
COLL(Neighbor_allgather, neighbor_allgather, NEIGHBOR_ALLGATHER,
     PARAMS(const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,
            MPI_Datatype recvtype),
     .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
     .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype})

/* Defines: MPI_Neighbor_allgatherv MPI_Ineighbor_allgatherv MPI_Neighbor_allgatherv_init
 * MPI_Neighbor_allgatherv_c MPI_Ineighbor_allgatherv_c MPI_Neighbor_allgatherv_init_c */
COLL(Neighbor_allgatherv, neighbor_allgatherv, NEIGHBOR_ALLGATHER,
     PARAMS(const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf,
            const COUNT recvcounts[], const DISPL displs[], MPI_Datatype recvtype),
     .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
     .recv = {.buf = recvbuf, .type = recvtype, ARRAYS(COUNTS(recvcounts), DISPLS(displs))})

/* Defines: MPI_Neighbor_alltoall MPI_Ineighbor_alltoall MPI_Neighbor_alltoall_init MPI_Neighbor_alltoall_c
 * MPI_Ineighbor_alltoall_c MPI_Neighbor_alltoall_init_c */
COLL(Neighbor_alltoall, neighbor_alltoall, NEIGHBOR_ALLTOALL,
     PARAMS(const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,
            MPI_Datatype recvtype),
     .send = {.buf = sendbuf, .count = sendcount, .type = sendtype},
     .recv = {.buf = recvbuf, .count = recvcount, .type = recvtype})

/* Defines: MPI_Neighbor_alltoallv MPI_Ineighbor_alltoallv MPI_Neighbor_alltoallv_init
 * MPI_Neighbor_alltoallv_c MPI_Ineighbor_alltoallv_c MPI_Neighbor_alltoallv_init_c */
COLL(Neighbor_alltoallv, neighbor_alltoallv, NEIGHBOR_ALLTOALL,
     PARAMS(const void *sendbuf, const COUNT sendcounts[], const DISPL sdispls[], MPI_Datatype sendtype,
            void *recvbuf, const COUNT recvcounts[], const DISPL rdispls[], MPI_Datatype recvtype),
     .send = {.buf = sendbuf, .type = sendtype, ARRAYS(COUNTS(sendcounts), DISPLS(sdispls))},
     .recv = {.buf = recvbuf, .type = recvtype, ARRAYS(COUNTS(recvcounts), DISPLS(rdispls))})

/* Displacements are MPI_Aint in both widths. */
/* Defines: MPI_Neighbor_alltoallw MPI_Ineighbor_alltoallw MPI_Neighbor_alltoallw_init
 * MPI_Neighbor_alltoallw_c MPI_Ineighbor_alltoallw_c MPI_Neighbor_alltoallw_init_c */
COLL(Neighbor_alltoallw, neighbor_alltoallw, NEIGHBOR_ALLTOALL,
     PARAMS(const void *sendbuf, const COUNT sendcounts[], const MPI_Aint sdispls[],
            const MPI_Datatype sendtypes[], void *recvbuf, const COUNT recvcounts[],
            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[]),
     .send = {.buf = sendbuf, ARRAYS(TYPES(sendtypes), COUNTS(sendcounts),
              .has_displs = true, .displs = {.wide = sdispls})},
     .recv = {.buf = recvbuf, ARRAYS(TYPES(recvtypes), COUNTS(recvcounts),
              .has_displs = true, .displs = {.wide = rdispls})})
// clang-format on
