/* Packing and unpacking from any byte offset, and copies between two layouts. */
#include <string.h>

#include "loop.h"

/* `times` blocks of n bytes; constant sizes become single moves. */
#define COPY_BLOCKS(n)                                                                                       \
    for (int64_t i = 0; i < times; i++) {                                                                    \
        memcpy(to + i * to_stride, from + i * from_stride, (size_t)(n));                                     \
    }                                                                                                        \
    break

static void copy_blocks(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t len,
                        int64_t times)
{
    switch (len) {
    case 1:
        COPY_BLOCKS(1);
    case 2:
        COPY_BLOCKS(2);
    case 4:
        COPY_BLOCKS(4);
    case 8:
        COPY_BLOCKS(8);
    case 16:
        COPY_BLOCKS(16);
    default:
        COPY_BLOCKS(len);
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
    while (n > 0 && hl_type_cursor_fill(&c)) {
        int64_t len = c.run.n, times = n / len < c.run.times ? n / len : c.run.times;
        if (c.head == 0 && times > 0) {
            char *at = c.run.addr;
            copy_blocks(pack ? packed : at, pack ? len : c.run.stride, pack ? at : packed,
                        pack ? c.run.stride : len, len, times);
            c.run.addr += times * c.run.stride;
            c.run.times -= times;
            len *= times;
        } else {
            char *at = NULL;
            len = hl_type_cursor_next(&c, n, &at);
            memcpy(pack ? packed : at, pack ? at : packed, (size_t)len);
        }
        packed += len;
        n -= len;
    }
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
    char *dst, *src;

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
        for (int64_t n; (n = hl_type_cursor_zip(&a, &b, INT64_MAX, &dst, &src)) > 0;) {
            memcpy(dst, src, (size_t)n);
        }
        hl_type_cursor_fini(&b);
    }
    hl_type_cursor_fini(&a);
    return err;
}
