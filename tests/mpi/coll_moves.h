/* Sorts of calls of coll_random that move data. */
#ifndef COLL_MOVES_H
#define COLL_MOVES_H

#include "coll_job.h"

static void nothing(struct job *j)
{
    (void)j;
}

static void make_barrier(struct job *j)
{
    make_buffers(j, 0, 0);
}

static void call_barrier(struct job *j)
{
    CHECK_EQ(j->form == ONCE    ? MPI_Barrier(j->comm)
             : j->form == BEGUN ? MPI_Ibarrier(j->comm, &j->request)
                                : MPI_Barrier_init(j->comm, MPI_INFO_NULL, &j->request),
             MPI_SUCCESS);
}

static void make_bcast(struct job *j)
{
    j->count = draw_count(300000);
    make_buffers(j, 0, j->count);
}

static void fill_bcast(struct job *j)
{
    if (j->me == j->root) {
        put_values(j, j->recvbuf, &j->recv, 0, j->count, j->root, 0);
    }
}

static void call_bcast(struct job *j)
{
    CALL(j, Bcast, bcast, j->recvbuf, j->count, j->recv.type, j->root);
}

static void check_bcast(struct job *j)
{
    check_values(j, j->recvbuf, &j->recv, 0, j->count, j->root, 0);
}

/* kind: 1 blocks differ, 2 all ranks get them */
static bool gets(const struct job *j)
{
    return (j->kind & 2) || j->me == j->root;
}

static void make_gather(struct job *j)
{
    j->kind = draw(4);
    j->in_place = draw(2) && gets(j);
    draw_blocks(j, &j->in, j->kind & 1, 20000);
    make_buffers(j, j->in.n[j->me], j->in.total);
}

static void fill_gather(struct job *j)
{
    int n = j->in.n[j->me];

    put_values(j, j->sendbuf, &j->send, 0, n, j->me, 0);
    if (j->in_place) {
        put_values(j, j->recvbuf, &j->recv, j->in.at[j->me], n, j->me, 0);
    }
}

static void call_gather(struct job *j)
{
    struct wide w = wide_of(&j->in);
    struct blocks b = j->in; /* the arrays may change once the call has returned */
    int mine = b.n[j->me];

    if (j->kind == 0) {
        CALL(j, Gather, gather, send_of(j), mine, j->send.type, j->recvbuf, b.n[0], j->recv.type, j->root);
    } else if (j->kind == 2) {
        CALL(j, Allgather, allgather, send_of(j), mine, j->send.type, j->recvbuf, b.n[0], j->recv.type);
    } else if (j->kind == 1 && j->large) {
        CALL_LARGE(j, Gatherv, gatherv, send_of(j), mine, j->send.type, j->recvbuf, w.n, w.at, j->recv.type,
                   j->root);
    } else if (j->kind == 1) {
        CALL_SMALL(j, Gatherv, gatherv, send_of(j), mine, j->send.type, j->recvbuf, b.n, b.at, j->recv.type,
                   j->root);
    } else if (j->large) {
        CALL_LARGE(j, Allgatherv, allgatherv, send_of(j), mine, j->send.type, j->recvbuf, w.n, w.at,
                   j->recv.type);
    } else {
        CALL_SMALL(j, Allgatherv, allgatherv, send_of(j), mine, j->send.type, j->recvbuf, b.n, b.at,
                   j->recv.type);
    }
    memset(&b, 0xff, sizeof b);
    memset(&w, 0xff, sizeof w);
}

static void check_gather(struct job *j)
{
    for (int i = 0; i < j->size && gets(j); i++) {
        check_values(j, j->recvbuf, &j->recv, j->in.at[i], j->in.n[i], i, 0);
        if (j->kind & 1) {
            CHECK_EQ(*at(j->recvbuf, &j->recv, j->in.at[i] + j->in.n[i]), 0x55555555);
        }
    }
}

static void make_scatter(struct job *j)
{
    j->kind = draw(2);
    j->in_place = draw(2) && j->me == j->root;
    draw_blocks(j, &j->out, j->kind, 20000);
    make_buffers(j, j->out.total, j->out.n[j->me]);
}

static void fill_scatter(struct job *j)
{
    for (int i = 0; i < j->size; i++) {
        put_values(j, j->sendbuf, &j->send, j->out.at[i], j->out.n[i], j->root, i);
    }
}

