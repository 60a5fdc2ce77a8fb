/* What the benchmarks over OpenSHMEM share: time, start, end, numbers. OpenSHMEM 1.4 only. */
#ifndef MANY_H
#define MANY_H

#include <omp.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Partitions of the symmetric heap are Hotlane's and Cray's; elsewhere the address is NULL. */
void *shmemx_kind_malloc(size_t size, int partition) __attribute__((weak));

/* Open MPI 4.1 ends in a segmentation fault in shmem_finalize. */
#ifdef OSHMEM_MAJOR_VERSION
enum { FINALIZE_WORKS = 0 };
#else
enum { FINALIZE_WORKS = 1 };
#endif

static inline double clock_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double now_s(void)
{
    return clock_s(CLOCK_MONOTONIC);
}

/* Ends the job with a line. */
static inline void fail(const char *words)
{
    printf("%s\n", words);
    fflush(stdout);
    shmem_global_exit(1);
}

/* Starts SHMEM with threads or ends the program. */
static inline void begin(void)
{
    int level;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level) != 0 || level != SHMEM_THREAD_MULTIPLE) {
        fprintf(stderr, "this library grants no SHMEM_THREAD_MULTIPLE\n");
        exit(1);
    }
}

static inline void end(void)
{
    shmem_barrier_all();
    fflush(stdout);
    shmem_barrier_all();
    if (FINALIZE_WORKS) {
        shmem_finalize();
    } else {
        shmem_global_exit(0);
    }
}

/* Symmetric memory of a partition, 0: of the heap. */
static inline void *take(size_t bytes, int partition)
{
    void *p = NULL;
    if (partition == 0) {
        p = shmem_malloc(bytes);
    } else if (shmemx_kind_malloc) {
        p = shmemx_kind_malloc(bytes, partition);
    }
    if (!p) {
        fail("no symmetric memory");
    }
    return p;
}

/* A number from the command line, or the job ends. */
static inline long number(char **argv, int argc, int at, const char *name)
{
    char *stop = NULL, words[100];
    long value = at < argc ? strtol(argv[at], &stop, 10) : 0;
    if (at >= argc || *stop != '\0' || value < 0) {
        snprintf(words, sizeof words, "argument %d must be a number: %s", at, name);
        fail(words);
    }
    return value;
}

#endif
