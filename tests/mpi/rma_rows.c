/* Accumulates of rows and of single elements on one window lose nothing, whoever begins with single ones and
 * when: rows go by loops under the target's lock until then. All elements are longs that only grow.
 * usage: rma_rows THREADS ROUNDS */
#include "mpi_test.h"

#define ELEMENTS 5000 /* more than a lock is held for at a time */
#define TURNS 40
#define SINGLES 50 /* that take the place of a row */

static MPI_Win win;
static int64_t *counts; /* [target][element]: what this rank has added */
static uint64_t seed;
static int round_now;

static int64_t *count_of(int target, int element)
{
    return &counts[(size_t)target * ELEMENTS + (size_t)element];
}

/* By one of the calls that add to one element. */
static void add_one(int target, int element, int way)
{
    int64_t one = 1, before = 0, again, next;
    if (way == 0) {
        MPI_Fetch_and_op(&one, &before, MPI_INT64_T, target, element, MPI_SUM, win);
    } else if (way == 1) {
        MPI_Accumulate(&one, 1, MPI_INT64_T, target, element, 1, MPI_INT64_T, MPI_SUM, win);
    } else {
        for (;; before = again) {
            next = before + 1;
            MPI_Compare_and_swap(&next, &before, &again, MPI_INT64_T, target, element, win);
            MPI_Win_flush(target, win);
            if (again == before) {
                break;
            }
        }
    }
    MPI_Win_flush(target, win); /* its operands end here */
    __atomic_fetch_add(count_of(target, element), 1, __ATOMIC_RELAXED);
}

/* Adds one to each element of a row. */
static void add_row(int target, int first, int n, bool fetches, const int64_t *ones, int64_t *before)
{
    if (fetches) {
        MPI_Get_accumulate(ones, n, MPI_INT64_T, before, n, MPI_INT64_T, target, first, n, MPI_INT64_T,
                           MPI_SUM, win);
        MPI_Win_flush(target, win); /* the next one writes there, too */
    } else {
        MPI_Accumulate(ones, n, MPI_INT64_T, target, first, n, MPI_INT64_T, MPI_SUM, win);
    }
    for (int i = first; i < first + n; i++) {
        __atomic_fetch_add(count_of(target, i), 1, __ATOMIC_RELAXED);
    }
}

static void *work(void *arg)
{
    uint64_t state = seed ^ (uint64_t)round_now << 40 ^ (uint64_t)me << 20 ^ (uint64_t)(intptr_t)arg;
    int single_from = (int)(test_random(&state) % (3 * TURNS)); /* most never do */
    int64_t *ones = malloc(2 * ELEMENTS * sizeof *ones);
    for (int i = 0; i < ELEMENTS; i++) {
        ones[i] = 1;
    }
    for (int turn = 0; turn < TURNS; turn++) {
        int target = (int)(test_random(&state) % (uint64_t)size);
        int first = (int)(test_random(&state) % (ELEMENTS - 8));
        int n = 8 + (int)(test_random(&state) % (uint64_t)(ELEMENTS - 8 - first + 1));
        if (turn < single_from) {
            add_row(target, first, n, test_random(&state) % 3 == 0, ones, ones + ELEMENTS);
        }
        for (int k = 0; turn >= single_from && k < SINGLES; k++) {
            add_one(target, (first + k * 97) % ELEMENTS, (turn + k) % 3);
        }
    }
    MPI_Win_flush_all(win);
    free(ones);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 1, rounds = argc > 2 ? atoi(argv[2]) : 20;
    test_start(1);
    seed = test_seed();
    counts = calloc((size_t)size * ELEMENTS, sizeof *counts);
    for (round_now = 0; round_now < rounds; round_now++) {
        int64_t *mine;
        MPI_Win_allocate(ELEMENTS * (MPI_Aint)sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD,
                         &mine, &win);
        memset(mine, 0, ELEMENTS * sizeof *mine);
        memset(counts, 0, (size_t)size * ELEMENTS * sizeof *counts);
        MPI_Win_lock_all(0, win);
        MPI_Barrier(MPI_COMM_WORLD);
        test_threads(threads, work);
        MPI_Win_unlock_all(win);
        MPI_Allreduce(MPI_IN_PLACE, counts, size * ELEMENTS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
        for (int i = 0; i < ELEMENTS; i++) {
            CHECK_EQ(mine[i], *count_of(me, i));
        }
        MPI_Win_unlock(me, win);
        MPI_Win_free(&win);
    }
    free(counts);
    MPI_Finalize();
    return 0;
}
