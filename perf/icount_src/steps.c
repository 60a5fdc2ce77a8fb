/* What one call of MPI executes, counted exactly (trace.h). Plain MPI, so that the same program runs on any
 * library. Prints one line a call: name, instructions, those above libfabric's calls, atomic
 * read-modify-writes, fences, mutex and spin lock acquisitions. x86-64 only. Exit code 77: cannot trace here.
 */
#include <mpi.h>

#include "trace.h"

static MPI_Win win, unlike; /* targets of one size; of two */
static double value = 3.25, got;
static int target = 1, nobody = MPI_PROC_NULL;
static long one = 1, was, two = 2;
static char block[1024];
static MPI_Request request;

static void call_put(void)
{
    MPI_Put(&value, 1, MPI_DOUBLE, target, 3, 1, MPI_DOUBLE, win);
}
static void call_get(void)
{
    MPI_Get(&got, 1, MPI_DOUBLE, target, 3, 1, MPI_DOUBLE, win);
}
static void call_flush(void)
{
    MPI_Win_flush(target, win);
}
static void call_fetch(void)
{
    MPI_Fetch_and_op(&one, &was, MPI_LONG, target, 5, MPI_SUM, win);
    MPI_Win_flush(target, win);
}
static void call_put_null(void)
{
    MPI_Put(&value, 1, MPI_DOUBLE, nobody, 3, 1, MPI_DOUBLE, win);
}
static void call_put_1k(void)
{
    MPI_Put(block, (int)sizeof block, MPI_BYTE, target, 128, (int)sizeof block, MPI_BYTE, win);
}
static void call_rput_wait(void)
{
    MPI_Rput(&value, 1, MPI_DOUBLE, target, 3, 1, MPI_DOUBLE, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void call_cas(void)
{
    MPI_Compare_and_swap(&two, &one, &was, MPI_LONG, target, 7, win);
}
static void call_accumulate(void)
{
    MPI_Accumulate(&one, 1, MPI_LONG, target, 6, 1, MPI_LONG, MPI_SUM, win);
}

static void call_put_unlike(void)
{
    MPI_Put(&value, 1, MPI_DOUBLE, target, 3, 1, MPI_DOUBLE, unlike);
}
static void call_get_unlike(void)
{
    MPI_Get(&got, 1, MPI_DOUBLE, target, 3, 1, MPI_DOUBLE, unlike);
}
static void call_fetch_unlike(void)
{
    MPI_Fetch_and_op(&one, &was, MPI_LONG, target, 5, MPI_SUM, unlike);
    MPI_Win_flush(target, unlike);
}

static void measure_all(void)
{
    call_put();
    call_flush();
    trace_begin(call_flush);
    show("put", call_nothing, call_put);
    show_alone("put_more", call_put, call_put);
    show("put_null", call_nothing, call_put_null);
    show("put_1k", call_nothing, call_put_1k);
    show("get", call_nothing, call_get);
    show_alone("get_more", call_get, call_get);
    show("accumulate", call_nothing, call_accumulate);
    show("cas", call_nothing, call_cas);
    show("rput_wait", call_nothing, call_rput_wait);
    show_alone("rput_more", call_put, call_rput_wait);
    show("flush_idle", call_flush, call_flush);
    show("flush_put", call_put, call_flush);
    show("fetch_op_flush", call_nothing, call_fetch);
    show("put_unlike", call_nothing, call_put_unlike);
    show("get_unlike", call_nothing, call_get_unlike);
    show("fetch_unlike", call_nothing, call_fetch_unlike);
    MPI_Win_flush(target, unlike);
}

int main(int argc, char **argv)
{
    int me, provided;
    double *base;
    pid_t child = trace_fork();

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Win_allocate(4096, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, 4096);
    MPI_Win_allocate(64 * (me + 1), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &unlike);
    memset(base, 0, 64);
    MPI_Win_lock_all(0, win);
    MPI_Win_lock_all(0, unlike);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        measure_all();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(unlike);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&unlike);
    MPI_Win_free(&win);
    MPI_Finalize();
    trace_end(child);
    return 0;
}
