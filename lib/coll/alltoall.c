/* Alltoall: every rank has a block for every other rank. */
#include "algos.h"

/* The blocks to send: of the sending side; in place, a packed copy of the receiving side, block i at
 * at[i]. */
struct outgoing {
    const struct hl_coll_side *side; /* NULL: the packed copy */
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

/* Each pair of ranks exchanges directly, and each rank begins with another peer; the engine's window keeps a
 * few pairs under way. Both sides of a pair skip an empty block. */
void hl_build_alltoall_scattered(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, rank = s->comm->rank;
    struct outgoing out = outgoing_of(s, c);

    for (int i = 1; i < size; i++) {
        int from = hl_rank_behind(rank, size - i, size), to = hl_rank_behind(rank, i, size);
        struct hl_data data = outgoing_block(&out, to);
        hl_sched_recv_some(s, from, hl_coll_block(&c->recv, from));
        hl_sched_send_some(s, to, data);
    }
    if (!hl_coll_in_place(&c->send)) {
        hl_sched_copy(s, hl_coll_block(&c->recv, rank), hl_coll_block(&c->send, rank));
    }
}

/* Blocks [from, from + n) of a side with equal blocks: elements one behind the other. */
static struct hl_data alike_blocks(const struct hl_coll_side *side, int from, int n)
{
    return hl_data_slice(side->buf, from * side->count, n * side->count, side->type);
}

/* Blocks whose place has the bit `far` set come in runs of `far` blocks, each behind a gap of as many. */
struct bruck {
    char *blocks, *lane;
    int64_t bytes; /* bytes of a block */
    int far;
};

static int bruck_count(const struct bruck *b, int size)
{
    int rest = size % (2 * b->far) - b->far;

    return size / (2 * b->far) * b->far + (rest > 0 ? rest : 0);
}

/* Copies these blocks into `packed`, or back: whole runs, and the rest of one at the end. */
static void bruck_move(struct hl_sched *s, const struct bruck *b, char *packed, bool out)
{
    int64_t run = b->far * b->bytes, all = bruck_count(b, s->comm->size) * b->bytes;
    char *apart = b->blocks + run;
    struct hl_data in_lane = hl_data_bytes(packed, (size_t)run), there = hl_data_bytes(apart, (size_t)run);

    hl_sched_copy_runs(s, out ? in_lane : there, out ? there : in_lane,
                       (struct hl_runs){all / run, out ? run : 2 * run, out ? 2 * run : run});
    if (all % run != 0) {
        int64_t at = all / run * run;
        in_lane = hl_data_bytes(packed + at, (size_t)(all - at));
        there = hl_data_bytes(apart + 2 * at, (size_t)(all - at));
        hl_sched_copy(s, out ? in_lane : there, out ? there : in_lane);
    }
}

/* One round: these blocks move `far` ranks up. */
static void bruck_round(struct hl_sched *s, const struct bruck *b)
{
    int size = s->comm->size, rank = s->comm->rank;
    size_t bytes = (size_t)(bruck_count(b, size) * b->bytes);
    char *in = b->lane + (size / 2 + 1) * b->bytes;

    bruck_move(s, b, b->lane, true);
    hl_sched_recv(s, hl_rank_behind(rank, size - b->far, size), hl_data_bytes(in, bytes));
    hl_sched_send(s, hl_rank_behind(rank, b->far, size), hl_data_bytes(b->lane, bytes));
    hl_sched_wait(s);
    bruck_move(s, b, in, false);
}

/* Copies `n` packed blocks to the blocks of `side` from rank `from` downwards. */
static void unpack_downwards(struct hl_sched *s, const struct hl_coll_side *side, int from, int n,
                             const char *packed)
{
    struct hl_data to = hl_coll_block(side, from);
    int64_t bytes = hl_coll_block_bytes(side, from);

    hl_sched_copy_runs(s, to, hl_data_bytes(packed, (size_t)bytes),
                       (struct hl_runs){n, -to.count * hl_type_extent(to.type), bytes});
}

/* Place i holds the block that travels i ranks up; it takes log2(size) messages instead of size. */
void hl_build_alltoall_bruck(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, rank = s->comm->rank;
    const struct hl_coll_side *side = hl_coll_in_place(&c->send) ? &c->recv : &c->send;
    struct bruck b = {.bytes = hl_coll_block_bytes(&c->recv, 0)};

    if (b.bytes == 0) {
        return;
    }
    b.blocks = hl_sched_bytes(s, (size_t)(size * b.bytes));
    b.lane = hl_sched_bytes(s, (size_t)((size / 2 + 1) * 2 * b.bytes));
    int64_t before = (size - rank) * b.bytes;
    hl_sched_copy(s, hl_data_bytes(b.blocks, (size_t)before), alike_blocks(side, rank, size - rank));
    if (rank > 0) {
        hl_sched_copy(s, hl_data_bytes(b.blocks + before, (size_t)(rank * b.bytes)),
                      alike_blocks(side, 0, rank));
    }
    for (b.far = 1; b.far < size; b.far *= 2) {
        bruck_round(s, &b);
    }
    unpack_downwards(s, &c->recv, rank, rank + 1, b.blocks);
    unpack_downwards(s, &c->recv, size - 1, size - 1 - rank, b.blocks + (rank + 1) * b.bytes);
}
