/* What the programs of one-sided communication share: counted checks, one result for all ranks. */
#ifndef RMA_H
#define RMA_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rma_failures, rma_checks;
static int me, ranks;

/* Counts; the first ten failures of a rank are shown with their values. */
#define CHECK(cond, ...)                                                                                     \
    do {                                                                                                     \
        __sync_fetch_and_add(&rma_checks, 1);                                                                \
        if (!(cond) && __sync_fetch_and_add(&rma_failures, 1) < 10) {                                        \
            char text_[1024];                                                                                \
            snprintf(text_, sizeof text_, "" __VA_ARGS__);                                                   \
            fprintf(stderr, "rank %d: %s:%d: %s: %s\n", me, __FILE__, __LINE__, #cond, text_);               \
        }                                                                                                    \
    } while (0)

/* Sum over all ranks decides; returns the exit code. */
static inline int finish_checks(const char *name)
{
    int all[2], mine[2] = {rma_failures, rma_checks};
    MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) {
        printf("%s: %d ranks, %d checks, %d failed\n", name, ranks, all[1], all[0]);
    }
    MPI_Finalize();
    return all[0] == 0 ? 0 : 1;
}

static inline void begin(int *argc, char ***argv)
{
    int provided;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(provided == MPI_THREAD_MULTIPLE, "thread level %d", provided);
}

/* The class of a code. */
static inline int class_of(int code)
{
    int c = -1;
    MPI_Error_class(code, &c);
    return c;
}

/* Inside lock_all: a barrier with which local loads and stores are ordered as well. */
static inline void meet(MPI_Win win)
{
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
}

/* The same outside of epochs: no lock is held in the barrier, where others may still want theirs. */
static inline void meet_outside(MPI_Win win)
{
    for (int i = 0; i < 2; i++) {
        MPI_Win_lock_all(0, win);
        MPI_Win_sync(win);
        MPI_Win_unlock_all(win);
        if (i == 0) {
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}

#endif
