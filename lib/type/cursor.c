/* Walks over a tree of loops with an explicit stack, run by run. */
#include <stdlib.h>

#include "err.h"
#include "fault.h"
#include "loop.h"

/* Units in a leaf that is one span for this walk, 0 for every other node. */
static int64_t flat_units(const struct hl_type_cursor *c, const struct hl_loop *l)
{
    if (l->kind == HL_LOOP_BLOCK || (l->kind == HL_LOOP_PAIR && c->walk == HL_WALK_ELEMENTS)) {
        return l->size / (int64_t)c->packed_unit;
    }
    return 0;
}

static void set_run(struct hl_type_cursor *c, char *addr, int64_t n, int64_t stride, int64_t times)
{
    if (n * (int64_t)c->unit == stride) { /* neighbours touch */
        n *= times;
        times = 1;
    }
    c->run = (struct hl_run){addr, n, stride, times};
    c->head = 0;
}

static struct hl_walk_frame *push(struct hl_type_cursor *c, const struct hl_loop *l, char *base)
{
    struct hl_walk_frame *f = &c->frames[c->depth++];

    *f = (struct hl_walk_frame){l, hl_type_at(base, l->off), 0, 0};
    return f;
}

/* Value and index of one pair in turn: i counts both. */
static void step_pair(struct hl_type_cursor *c, struct hl_walk_frame *f)
{
    enum hl_basic basic = (enum hl_basic)f->loop->basic;
    int64_t extent = (int64_t)hl_op_extent(basic), value = hl_loop_value_bytes(basic);
    char *pair = f->base + f->i / 2 * extent;

    if (f->i == 2 * f->loop->n) {
        c->depth--;
    } else if (f->i++ % 2 == 0) {
        set_run(c, pair, value, 0, 1);
    } else {
        set_run(c, pair + extent / 2, (int64_t)hl_op_size(basic) - value, 0, 1);
    }
}

static void step_vec(struct hl_type_cursor *c, struct hl_walk_frame *f)
{
    const struct hl_loop *l = f->loop, *child = l->child;
    int64_t flat = flat_units(c, child), i = f->i;

    if (i == l->n) {
        c->depth--;
    } else if (flat > 0) {
        f->i = l->n;
        set_run(c, f->base + i * l->stride + child->off, flat, l->stride + HL_FAULT(strided_stride),
                l->n - i);
    } else {
        f->i++;
        push(c, child, f->base + i * l->stride);
    }
}

static void step_idx(struct hl_type_cursor *c, struct hl_walk_frame *f)
{
    const struct hl_loop *l = f->loop, *child = l->child;
    int64_t flat = flat_units(c, child), i = f->i;

    if (i == l->n - (HL_FAULT(indexed_last) && l->n > 1)) {
        c->depth--;
        return;
    }
    char *at = f->base + l->disp[i] + f->j * l->stride;
    int64_t left = l->len[i] - f->j;
    if (flat > 0) {
        set_run(c, at + child->off, flat, l->stride, left);
        left = 1;
    } else {
        push(c, child, at);
    }
    f->j++;
    if (left == 1) {
        f->i++;
        f->j = 0;
    }
}

static void step(struct hl_type_cursor *c)
{
    struct hl_walk_frame *f = &c->frames[c->depth - 1];
    const struct hl_loop *l = f->loop;
    int64_t flat = flat_units(c, l);

    if (flat > 0) {
        c->depth--;
        set_run(c, f->base, flat, 0, 1);
    } else if (l->kind == HL_LOOP_PAIR) {
        step_pair(c, f);
    } else if (l->kind == HL_LOOP_VEC) {
        step_vec(c, f);
    } else if (l->kind == HL_LOOP_IDX) {
        step_idx(c, f);
    } else if (f->i == l->n) {
        c->depth--;
    } else {
        int64_t i = f->i++;
        push(c, l->children[i], f->base + l->disp[i]);
    }
}

bool hl_type_cursor_fill(struct hl_type_cursor *c)
{
    while (c->run.times == 0) {
        if (c->depth > 0) {
            step(c);
            continue;
        }
        if (c->count == 0) {
            return false;
        }
        int64_t flat = flat_units(c, c->root);
        if (flat > 0) {
            set_run(c, hl_type_at(c->next, c->root->off), flat, c->extent, c->count);
            c->count = 0;
        } else {
            push(c, c->root, c->next);
            c->next = hl_type_at(c->next, c->extent);
            c->count--;
        }
    }
    return true;
}

/* Moves the top frame to packed byte `at` of its loop; returns the byte within the child to go on with. */
static int64_t seek_frame(struct hl_walk_frame *f, int64_t at)
{
    const struct hl_loop *l = f->loop;

    if (l->kind == HL_LOOP_VEC) {
        f->i = at / l->child->size;
        return at % l->child->size;
    }
    f->i = hl_loop_row(l, at);
    at -= l->before[f->i];
    if (l->kind == HL_LOOP_IDX) {
        f->j = at / l->child->size;
        return at % l->child->size;
    }
    return at;
}

