/* Prefix reductions, and reductions whose result is scattered over the ranks. The lower rank is always the
 * left operand. */
#include "algos.h"

/* A prefix reduction over the ranks from `first` on. After the step of distance `far`, a rank's value covers
 * 2 * far ranks up to itself, but none before `first`. */
static void double_prefix(struct hl_sched *s, struct hl_operand *o, const struct hl_coll_call *c, int first)
{
    int size = s->comm->size, rank = s->comm->rank;
    int64_t count = c->recv.count;

    for (int far = 1; far < size - first; far *= 2) {
        bool left = rank - far >= first;
        if (left) {
            hl_sched_recv(s, rank - far, hl_data(o->other, count, c->recv.type));
        }
        if (rank + far < size) {
            hl_sched_send(s, rank + far, hl_data(o->mine, count, c->recv.type));
        }
        hl_sched_wait(s);
        if (left) {
            hl_sched_combine(s, o, count, false);
        }
    }
    hl_sched_copy(s, hl_data(c->recv.buf, count, c->recv.type), hl_data(o->mine, count, c->recv.type));
}

void hl_build_scan_doubling(struct hl_sched *s, const struct hl_coll_call *c)
{
    int64_t count = c->recv.count;
    struct hl_operand o = {.mine = c->recv.buf};

    if (count == 0) {
        return;
    }
    o.other = hl_sched_room(s, count, c->recv.type);
    hl_sched_copy(s, hl_data(o.mine, count, c->recv.type), hl_data(hl_coll_operand(c), count, c->recv.type));
    double_prefix(s, &o, c, 0);
}

/* Moves every operand one rank up, and then scans over the ranks from 1 on. */
void hl_build_exscan_doubling(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, rank = s->comm->rank;
    int64_t count = c->recv.count;

    if (count == 0) {
        return;
    }
    struct hl_operand o = {.mine = hl_sched_room(s, count, c->recv.type),
                           .other = hl_sched_room(s, count, c->recv.type)};
    if (rank > 0) {
        hl_sched_recv(s, rank - 1, hl_data(o.mine, count, c->recv.type));
    }
    if (rank + 1 < size) {
        hl_sched_send(s, rank + 1, hl_data(hl_coll_operand(c), count, c->recv.type));
    }
    hl_sched_wait(s);
    if (rank > 0) {
        double_prefix(s, &o, c, 1);
    }
}

/* first[i]: elements before rank i's block; first[size]: all of them. */
static const int64_t *block_starts(struct hl_sched *s, const struct hl_coll_side *recv)
{
    int size = s->comm->size;
    int64_t *first = hl_sched_bytes(s, ((size_t)size + 1) * sizeof *first);

    if (s->err != 0) {
        return NULL;
    }
    first[0] = 0;
    for (int i = 0; i < size; i++) {
        first[i + 1] = first[i] + (recv->counts != NULL ? recv->counts[i] : recv->count);
    }
    return first;
}

/* Receives my block from rank `from`, and sends rank `to` its block. Empty blocks have no message. */
static void swap_blocks(struct hl_sched *s, const struct hl_coll_call *c, const int64_t *first, int from,
                        int to, struct hl_data in)
{
    struct hl_data out =
        hl_data_slice(hl_coll_operand(c), first[to], first[to + 1] - first[to], c->recv.type);

    hl_sched_recv_some(s, from, in);
    hl_sched_send_some(s, to, out);
}

#define DIRECT_GROUP 8 /* blocks in memory at once, for commuting operations */

/* Rooms for `n` operands of `count` elements each; NULL: no memory. Each is a room of its own: behind the
 * last element of one there may be bytes of its first (columns of a matrix). */
static void **make_rooms(struct hl_sched *s, int n, int64_t count, struct hl_type *type)
{
    void **rooms = hl_sched_bytes(s, (size_t)n * sizeof *rooms);

    for (int i = 0; i < n && s->err == 0; i++) {
        rooms[i] = hl_sched_room(s, count, type);
    }
    return s->err == 0 ? rooms : NULL;
}

