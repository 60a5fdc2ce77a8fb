/* Ranks that hold locks while they ask for others do not wait for each other in a circle beside writers: each
 * writer asks for one lock and holds no other. A writer gets its lock beside readers that are never all away.
 * (MPI 4.1, 12.5.3) */
#include "mpi_test.h"

#include <unistd.h>

enum { TURNS = 40, PAUSE_US = 100000, READ_US = 120000 };

static long *memory;
static MPI_Win win;

static void add_one(int target)
{
    const long one = 1;
    MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win);
}

/* A reader takes the locks of ranks 2 and 3, rank 1 in the other order; writers ask for both meanwhile. */
static void read_beside_writers(bool all)
{
    if (me < 2) {
        int first = 2 + me, second = 3 - me;
        CHECK_EQ(all ? MPI_Win_lock_all(0, win) : MPI_Win_lock(MPI_LOCK_SHARED, first, 0, win), MPI_SUCCESS);
        add_one(first);
        MPI_Win_flush(first, win);
        MPI_Send(NULL, 0, MPI_BYTE, first, 0, MPI_COMM_WORLD);
        usleep(PAUSE_US); /* the writer's request is queued by then */
        CHECK_EQ(all ? MPI_SUCCESS : MPI_Win_lock(MPI_LOCK_SHARED, second, 0, win), MPI_SUCCESS);
        add_one(second);
        MPI_Win_flush(second, win);
        CHECK_EQ(all ? MPI_SUCCESS : MPI_Win_unlock(second, win), MPI_SUCCESS);
        CHECK_EQ(all ? MPI_Win_unlock_all(win) : MPI_Win_unlock(first, win), MPI_SUCCESS);
    } else if (me < 4) {
        MPI_Recv(NULL, 0, MPI_BYTE, me - 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win), MPI_SUCCESS);
        memory[0]++;
        CHECK_EQ(MPI_Win_unlock(me, win), MPI_SUCCESS);
    }
}

/* All ranks are readers of all, and now and then writers of one. */
static void mix(void)
{
    for (int i = 0; i < TURNS; i++) {
        if ((i + me) % 5 == 0) {
            int target = (me + i) % size;
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
            add_one(target);
            MPI_Win_unlock(target, win);
        } else {
            MPI_Win_lock_all(0, win);
            for (int k = 1; k <= size; k++) {
                add_one((me + k) % size);
            }
            MPI_Win_unlock_all(win);
        }
    }
}

/* Ranks 1 to 3 lock rank 0 again and again, so long that their locks overlap, until rank 0 has written. */
static void write_beside_readers(void)
{
    long seen = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Barrier(MPI_COMM_WORLD); /* all have it */
    usleep((useconds_t)(me * READ_US / (size - 1)));
    MPI_Win_unlock(0, win);
    if (me == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        memory[1] = 1;
        MPI_Win_unlock(0, win);
    }
    while (me != 0 && seen == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        usleep(READ_US);
        MPI_Get(&seen, 1, MPI_LONG, 0, sizeof seen, 1, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
}

int main(int argc, char **argv)
{
    long sum = 0, wanted = 0;

    (void)argc;
    (void)argv;
    test_start(4);
    MPI_Win_allocate(2 * sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memory[0] = memory[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    read_beside_writers(true);
    MPI_Barrier(MPI_COMM_WORLD);
    read_beside_writers(false);
    MPI_Barrier(MPI_COMM_WORLD);
    mix();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(memory, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < TURNS; i++) {
            wanted += (i + r) % 5 == 0 ? 1 : size;
        }
    }
    if (me == 0) {
        CHECK_EQ(sum, wanted + 2 * 6);
    }
    write_beside_readers();
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
