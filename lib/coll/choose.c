/* THE table of algorithms: which one an operation takes. More rows (for one node, for hierarchies) may be
 * added, but a row may ask only for facts that all ranks of the call share. */
#include "algos.h"

#include "err.h"
#include "util.h"

#define ANY_SIZE UINT64_MAX

const struct hl_coll_row hl_coll_rows[] = {
    {HL_COLL_BARRIER, "dissemination", ANY_SIZE, 0, hl_build_barrier_dissemination},
    {HL_COLL_BCAST, "binomial", (512 << 10) - 1, 0, hl_build_bcast_binomial},
    {HL_COLL_BCAST, "scatter+ring", ANY_SIZE, 0, hl_build_bcast_scatter_ring},
    {HL_COLL_REDUCE, "binomial", ANY_SIZE, 0, hl_build_reduce_binomial},
    {HL_COLL_ALLREDUCE, "doubling", 2 << 10, 0, hl_build_allreduce_doubling},
    {HL_COLL_ALLREDUCE, "rabenseifner", ANY_SIZE, HL_NEED_PREDEFINED | HL_NEED_MANY,
     hl_build_allreduce_rabenseifner},
    {HL_COLL_ALLREDUCE, "doubling", ANY_SIZE, 0, hl_build_allreduce_doubling},
    {HL_COLL_SCAN, "doubling", ANY_SIZE, 0, hl_build_scan_doubling},
    {HL_COLL_EXSCAN, "doubling", ANY_SIZE, 0, hl_build_exscan_doubling},
    {HL_COLL_REDUCE_SCATTER, "tree", ANY_SIZE, HL_NEED_SMALL_SHARE, hl_build_reduce_scatter_tree},
    {HL_COLL_REDUCE_SCATTER, "direct", ANY_SIZE, 0, hl_build_reduce_scatter_direct},
    {HL_COLL_GATHER, "binomial", 4 << 10, 0, hl_build_gather_binomial},
    {HL_COLL_GATHER, "linear", ANY_SIZE, 0, hl_build_gather_linear},
    {HL_COLL_GATHERV, "linear", ANY_SIZE, 0, hl_build_gather_linear},
    {HL_COLL_SCATTER, "binomial", 4 << 10, 0, hl_build_scatter_binomial},
    {HL_COLL_SCATTER, "linear", ANY_SIZE, 0, hl_build_scatter_linear},
    {HL_COLL_SCATTERV, "linear", ANY_SIZE, 0, hl_build_scatter_linear},
    {HL_COLL_ALLGATHER, "bruck", 4 << 10, 0, hl_build_allgather_bruck},
    {HL_COLL_ALLGATHER, "ring", ANY_SIZE, 0, hl_build_allgather_ring},
    {HL_COLL_ALLGATHERV, "bruck", 4 << 10, 0, hl_build_allgather_bruck},
    {HL_COLL_ALLGATHERV, "ring", ANY_SIZE, 0, hl_build_allgather_ring},
    {HL_COLL_ALLTOALL, "bruck", 256, 0, hl_build_alltoall_bruck},
    {HL_COLL_ALLTOALL, "scattered", ANY_SIZE, 0, hl_build_alltoall_scattered},
    {HL_COLL_ALLTOALLV, "scattered", ANY_SIZE, 0, hl_build_alltoall_scattered},
};
const int hl_coll_row_count = HL_COUNT_OF(hl_coll_rows);

static bool does_fit_row(const struct hl_coll_row *row, const struct hl_coll_facts *f)
{
    unsigned has = (f->predefined ? HL_NEED_PREDEFINED : 0) | (f->count >= f->size ? HL_NEED_MANY : 0) |
                   (f->bytes <= 256u * (uint64_t)f->size ? HL_NEED_SMALL_SHARE : 0) |
                   (f->one_node ? HL_NEED_ONE_NODE : 0);

    return f->bytes <= row->max_bytes && (row->needs & ~has) == 0;
}

