/* One rank of perf/ranks: a window of the bytes named, a put to the next rank, and the end. Rank 0 prints the
 * longest seconds of any rank: the first barrier, MPI_Win_allocate, two fences with the put, MPI_Win_free. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Aint bytes = argc > 1 ? (MPI_Aint)atoll(argv[1]) : 4096;
    int rank, ranks, provided;
    long *base, mine;
    double at[6], steps[4], longest[4];
    MPI_Win win;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    at[1] = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    at[2] = MPI_Wtime();
    MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    at[3] = MPI_Wtime();
    mine = rank;
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_LONG, (rank + 1) % ranks, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    at[4] = MPI_Wtime();
    if (base[0] != (rank + ranks - 1) % ranks) {
        fprintf(stderr, "rank %d: %ld was put\n", rank, base[0]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Win_free(&win);
    at[5] = MPI_Wtime();
    steps[0] = at[2] - at[1];
    for (int i = 1; i < 4; i++) {
        steps[i] = at[i + 2] - at[i + 1];
    }
    MPI_Reduce(steps, longest, 4, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("meet %.6f allocate %.6f fences %.6f free %.6f\n", longest[0], longest[1], longest[2],
               longest[3]);
    }
    MPI_Finalize();
    return 0;
}
