/* Array sections as types for one call. Dimensions that continue each other are merged first; then each
 * dimension that is left is a VEC, over blocks, in the caller's memory. Whole sections with few dimensions go
 * that way; the others are made by the calls with which a user makes a type. */
#include "section.h"

#include <stdlib.h>

#include "err.h"
#include "util.h"

#define RANKS MPIX_SECTION_RANKS

static HL_COLD int refuse_section(const MPIX_Section *s)
{
    if (s->rank < 0 || s->rank > RANKS) {
        return hl_err_say(HL_ERR_ARG, "the section's rank is %d, not 0 to %d", s->rank, RANKS);
    }
    if (s->dims == NULL) {
        return hl_err_say(HL_ERR_ARG, "the section's rank is %d, and its dims is NULL", s->rank);
    }
    return hl_err_say(HL_ERR_ARG, "the section's elem_len, %lld, is negative", (long long)s->elem_len);
}

static HL_COLD int refuse_wide_section(void)
{
    return hl_err_say(HL_ERR_ARG, "the section's extents and strides are beyond 2^63 bytes");
}

/* Handles an extent below 0 in dimension i. */
static HL_COLD int assumed_size(const MPIX_Section *s, int i, struct hl_section_shape *sh)
{
    if (s->dims[i].extent != -1 || i != s->rank - 1) {
        return hl_err_say(
            HL_ERR_ARG,
            "the section's extent in dimension %d of %d is %lld: only the last one may be -1, and none less",
            i + 1, s->rank, (long long)s->dims[i].extent);
    }
    if (sh->n != 0) {
        return hl_err_say(HL_ERR_ARG, "a section of assumed size (last extent -1) must be contiguous");
    }
    sh->unbounded = true;
    return 0;
}

/* Adds a dimension; false past 2^63 bytes. */
HL_INLINE bool add_dim(struct hl_section_shape *sh, int64_t extent, int64_t stride)
{
    int64_t reach, *end;

    if (__builtin_mul_overflow(sh->total, extent, &sh->total) ||
        __builtin_mul_overflow(stride, extent - 1, &reach)) {
        return false;
    }
    if (sh->n == 0 && stride == sh->block) {
        sh->block = sh->total;
        return true;
    }
    end = reach < 0 ? &sh->lo : &sh->hi;
    if (__builtin_add_overflow(*end, reach, end)) {
        return false;
    }
    int last = sh->n - 1;
    if (last >= 0 && (uint64_t)stride == (uint64_t)sh->dims[last].stride * (uint64_t)sh->dims[last].times) {
        sh->dims[last].times *= extent;
    } else {
        sh->dims[sh->n].times = extent;
        sh->dims[sh->n++].stride = stride;
    }
    return true;
}

int hl_section_read(const MPIX_Section *s, struct hl_section_shape *sh)
{
    bool empty = false;

    sh->block = sh->total = s->elem_len;
    sh->lo = sh->hi = 0;
    sh->n = 0;
    sh->unbounded = false;
    if (HL_UNLIKELY((unsigned)s->rank > RANKS || s->elem_len < 0 || (s->dims == NULL && s->rank != 0))) {
        return refuse_section(s);
    }
    for (int i = 0; i < s->rank; i++) {
        int64_t extent = s->dims[i].extent;
        if (HL_LIKELY(extent > 1)) {
            if (HL_UNLIKELY(!add_dim(sh, extent, s->dims[i].stride))) {
                return refuse_wide_section();
            }
        } else if (extent < 0) {
            int rc = assumed_size(s, i, sh);
            if (rc != 0) {
                return rc;
            }
        } else {
            empty = empty || extent == 0;
        }
    }
    if (empty) {
        sh->total = 0;
    }
    int64_t end;
    return __builtin_add_overflow(sh->hi, sh->block, &end) ? refuse_wide_section() : 0;
}

/* Copies the first two dimensions, from the element at `first`. */
HL_INLINE void pack_plane(const struct hl_section_shape *sh, char *first, char *packed, bool pack)
{
    int64_t times = sh->dims[0].times, stride = sh->dims[0].stride, row = times * sh->block;
    int64_t rows = sh->n > 1 ? sh->dims[1].times : 1, apart = sh->n > 1 ? sh->dims[1].stride : 0;
    struct hl_grid g = {packed, first, sh->block, stride, times, row, apart, rows};
    if (!pack) {
        g = (struct hl_grid){first, packed, stride, sh->block, times, apart, row, rows};
    }
    hl_grid_copy(&g, sh->block);
}