const struct hl_coll_row *hl_coll_choose(enum hl_coll what, const struct hl_coll_facts *f)
{
    const struct hl_coll_row *row = hl_coll_rows;

    while (row->what != what || !does_fit_row(row, f)) {
        row++;
    }
    return row;
}

static int count_type_bytes(const struct hl_type *type, int64_t count, int64_t *bytes)
{
    if (!hl_type_bytes(type, count, bytes)) {
        return hl_err_say(HL_ERR_COUNT, "%lld elements of %lld bytes do not fit 63 bits", (long long)count,
                          (long long)type->size);
    }
    return 0;
}

/* Number of elements that a reduction works on: those of all blocks where the result is scattered. */
static int64_t count_reduced(const struct hl_coll_call *c)
{
    int64_t sum = 0;

    if (c->what != HL_COLL_REDUCE_SCATTER) {
        return c->recv.count;
    }
    if (c->recv.counts == NULL) {
        return c->recv.count * c->comm->size;
    }
    for (int i = 0; i < c->comm->size; i++) {
        sum += c->recv.counts[i];
    }
    return sum;
}

static int look_at_reduction(struct hl_reducer *r, const struct hl_coll_call *c, struct hl_coll_facts *f)
{
    int64_t bytes = 0;
    int err = hl_reducer_init(r, c->op, c->recv.type);

    f->count = count_reduced(c);
    f->predefined = r->kernel != NULL;
    if (err == 0) {
        err = count_type_bytes(c->recv.type, f->count, &bytes);
    }
    f->bytes = (uint64_t)bytes;
    return err;
}

/* Finds the bytes of the largest block; every rank knows all blocks. */
static int look_at_blocks(const struct hl_coll_call *c, struct hl_coll_facts *f)
{
    for (int i = 0; i < c->comm->size; i++) {
        int64_t bytes = 0;
        int err = count_type_bytes(c->recv.type, c->recv.counts[i], &bytes);
        if (err != 0) {
            return err;
        }
        f->bytes = (uint64_t)bytes > f->bytes ? (uint64_t)bytes : f->bytes;
    }
    return 0;
}

int hl_coll_look(struct hl_reducer *r, const struct hl_coll_call *c, struct hl_coll_facts *f)
{
    const struct hl_coll_side *side = &c->recv;
    bool at_root = c->comm->rank == c->root;
    int64_t bytes = 0;

    *f = (struct hl_coll_facts){.size = c->comm->size, .one_node = c->comm->one_node};
    switch (c->what) {
    case HL_COLL_BARRIER:
        return 0;
    case HL_COLL_REDUCE:
    case HL_COLL_ALLREDUCE:
    case HL_COLL_SCAN:
    case HL_COLL_EXSCAN:
    case HL_COLL_REDUCE_SCATTER:
        return look_at_reduction(r, c, f);
    case HL_COLL_GATHERV:
    case HL_COLL_SCATTERV:
    case HL_COLL_ALLTOALLV:
        f->bytes = UINT64_MAX;
        return 0;
    case HL_COLL_ALLGATHERV:
        return look_at_blocks(c, f);
    case HL_COLL_GATHER:
        side = at_root ? &c->recv : &c->send;
        break;
    case HL_COLL_SCATTER:
        side = at_root ? &c->send : &c->recv;
        break;
    default:
        break;
    }
    int err = count_type_bytes(side->type, side->count, &bytes);
    f->bytes = (uint64_t)bytes;
    return err;
}

int hl_coll_build(struct hl_sched *s, const struct hl_coll_call *c)
{
    struct hl_coll_facts facts;

    if (hl_comm_is_inter(c->comm)) {
        hl_build_inter(s, c);
        return s->err;
    }
    if (c->what >= HL_COLL_NEIGHBOR_ALLGATHER) {
        hl_build_neighbors(s, c);
        return s->err;
    }
    int err = hl_coll_look(&s->reducer, c, &facts);
    if (err != 0) {
        s->err = err;
        return err;
    }
    hl_coll_choose(c->what, &facts)->build(s, c);
    return s->err;
}
