/* Walks over a tree of loops with an explicit stack, run by run. */
#include <stdlib.h>

#include "err.h"
#include "loop.h"

/* Units of a leaf that is one span in this walk; 0 for every other node. */
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
    c->run = (struct hl_run){addr, n, stride, times, NULL, NULL};
    c->head = 0;
}

/* True for a VEC of leaves that are one span each. */
static bool is_flat_vec(const struct hl_type_cursor *c, const struct hl_loop *l)
{
    return l->kind == HL_LOOP_VEC && flat_units(c, l->child) > 0;
}

/* Makes a VEC of leaves the current run, from leaf i on. */
static void set_vec(struct hl_type_cursor *c, const struct hl_loop *l, char *base, int64_t i)
{
    set_run(c, hl_type_at(base, i * l->stride + l->child->off), flat_units(c, l->child), l->stride, l->n - i);
}

/* Makes `rows` repetitions of such a VEC the next runs: after the first, the others need no step. */
static void set_rows(struct hl_type_cursor *c, const struct hl_loop *l, char *base, int64_t stride,
                     int64_t rows)
{
    set_vec(c, l, hl_type_at(base, l->off), 0);
    c->row = c->run;
    c->rows = rows - 1;
    c->row_stride = stride;
}

static struct hl_walk_frame *push_frame(struct hl_type_cursor *c, const struct hl_loop *l, char *base)
{
    struct hl_walk_frame *f = &c->frames[c->depth++];

    *f = (struct hl_walk_frame){l, hl_type_at(base, l->off), 0, 0};
    return f;
}

/* Takes value and index of each pair in turn: i counts both. */
static void step_pair(struct hl_type_cursor *c, struct hl_walk_frame *f)
{
    enum hl_basic basic = (enum hl_basic)f->loop->basic;
    int64_t extent = (int64_t)hl_op_extent(basic), value = hl_loop_value_bytes(basic);
    char *pair = hl_type_at(f->base, f->i / 2 * extent);

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
    int64_t i = f->i;

    if (i == l->n) {
        c->depth--;
    } else if (is_flat_vec(c, l)) {
        f->i = l->n;
        set_vec(c, l, f->base, i);
    } else if (is_flat_vec(c, child)) {
        f->i = l->n;
        set_rows(c, child, hl_type_at(f->base, i * l->stride), l->stride, l->n - i);
    } else {
        f->i++;
        push_frame(c, child, hl_type_at(f->base, i * l->stride));
    }
}

/* rows that are looked at in one step: a caller that wants few of them shall not pay for all */
#define ROWS 256

/* Number of rows from i on, below `end`, that are as long as row i. */
static int64_t equal_rows(const struct hl_loop *l, int64_t i, int64_t end)
{
    const int64_t *len = &l->len[i];
    int64_t most = end - i < ROWS ? end - i : ROWS, n = 1;

    if (l->even) {
        return end - i;
    }
    while (n < most && len[n] == len[0]) {
        n++;
    }
    return n;
}

/* Makes rows that are one block each the current run: returns how many. */
static int64_t set_blocks(struct hl_type_cursor *c, const struct hl_loop *l, char *base, int64_t i,
                          int64_t end)
{
    int64_t flat = flat_units(c, l->child), rows = equal_rows(l, i, end);

    c->run = (struct hl_run){hl_type_at(base, l->child->off), l->len[i] * flat, 0, rows, &l->disp[i], NULL};
    if (rows < 8 && rows < end - i) {
        c->run.times = end - i < ROWS ? end - i : ROWS;
        c->run.lens = &l->len[i];
        c->run.n = flat;
    }
    c->head = 0;
    return c->run.times;
}

static void step_idx(struct hl_type_cursor *c, struct hl_walk_frame *f)
{
    const struct hl_loop *l = f->loop, *child = l->child;
    int64_t flat = flat_units(c, child), i = f->i, end = l->n;

    if (i == end) {
        c->depth--;
        return;
    }
    if (flat * (int64_t)c->unit == l->stride && f->j == 0) { /* each row is one block */
        f->i += set_blocks(c, l, f->base, i, end);
        return;
    }
    char *at = hl_type_at(f->base, l->disp[i] + f->j * l->stride);
    int64_t left = l->len[i] - f->j;
    if (flat > 0) {
        set_run(c, hl_type_at(at, child->off), flat, l->stride, left);
        left = 1;
    } else {
        push_frame(c, child, at);
    }
    f->j++;
    if (left == 1) {
        f->i++;
        f->j = 0;
    }
}

static void step_cursor(struct hl_type_cursor *c)
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
        push_frame(c, l->children[i], hl_type_at(f->base, l->disp[i]));
    }
}

