/* Start, a ring of puts and gets, end. */
#include "shmem_test.h"

int main(void)
{
    test_start(1);
    int right = (me + 1) % n_pes, left = (me + n_pes - 1) % n_pes;
    long *words = shmem_malloc(64 * sizeof *words);
    long mine[16];
    CHECK(words != NULL);
    memset(words, 0, 64 * sizeof *words);
    shmem_barrier_all();
    shmem_long_p(&words[0], me + 1, right);
    for (int i = 0; i < 16; i++) {
        mine[i] = 1000 * me + i;
    }
    shmem_putmem(&words[16], mine, sizeof mine, right);
    shmem_quiet();
    shmem_barrier_all();
    CHECK_EQ(words[0], left + 1);
    CHECK_EQ(words[31], 1000 * left + 15);
    CHECK_EQ(shmem_long_g(&words[0], right), me + 1);
    shmem_getmem(mine, &words[16], sizeof mine, right);
    CHECK_EQ(mine[15], 1000 * me + 15);
    shmem_barrier_all();
    shmem_free(words);
    shmem_finalize();
    return 0;
}
