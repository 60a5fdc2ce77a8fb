/* What multi-rank test programs share: checks that end the job, ranks, seeds, threads. */
#ifndef MPI_TEST_H
#define MPI_TEST_H

#include <mpi.h>

#define TEST_WHO "rank"
#define TEST_END() MPI_Abort(MPI_COMM_WORLD, 1)

#include "../checks.h"
#include "../seed.h"

#include <time.h>

static int size;

/* Starts MPI with THREAD_MULTIPLE; sets me and size; ends with 77 (skipped) when there are too few ranks. */
static inline void test_start(int ranks)
{
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    if (size < ranks) {
        if (me == 0) {
            printf("needs %d ranks\n", ranks);
        }
        MPI_Finalize();
        exit(77);
    }
}

/* One seed for all ranks, printed: TEST_SEED repeats a run. */
static inline uint64_t test_seed(void)
{
    uint64_t seed = seed_of_run();
    MPI_Bcast(&seed, sizeof(seed), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (me == 0) {
        printf("TEST_SEED=%llu\n", (unsigned long long)seed);
    }
    return seed;
}

/* The k-th byte of message i. */
static inline unsigned char test_byte(int i, size_t k)
{
    return (unsigned char)(17 * (unsigned)i + (unsigned)k * 31u + (unsigned)(k >> 8));
}

static inline void test_fill(void *buf, size_t n, int i)
{
    for (size_t k = 0; k < n; k++) {
        ((unsigned char *)buf)[k] = test_byte(i, k);
    }
}

static inline void test_verify(const void *buf, size_t n, int i)
{
    for (size_t k = 0; k < n; k++) {
        if (((const unsigned char *)buf)[k] != test_byte(i, k)) {
            fprintf(stderr, "rank %d: byte %zu of %zu of message %d is wrong\n", me, k, n, i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

#endif
