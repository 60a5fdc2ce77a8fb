/* Reductions over node-shared memory. Members stand in rank order, each value is made by folding operands in
 * that order, the lower one on the left: operations need not commute on one node, and who folds the same
 * operands gets the same bits. */
#include "shared.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "util.h"

#define CHUNK ((int64_t)64 << 10) /* bytes of a slice that are read and folded at once */

/* What is folded so far, of `count` elements at `acc`. */
struct fold {
    struct hl_shared *s;
    const struct hl_reducer *r;
    struct hl_type *type;
    int64_t count;
    bool plain;      /* packed elements are elements in memory, and the result goes to the left operand */
    bool empty;      /* nothing so far */
    void *acc, *tmp; /* addresses to use with the type; tmp: not for plain folds */
    void *memory;    /* they lie in it; NULL: the caller's */
};

static const void *operand_of(const struct hl_coll_call *c)
{
    return hl_coll_in_place(&c->send) ? c->recv.buf : c->send.buf;
}

/* Room for two times `count` elements; a plain fold uses `acc` if there is one. */
static void open_fold(struct fold *f, struct hl_shared_call *x, int64_t count, void *acc)
{
    struct hl_type *t = x->c->recv.type;
    int64_t last = (count - 1) * hl_type_extent(t);
    int64_t low = t->true_lb + (last < 0 ? last : 0), high = t->true_ub + (last > 0 ? last : 0);
    size_t span = hl_round_up((size_t)(high - low), 64);

    *f = (struct fold){.s = x->s, .r = &x->reducer, .type = t, .count = count, .empty = true, .acc = acc};
    f->plain = t->dense && hl_reducer_writes_left(&x->reducer);
    if (f->plain && acc != NULL) {
        return;
    }
    f->memory = aligned_alloc(64, 2 * span);
    if (f->memory == NULL) {
        hl_shared_fail(x->s, hl_err_say(HL_ERR_NO_MEM, "no memory to reduce %zu bytes", span));
        return;
    }
    f->acc = (char *)f->memory - low;
    f->tmp = (char *)f->acc + span;
}

static void close_fold(struct fold *f)
{
    free(f->memory);
}

static int64_t packed_bytes(const struct fold *f)
{
    return f->count * f->type->size;
}

/* acc = acc op *packed. */
static void fold_in(struct fold *f, const void *packed)
{
    if (f->acc == NULL) {
        return; /* no memory: the call has failed */
    }
    if (f->plain && f->empty) {
        if (f->acc != packed) {
            memcpy(f->acc, packed, (size_t)packed_bytes(f));
        }
    } else if (f->plain) {
        hl_reducer_apply(f->r, f->acc, (void *)(uintptr_t)packed, f->count);
    } else {
        hl_shared_fail(
            f->s, hl_type_unpack(f->type, f->count, f->empty ? f->acc : f->tmp, 0, packed, packed_bytes(f)));
    }
    if (!f->plain && !f->empty) {
        hl_reducer_apply(f->r, f->acc, f->tmp, f->count);
        if (!hl_reducer_writes_left(f->r)) {
            void *result = f->tmp;
            f->tmp = f->acc;
            f->acc = result;
        }
    }
    f->empty = false;
}

/* Folds in what a place has posted in this operation. */
static void fold_note(struct fold *f, int place)
{
    const struct hl_note *note = hl_shared_await(f->s, place);

    if (note != NULL && (int64_t)note->len == packed_bytes(f)) {
        fold_in(f, note->data);
    } else if (note != NULL) {
        hl_shared_fail(f->s, hl_err_say(HL_ERR_TRUNCATE, "an operand of %llu bytes came for %lld",
                                        (unsigned long long)note->len, (long long)packed_bytes(f)));
    }
}

/* `count` elements packed into my note, which is not posted. */
static void *pack_elements(struct fold *f, const void *elements)
{
    void *room = hl_shared_room(f->s);

    if (elements != NULL) {
        hl_shared_fill(f->s, hl_data(elements, f->count, f->type), 0, room, packed_bytes(f));
    }
    return room;
}

static void post_elements(struct fold *f, const void *elements)
{
    (void)pack_elements(f, elements);
    hl_shared_post(f->s, HL_NOTE_DATA, (uint64_t)packed_bytes(f), NULL);
}

