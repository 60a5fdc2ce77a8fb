/* The job of OpenSHMEM: heap, static data, an atomic. PE 0's last word is "done"; wrong results end it with
 * code 3. */
#include <shmem.h>
#include <stdio.h>

static long mark;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    long *words = shmem_malloc(1 << 20);
    if (words == NULL) {
        fprintf(stderr, "PE %d: the symmetric heap has no 1 MiB\n", me);
        shmem_global_exit(4);
    }
    words[0] = 0;
    shmem_barrier_all();
    shmem_long_p(&mark, me + 5, (me + 1) % n);
    shmem_long_atomic_add(words, 1, 0);
    shmem_barrier_all();
    if (mark != (me + n - 1) % n + 5 || (me == 0 && words[0] != n)) {
        fprintf(stderr, "PE %d: wrong: %ld %ld\n", me, mark, words[0]);
        shmem_global_exit(3);
    }
    shmem_free(words);
    shmem_finalize();
    if (me == 0) {
        puts("done");
    }
    return 0;
}