static void call_scatter(struct job *j)
{
    void *recvbuf = j->in_place ? MPI_IN_PLACE : j->recvbuf;
    struct wide w = wide_of(&j->out);
    struct blocks b = j->out;
    int mine = b.n[j->me];

    if (j->kind == 0) {
        CALL(j, Scatter, scatter, j->sendbuf, b.n[0], j->send.type, recvbuf, mine, j->recv.type, j->root);
    } else if (j->large) {
        CALL_LARGE(j, Scatterv, scatterv, j->sendbuf, w.n, w.at, j->send.type, recvbuf, mine, j->recv.type,
                   j->root);
    } else {
        CALL_SMALL(j, Scatterv, scatterv, j->sendbuf, b.n, b.at, j->send.type, recvbuf, mine, j->recv.type,
                   j->root);
    }
    memset(&b, 0xff, sizeof b);
    memset(&w, 0xff, sizeof w);
}

static void check_scatter(struct job *j)
{
    if (!j->in_place) {
        check_values(j, j->recvbuf, &j->recv, 0, j->out.n[j->me], j->root, j->me);
    }
}

/* n elements from a to b, the same both ways when in place. */
static int pair_n(const struct job *j, int a, int b, int most)
{
    if (j->in_place && a > b) {
        int c = a;
        a = b;
        b = c;
    }
    return (int)(value(j, a, b, 77) % (uint32_t)(most + 1)) * (value(j, a, b, 78) % 3 != 0);
}

/* kind: 0 equal blocks, 1 different ones, 2 each of its own type */
static void make_alltoall(struct job *j)
{
    int n = draw_count(5000);

    j->kind = draw(3);
    j->in_place = draw(3) == 0;
    j->out.total = j->in.total = 0;
    for (int i = j->size - 1; i >= 0; i--) {
        int k = j->kind == 0 ? j->size - 1 - i : i; /* equal blocks lie in order */
        j->out.n[k] = j->kind == 0 ? n : pair_n(j, j->me, k, n);
        j->in.n[k] = j->kind == 0 ? n : pair_n(j, k, j->me, n);
        j->out.at[k] = j->out.total;
        j->in.at[k] = j->in.total;
        j->out.total += j->out.n[k];
        j->in.total += j->in.n[k] + (j->kind != 0);
    }
    make_buffers(j, j->out.total, j->in.total);
}

static void fill_alltoall(struct job *j)
{
    for (int i = 0; i < j->size; i++) {
        put_values(j, j->sendbuf, &j->send, j->out.at[i], j->out.n[i], j->me, i);
        if (j->in_place) {
            put_values(j, j->recvbuf, &j->recv, j->in.at[i], j->in.n[i], j->me, i);
        }
    }
}

static void call_alltoallw(struct job *j, struct blocks *out, struct blocks *in, struct wide *wout,
                           struct wide *win)
{
    MPI_Datatype sends[MOST_RANKS], recvs[MOST_RANKS];

    for (int i = 0; i < j->size; i++) {
        sends[i] =
            out->n[i] > 0 ? j->send.type : MPI_DATATYPE_NULL; /* nobody looks at the types of nothing */
        recvs[i] = in->n[i] > 0 ? j->recv.type : MPI_DATATYPE_NULL;
        wout->at[i] = out->at[i] *= (int)j->send.extent;
        win->at[i] = in->at[i] *= (int)j->recv.extent;
    }
    if (j->large) {
        CALL_LARGE(j, Alltoallw, alltoallw, send_of(j), wout->n, wout->at, sends, j->recvbuf, win->n, win->at,
                   recvs);
    } else {
        CALL_SMALL(j, Alltoallw, alltoallw, send_of(j), out->n, out->at, sends, j->recvbuf, in->n, in->at,
                   recvs);
    }
    memset(sends, 0xff, sizeof sends);
    memset(recvs, 0xff, sizeof recvs);
}

static void call_alltoall(struct job *j)
{
    struct wide wout = wide_of(&j->out), win = wide_of(&j->in);
    struct blocks out = j->out, in = j->in;

    if (j->kind == 0) {
        CALL(j, Alltoall, alltoall, send_of(j), out.n[0], j->send.type, j->recvbuf, in.n[0], j->recv.type);
    } else if (j->kind == 2) {
        call_alltoallw(j, &out, &in, &wout, &win);
    } else if (j->large) {
        CALL_LARGE(j, Alltoallv, alltoallv, send_of(j), wout.n, wout.at, j->send.type, j->recvbuf, win.n,
                   win.at, j->recv.type);
    } else {
        CALL_SMALL(j, Alltoallv, alltoallv, send_of(j), out.n, out.at, j->send.type, j->recvbuf, in.n, in.at,
                   j->recv.type);
    }
    memset(&in, 0xff, sizeof in);
    memset(&win, 0xff, sizeof win);
}

static void check_alltoall(struct job *j)
{
    for (int i = 0; i < j->size; i++) {
        check_values(j, j->recvbuf, &j->recv, j->in.at[i], j->in.n[i], i, j->me);
        if (j->kind != 0) {
            CHECK_EQ(*at(j->recvbuf, &j->recv, j->in.at[i] + j->in.n[i]), 0x55555555);
        }
    }
}

#endif
