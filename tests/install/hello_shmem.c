/* Built as C and as C++ by every way users have: says what came round the ring of PEs. */
#ifdef __cplusplus
#include <complex> /* has its own complex numbers, and hides those of C */
#endif
#include <shmem.h>

#include <stdio.h>

#ifdef __cplusplus
static bool sums_complex()
{
    static std::complex<double> source(1, 2), sum;
    shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, reinterpret_cast<double _Complex *>(&sum),
                              reinterpret_cast<double _Complex *>(&source), 1);
    return sum == std::complex<double>(1, 2) * double(shmem_n_pes());
}
#else
static int sums_complex(void)
{
    static double _Complex source, sum;
    source = 1.0;
    shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, &sum, &source, 1);
    return sum == shmem_n_pes();
}
#endif

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
    if (sums_complex() && me == 0) {
        printf("%d ranks, sum %d\n", n, sum);
    }
    shmem_finalize();
    return 0;
}