/* For commuting operations: blocks are combined with mine in groups, in the order of the ring. */
static void direct_commuting(struct hl_sched *s, const struct hl_coll_call *c, const int64_t *first)
{
    int size = s->comm->size, rank = s->comm->rank;
    int64_t count = first[rank + 1] - first[rank];
    struct hl_data mine = hl_data_slice(hl_coll_operand(c), first[rank], count, c->recv.type);
    bool in_place = hl_coll_in_place(&c->send);
    void *sum = in_place ? hl_sched_room(s, count, mine.type) : c->recv.buf;
    void **in = make_rooms(s, size <= DIRECT_GROUP ? size - 1 : DIRECT_GROUP, count, mine.type);

    if (in == NULL) {
        return;
    }
    hl_sched_copy(s, hl_data(sum, count, mine.type), mine);
    for (int i = 1; i < size; i += DIRECT_GROUP) {
        int n = size - i < DIRECT_GROUP ? size - i : DIRECT_GROUP;
        for (int k = 0; k < n; k++) {
            swap_blocks(s, c, first, hl_rank_behind(rank, size - i - k, size),
                        hl_rank_behind(rank, i + k, size), hl_data(in[k], count, mine.type));
        }
        hl_sched_wait(s);
        for (int k = 0; k < n && count > 0; k++) {
            hl_sched_combine_into(s, sum, in[k], count);
        }
    }
    hl_sched_copy(s, hl_data(c->recv.buf, count, mine.type), hl_data(sum, count, mine.type));
}

/* For other operations: all blocks are received, and then combined from rank 0 up. */
static void direct_ordered(struct hl_sched *s, const struct hl_coll_call *c, const int64_t *first)
{
    int size = s->comm->size, rank = s->comm->rank;
    int64_t count = first[rank + 1] - first[rank];
    struct hl_type *type = c->recv.type;
    void **in = make_rooms(s, size, count, type);

    if (in == NULL) {
        return;
    }
    hl_sched_copy(s, hl_data(in[rank], count, type),
                  hl_data_slice(hl_coll_operand(c), first[rank], count, type));
    for (int i = 1; i < size; i++) {
        int from = hl_rank_behind(rank, size - i, size);
        swap_blocks(s, c, first, from, hl_rank_behind(rank, i, size), hl_data(in[from], count, type));
    }
    hl_sched_wait(s);
    struct hl_operand o = {.mine = in[0]};
    for (int i = 1; i < size && count > 0; i++) {
        o.other = in[i];
        hl_sched_combine(s, &o, count, true);
    }
    hl_sched_copy(s, hl_data(c->recv.buf, count, type), hl_data(o.mine, count, type));
}

void hl_build_reduce_scatter_direct(struct hl_sched *s, const struct hl_coll_call *c)
{
    const int64_t *first = block_starts(s, &c->recv);

    if (first == NULL) {
        return;
    }
    if (s->reducer.commutes) {
        direct_commuting(s, c, first);
    } else {
        direct_ordered(s, c, first);
    }
}

/* Reduces to rank 0; then every rank gets the blocks of its subtree. */
void hl_build_reduce_scatter_tree(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, rank = s->comm->rank, last = rank + hl_subtree(rank, size);
    const int64_t *first = block_starts(s, &c->recv);
    struct hl_operand o = {.mine = (void *)(uintptr_t)hl_coll_operand(c)};
    struct hl_type *type = c->recv.type;

    if (first == NULL || first[size] == 0) {
        return;
    }
    hl_build_part_reduce(s, &o, first[size]);
    hl_sched_wait(s);
    if (rank != 0) {
        struct hl_data in = hl_data(NULL, first[last] - first[rank], type);
        in.buf = last == rank + 1 ? c->recv.buf : hl_sched_room(s, in.count, type);
        o.mine = in.buf;
        hl_sched_recv(s, rank & (rank - 1), in);
        hl_sched_wait(s);
    }
    for (int far = hl_pow2_below(size); far > 0; far /= 2) {
        if ((rank == 0 || far < (rank & -rank)) && rank + far < size) {
            int end = rank + far + hl_subtree(rank + far, size);
            hl_sched_send(
                s, rank + far,
                hl_data_slice(o.mine, first[rank + far] - first[rank], first[end] - first[rank + far], type));
        }
    }
    hl_sched_copy(s, hl_data(c->recv.buf, first[rank + 1] - first[rank], type),
                  hl_data(o.mine, first[rank + 1] - first[rank], type));
}