/* Enters the child the top frame stands at, and moves the frame behind it. */
static void enter_child(struct hl_type_cursor *c, struct hl_walk_frame *f)
{
    const struct hl_loop *l = f->loop;

    if (l->kind == HL_LOOP_VEC) {
        push(c, l->child, f->base + f->i++ * l->stride);
    } else if (l->kind == HL_LOOP_STRUCT) {
        int64_t i = f->i++;
        push(c, l->children[i], f->base + l->disp[i]);
    } else {
        char *at = f->base + l->disp[f->i] + f->j++ * l->stride;
        if (f->j == l->len[f->i]) {
            f->i++;
            f->j = 0;
        }
        push(c, l->child, at);
    }
}

static void seek(struct hl_type_cursor *c, int64_t at)
{
    c->next += at / c->root->size * c->extent;
    c->count -= at / c->root->size;
    at %= c->root->size;
    if (at == 0) {
        return;
    }
    push(c, c->root, c->next);
    c->next += c->extent;
    c->count--;
    while (at > 0) {
        struct hl_walk_frame *f = &c->frames[c->depth - 1];
        if (flat_units(c, f->loop) > 0) {
            hl_type_cursor_fill(c);
            c->head = at / (int64_t)c->packed_unit;
            return;
        }
        if (f->loop->kind == HL_LOOP_PAIR) {
            int64_t size = (int64_t)hl_op_size((enum hl_basic)f->loop->basic);
            int64_t value = hl_loop_value_bytes((enum hl_basic)f->loop->basic);
            f->i = 2 * (at / size) + (at % size >= value);
            hl_type_cursor_fill(c);
            c->head = at % size >= value ? at % size - value : at % size;
            return;
        }
        at = seek_frame(f, at);
        if (at > 0) {
            enter_child(c, f);
        }
    }
}

int hl_type_cursor_init(struct hl_type_cursor *c, enum hl_walk walk, const struct hl_type *t, int64_t count,
                        const void *buf, int64_t offset)
{
    c->run.times = 0;
    c->head = 0;
    c->walk = walk;
    c->root = t->fast;
    c->count = t->size > 0 ? count : 0;
    c->extent = HL_FAULT(resized_extent) ? t->true_ub - t->true_lb : hl_type_extent(t);
    c->next = (char *)(uintptr_t)buf;
    bool elements = walk == HL_WALK_ELEMENTS && t->basic != HL_BASIC_MIXED;
    c->unit = elements ? hl_op_extent((enum hl_basic)t->basic) : 1;
    c->packed_unit = elements ? hl_op_size((enum hl_basic)t->basic) : 1;
    c->depth = 0;
    c->frames = c->local;
    if (c->root->depth >= HL_WALK_DEPTH) {
        c->frames = malloc((c->root->depth + 1) * sizeof *c->frames);
        if (c->frames == NULL) {
            return HL_ERR_NO_MEM;
        }
    }
    if (offset > 0 && c->count > 0) {
        seek(c, offset);
    }
    return 0;
}

void hl_type_cursor_fini(struct hl_type_cursor *c)
{
    if (c->frames != c->local) {
        free(c->frames);
    }
}

/* Consumes `n` units of the run's first span. */
static char *take(struct hl_type_cursor *c, int64_t n)
{
    char *addr = c->run.addr + c->head * (int64_t)c->unit;

    c->head += n;
    if (c->head == c->run.n) {
        c->head = 0;
        c->run.addr += c->run.stride;
        c->run.times--;
    }
    return addr;
}

int64_t hl_type_cursor_next(struct hl_type_cursor *c, int64_t max, char **addr)
{
    if (max <= 0 || !hl_type_cursor_fill(c)) {
        return 0;
    }
    int64_t n = c->run.n - c->head < max ? c->run.n - c->head : max;
    *addr = take(c, n);
    return n;
}

bool hl_type_cursor_run(struct hl_type_cursor *c, struct hl_run *run)
{
    if (!hl_type_cursor_fill(c)) {
        return false;
    }
    if (c->head > 0) {
        run->n = c->run.n - c->head;
        run->addr = take(c, run->n);
        run->stride = 0;
        run->times = 1;
        return true;
    }
    *run = c->run;
    c->run.times = 0;
    return true;
}

int64_t hl_type_cursor_zip(struct hl_type_cursor *a, struct hl_type_cursor *b, int64_t max, char **at_a,
                           char **at_b)
{
    if (max <= 0 || !hl_type_cursor_fill(a) || !hl_type_cursor_fill(b)) {
        return 0;
    }
    int64_t n = a->run.n - a->head < max ? a->run.n - a->head : max;
    n = b->run.n - b->head < n ? b->run.n - b->head : n;
    *at_a = take(a, n);
    *at_b = take(b, n);
    return n;
}
