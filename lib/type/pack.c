/* Packing and unpacking from any byte offset, and copies between two layouts. */
#include <string.h>

#include "loop.h"

#define BOUNCE 1024 /* bytes that go through a buffer at a time */

HL_INLINE void copy_word(char *to, const char *from)
{
    /* relaxed: a put or get orders nothing; the flush's fence does. */
    hl_any64_store_relaxed(to, hl_any64_load_relaxed(from));
}

/* `times` times COPY(to, from, n), where constant sizes become single moves. The runs are the compiler's own
 * copies: what is stored could else change them. */
#define COPY_BLOCKS(COPY, n)                                                                                 \
    if (to.disp == NULL && from.disp == NULL) {                                                              \
        int64_t i = 0, a = to.stride, b = from.stride;                                                       \
        for (; i + 4 <= times; i += 4, to.addr += 4 * a, from.addr += 4 * b) {                               \
            COPY(to.addr, from.addr, (size_t)(n));                                                           \
            COPY(to.addr + a, from.addr + b, (size_t)(n));                                                   \
            COPY(to.addr + 2 * a, from.addr + 2 * b, (size_t)(n));                                           \
            COPY(to.addr + 3 * a, from.addr + 3 * b, (size_t)(n));                                           \
        }                                                                                                    \
        for (; i < times; i++, to.addr += a, from.addr += b) {                                               \
            COPY(to.addr, from.addr, (size_t)(n));                                                           \
        }                                                                                                    \
    } else if (to.disp == NULL) {                                                                            \
        for (int64_t i = 0; i < times; i++, to.addr += to.stride) {                                          \
            COPY(to.addr, hl_type_at(from.addr, from.disp[i]), (size_t)(n));                                 \
        }                                                                                                    \
    } else {                                                                                                 \
        for (int64_t i = 0; i < times; i++) {                                                                \
            COPY(hl_type_at(to.addr, to.disp[i]), hl_run_block(&from, i), (size_t)(n));                      \
        }                                                                                                    \
    }                                                                                                        \
    break
#define COPY_WORD(to, from, n) copy_word(to, from)

/* The first `times` blocks, `len` bytes each. */
static void copy_blocks(const struct hl_run *to_run, const struct hl_run *from_run, int64_t len,
                        int64_t times)
{
    struct hl_run to = *to_run, from = *from_run;

    switch (len) {
    case 1:
        COPY_BLOCKS(memcpy, 1);
    case 2:
        COPY_BLOCKS(memcpy, 2);
    case 4:
        COPY_BLOCKS(memcpy, 4);
    case 8:
        COPY_BLOCKS(COPY_WORD, 8);
    case 16:
        COPY_BLOCKS(memcpy, 16);
    case 24:
        COPY_BLOCKS(memcpy, 24);
    case 32:
        COPY_BLOCKS(memcpy, 32);
    default:
        COPY_BLOCKS(memcpy, len);
    }
}

/* A block of any length; small ones of words without a call. */
static void copy_block(char *to, const char *from, int64_t len)
{
    if (len % 8 != 0 || len > 64) {
        memcpy(to, from, (size_t)len);
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

/* Blocks of lengths of their own, as far as `max` units take them whole; returns their units. */
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

int64_t hl_type_cursor_pack(struct hl_type_cursor *c, char *packed, int64_t max, bool pack)
{
    int64_t left = max, unit = (int64_t)c->unit, pad = pad_behind(c), n;
    struct hl_run run;

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

/* Small blocks of `many` to (`out`: from) the rest of the block where `one` is: right there. */
static void copy_into(struct hl_type_cursor *one, struct hl_type_cursor *many, bool out)
{
    char *at = hl_run_block(&one->run, 0) + one->head;

    hl_type_cursor_next(one, hl_type_cursor_pack(many, at, hl_type_cursor_span(one), !out), &at);
}

void hl_type_cursor_copy(struct hl_type_cursor *to, struct hl_type_cursor *from)
{
    _Alignas(16) char bounce[BOUNCE];
    int64_t t, f;

    while ((t = hl_type_cursor_span(to)) > 0 && (f = hl_type_cursor_span(from)) > 0) {
        struct hl_run *a = &to->run, *b = &from->run;
        int64_t times = a->times < b->times ? a->times : b->times, least = t < f ? t : f;
        char *to_at, *from_at;
        if (t == f && to->head + from->head == 0 && a->lens == NULL && b->lens == NULL) {
            copy_blocks(a, b, t, times);
            hl_run_pass(a, times);
            hl_run_pass(b, times);
        } else if (t >= 4 * f) {
            copy_into(to, from, false);
        } else if (f >= 4 * t) {
            copy_into(from, to, true);
        } else if (least >= 64) {
            hl_type_cursor_next(to, least, &to_at);
            hl_type_cursor_next(from, least, &from_at);
            memcpy(to_at, from_at, (size_t)least);
        } else { /* their blocks do not match */
            hl_type_cursor_pack(to, bounce, hl_type_cursor_pack(from, bounce, BOUNCE, true), false);
        }
    }
}

/* Both directions: memory of the type <-> packed bytes. */
static int convert(const struct hl_type *t, int64_t count, char *buf, int64_t offset, char *packed, int64_t n,
                   bool pack)
{
    struct hl_type_cursor c;
    char *start;

    if (n <= 0) {
        return 0;
    }
    if (hl_type_block(t, count, buf, &start)) {
        memcpy(pack ? packed : start + offset, pack ? start + offset : packed, (size_t)n);
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
    return convert(t, count, (char *)(uintptr_t)buf, offset, out, n, true);
}

int hl_type_unpack(const struct hl_type *t, int64_t count, void *buf, int64_t offset, const void *in,
                   int64_t n)
{
    return convert(t, count, buf, offset, (char *)(uintptr_t)in, n, false);
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
