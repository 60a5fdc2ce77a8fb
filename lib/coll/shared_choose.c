/* Which blocking calls go over node-shared memory, and when a communicator gets it. */
#include <stdlib.h>

#include "conf.h"
#include "err.h"
#include "shared.h"
#include "stat.h"
#include "util.h"

/* What a row needs beyond node-shared memory. */
enum {
    ONE_NODE = 1,
    READS = 2, /* members can read each other's private memory */
    FITS = 4,  /* all blocks together fit a cell, with their table */
    PREDEFINED = 8,
    PIECES = 16, /* few bytes: all members, or the root alone, fold all operands, a cell at a time */
    ROUNDS = 32, /* few enough members to fold slices of cells */
    DEALT = 64,  /* few bytes: the root alone copies them into cells */
};

#define ANY_SIZE UINT64_MAX

static const struct row {
    enum hl_coll what;
    uint64_t max_bytes;
    unsigned needs;
    void (*run)(struct hl_shared_call *x);
} rows[] = {
    {HL_COLL_ALLREDUCE, HL_SHARED_DATA, ONE_NODE, hl_shared_allreduce},
    {HL_COLL_ALLREDUCE, HL_SHARED_DATA, PREDEFINED, hl_shared_allreduce},
    {HL_COLL_ALLREDUCE, ANY_SIZE, ONE_NODE | PIECES, hl_shared_allreduce},
    {HL_COLL_ALLREDUCE, HL_SHARED_STREAM, ONE_NODE | ROUNDS, hl_shared_allreduce_rounds},
    {HL_COLL_ALLREDUCE, ANY_SIZE, ONE_NODE | READS, hl_shared_allreduce_slices},
    {HL_COLL_ALLREDUCE, ANY_SIZE, ONE_NODE | ROUNDS, hl_shared_allreduce_rounds},
    {HL_COLL_REDUCE, HL_SHARED_DATA, ONE_NODE, hl_shared_reduce},
    {HL_COLL_REDUCE, HL_SHARED_DATA, PREDEFINED, hl_shared_reduce},
    {HL_COLL_REDUCE, ANY_SIZE, ONE_NODE | PIECES, hl_shared_reduce},
    {HL_COLL_REDUCE, ANY_SIZE, ONE_NODE | READS, hl_shared_allreduce_slices},
    {HL_COLL_ALLGATHER, HL_SHARED_DATA, ONE_NODE, hl_shared_allgather},
    {HL_COLL_ALLGATHER, HL_SHARED_STREAM, ONE_NODE, hl_shared_allgather_pieces},
    {HL_COLL_ALLGATHER, ANY_SIZE, ONE_NODE | READS, hl_shared_allgather},
    {HL_COLL_ALLGATHER, ANY_SIZE, ONE_NODE, hl_shared_allgather_pieces},
    {HL_COLL_ALLGATHERV, HL_SHARED_DATA, ONE_NODE, hl_shared_allgather},
    {HL_COLL_ALLGATHERV, HL_SHARED_STREAM, ONE_NODE, hl_shared_allgather_pieces},
    {HL_COLL_ALLGATHERV, ANY_SIZE, ONE_NODE | READS, hl_shared_allgather},
    {HL_COLL_ALLGATHERV, ANY_SIZE, ONE_NODE, hl_shared_allgather_pieces},
    {HL_COLL_GATHER, HL_SHARED_DATA, ONE_NODE, hl_shared_gather},
    {HL_COLL_GATHER, HL_SHARED_STREAM, ONE_NODE, hl_shared_gather_pieces},
    {HL_COLL_GATHER, ANY_SIZE, ONE_NODE | READS, hl_shared_gather},
    {HL_COLL_GATHER, ANY_SIZE, ONE_NODE, hl_shared_gather_pieces},
    {HL_COLL_GATHERV, ANY_SIZE, ONE_NODE | READS, hl_shared_gather},
    {HL_COLL_SCATTER, ANY_SIZE, ONE_NODE | FITS, hl_shared_scatter},
    {HL_COLL_SCATTER, ANY_SIZE, ONE_NODE | DEALT, hl_shared_scatter_pieces},
    {HL_COLL_SCATTER, ANY_SIZE, ONE_NODE | READS, hl_shared_scatter},
    {HL_COLL_SCATTER, ANY_SIZE, ONE_NODE, hl_shared_scatter_pieces},
    {HL_COLL_SCATTERV, ANY_SIZE, ONE_NODE | READS, hl_shared_scatter},
};

