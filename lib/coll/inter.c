/* Collective operations between two groups: phases within a group, over the intercommunicator's own `local`
 * communicator, and an exchange of the two ranks 0. Operations with a block for each pair of ranks send
 * directly. */
#include "algos.h"

void hl_build_local(struct hl_sched *s, const struct hl_coll_call *c, const struct hl_coll_call *phase)
{
    struct hl_coll_call mine = *phase;

    mine.comm = c->comm->local;
    mine.op = c->op;
    hl_sched_wait(s);
    s->comm = mine.comm;
    if (s->err == 0) {
        hl_coll_build(s, &mine);
    }
    hl_sched_wait(s);
    s->comm = c->comm;
}

static struct hl_coll_side make_side(void *buf, int64_t count, struct hl_type *type)
{
    return (struct hl_coll_side){.buf = buf, .count = count, .type = type};
}

static void local_bcast(struct hl_sched *s, const struct hl_coll_call *c, const struct hl_coll_side *data)
{
    struct hl_coll_call phase = {.what = HL_COLL_BCAST, .recv = *data};

    hl_build_local(s, c, &phase);
}

/* Reduces my group's operands into `into` of its rank 0. */
static void local_reduce(struct hl_sched *s, const struct hl_coll_call *c, void *into, int64_t count)
{
    struct hl_coll_call phase = {.what = HL_COLL_REDUCE,
                                 .send = make_side(c->send.buf, 0, NULL),
                                 .recv = make_side(into, count, c->recv.type)};

    hl_build_local(s, c, &phase);
}

void hl_build_swap(struct hl_sched *s, const struct hl_coll_call *c, struct hl_data out, struct hl_data in)
{
    if (c->comm->rank == 0) {
        hl_sched_recv(s, 0, in);
        hl_sched_send(s, 0, out);
    }
}

static void plan_inter_barrier(struct hl_sched *s, const struct hl_coll_call *c)
{
    struct hl_coll_call phase = {.what = HL_COLL_BARRIER};

    hl_build_local(s, c, &phase);
    hl_build_swap(s, c, hl_data_bytes(s->scratch, 0), hl_data_bytes(s->scratch, 0));
    hl_build_local(s, c, &phase);
}

static void plan_inter_bcast(struct hl_sched *s, const struct hl_coll_call *c)
{
    if (c->root == MPI_ROOT) {
        hl_sched_send(s, 0, hl_data_side(&c->recv));
        return;
    }
    if (c->comm->rank == 0) {
        hl_sched_recv(s, c->root, hl_data_side(&c->recv));
    }
    local_bcast(s, c, &c->recv);
}

static void plan_inter_reduce(struct hl_sched *s, const struct hl_coll_call *c)
{
    if (c->root == MPI_ROOT) {
        struct hl_reducer r; /* a wrong operation is an error here, too, where it is not applied */
        s->err = hl_reducer_init(&r, c->op, c->recv.type);
        hl_sched_recv(s, 0, hl_data_side(&c->recv));
        return;
    }
    void *sum = c->comm->rank == 0 ? hl_sched_room(s, c->recv.count, c->recv.type) : NULL;
    local_reduce(s, c, sum, c->recv.count);
    if (c->comm->rank == 0) {
        hl_sched_send(s, c->root, hl_data(sum, c->recv.count, c->recv.type));
    }
}

static void plan_inter_allreduce(struct hl_sched *s, const struct hl_coll_call *c)
{
    void *sum = c->comm->rank == 0 ? hl_sched_room(s, c->recv.count, c->recv.type) : NULL;

    local_reduce(s, c, sum, c->recv.count);
    hl_build_swap(s, c, hl_data(sum, c->recv.count, c->recv.type), hl_data_side(&c->recv));
    local_bcast(s, c, &c->recv);
}

