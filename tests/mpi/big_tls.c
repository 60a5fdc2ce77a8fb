/* A program with more thread-local data than the stack of a thread of ours: threads start all the same. */
#include "mpi_test.h"

static _Thread_local char own[4 << 20];

int main(void)
{
    long long word = 5, *memory;
    MPI_Win win;

    test_start(2);
    own[sizeof own - 1] = 1;
    MPI_Win_allocate(sizeof word, sizeof word, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&memory, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&word, 1, MPI_LONG_LONG, (me + 1) % size, 0, 1, MPI_LONG_LONG, win);
    MPI_Win_fence(0, win);
    CHECK_EQ(*memory, 5);
    CHECK_EQ(own[sizeof own - 1], 1);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
