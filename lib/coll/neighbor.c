/* Exchange with the neighbours of a topology.
 *
 * Two ranks may be neighbours several times: in a periodic dimension of one or two ranks, or by several edges
 * of a graph. Messages between two ranks match in order, so both sides must list their common edges in the
 * same order. In a graph the k-th edge from a to b in a's list is the k-th one from a in b's list. In a grid
 * a message that leaves by slot s (downwards in a dimension, then upwards) arrives in slot s ^ 1: so receives
 * are listed by the slot that their message left by. */
#include "algos.h"
#include "shape.h"

/* Index of the neighbour that the i-th receive is from. */
static int find_recv_neighbor(const struct hl_shape *shape, int i)
{
    return shape->kind == MPI_CART ? i ^ 1 : i;
}

void hl_build_neighbors(struct hl_sched *s, const struct hl_coll_call *c)
{
    const struct hl_shape *shape = c->comm->shape;
    bool same = c->what == HL_COLL_NEIGHBOR_ALLGATHER;
    struct hl_data all = hl_data(c->send.buf, c->send.count, c->send.type);

    /* Any rank may wait for any other, so no message may wait for room. */
    hl_sched_widen(s, (int64_t)shape->n_in + shape->n_out);
    for (int i = 0; i < shape->n_in; i++) {
        int at = find_recv_neighbor(shape, i);
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
