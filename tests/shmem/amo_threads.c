/* Atomics by many threads of all PEs on the same words: sums, tickets, bits and swaps come out exactly; and
 * with accumulates of MPI on the same memory. usage: amo_threads THREADS ROUNDS [mpi] */
#include <mpi.h>

#include "shmem_test.h"

enum { SUM, SUM_32, TICKET, BITS, SWAP, LOCKED, LOCK, WORDS };

static uint64_t *words; /* [WORDS] at each PE */
static int threads, rounds;
static bool with_mpi;
static MPI_Win win;

/* The sum goes up by one; by MPI every third time when both are there. */
static void add_one(int pe, int i)
{
    const uint64_t one = 1;
    uint64_t before;
    if (with_mpi && i % 3 == 0) {
        MPI_Accumulate(&one, 1, MPI_UINT64_T, pe, SUM, 1, MPI_UINT64_T, MPI_SUM, win);
    } else if (with_mpi && i % 3 == 1) {
        MPI_Fetch_and_op(&one, &before, MPI_UINT64_T, pe, SUM, MPI_SUM, win);
        MPI_Win_flush(pe, win);
    } else if (i % 2 == 0) {
        shmem_uint64_atomic_add(&words[SUM], 1, pe);
    } else {
        shmem_uint64_atomic_inc(&words[SUM], pe);
    }
}

/* A lock of compare and swap guards a plain get and put. */
static void add_locked(int pe)
{
    while (shmem_uint64_atomic_compare_swap(&words[LOCK], 0, 1, pe) != 0) {
    }
    shmem_uint64_p(&words[LOCKED], shmem_uint64_g(&words[LOCKED], pe) + 1, pe);
    shmem_quiet();
    shmem_uint64_atomic_set(&words[LOCK], 0, pe);
    shmem_quiet();
}

static void *work(void *arg)
{
    int thread = (int)(intptr_t)arg;
    uint64_t seed = (uint64_t)(me * 100 + thread), last[64] = {0};
    uint32_t *fetched = malloc((size_t)rounds * sizeof *fetched); /* each result is open until the quiet */
    for (int i = 0; i < rounds; i++) {
        int pe = (int)(test_random(&seed) % (uint64_t)n_pes);
        add_one(pe, i);
        shmem_uint32_atomic_fetch_add_nbi(&fetched[i], (uint32_t *)&words[SUM_32], 1, pe);
        uint64_t ticket = shmem_uint64_atomic_fetch_inc(&words[TICKET], pe);
        CHECK(ticket >= last[pe]); /* mine only grow */
        last[pe] = ticket + 1;
        shmem_uint64_atomic_xor(&words[BITS], (uint64_t)1 << (thread % 64), pe);
        if (i % 16 == 0) {
            add_locked(pe);
            /* Whoever swaps keeps what was there: nothing is lost but one value at the end. */
            uint64_t was = shmem_uint64_atomic_swap(&words[SWAP], 0, pe);
            shmem_uint64_atomic_add(&words[SWAP], was + 1, pe);
        }
    }
    shmem_quiet();
    free(fetched);
    return NULL;
}

static uint64_t total(int word)
{
    uint64_t sum = 0;
    for (int pe = 0; pe < n_pes; pe++) {
        sum += word == SUM_32 ? shmem_uint32_g((uint32_t *)&words[SUM_32], pe)
                              : shmem_uint64_atomic_fetch(&words[word], pe);
    }
    return sum;
}

static void open_window(void)
{
    MPI_Init(NULL, NULL);
    MPI_Win_create(words, WORDS * sizeof *words, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
}

static void close_window(void)
{
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : 1;
    rounds = argc > 2 ? atoi(argv[2]) : 1000;
    with_mpi = argc > 3;
    test_start(1);
    CHECK(threads <= 32 && n_pes <= 64);
    words = test_zeroed(WORDS * sizeof *words);
    if (with_mpi) {
        open_window();
    }
    shmem_barrier_all();
    test_threads(threads, work);
    if (with_mpi) {
        MPI_Win_flush_all(win);
    }
    shmem_barrier_all();
    uint64_t all = (uint64_t)n_pes * (uint64_t)threads * (uint64_t)rounds;
    uint64_t some = (uint64_t)n_pes * (uint64_t)threads * (uint64_t)((rounds + 15) / 16);
    CHECK_EQ(total(SUM), all);
    CHECK_EQ(total(SUM_32), all);
    CHECK_EQ(total(TICKET), all);
    CHECK_EQ(total(LOCKED), some);
    CHECK_EQ(total(SWAP), some);
    shmem_barrier_all();
    if (with_mpi) {
        close_window();
    }
    shmem_free(words);
    shmem_finalize();
    return 0;
}
