/* Window operations keep the order that flush promises: store buffering, message passing and independent
 * reads never show what is forbidden, by puts and gets or by accumulates, wherever the cells live. usage:
 * rma_litmus put|acc CELLS */
#include "mpi_test.h"

#include <sched.h>

#define STRIDE 64 /* a cell fills a line */
#define DATA 48

static MPI_Win win;
static char *mine;
static int cells, by_acc;

/* Rows of cells in every rank's window: flags x, flags y, data, arrivals. */
enum { X, Y, D, MET, ROWS };

static MPI_Aint at(int row, int i)
{
    return ((MPI_Aint)row * cells + i) * STRIDE;
}

/* Stores one and completes it at its home. */
static void put_one(int home, int row, int i)
{
    uint64_t one = 1;
    if (by_acc) {
        MPI_Accumulate(&one, 1, MPI_UINT64_T, home, at(row, i), 1, MPI_UINT64_T, MPI_REPLACE, win);
    } else {
        MPI_Put(&one, 1, MPI_UINT64_T, home, at(row, i), 1, MPI_UINT64_T, win);
    }
    MPI_Win_flush(home, win);
}

static uint64_t get_one(int home, int row, int i)
{
    uint64_t seen = 99;
    if (by_acc) {
        MPI_Fetch_and_op(NULL, &seen, MPI_UINT64_T, home, at(row, i), MPI_NO_OP, win);
    } else {
        MPI_Get(&seen, 1, MPI_UINT64_T, home, at(row, i), 1, MPI_UINT64_T, win);
    }
    MPI_Win_flush(home, win);
    CHECK(seen <= 1);
    return seen;
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

/* Rank 0 stores data, then a flag; rank 1 that sees the flag sees the data. */
static void message_passing(int home)
{
    char data[DATA], got[DATA];
    memset(data, 7, sizeof data);
    reset();
    for (int i = 0; i < cells && me < 2; i++) {
        if (me == 0) {
            MPI_Put(data, DATA, MPI_BYTE, home, at(D, i), DATA, MPI_BYTE, win);
            MPI_Win_flush(home, win);
            put_one(home, X, i);
        } else if (get_one(home, X, i) == 1) {
            MPI_Get(got, DATA, MPI_BYTE, home, at(D, i), DATA, MPI_BYTE, win);
            MPI_Win_flush(home, win);
            CHECK(memcmp(data, got, DATA) == 0);
        }
    }
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

int main(int argc, char **argv)
{
    test_start(2);
    CHECK(argc == 3);
    by_acc = strcmp(argv[1], "acc") == 0;
    cells = atoi(argv[2]);
    MPI_Win_allocate(at(ROWS, 0), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < 3; round++) {
        store_buffering(0, 1);
        store_buffering(1, 0);
        store_buffering(0, 0);
        store_buffering(size - 1, size - 1);
        message_passing(0);
        message_passing(1);
        message_passing(size - 1);
        if (size >= 4) {
            independent_reads(0, 1);
            independent_reads(3, 3);
        }
    }
    reset();
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
