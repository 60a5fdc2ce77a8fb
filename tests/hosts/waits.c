/* usage: hosts_waits WHAT [SECONDS]: rank 0 waits for rank 1, whose host somebody cuts off when it says
 * "cut". Nobody asks for errors to be returned: the job must end. With SECONDS of puts, or before rank 1
 * sends what is received, it ends well. */
#include "../mpi/mpi_test.h"

static void put(MPI_Win win, double seconds)
{
    MPI_Win_lock_all(0, win);
    double end = MPI_Wtime() + seconds;
    for (long i = 0; MPI_Wtime() < end; i++) {
        MPI_Put(&i, 1, MPI_LONG, 1, 1, 1, MPI_LONG, win);
        MPI_Put(&i, 1, MPI_LONG, 1, 2, 1, MPI_LONG, win);
        MPI_Win_flush(1, win);
    }
    MPI_Win_unlock_all(win);
}

static void lock(MPI_Win win)
{
    for (;;) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Win_unlock(1, win);
    }
}

int main(int argc, char **argv)
{
    MPI_Win win;
    long *words, word = 0;
    test_start(2);
    CHECK(argc > 1);
    MPI_Win_allocate(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &words, &win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) {
        puts("cut");
        fflush(stdout);
    }
    if (me == 0 && strcmp(argv[1], "put") == 0) {
        put(win, argc > 2 ? atof(argv[2]) : 1e9);
    } else if (me == 0 && strcmp(argv[1], "lock") == 0) {
        lock(win);
    } else if (me == 0 && strcmp(argv[1], "receive") == 0) {
        MPI_Recv(&word, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (me == 1 && argc > 2 && strcmp(argv[1], "receive") == 0) {
        for (int tenths = 10 * atoi(argv[2]); tenths > 0; tenths--) { /* the time of a stop does not count */
            usleep(100000);
        }
        MPI_Send(&word, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
    } else if (me == 1 && argc < 3) {
        pause(); /* its receive thread serves */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
