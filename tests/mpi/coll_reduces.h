/* Sorts of calls of coll_random that reduce. */
#ifndef COLL_REDUCES_H
#define COLL_REDUCES_H

#include "coll_job.h"

/* x -> a x + b, as pairs of elements; first the left one, then the right one. */
static void compose(void *left, void *right, int *len, MPI_Datatype *type)
{
    const uint32_t *f = left;
    uint32_t *g = right;

    int bytes;
    MPI_Type_size(*type, &bytes); /* may be freed by now: still good here */
    CHECK_EQ(bytes, 8);
    for (int i = 0; i < 2 * *len; i += 2) {
        g[i + 1] += g[i] * f[i + 1];
        g[i] *= f[i];
    }
}

enum { REDUCE, ALLREDUCE, SCAN, EXSCAN, SPREAD_EQUAL, SPREAD, REDUCTIONS };
enum { SUM, MAX, COMPOSE };

/* What ranks 0 .. last get together, in tmp[0 .. n). */
static void reduce_values(const struct job *j, uint32_t *tmp, int n, int last)
{
    for (int k = 0; k < n; k++) {
        tmp[k] = value(j, 0, 0, k);
    }
    for (int rank = 1; rank <= last; rank++) {
        for (int k = 0; k < n; k++) {
            uint32_t v = value(j, rank, 0, k);
            if (j->kind / REDUCTIONS == SUM) {
                tmp[k] += v;
            } else if (j->kind / REDUCTIONS == MAX) {
                tmp[k] = v > tmp[k] ? v : tmp[k];
            } else if (k % 2 == 0) {
                uint32_t b = value(j, rank, 0, k + 1);
                tmp[k + 1] = b + v * tmp[k + 1];
                tmp[k] *= v;
            }
        }
    }
}

/* kind: reduction + REDUCTIONS * operation; count in elements of the type, blocks too */
static void make_reduction(struct job *j)
{
    int what = draw(REDUCTIONS), op = draw(3), unit = op == COMPOSE ? 2 : 1;
    int n = draw_count(what >= SPREAD_EQUAL ? 5000 : 40000) / unit;

    j->kind = what + REDUCTIONS * op;
    j->in_place = draw(2) && (what != REDUCE || j->me == j->root);
    j->in.total = 0;
    for (int i = 0; i < j->size; i++) {
        j->in.n[i] = what == SPREAD ? draw(n + 1) : n;
        j->in.at[i] = j->in.total;
        j->in.total += j->in.n[i];
    }
    j->count = what >= SPREAD_EQUAL ? j->in.total : n;
    j->send = j->recv = layouts[0];
    j->op = op == SUM ? MPI_SUM : MPI_MAX; /* `alone` only with one of its own */
    if (op == COMPOSE) {
        j->recv.extent = 8;
        j->alone = true;
        MPI_Op_create(compose, 0, &j->op);
        MPI_Type_contiguous(2, MPI_UINT32_T, &j->recv.type);
        MPI_Type_commit(&j->recv.type);
        j->send = j->recv;
    }
    make_buffers(j, j->count, j->count);
}

static int words(const struct job *j)
{
    return (int)(j->count * j->recv.extent / 4);
}

static void fill_reduction(struct job *j)
{
    put_values(j, j->sendbuf, &layouts[0], 0, words(j), j->me, 0);
    if (j->in_place) {
        put_values(j, j->recvbuf, &layouts[0], 0, words(j), j->me, 0);
    }
}

static void call_reduction(struct job *j)
{
    struct blocks b = j->in;
    struct wide w = wide_of(&b);
    MPI_Datatype type = j->recv.type;

    switch (j->kind % REDUCTIONS) {
    case REDUCE:
        CALL(j, Reduce, reduce, send_of(j), j->recvbuf, j->count, type, j->op, j->root);
        break;
    case ALLREDUCE:
        CALL(j, Allreduce, allreduce, send_of(j), j->recvbuf, j->count, type, j->op);
        break;
    case SCAN:
        CALL(j, Scan, scan, send_of(j), j->recvbuf, j->count, type, j->op);
        break;
    case EXSCAN:
        CALL(j, Exscan, exscan, send_of(j), j->recvbuf, j->count, type, j->op);
        break;
    case SPREAD_EQUAL:
        CALL(j, Reduce_scatter_block, reduce_scatter_block, send_of(j), j->recvbuf, b.n[0], type, j->op);
        break;
    default:
        if (j->large) {
            CALL_LARGE(j, Reduce_scatter, reduce_scatter, send_of(j), j->recvbuf, w.n, type, j->op);
        } else {
            CALL_SMALL(j, Reduce_scatter, reduce_scatter, send_of(j), j->recvbuf, b.n, type, j->op);
        }
        break;
    }
    memset(&b, 0xff, sizeof b);
    memset(&w, 0xff, sizeof w);
}

/* My `n` words are those from `first` on of what ranks 0 .. last get together. */
static void check_reduced(const struct job *j, int first, int n, int last)
{
    uint32_t *want = malloc(((size_t)words(j) + 2) * 4), *in = j->recvbuf;

    reduce_values(j, want, words(j), last);
    for (int k = 0; k < n; k++) {
        check_one(j, k, last, in[k], want[first + k]);
    }
    free(want);
}

static void check_reduction(struct job *j)
{
    int what = j->kind % REDUCTIONS, unit = (int)j->recv.extent / 4, all = words(j);

    if (what >= SPREAD_EQUAL) {
        check_reduced(j, j->in.at[j->me] * unit, j->in.n[j->me] * unit, j->size - 1);
    } else if (what == SCAN) {
        check_reduced(j, 0, all, j->me);
    } else if (what == EXSCAN && j->me > 0) {
        check_reduced(j, 0, all, j->me - 1);
    } else if (what == ALLREDUCE || (what == REDUCE && j->me == j->root)) {
        check_reduced(j, 0, all, j->size - 1);
    }
    CHECK_EQ(*at(j->recvbuf, &layouts[0], all), 0x55555555);
}

#endif
