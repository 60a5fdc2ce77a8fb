/* Rank 1 waits outside of the library until a file appears, and then does one thing whose loss rank 0, or
 * rank 1 itself, would wait for for ever; somebody takes their connections away meanwhile. usage: ends WHAT
 * FILE WHAT: message, put, get, add, lock. Ends well, or with an error; rank 0 is in a call all the time. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank;
static long *words, word;
static MPI_Win win;

static void wait_outside(const char *file)
{
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    while (access(file, F_OK) != 0) {
        usleep(10000);
    }
}

/* What connects all endpoints that the scene uses. */
static void connect_all(void)
{
    long one = 1, back;
    int other = 1 - rank;
    MPI_Sendrecv(&one, 1, MPI_LONG, other, 0, &back, 1, MPI_LONG, other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win);
        MPI_Put(&one, 1, MPI_LONG, other, 1, 1, MPI_LONG, win);
        MPI_Accumulate(&one, 1, MPI_LONG, other, 2, 1, MPI_LONG, MPI_SUM, win);
        MPI_Get(&back, 1, MPI_LONG, other, 1, 1, MPI_LONG, win);
        MPI_Win_unlock(other, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void act(const char *what)
{
    long value = 4711;
    if (strcmp(what, "message") == 0) {
        MPI_Send(&value, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_LONG, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Win_lock(strcmp(what, "lock") == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, win);
    if (strcmp(what, "get") == 0) {
        MPI_Get(&word, 1, MPI_LONG, 0, 3, 1, MPI_LONG, win);
    } else if (strcmp(what, "add") == 0) {
        MPI_Accumulate(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
    } else {
        MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    }
    MPI_Win_unlock(0, win);
    word = strcmp(what, "get") == 0 ? word : value;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(4 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &words, &win);
    words[0] = 0;
    words[3] = 4711;
    connect_all();
    bool sends = rank == 1;
    if (sends) {
        wait_outside(argv[2]);
        act(argv[1]);
    } else {
        printf("ready %d\n", (int)getpid());
        fflush(stdout);
    }
    if (!sends && strcmp(argv[1], "message") == 0) {
        MPI_Recv(&word, 1, MPI_LONG, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_LONG, 1, 2, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!sends && strcmp(argv[1], "message") != 0) {
        word = strcmp(argv[1], "get") == 0 ? words[3] : words[0];
    }
    printf("rank %d has %ld\n", rank, word);
    MPI_Win_free(&win);
    return MPI_Finalize();
}
