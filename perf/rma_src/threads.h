/* What the one-sided benchmarks share: time, threads that begin together, plain MPI only. */
#ifndef THREADS_H
#define THREADS_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Starts MPI with threads or ends the program. */
static inline void begin(int *argc, char ***argv, int *rank, int *ranks)
{
    int level;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, ranks);
    if (level != MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "this MPI grants no MPI_THREAD_MULTIPLE\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* A number from the command line, or the program ends. */
static inline long number(char **argv, int argc, int at, const char *name)
{
    char *end = NULL;
    long value = at < argc ? strtol(argv[at], &end, 10) : 0;
    if (at >= argc || *end != '\0' || value < 0) {
        fprintf(stderr, "%s: argument %d must be a number: %s\n", argv[0], at, name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return value;
}

#endif
