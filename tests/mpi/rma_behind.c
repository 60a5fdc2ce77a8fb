/* What Hotlane promises beyond the standard: a thread's gets and puts come after its own accumulates to the
 * same target, though only the buffers were waited for; whatever their sizes, layouts and way. */
#include "rma.h"

#include <pthread.h>

#define MOST (1 << 14)
#define THREADS 3
#define ROUNDS 20

enum first { ACC, GET_ACC, FETCH, CAS, FIRSTS };

static MPI_Win win;
static double *base;

struct part {
    long from;
    double *ones, *got, *old;
};

static void accumulate(enum first how, struct part *p, int target, int n)
{
    int64_t one = 1, was, none = 0;
    double two = 1.0;
    switch (how) {
    case ACC:
        MPI_Accumulate(p->ones, n, MPI_DOUBLE, target, p->from, n, MPI_DOUBLE, MPI_SUM, win);
        break;
    case GET_ACC:
        MPI_Get_accumulate(p->ones, n, MPI_DOUBLE, p->old, n, MPI_DOUBLE, target, p->from, n, MPI_DOUBLE,
                           MPI_SUM, win);
        break;
    case FETCH:
        MPI_Fetch_and_op(&two, p->old, MPI_DOUBLE, target, p->from, MPI_SUM, win);
        MPI_Win_flush_local(target, win);
        break;
    default: /* 1.0 as bits */
        memcpy(&one, &two, sizeof one);
        MPI_Compare_and_swap(&one, &none, &was, MPI_INT64_T, target, p->from, win);
        MPI_Win_flush_local(target, win);
    }
    MPI_Win_flush_local(target, win);
}

/* What was zero was made one: seen by a get; a put wins over it. */
static void one_round(enum first how, struct part *p, int target, int n, MPI_Datatype holes)
{
    int seen = how == ACC || how == GET_ACC ? n : 1, bad = 0;
    double put = 7.0;
    memset(p->got, 0, (size_t)n * sizeof(double));
    MPI_Put(p->got, n, MPI_DOUBLE, target, p->from, n, MPI_DOUBLE, win);
    MPI_Win_flush(target, win);
    accumulate(how, p, target, n);
    if (holes != MPI_DATATYPE_NULL && seen == n) {
        MPI_Get(p->got, n, MPI_DOUBLE, target, p->from, 1, holes, win);
    } else {
        MPI_Get(p->got, seen, MPI_DOUBLE, target, p->from, seen, MPI_DOUBLE, win);
    }
    MPI_Win_flush(target, win);
    for (int i = 0; i < seen; i++) {
        bad += p->got[i] != 1.0;
    }
    CHECK(bad == 0, "%d of %d elements were not seen after call %d", bad, seen, how);
    MPI_Put(&put, 1, MPI_DOUBLE, target, p->from, 1, MPI_DOUBLE, win); /* opens a chain of its own */
    accumulate(how, p, target, n);
    if (how % 2 == 0) {
        MPI_Request r;
        MPI_Rput(&put, 1, MPI_DOUBLE, target, p->from + seen - 1, 1, MPI_DOUBLE, win, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Put(&put, 1, MPI_DOUBLE, target, p->from + seen - 1, 1, MPI_DOUBLE, win);
    }
    MPI_Win_flush(target, win);
    MPI_Get(p->got, 1, MPI_DOUBLE, target, p->from + seen - 1, 1, MPI_DOUBLE, win);
    MPI_Win_flush(target, win);
    CHECK(p->got[0] == 7.0, "a put was overtaken by call %d of %d elements: %g", how, seen, p->got[0]);
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
        MPI_Datatype holes; /* all of it in two pieces, the second one first */
        int lens[] = {n - n / 2, n / 2}, displs[] = {n / 2, 0};
        MPI_Type_indexed(2, lens, displs, MPI_DOUBLE, &holes);
        MPI_Type_commit(&holes);
        for (int i = 0; i < ROUNDS; i++) {
            one_round((enum first)(i % FIRSTS), &p, target, n, i % 2 != 0 ? holes : MPI_DATATYPE_NULL);
        }
        MPI_Type_free(&holes);
    }
    free(p.ones);
    free(p.got);
    free(p.old);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    begin(&argc, &argv);
    MPI_Win_allocate((MPI_Aint)THREADS * MOST * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (long i = 1; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, play, (void *)(intptr_t)i);
    }
    play((void *)(intptr_t)0);
    for (int i = 1; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return finish_checks("rma_behind");
}
