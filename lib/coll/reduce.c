/* Reductions to one rank and to all. All are in rank order: the lower rank is the left operand, so that
 * operations need not commute, and ranks that compute the same value get the same bits. */
#include "algos.h"

/* Copies the operand to `room`, where it may be written. */
static void load_operand(struct hl_sched *s, struct hl_operand *o, void *room, int64_t count)
{
    struct hl_type *type = s->reducer.type;

    hl_sched_copy(s, hl_data(room, count, type), hl_data(o->mine, count, type));
    o->mine = room;
}

void hl_build_part_reduce(struct hl_sched *s, struct hl_operand *o, int64_t count)
{
    int size = s->comm->size, rank = s->comm->rank;
    struct hl_type *type = s->reducer.type;
    bool has_room = false;

    for (int far = 1; far < size; far *= 2) {
        if (rank & far) {
            hl_sched_send(s, rank - far, hl_data(o->mine, count, type));
            return;
        }
        if (rank + far >= size) {
            continue;
        }
        if (!has_room) {
            o->other = hl_sched_room(s, count, type);
        }
        hl_sched_recv(s, rank + far, hl_data(o->other, count, type));
        if (!has_room) {
            load_operand(s, o, hl_sched_room(s, count, type), count);
            has_room = true;
        }
        hl_sched_wait(s);
        hl_sched_combine(s, o, count, true);
    }
}

/* For commuting operations: a binomial tree with the root as its root. */
static void reduce_rotated(struct hl_sched *s, const struct hl_coll_call *c)
{
    int size = s->comm->size, v = hl_rank_behind(s->comm->rank, size - c->root, size);
    struct hl_type *type = c->recv.type;
    int64_t count = c->recv.count;
    const void *mine = v == 0 ? hl_coll_operand(c) : c->send.buf;
    void *sum = NULL, *in = NULL; /* addresses to use with the type, so NULL may be one of them */
    bool has_sum = false;

    for (int far = 1; far < size; far *= 2) {
        if (v & far) {
            hl_sched_send(s, hl_rank_behind(c->root, v - far, size), hl_data(mine, count, type));
            return;
        }
        if (v + far >= size) {
            continue;
        }
        if (!has_sum) {
            has_sum = true;
            in = hl_sched_room(s, count, type);
            sum = v == 0 ? c->recv.buf : hl_sched_room(s, count, type);
            hl_sched_copy(s, hl_data(sum, count, type), hl_data(mine, count, type));
            mine = sum;
        }
        hl_sched_recv(s, hl_rank_behind(c->root, v + far, size), hl_data(in, count, type));
        hl_sched_wait(s);
        hl_sched_combine_into(s, sum, in, count);
    }
    hl_sched_copy(s, hl_data(c->recv.buf, count, type), hl_data(mine, count, type));
}

/* For other operations: a tree with rank 0 as its root, which sends the result to the root. */
static void reduce_ordered(struct hl_sched *s, const struct hl_coll_call *c)
{
    int rank = s->comm->rank;
    struct hl_data result = hl_data(c->recv.buf, c->recv.count, c->recv.type);
    struct hl_operand o = {.mine = rank == c->root ? (void *)(uintptr_t)hl_coll_operand(c) : c->send.buf};

    hl_build_part_reduce(s, &o, c->recv.count);
    struct hl_data there = hl_data(o.mine, c->recv.count, c->recv.type);
    if (rank == c->root && rank != 0) {
        hl_sched_wait(s); /* in place, the result arrives where the operand left from */
        hl_sched_recv(s, 0, result);
    } else if (rank == c->root) {
        hl_sched_copy(s, result, there);
    } else if (rank == 0) {
        hl_sched_send(s, c->root, there);
    }
}

void hl_build_reduce_binomial(struct hl_sched *s, const struct hl_coll_call *c)
{
    if (c->recv.count == 0) {
        return;
    }
    if (s->reducer.commutes) {
        reduce_rotated(s, c);
    } else {
        reduce_ordered(s, c);
    }
}

/* The core of an allreduce, a power of two: of the first 2 * extra ranks the odd ones act for their left
 * neighbour, too. */
struct core {
    int extra; /* ranks outside */
    int size;  /* a power of two */
    int at;    /* my place, or -1 outside */
};

static struct core core_of(const struct hl_comm *comm)
{
    struct core k = {.size = hl_pow2_below(comm->size)};

    k.extra = comm->size - k.size;
    k.at = comm->rank - k.extra;
    if (comm->rank < 2 * k.extra) {
        k.at = comm->rank % 2 != 0 ? comm->rank / 2 : -1;
    }
    return k;
}

