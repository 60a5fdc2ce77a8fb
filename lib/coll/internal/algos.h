/* The algorithms, with one builder each, and the rows of the table that chooses among them. */
#ifndef HL_ALGOS_H
#define HL_ALGOS_H

#include "schedule.h"

/* The facts that the choice may depend on: they are the same on all ranks of the call. */
struct hl_coll_facts {
    uint64_t bytes; /* bytes of the signature (hl_coll_look); UINT64_MAX when ranks do not know it */
    int size;
    bool one_node;
    bool predefined; /* the operation is predefined; false when there is none */
    int64_t count;   /* elements of a reduction */
};

/* What a row may ask for beyond the size of the data. */
enum hl_coll_need {
    HL_NEED_PREDEFINED = 1,  /* a predefined operation */
    HL_NEED_MANY = 2,        /* at least one element for each rank */
    HL_NEED_SMALL_SHARE = 4, /* at most 256 bytes for each rank */
    HL_NEED_ONE_NODE = 8,
};

struct hl_coll_row {
    enum hl_coll what;
    const char *name;
    uint64_t max_bytes;
    unsigned needs; /* enum hl_coll_need */
    void (*build)(struct hl_sched *s, const struct hl_coll_call *c);
};

/* The rows are ordered: the first row of an operation that fits is taken, and its last row fits every
 * call. */
extern const struct hl_coll_row hl_coll_rows[];
extern const int hl_coll_row_count;

/* Finds the facts of a call and, for a reduction, the reducer. HL_ERR_COUNT, HL_ERR_OP. */
int hl_coll_look(struct hl_reducer *r, const struct hl_coll_call *c, struct hl_coll_facts *f);

/* The row of the table that an operation with these facts takes; never NULL. */
const struct hl_coll_row *hl_coll_choose(enum hl_coll what, const struct hl_coll_facts *f);

/* Appends the steps of the chosen algorithm to an empty schedule. */
int hl_coll_build(struct hl_sched *s, const struct hl_coll_call *c);

/* The communicator's next tag, with the kind of the operation: ranks that call different ones do
 * not take each other's messages, so that they wait, and the watchdog tells of their calls. */
HL_INLINE int hl_coll_tag(struct hl_comm *comm, enum hl_coll what)
{
    return hl_comm_coll_tag(comm) ^ (int)what << 25;
}
_Static_assert(HL_COLLS <= 1 << 5, "tags have 30 bits");

/* Runs a built schedule of hl_sched_take, an exchange of the library itself, and gives it back. Returns its
 * error; without memory for this rank's part of it, hl_coll_unable. */
int hl_coll_exchange(struct hl_sched *s);

/* Block `i` of a side. */
struct hl_data hl_coll_block(const struct hl_coll_side *side, int i);

/* Bytes of data in block `i`. */
int64_t hl_coll_block_bytes(const struct hl_coll_side *side, int i);

HL_INLINE bool hl_coll_in_place(const struct hl_coll_side *side)
{
    return side->buf == MPI_IN_PLACE;
}

/* The user's operand of a reduction: in place it is in the receive buffer. */
HL_INLINE const void *hl_coll_operand(const struct hl_coll_call *c)
{
    return hl_coll_in_place(&c->send) ? c->recv.buf : c->send.buf;
}

HL_INLINE struct hl_coll_side hl_coll_bytes(const void *buf, size_t n)
{
    return (struct hl_coll_side){
        .buf = (void *)(uintptr_t)buf, .count = (int64_t)n, .type = hl_type_of(MPI_BYTE)};
}

/* The largest power of two that is not larger than n > 0. */
HL_INLINE int hl_pow2_below(int n)
{
    return 1 << (31 - __builtin_clz((unsigned)n));
}

/* Number of ranks in the subtree of `v` in a binomial tree over `size` ranks with root 0: v and the ranks
 * behind it. */
HL_INLINE int hl_subtree(int v, int size)
{
    int n = v == 0 ? size : v & -v;
    return n < size - v ? n : size - v;
}

/* The rank that is `v` places behind `root`, in a ring. */
HL_INLINE int hl_rank_behind(int root, int v, int size)
{
    int r = root + v;
    return r >= size ? r - size : r;
}

/* Number of elements before block `i` when `count` elements are cut into `blocks` nearly equal ones. */
HL_INLINE int64_t hl_cut(int64_t count, int blocks, int64_t i)
{
    int64_t share = count / blocks, rest = count % blocks;
    return i * share + (i < rest ? i : rest);
}

void hl_build_barrier_dissemination(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_bcast_binomial(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_bcast_scatter_ring(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_reduce_binomial(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_allreduce_doubling(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_allreduce_rabenseifner(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_scan_doubling(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_exscan_doubling(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_reduce_scatter_direct(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_reduce_scatter_tree(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_gather_binomial(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_gather_linear(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_scatter_binomial(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_scatter_linear(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_allgather_bruck(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_allgather_ring(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_alltoall_bruck(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_alltoall_scattered(struct hl_sched *s, const struct hl_coll_call *c);

void hl_build_neighbors(struct hl_sched *s, const struct hl_coll_call *c);

/* hl_build_inter builds every operation on an intercommunicator. Its parts: hl_build_local, an operation of
 * my group (all earlier messages land first), and hl_build_swap, an exchange between both ranks 0. */
void hl_build_inter(struct hl_sched *s, const struct hl_coll_call *c);
void hl_build_local(struct hl_sched *s, const struct hl_coll_call *c, const struct hl_coll_call *phase);
void hl_build_swap(struct hl_sched *s, const struct hl_coll_call *c, struct hl_data out, struct hl_data in);

/* For making communicators: both[0 .. half) of each group's rank 0 goes to all ranks of both groups; they
 * find the half of their own group first, and that of the other group second. */
void hl_build_agree(struct hl_sched *s, const struct hl_coll_call *c, void *both, size_t half);

/* A part that several builders use. Reduces `count` elements of every rank's `o->mine` to rank 0, in rank
 * order; on rank 0 the result is then at o->mine. The memory that o->mine was is only read. */
void hl_build_part_reduce(struct hl_sched *s, struct hl_operand *o, int64_t count);

#endif
