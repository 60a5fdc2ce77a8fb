/* Exclusive locks exclude, shared ones share, everybody gets his turn; a target that computes still serves.
 */
#include "rma.h"

#include <hotlane.h>
#include <unistd.h>

#define ROUNDS 100
#define TURNS 25

static MPI_Win win;
static long *base;

/* Read, add, write under exclusive locks: no addition is lost. */
static void exclude(void)
{
    long value, sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int t = i % ranks;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, t, 0, win);
        MPI_Get(&value, 1, MPI_LONG, t, 0, 1, MPI_LONG, win);
        MPI_Win_flush(t, win);
        value++;
        MPI_Put(&value, 1, MPI_LONG, t, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(t, win);
    }
    meet_outside(win);
    MPI_Reduce(&base[0], &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    CHECK(me != 0 || sum == (long)ROUNDS * ranks, "sum %ld", sum);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Two words that writers change together are never seen apart by readers. */
static void share(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        long both[2];
        if ((i + me) % 4 == 0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            both[0] = both[1] = me * 1000L + i;
            MPI_Put(both, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
            MPI_Win_flush(0, win);
            MPI_Put(both + 1, 1, MPI_LONG, 0, 2, 1, MPI_LONG, win);
        } else {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            MPI_Get(both, 2, MPI_LONG, 0, 1, 2, MPI_LONG, win);
            MPI_Win_flush(0, win);
            CHECK(both[0] == both[1], "%ld and %ld", both[0], both[1]);
        }
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 computes without a call; the others need its lock and its atomics. */
static void serve(void)
{
    double start = MPI_Wtime();
    if (me == 0) {
        while (MPI_Wtime() < start + 0.2) {
        }
    } else {
        for (int i = 0; i < 10; i++) {
            long one = 1, was;
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Fetch_and_op(&one, &was, MPI_LONG, 0, 3, MPI_SUM, win);
            MPI_Win_unlock(0, win);
        }
        CHECK(MPI_Wtime() - start < 30.0, "served after %g s", MPI_Wtime() - start);
    }
    meet_outside(win);
    CHECK(me != 0 || base[3] == 10L * (ranks - 1), "counter %ld", base[3]);
}

/* Everybody gets turns, exclusive ones and shared ones in either mixture, while those who have had theirs go
 * on asking until all have: with a lock that starves one the loop does not end. */
static void take_turns(int writers)
{
    long *turns = base + 4, *seen = calloc((size_t)ranks, sizeof *seen), mine = 0;
    int type = me < writers ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, served = 0;
    memset(turns, 0, (size_t)ranks * sizeof *turns);
    meet_outside(win);
    while (served < ranks) {
        MPI_Win_lock(type, 0, 0, win);
        mine++;
        MPI_Accumulate(&mine, 1, MPI_LONG, 0, 4 + me, 1, MPI_LONG, MPI_REPLACE, win);
        MPI_Get_accumulate(NULL, 0, MPI_LONG, seen, ranks, MPI_LONG, 0, 4, ranks, MPI_LONG, MPI_NO_OP, win);
        MPI_Win_unlock(0, win);
        served = 0;
        for (int r = 0; r < ranks; r++) {
            served += seen[r] >= TURNS;
        }
    }
    free(seen);
    meet_outside(win);
}

/* Rank 0 leaves its own lock, for which rank 1 waits. Two ranks of one node hand it over in memory: rank 1's
 * receive thread has no part in it. */
static void hand_over(void)
{
    long long before = 0, after = 0;
    const char *near = getenv("HOTLANE_NEAR");
    MPI_Barrier(MPI_COMM_WORLD); /* nobody needs the lock any more to come here */
    if (me == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    hotlane_counter("rx_near", &before);
    if (me == 0) {
        usleep(30000);
        MPI_Win_unlock(0, win);
    } else if (me == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        hotlane_counter("rx_near", &after);
        MPI_Win_unlock(0, win);
        CHECK(ranks > 2 || near != NULL || after == before, "%lld records for a lock that was handed over",
              after - before);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Aint bytes = (4 + ranks) * (MPI_Aint)sizeof(long);
    MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, (size_t)bytes);
    meet_outside(win);
    exclude();
    share();
    serve();
    take_turns(ranks);
    take_turns(1);
    take_turns(ranks - 1);
    hand_over();
    MPI_Win_free(&win);
    return finish_checks("rma_locks");
}
