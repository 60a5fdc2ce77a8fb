/* Gather, scatter and allgather, with equal and with different blocks. */
#include "algos.h"
#include "shape.h"

struct hl_data hl_coll_block(const struct hl_coll_side *side, int i)
{
    struct hl_type *type = side->types != NULL ? side->types[i] : side->type;
    int64_t count = side->counts != NULL ? side->counts[i] : side->count;
    int64_t at = i * side->count;

    if (side->types != NULL) {
        return hl_data((char *)side->buf + side->displs[i], count, type);
    }
    if (side->displs != NULL) {
        at = side->displs[i];
    }
    return hl_data_slice(side->buf, at, count, type);
}

int64_t hl_coll_block_bytes(const struct hl_coll_side *side, int i)
{
    struct hl_type *type = side->types != NULL ? side->types[i] : side->type;

    return (side->counts != NULL ? side->counts[i] : side->count) * type->size;
}

static bool is_same_block(struct hl_data a, struct hl_data b)
{
    return a.buf == b.buf && a.type == b.type && a.count > 0 && b.count > 0 && a.type->size > 0;
}

static bool has_one_block(enum hl_coll what, bool sends)
{
    return sends ? what == HL_COLL_GATHER || what == HL_COLL_GATHERV || what == HL_COLL_ALLGATHER ||
                       what == HL_COLL_ALLGATHERV || what == HL_COLL_NEIGHBOR_ALLGATHER
                 : what == HL_COLL_SCATTER || what == HL_COLL_SCATTERV;
}

/* Neighbourhood collectives: is block i only sent, or only received into, because a neighbour is beyond the
 * end of a grid? */
static bool is_idle_block(const struct hl_coll_call *call, int i)
{
    const struct hl_shape *shape = call->comm->shape;

    return shape->in[i] == MPI_PROC_NULL ||
           (call->what != HL_COLL_NEIGHBOR_ALLGATHER && shape->out[i] == MPI_PROC_NULL);
}

/* How many pairs of blocks are compared one by one. MPI_Neighbor_allgather sends one block, which may be
 * anywhere among those that are received; the blocks of the others are compared where both sides begin at one
 * address. */
static int count_judged_blocks(const struct hl_coll_call *call)
{
    const struct hl_shape *shape = call->comm->shape;

    if (call->what == HL_COLL_NEIGHBOR_ALLGATHER) {
        return shape->n_out > 0 ? shape->n_in : 0;
    }
    if (call->send.buf != call->recv.buf) {
        return 0;
    }
    return call->what < HL_COLL_NEIGHBOR_ALLGATHER ? call->comm->n_peers
           : shape->n_out < shape->n_in            ? shape->n_out
                                                   : shape->n_in;
}

bool hl_coll_has_result(const struct hl_coll_call *call)
{
    const struct hl_comm *c = call->comm;

    if (call->what == HL_COLL_REDUCE) {
        return hl_comm_is_inter(c) ? call->root == MPI_ROOT : c->rank == call->root;
    }
    return call->what != HL_COLL_EXSCAN || c->rank > 0 || hl_coll_in_place(&call->send);
}

bool hl_coll_is_aliased(const struct hl_coll_call *call)
{
    const struct hl_coll_side *send = &call->send, *recv = &call->recv;
    const struct hl_comm *c = call->comm;
    bool out_one = has_one_block(call->what, true), in_one = has_one_block(call->what, false), same = false;
    bool neighbors = call->what >= HL_COLL_NEIGHBOR_ALLGATHER;

    if (send->buf == NULL || recv->buf == NULL || send->buf == MPI_IN_PLACE || recv->buf == MPI_IN_PLACE ||
        hl_comm_is_inter(c)) {
        return false;
    }
    if (send->type == NULL && send->types == NULL) { /* a reduction: the operand is of the result's type */
        return hl_coll_has_result(call) && send->buf == recv->buf && recv->type->size > 0 &&
               (recv->counts != NULL ? recv->counts[c->rank] : recv->count) > 0;
    }
    if (!neighbors && (out_one || in_one)) {
        same = is_same_block(hl_coll_block(send, out_one ? 0 : c->rank),
                             hl_coll_block(recv, in_one ? 0 : c->rank));
    }
    for (int i = count_judged_blocks(call) - 1; i >= 0 && !same; i--) {
        same = !(neighbors && is_idle_block(call, i)) &&
               is_same_block(hl_coll_block(send, out_one ? 0 : i), hl_coll_block(recv, in_one ? 0 : i));
    }
    return same;
}