/* The result, from the fold to the user. */
static void deliver(struct fold *f, void *to)
{
    if (f->acc != to && f->acc != NULL) {
        hl_shared_fail(f->s, hl_type_copy(f->type, f->count, to, f->type, f->count, f->acc));
    }
}

/* Folds up a tree whose nodes are runs of members; true on the first one, who has it all. */
static bool fold_up(struct fold *f, const void *operand)
{
    struct hl_shared *s = f->s;

    if (f->acc != NULL && f->acc != operand) {
        hl_shared_fail(s, hl_type_copy(f->type, f->count, f->acc, f->type, f->count, operand));
    }
    f->empty = false;
    for (int step = 1; step < s->n; step *= HL_SHARED_WIDTH) {
        int parent = s->me - s->me % (step * HL_SHARED_WIDTH);
        if (parent != s->me) {
            post_elements(f, f->acc);
            hl_shared_wake(s, parent);
            return false;
        }
        for (int k = 1; k < HL_SHARED_WIDTH && s->me + k * step < s->n; k++) {
            fold_note(f, s->me + k * step);
        }
    }
    return true;
}

/* The first members of all nodes reduce theirs, to that of `node` or to all. */
static void fold_across(struct fold *f, const struct hl_shared_call *x, int node)
{
    struct hl_coll_call across = {
        .what = x->c->what,
        .op = x->c->op,
        .root = node,
        .send.buf = x->c->what == HL_COLL_ALLREDUCE || node == x->s->leads.rank ? MPI_IN_PLACE : f->acc,
        .recv = {.buf = f->acc, .count = f->count, .type = f->type}};

    if (x->s->board->nodes > 1 && f->acc != NULL) {
        hl_shared_leads_run(x->s, &across);
    }
}

static bool is_flat(const struct hl_shared *s)
{
    return s->n <= HL_SHARED_WIDTH && s->board->nodes == 1;
}

/* Elements of a piece that fits a note; all of a tree's call do. */
static int64_t piece_of(const struct hl_shared_call *x)
{
    int64_t most = HL_SHARED_DATA / x->c->recv.type->size, count = x->c->recv.count;

    return most < count ? most : count;
}

/* The piece that begins `at` elements from here. */
static void *at_element(const void *buf, const struct fold *f, int64_t at)
{
    return (char *)(uintptr_t)buf + at * hl_type_extent(f->type);
}

/* Everybody folds all operands, a piece at a time. */
static void allreduce_flat(struct hl_shared_call *x)
{
    const struct hl_coll_side *out = &x->c->recv;
    struct hl_shared *s = x->s;
    int64_t piece = piece_of(x);
    struct fold f;

    open_fold(&f, x, piece, out->buf);
    for (int64_t at = 0; at < out->count; at += piece) {
        void *result = at_element(out->buf, &f, at);
        hl_shared_begin(s);
        f.count = out->count - at < piece ? out->count - at : piece;
        f.empty = true;
        f.acc = f.memory == NULL ? result : f.acc;
        post_elements(&f, at_element(operand_of(x->c), &f, at));
        hl_shared_wake_all(s);
        for (int i = 0; i < s->n; i++) {
            fold_note(&f, i);
        }
        deliver(&f, result);
        hl_shared_end(s);
    }
    close_fold(&f);
}

