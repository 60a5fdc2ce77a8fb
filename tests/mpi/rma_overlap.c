/* Several windows over the same memory: accumulates through all of them at once lose nothing, whatever the
 * element needs (CPU atomics, the target's lock), however many elements each has, and whether the memory is
 * the library's or private. Argument: turns. */
#include "rma.h"

#include <pthread.h>
#include <stdbool.h>

#define WINDOWS 4
#define ROW 20000 /* more than all request slots hold */

struct di {
    double value;
    int index;
};

/* What every rank hosts. */
struct cell {
    long sum;
    long ticket;
    long double wide;
    struct di best;
    char odd[2 * sizeof(long)]; /* a long that no address rule fits stands at odd + 1 */
    float row[ROW];
};

static MPI_Win wins[WINDOWS];
static MPI_Aint bases[WINDOWS]; /* where a cell stands in each of them: all targets alike, but for the last */
static MPI_Aint *addresses;     /* of the cells, for the last one: it is dynamic */
static int turns, target;

/* The elements to which a turn adds one: sometimes all, else some whose first and number change. */
static int part_of_row(int i, int k, int *first)
{
    bool all = i % 8 == k;
    *first = all ? 0 : (i * 37 + k * 11) % 64;
    return all ? ROW : i % 40 + 1;
}

static void add_to_row(int i, int k, MPI_Aint row, const float *ones, float *before)
{
    int first, n = part_of_row(i, k, &first);
    MPI_Aint at = row + (MPI_Aint)sizeof(float) * first;
    if (i % 3 == 0) {
        MPI_Get_accumulate(ones, n, MPI_FLOAT, before, n, MPI_FLOAT, target, at, n, MPI_FLOAT, MPI_SUM,
                           wins[k]);
    } else {
        MPI_Accumulate(ones, n, MPI_FLOAT, target, at, n, MPI_FLOAT, MPI_SUM, wins[k]);
    }
}

static void check_row(const float *row, const char *what)
{
    static int want[ROW];
    memset(want, 0, sizeof want);
    for (int i = 0; i < turns; i++) {
        for (int k = 0, first; k < WINDOWS; k++) {
            int n = part_of_row(i, k, &first);
            for (int e = first; e < first + n; e++) {
                want[e] += ranks;
            }
        }
    }
    for (int e = 0; e < ROW; e++) {
        CHECK(row[e] == (float)want[e], "%s: element %d is %g, not %d", what, e, row[e], want[e]);
    }
}

static void *work(void *arg)
{
    int k = (int)(long)arg;
    MPI_Win win = wins[k];
    float *ones = malloc(2 * ROW * sizeof *ones);
    for (int e = 0; e < ROW; e++) {
        ones[e] = 1;
    }
    long one = 1;
    long double half = 0.5L;
    for (int i = 0; i < turns; i++) {
        struct di mine = {.value = me + i * ranks, .index = k};
        MPI_Aint at = k == WINDOWS - 1 ? addresses[target] : bases[k];
        MPI_Accumulate(&one, 1, MPI_LONG, target, at + (MPI_Aint)offsetof(struct cell, sum), 1, MPI_LONG,
                       MPI_SUM, win);
        MPI_Accumulate(&half, 1, MPI_LONG_DOUBLE, target, at + (MPI_Aint)offsetof(struct cell, wide), 1,
                       MPI_LONG_DOUBLE, MPI_SUM, win);
        MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, target, at + (MPI_Aint)offsetof(struct cell, best), 1,
                       MPI_DOUBLE_INT, MPI_MAXLOC, win);
        MPI_Accumulate(&one, 1, MPI_LONG, target, at + (MPI_Aint)offsetof(struct cell, odd) + 1, 1, MPI_LONG,
                       MPI_SUM, win);
        add_to_row(i, k, at + (MPI_Aint)offsetof(struct cell, row), ones, ones + ROW);
        long before = -1, again, next;
        MPI_Get_accumulate(NULL, 0, MPI_LONG, &before, 1, MPI_LONG, target,
                           at + (MPI_Aint)offsetof(struct cell, ticket), 1, MPI_LONG, MPI_NO_OP, win);
        MPI_Win_flush(target, win);
        for (;; before = again) { /* one up, by compare and swap */
            next = before + 1;
            MPI_Compare_and_swap(&next, &before, &again, MPI_LONG, target,
                                 at + (MPI_Aint)offsetof(struct cell, ticket), win);
            MPI_Win_flush(target, win);
            if (again == before) {
                break;
            }
        }
    }
    free(ones);
    return NULL;
}