void hl_build_gather_linear(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, rank = s->comm->rank;

    if (rank != c->root) {
        hl_sched_send_some(s, c->root, hl_data_side(&c->send));
        return;
    }
    for (int i = 1; i < size; i++) {
        int from = hl_rank_behind(rank, i, size);
        hl_sched_recv_some(s, from, hl_coll_block(&c->recv, from));
    }
    if (!hl_coll_in_place(&c->send)) {
        hl_sched_copy(s, hl_coll_block(&c->recv, rank), hl_data_side(&c->send));
    }
}

void hl_build_scatter_linear(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, rank = s->comm->rank;

    if (rank != c->root) {
        hl_sched_recv_some(s, c->root, hl_data_side(&c->recv));
        return;
    }
    for (int i = 1; i < size; i++) {
        int to = hl_rank_behind(rank, i, size);
        hl_sched_send_some(s, to, hl_coll_block(&c->send, to));
    }
    if (!hl_coll_in_place(&c->recv)) {
        hl_sched_copy(s, hl_data_side(&c->recv), hl_coll_block(&c->send, rank));
    }
}

/* `n` packed blocks of a subtree from number `from` on; the first is that of its root. */
static struct hl_data slice_packed(const char *blocks, int64_t bytes, int from, int n)
{
    return hl_data_bytes(blocks + from * bytes, (size_t)(n * bytes));
}

void hl_build_gather_binomial(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, v = hl_rank_behind(s->comm->rank, size - c->root, size),
        tree = hl_subtree(v, size);
    const struct hl_coll_side *side = v == 0 ? &c->recv : &c->send;
    int64_t bytes = side->count * side->type->size;

    if (bytes == 0) {
        return;
    }
    if (tree == 1 && v != 0) {
        hl_sched_send(s, hl_rank_behind(c->root, v & (v - 1), size), hl_data_side(&c->send));
        return;
    }
    char *blocks = hl_sched_bytes(s, (size_t)(tree * bytes));
    for (int far = 1; far < tree; far *= 2) {
        hl_sched_recv(s, hl_rank_behind(c->root, v + far, size),
                      slice_packed(blocks, bytes, far, hl_subtree(v + far, size)));
    }
    if (v != 0) {
        hl_sched_copy(s, slice_packed(blocks, bytes, 0, 1), hl_data_side(&c->send));
    }
    hl_sched_wait(s);
    if (v != 0) {
        hl_sched_send(s, hl_rank_behind(c->root, v & (v - 1), size), slice_packed(blocks, bytes, 0, tree));
        return;
    }
    for (int i = 1; i < size; i++) {
        hl_sched_copy(s, hl_coll_block(&c->recv, hl_rank_behind(c->root, i, size)),
                      slice_packed(blocks, bytes, i, 1));
    }
    if (!hl_coll_in_place(&c->send)) {
        hl_sched_copy(s, hl_coll_block(&c->recv, c->root), hl_data_side(&c->send));
    }
}

void hl_build_scatter_binomial(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, v = hl_rank_behind(s->comm->rank, size - c->root, size),
        tree = hl_subtree(v, size);
    const struct hl_coll_side *side = v == 0 ? &c->send : &c->recv;
    int64_t bytes = side->count * side->type->size;

    if (bytes == 0) {
        return;
    }
    if (tree == 1 && v != 0) {
        hl_sched_recv(s, hl_rank_behind(c->root, v & (v - 1), size), hl_data_side(&c->recv));
        return;
    }
    char *blocks = hl_sched_bytes(s, (size_t)(tree * bytes));
    for (int i = 1; v == 0 && i < size; i++) {
        hl_sched_copy(s, slice_packed(blocks, bytes, i, 1),
                      hl_coll_block(&c->send, hl_rank_behind(c->root, i, size)));
    }
    if (v != 0) {
        hl_sched_recv(s, hl_rank_behind(c->root, v & (v - 1), size), slice_packed(blocks, bytes, 0, tree));
        hl_sched_wait(s);
    }
    for (int far = hl_pow2_below(size); far > 0; far /= 2) {
        if (far < tree) {
            hl_sched_send(s, hl_rank_behind(c->root, v + far, size),
                          slice_packed(blocks, bytes, far, hl_subtree(v + far, size)));
        }
    }
    if (v != 0) {
        hl_sched_copy(s, hl_data_side(&c->recv), slice_packed(blocks, bytes, 0, 1));
    } else if (!hl_coll_in_place(&c->recv)) {
        hl_sched_copy(s, hl_data_side(&c->recv), hl_coll_block(&c->send, c->root));
    }
}

