/* Counts read-modify-writes and full fences of a put and of the flushes, in the build with
 * -Datomics=counting: none for a put on the node, one (the lease) off it, one fence for an idle flush.
 * Prints the table and the places. */
#include "mpi_test.h"

uint64_t hotlane_atomic_total(void) __attribute__((weak));
void hotlane_atomic_reset(void) __attribute__((weak));
void hotlane_atomic_report(int fd) __attribute__((weak));

enum { PUTS = 64 };

static long word;
static MPI_Win win;

static void put(void)
{
    MPI_Put(&word, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
}

static void flush(void)
{
    MPI_Win_flush(1, win);
}

/* Counts of `times` calls together; what stood open before is flushed away first. */
static long count(const char *what, void (*call)(void), int times)
{
    flush();
    hotlane_atomic_reset();
    for (int i = 0; i < times; i++) {
        call();
    }
    long total = (long)hotlane_atomic_total();
    printf("%-24s %ld in %d calls\n", what, total, times);
    fflush(stdout);
    hotlane_atomic_report(1);
    return total;
}

int main(int argc, char **argv)
{
    bool far = argc > 1 && strcmp(argv[1], "far") == 0;
    if (hotlane_atomic_total == NULL) {
        printf("needs the build with -Datomics=counting\n");
        return 77;
    }
    test_start(2);
    long *base;
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        for (int i = 0; i < 100; i++) {
            put();
            flush();
        }
        CHECK_EQ(count("put", put, PUTS), far ? PUTS : 0);
        /* The fence: the window has a mapped target, if only my own part. */
        CHECK_EQ(count("flush, nothing open", flush, PUTS), PUTS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