/* All ranks, each with a thread for every window, add to one target's cell. */
static void storm(struct cell *cell, const char *what)
{
    pthread_t threads[WINDOWS];
    for (target = 0; target < ranks; target++) {
        memset(cell, 0, sizeof *cell);
        for (int k = 0; k < WINDOWS; k++) {
            MPI_Win_lock_all(0, wins[k]);
        }
        meet(wins[0]);
        for (long k = 0; k < WINDOWS; k++) {
            pthread_create(&threads[k], NULL, work, (void *)k);
        }
        for (int k = 0; k < WINDOWS; k++) {
            pthread_join(threads[k], NULL);
        }
        for (int k = 0; k < WINDOWS; k++) {
            MPI_Win_unlock_all(wins[k]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        meet_outside(wins[0]);
        if (me == target) {
            long all = (long)turns * ranks * WINDOWS, odd;
            memcpy(&odd, cell->odd + 1, sizeof odd);
            CHECK(cell->sum == all, "%s: %ld of %ld", what, cell->sum, all);
            CHECK(cell->ticket == all, "%s: %ld of %ld", what, cell->ticket, all);
            CHECK(odd == all, "%s: %ld of %ld", what, odd, all);
            CHECK(cell->wide == (long double)all / 2, "%s: %g of %g", what, (double)cell->wide, all / 2.0);
            double best = ranks - 1 + (turns - 1.0) * ranks;
            check_row(cell->row, what);
            CHECK(cell->best.value == best, "%s: %g, not %g", what, cell->best.value, best);
        }
        meet_outside(wins[0]);
    }
}

/* Created windows of different sizes and units over one piece, and a dynamic one where it is attached. */
static void create_over(char *memory, size_t bytes)
{
    MPI_Aint mine;
    MPI_Get_address(memory + 64, &mine);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &wins[WINDOWS - 1]);
    MPI_Win_attach(wins[WINDOWS - 1], memory, (MPI_Aint)bytes);
    MPI_Allgather(&mine, 1, MPI_AINT, addresses, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_create(memory, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &wins[1]);
    MPI_Win_create(memory + 64, (MPI_Aint)bytes - 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &wins[2]);
    bases[1] = 64;
    bases[2] = 0;
}

int main(int argc, char **argv)
{
    static _Alignas(64) char statics[64 + sizeof(struct cell)];
    size_t bytes = sizeof statics;
    char *memory;
    begin(&argc, &argv);
    turns = argc > 1 ? atoi(argv[1]) : 200;
    addresses = calloc((size_t)ranks, sizeof *addresses);

    MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &wins[0]);
    bases[0] = 64;
    create_over(memory, bytes);
    storm((struct cell *)(memory + 64), "allocated");
    for (int k = WINDOWS - 1; k >= 0; k--) {
        MPI_Win_free(&wins[k]);
    }

    MPI_Win_create(statics, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &wins[0]);
    create_over(statics, bytes);
    storm((struct cell *)(statics + 64), "private");
    for (int k = 0; k < WINDOWS; k++) {
        MPI_Win_free(&wins[k]);
    }

    /* One segment holds all parts; windows over a part are others than the one that made it. */
    MPI_Comm node;
    int node_size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &node_size);
    MPI_Comm_free(&node);
    if (node_size == ranks) {
        MPI_Win_allocate_shared((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &wins[0]);
        create_over(memory, bytes);
        storm((struct cell *)(memory + 64), "shared");
        for (int k = WINDOWS - 1; k >= 0; k--) {
            MPI_Win_free(&wins[k]);
        }
    }
    free(addresses);
    return finish_checks("rma_overlap");
}
