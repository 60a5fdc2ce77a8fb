/* Exchange with the neighbours of a topology.
 *
 * Two ranks may be neighbours several times: in a periodic dimension of one or two ranks, by several edges of
 * a graph. Messages between two ranks match in order, so both sides must list their common edges in one
 * order. The k-th edge from a to b is the k-th from a at b, in a graph. In a grid what leaves by slot s
 * (downwards in a dimension, then upwards) arrives in slot s ^ 1: receives are listed by the slot that their
 * message left by. */
#include "algos.h"
#include "shape.h"

/* The number of the i-th receive to list. */
static int arrival(const struct hl_shape *shape, int i)
{
    return shape->kind == MPI_CART ? i ^ 1 : i;
}

void hl_build_neighbors(struct hl_sched *s, const struct hl_coll_call *c)
{
    const struct hl_shape *shape = c->comm->shape;
    bool same = c->what == HL_COLL_NEIGHBOR_ALLGATHER;
    struct hl_data all = hl_data(c->send.buf, c->send.count, c->send.type);

    /* Who waits for whom may be anything: nobody holds back a message for want of room. */
    hl_sched_widen(s, (int64_t)shape->n_in + shape->n_out);
    for (int i = 0; i < shape->n_in; i++) {
        int at = arrival(shape, i);
        if (shape->in[at] != MPI_PROC_NULL && hl_coll_block_bytes(&c->recv, at) > 0) {
            hl_sched_recv(s, shape->in[at], hl_coll_block(&c->recv, at));
        }
    }
    for (int i = 0; i < shape->n_out; i++) {
        struct hl_data out = same ? all : hl_coll_block(&c->send, i);
        if (shape->out[i] != MPI_PROC_NULL && out.count * out.type->size > 0) {
            hl_sched_send(s, shape->out[i], out);
        }
    }
}