static void allreduce_tree(struct hl_shared_call *x)
{
    const struct hl_coll_side *out = &x->c->recv;
    struct hl_shared *s = x->s;
    struct fold f;

    hl_shared_begin(s);
    open_fold(&f, x, out->count, out->buf);
    if (fold_up(&f, operand_of(x->c))) {
        fold_across(&f, x, 0);
        post_elements(&f, f.acc);
        hl_shared_wake_all(s);
        deliver(&f, out->buf);
    } else {
        const struct hl_note *note = hl_shared_await(s, 0);
        if (note != NULL) {
            hl_shared_take(s, 0, note, hl_data(out->buf, out->count, out->type));
        }
    }
    hl_shared_end(s);
    close_fold(&f);
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

/* One piece of all operands to `result`. Mine goes by way of my note, which nobody else reads, where it is
 * not packed or stands where others' are folded first. */
static void gather_piece(struct fold *f, const void *mine, void *result)
{
    struct hl_shared *s = f->s;

    f->empty = true;
    f->acc = f->memory == NULL ? result : f->acc;
    if (!f->plain || (mine == f->acc && s->me > 0)) {
        mine = pack_elements(f, mine);
    }
    for (int i = 0; i < s->n; i++) {
        if (i == s->me) {
            fold_in(f, mine);
        } else {
            fold_note(f, i);
        }
    }
    deliver(f, result);
}

/* The others post their pieces, as far ahead as there are notes. */
static void reduce_flat(struct hl_shared_call *x, int root)
{
    const struct hl_coll_side *out = &x->c->recv;
    struct hl_shared *s = x->s;
    int64_t piece = piece_of(x);
    struct fold f = {.s = s, .type = out->type};

    if (s->me == root) {
        open_fold(&f, x, piece, out->buf);
    }
    for (int64_t at = 0; at < out->count; at += piece) {
        hl_shared_begin(s);
        f.count = out->count - at < piece ? out->count - at : piece;
        if (s->me != root) {
            post_elements(&f, at_element(x->c->send.buf, &f, at));
            hl_shared_end(s);
            hl_shared_wake(s, root);
        } else {
            gather_piece(&f, at_element(operand_of(x->c), &f, at), at_element(out->buf, &f, at));
            hl_shared_end(s);
            hl_shared_wake_all(s);
        }
    }
    close_fold(&f);
}

/* The first member of the root's node hands the result to the root. */
static void reduce_tree(struct hl_shared_call *x, int root)
{
    const struct hl_coll_call *c = x->c;
    const struct hl_coll_side *out = &c->recv;
    struct hl_shared *s = x->s;
    bool mine = c->comm->rank == c->root;
    int node = s->board->nodes_of[c->root];
    _Alignas(64) char spare[HL_SHARED_DATA];
    struct fold f;

    hl_shared_begin(s);
    open_fold(&f, x, out->count, mine ? out->buf : spare);
    if (fold_up(&f, mine ? operand_of(c) : c->send.buf)) {
        fold_across(&f, x, node);
        if (mine) {
            deliver(&f, out->buf);
        } else if (node == s->board->my_node) {
            post_elements(&f, f.acc);
            hl_shared_wake(s, root);
        }
    } else if (mine) {
        const struct hl_note *note = hl_shared_await(s, 0);
        if (note != NULL) {
            hl_shared_take(s, 0, note, hl_data(out->buf, out->count, out->type));
        }
    }
    hl_shared_end(s);
    if (mine) {
        hl_shared_wake_all(s);
    }
    close_fold(&f);
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

/* ---- Large: each member folds a slice of the elements, and the others read it ---- */

struct slices {
    struct hl_shared_call *x;
    int64_t size;     /* bytes of a packed element */
    const char *mine; /* my packed operand */
    char *result;     /* packed; of who does not want it all, only my slice is there */
    void *memory;     /* of the result; NULL: the user's */
    bool wants;
    bool direct; /* the result's memory is folded into */
};

static int64_t slice_at(const struct slices *v, int place)
{
    return hl_cut(v->x->c->recv.count, v->x->s->n, place);
}

/* Packed, if it is not so already; NULL: no memory. */
static void find_operand(struct slices *v)
{
    const struct hl_coll_side *out = &v->x->c->recv;
    const void *buf = v->wants ? operand_of(v->x->c) : v->x->c->send.buf;

    v->mine = buf;
    if (!out->type->dense) {
        char *packed = hl_shared_temp(v->x->s, v->x->facts.bytes);
        if (packed != NULL) {
            hl_shared_pack(v->x->s, hl_data(buf, out->count, out->type), packed, out->count * v->size);
        }
        v->mine = packed;
    }
}

static void find_result(struct slices *v)
{
    const struct hl_coll_side *out = &v->x->c->recv;
    int64_t from = slice_at(v, v->x->s->me), to = slice_at(v, v->x->s->me + 1);

    if (v->wants && out->type->dense) {
        v->result = out->buf;
        return;
    }
    v->memory = malloc((size_t)((v->wants ? out->count : to - from) * v->size) + 1);
    if (v->memory == NULL) {
        hl_shared_fail(v->x->s, hl_err_say(HL_ERR_NO_MEM, "no memory for the result of a reduction"));
        return;
    }
    v->result = (char *)v->memory - (v->wants ? 0 : from * v->size);
}

/* May my slice be folded where its result is to be? Not if my operand stands there and others come first. */
static bool may_fold_there(const struct slices *v)
{
    return v->result != NULL && v->x->c->recv.type->dense && hl_reducer_writes_left(&v->x->reducer) &&
           (v->result != v->mine || v->x->s->me == 0);
}

/* A place's `bytes` from `offset` of its operand; NULL: it has none. */
static const void *operand_at(struct slices *v, int place, uint64_t offset, void *to, uint64_t bytes)
{
    struct hl_shared *s = v->x->s;
    const struct hl_note *note = hl_shared_await(s, place);

    if (note == NULL || note->err != 0) {
        return NULL;
    }
    if (place == s->me) {
        return v->mine + offset;
    }
    hl_shared_read(s, place, note->addr + offset, to, bytes);
    return to;
}

/* Elements [at, at + f->count) of all operands in rank order. `bounce`: room to read them into. */
static void fold_chunk(struct slices *v, struct fold *f, int64_t at, char *bounce)
{
    struct hl_shared *s = v->x->s;
    char *result = v->result != NULL ? v->result + at * v->size : NULL;

    f->empty = true;
    f->acc = v->direct ? result : f->acc;
    for (int i = 0; i < s->n; i++) {
        void *to = v->direct && f->empty ? result : bounce;
        const void *operand = operand_at(v, i, (uint64_t)(at * v->size), to, (uint64_t)packed_bytes(f));
        if (operand != NULL) {
            fold_in(f, operand);
        }
    }
    if (!v->direct && result != NULL && f->acc != NULL) {
        hl_shared_pack(s, hl_data(f->acc, f->count, f->type), result, packed_bytes(f));
    }
}

static void fold_slice(struct slices *v)
{
    struct hl_shared *s = v->x->s;
    int64_t at = slice_at(v, s->me), end = slice_at(v, s->me + 1);
    int64_t most = v->size < CHUNK ? CHUNK / v->size : 1;
    struct fold f;

    most = most < end - at ? most : end - at;
    if (most == 0) {
        return;
    }
    char *bounce = malloc((size_t)(most * v->size));
    v->direct = may_fold_there(v);
    open_fold(&f, v->x, most, v->direct ? v->result : NULL);
    if (bounce == NULL) {
        hl_shared_fail(s, hl_err_say(HL_ERR_NO_MEM, "no memory to read a slice"));
    }
    for (; bounce != NULL && at < end; at += f.count) {
        f.count = most < end - at ? most : end - at;
        fold_chunk(v, &f, at, bounce);
    }
    close_fold(&f);
    free(bounce);
}

/* Slices of the others, from where their notes say. */
static void collect(struct slices *v)
{
    struct hl_shared *s = v->x->s;

    for (int k = 1; k < s->n; k++) {
        int i = hl_ring(s->me, k, s->n);
        const struct hl_note *note = hl_shared_await(s, i);
        int64_t from = slice_at(v, i) * v->size, to = slice_at(v, i + 1) * v->size;
        if (note != NULL && note->err == 0 && v->result != NULL) {
            hl_shared_read(s, i, note->addr + (uint64_t)from, v->result + from, (uint64_t)(to - from));
        }
    }
}

void hl_shared_allreduce_slices(struct hl_shared_call *x)
{
    const struct hl_coll_side *out = &x->c->recv;
    struct hl_shared *s = x->s;
    bool to_all = x->c->what == HL_COLL_ALLREDUCE;
    int root = to_all ? s->me : s->board->places[x->c->root];
    struct slices v = {.x = x, .size = out->type->size, .wants = root == s->me};

    hl_shared_begin(s);
    find_operand(&v);
    find_result(&v);
    (void)hl_shared_room(s);
    hl_shared_post(s, HL_NOTE_ADDR, x->facts.bytes, v.mine);
    hl_shared_wake_all(s);
    fold_slice(&v);

    hl_shared_begin(s);
    (void)hl_shared_room(s);
    hl_shared_post(s, HL_NOTE_ADDR, x->facts.bytes, v.result);
    hl_shared_wake_all(s);
    if (v.wants) {
        collect(&v);
    }
    hl_shared_end(s);
    hl_shared_wake_all(s);
    if (to_all) {
        hl_shared_await_all(s);
    } else {
        hl_shared_await_end(s, root); /* who has heard of all, who have read my operand */
    }
    if (v.wants && v.memory != NULL) {
        hl_shared_fail(s, hl_type_unpack(out->type, out->count, out->buf, 0, v.memory, out->count * v.size));
    }
    free(v.memory);
}
