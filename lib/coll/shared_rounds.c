/* Allreduce over node-shared memory for more than a few bytes. In each round all members post a block of
 * their operands, each folds a slice of it and posts the result, and all collect the results. However many
 * members there are, each reads twice the data from others. */
#include "shared_fold.h"
#include "util.h"

/* The state of a round. */
struct fold_round {
    struct hl_shared_call *x;
    struct hl_fold fold;
    int64_t piece;     /* elements of a cell */
    int64_t at, count; /* elements of the block */
    uint64_t first;    /* operation of its first cell */
};

static int64_t round_slice_at(const struct fold_round *r, int place)
{
    return hl_cut(r->count, r->x->s->n, place);
}

/* Number of elements of a place's slice in its cell `k`; *from is the first one's number in the block. */
static int64_t result_of(const struct fold_round *r, int place, int64_t k, int64_t *from)
{
    int64_t end = round_slice_at(r, place + 1);

    *from = hl_min_i64(round_slice_at(r, place) + k * r->piece, end);
    return hl_min_i64(r->piece, end - *from);
}

static void post_operands(struct fold_round *r)
{
    struct hl_shared *s = r->x->s;

    for (int64_t at = 0; at < r->count; at += r->piece) {
        hl_shared_begin(s);
        r->fold.count = hl_min_i64(r->piece, r->count - at);
        hl_fold_post(&r->fold, hl_shared_element(r->x, hl_coll_operand(r->x->c), r->at + at));
    }
    hl_shared_wake_all(s);
}

/* Folds my slice, cell by cell, to the user's buffer. */
static void fold_round_slice(struct fold_round *r)
{
    struct hl_shared_call *x = r->x;
    struct hl_shared *s = x->s;
    struct hl_fold *f = &r->fold;
    uint64_t last = s->op;
    int64_t end = round_slice_at(r, s->me + 1);

    for (int64_t at = round_slice_at(r, s->me); at < end; at += f->count) {
        int64_t cell = at / r->piece, skip = at % r->piece,
                all = hl_min_i64(r->piece, r->count - cell * r->piece);
        void *result = hl_shared_element(x, x->c->recv.buf, r->at + at);
        s->op = r->first + (uint64_t)cell;
        hl_fold_next(f, hl_min_i64(end - at, all - skip), result);
        hl_fold_all(f, hl_shared_element(x, hl_coll_operand(x->c), r->at + at), skip, all);
        hl_fold_deliver(f, result);
    }
    s->op = last;
    hl_shared_end(s);
}

/* Posts my slice's results, `cells` of each member: slices differ by one element at most. */
static void post_results(struct fold_round *r, int64_t cells)
{
    struct hl_shared *s = r->x->s;
    int64_t from;

    for (int64_t k = 0; k < cells; k++) {
        hl_shared_begin(s);
        r->fold.count = result_of(r, s->me, k, &from);
        hl_fold_post(&r->fold, hl_shared_element(r->x, r->x->c->recv.buf, r->at + from));
    }
    hl_shared_wake_all(s);
}

static void collect_notes(struct fold_round *r, int64_t cells)
{
    const struct hl_coll_side *out = &r->x->c->recv;
    struct hl_shared *s = r->x->s;
    uint64_t last = s->op;

    for (int64_t k = 0; k < cells; k++) {
        s->op = last - (uint64_t)(cells - 1 - k);
        for (int i = 1; i < s->n; i++) {
            int64_t from, place = hl_rank_behind(s->me, i, s->n), count = result_of(r, (int)place, k, &from);
            const struct hl_cell *cell = hl_shared_await(s, (int)place);
            if (cell != NULL && count > 0) {
                hl_shared_take(s, (int)place, cell,
                               hl_data(hl_shared_element(r->x, out->buf, r->at + from), count, out->type));
            }
        }
    }
    hl_shared_end(s);
}

void hl_shared_allreduce_rounds(struct hl_shared_call *x)
{
    const struct hl_coll_side *out = &x->c->recv;
    struct hl_shared *s = x->s;
    struct fold_round r = {.x = x, .piece = hl_shared_piece(x)};
    /* Results take as many cells at most, so nobody waits for a slot of the same round. */
    int64_t block = r.piece * (s->slots / 2);

    hl_fold_open(&r.fold, x, r.piece, out->buf, true);
    for (; r.at < out->count; r.at += r.count) {
        r.count = hl_min_i64(block, out->count - r.at);
        r.first = s->op + 1;
        int64_t most = (r.count + s->n - 1) / s->n;
        int64_t cells = (most + r.piece - 1) / r.piece;
        post_operands(&r);
        fold_round_slice(&r);
        post_results(&r, cells);
        collect_notes(&r, cells);
    }
    hl_shared_wake_all(s);
    hl_fold_close(&r.fold);
}
