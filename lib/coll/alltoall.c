/* Every rank has a block for every other. */
#include "algos.h"

/* The sending side; in place, a packed copy of the receiving one, block i at at[i]. */
struct outgoing {
    const struct hl_coll_side *side; /* NULL: packed */
    const char *packed;
    const int64_t *at;
};

static struct hl_data outgoing_block(const struct outgoing *o, int i)
{
    if (o->side != NULL) {
        return hl_coll_block(o->side, i);
    }
    return hl_data_bytes(o->packed + o->at[i], (size_t)(o->at[i + 1] - o->at[i]));
}

static struct outgoing outgoing_of(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size;

    if (!hl_coll_in_place(&c->send)) {
        return (struct outgoing){.side = &c->send};
    }
    int64_t *at = hl_sched_bytes(s, ((size_t)size + 1) * sizeof *at);
    if (s->err != 0) {
        return (struct outgoing){.side = &c->recv}; /* never sent */
    }
    at[0] = 0;
    for (int i = 0; i < size; i++) {
        at[i + 1] = at[i] + hl_coll_block_bytes(&c->recv, i);
    }
    char *packed = hl_sched_bytes(s, (size_t)at[size]);
    for (int i = 0; i < size && s->err == 0; i++) {
        hl_sched_copy(s, hl_data_bytes(packed + at[i], (size_t)(at[i + 1] - at[i])),
                      hl_coll_block(&c->recv, i));
    }
    return (struct outgoing){.packed = packed, .at = at};
}

/* Each pair of ranks exchanges directly, everybody beginning with another one; the engine's window keeps a
 * few pairs under way. Both sides of a pair skip an empty block. */
void hl_build_alltoall_scattered(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, rank = s->comm->rank;
    struct outgoing out = outgoing_of(s, c);

    for (int i = 1; i < size; i++) {
        int from = hl_ring(rank, size - i, size), to = hl_ring(rank, i, size);
        struct hl_data data = outgoing_block(&out, to);
        if (hl_coll_block_bytes(&c->recv, from) > 0) {
            hl_sched_recv(s, from, hl_coll_block(&c->recv, from));
        }
        if (data.count * data.type->size > 0) {
            hl_sched_send(s, to, data);
        }
    }
    if (!hl_coll_in_place(&c->send)) {
        hl_sched_copy(s, hl_coll_block(&c->recv, rank), hl_coll_block(&c->send, rank));
    }
}

/* One round of Bruck's: the blocks whose place has the bit `far` move `far` ranks up. */
static void bruck_round(struct hl_sched *s, char *blocks, char *lane, int64_t bytes, int far)
{
    int size = s->comm->size, rank = s->comm->rank, n = 0;
    char *in = lane + (size / 2 + 1) * bytes;

    for (int i = far; i < size; i++) {
        if (i & far) {
            hl_sched_copy(s, hl_data_bytes(lane + bytes * n++, (size_t)bytes),
                          hl_data_bytes(blocks + i * bytes, (size_t)bytes));
        }
    }
    hl_sched_recv(s, hl_ring(rank, size - far, size), hl_data_bytes(in, (size_t)(n * bytes)));
    hl_sched_send(s, hl_ring(rank, far, size), hl_data_bytes(lane, (size_t)(n * bytes)));
    hl_sched_wait(s);
    n = 0;
    for (int i = far; i < size; i++) {
        if (i & far) {
            hl_sched_copy(s, hl_data_bytes(blocks + i * bytes, (size_t)bytes),
                          hl_data_bytes(in + bytes * n++, (size_t)bytes));
        }
    }
}

/* Place i holds what travels i ranks up; log2(size) messages instead of size. */
void hl_build_alltoall_bruck(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, rank = s->comm->rank;
    const struct hl_coll_side *side = hl_coll_in_place(&c->send) ? &c->recv : &c->send;
    int64_t bytes = hl_coll_block_bytes(&c->recv, 0);

    if (bytes == 0) {
        return;
    }
    char *blocks = hl_sched_bytes(s, (size_t)(size * bytes));
    char *lane = hl_sched_bytes(s, (size_t)((size / 2 + 1) * 2 * bytes));
    for (int i = 0; i < size; i++) {
        hl_sched_copy(s, hl_data_bytes(blocks + i * bytes, (size_t)bytes),
                      hl_coll_block(side, hl_ring(rank, i, size)));
    }
    for (int far = 1; far < size; far *= 2) {
        bruck_round(s, blocks, lane, bytes, far);
    }
    for (int i = 0; i < size; i++) {
        hl_sched_copy(s, hl_coll_block(&c->recv, hl_ring(rank, size - i, size)),
                      hl_data_bytes(blocks + i * bytes, (size_t)bytes));
    }
}
