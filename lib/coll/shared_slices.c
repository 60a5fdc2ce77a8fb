/* Large reductions over node-shared memory: each member reads a slice of the elements from the others'
 * memory, folds it, and writes the result into the memory of all who want it while it is in the cache.
 *
 *   op k      I am here: my operand, and the place of my result
 *   op k + 1  I have folded and written my slice, and read nothing more */
#include "shared_fold.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"

#define CHUNK ((int64_t)64 << 10) /* bytes of a slice that are read and folded at once */

struct slices {
    struct hl_shared_call *x;
    int64_t size;     /* bytes of a packed element */
    const char *mine; /* my packed operand; NULL: no memory, which is the call's error */
    char *result;     /* packed; on members that do not want it all, only my slice is there */
    void *memory;     /* memory of the result; NULL: it is the user's buffer */
    bool wants;
    bool has_result; /* false: no memory for it */
    bool direct;     /* slices are folded in the result's memory */
};

/* Stands in the data of a member's first cell: where the others write its result. */
struct place_of_result {
    uint64_t addr;
    uint64_t wants; /* 0: the member needs only what it folds itself */
};

static int64_t slice_at(const struct slices *v, int place)
{
    return hl_cut(v->x->c->recv.count, v->x->s->n, place);
}

/* Finds my operand, and packs it if necessary. v->mine NULL: no memory. */
static void find_operand(struct slices *v)
{
    const struct hl_coll_side *out = &v->x->c->recv;
    const void *buf = v->wants ? hl_coll_operand(v->x->c) : v->x->c->send.buf;

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
        v->has_result = true;
        return;
    }
    v->memory = malloc((size_t)((v->wants ? out->count : to - from) * v->size) + 1);
    if (v->memory == NULL) {
        hl_shared_fail(v->x->s, hl_err_say(HL_ERR_NO_MEM, "no memory for the result of a reduction"));
        return;
    }
    v->result = (char *)v->memory - (v->wants ? 0 : from * v->size);
    v->has_result = true;
}

/* True if my slice may be folded where its result is to be: not if my operand is there and others' come
 * first. */
static bool is_fold_there_allowed(const struct slices *v)
{
    return v->has_result && v->x->c->recv.type->dense && hl_reducer_writes_left(&v->x->reducer) &&
           (v->result != v->mine || v->x->s->me == 0);
}

/* The first cell of a place; NULL: it has no operand of my size, which is an error. */
static const struct hl_cell *await_operand(struct slices *v, int place)
{
    struct hl_shared *s = v->x->s;
    const struct hl_cell *cell = hl_shared_await(s, place);

    if (cell == NULL || cell->err != 0) {
        return NULL;
    }
    if (HL_UNLIKELY(HL_ONCE(cell->kind) != HL_CELL_ADDR || HL_ONCE(cell->len) != v->x->facts.bytes)) {
        hl_shared_fail_size(s, place, cell, v->x->facts.bytes);
        return NULL;
    }
    return cell;
}

/* Gets `bytes` at `offset` of a place's operand; NULL: it has none. */
static const void *operand_at(struct slices *v, int place, uint64_t offset, void *to, uint64_t bytes)
{
    struct hl_shared *s = v->x->s;
    const struct hl_cell *cell = await_operand(v, place);

    if (cell == NULL) {
        return NULL;
    }
    if (place == s->me) {
        return v->mine + offset;
    }
    hl_shared_read(s, place, cell->addr + offset, to, bytes);
    return to;
}

/* Writes my part of the result to the members that want it. In place it overwrites bytes that only I read. */
static void hand_out(struct slices *v, const char *result, uint64_t offset, uint64_t bytes)
{
    struct hl_shared *s = v->x->s;

    for (int k = 1; k < s->n; k++) {
        int i = hl_rank_behind(s->me, k, s->n);
        const struct hl_cell *cell = await_operand(v, i);
        struct place_of_result to;
        if (cell != NULL) {
            memcpy(&to, cell->data, sizeof to);
            hl_shared_write(s, i, to.addr + offset, result, to.wants != 0 ? bytes : 0);
        }
    }
}

/* Folds elements [at, at + f->count) of all operands in rank order. `bounce`: memory to read them into. */
static void fold_chunk(struct slices *v, struct hl_fold *f, int64_t at, char *bounce)
{
    struct hl_shared *s = v->x->s;
    char *result = v->has_result ? v->result + at * v->size : NULL;

    f->empty = true;
    f->acc = v->direct ? result : f->acc;
    for (int i = 0; i < s->n; i++) {
        void *to = v->direct && f->empty ? result : bounce;
        const void *operand = operand_at(v, i, (uint64_t)(at * v->size), to, (uint64_t)hl_fold_bytes(f));
        if (operand != NULL) {
            hl_fold_in(f, operand);
        }
    }
    if (!v->direct && v->has_result && !f->dead) {
        hl_shared_pack(s, hl_data(f->acc, f->count, f->type), result, hl_fold_bytes(f));
    }
    if (v->has_result) {
        hand_out(v, result, (uint64_t)(at * v->size), (uint64_t)hl_fold_bytes(f));
    }
}

static void fold_own_slice(struct slices *v)
{
    struct hl_shared *s = v->x->s;
    int64_t at = slice_at(v, s->me), end = slice_at(v, s->me + 1);
    int64_t most = v->size < CHUNK ? CHUNK / v->size : 1;
    struct hl_fold f;

    most = most < end - at ? most : end - at;
    if (most == 0) {
        return;
    }
    char *bounce = malloc((size_t)(most * v->size));
    v->direct = is_fold_there_allowed(v);
    hl_fold_open(&f, v->x, most, v->result, v->direct);
    if (bounce == NULL) {
        hl_shared_fail(s, hl_err_say(HL_ERR_NO_MEM, "no memory to read a slice"));
    }
    for (; bounce != NULL && at < end; at += f.count) {
        f.count = most < end - at ? most : end - at;
        fold_chunk(v, &f, at, bounce);
    }
    hl_fold_close(&f);
    free(bounce);
}

void hl_shared_allreduce_slices(struct hl_shared_call *x)
{
    const struct hl_coll_side *out = &x->c->recv;
    struct hl_shared *s = x->s;
    bool to_all = x->c->what == HL_COLL_ALLREDUCE;
    struct slices v = {
        .x = x, .size = out->type->size, .wants = to_all || s->board->places[x->c->root] == s->me};
    struct place_of_result to = {.wants = 0};

    hl_shared_begin(s);
    find_operand(&v);
    find_result(&v);
    if (v.wants && v.has_result) {
        to = (struct place_of_result){(uint64_t)(uintptr_t)v.result, 1};
    }
    memcpy(hl_shared_room(s), &to, sizeof to);
    hl_shared_post(s, HL_CELL_ADDR, x->facts.bytes, v.mine);
    hl_shared_wake_all(s);
    fold_own_slice(&v);

    hl_shared_begin(s);
    (void)hl_shared_room(s);
    hl_shared_post(s, HL_CELL_DATA, 0, NULL);
    hl_shared_wake_all(s);
    for (int k = 1; k < s->n; k++) {
        (void)hl_shared_await(s, hl_rank_behind(s->me, k, s->n));
    }
    hl_shared_end(s);
    if (v.wants && v.memory != NULL) {
        hl_shared_fail(s, hl_type_unpack(out->type, out->count, out->buf, 0, v.memory, out->count * v.size));
    }
    free(v.memory);
}
