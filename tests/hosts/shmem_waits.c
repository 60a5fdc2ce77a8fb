/* usage: hosts_shmem_waits WHAT: PE 0 waits for PE 1, whose host somebody cuts off when it says "cut": the
 * job must end. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static long word, lock;

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe();
    shmem_set_lock(&lock); /* everybody is connected with everybody */
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    if (me == 1) {
        shmem_set_lock(&lock);
        shmem_long_p(&word, 1, 0);
        puts("cut");
        fflush(stdout);
        pause();
    }
    if (argc > 1 && strcmp(argv[1], "wait") == 0) {
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 2);
    } else if (argc > 1 && strcmp(argv[1], "lock") == 0) {
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
        shmem_set_lock(&lock);
    }
    while (argc > 1 && strcmp(argv[1], "put") == 0) {
        shmem_long_p(&word, 3, 1);
        shmem_quiet();
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
