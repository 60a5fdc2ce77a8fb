/* What multi-rank test programs share: checks that end the job, ranks, seeds, threads. */
#ifndef MPI_TEST_H
#define MPI_TEST_H

#include "../seed.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int me, size;

#define CHECK(cond)                                                                                          \
    do {                                                                                                     \
        if (!(cond)) {                                                                                       \
            fprintf(stderr, "%s:%d: rank %d: not true: %s\n", __FILE__, __LINE__, me, #cond);                \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                    \
        }                                                                                                    \
    } while (0)

#define CHECK_EQ(a, b)                                                                                       \
    do {                                                                                                     \
        long long check_a = (long long)(a), check_b = (long long)(b);                                        \
        if (check_a != check_b) {                                                                            \
            fprintf(stderr, "%s:%d: rank %d: %s is %lld, %s is %lld\n", __FILE__, __LINE__, me, #a, check_a, \
                    #b, check_b);                                                                            \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                    \
        }                                                                                                    \
    } while (0)

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

static inline uint64_t test_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ULL;
    uint64_t x = *state;
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
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

/* Runs `fn` in `n` threads with their numbers. */
static inline void test_threads(int n, void *(*fn)(void *))
{
    pthread_t t[64];
    for (intptr_t i = 0; i < n; i++) {
        CHECK_EQ(pthread_create(&t[i], NULL, fn, (void *)i), 0);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(t[i], NULL);
    }
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
