/* Lanes are opened by who needs one: not by short messages, by a long one that is read, by windows. Where
 * none opens, because this process may open no more files, the long message comes by another way, and a
 * window that is made when it may opens lanes.
 *
 *   lane_late opens | refused */
#include "mpi_test.h"

#include <hotlane.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LONG = 4 << 20 };

static char buf[LONG];

static long long lanes(void)
{
    long long n;
    CHECK_EQ(hotlane_counter("lanes", &n), 0);
    return n;
}

/* Rank 0 gets n bytes from rank 1. */
static void get_message(int n)
{
    if (me == 1) {
        test_fill(buf, (size_t)n, n);
        MPI_Send(buf, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    } else if (me == 0) {
        memset(buf, 0, (size_t)n);
        MPI_Recv(buf, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        test_verify(buf, (size_t)n, n);
    }
}

/* Files that this process may have open; returns how many before. */
static rlim_t allow_files(rlim_t count)
{
    struct rlimit files;
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &files), 0);
    rlim_t before = files.rlim_cur;
    files.rlim_cur = count;
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &files), 0);
    return before;
}

static void put(MPI_Win win)
{
    long one = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    CHECK_EQ(MPI_Put(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_unlock(1, win), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    bool fails = argc > 1 && strcmp(argv[1], "refused") == 0;
    const char *near = getenv("HOTLANE_NEAR");
    bool far = near != NULL && strcmp(near, "0") == 0;
    long word = 0;
    MPI_Win win;
    test_start(2);
    get_message(8);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(lanes(), 0);
    rlim_t files = fails && me == 0 ? allow_files((rlim_t)dup(0)) : 0; /* all below that are in use */
    get_message(LONG);
    if (me == 0) {
        CHECK_EQ(lanes(), far && !fails);
    }
    if (files != 0) {
        (void)allow_files(files);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_create(&word, sizeof word, sizeof word, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CHECK_EQ(lanes(), far);
    if (me == 0) {
        put(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(word, me == 1);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
