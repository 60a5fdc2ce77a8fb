/* What mpi_test.h and shmem_test.h share: checks that end the job, random numbers, threads. Who includes it
 * has said what a rank is called (TEST_WHO) and what ends the job (TEST_END). */
#ifndef CHECKS_H
#define CHECKS_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me;

#define CHECK(cond)                                                                                          \
    do {                                                                                                     \
        if (!(cond)) {                                                                                       \
            fprintf(stderr, "%s:%d: " TEST_WHO " %d: not true: %s\n", __FILE__, __LINE__, me, #cond);        \
            TEST_END();                                                                                      \
        }                                                                                                    \
    } while (0)

#define CHECK_EQ(a, b)                                                                                       \
    do {                                                                                                     \
        long long check_a = (long long)(a), check_b = (long long)(b);                                        \
        if (check_a != check_b) {                                                                            \
            fprintf(stderr, "%s:%d: " TEST_WHO " %d: %s is %lld, %s is %lld\n", __FILE__, __LINE__, me, #a,  \
                    check_a, #b, check_b);                                                                   \
            TEST_END();                                                                                      \
        }                                                                                                    \
    } while (0)

static inline uint64_t test_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ULL;
    uint64_t x = *state;
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

/* Runs `fn` in `n` threads with their numbers. */
static inline void test_threads(int n, void *(*fn)(void *))
{
    pthread_t t[64];
    CHECK(n <= 64);
    for (intptr_t i = 0; i < n; i++) {
        CHECK_EQ(pthread_create(&t[i], NULL, fn, (void *)i), 0);
    }
    for (int i = 0; i < n; i++) {
        CHECK_EQ(pthread_join(t[i], NULL), 0);
    }
}

#endif
