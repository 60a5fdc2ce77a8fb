/* What flushes with a request (hotlane.h) execute beside those that wait, counted exactly (trace.h): after a
 * put of 8 bytes, with their MPI_Wait and alone. Prints the lines of steps.c. x86-64 only. Exit code 77:
 * cannot trace here. */
#include <hotlane.h>

#include "window.h"

static double value = 3.25;
static MPI_Request request = MPI_REQUEST_NULL;

static void call_put(void)
{
    MPI_Put(&value, 1, MPI_DOUBLE, target, 3, 1, MPI_DOUBLE, win);
}

/* The last request is over before. */
static void end_and_put(void)
{
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    call_put();
}

static void call_flush_all(void)
{
    MPI_Win_flush_all(win);
}

static void call_iflush(void)
{
    MPIX_Win_iflush(target, win, &request);
}

static void call_iflush_wait(void)
{
    MPIX_Win_iflush(target, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void call_iflush_all_wait(void)
{
    MPIX_Win_iflush_all(win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void call_local_wait(void)
{
    MPIX_Win_iflush_local(target, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void measure_all(void)
{
    call_put();
    call_flush();
    show_alone("flush", call_put, call_flush);
    show_alone("flush_all", call_put, call_flush_all);
    show_alone("iflush", end_and_put, call_iflush);
    call_flush();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    show_alone("iflush_wait", call_put, call_iflush_wait);
    show_alone("iflush_all_wait", call_put, call_iflush_all_wait);
    show_alone("iflush_idle", call_flush, call_iflush_wait);
    show_alone("iflush_local_wait", call_put, call_local_wait);
}

int main(int argc, char **argv)
{
    return count_on_window(argc, argv, 4096, sizeof(double), measure_all);
}