static HL_NOINLINE void pack_planes(const struct hl_section_shape *sh, char *first, char *packed, bool pack)
{
    int64_t index[MPIX_SECTION_RANKS] = {0}, plane = sh->dims[0].times * sh->dims[1].times * sh->block;
    int k;

    do {
        pack_plane(sh, first, packed, pack);
        packed += plane;
        for (k = 2; k < sh->n; k++) {
            first = hl_type_at(first, sh->dims[k].stride);
            if (++index[k] < sh->dims[k].times) {
                break;
            }
            first = hl_type_at(first, -index[k] * sh->dims[k].stride);
            index[k] = 0;
        }
    } while (k < sh->n);
}

void hl_section_pack(const struct hl_section_shape *sh, char *first, char *packed, bool pack)
{
    if (HL_UNLIKELY(sh->n > 2 && sh->total != 0)) {
        pack_planes(sh, first, packed, pack);
    } else if (HL_LIKELY(sh->total != 0)) {
        pack_plane(sh, first, packed, pack);
    }
}

/* Fills the caller's memory with the type of a whole section of dense items. */
static void fill_section(struct hl_section *room, const struct hl_section_shape *sh, const struct hl_type *t,
                         int64_t count)
{
    int64_t unit = (int64_t)hl_op_size((enum hl_basic)t->basic);
    enum hl_basic basic = sh->block % unit == 0 ? (enum hl_basic)t->basic : HL_BASIC_MIXED;
    struct hl_loop *l = room->loops;

    *l = (struct hl_loop){.kind = HL_LOOP_BLOCK,
                          .basic = (uint8_t)basic,
                          .fixed = true,
                          .size = sh->block,
                          .elements = sh->block / unit,
                          .n = 1};
    for (int i = 0; i < sh->n; i++, l++) {
        l[1] = (struct hl_loop){.kind = HL_LOOP_VEC,
                                .basic = (uint8_t)basic,
                                .fixed = true,
                                .depth = (uint32_t)i + 1,
                                .size = l->size * sh->dims[i].times,
                                .elements = l->elements * sh->dims[i].times,
                                .n = sh->dims[i].times,
                                .stride = sh->dims[i].stride,
                                .child = l};
    }
    room->type = (struct hl_type){.size = sh->total,
                                  .lb = sh->lo,
                                  .ub = sh->hi + sh->block,
                                  .true_lb = sh->lo,
                                  .true_ub = sh->hi + sh->block,
                                  .elements = count * t->elements,
                                  .align = t->align,
                                  .basic = (uint8_t)basic,
                                  .committed = {1},
                                  .predefined = true, /* so that it is not counted */
                                  .root = l,
                                  .fast = l};
}

/* all other sections, as types that are allocated */

static HL_COLD int refuse_many_elements(int64_t count, const struct hl_type *t,
                                        const struct hl_section_shape *sh)
{
    return hl_err_say(HL_ERR_COUNT, "%lld elements of %lld bytes are more than the section of %lld bytes has",
                      (long long)count, (long long)t->size, (long long)sh->total);
}

/* Makes the type of the first `left` items, which lie next to each other in blocks: the whole parts of each
 * dimension, the slowest first, then the rest of the last one. parts[i]: all of the dimensions below i. */
static int make_parts(const struct hl_section_shape *sh, const struct hl_type *item, int64_t left,
                      struct hl_type *parts[], struct hl_type **made)
{
    struct hl_type *rows[RANKS + 1];
    int64_t items[RANKS + 1], lens[RANKS + 1], displs[RANKS + 1], at = 0;
    int n = 0, rc = 0;

    items[0] = sh->block / hl_type_extent(item);
    for (int i = 0; i < sh->n; i++) {
        items[i + 1] = items[i] * sh->dims[i].times;
    }
    for (int i = sh->n - 1; i >= 0 && rc == 0; i--) {
        int64_t whole = left / items[i];
        if (whole > 0) {
            displs[n] = at;
            lens[n] = 1;
            rc = hl_type_make_vector(whole, 1, sh->dims[i].stride, true, parts[i], &rows[n]);
            n += rc == 0;
        }
        at += whole * sh->dims[i].stride;
        left %= items[i];
    }
    if (rc == 0 && left > 0) {
        displs[n] = at;
        lens[n] = 1;
        rc = hl_type_make_contiguous(left, item, &rows[n]);
        n += rc == 0;
    }
    rc = rc == 0 ? hl_type_make_struct(n, lens, displs, rows, made) : rc;
    while (n > 0) {
        hl_type_unref(rows[--n]);
    }
    return rc;
}

static int make_regular(const struct hl_section_shape *sh, const struct hl_type *item, int64_t count,
                        struct hl_type **made)
{
    struct hl_type *parts[RANKS + 1];
    int n = 0, rc = hl_type_make_contiguous(sh->block / hl_type_extent(item), item, &parts[0]);

    for (n = rc == 0; rc == 0 && n < sh->n; n += rc == 0) {
        rc = hl_type_make_vector(sh->dims[n - 1].times, 1, sh->dims[n - 1].stride, true, parts[n - 1],
                                 &parts[n]);
    }
    rc = rc == 0 ? make_parts(sh, item, count, parts, made) : rc;
    while (n > 0) {
        hl_type_unref(parts[--n]);
    }
    return rc;
}

