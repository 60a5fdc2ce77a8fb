/* What Hotlane promises beyond the standard: a thread's gets and puts come after its own accumulates to the
 * same target, though only the buffers were waited for; whatever their calls, sizes and layouts, the window
 * and the way. */
#include "rma.h"
#include "window_kinds.h"

#include <hotlane.h>
#include <pthread.h>

#define MOST (1 << 14)
#define THREADS 3
#define ROUNDS 24 /* each way to accumulate with each way to get and put */

/* The accumulates, those with requests last. */
enum first { ACC, GET_ACC, FETCH, CAS, RACC, RGET_ACC, FIRSTS };
enum then { PLAIN, LAYOUT, REQUEST, SECTION };

static MPI_Win win;
static enum window_kind flavor;
static MPI_Aint first_byte; /* of the target's window, as displacement */

struct part {
    long from;
    double *ones, *got, *old;
    MPI_Datatype holes; /* all of it in two pieces, the second one first */
};

/* Of the target's element. */
static MPI_Aint at(long element)
{
    return first_byte + (MPI_Aint)element * 8;
}

static void accumulate(enum first how, struct part *p, int target, int n)
{
    int64_t one = 1, was, none = 0;
    double two = 1.0;
    MPI_Request r;
    switch (how) {
    case ACC:
        MPI_Accumulate(p->ones, n, MPI_DOUBLE, target, at(p->from), n, MPI_DOUBLE, MPI_SUM, win);
        break;
    case GET_ACC:
        MPI_Get_accumulate(p->ones, n, MPI_DOUBLE, p->old, n, MPI_DOUBLE, target, at(p->from), n, MPI_DOUBLE,
                           MPI_SUM, win);
        break;
    case RACC:
        MPI_Raccumulate(p->ones, n, MPI_DOUBLE, target, at(p->from), n, MPI_DOUBLE, MPI_SUM, win, &r);
        break;
    case RGET_ACC:
        MPI_Rget_accumulate(p->ones, n, MPI_DOUBLE, p->old, n, MPI_DOUBLE, target, at(p->from), n, MPI_DOUBLE,
                            MPI_SUM, win, &r);
        break;
    case FETCH:
        MPI_Fetch_and_op(&two, p->old, MPI_DOUBLE, target, at(p->from), MPI_SUM, win);
        break;
    default: /* 1.0 as bits */
        memcpy(&one, &two, sizeof one);
        MPI_Compare_and_swap(&one, &none, &was, MPI_INT64_T, target, at(p->from), win);
    }
    if (how >= RACC) {
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Win_flush_local(target, win);
    }
}

