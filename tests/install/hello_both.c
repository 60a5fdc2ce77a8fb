/* Calls OpenSHMEM and MPI, and names neither library: says what MPI summed of memory that OpenSHMEM filled. */
#include <mpi.h>
#include <shmem.h>

#include <stdio.h>

int main(void)
{
    shmem_init();
    MPI_Init(NULL, NULL);
    int me = shmem_my_pe(), n = shmem_n_pes(), sum = 0;
    int *mine = shmem_malloc(sizeof *mine);
    shmem_int_p(mine, me, (me + 1) % n);
    shmem_barrier_all();
    MPI_Allreduce(mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) {
        printf("%d ranks, sum %d\n", n, sum);
    }
    MPI_Finalize();
    shmem_finalize();
    return 0;
}
