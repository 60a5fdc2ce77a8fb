/* Ranks put, get, add and send to each other until a file appears, and look at every byte that nobody should
 * have changed. usage: guarded STOPFILE */
#include <hotlane.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS 8192
#define BATCH 20
#define LARGE 100000 /* bytes of a message that its receiver fetches */

static int rank, size;
static uint64_t *shared, *own; /* memory of the two windows */
static MPI_Win windows[2];
static unsigned char out[LARGE], in[LARGE];

static void fail(const char *what, uint64_t round, long long where)
{
    printf("rank %d, round %llu: %s: %lld\n", rank, (unsigned long long)round, what, where);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static uint64_t pattern(int who, int i)
{
    return (uint64_t)(who + 1) * 0x9e3779b97f4a7c15u + (uint64_t)i * 0x100000001b3u;
}

/* Others change the words: ThreadSanitizer sees no order that comes by way of another process. */
static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void fill(uint64_t *words)
{
    for (int i = 0; i < WORDS; i++) {
        __atomic_store_n(&words[i], i < 2 * size ? 0 : pattern(rank, i), __ATOMIC_RELAXED);
    }
}

/* Word r is the last round of rank r, word size + r what it added; the others keep their pattern. */
static void look(const uint64_t *words, uint64_t round)
{
    for (int i = 2 * size; i < WORDS; i++) {
        if (load(&words[i]) != pattern(rank, i)) {
            fail("a word was changed by nobody of us", round, i);
        }
    }
    int from = (rank + size - 1) % size;
    if (load(&words[from]) > round || load(&words[size + from]) > round) {
        fail("a word has a value of nobody", round, from);
    }
}

static void put_and_get(MPI_Win win, uint64_t round)
{
    int to = (rank + 1) % size;
    uint64_t back = 0, one = 1;
    MPI_Put(&round, 1, MPI_UINT64_T, to, rank, 1, MPI_UINT64_T, win);
    MPI_Accumulate(&one, 1, MPI_UINT64_T, to, size + rank, 1, MPI_UINT64_T, MPI_SUM, win);
    MPI_Win_flush(to, win);
    MPI_Get(&back, 1, MPI_UINT64_T, to, size + rank, 1, MPI_UINT64_T, win);
    MPI_Win_flush(to, win);
    if (back != round) {
        fail("a sum was changed by nobody of us", round, (long long)back);
    }
}

static void send_around(size_t len, uint64_t round)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    memset(out, (int)(round + (uint64_t)rank), len);
    MPI_Sendrecv(out, (int)len, MPI_BYTE, to, 5, in, (int)len, MPI_BYTE, from, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (size_t i = 0; i < len; i++) {
        if (in[i] != (unsigned char)(round + (uint64_t)from)) {
            fail("a message was changed", round, (long long)i);
        }
    }
}

static void prepare(void)
{
    MPI_Win_allocate(WORDS * sizeof *shared, sizeof *shared, MPI_INFO_NULL, MPI_COMM_WORLD, &shared,
                     &windows[0]);
    own = malloc(WORDS * sizeof *own);
    MPI_Win_create(own, WORDS * sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[1]);
    fill(shared);
    fill(own);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, windows[0]);
    MPI_Win_lock_all(0, windows[1]);
}

int main(int argc, char **argv)
{
    uint64_t round = 0;
    long long dropped = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    prepare();
    for (int stop = 0; !stop;) {
        for (int i = 0; i < BATCH; i++) {
            round++;
            put_and_get(windows[0], round);
            put_and_get(windows[1], round);
            send_around(4096, round);
            send_around(LARGE, round);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        look(shared, round);
        look(own, round);
        MPI_Barrier(MPI_COMM_WORLD);
        stop = access(argv[1], F_OK) == 0;
        MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (round == BATCH) { /* all connections are there */
            printf("ready %d\n", (int)getpid());
            fflush(stdout);
        }
        usleep(20000);
    }
    hotlane_counter("rx_dropped", &dropped);
    printf("rank %d is intact, %lld dropped\n", rank, dropped);
    MPI_Win_unlock_all(windows[0]);
    MPI_Win_unlock_all(windows[1]);
    MPI_Win_free(&windows[0]);
    MPI_Win_free(&windows[1]);
    free(own);
    return MPI_Finalize();
}
