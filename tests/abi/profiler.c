/* A profiler for LD_PRELOAD: counts the program's calls of a few functions, each of which it must see exactly
 * once. */
#include <mpi.h>
#include <stdio.h>

static int inits, sends, recvs, sizes;

int MPI_Init(int *argc, char ***argv)
{
    inits++;
    return PMPI_Init(argc, argv);
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    recvs++;
    return PMPI_Recv(buf, count, datatype, source, tag, comm, status);
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    sizes++;
    return PMPI_Comm_size(comm, size);
}

int MPI_Finalize(void)
{
    printf("profiler: init %d, send %d, recv %d, size %d\n", inits, sends, recvs, sizes);
    return PMPI_Finalize();
}
