/* An MPI window over memory of the symmetric heap: both interfaces reach the same bytes, and the window
 * outlives the heap. usage: heap_window window-first|heap-first */
#include "shmem_test.h"

#include <mpi.h>

int main(int argc, char **argv)
{
    int level;
    MPI_Win win;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    test_start(1);
    int right = (me + 1) % n_pes, left = (me + n_pes - 1) % n_pes;
    long *words = shmem_calloc(1000, sizeof *words), value = me + 5;
    CHECK(words != NULL);
    MPI_Win_create(words, 1000 * sizeof *words, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < 20; i++) {
        MPI_Win_fence(0, win);
        MPI_Put(&value, 1, MPI_LONG, right, i, 1, MPI_LONG, win);
        MPI_Win_fence(0, win);
        CHECK_EQ(words[i], left + 5);
        shmem_long_p(&words[500 + i], me + i, right);
        shmem_barrier_all();
        CHECK_EQ(words[500 + i], left + i);
    }
    if (strcmp(argv[1], "window-first") == 0) {
        MPI_Win_free(&win);
        shmem_free(words);
        shmem_finalize();
    } else {
        shmem_free(words);
        shmem_finalize();
        MPI_Win_free(&win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
