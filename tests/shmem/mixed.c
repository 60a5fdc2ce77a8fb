/* One program, both interfaces: started and ended in every order, windows and the symmetric heap in use
 * together.
 *
 * usage: mixed mpi-first|shmem-first mpi-last|shmem-last */
#include <mpi.h>

#include "shmem_test.h"

static void start(bool mpi_first)
{
    int level = -1;
    if (mpi_first) {
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    }
    test_start(1);
    if (!mpi_first) {
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    }
    CHECK_EQ(level, MPI_THREAD_MULTIPLE);
}

/* A window over symmetric memory: what one interface puts the other gets. */
static void exchange(long *words, MPI_Win win)
{
    int right = (me + 1) % n_pes, left = (me + n_pes - 1) % n_pes;
    long mine = 100 + me, got = -1;
    MPI_Win_lock_all(0, win);
    MPI_Put(&mine, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
    MPI_Win_flush_all(win);
    shmem_long_p(&words[1], 200 + me, right);
    shmem_quiet();
    shmem_barrier_all();
    CHECK_EQ(words[0], 100 + left);
    CHECK_EQ(shmem_long_g(&words[0], right), 100 + me);
    MPI_Get(&got, 1, MPI_LONG, right, 1, 1, MPI_LONG, win);
    MPI_Win_flush_all(win);
    CHECK_EQ(got, 200 + me);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
}

/* MPI_Free_mem frees what MPI_Alloc_mem gave out, and nothing else that begins a piece of memory. */
static void free_wrong(void *memory, const char *what)
{
    int class = MPI_SUCCESS, rc = MPI_Free_mem(memory);
    MPI_Error_class(rc, &class);
    if (class != MPI_ERR_BASE) {
        fprintf(stderr, "MPI_Free_mem of %s: class %d\n", what, class);
        exit(1);
    }
    memset(memory, 1, 4096); /* it is still there */
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    bool mpi_first = strcmp(argv[1], "mpi-first") == 0, mpi_last = strcmp(argv[2], "mpi-last") == 0;
    int rank, size, flag = 0, sum;
    start(mpi_first);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_EQ(rank, me);
    CHECK_EQ(size, n_pes);

    MPI_Win win;
    long *words = shmem_malloc(4096), *own;
    CHECK(words != NULL);
    memset(words, 0, 4096);
    MPI_Win_create(words, 4096, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    exchange(words, win);
    MPI_Win_free(&win);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    free_wrong(words, "the heap's first block");
    for (MPI_Aint bytes = 4096; bytes < 64 << 20; bytes *= 4096) {
        MPI_Win_allocate(bytes, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
        free_wrong(own, "a window's memory");
        MPI_Win_free(&win);
    }
    if (!mpi_last) {
        MPI_Finalize();
        MPI_Finalized(&flag);
        CHECK(flag);
        shmem_long_p(&words[2], 300 + me, (me + 1) % n_pes);
        shmem_barrier_all();
        CHECK_EQ(words[2], 300 + (me + n_pes - 1) % n_pes);
    }
    shmem_free(words);
    shmem_finalize();
    if (mpi_last) {
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != n_pes * (n_pes - 1) / 2) {
            fprintf(stderr, "after shmem_finalize the sum of the ranks is %d\n", sum);
            return 1;
        }
        MPI_Finalize();
    }
    return 0;
}
