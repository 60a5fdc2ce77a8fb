/* Calls that wait let everything go on that others wait for: two threads of each rank send and receive
 * crosswise, a rank that waits for a window's lock takes the message that its holder is sending, and so does
 * another thread of it. */
#include "mpi_test.h"

#define ROUNDS 50

static int other;
static MPI_Win win;
static int *word;

/* One thread of each rank sends synchronously, the other receives. */
static void *cross(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        int v = i;
        if (arg == (void *)0) {
            MPI_Ssend(&v, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
        } else {
            v = -1;
            MPI_Recv(&v, 1, MPI_INT, i % 2 == 0 ? other : MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            CHECK_EQ(v, i);
        }
    }
    return NULL;
}

/* Rank 1 holds the lock that rank 0 wants, and sends to it. */
static void lock_and_ssend(void)
{
    static char large[100000];
    MPI_Request req;
    int v = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int n = i % 2 == 0 ? 8 : (int)sizeof(large);
        if (me == 1) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Send(&v, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
            MPI_Ssend(large, n, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
            MPI_Win_unlock(0, win);
        } else {
            MPI_Irecv(large, n, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &req);
            MPI_Recv(&v, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Win_unlock(0, win);
            MPI_Wait(&req, MPI_STATUS_IGNORE);
        }
        /* The next round's lock is for who has posted the next round's receive. */
        MPI_Sendrecv_replace(&v, 1, MPI_INT, other, 4, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* The same, but another thread's messages make the holder let go. */
static void *lock_and_talk(void *arg)
{
    int v = 0;
    for (int i = 0; i < ROUNDS; i++) {
        if (me == 1 && arg == (void *)0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Send(&v, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
            MPI_Recv(&v, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Win_unlock(0, win);
        } else if (me == 0 && arg == (void *)0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Win_flush(0, win);
            MPI_Win_unlock(0, win);
        } else if (me == 0) {
            MPI_Recv(&v, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&v, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
        }
    }
    return NULL;
}

int main(void)
{
    test_start(2);
    other = 1 - me;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &word, &win);
    if (me < 2) {
        test_threads(2, cross);
        lock_and_ssend();
        test_threads(2, lock_and_talk);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
