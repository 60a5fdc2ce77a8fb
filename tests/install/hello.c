/* Built as C and as C++ by every way users have: says its rank after one put to its neighbour. */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, sum = 0, *box;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Allreduce(box, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d ranks, sum %d\n", size, sum);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