/* Into p->got, without waiting for more than a request. */
static void get(enum then how, struct part *p, int target, int n)
{
    const MPIX_Section_dim dims[] = {{0, n / 2, 8}, {0, 2, -8 * (n / 2)}};
    const MPIX_Section halves = {8, 2, dims}; /* the second one first */
    MPI_Request r;
    if (how == REQUEST) {
        MPI_Rget(p->got, n, MPI_DOUBLE, target, at(p->from), n, MPI_DOUBLE, win, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else if (how == LAYOUT && n > 1) {
        MPI_Get(p->got, n, MPI_DOUBLE, target, at(p->from), 1, p->holes, win);
    } else if (how == SECTION) {
        MPIX_Get_section(p->got, NULL, n, MPI_DOUBLE, target, at(p->from + n / 2), n > 1 ? &halves : NULL, n,
                         MPI_DOUBLE, win);
    } else {
        MPI_Get(p->got, n, MPI_DOUBLE, target, at(p->from), n, MPI_DOUBLE, win);
    }
}

/* Of 7.0 to the last of n elements, by a section to the first, too. A notification's flag lies behind the
 * data: a thread has one. */
static void put(enum then how, struct part *p, int target, int n)
{
    static const double sevens[] = {7.0, 7.0};
    const MPIX_Section_dim dim = {0, 2, -8 * (n - 1)};
    const MPIX_Section ends = {8, 1, &dim};
    MPI_Aint last = at(p->from + n - 1);
    MPI_Request r;
    if (how == LAYOUT) {
        MPIX_Put_notify(sevens, 1, MPI_DOUBLE, target, last, 1, MPI_DOUBLE,
                        at(THREADS * MOST + p->from / MOST), 1, win);
    } else if (how == REQUEST) {
        MPI_Rput(sevens, 1, MPI_DOUBLE, target, last, 1, MPI_DOUBLE, win, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else if (how == SECTION && n > 1) {
        MPIX_Put_section(sevens, NULL, 2, MPI_DOUBLE, target, last, &ends, 2, MPI_DOUBLE, win);
    } else {
        MPI_Put(sevens, 1, MPI_DOUBLE, target, last, 1, MPI_DOUBLE, win);
    }
}

/* What was zero was made one: seen by a get; a put wins over it. */
static void one_round(enum first how, enum then next, struct part *p, int target, int n)
{
    int seen = how == FETCH || how == CAS ? 1 : n, bad = 0;
    double seven = 7.0;
    memset(p->got, 0, (size_t)n * sizeof(double));
    MPI_Put(p->got, n, MPI_DOUBLE, target, at(p->from), n, MPI_DOUBLE, win);
    MPI_Win_flush(target, win);
    accumulate(how, p, target, n);
    get(next, p, target, seen);
    MPI_Win_flush(target, win);
    for (int i = 0; i < seen; i++) {
        bad += p->got[i] != 1.0;
    }
    CHECK(bad == 0, "%s: get %d: %d of %d elements were not seen after call %d", window_kinds[flavor], next,
          bad, seen, how);
    MPI_Put(&seven, 1, MPI_DOUBLE, target, at(p->from), 1, MPI_DOUBLE, win); /* opens a chain of its own */
    accumulate(how, p, target, n);
    put(next, p, target, seen);
    MPI_Win_flush(target, win);
    get(PLAIN, p, target, seen);
    MPI_Win_flush(target, win);
    CHECK(p->got[seen - 1] == 7.0, "%s: put %d was overtaken by call %d of %d elements: %g",
          window_kinds[flavor], next, how, seen, p->got[seen - 1]);
}

static void *play(void *arg)
{
    struct part p = {.from = (long)(intptr_t)arg * MOST};
    int target = (me + 1) % ranks;
    p.ones = malloc(MOST * sizeof(double));
    p.got = malloc(MOST * sizeof(double));
    p.old = malloc(MOST * sizeof(double));
    for (int i = 0; i < MOST; i++) {
        p.ones[i] = 1.0;
    }
    for (int n = 1; n <= MOST; n *= 4) {
        int lens[] = {n - n / 2, n / 2}, displs[] = {n / 2, 0};
        MPI_Type_indexed(2, lens, displs, MPI_DOUBLE, &p.holes);
        MPI_Type_commit(&p.holes);
        for (int i = 0; i < ROUNDS; i++) {
            one_round((enum first)(i % FIRSTS), (enum then)(i / FIRSTS), &p, target, n);
        }
        MPI_Type_free(&p.holes);
    }
    free(p.ones);
    free(p.got);
    free(p.old);
    return NULL;
}

static void play_window(void)
{
    pthread_t threads[THREADS];
    /* Data of all threads, and a flag for each of them. */
    void *memory = open_kind(flavor, (THREADS * MOST + THREADS) * 8, &win, &first_byte);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 1; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, play, (void *)(intptr_t)i);
    }
    play((void *)(intptr_t)0);
    for (int i = 1; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    MPI_Win_unlock_all(win);
    close_kind(flavor, memory, &win);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (flavor = ALLOCATED; flavor < WINDOW_KINDS; flavor++) {
        play_window();
    }
    return finish_checks("rma_behind");
}
