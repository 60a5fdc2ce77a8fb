/* Window operations keep the order that flush promises: store buffering, message passing and independent
 * reads never show what is forbidden, by puts and gets or by accumulates, wherever the cells live; a get
 * after a flush sees the put, a message after it as well; accumulates of one origin keep their order without
 * one. usage: rma_litmus put|acc|wide TURNS; wide: puts and gets of which every other is too long for a chain
 */
#include "mpi_test.h"

#include <sched.h>

#define DATA 48
#define WIDE 1032 /* words */

static MPI_Win win;
static char *mine;
static int cells, by_acc, wide;
static MPI_Aint stride = 64; /* a cell fills a line, or is wide */

/* Rows of cells in every rank's window: flags x, flags y, data, arrivals. */
enum { X, Y, D, MET, ROWS };

static MPI_Aint at(int row, int i)
{
    return ((MPI_Aint)row * cells + i) * stride;
}

/* Words of a cell. A meeting's are narrow: they are many. */
static int words(int row, int i)
{
    return wide && row != MET && (row + i) % 2 == 0 ? WIDE : 1;
}

/* Stores one and completes it at its home. */
static void put_one(int home, int row, int i)
{
    static uint64_t ones[WIDE];
    ones[0] = ones[WIDE - 1] = 1;
    if (by_acc) {
        MPI_Accumulate(ones, 1, MPI_UINT64_T, home, at(row, i), 1, MPI_UINT64_T, MPI_REPLACE, win);
    } else {
        MPI_Put(ones, words(row, i), MPI_UINT64_T, home, at(row, i), words(row, i), MPI_UINT64_T, win);
    }
    MPI_Win_flush(home, win);
}

static uint64_t get_one(int home, int row, int i)
{
    static uint64_t seen[WIDE];
    int last = words(row, i) - 1;
    seen[0] = seen[last] = 99;
    if (by_acc) {
        MPI_Fetch_and_op(NULL, seen, MPI_UINT64_T, home, at(row, i), MPI_NO_OP, win);
    } else {
        MPI_Get(seen, last + 1, MPI_UINT64_T, home, at(row, i), last + 1, MPI_UINT64_T, win);
    }
    MPI_Win_flush(home, win);
    CHECK(seen[0] <= 1 && seen[last] <= 1);
    return seen[0] & seen[last]; /* all of it has come */
}

