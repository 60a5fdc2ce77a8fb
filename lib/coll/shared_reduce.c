/* Reductions over node-shared memory by cells: few members all at once, many up a tree. */
#include "shared_fold.h"
#include "util.h"

#define AHEAD 3 /* pieces that are posted before their turn */

/* Folds up a tree whose nodes are runs of members; true on the first member, which has the whole. */
static bool fold_up(struct hl_fold *f, const void *operand)
{
    struct hl_shared *s = f->s;

    if (!f->dead && f->acc != operand) {
        hl_shared_fail(s, hl_type_copy(f->type, f->count, f->acc, f->type, f->count, operand));
    }
    f->empty = false;
    for (int step = 1; step < s->n; step *= HL_SHARED_WIDTH) {
        int parent = s->me - s->me % (step * HL_SHARED_WIDTH);
        if (parent != s->me) {
            hl_fold_post(f, f->acc);
            hl_shared_wake(s, parent);
            return false;
        }
        for (int k = 1; k < HL_SHARED_WIDTH && s->me + k * step < s->n; k++) {
            hl_fold_cell(f, s->me + k * step, 0, f->count);
        }
    }
    return true;
}

/* The first members of all nodes reduce their results, to that of `node` or to all. */
static void fold_across(struct hl_fold *f, const struct hl_shared_call *x, int node)
{
    struct hl_coll_call across = {
        .what = x->c->what,
        .op = x->c->op,
        .root = node,
        .send.buf = x->c->what == HL_COLL_ALLREDUCE || node == x->s->leads.rank ? MPI_IN_PLACE : f->acc,
        .recv = {.buf = f->acc, .count = f->count, .type = f->type}};

    if (x->s->board->nodes > 1 && !f->dead) {
        hl_shared_leads_run(x->s, &across);
    }
}

static bool is_flat(const struct hl_shared *s)
{
    return s->n <= HL_SHARED_WIDTH && s->board->nodes == 1;
}

/* Every member folds all operands, a piece at a time. Operands are posted ahead of their turn, so that
 * folding one piece hides the transfer of the next. */
static void allreduce_flat(struct hl_shared_call *x)
{
    const struct hl_coll_side *out = &x->c->recv;
    struct hl_shared *s = x->s;
    int64_t piece = hl_shared_piece(x), posted = 0;
    struct hl_fold f;

    hl_fold_open(&f, x, piece, out->buf, true);
    for (int64_t at = 0; at < out->count; at += piece) {
        void *result = hl_shared_element(x, out->buf, at);
        hl_shared_begin(s);
        uint64_t op = s->op;
        for (; posted < out->count && posted <= at + AHEAD * piece; posted += piece) {
            s->op = op + (uint64_t)((posted - at) / piece);
            f.count = hl_min_i64(piece, out->count - posted);
            hl_fold_post(&f, hl_shared_element(x, hl_coll_operand(x->c), posted));
        }
        s->op = op;
        hl_shared_wake_all(s);
        hl_shared_await_mates(s);
        hl_fold_next(&f, hl_min_i64(piece, out->count - at), result);
        hl_fold_all(&f, hl_shared_element(x, hl_coll_operand(x->c), at), 0, f.count);
        hl_fold_deliver(&f, result);
        if (at + piece < out->count) {
            hl_shared_end(s);
        }
    }
    hl_shared_end_last(s);
    hl_fold_close(&f);
}

static void allreduce_tree(struct hl_shared_call *x)
{
    const struct hl_coll_side *out = &x->c->recv;
    struct hl_shared *s = x->s;
    struct hl_fold f;

    hl_shared_begin(s);
    hl_fold_open(&f, x, out->count, out->buf, true);
    if (fold_up(&f, hl_coll_operand(x->c))) {
        fold_across(&f, x, 0);
        hl_fold_post(&f, f.acc);
        hl_shared_wake_all(s);
        hl_fold_deliver(&f, out->buf);
    } else {
        const struct hl_cell *cell = hl_shared_await(s, 0);
        if (cell != NULL) {
            hl_shared_take(s, 0, cell, hl_data(out->buf, out->count, out->type));
        }
    }
    hl_shared_end(s);
    hl_fold_close(&f);
}

void hl_shared_allreduce(struct hl_shared_call *x)
{
    if (x->facts.bytes == 0) {
        return;
    }
    if (is_flat(x->s)) {
        allreduce_flat(x);
    } else {
        allreduce_tree(x);
    }
}

/* The root folds; the others post their pieces, as far ahead as they have free cells. */
static void reduce_flat(struct hl_shared_call *x, int root)
{
    const struct hl_coll_side *out = &x->c->recv;
    struct hl_shared *s = x->s;
    int64_t piece = hl_shared_piece(x);
    struct hl_fold f = {.s = s, .type = out->type};

    if (s->me == root) {
        hl_fold_open(&f, x, piece, out->buf, true);
    }
    for (int64_t at = 0; at < out->count; at += piece) {
        hl_shared_begin(s);
        f.count = hl_min_i64(piece, out->count - at);
        if (s->me != root) {
            hl_fold_post(&f, hl_shared_element(x, x->c->send.buf, at));
            hl_shared_end(s);
            hl_shared_wake(s, root);
        } else {
            void *result = hl_shared_element(x, out->buf, at);
            hl_fold_next(&f, f.count, result);
            hl_fold_all(&f, hl_shared_element(x, hl_coll_operand(x->c), at), 0, f.count);
            hl_fold_deliver(&f, result);
            hl_shared_end(s);
            hl_shared_wake_all(s);
        }
    }
    hl_fold_close(&f);
}

/* Folds up the tree; the first member of the root's node posts the result for the root. */
static void reduce_tree(struct hl_shared_call *x, int root)
{
    const struct hl_coll_call *c = x->c;
    const struct hl_coll_side *out = &c->recv;
    struct hl_shared *s = x->s;
    bool mine = c->comm->rank == c->root;
    int node = s->board->nodes_of[c->root];
    struct hl_fold f;

    hl_shared_begin(s);
    hl_fold_open(&f, x, out->count, mine ? out->buf : s->operand, true);
    if (fold_up(&f, mine ? hl_coll_operand(c) : c->send.buf)) {
        fold_across(&f, x, node);
        if (mine) {
            hl_fold_deliver(&f, out->buf);
        } else if (node == s->board->my_node) {
            hl_fold_post(&f, f.acc);
            hl_shared_wake(s, root);
        }
    } else if (mine) {
        const struct hl_cell *cell = hl_shared_await(s, 0);
        if (cell != NULL) {
            hl_shared_take(s, 0, cell, hl_data(out->buf, out->count, out->type));
        }
    }
    hl_shared_end(s);
    if (mine) {
        hl_shared_wake_all(s);
    }
    hl_fold_close(&f);
}

void hl_shared_reduce(struct hl_shared_call *x)
{
    int root = x->s->board->places[x->c->root];

    if (x->facts.bytes == 0) {
        return;
    }
    if (is_flat(x->s)) {
        reduce_flat(x, root);
    } else {
        reduce_tree(x, root);
    }
}