/* Pieces of memory, in the order of packing. */
struct section_pieces {
    int64_t *at, *len;
    int64_t n;
    size_t room;
};

static int add_piece(struct section_pieces *p, int64_t at, int64_t len)
{
    size_t n = (size_t)p->n, room = p->room;

    if (!hl_grow(&p->at, n, &room, sizeof *p->at) || !hl_grow(&p->len, n, &p->room, sizeof *p->len)) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a section of more than %zu pieces", n);
    }
    p->at[p->n] = at;
    p->len[p->n++] = len;
    return 0;
}

/* Adds the pieces of memory of bytes [at, at + len) of the section's data. */
static int add_bytes(struct section_pieces *p, const struct hl_section_shape *sh, int64_t at, int64_t len)
{
    int rc = 0;

    while (len > 0 && rc == 0) {
        int64_t block = at / sh->block, in = at % sh->block, where = in;
        int64_t n = sh->block - in < len ? sh->block - in : len;
        for (int i = 0; i < sh->n; i++) {
            where += block % sh->dims[i].times * sh->dims[i].stride;
            block /= sh->dims[i].times;
        }
        rc = add_piece(p, where, n);
        at += n;
        len -= n;
    }
    return rc;
}

/* Makes the type of items with holes that differ from the section's elements: the pieces that they cover of
 * its data. */
static int make_irregular(const struct hl_section_shape *sh, const struct hl_type *t, int64_t count,
                          struct hl_type **made)
{
    struct hl_type_cursor c;
    struct section_pieces p = {0};
    char *span;
    int64_t n;
    int rc = hl_type_cursor_init(&c, HL_WALK_BYTES, t, count, NULL, 0);

    if (rc != 0) {
        return rc;
    }
    while (rc == 0 && (n = hl_type_cursor_next(&c, INT64_MAX, &span)) > 0) {
        int64_t at = (int64_t)(uintptr_t)span;
        rc = at < 0 || at > sh->total - n ? refuse_many_elements(count, t, sh) : add_bytes(&p, sh, at, n);
    }
    hl_type_cursor_fini(&c);
    rc = rc == 0 ? hl_type_make_indexed(p.n, p.len, 0, p.at, true, hl_type_of(MPI_BYTE), made) : rc;
    free(p.at);
    free(p.len);
    return rc;
}

static int make_section_type(const struct hl_section_shape *sh, const MPIX_Section *s,
                             const struct hl_type *t, int64_t count, struct hl_type **made)
{
    int64_t extent = hl_type_extent(t);
    bool fits =
        t->lb == 0 && t->true_lb >= 0 && t->true_ub <= extent && extent > 0 && s->elem_len % extent == 0;
    int rc;

    *made = NULL;
    if (fits && count > sh->total / extent) {
        return refuse_many_elements(count, t, sh);
    }
    if (fits) {
        rc = make_regular(sh, t, count, made);
    } else if (t->dense) {
        rc = make_regular(sh, hl_type_of(MPI_BYTE), count * t->size, made);
    } else {
        rc = make_irregular(sh, t, count, made);
    }
    rc = rc == 0 ? hl_type_commit(*made) : rc;
    if (rc != 0 && *made != NULL) {
        hl_type_unref(*made);
        *made = NULL;
    }
    return rc;
}

static HL_NOINLINE int make_apart(struct hl_section *room, const MPIX_Section *s,
                                  const struct hl_section_shape *sh, const struct hl_type *t, int64_t count)
{
    return make_section_type(sh, s, t, count, &room->made);
}

int hl_section_begin(struct hl_section *room, const MPIX_Section *s, const struct hl_type *given,
                     int64_t count, bool lasts, const struct hl_type **type, int64_t *n)
{
    struct hl_section_shape sh;
    int64_t bytes;

    room->made = NULL;
    *type = given;
    *n = count;
    if (s == NULL || s->rank == 0 || given == NULL || !hl_type_is_committed(given) || count < 0 ||
        !hl_type_bytes(given, count, &bytes)) {
        return 0;
    }
    int rc = hl_section_read(s, &sh);
    if (HL_UNLIKELY(rc != 0)) {
        return rc;
    }
    if (bytes == 0 || hl_section_is_plain(&sh)) {
        return 0;
    }
    if (HL_UNLIKELY(sh.total < bytes)) {
        return refuse_many_elements(count, given, &sh);
    }
    *n = 1;
    if (HL_LIKELY(given->dense && bytes == sh.total && !lasts && sh.n < HL_SECTION_LOOPS)) {
        fill_section(room, &sh, given, count);
        *type = &room->type;
        return 0;
    }
    rc = make_apart(room, s, &sh, given, count);
    *type = room->made;
    return rc;
}
