/* No lock is contended, and hardly one goes from thread to thread, while there are lanes for all: threads put
 * to and get from one target on one window. What locks are counted are the provider's: each belongs to a
 * lane, which a lease guards. (The receive thread's tick and a thread whose ring is full enter other lanes
 * now and then.)
 *
 *   rma_lockcount THREADS */
#include "mpi_test.h"

#include <hotlane.h>
#include <limits.h>

void lockcount_begin(void);
void lockcount_end(long counts[3]);

enum { TURNS = 200, INNER = 32, WARM = 3 };

static MPI_Win win;
static int threads;
static pthread_barrier_t gate;
static long values[64][2];

static void issue(int thread)
{
    for (int i = 0; i < INNER; i++) {
        MPI_Put(&values[thread][0], 1, MPI_LONG, 1, thread, 1, MPI_LONG, win);
        MPI_Get(&values[thread][1], 1, MPI_LONG, 1, thread, 1, MPI_LONG, win);
    }
}

/* Every thread's lane has served it; lanes open in the background. */
static bool all_served(void)
{
    long long leases = 1;
    for (int i = 0; i < threads && leases > 0; i++) {
        char name[32];
        snprintf(name, sizeof name, "leases:%d", i);
        leases = 0;
        hotlane_counter(name, &leases); /* not open: none */
    }
    return leases > 0;
}

/* Lanes open, connections stand, each thread finds its lane, and lanes have all the buffers they will use. */
static void warm(int thread)
{
    static bool served;
    for (int turn = 0, until = INT_MAX; turn < until; turn++) {
        for (int i = 0; i < TURNS; i++) {
            issue(thread);
        }
        MPI_Win_flush(1, win);
        pthread_barrier_wait(&gate);
        if (thread == 0) {
            served = all_served();
        }
        pthread_barrier_wait(&gate);
        until = served && until == INT_MAX ? turn + WARM : until;
    }
}

static void *work(void *arg)
{
    int thread = (int)(intptr_t)arg;
    warm(thread);
    if (thread == 0) {
        lockcount_begin();
    }
    pthread_barrier_wait(&gate);
    for (int turn = 0; turn < TURNS; turn++) {
        issue(thread);
    }
    pthread_barrier_wait(&gate);
    if (thread == 0) {
        long counts[3], operations = 2L * INNER * TURNS * (long)threads;
        lockcount_end(counts);
        printf("an operation takes %.3f locks, %.4f of them from another thread; %ld contended\n",
               (double)counts[0] / (double)operations, (double)counts[1] / (double)operations, counts[2]);
        CHECK(counts[0] > 0); /* or the counter is not in the provider's way */
        CHECK_EQ(counts[2], 0);
        /* The provider's own, a message's and not an operation's; a busy machine makes messages shorter. */
        CHECK(counts[1] * 10 < operations);
    }
    pthread_barrier_wait(&gate);
    MPI_Win_flush(1, win);
    return NULL;
}

int main(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : 1;
    test_start(2);
    long *base;
    MPI_Win_allocate(64 * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        long long lanes = 0;
        pthread_barrier_init(&gate, NULL, (unsigned)threads);
        test_threads(threads, work);
        CHECK_EQ(hotlane_counter("lanes", &lanes), 0);
        CHECK(lanes >= threads);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
