/* Gather, scatter and allgather of equal blocks over node-shared memory, a piece in each cell. That makes two
 * copies, which overlap; readers far from the writer's cache get more bytes this way than from its memory
 * (copy.h). */
#include "shared.h"

#include "err.h"

#define AHEAD 3 /* pieces that are posted before their turn */

/* Number of pieces of the largest block, which has facts.bytes. */
static int64_t pieces_of(const struct hl_shared_call *x)
{
    return ((int64_t)x->facts.bytes + HL_SHARED_DATA - 1) / HL_SHARED_DATA;
}

/* Posts piece `k` of a block as my cell of this operation, with the bytes of the whole block in place of an
 * address; it is empty if the block ends before. */
static void post_piece(struct hl_shared *s, struct hl_data block, int64_t k)
{
    int64_t bytes = block.count * block.type->size, n = bytes - k * HL_SHARED_DATA;
    void *room = hl_shared_room(s);

    n = n < 0 ? 0 : n < HL_SHARED_DATA ? n : HL_SHARED_DATA;
    if (n > 0) {
        hl_shared_fill(s, block, k * HL_SHARED_DATA, room, n);
    }
    hl_shared_post(s, HL_CELL_PIECE, (uint64_t)n, (const void *)(uintptr_t)bytes);
}

/* Takes piece `k`. After an error it takes nothing: a member that sends a block of another size may post
 * fewer cells. */
static void take_piece(struct hl_shared *s, int place, struct hl_data block, int64_t k)
{
    const struct hl_cell *cell = s->err == 0 ? hl_shared_await(s, place) : NULL;
    int64_t room = block.count * block.type->size;

    if (cell != NULL && (cell->kind != HL_CELL_PIECE || (int64_t)cell->addr != room)) {
        hl_shared_fail_size(s, place, cell, (uint64_t)room);
    } else if (cell != NULL) {
        hl_shared_take_piece(s, cell, block, k * HL_SHARED_DATA);
    }
}

static void copy_own_side(struct hl_shared *s, struct hl_data to, const struct hl_coll_side *from)
{
    hl_shared_fail(s, hl_data_copy(to, hl_data_side(from)));
}

void hl_shared_allgather_pieces(struct hl_shared_call *x)
{
    const struct hl_coll_call *c = x->c;
    struct hl_shared *s = x->s;
    bool in_place = hl_coll_in_place(&c->send);
    struct hl_data to = hl_coll_block(&c->recv, c->comm->rank);
    struct hl_data mine = in_place ? to : hl_data(c->send.buf, c->send.count, c->send.type);
    int64_t pieces = pieces_of(x), posted = 0;
    uint64_t before = s->op;

    for (int64_t k = 0; k < pieces; k++) {
        for (; posted < pieces && posted <= k + AHEAD; posted++) {
            s->op = before + (uint64_t)posted + 1;
            post_piece(s, mine, posted);
        }
        s->op = before + (uint64_t)k + 1;
        hl_shared_wake_all(s);
        for (int i = 1; i < s->n; i++) {
            int from = hl_rank_behind(s->me, i, s->n);
            take_piece(s, from, hl_coll_block(&c->recv, s->board->ranks[from]), k);
        }
        hl_shared_end(s);
    }
    hl_shared_wake_all(s);
    if (!in_place) {
        copy_own_side(s, to, &c->send);
    }
}

void hl_shared_gather_pieces(struct hl_shared_call *x)
{
    const struct hl_coll_call *c = x->c;
    struct hl_shared *s = x->s;
    int root = s->board->places[c->root];
    int64_t pieces = pieces_of(x);

    for (int64_t k = 0; k < pieces; k++) {
        hl_shared_begin(s);
        if (s->me != root) {
            post_piece(s, hl_data(c->send.buf, c->send.count, c->send.type), k);
            hl_shared_end(s);
            hl_shared_wake(s, root);
            continue;
        }
        for (int i = 1; i < s->n; i++) {
            int from = hl_rank_behind(root, i, s->n);
            take_piece(s, from, hl_coll_block(&c->recv, s->board->ranks[from]), k);
        }
        hl_shared_end(s);
        hl_shared_wake_all(s);
    }
    if (s->me == root && !hl_coll_in_place(&c->send)) {
        copy_own_side(s, hl_coll_block(&c->recv, c->root), &c->send);
    }
}

/* The root posts a piece for each of the others in turn. */
static void stream_from_root(struct hl_shared_call *x, int64_t pieces)
{
    struct hl_shared *s = x->s;

    for (int64_t k = 0; k < pieces; k++) {
        for (int i = 1; i < s->n; i++) {
            int to = hl_rank_behind(s->me, i, s->n);
            hl_shared_begin(s);
            post_piece(s, hl_coll_block(&x->c->send, s->board->ranks[to]), k);
            hl_shared_end(s);
            hl_shared_wake(s, to);
        }
    }
}

/* Takes my pieces from the root. I end the operations with others' cells before I look for my own. */
static void stream_to_me(struct hl_shared_call *x, int64_t pieces, int root)
{
    struct hl_shared *s = x->s;
    uint64_t others = (uint64_t)s->n - 1, turn = (uint64_t)(s->me - root + s->n - 1) % (uint64_t)s->n;
    uint64_t before = s->op;

    for (int64_t k = 0; k < pieces; k++) {
        s->op = before + (uint64_t)k * others + turn;
        hl_shared_end(s);
        hl_shared_wake(s, root);
        hl_shared_begin(s);
        take_piece(s, root, hl_data(x->c->recv.buf, x->c->recv.count, x->c->recv.type), k);
    }
    s->op = before + (uint64_t)pieces * others;
    hl_shared_end(s);
    hl_shared_wake(s, root);
}

void hl_shared_scatter_pieces(struct hl_shared_call *x)
{
    const struct hl_coll_call *c = x->c;
    struct hl_shared *s = x->s;
    int root = s->board->places[c->root];

    if (s->me != root) {
        stream_to_me(x, pieces_of(x), root);
        return;
    }
    stream_from_root(x, pieces_of(x));
    if (!hl_coll_in_place(&c->recv)) {
        struct hl_data mine = hl_coll_block(&c->send, c->root);
        hl_shared_fail(s, hl_data_copy(hl_data_side(&c->recv), mine));
    }
}