/* Copies my own block to its place. */
static void allgather_own(struct hl_sched *s, const struct hl_coll_call *c)
{
    if (!hl_coll_in_place(&c->send)) {
        hl_sched_copy(s, hl_coll_block(&c->recv, s->comm->rank), hl_data_side(&c->send));
    }
}

void hl_build_allgather_ring(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, rank = s->comm->rank;
    int next = hl_rank_behind(rank, 1, size), last = hl_rank_behind(rank, size - 1, size);

    allgather_own(s, c);
    for (int i = 0; i < size - 1; i++) {
        int out = hl_rank_behind(rank, size - i, size), in = hl_rank_behind(rank, size - 1 - i, size);
        hl_sched_recv_some(s, last, hl_coll_block(&c->recv, in));
        hl_sched_send_some(s, next, hl_coll_block(&c->recv, out));
        hl_sched_wait(s);
    }
}

/* Where each rank's packed block begins; ranks are counted from mine. */
struct gather_places {
    int64_t bytes; /* bytes of every block, if they are equal */
    int64_t *at;   /* [size + 1]; NULL: the blocks are equal */
};

static int64_t packed_at(const struct gather_places *p, int i)
{
    return p->at != NULL ? p->at[i] : i * p->bytes;
}

static void learn_packing(struct hl_sched *s, const struct hl_coll_side *side, struct gather_places *p)
{
    int size = s->comm->size, rank = s->comm->rank;

    *p = (struct gather_places){.bytes = hl_coll_block_bytes(side, 0)};
    if (side->counts == NULL) {
        return;
    }
    p->at = hl_sched_bytes(s, ((size_t)size + 1) * sizeof *p->at);
    if (s->err != 0) {
        p->at = NULL; /* the schedule has an error and never runs */
        return;
    }
    p->at[0] = 0;
    for (int i = 0; i < size; i++) {
        p->at[i + 1] = p->at[i] + hl_coll_block_bytes(side, hl_rank_behind(rank, i, size));
    }
}

/* Copies the packed blocks [from, from + n), which do not pass the end of the ring, to their places. */
static void unpack_blocks(struct hl_sched *s, const struct hl_coll_side *side, const struct gather_places *p,
                          const char *blocks, int from, int n)
{
    int size = s->comm->size, to = hl_rank_behind(s->comm->rank, from, size);

    if (p->at == NULL && n > 0) {
        hl_sched_copy(s, hl_data_slice(side->buf, to * side->count, n * side->count, side->type),
                      hl_data_bytes(blocks + from * p->bytes, (size_t)(n * p->bytes)));
        return;
    }
    for (int i = 0; i < n; i++) {
        hl_sched_copy(
            s, hl_coll_block(side, to + i),
            hl_data_bytes(blocks + p->at[from + i], (size_t)(p->at[from + i + 1] - p->at[from + i])));
    }
}

/* Blocks are kept packed, mine first; then come those of the next 1, 2, 4 ... ranks. */
void hl_build_allgather_bruck(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, rank = s->comm->rank;
    struct gather_places p;

    learn_packing(s, &c->recv, &p);
    char *blocks = hl_sched_bytes(s, (size_t)packed_at(&p, size));
    allgather_own(s, c);
    hl_sched_copy(s, hl_data_bytes(blocks, (size_t)packed_at(&p, 1)), hl_coll_block(&c->recv, rank));
    for (int far = 1; far < size; far *= 2) {
        int n = far < size - far ? far : size - far, to = hl_rank_behind(rank, size - far, size);
        int64_t in = packed_at(&p, far + n) - packed_at(&p, far), out = packed_at(&p, n);
        hl_sched_recv_some(s, hl_rank_behind(rank, far, size),
                           hl_data_bytes(blocks + packed_at(&p, far), (size_t)in));
        hl_sched_send_some(s, to, hl_data_bytes(blocks, (size_t)out));
        hl_sched_wait(s);
    }
    unpack_blocks(s, &c->recv, &p, blocks, 1, size - 1 - rank);
    unpack_blocks(s, &c->recv, &p, blocks, size - rank, rank);
}
