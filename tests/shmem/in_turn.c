/* One program, both interfaces, one after the other, and a session at the end: the library closes and opens
 * again, each time for more threads.
 *
 * usage: in_turn mpi|shmem, which comes first */
#include <mpi.h>

#include "shmem_test.h"

static void work_mpi(MPI_Comm comm)
{
    int rank, size, sum = -1;
    long *memory, mine, *alone;
    MPI_Win win;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Alloc_mem(100, MPI_INFO_NULL,
                  &alone); /* the first memory asked for: it gets a record that a heap had */
    CHECK(alone != NULL);
    memset(alone, 1, 100);
    MPI_Free_mem(alone);
    for (int i = 0; i < 20; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK_EQ(sum, size * (size - 1) / 2);
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, i, &sum, 1, MPI_INT, (rank + size - 1) % size, i,
                     comm, MPI_STATUS_IGNORE);
        CHECK_EQ(sum, (rank + size - 1) % size);
    }
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, comm, &memory, &win);
    CHECK(memory != NULL);
    mine = 1000 + rank;
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    CHECK_EQ(memory[0], 1000 + (rank + size - 1) % size);
    MPI_Win_free(&win);
}

static void run_mpi(int level)
{
    int provided;
    MPI_Init_thread(NULL, NULL, level, &provided);
    CHECK_EQ(provided, level);
    work_mpi(MPI_COMM_WORLD);
    MPI_Finalize();
}

static void use_heap(void)
{
    int pe = shmem_my_pe(), n = shmem_n_pes();
    long *word = shmem_calloc(1, sizeof *word);
    CHECK(word != NULL);
    shmem_long_p(word, 7 + pe, (pe + 1) % n);
    shmem_barrier_all();
    CHECK_EQ(*word, 7 + (pe + n - 1) % n);
    shmem_free(word);
}

static void run_shmem(int level, void (*work)(void))
{
    int provided;
    shmem_init_thread(level, &provided);
    CHECK_EQ(provided, level);
    if (work != NULL) {
        work();
    }
    shmem_finalize();
}

static void run_session(void)
{
    MPI_Info info;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    CHECK_EQ(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session), MPI_SUCCESS);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "in_turn", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    work_mpi(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    if (strcmp(argv[1], "mpi") == 0) {
        run_mpi(MPI_THREAD_SINGLE);
        run_shmem(SHMEM_THREAD_MULTIPLE, use_heap);
    } else {
        run_shmem(SHMEM_THREAD_SINGLE, NULL);
        run_mpi(MPI_THREAD_MULTIPLE);
    }
    run_session();
    return 0;
}
