/* Folding operands that members post in their cells. */
#include "shared_fold.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "util.h"

void hl_fold_open(struct hl_fold *f, struct hl_shared_call *x, int64_t count, void *to, bool may_there)
{
    struct hl_type *t = x->c->recv.type;
    int64_t low;
    size_t span = hl_round_up((size_t)hl_type_reach(t, count, &low), 64);

    *f = (struct hl_fold){.s = x->s, .r = &x->reducer, .type = t, .count = count, .empty = true, .acc = to};
    f->plain = t->dense && hl_reducer_writes_left(&x->reducer);
    f->there = f->plain && may_there;
    if (f->there) {
        return;
    }
    f->memory = aligned_alloc(64, 2 * span);
    if (f->memory == NULL) {
        hl_shared_fail(x->s, hl_err_say(HL_ERR_NO_MEM, "no memory to reduce %zu bytes", span));
        f->dead = true;
        return;
    }
    f->acc = hl_type_at(f->memory, -low);
    f->tmp = hl_type_at(f->acc, (int64_t)span);
}

void hl_fold_close(struct hl_fold *f)
{
    free(f->memory);
}

void hl_fold_next(struct hl_fold *f, int64_t count, void *to)
{
    f->count = count;
    f->empty = true;
    f->acc = f->there ? to : f->acc;
}

void hl_fold_in(struct hl_fold *f, const void *packed)
{
    if (f->dead) {
        return;
    }
    if (f->plain && f->empty) {
        if (f->acc != packed) {
            memcpy(f->acc, packed, (size_t)hl_fold_bytes(f));
        }
    } else if (f->plain) {
        hl_reducer_apply(f->r, f->acc, (void *)(uintptr_t)packed, f->count);
    } else {
        hl_shared_fail(
            f->s, hl_type_unpack(f->type, f->count, f->empty ? f->acc : f->tmp, 0, packed, hl_fold_bytes(f)));
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

void hl_fold_cell(struct hl_fold *f, int place, int64_t skip, int64_t all)
{
    const struct hl_cell *cell = hl_shared_await(f->s, place);
    int64_t size = f->type->size, bytes = all * size;

    if (cell != NULL && (int64_t)cell->len == bytes) {
        hl_fold_in(f, cell->data + skip * size);
    } else if (cell != NULL) {
        hl_shared_fail_size(f->s, place, cell, (uint64_t)bytes);
    }
}

/* Prefetches the others' operands that are there, so that they come while the first are folded. */
static void fetch_all(const struct hl_fold *f, int64_t skip)
{
    const struct hl_shared *s = f->s;

    for (int i = 0; i < s->n; i++) {
        const struct hl_cell *cell = i != s->me ? hl_shared_seen(s, i) : NULL;
        if (cell != NULL) {
            hl_copy_fetch(cell->data + skip * f->type->size, (size_t)hl_fold_bytes(f));
        }
    }
}

void hl_fold_all(struct hl_fold *f, const void *mine, int64_t skip, int64_t all)
{
    struct hl_shared *s = f->s;

    if (hl_fold_bytes(f) >= HL_COPY_LEAST) {
        fetch_all(f, skip);
    }

    if (!f->plain || (mine == f->acc && s->me > 0)) {
        hl_shared_pack(s, hl_data(mine, f->count, f->type), s->operand, hl_fold_bytes(f));
        mine = s->operand;
    }
    for (int i = 0; i < s->n; i++) {
        if (i == s->me) {
            hl_fold_in(f, mine);
        } else {
            hl_fold_cell(f, i, skip, all);
        }
    }
}

void hl_fold_post(struct hl_fold *f, const void *elements)
{
    void *room = hl_shared_room(f->s);
    int64_t bytes = f->dead ? 0 : hl_fold_bytes(f);

    if (bytes > 0) {
        hl_shared_fill(f->s, hl_data(elements, f->count, f->type), 0, room, bytes);
    }
    hl_shared_post(f->s, HL_CELL_DATA, (uint64_t)bytes, NULL);
}

void hl_fold_deliver(struct hl_fold *f, void *to)
{
    if (!f->there && !f->dead) {
        hl_shared_fail(f->s, hl_type_copy(f->type, f->count, to, f->type, f->count, f->acc));
    }
}
