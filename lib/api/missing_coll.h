/* Rows of missing.c: non-blocking, persistent and neighbour collectives. MISSING(name, communicator whose
 * error handler runs, parameters) */
MISSING(MPI_Allgather_init, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Allgather_init_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Allgatherv_init, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
         const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Allgatherv_init_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
         const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
         MPI_Info info, MPI_Request *request))
MISSING(MPI_Allreduce_init, comm,
        (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
         MPI_Info info, MPI_Request *request))
MISSING(MPI_Allreduce_init_c, comm,
        (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
         MPI_Info info, MPI_Request *request))
MISSING(MPI_Alltoall_init, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Alltoall_init_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Alltoallv_init, comm,
        (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
         void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
         MPI_Info info, MPI_Request *request))
MISSING(MPI_Alltoallv_init_c, comm,
        (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
         void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
         MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Alltoallw_init, comm,
        (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
         void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
         MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Alltoallw_init_c, comm,
        (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
         const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
         const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
         MPI_Request *request))
MISSING(MPI_Barrier_init, comm, (MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Bcast_init, comm,
        (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
         MPI_Request *request))
MISSING(MPI_Bcast_init_c, comm,
        (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info,
         MPI_Request *request))
MISSING(MPI_Exscan_init, comm,
        (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
         MPI_Info info, MPI_Request *request))
MISSING(MPI_Exscan_init_c, comm,
        (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
         MPI_Info info, MPI_Request *request))
MISSING(MPI_Gather_init, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Gather_init_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Gatherv_init, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
         const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
         MPI_Request *request))
MISSING(MPI_Gatherv_init_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
         const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
         MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Iallgather, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Iallgather_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Iallgatherv, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
         const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Iallgatherv_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
         const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Iallreduce, comm,
        (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Iallreduce_c, comm,
        (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Ialltoall, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ialltoall_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ialltoallv, comm,
        (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
         void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Ialltoallv_c, comm,
        (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
         void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
         MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ialltoallw, comm,
        (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[],
         void *recvbuf, const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[],
         MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ialltoallw_c, comm,
        (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
         const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
         const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ibarrier, comm, (MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ibcast, comm,
        (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ibcast_c, comm,
        (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Iexscan, comm,
        (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Iexscan_c, comm,
        (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Igather, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Igather_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Igatherv, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
         const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Igatherv_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
         const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root,
         MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ineighbor_allgather, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ineighbor_allgather_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ineighbor_allgatherv, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
         const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ineighbor_allgatherv_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
         const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Ineighbor_alltoall, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ineighbor_alltoall_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ineighbor_alltoallv, comm,
        (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
         void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Ineighbor_alltoallv_c, comm,
        (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
         void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
         MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ineighbor_alltoallw, comm,
        (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
         const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
         const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ineighbor_alltoallw_c, comm,
        (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
         const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
         const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ireduce, comm,
        (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
         MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ireduce_c, comm,
        (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
         MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ireduce_scatter, comm,
        (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
         MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ireduce_scatter_block, comm,
        (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Ireduce_scatter_block_c, comm,
        (const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
         MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Ireduce_scatter_c, comm,
        (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
         MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Iscan, comm,
        (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Iscan_c, comm,
        (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Iscatter, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Iscatter_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Iscatterv, comm,
        (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
         void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request))
MISSING(MPI_Iscatterv_c, comm,
        (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
         MPI_Request *request))
MISSING(MPI_Neighbor_allgather, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
         MPI_Datatype recvtype, MPI_Comm comm))
MISSING(MPI_Neighbor_allgather_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
         MPI_Datatype recvtype, MPI_Comm comm))
MISSING(MPI_Neighbor_allgather_init, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Neighbor_allgather_init_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Neighbor_allgatherv, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
         const int displs[], MPI_Datatype recvtype, MPI_Comm comm))
MISSING(MPI_Neighbor_allgatherv_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
         const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm))
MISSING(MPI_Neighbor_allgatherv_init, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
         const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Neighbor_allgatherv_init_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
         const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
         MPI_Info info, MPI_Request *request))
MISSING(MPI_Neighbor_alltoall, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
         MPI_Datatype recvtype, MPI_Comm comm))
MISSING(MPI_Neighbor_alltoall_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
         MPI_Datatype recvtype, MPI_Comm comm))
MISSING(MPI_Neighbor_alltoall_init, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Neighbor_alltoall_init_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Neighbor_alltoallv, comm,
        (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
         void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm))
MISSING(MPI_Neighbor_alltoallv_c, comm,
        (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
         void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
         MPI_Comm comm))
MISSING(MPI_Neighbor_alltoallv_init, comm,
        (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
         void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
         MPI_Info info, MPI_Request *request))
MISSING(MPI_Neighbor_alltoallv_init_c, comm,
        (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype,
         void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
         MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Neighbor_alltoallw, comm,
        (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
         const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
         const MPI_Datatype recvtypes[], MPI_Comm comm))
MISSING(MPI_Neighbor_alltoallw_c, comm,
        (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
         const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
         const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm))
MISSING(MPI_Neighbor_alltoallw_init, comm,
        (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
         const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
         const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Neighbor_alltoallw_init_c, comm,
        (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
         const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
         const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
         MPI_Request *request))
MISSING(MPI_Reduce_init, comm,
        (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
         MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Reduce_init_c, comm,
        (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
         MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Reduce_scatter_block_init, comm,
        (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
         MPI_Info info, MPI_Request *request))
MISSING(MPI_Reduce_scatter_block_init_c, comm,
        (const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op,
         MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Reduce_scatter_init, comm,
        (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op,
         MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Reduce_scatter_init_c, comm,
        (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op,
         MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Scan_init, comm,
        (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
         MPI_Info info, MPI_Request *request))
MISSING(MPI_Scan_init_c, comm,
        (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
         MPI_Info info, MPI_Request *request))
MISSING(MPI_Scatter_init, comm,
        (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Scatter_init_c, comm,
        (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request))
MISSING(MPI_Scatterv_init, comm,
        (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
         void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
         MPI_Request *request))
MISSING(MPI_Scatterv_init_c, comm,
        (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype,
         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
         MPI_Request *request))