static int core_rank(const struct core *k, int at)
{
    return at < k->extra ? 2 * at + 1 : at + k->extra;
}

/* Ranks outside the core send their operand to their right neighbour. */
static void core_enter(struct hl_sched *s, const struct core *k, struct hl_operand *o, int64_t count)
{
    int rank = s->comm->rank;
    struct hl_type *type = s->reducer.type;

    if (k->at < 0) {
        hl_sched_send(s, rank + 1, hl_data(o->mine, count, type));
        hl_sched_wait(s);
    } else if (rank < 2 * k->extra) {
        hl_sched_recv(s, rank - 1, hl_data(o->other, count, type));
        hl_sched_wait(s);
        hl_sched_combine(s, o, count, false);
    }
}

/* Ranks outside the core get the result back; on all ranks it ends in the user's buffer. */
static void core_leave(struct hl_sched *s, const struct core *k, const struct hl_operand *o,
                       const struct hl_coll_call *c)
{
    int rank = s->comm->rank;
    struct hl_data result = hl_data(c->recv.buf, c->recv.count, c->recv.type);

    if (k->at < 0) {
        hl_sched_recv(s, rank + 1, result);
        return;
    }
    if (rank < 2 * k->extra) {
        hl_sched_send(s, rank - 1, hl_data(o->mine, result.count, result.type));
    }
    hl_sched_copy(s, result, hl_data(o->mine, result.count, result.type));
}

static struct hl_operand allreduce_operand(struct hl_sched *s, const struct hl_coll_call *c)
{
    struct hl_operand o = {.mine = (void *)(uintptr_t)hl_coll_operand(c)};

    load_operand(s, &o, c->recv.buf, c->recv.count);
    o.other = hl_sched_room(s, c->recv.count, c->recv.type);
    return o;
}

void hl_build_allreduce_doubling(struct hl_sched *s, const struct hl_coll_call *c)
{
    struct core k = core_of(s->comm);
    int64_t count = c->recv.count;

    if (count == 0) {
        return;
    }
    struct hl_operand o = allreduce_operand(s, c);
    core_enter(s, &k, &o, count);
    for (int far = 1; k.at >= 0 && far < k.size; far *= 2) {
        int peer = core_rank(&k, k.at ^ far);
        hl_sched_recv(s, peer, hl_data(o.other, count, c->recv.type));
        hl_sched_send(s, peer, hl_data(o.mine, count, c->recv.type));
        hl_sched_wait(s);
        hl_sched_combine(s, &o, count, (k.at & far) == 0);
    }
    core_leave(s, &k, &o, c);
}

/* The elements of the core's blocks [low, high). */
static struct hl_data blocks_of(const struct core *k, const struct hl_coll_call *c, void *buf, int low,
                                int high)
{
    int64_t from = hl_cut(c->recv.count, k->size, low), to = hl_cut(c->recv.count, k->size, high);

    return hl_data_slice(buf, from, to - from, c->recv.type);
}

/* Recursive halving leaves each core rank one reduced block; recursive doubling gathers them. Each block is
 * reduced by one rank, so all get the same bits. */
void hl_build_allreduce_rabenseifner(struct hl_sched *s, const struct hl_coll_call *c)
{
    struct core k = core_of(s->comm);
    struct hl_operand o = allreduce_operand(s, c);
    int low = 0, high = k.size;

    core_enter(s, &k, &o, c->recv.count);
    for (int far = k.size / 2; k.at >= 0 && far > 0; far /= 2) {
        int peer = core_rank(&k, k.at ^ far), mid = low + far;
        int keep = (k.at & far) == 0 ? low : mid, give = keep == low ? mid : low;
        struct hl_data in = blocks_of(&k, c, o.other, keep, keep + far);
        hl_sched_recv(s, peer, in);
        hl_sched_send(s, peer, blocks_of(&k, c, o.mine, give, give + far));
        hl_sched_wait(s);
        hl_sched_combine_into(s, blocks_of(&k, c, o.mine, keep, keep + far).buf, in.buf, in.count);
        low = keep;
        high = keep + far;
    }
    for (int far = 1; k.at >= 0 && far < k.size; far *= 2) {
        int peer = core_rank(&k, k.at ^ far), theirs = (k.at & far) == 0 ? high : low - far;
        hl_sched_recv(s, peer, blocks_of(&k, c, o.mine, theirs, theirs + far));
        hl_sched_send(s, peer, blocks_of(&k, c, o.mine, low, high));
        hl_sched_wait(s);
        low = theirs < low ? theirs : low;
        high = low + 2 * far;
    }
    core_leave(s, &k, &o, c);
}
