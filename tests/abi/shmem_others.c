/* Built by oshcc and oshc++ as programs for other libraries are: their headers' names, their names of
 * functions, a function of libm, complex sums in both languages. Prints "ok". */
#include <math.h>
#include <mpp/shmem.h>
#include <mpp/shmemx.h>
#include <pshmem.h>
#include <stdio.h>

static double z[4]; /* symmetric: two complex numbers */
static long there[4], sums[1];
static uint64_t word;

int main(void)
{
    pshmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    const long here[4] = {1, 2, 3, 4};
    z[0] = me + 1;
    z[1] = -me;
    int right = __extension__ shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, (double _Complex *)(void *)&z[2],
                                                        (double _Complex *)(void *)z, 1) == 0;
    right = right && z[2] == n * (n + 1) / 2 && z[3] == -n * (n - 1) / 2;
    shmemx_long_ibput(there, here, 2, 2, 1, 2, next);
    shmem_quiet();
    shmemx_signal_add(&word, 7, next);
    shmem_uint64_wait_until(&word, SHMEM_CMP_EQ, 7);
    right = right && there[0] == 1 && there[1] == 0 && there[2] == 3;
    right = right && shmemx_long_sum_inscan(SHMEMX_TEAM_NODE, sums, &there[2], 1) == 0;
    right = right && sums[0] == 3 * (shmem_team_my_pe(SHMEMX_TEAM_NODE) + 1);
    right = right && ceil(sums[0] / 4.0) >= 1;
    pshmem_finalize();
    printf(right ? "ok\n" : "wrong: %g%+gi, %ld %ld %ld, %ld\n", z[2], z[3], there[0], there[1], there[2],
           sums[0]);
    return !right;
}
