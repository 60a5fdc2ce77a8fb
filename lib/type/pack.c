/* Packing and unpacking from any byte offset, and copies between two layouts. */
#include <string.h>

#include "copy.h"
#include "loop.h"
#include "util.h"

#define BOUNCE 1024 /* bytes that go through a buffer at a time */

HL_INLINE void copy_word(char *to, const char *from)
{
    /* relaxed: a put or get orders nothing; the fence of the flush does. */
    hl_any64_store_relaxed(to, hl_any64_load_relaxed(from));
}

/* Does COPY(to, from, n) for each block; constant sizes become single moves. */
#define COPY_GRID(COPY, n)                                                                                   \
    for (int64_t row = g.rows; row > 0; row--, g.to += g.a_row, g.from += g.b_row) {                         \
        char *to = g.to;                                                                                     \
        const char *from = g.from;                                                                           \
        int64_t i = g.times;                                                                                 \
        for (; i >= 4; i -= 4, to += 4 * g.a, from += 4 * g.b) {                                             \
            COPY(to, from, (size_t)(n));                                                                     \
            COPY(to + g.a, from + g.b, (size_t)(n));                                                         \
            COPY(to + 2 * g.a, from + 2 * g.b, (size_t)(n));                                                 \
            COPY(to + 3 * g.a, from + 3 * g.b, (size_t)(n));                                                 \
        }                                                                                                    \
        for (; i > 0; i--, to += g.a, from += g.b) {                                                         \
            COPY(to, from, (size_t)(n));                                                                     \
        }                                                                                                    \
    }                                                                                                        \
    break
#define COPY_SPREAD(COPY, n)                                                                                 \
    if (to.disp == NULL) {                                                                                   \
        for (int64_t i = 0; i < times; i++, to.addr += to.stride) {                                          \
            COPY(to.addr, hl_type_at(from.addr, from.disp[i]), (size_t)(n));                                 \
        }                                                                                                    \
    } else {                                                                                                 \
        for (int64_t i = 0; i < times; i++) {                                                                \
            COPY(hl_type_at(to.addr, to.disp[i]), hl_run_block(&from, i), (size_t)(n));                      \
        }                                                                                                    \
    }                                                                                                        \
    break
/* Copies rows of different lengths, each of which is a whole number of the other side's blocks. */
#define COPY_UNEVEN(COPY, n)                                                                                 \
    for (; row < rows.times && done + (more = each * rows.lens[row]) <= blocks.times; row++) {               \
        char *at = hl_type_at(rows.addr, rows.disp[row]);                                                    \
        for (int64_t end = done + more; done < end; done++, at += (n)) {                                     \
            char *block = hl_run_block(&blocks, done);                                                       \
            COPY(out ? block : at, out ? at : block, (size_t)(n));                                           \
        }                                                                                                    \
    }                                                                                                        \
    break
/* Copies two or three parts of each block of one side. */
#define COPY_PARTS(COPY, n)                                                                                  \
    for (; g.rows > 0; g.rows--, g.to += g.a_row, g.from += g.b_row) {                                       \
        char *to = g.to;                                                                                     \
        const char *from = g.from;                                                                           \
        for (int64_t i = g.times; i > 0; i--, to += g.a, from += g.b) {                                      \
            COPY(to, from, (size_t)(n));                                                                     \
            COPY(to + a, from + b, (size_t)(n));                                                             \
            if (each == 3) {                                                                                 \
                COPY(to + 2 * a, from + 2 * b, (size_t)(n));                                                 \
            }                                                                                                \
        }                                                                                                    \
    }                                                                                                        \
    break
#define COPY_WORD(to, from, n) copy_word(to, from)
#define COPY_CASES(HOW, len)                                                                                 \
    case 1:                                                                                                  \
        HOW(memcpy, 1);                                                                                      \
    case 2:                                                                                                  \
        HOW(memcpy, 2);                                                                                      \
    case 4:                                                                                                  \
        HOW(memcpy, 4);                                                                                      \
    case 8:                                                                                                  \
        HOW(COPY_WORD, 8);                                                                                   \
    case 16:                                                                                                 \
        HOW(memcpy, 16);                                                                                     \
    case 24:                                                                                                 \
        HOW(memcpy, 24);                                                                                     \
    case 32:                                                                                                 \
        HOW(memcpy, 32);                                                                                     \
    default:                                                                                                 \
        HOW(hl_copy, len);

