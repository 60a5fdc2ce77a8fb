/* Counts read-modify-writes and full fences of puts, gets and flushes, in the build with -Datomics=counting:
 * none for a put on the node, one (the lease) off it, in a chain or alone, one fence for an idle flush.
 * Those of the calling thread: the receive thread goes about its own work. Prints the table and the places.
 */
#include "mpi_test.h"

uint64_t hotlane_atomic_mine(void) __attribute__((weak));
void hotlane_atomic_reset(void) __attribute__((weak));
void hotlane_atomic_report(int fd) __attribute__((weak));

enum { CALLS = 64, TURNS = 20 };

static long word, got[CALLS];
static MPI_Win win;

static void put(int i)
{
    MPI_Put(&word, 1, MPI_LONG, 1, i % 8, 1, MPI_LONG, win);
}

static void get(int i)
{
    MPI_Get(&got[i], 1, MPI_LONG, 1, i % 8, 1, MPI_LONG, win);
}

static void accumulate(int i)
{
    MPI_Accumulate(&word, 1, MPI_LONG, 1, i % 8, 1, MPI_LONG, MPI_SUM, win);
}

static void flush(int i)
{
    (void)i;
    MPI_Win_flush(1, win);
}

/* The least that CALLS calls cost in several turns, each of which follows one such call: a turn in which the
 * thread met another one on the lane is no measure. */
static long count(const char *what, void (*call)(int))
{
    long least = -1;
    hotlane_atomic_reset();
    for (int turn = 0; turn < TURNS; turn++) {
        flush(0);
        call(0);
        uint64_t before = hotlane_atomic_mine();
        for (int i = 0; i < CALLS; i++) {
            call(i);
        }
        long cost = (long)(hotlane_atomic_mine() - before);
        least = least < 0 || cost < least ? cost : least;
    }
    printf("%-24s %ld in %d calls\n", what, least, CALLS);
    fflush(stdout);
    hotlane_atomic_report(1);
    return least;
}

int main(int argc, char **argv)
{
    bool far = argc > 1 && strcmp(argv[1], "far") == 0;
    if (hotlane_atomic_mine == NULL) {
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
            put(0);
            flush(0);
        }
        CHECK_EQ(count("put", put), far ? CALLS : 0);
        CHECK_EQ(count("get", get), far ? CALLS : 0);
        /* Near: the addition itself. Far: the lease, and the word that later gets and puts look at. */
        CHECK_EQ(count("accumulate", accumulate), far ? 2 * CALLS : CALLS);
        /* The fence: the window has a mapped target, if only my own part. */
        CHECK_EQ(count("flush, nothing open", flush), CALLS);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
