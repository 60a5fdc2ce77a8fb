/* An empty message over the network costs a system call to send it, one to find it and one to take it: the
 * provider's queue tells its descriptor nothing while nobody sleeps. (Counted by the system: read and write
 * of the process, which those three are not.) */
#include "../process.h"
#include "hotlane.h"
#include "mpi_test.h"

#define N 2000

static long calls(void)
{
    return number_in("/proc/self/io", "syscr:") + number_in("/proc/self/io", "syscw:");
}

static long long counter(const char *name)
{
    long long value;
    CHECK_EQ(hotlane_counter(name, &value), 0);
    return value;
}

static void to_and_fro(int n)
{
    for (int i = 0; i < n; i++) {
        if (me == 0) {
            MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
}

int main(void)
{
    test_start(2);
    if (calls() <= 0) {
        fprintf(stderr, "skipped: the system does not count calls (/proc/self/io)\n");
        MPI_Finalize();
        return 77;
    }
    to_and_fro(100);
    long long sleeps = counter("naps") + counter("rx_wakes");
    long before = calls();
    to_and_fro(N);
    long more = calls() - before;
    sleeps = counter("naps") + counter("rx_wakes") - sleeps;
    /* Who sleeps empties two bells before, and the next message rings them. */
    long long most = N / 10 + 4 * sleeps;
    if (more > most) {
        fprintf(stderr, "rank %d: %ld reads and writes for %d messages each way and %lld sleeps\n", me, more,
                N, sleeps);
    }
    CHECK(more <= most);
    MPI_Finalize();
    return 0;
}