/* Everybody's cells are zero, and everybody knows. */
static void reset(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    memset(mine, 0, (size_t)at(ROWS, 0));
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Ranks 0 and 1 leave together for cell i, as closely as they can. */
static void meet(int i)
{
    put_one(1 - me, MET, i);
    for (int tries = 1; get_one(me, MET, i) == 0; tries++) {
        if (tries % 1000 == 0) {
            sched_yield();
        }
    }
}

/* Ranks 0 and 1: store mine, read the other's. Not both old. */
static void store_buffering(int home_x, int home_y)
{
    uint64_t *seen = calloc((size_t)cells, sizeof *seen), *other = calloc((size_t)cells, sizeof *other);
    reset();
    for (int i = 0; i < cells && me < 2; i++) {
        meet(i);
        put_one(me == 0 ? home_x : home_y, me == 0 ? X : Y, i);
        seen[i] = get_one(me == 0 ? home_y : home_x, me == 0 ? Y : X, i);
    }
    if (me == 1) {
        MPI_Send(seen, cells, MPI_UINT64_T, 0, 1, MPI_COMM_WORLD);
    } else if (me == 0) {
        MPI_Recv(other, cells, MPI_UINT64_T, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < cells; i++) {
            CHECK(seen[i] + other[i] > 0);
        }
    }
    free(seen);
    free(other);
}

/* Rank 0 stores data, then a flag, perhaps elsewhere; rank 1 that sees the flag sees the data. */
static void message_passing(int home, int flag_home)
{
    char data[DATA], got[DATA];
    memset(data, 7, sizeof data);
    reset();
    for (int i = 0; i < cells && me < 2; i++) {
        if (me == 0) {
            MPI_Put(data, DATA, MPI_BYTE, home, at(D, i), DATA, MPI_BYTE, win);
            MPI_Win_flush(home, win);
            put_one(flag_home, X, i);
        } else if (get_one(flag_home, X, i) == 1) {
            MPI_Get(got, DATA, MPI_BYTE, home, at(D, i), DATA, MPI_BYTE, win);
            MPI_Win_flush(home, win);
            CHECK(memcmp(data, got, DATA) == 0);
        }
    }
}

/* Each rank in a cell of its own: what was put and flushed is got. */
static void get_after_flush(int home)
{
    reset();
    for (int i = 0; i < cells; i++) {
        uint64_t value = (uint64_t)i + 1, seen = 0;
        if (by_acc && i % 2 == 0) {
            MPI_Accumulate(&value, 1, MPI_UINT64_T, home, at(D, me), 1, MPI_UINT64_T, MPI_REPLACE, win);
        } else {
            MPI_Put(&value, 1, MPI_UINT64_T, home, at(D, me), 1, MPI_UINT64_T, win);
        }
        MPI_Win_flush(home, win);
        if (by_acc && i % 3 == 0) {
            MPI_Fetch_and_op(NULL, &seen, MPI_UINT64_T, home, at(D, me), MPI_NO_OP, win);
        } else {
            MPI_Get(&seen, 1, MPI_UINT64_T, home, at(D, me), 1, MPI_UINT64_T, win);
        }
        MPI_Win_flush(home, win);
        CHECK_EQ(seen, value);
    }
}

/* Rank 0 stores at rank 1, flushes and sends; rank 1 has received and loads. */
static void flush_then_message(void)
{
    reset();
    for (int i = 0; i < cells && me < 2; i += 10) {
        char data[DATA];
        memset(data, 1 + i % 100, sizeof data);
        if (me == 0) {
            MPI_Put(data, DATA, MPI_BYTE, 1, at(D, i), DATA, MPI_BYTE, win);
            MPI_Win_flush(1, win);
            MPI_Send(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Win_sync(win);
            CHECK(memcmp(mine + at(D, i), data, DATA) == 0);
        }
    }
}

/* Rank 0 replaces one element again and again without a flush; its own fetches between see the last value,
 * the others see values grow. */
static void accumulate_order(int home)
{
    uint64_t *value = calloc((size_t)cells, sizeof *value), *seen = calloc((size_t)cells, sizeof *seen);
    reset();
    for (int i = 0; i < cells && me == 0; i++) {
        value[i] = (uint64_t)i + 1;
        MPI_Accumulate(&value[i], 1, MPI_UINT64_T, home, at(X, 0), 1, MPI_UINT64_T, MPI_REPLACE, win);
        MPI_Fetch_and_op(NULL, &seen[i], MPI_UINT64_T, home, at(X, 0), MPI_NO_OP, win);
    }
    MPI_Win_flush(home, win);
    for (int i = 0; i < cells && me == 0; i++) {
        CHECK_EQ(seen[i], i + 1);
    }
    for (uint64_t last = 0, now = 0; last < (uint64_t)cells && me == 1; last = now) {
        MPI_Fetch_and_op(NULL, &now, MPI_UINT64_T, home, at(X, 0), MPI_NO_OP, win);
        MPI_Win_flush(home, win);
        CHECK(now >= last);
    }
    free(value);
    free(seen);
}

/* Everybody draws numbers from one place, many at a time: an origin's grow in the order of its calls. */
static void ticket_order(int home)
{
    static const uint64_t one = 1;
    uint64_t *got = calloc((size_t)cells, sizeof *got), all = 0;
    reset();
    for (int i = 0; i < cells; i++) {
        MPI_Fetch_and_op(&one, &got[i], MPI_UINT64_T, home, at(Y, 0), MPI_SUM, win);
        if (i % 100 == 99) {
            MPI_Win_flush(home, win);
        }
    }
    MPI_Win_flush(home, win);
    for (int i = 1; i < cells; i++) {
        CHECK(got[i] > got[i - 1]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Fetch_and_op(NULL, &all, MPI_UINT64_T, home, at(Y, 0), MPI_NO_OP, win);
    MPI_Win_flush(home, win);
    CHECK_EQ(all, (long long)cells * size);
    free(got);
}

/* Ranks 0 and 1 store, ranks 2 and 3 read both in opposite order: they agree on who was first. */
static void independent_reads(int home_x, int home_y)
{
    int *first = calloc((size_t)cells, sizeof *first), *other = calloc((size_t)cells, sizeof *other);
    reset();
    for (int i = 0; i < cells && me < 4; i++) {
        if (me < 2) {
            put_one(me == 0 ? home_x : home_y, me == 0 ? X : Y, i);
        } else {
            uint64_t a = get_one(me == 2 ? home_x : home_y, me == 2 ? X : Y, i);
            uint64_t b = get_one(me == 2 ? home_y : home_x, me == 2 ? Y : X, i);
            first[i] = a == 1 && b == 0;
        }
    }
    if (me == 3) {
        MPI_Send(first, cells, MPI_INT, 2, 2, MPI_COMM_WORLD);
    } else if (me == 2) {
        MPI_Recv(other, cells, MPI_INT, 3, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < cells; i++) {
            CHECK(!(first[i] && other[i]));
        }
    }
    free(first);
    free(other);
}

static void all_tests(void)
{
    store_buffering(0, 1);
    store_buffering(1, 0);
    store_buffering(0, 0);
    store_buffering(size - 1, size - 1);
    message_passing(0, 0);
    message_passing(1, 1);
    message_passing(size - 1, size - 1);
    message_passing(size - 1,
                    0); /* by the network and near: in cliques the last rank is far from the first */
    message_passing(0, size - 1);
    message_passing(size - 1, 1);
    get_after_flush(0);
    get_after_flush(size - 1);
    flush_then_message();
    accumulate_order(1);
    accumulate_order(size - 1);
    ticket_order(0);
    ticket_order(size - 1);
    if (size >= 4) {
        independent_reads(0, 1);
        independent_reads(3, 3);
        independent_reads(0, 3);
    }
}

int main(int argc, char **argv)
{
    test_start(2);
    CHECK(argc == 3);
    by_acc = strcmp(argv[1], "acc") == 0;
    wide = strcmp(argv[1], "wide") == 0;
    stride = wide ? WIDE * (MPI_Aint)sizeof(uint64_t) : stride;
    int turns = atoi(argv[2]), batch = wide ? 1000 : 20000; /* turns between resets */
    int rounds = turns > batch ? turns / batch : 3;
    cells = turns > batch ? batch : turns;
    MPI_Win_allocate(at(ROWS, 0), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < rounds; round++) {
        all_tests();
    }
    reset();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
