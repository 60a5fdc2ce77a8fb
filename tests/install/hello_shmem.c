/* Built as C and as C++ by every way users have: says what came round the ring of PEs. */
#include <shmem.h>

#include <stdio.h>

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), sum = 0;
    int *mine = (int *)shmem_malloc(sizeof *mine);
    shmem_int_p(mine, me, (me + 1) % n);
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++) {
        sum += shmem_int_g(mine, pe);
    }
    if (me == 0) {
        printf("%d ranks, sum %d\n", n, sum);
    }
    shmem_finalize();
    return 0;
}
