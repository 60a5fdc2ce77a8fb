/* Barrier and broadcast. */
#include "algos.h"

void hl_build_barrier_dissemination(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, rank = s->comm->rank;
    struct hl_data nothing = hl_data_bytes(s->scratch, 0);

    (void)c;
    for (int64_t far = 1; far < size; far *= 2) {
        hl_sched_recv(s, hl_rank_behind(rank, size - (int)far, size), nothing);
        hl_sched_send(s, hl_rank_behind(rank, (int)far, size), nothing);
        hl_sched_wait(s);
    }
}

void hl_build_bcast_binomial(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, v = hl_rank_behind(s->comm->rank, size - c->root, size);
    struct hl_data data = hl_data(c->recv.buf, c->recv.count, c->recv.type);

    if (v != 0) {
        hl_sched_recv(s, hl_rank_behind(c->root, v & (v - 1), size), data);
        hl_sched_wait(s);
    }
    /* The farthest child goes first, since it has the deepest subtree. */
    for (int far = hl_pow2_below(size); far > 0; far /= 2) {
        if ((v == 0 || far < (v & -v)) && v + far < size) {
            hl_sched_send(s, hl_rank_behind(c->root, v + far, size), data);
        }
    }
}

/* A message that is cut into one block for each rank. */
struct bcast_pieces {
    char *buf;
    int64_t bytes;
    int size;
};

static struct hl_data bcast_piece(const struct bcast_pieces *p, int from, int blocks)
{
    int64_t low = hl_cut(p->bytes, p->size, from), high = hl_cut(p->bytes, p->size, from + blocks);

    return hl_data_bytes(p->buf + low, (size_t)(high - low));
}

/* Scatters the blocks by a binomial tree: rank v (counted from the root) gets the blocks of its subtree. */
static void scatter_tree(struct hl_sched *s, const struct bcast_pieces *p, int root, int v)
{
    int size = p->size;

    if (v != 0) {
        hl_sched_recv(s, hl_rank_behind(root, v & (v - 1), size), bcast_piece(p, v, hl_subtree(v, size)));
        hl_sched_wait(s);
    }
    for (int far = hl_pow2_below(size); far > 0; far /= 2) {
        if ((v == 0 || far < (v & -v)) && v + far < size) {
            hl_sched_send(s, hl_rank_behind(root, v + far, size),
                          bcast_piece(p, v + far, hl_subtree(v + far, size)));
        }
    }
    hl_sched_wait(s);
}

static bool is_in_subtree(int v, int block, int size)
{
    return block >= v && block < v + hl_subtree(v, size);
}

/* Passes the blocks round the ring; a rank is not sent the blocks that it has from its subtree. */
static void ring_blocks(struct hl_sched *s, const struct bcast_pieces *p, int root, int v)
{
    int size = p->size, next = hl_rank_behind(v, 1, size), last = hl_rank_behind(v, size - 1, size);

    for (int i = 0; i < size - 1; i++) {
        int out = hl_rank_behind(v, size - i, size), in = hl_rank_behind(v, size - 1 - i, size);
        if (!is_in_subtree(v, in, size)) {
            hl_sched_recv(s, hl_rank_behind(root, last, size), bcast_piece(p, in, 1));
        }
        if (!is_in_subtree(next, out, size)) {
            hl_sched_send(s, hl_rank_behind(root, next, size), bcast_piece(p, out, 1));
        }
        hl_sched_wait(s);
    }
}

void hl_build_bcast_scatter_ring(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, v = hl_rank_behind(s->comm->rank, size - c->root, size);
    struct hl_data data = hl_data(c->recv.buf, c->recv.count, c->recv.type);
    struct bcast_pieces p = {.bytes = data.count * data.type->size, .size = size};

    if (!hl_type_block(data.type, data.count, data.buf, &p.buf)) {
        p.buf = hl_sched_bytes(s, (size_t)p.bytes);
        if (v == 0) {
            hl_sched_copy(s, hl_data_bytes(p.buf, (size_t)p.bytes), data);
        }
    }
    scatter_tree(s, &p, c->root, v);
    ring_blocks(s, &p, c->root, v);
    if (v != 0 && !hl_type_block(data.type, data.count, data.buf, &p.buf)) {
        hl_sched_copy(s, data, hl_data_bytes(p.buf, (size_t)p.bytes));
    }
}
