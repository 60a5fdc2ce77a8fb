/* What multi-PE test programs share: checks that end the job, PEs, seeds. */
#ifndef SHMEM_TEST_H
#define SHMEM_TEST_H

#include <shmem.h>

#define TEST_WHO "PE"
#define TEST_END() shmem_global_exit(1)

#include "../checks.h"

static int n_pes;

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

#endif
