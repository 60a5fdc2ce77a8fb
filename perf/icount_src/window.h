/* What programs have in common that count calls on one window: rank 0 of two counts, rank 1 is the target. */
#ifndef ICOUNT_WINDOW_H
#define ICOUNT_WINDOW_H

#include <mpi.h>

#include "trace.h"

static MPI_Win win;
static int target = 1;

static void call_flush(void)
{
    MPI_Win_flush(target, win);
}

/* The whole of main: `measure_all` is called on rank 0 within an epoch of the window, which has len bytes,
 * zero at first, and this displacement unit. */
static int count_on_window(int argc, char **argv, size_t len, int unit, void (*measure_all)(void))
{
    int me, provided;
    void *base;
    pid_t child = trace_fork();

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate((MPI_Aint)len, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, len);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        call_flush();
        trace_begin(call_flush);
        measure_all();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    trace_end(child);
    return 0;
}

#endif