/* Rank 0 gets the other group's result and scatters it to my group. */
static void reduce_scatter(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = c->comm->size;
    struct hl_type *type = c->recv.type;
    int64_t *counts = hl_sched_bytes(s, (size_t)size * sizeof *counts);
    int64_t *displs = hl_sched_bytes(s, (size_t)size * sizeof *displs), all = 0;

    if (s->err != 0) {
        return;
    }
    for (int i = 0; i < size; i++) {
        counts[i] = c->recv.counts != NULL ? c->recv.counts[i] : c->recv.count;
        displs[i] = all;
        all += counts[i];
    }
    void *sum = c->comm->rank == 0 ? hl_sched_room(s, all, type) : NULL;
    void *other = c->comm->rank == 0 ? hl_sched_room(s, all, type) : NULL;
    local_reduce(s, c, sum, all);
    hl_build_swap(s, c, hl_data(sum, all, type), hl_data(other, all, type));
    struct hl_coll_call phase = {.what = HL_COLL_SCATTERV,
                                 .send = {.buf = other, .counts = counts, .displs = displs, .type = type},
                                 .recv = make_side(c->recv.buf, counts[c->comm->rank], type)};
    hl_build_local(s, c, &phase);
}

/* The rank with MPI_ROOT has a block for each rank of the other group; each of these has one block. */
static void gather_inter(struct hl_sched *s, const struct hl_coll_call *c)
{
    if (c->root != MPI_ROOT) {
        hl_sched_send_some(s, c->root, hl_data_side(&c->send));
        return;
    }
    for (int i = 0; i < c->comm->n_peers; i++) {
        hl_sched_recv_some(s, i, hl_coll_block(&c->recv, i));
    }
}

static void plan_inter_scatter(struct hl_sched *s, const struct hl_coll_call *c)
{
    if (c->root != MPI_ROOT) {
        hl_sched_recv_some(s, c->root, hl_data_side(&c->recv));
        return;
    }
    for (int i = 0; i < c->comm->n_peers; i++) {
        hl_sched_send_some(s, i, hl_coll_block(&c->send, i));
    }
}

/* Every rank exchanges with every rank of the other group. Ranks a and b do so in turn (a + b) modulo the
 * larger size, on both sides, so that a turn waits for no later one. `same`: one block goes to all. */
static void plan_inter_exchange(struct hl_sched *s, const struct hl_coll_call *c, bool same)
{
    int n = c->comm->n_peers, turns = n > c->comm->size ? n : c->comm->size;

    for (int i = 0; i < turns; i++) {
        int peer = (i + turns - c->comm->rank) % turns;
        if (peer >= n) {
            continue;
        }
        hl_sched_recv_some(s, peer, hl_coll_block(&c->recv, peer));
        struct hl_data out = same ? hl_data_side(&c->send) : hl_coll_block(&c->send, peer);
        hl_sched_send_some(s, peer, out);
    }
}

static void (*const builders[HL_COLLS])(struct hl_sched *s, const struct hl_coll_call *c) = {
    [HL_COLL_BARRIER] = plan_inter_barrier,    [HL_COLL_BCAST] = plan_inter_bcast,
    [HL_COLL_REDUCE] = plan_inter_reduce,      [HL_COLL_ALLREDUCE] = plan_inter_allreduce,
    [HL_COLL_REDUCE_SCATTER] = reduce_scatter, [HL_COLL_GATHER] = gather_inter,
    [HL_COLL_GATHERV] = gather_inter,          [HL_COLL_SCATTER] = plan_inter_scatter,
    [HL_COLL_SCATTERV] = plan_inter_scatter,
};

void hl_build_inter(struct hl_sched *s, const struct hl_coll_call *c)
{
    if (c->root == MPI_PROC_NULL) {
        return; /* a rank beside the root; only operations with a root read it, others have 0 */
    }
    if (builders[c->what] != NULL) {
        builders[c->what](s, c);
    } else {
        plan_inter_exchange(s, c, c->what == HL_COLL_ALLGATHER || c->what == HL_COLL_ALLGATHERV);
    }
}
