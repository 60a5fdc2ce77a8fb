/* Who is taken as a node peer, and do all ways of moving data work with whoever it is?
 *
 * Prints "rank R: node of N: RANKS", then moves large and small data between all ranks by messages, windows
 * of shared and of private memory and collectives, in blocks whose bytes tell sender, receiver and round. */
#include "../mpi/mpi_test.h"

#define LARGE (300 << 10) /* bytes: above what a message carries at once */

static unsigned char byte_of(int from, int to, int what, int i)
{
    return (unsigned char)((from * 31 + to * 7 + what) * 131 + i * 13 + (i >> 8));
}

static void fill(unsigned char *at, int from, int to, int what)
{
    for (int i = 0; i < LARGE; i++) {
        at[i] = byte_of(from, to, what, i);
    }
}

static void check(const unsigned char *at, int from, int to, int what)
{
    for (int i = 0; i < LARGE; i++) {
        CHECK_EQ(at[i], byte_of(from, to, what, i));
    }
}

static void show_node(void)
{
    MPI_Comm node;
    int n, world[64];
    char line[400];
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Allgather(&me, 1, MPI_INT, world, 1, MPI_INT, node);
    int at = snprintf(line, sizeof line, "rank %d: node of %d:", me, n);
    for (int i = 0; i < n && i < 64; i++) {
        at += snprintf(line + at, sizeof line - (size_t)at, " %d", world[i]);
    }
    puts(line);
    fflush(stdout);
    MPI_Comm_free(&node);
}

static void by_messages(unsigned char *out, unsigned char *in)
{
    for (int by = 1; by < size; by++) {
        int to = (me + by) % size, from = (me - by + size) % size, small = me * 1000 + by, got = -1;
        fill(out, me, to, by);
        MPI_Sendrecv(out, LARGE, MPI_BYTE, to, by, in, LARGE, MPI_BYTE, from, by, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        check(in, from, me, by);
        MPI_Sendrecv(&small, 1, MPI_INT, to, 0, &got, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(got, from * 1000 + by);
    }
}

/* Each rank has a block for each rank, and a counter. */
static void by_window(MPI_Win win, unsigned char *blocks, unsigned char *out, unsigned char *in, int what)
{
    long one = 1, *counter = (long *)(void *)(blocks + (size_t)size * LARGE);
    /* Atomics, here and below: ThreadSanitizer sees no order that comes by way of another process. */
    __atomic_store_n(counter, 0, __ATOMIC_RELAXED);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int to = 0; to < size; to++) {
        fill(out, me, to, what);
        MPI_Put(out, LARGE, MPI_BYTE, to, (MPI_Aint)me * LARGE, LARGE, MPI_BYTE, win);
        MPI_Accumulate(&one, 1, MPI_LONG, to, (MPI_Aint)size * LARGE, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush(to, win);
        memset(in, 0, LARGE);
        MPI_Get(in, LARGE, MPI_BYTE, to, (MPI_Aint)me * LARGE, LARGE, MPI_BYTE, win);
        MPI_Win_flush(to, win);
        check(in, me, to, what);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    for (int from = 0; from < size; from++) {
        check(blocks + (size_t)from * LARGE, from, me, what);
    }
    CHECK_EQ(__atomic_load_n(counter, __ATOMIC_RELAXED), size);
    MPI_Win_unlock(me, win);
}

static void by_windows(unsigned char *out, unsigned char *in)
{
    MPI_Aint bytes = (MPI_Aint)size * LARGE + (MPI_Aint)sizeof(long);
    MPI_Win win;
    unsigned char *blocks;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &blocks, &win);
    by_window(win, blocks, out, in, 100);
    MPI_Win_free(&win);
    blocks = malloc((size_t)bytes);
    MPI_Win_create(blocks, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    by_window(win, blocks, out, in, 200);
    MPI_Win_free(&win);
    free(blocks);
}

static void by_collectives(void)
{
    unsigned char *out = malloc((size_t)size * LARGE), *in = malloc((size_t)size * LARGE);
    for (int round = 0; round < 6; round++) { /* shared memory is made by a later one */
        int sum = 0;
        for (int to = 0; to < size; to++) {
            fill(out + (size_t)to * LARGE, me, to, round);
        }
        MPI_Alltoall(out, LARGE, MPI_BYTE, in, LARGE, MPI_BYTE, MPI_COMM_WORLD);
        for (int from = 0; from < size; from++) {
            check(in + (size_t)from * LARGE, from, me, round);
        }
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(sum, size * (size - 1) / 2);
        if (me == round % size) {
            fill(in, me, 0, round);
        }
        MPI_Bcast(in, LARGE, MPI_BYTE, round % size, MPI_COMM_WORLD);
        check(in, round % size, 0, round);
    }
    free(out);
    free(in);
}

int main(void)
{
    test_start(2);
    unsigned char *out = malloc(LARGE), *in = malloc(LARGE);
    show_node();
    by_messages(out, in);
    by_windows(out, in);
    by_collectives();
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
