/* Many threads of every rank on ONE window: puts, gets, accumulates and flushes at once. Argument: threads.
 */
#include "rma.h"

#include <pthread.h>

#define ROUNDS 50

static MPI_Win win;
static long *base;
static int threads;

static void *work(void *arg)
{
    int id = (int)(size_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        int t = (me + i) % ranks;
        long out = me * 100000L + id * 1000L + i, in = -1, one = 1, was = -1;
        MPI_Aint at = 1 + (MPI_Aint)me * threads + id;
        MPI_Put(&out, 1, MPI_LONG, t, at, 1, MPI_LONG, win);
        MPI_Win_flush(t, win);
        MPI_Get(&in, 1, MPI_LONG, t, at, 1, MPI_LONG, win);
        MPI_Win_flush(t, win);
        CHECK(in == out, "thread %d: %ld, not %ld", id, in, out);
        MPI_Accumulate(&one, 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM, win);
        MPI_Fetch_and_op(&one, &was, MPI_LONG, t, 0, MPI_SUM, win);
        MPI_Win_flush_all(win);
        CHECK(was >= 0, "fetched %ld", was);
        MPI_Request r;
        MPI_Rget(&in, 1, MPI_LONG, t, at, 1, MPI_LONG, win, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK(in == out, "thread %d: %ld, not %ld", id, in, out);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t ids[64];
    begin(&argc, &argv);
    threads = argc > 1 ? atoi(argv[1]) : 8;
    MPI_Win_allocate((2 + (MPI_Aint)ranks * threads) * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &base, &win);
    memset(base, 0, (size_t)(1 + ranks * threads) * sizeof(long));
    MPI_Win_lock_all(0, win);
    meet(win);
    for (int i = 0; i < threads; i++) {
        pthread_create(&ids[i], NULL, work, (void *)(size_t)i);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
    }
    MPI_Win_unlock_all(win);
    meet_outside(win);
    long total = 0;
    MPI_Reduce(&base[0], &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    CHECK(me != 0 || total == 2L * ROUNDS * threads * ranks, "counters %ld", total);
    MPI_Win_free(&win);
    return finish_checks("rma_threads");
}