/* The grid is a local copy: else the compiler would have to expect that the stores change it. */
void hl_grid_copy(const struct hl_grid *grid, int64_t len)
{
    struct hl_grid g = *grid;
    if (g.times == 1) {
        g = (struct hl_grid){g.to, g.from, g.a_row, g.b_row, g.rows, 0, 0, 1};
    }
    switch (len) {
        COPY_CASES(COPY_GRID, len)
    }
}

/* Copies `times` blocks of `len` bytes where a side has displacements. */
static void copy_spread(const struct hl_run *to_run, const struct hl_run *from_run, int64_t len,
                        int64_t times)
{
    struct hl_run to = *to_run, from = *from_run;
    switch (len) {
        COPY_CASES(COPY_SPREAD, len)
    }
}

/* Copies the first `times` blocks of both runs, `len` bytes each. */
static void copy_blocks(const struct hl_run *to, const struct hl_run *from, int64_t len, int64_t times)
{
    if (to->disp == NULL && from->disp == NULL) {
        struct hl_grid g = {to->addr, from->addr, to->stride, from->stride, times, 0, 0, 1};
        hl_grid_copy(&g, len);
    } else {
        copy_spread(to, from, len, times);
    }
}

/* Copies a block of any length; small blocks of words without a call. */
static void copy_block(char *to, const char *from, int64_t len)
{
    if (len % 8 != 0 || len > 64) {
        hl_copy(to, from, (size_t)len);
        return;
    }
    for (int64_t i = 0; i < len; i += 8) {
        copy_word(to + i, from + i);
    }
}

/* Bytes behind a block's last element that are not its data: some pairs end with padding, others have it
 * inside. */
static int64_t pad_behind(const struct hl_type_cursor *c)
{
    return c->unit == c->packed_unit ? 0 : (int64_t)(c->unit - hl_op_span((enum hl_basic)c->root->basic, 1));
}

/* Packs blocks of different lengths, as far as `max` units hold them whole; returns their units. */
static int64_t pack_uneven(struct hl_type_cursor *c, char *packed, int64_t max, bool pack)
{
    struct hl_run r = c->run;
    int64_t unit = (int64_t)c->unit, pad = pad_behind(c), done = 0, i = 0;

    for (int64_t n; i < r.times && done + (n = r.n * r.lens[i]) <= max; i++) {
        char *at = hl_type_at(r.addr, r.disp[i]);
        copy_block(pack ? packed : at, pack ? at : packed, n * unit - pad);
        packed += n * unit;
        done += n;
    }
    hl_run_pass(&c->run, i);
    return done;
}

/* Unpacks pairs with padding, which is the user's and is not written. */
static int64_t unpack_pairs(struct hl_type_cursor *c, const char *packed, int64_t max)
{
    hl_op_fn *copy = hl_op_kernel(HL_OP_REPLACE, (enum hl_basic)c->root->basic);
    int64_t left = max;
    struct hl_run run;

    while (left > 0 && hl_type_cursor_fill(c)) {
        hl_type_cursor_run(c, left, &run);
        for (int64_t i = 0; i < run.times; i++) {
            copy(hl_run_block(&run, i), packed, (size_t)run.n);
            packed += run.n * (int64_t)c->unit;
        }
        left -= run.n * run.times;
    }
    return max - left;
}

int64_t hl_type_cursor_pack(struct hl_type_cursor *c, char *packed, int64_t max, bool pack)
{
    int64_t left = max, unit = (int64_t)c->unit, pad = pad_behind(c), n;
    struct hl_run run;

    if (HL_UNLIKELY(!pack && c->unit != c->packed_unit)) {
        return unpack_pairs(c, packed, max);
    }
    while (left > 0 && hl_type_cursor_fill(c)) {
        if (c->run.lens != NULL && c->head == 0 && (n = pack_uneven(c, packed, left, pack)) > 0) {
            packed += n * unit;
            left -= n;
            continue;
        }
        hl_type_cursor_run(c, left, &run);
        struct hl_run there = {.addr = packed, .stride = run.n * unit};
        copy_blocks(pack ? &there : &run, pack ? &run : &there, run.n * unit - pad, run.times);
        packed += run.n * run.times * unit;
        left -= run.n * run.times;
    }
    return max - left;
}

