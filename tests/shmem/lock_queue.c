/* Locks: one holder at a time among all PEs and their threads, what it put is there for the next, everybody
 * gets a turn; locks in the heap and static ones; a lock that nobody holds is 0 again.
 *
 *     lock_queue THREADS ROUNDS
 */
#include "shmem_test.h"

#define LOCKS 3

static long static_lock;
static long *locks[LOCKS];

/* Guarded by the lock of the same number, at PE 0. */
static struct account {
    long count, twice;
} * accounts;

static long *had, *seen; /* turns of each PE, at PE 0 and as seen here */
static int rounds;
static long turns; /* of all threads of this PE */

/* Separate puts and gets: two holders at once would lose one of them. */
static void count_up(int k)
{
    struct account a;
    shmem_getmem(&a, &accounts[k], sizeof a, 0);
    CHECK_EQ(a.twice, 2 * a.count);
    shmem_long_p(&accounts[k].count, a.count + 1, 0);
    shmem_long_p(&accounts[k].twice, 2 * a.count + 2, 0); /* clear_lock completes them */
}

static void *work(void *arg)
{
    uint64_t seed = (uint64_t)(intptr_t)arg * 1000 + (uint64_t)me;
    for (int i = 0; i < rounds; i++) {
        int k = (int)(test_random(&seed) % LOCKS);
        if (test_random(&seed) % 4 == 0) {
            if (shmem_test_lock(locks[k]) != 0) {
                i--;
                continue;
            }
        } else {
            shmem_set_lock(locks[k]);
        }
        count_up(k);
        shmem_clear_lock(locks[k]);
        __atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* Who waits gets its turn although the holder would like it again at once, and does until all have had
 * theirs. */
static void take_turns(void)
{
    int served = 0;
    while (served < n_pes) {
        shmem_set_lock(locks[0]);
        shmem_getmem(seen, had, (size_t)n_pes * sizeof *had, 0);
        shmem_long_p(&had[me], seen[me] + 1, 0);
        shmem_clear_lock(locks[0]);
        served = 0;
        for (int pe = 0; pe < n_pes; pe++) {
            served += seen[pe] >= 25;
        }
    }
}

/* The holder is seen by the others, and it can be any of them. */
static void alone(void)
{
    for (int pe = 0; pe < n_pes; pe++) {
        if (me == pe) {
            CHECK_EQ(shmem_test_lock(locks[1]), 0);
        }
        shmem_barrier_all();
        CHECK_EQ(shmem_test_lock(locks[1]), 1);
        shmem_barrier_all();
        if (me == pe) {
            shmem_clear_lock(locks[1]);
        }
        shmem_barrier_all();
    }
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    rounds = argc > 2 ? atoi(argv[2]) : 50;
    pthread_t ids[64];
    test_start(1);
    locks[0] = &static_lock;
    locks[1] = shmem_malloc(64 * sizeof(long));
    accounts = shmem_malloc(LOCKS * sizeof *accounts);
    had = shmem_calloc((size_t)n_pes, sizeof *had);
    seen = malloc((size_t)n_pes * sizeof *seen);
    locks[2] = locks[1] + 1;
    memset(locks[1], 0, 64 * sizeof(long));
    memset(accounts, 0, LOCKS * sizeof *accounts);
    shmem_barrier_all();
    alone();
    for (intptr_t t = 1; t < threads; t++) {
        CHECK_EQ(pthread_create(&ids[t], NULL, work, (void *)t), 0);
    }
    work(NULL);
    for (int t = 1; t < threads; t++) {
        CHECK_EQ(pthread_join(ids[t], NULL), 0);
    }
    CHECK_EQ(turns, threads * rounds);
    shmem_barrier_all();
    if (me == 0) {
        long sum = 0;
        for (int k = 0; k < LOCKS; k++) {
            sum += accounts[k].count;
        }
        CHECK_EQ(sum, (long)threads * rounds * n_pes);
    }
    take_turns();
    free(seen);
    shmem_barrier_all();
    for (int k = 0; k < LOCKS; k++) {
        CHECK_EQ(*locks[k], 0);
    }
    shmem_finalize();
    return 0;
}