static bool walk_on(struct hl_type_cursor *c)
{
    while (c->run.times == 0) {
        if (c->depth > 0) {
            step_cursor(c);
            continue;
        }
        if (c->count == 0) {
            return false;
        }
        int64_t flat = flat_units(c, c->root);
        if (flat > 0) {
            set_run(c, hl_type_at(c->next, c->root->off), flat, c->extent, c->count);
            c->count = 0;
        } else if (is_flat_vec(c, c->root)) {
            set_rows(c, c->root, c->next, c->extent, c->count);
            c->count = 0;
        } else {
            push_frame(c, c->root, c->next);
            c->next = hl_type_at(c->next, c->extent);
            c->count--;
        }
    }
    return true;
}

bool hl_type_cursor_fetch(struct hl_type_cursor *c)
{
    if (c->rows == 0) {
        return walk_on(c);
    }
    c->rows--;
    c->row.addr = hl_type_at(c->row.addr, c->row_stride);
    c->run.addr = c->row.addr; /* the other fields are unchanged */
    c->run.times = c->row.times;
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

/* Enters the child at which the top frame stands, and moves the frame behind it. */
static void enter_child(struct hl_type_cursor *c, struct hl_walk_frame *f)
{
    const struct hl_loop *l = f->loop;

    if (l->kind == HL_LOOP_VEC) {
        push_frame(c, l->child, hl_type_at(f->base, f->i++ * l->stride));
    } else if (l->kind == HL_LOOP_STRUCT) {
        int64_t i = f->i++;
        push_frame(c, l->children[i], hl_type_at(f->base, l->disp[i]));
    } else {
        char *at = hl_type_at(f->base, l->disp[f->i] + f->j++ * l->stride);
        if (f->j == l->len[f->i]) {
            f->i++;
            f->j = 0;
        }
        push_frame(c, l->child, at);
    }
}

static void seek_cursor(struct hl_type_cursor *c, int64_t at)
{
    c->next = hl_type_at(c->next, at / c->root->size * c->extent);
    c->count -= at / c->root->size;
    at %= c->root->size;
    if (at == 0) {
        return;
    }
    push_frame(c, c->root, c->next);
    c->next = hl_type_at(c->next, c->extent);
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
    c->rows = 0;
    c->walk = walk;
    c->root = t->fast;
    c->count = t->size > 0 ? count : 0;
    c->extent = hl_type_extent(t);
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
        seek_cursor(c, offset);
    }
    return 0;
}

void hl_type_cursor_fini(struct hl_type_cursor *c)
{
    if (c->frames != c->local) {
        free(c->frames);
    }
}

/* Units left in the run's first block. */
static int64_t left_here(const struct hl_type_cursor *c)
{
    return (c->run.lens != NULL ? c->run.n * *c->run.lens : c->run.n) - c->head;
}

/* Consumes `n` units of the run's first block. */
static char *take_units(struct hl_type_cursor *c, int64_t n)
{
    char *addr = hl_run_block(&c->run, 0) + c->head * (int64_t)c->unit;

    if (n == left_here(c)) {
        c->head = 0;
        hl_run_pass(&c->run, 1);
    } else {
        c->head += n;
    }
    return addr;
}

int64_t hl_type_cursor_span(struct hl_type_cursor *c)
{
    return hl_type_cursor_fill(c) ? left_here(c) : 0;
}

int64_t hl_type_cursor_next(struct hl_type_cursor *c, int64_t max, char **addr)
{
    if (max <= 0 || !hl_type_cursor_fill(c)) {
        return 0;
    }
    int64_t n = left_here(c) < max ? left_here(c) : max;
    *addr = take_units(c, n);
    return n;
}

bool hl_type_cursor_run(struct hl_type_cursor *c, int64_t max, struct hl_run *run)
{
    if (max <= 0 || !hl_type_cursor_fill(c)) {
        return false;
    }
    if (c->head > 0 || c->run.lens != NULL || max < c->run.n) {
        *run = (struct hl_run){.times = 1};
        run->n = hl_type_cursor_next(c, max, &run->addr);
        return true;
    }
    *run = c->run;
    if (run->n * run->times > max) {
        run->times = max / run->n;
    }
    hl_run_pass(&c->run, run->times);
    return true;
}

int64_t hl_type_cursor_common(struct hl_type_cursor *a, struct hl_type_cursor *b, int64_t max, char **at_a,
                              char **at_b)
{
    if (max <= 0 || !hl_type_cursor_fill(a) || !hl_type_cursor_fill(b)) {
        return 0;
    }
    int64_t n = left_here(a) < max ? left_here(a) : max;
    n = left_here(b) < n ? left_here(b) : n;
    *at_a = take_units(a, n);
    *at_b = take_units(b, n);
    return n;
}