/* Copies small blocks of `many` to (`out`: from) the rest of the block at which `one` stands, without a
 * buffer. */
static void copy_into(struct hl_type_cursor *one, struct hl_type_cursor *many, bool out)
{
    char *at = hl_run_block(&one->run, 0) + one->head;

    hl_type_cursor_next(one, hl_type_cursor_pack(many, at, hl_type_cursor_span(one), !out), &at);
}

/* Copies rows of different lengths to (`out`) or from equal blocks, as far as these hold them whole. False:
 * not one row. */
static bool copy_uneven(struct hl_type_cursor *to_rows, struct hl_type_cursor *to_blocks, bool out)
{
    if (to_rows->run.lens == NULL || to_blocks->run.lens != NULL || to_rows->head + to_blocks->head != 0 ||
        to_rows->run.n % to_blocks->run.n != 0) {
        return false;
    }
    struct hl_run rows = to_rows->run, blocks = to_blocks->run;
    int64_t each = rows.n / blocks.n, row = 0, done = 0, more;
    switch (blocks.n) {
        COPY_CASES(COPY_UNEVEN, blocks.n)
    }
    hl_run_pass(&to_rows->run, row);
    hl_run_pass(&to_blocks->run, done);
    return done > 0;
}

/* How many rows of `times` blocks follow at equal distances, from the run's first block on. */
static int64_t count_rows(const struct hl_type_cursor *c, int64_t times, int64_t *apart)
{
    if (c->run.times == times && c->rows > 0 && c->row.times == times) {
        *apart = c->row_stride;
        return c->rows + 1;
    }
    *apart = times * c->run.stride;
    return c->run.times / times;
}

static void pass_rows(struct hl_type_cursor *c, int64_t times, int64_t rows)
{
    if (c->run.times >= rows * times) {
        hl_run_pass(&c->run, rows * times);
        return;
    }
    c->rows -= rows - 1;
    c->row.addr = hl_type_at(c->row.addr, (rows - 1) * c->row_stride);
    c->run.times = 0;
}

/* Copies blocks, each as long as two or three blocks of the other side, to (`out`) or from there, with the
 * rows that follow. False: not one block. */
static bool copy_parts(struct hl_type_cursor *whole, struct hl_type_cursor *parts, bool out)
{
    const struct hl_run *w = &whole->run, *p = &parts->run;
    int64_t each = w->n / p->n, times, rows, w_row, p_row;

    /* The rest of a block that was begun may be shorter than a part. */
    if (w->disp != NULL || p->disp != NULL || whole->head + parts->head + w->n % p->n != 0) {
        return false;
    }
    times = hl_min_i64(w->times, p->times / each);
    if (times == 0) {
        return false;
    }
    rows = count_rows(whole, times, &w_row);
    rows = hl_min_i64(rows, count_rows(parts, times * each, &p_row));
    struct hl_grid g = {w->addr, p->addr, w->stride, each * p->stride, times, w_row, p_row, rows};
    int64_t a = p->n, b = p->stride;
    if (out) {
        g = (struct hl_grid){p->addr, w->addr, g.b, g.a, times, p_row, w_row, rows};
        a = p->stride;
        b = p->n;
    }
    switch (p->n) {
        COPY_CASES(COPY_PARTS, p->n)
    }
    pass_rows(whole, times, rows);
    pass_rows(parts, times * each, rows);
    return true;
}

