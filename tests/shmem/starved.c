/* shmem_init without memory: on PE 1 an allocation of the library fails, after as many as the argument says have
 * succeeded. It prints "all have succeeded" when there are no more. */
#include <mpi.h>

#include "../mpi/alloc_fails.h"
#include "shmem_test.h"

int main(int argc, char **argv)
{
    int rank, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level); /* only what SHMEM adds fails */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    dl_iterate_phdr(alloc_find_library, NULL);
    alloc_left = rank == 1 ? atol(argv[1]) : -1;
    shmem_init();
    if (rank == 1 && !alloc_has_failed()) {
        printf("all have succeeded\n");
    }
    alloc_left = -1;
    shmem_finalize();
    MPI_Finalize();
    return 0;
}