/* The needs that the call meets. */
static unsigned facts_of(const struct hl_shared_call *x)
{
    const struct hl_coll_facts *f = &x->facts;
    const struct hl_board *b = x->s->board;
    uint64_t size = (uint64_t)f->size;
    bool fits = f->bytes <= HL_SHARED_DATA && hl_shared_table(f->bytes, size) <= HL_SHARED_DATA;
    bool dealt = f->bytes <= HL_SHARED_DEALT / (size - 1);

    return (b->nodes == 1 ? ONE_NODE : 0) | (b->reads ? READS : 0) | (fits ? FITS : 0) | (dealt ? DEALT : 0) |
           (f->predefined ? PREDEFINED : 0) | (hl_shared_pieces(x) ? PIECES : 0) |
           (hl_shared_by_cells(x) ? ROUNDS : 0);
}

static const struct row *choose_row(const struct hl_shared_call *x)
{
    unsigned has = facts_of(x);

    for (int i = 0; i < (int)HL_COUNT_OF(rows); i++) {
        if (rows[i].what == x->c->what && x->facts.bytes <= rows[i].max_bytes &&
            (rows[i].needs & ~has) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

/* ---- Making ---- */

static void drop_shared(struct hl_comm_part *part)
{
    struct hl_shared *s = HL_CONTAINER_OF(part, struct hl_shared, part);

    hl_board_drop(s->board);
    if (s->leads.group != NULL) {
        hl_group_unref(s->leads.group);
    }
    free(s);
}

/* Makes the first members of the nodes a communicator, which only sends messages. */
static int find_leads(struct hl_shared *s)
{
    const struct hl_board *b = s->board;
    int *world = malloc((size_t)b->nodes * sizeof *world);
    int err = world != NULL ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory for %d nodes", b->nodes);

    for (int i = 0; err == 0 && i < b->nodes; i++) {
        world[i] = hl_comm_world(s->comm, b->leaders[i]);
    }
    struct hl_group *g = NULL;
    err = err == 0 ? hl_group_make(world, b->nodes, &g) : err;
    free(world);
    s->leads = (struct hl_comm){.ctx = s->comm->ctx,
                                .rank = b->my_node,
                                .size = b->nodes,
                                .group = g,
                                .peers = g,
                                .n_peers = b->nodes};
    return err;
}

struct shared_making {
    const struct hl_comm *comm;
    struct hl_shared *s; /* NULL: prepare_shared was not reached */
};

/* Makes what a member needs beside the board. */
static int prepare_shared(struct hl_board *b, void *making)
{
    struct shared_making *m = making;
    struct hl_shared *s = hl_shared_make((struct hl_shared_area *const *)(void *)b->areas, b->n, b->me);

    if (s == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for %d peers", b->n);
    }
    hl_shared_clear(s->areas[b->me]);
    for (int i = 0; i < b->n - 1; i++) {
        s->others[i] = b->node_ranks[i < b->me ? i : i + 1];
    }
    s->board = b;
    s->comm = m->comm;
    s->part.drop = drop_shared;
    m->s = s;
    return find_leads(s);
}

/* Makes the shared memory, on all members or on none; without it the calls stay messages. */
static void make_shared(struct hl_comm *comm)
{
    struct shared_making m = {.comm = comm};
    struct hl_board_plan plan = {sizeof(struct hl_shared_area), 0, prepare_shared, &m};
    struct hl_board *b;

    (void)hl_board_make(comm, &plan, &b);
    if (b != NULL) {
        comm->parts[HL_PART_SHARED] = &m.s->part;
    } else if (m.s != NULL) {
        m.s->board = NULL;
        drop_shared(&m.s->part);
    }
}

/* The communicator's shared memory, which its HOTLANE_COLL_SHARED-th call makes; or NULL. */
static struct hl_shared *shared_of(struct hl_comm *comm)
{
    struct hl_comm_part *part = comm->parts[HL_PART_SHARED];

    if (HL_UNLIKELY(part == NULL)) {
        if (comm->size == 1 || comm->blocking >= (uint32_t)hl_conf.coll_shared ||
            ++comm->blocking != (uint32_t)hl_conf.coll_shared) {
            return NULL;
        }
        make_shared(comm);
        part = comm->parts[HL_PART_SHARED];
    }
    return part != NULL ? HL_CONTAINER_OF(part, struct hl_shared, part) : NULL;
}

static void begin_call(struct hl_shared *s, struct hl_comm *comm, enum hl_coll what)
{
    s->err = 0;
    s->what = (uint16_t)what;
    if (s->board->nodes > 1) {
        s->tag = hl_coll_tag(comm, what); /* all members take it, whoever sends */
    }
}

static int end_call(struct hl_shared *s)
{
    if (HL_UNLIKELY(s->temp != NULL)) {
        free(s->temp);
        s->temp = NULL;
    }
    hl_shared_close(s);
    hl_stat_rank_add(HL_STAT_RANK_shared_calls, 1);
    return s->err;
}

/* Takes part in a call that this member cannot make, so that nobody waits for it. */
static void refuse_call(struct hl_shared *s, struct hl_comm *comm, enum hl_coll what, int err)
{
    begin_call(s, comm, what);
    s->err = err;
    (void)end_call(s);
}

bool hl_shared_run(const struct hl_coll_call *c, int *err)
{
    struct hl_shared_call x = {.c = c};

    if (hl_comm_is_inter(c->comm) || c->what >= HL_COLL_ALLTOALL || (x.s = shared_of(c->comm)) == NULL) {
        return false;
    }
    *err = hl_coll_look(&x.reducer, c, &x.facts);
    if (*err != 0) {
        refuse_call(x.s, c->comm, c->what, *err);
        return true;
    }
    const struct row *row = choose_row(&x);
    if (row == NULL) {
        return false;
    }
    begin_call(x.s, c->comm, c->what);
    row->run(&x);
    *err = end_call(x.s);
    return true;
}

bool hl_shared_try_bcast(struct hl_comm *comm, struct hl_data data, int root, int *err)
{
    struct hl_shared *s = hl_comm_is_inter(comm) ? NULL : shared_of(comm);
    int64_t bytes;

    if (s == NULL || s->board->nodes > 1) {
        return false;
    }
    if (!hl_type_bytes(data.type, data.count, &bytes)) {
        *err = hl_err_say(HL_ERR_COUNT, "%lld elements of %lld bytes do not fit 63 bits",
                          (long long)data.count, (long long)data.type->size);
        refuse_call(s, comm, HL_COLL_BCAST, *err);
        return true;
    }
    begin_call(s, comm, HL_COLL_BCAST);
    hl_shared_bcast(s, data, s->board->places[root]);
    *err = end_call(s);
    return true;
}

bool hl_shared_try_barrier(struct hl_comm *comm, int *err)
{
    struct hl_shared *s = hl_comm_is_inter(comm) ? NULL : shared_of(comm);

    if (s == NULL) {
        return false;
    }
    begin_call(s, comm, HL_COLL_BARRIER);
    hl_shared_barrier(s);
    *err = end_call(s);
    return true;
}