/* Copies runs with blocks of `len` bytes on both sides, and the rows that follow. */
static void copy_alike(struct hl_type_cursor *to, struct hl_type_cursor *from, int64_t len)
{
    struct hl_run *a = &to->run, *b = &from->run;
    int64_t times = hl_min_i64(a->times, b->times), rows = 1;

    if (a->disp == NULL && b->disp == NULL) {
        struct hl_grid g = {a->addr, b->addr, a->stride, b->stride, times, 0, 0, 1};
        int64_t more = count_rows(to, times, &g.a_row);
        rows = count_rows(from, times, &g.b_row);
        rows = g.rows = hl_min_i64(rows, more);
        hl_grid_copy(&g, len);
    } else {
        copy_spread(a, b, len, times);
    }
    pass_rows(to, times, rows);
    pass_rows(from, times, rows);
}

void hl_type_cursor_copy(struct hl_type_cursor *to, struct hl_type_cursor *from)
{
    _Alignas(16) char bounce[BOUNCE];
    int64_t t, f;

    while ((t = hl_type_cursor_span(to)) > 0 && (f = hl_type_cursor_span(from)) > 0) {
        struct hl_run *a = &to->run, *b = &from->run;
        int64_t both = hl_min_i64(t, f);
        char *to_at, *from_at;
        if (t == f && to->head + from->head == 0 && a->lens == NULL && b->lens == NULL) {
            copy_alike(to, from, t);
        } else if (copy_uneven(from, to, true) || copy_uneven(to, from, false)) {
            continue;
        } else if (t >= 4 * f) {
            copy_into(to, from, false);
        } else if (f >= 4 * t) {
            copy_into(from, to, true);
        } else if (both >= 64) {
            hl_type_cursor_next(to, both, &to_at);
            hl_type_cursor_next(from, both, &from_at);
            hl_copy(to_at, from_at, (size_t)both);
        } else if (t < f ? copy_parts(from, to, true) : copy_parts(to, from, false)) {
            continue;
        } else { /* their blocks do not match */
            hl_type_cursor_pack(to, bounce, hl_type_cursor_pack(from, bounce, BOUNCE, true), false);
        }
    }
}

/* Packs, or unpacks, `n` bytes at packed place `offset`. */
static int pack_or_unpack(const struct hl_type *t, int64_t count, char *buf, int64_t offset, char *packed,
                          int64_t n, bool pack)
{
    struct hl_type_cursor c;
    char *start;

    if (n <= 0) {
        return 0;
    }
    if (hl_type_block(t, count, buf, &start)) {
        hl_copy(pack ? packed : start + offset, pack ? start + offset : packed, (size_t)n);
        return 0;
    }
    int err = hl_type_cursor_init(&c, HL_WALK_BYTES, t, count, buf, offset);
    if (err != 0) {
        return err;
    }
    hl_type_cursor_pack(&c, packed, n, pack);
    hl_type_cursor_fini(&c);
    return 0;
}

int hl_type_pack(const struct hl_type *t, int64_t count, const void *buf, int64_t offset, void *out,
                 int64_t n)
{
    return pack_or_unpack(t, count, (char *)(uintptr_t)buf, offset, out, n, true);
}

int hl_type_unpack(const struct hl_type *t, int64_t count, void *buf, int64_t offset, const void *in,
                   int64_t n)
{
    return pack_or_unpack(t, count, buf, offset, (char *)(uintptr_t)in, n, false);
}

int hl_type_copy(const struct hl_type *to, int64_t to_count, void *to_buf, const struct hl_type *from,
                 int64_t from_count, const void *from_buf)
{
    struct hl_type_cursor a, b;
    char *dst;

    if (hl_type_block(to, to_count, to_buf, &dst)) {
        int64_t room = to->size * to_count, have = from->size * from_count;
        return hl_type_pack(from, from_count, from_buf, 0, dst, room < have ? room : have);
    }
    int err = hl_type_cursor_init(&a, HL_WALK_BYTES, to, to_count, to_buf, 0);
    if (err != 0) {
        return err;
    }
    err = hl_type_cursor_init(&b, HL_WALK_BYTES, from, from_count, from_buf, 0);
    if (err == 0) {
        hl_type_cursor_copy(&a, &b);
        hl_type_cursor_fini(&b);
    }
    hl_type_cursor_fini(&a);
    return err;
}
