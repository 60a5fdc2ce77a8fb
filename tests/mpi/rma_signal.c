/* Put, flush, signal: who sees the signal sees the data. Thread t of a rank feeds thread t of the next one,
 * all on one window; a token goes back when the data were read. usage: rma_signal THREADS ROUNDS */
#include "mpi_test.h"

enum { WORDS = 67 }; /* 536 bytes: more than a line, no power of two */
enum { BY_PUT, BY_ACCUMULATE, BY_FETCH, WAYS };

/* One thread's part of a window. Signals are written by one peer each. */
struct mailbox {
    uint64_t data[2][WORDS];
    int64_t full[2]; /* round whose data are there */
    int64_t spare[6];
    int64_t empty[2]; /* round whose data were read by my reader */
    int64_t more[6];
};

static int rounds;
static MPI_Win win;
static struct mailbox *boxes;

static MPI_Aint place(int thread, size_t offset)
{
    return (MPI_Aint)((size_t)thread * sizeof(struct mailbox) + offset);
}

static void signal_to(int rank, MPI_Aint at, int64_t value, int way)
{
    int64_t one = value, old;

    if (way == BY_PUT) {
        MPI_Put(&one, 1, MPI_INT64_T, rank, at, 1, MPI_INT64_T, win);
    } else if (way == BY_ACCUMULATE) {
        MPI_Accumulate(&one, 1, MPI_INT64_T, rank, at, 1, MPI_INT64_T, MPI_REPLACE, win);
    } else {
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, rank, at, MPI_REPLACE, win);
    }
    MPI_Win_flush(rank, win);
}

/* Waits until a word of mine has reached `value`: by plain loads, or by atomic ones through the window. */
static void await(int64_t *word, MPI_Aint at, int64_t value, int way)
{
    int64_t now = 0;

    for (;;) {
        if (way == BY_FETCH) {
            MPI_Fetch_and_op(NULL, &now, MPI_INT64_T, me, at, MPI_NO_OP, win);
            MPI_Win_flush(me, win);
        } else {
            MPI_Win_sync(win);
            now = *(volatile int64_t *)word;
        }
        if (now >= value) {
            CHECK_EQ(now, value);
            MPI_Win_sync(win);
            return;
        }
        sched_yield();
    }
}

static uint64_t word_of(int from, int thread, int round, int k)
{
    return (uint64_t)from << 48 | (uint64_t)thread << 32 | (uint64_t)round << 8 | (uint64_t)k % 251;
}

static void feed(int t, int round, int way)
{
    uint64_t out[WORDS];
    int next = (me + 1) % size, half = round % 2;

    if (round > 2) { /* the reader has read what was there */
        await(&boxes[t].empty[half], place(t, offsetof(struct mailbox, empty) + 8 * (size_t)half), round - 2,
              way);
    }
    for (int k = 0; k < WORDS; k++) {
        out[k] = word_of(me, t, round, k);
    }
    MPI_Aint at = place(t, sizeof out * (size_t)half);
    if (round % 3 == 0) { /* in two pieces */
        MPI_Put(out, 30, MPI_UINT64_T, next, at, 30, MPI_UINT64_T, win);
        MPI_Put(out + 30, WORDS - 30, MPI_UINT64_T, next, at + 240, WORDS - 30, MPI_UINT64_T, win);
    } else {
        MPI_Put(out, WORDS, MPI_UINT64_T, next, at, WORDS, MPI_UINT64_T, win);
    }
    if (round % 2 != 0) {
        MPI_Win_flush(next, win);
    } else {
        MPI_Win_flush_all(win);
    }
    signal_to(next, place(t, offsetof(struct mailbox, full) + 8 * (size_t)half), round, way);
}

static void eat(int t, int round, int way)
{
    int last = (me + size - 1) % size, half = round % 2;

    await(&boxes[t].full[half], place(t, offsetof(struct mailbox, full) + 8 * (size_t)half), round, way);
    for (int k = 0; k < WORDS; k++) {
        uint64_t there = ((volatile uint64_t *)boxes[t].data[half])[k];
        CHECK_EQ(there, word_of(last, t, round, k));
    }
    MPI_Win_sync(win);
    signal_to(last, place(t, offsetof(struct mailbox, empty) + 8 * (size_t)half), round, way);
}

static void *work(void *number)
{
    int t = (int)(intptr_t)number, way = t % WAYS;

    for (int round = 1; round <= rounds; round++) {
        feed(t, round, way);
        eat(t, round, way);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 4;

    rounds = argc > 2 ? atoi(argv[2]) : 200;
    test_start(1);
    MPI_Aint bytes = (MPI_Aint)sizeof(struct mailbox) * threads;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &boxes, &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    memset(boxes, 0, (size_t)bytes);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    test_threads(threads, work);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
