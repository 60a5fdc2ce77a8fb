/* Counts the instructions of calls, and those among them that look whether there are critical sections.
 *
 *   cs_cost OFFSET    of the word hl_cs_on in the library, in hexadecimal
 * Prints a line a call: name, instructions, those. */
#include <mpi.h>

#include "../../perf/icount_src/trace.h"

static MPI_Request request;
static int sent;

static void call_isend(void)
{
    MPI_Isend(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    sent++;
}

static void call_isend_wait(void)
{
    call_isend();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void call_send(void)
{
    MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    sent++;
}

static void call_null(void)
{
    MPI_Send(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
}

/* The other rank receives what was sent since: the ring stays nearly empty. */
static void settle(void)
{
    MPI_Send(&sent, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sent = 0;
}

static void count(const char *name, void (*fn)(void))
{
    struct counts c = measure(call_nothing, fn, settle);
    printf("%s %ld %ld\n", name, c.total - trace_base.total, c.tests);
    fflush(stdout);
}

static void answer_all(void)
{
    for (int n = 0; n >= 0;) {
        MPI_Recv(&n, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; i++) {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (n >= 0) {
            MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char **argv)
{
    int rank, provided, end = -1;
    Dl_info at;
    pid_t child = trace_fork();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        dladdr(dlsym(RTLD_DEFAULT, "MPI_Isend"), &at);
        shared->watch = (uint64_t)(uintptr_t)at.dli_fbase + strtoull(argv[1], NULL, 16);
        trace_begin(settle);
        count("MPI_Isend", call_isend);
        count("MPI_Isend+Wait", call_isend_wait);
        count("MPI_Send", call_send);
        count("MPI_Send_null", call_null);
        MPI_Send(&end, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    } else {
        answer_all();
    }
    MPI_Finalize();
    trace_end(child);
    return 0;
}
