/* What multi-PE test programs share: checks that end the job, PEs, seeds. */
#ifndef SHMEM_TEST_H
#define SHMEM_TEST_H

#include <pthread.h>
#include <shmem.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, n_pes;

#define CHECK(cond)                                                                                          \
    do {                                                                                                     \
        if (!(cond)) {                                                                                       \
            fprintf(stderr, "%s:%d: PE %d: not true: %s\n", __FILE__, __LINE__, me, #cond);                  \
            shmem_global_exit(1);                                                                            \
        }                                                                                                    \
    } while (0)

#define CHECK_EQ(a, b)                                                                                       \
    do {                                                                                                     \
        long long check_a = (long long)(a), check_b = (long long)(b);                                        \
        if (check_a != check_b) {                                                                            \
            fprintf(stderr, "%s:%d: PE %d: %s is %lld, %s is %lld\n", __FILE__, __LINE__, me, #a, check_a,   \
                    #b, check_b);                                                                            \
            shmem_global_exit(1);                                                                            \
        }                                                                                                    \
    } while (0)

/* Starts SHMEM with THREAD_MULTIPLE; sets me and n_pes; ends with 77 (skipped) when there are too few PEs. */
static inline void test_start(int pes)
{
    int provided = -1;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
    if (n_pes < pes) {
        if (me == 0) {
            printf("needs %d PEs\n", pes);
        }
        shmem_finalize();
        exit(77);
    }
}

/* Symmetric memory with nothing in it. All PEs. */
static inline void *test_zeroed(size_t bytes)
{
    void *at = shmem_malloc(bytes);
    CHECK(at != NULL);
    memset(at, 0, bytes);
    shmem_barrier_all();
    return at;
}

static inline uint64_t test_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ULL;
    uint64_t x = *state;
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

#endif
