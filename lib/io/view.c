/* Views: making them, and finding places in them. */
#include "view.h"

#include <stdlib.h>

#include "err.h"

#define PLACE_MAX (INT64_C(1) << 61)

/* Checks the filetype, or what it is in the file: `unit` is the size of an etype there. */
static int check_tile(const struct hl_type *t, int64_t unit, bool writes)
{
    if (unit == 0 || t->size % unit != 0) {
        return hl_err_say(HL_ERR_ARG, "a filetype of %lld bytes is not made of etypes of %lld bytes",
                          (long long)t->size, (long long)unit);
    }
    if (hl_type_extent(t) < 0 || !hl_view_is_ordered(t, writes)) {
        return hl_err_say(HL_ERR_IO,
                          "the data of a filetype (from byte %lld, extent %lld) must follow each other from "
                          "its origin on%s",
                          (long long)t->true_lb, (long long)hl_type_extent(t),
                          writes ? " and not overlap" : "");
    }
    return 0;
}

/* Makes the tile and checks it. */
static int make_tile(const struct hl_view_ask *ask, int64_t unit, struct hl_type **tile)
{
    if (ask->disp < 0 || ask->disp >= PLACE_MAX) {
        return hl_err_say(HL_ERR_ARG,
                          ask->disp < 0 ? "disp %lld is negative" : "disp %lld is beyond the largest file",
                          (long long)ask->disp);
    }
    int err = check_tile(ask->filetype, ask->etype->size, ask->writes);
    err = err == 0 ? hl_rep_tile(ask->rep, ask->filetype, tile) : err;
    if (err == 0) {
        err = check_tile(*tile, unit, ask->writes);
        if (err != 0) {
            hl_type_unref(*tile);
        }
    }
    return err;
}

int hl_view_make(const struct hl_view_ask *ask, struct hl_view **made)
{
    struct hl_type *tile = NULL;
    int64_t unit = 0;
    int err = hl_rep_bytes(ask->rep, ask->etype, 1, &unit);

    err = err == 0 ? make_tile(ask, unit, &tile) : err;
    if (err != 0) {
        return err;
    }
    struct hl_view *v = malloc(sizeof *v);
    if (v == NULL) {
        hl_type_unref(tile);
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a view");
    }
    *v = (struct hl_view){.disp = ask->disp,
                          .etype = ask->etype,
                          .filetype = ask->filetype,
                          .rep = ask->rep,
                          .tile = tile,
                          .unit = unit,
                          .apart = ask->writes || hl_view_is_ordered(tile, true)};
    hl_refs_begin(&v->refs);
    hl_type_ref(v->etype);
    hl_type_ref(v->filetype);
    *made = v;
    return 0;
}

void hl_view_ref(struct hl_view *v)
{
    hl_refs_add(&v->refs);
}

void hl_view_unref(struct hl_view *v)
{
    if (hl_refs_drop(&v->refs)) {
        hl_type_unref(v->etype);
        hl_type_unref(v->filetype);
        hl_type_unref(v->tile);
        free(v);
    }
}

/* Number of tiles up to the end of bytes [at, at + bytes) of the view. HL_ERR_ARG: they end beyond all
 * files. */
static int count_tiles(const struct hl_view *v, int64_t at, int64_t bytes, int64_t *tiles)
{
    int64_t size = v->tile->size, end, first, last;

    *tiles = 0;
    if (size == 0) {
        return bytes == 0
                   ? 0
                   : hl_err_say(HL_ERR_ARG, "the view of this rank is empty: its filetype has no data");
    }
    if (__builtin_add_overflow(at, bytes, &end) || end > PLACE_MAX) {
        return hl_err_say(HL_ERR_ARG, "%lld bytes at byte %lld of the view are beyond the largest file",
                          (long long)bytes, (long long)at);
    }
    *tiles = end / size + (end % size != 0);
    if (__builtin_add_overflow(v->disp, v->tile->true_ub, &first) ||
        __builtin_mul_overflow(*tiles, hl_type_extent(v->tile), &last) ||
        __builtin_add_overflow(last, first, &last) || last > PLACE_MAX) {
        return hl_err_say(HL_ERR_ARG, "%lld bytes at byte %lld of the view are beyond the largest file",
                          (long long)bytes, (long long)at);
    }
    return 0;
}

int hl_view_check(const struct hl_view *v, int64_t at, int64_t bytes)
{
    int64_t tiles;

    return count_tiles(v, at, bytes, &tiles);
}

int hl_view_walk(const struct hl_view *v, int64_t at, int64_t bytes, struct hl_type_cursor *c)
{
    int64_t tiles;
    int err = count_tiles(v, at, bytes, &tiles);

    if (err != 0) {
        return err;
    }
    if (v->tile->size == 0) {
        return hl_type_cursor_init(c, HL_WALK_BYTES, v->tile, 0, NULL, 0);
    }
    err = hl_type_cursor_init(c, HL_WALK_BYTES, v->tile, tiles,
                              (const void *)(HL_VIEW_BASE + (uintptr_t)v->disp), at);
    return err == 0 ? 0 : hl_err_say(err, "no memory to walk over a filetype");
}

int hl_view_byte(const struct hl_view *v, int64_t at, int64_t *place)
{
    struct hl_type_cursor c;
    char *addr = NULL;
    int err = hl_view_walk(v, at, 1, &c);

    if (err == 0) {
        hl_type_cursor_next(&c, 1, &addr);
        *place = hl_view_place(addr);
        hl_type_cursor_fini(&c);
    }
    return err;
}

int hl_view_range(const struct hl_view *v, int64_t at, int64_t bytes, int64_t *first, int64_t *end)
{
    const struct hl_type *tile = v->tile;
    int64_t extent = hl_type_extent(tile), own = at / tile->size, last = (at + bytes - 1) / tile->size;
    int err = hl_view_byte(v, at, first);

    err = err == 0 ? hl_view_byte(v, at + bytes - 1, end) : err;
    if (err != 0) {
        return err;
    }
    *end += 1;
    if (!v->apart) { /* a block may begin before bytes of the one before it, and end before it */
        *first = v->disp + own * extent + tile->true_lb;
        *end = v->disp + last * extent + tile->true_ub;
    } else if (own < last) { /* the next tile may begin before, the last but one end behind */
        int64_t next = v->disp + (own + 1) * extent + tile->true_lb;
        int64_t before = v->disp + (last - 1) * extent + tile->true_ub;
        *first = next < *first ? next : *first;
        *end = before > *end ? before : *end;
    }
    return 0;
}

/* Starts a walk over one tile at its byte `at`; places are counted from its origin. */
static int walk_tile(const struct hl_view *v, int64_t at, struct hl_type_cursor *c)
{
    int err = hl_type_cursor_init(c, HL_WALK_BYTES, v->tile, 1, (const void *)HL_VIEW_BASE, at);

    return err == 0 ? 0 : hl_err_say(err, "no memory to walk over a filetype");
}

/* Where etype `k` of a tile begins. */
static int place_in_tile(const struct hl_view *v, int64_t k, int64_t *place)
{
    struct hl_type_cursor c;
    char *addr = NULL;
    int err = walk_tile(v, k * v->unit, &c);

    if (err == 0) {
        hl_type_cursor_next(&c, 1, &addr);
        *place = hl_view_place(addr);
        hl_type_cursor_fini(&c);
    }
    return err;
}

/* search_tile by looking at every block. */
static int look_through_tile(const struct hl_view *v, int64_t from, int64_t *etype, int64_t *most)
{
    struct hl_type_cursor c;
    char *addr;
    int64_t at = 0, n, unit = v->unit;
    int err = walk_tile(v, 0, &c);

    if (err != 0) {
        return err;
    }
    *etype = v->tile->size / unit;
    *most = 0;
    while ((n = hl_type_cursor_next(&c, INT64_MAX, &addr)) > 0) {
        int64_t first = at / unit + (at % unit != 0), last = (at + n - 1) / unit;
        int64_t begin = hl_view_place(addr) + first * unit - at, end = begin + (last - first) * unit;
        int64_t found = from <= begin ? first : first + (from - begin - 1) / unit + 1;
        if (first <= last) { /* these etypes begin in the block */
            *etype = found <= last && found < *etype ? found : *etype;
            *most = end > *most ? end : *most;
        }
        at += n;
    }
    hl_type_cursor_fini(&c);
    return 0;
}

/* Finds the first etype of a tile that begins at or after byte `from` of it (their number: none does), and
 * where the farthest begins. */
static int search_tile(const struct hl_view *v, int64_t from, int64_t *etype, int64_t *most)
{
    int64_t low = 0, high = v->tile->size / v->unit, place = 0;

    if (!v->apart) {
        return look_through_tile(v, from, etype, most);
    }
    int err = place_in_tile(v, high - 1, most);
    while (err == 0 && low < high) {
        int64_t middle = low + (high - low) / 2;
        err = place_in_tile(v, middle, &place);
        if (place < from) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *etype = low;
    return err;
}

int hl_view_end(const struct hl_view *v, int64_t size, int64_t *etypes)
{
    int64_t each = v->tile->size / v->unit, extent = hl_type_extent(v->tile), from = size - v->disp;
    int64_t tiles = 0, most = 0, at = 0;

    *etypes = 0;
    if (each == 0 || from <= 0) {
        return 0;
    }
    int err = search_tile(v, from, &at, &most);
    if (err == 0 && at == each && extent > 0) { /* the first tile that reaches there, whatever lies before */
        tiles = (from - most - 1) / extent + 1;
        err = search_tile(v, from - (tiles - 1) * extent - extent, &at, &most);
    }
    if (err == 0 &&
        (__builtin_mul_overflow(tiles, each, etypes) || __builtin_add_overflow(*etypes, at, etypes))) {
        err =
            hl_err_say(HL_ERR_ARG, "more etypes than can be counted are before byte %lld of the view's file",
                       (long long)size);
    }
    return err;
}

int hl_view_etypes(const struct hl_view *v, const struct hl_type *type, int64_t count, int64_t *etypes)
{
    int64_t bytes = 0;
    int err = hl_rep_bytes(v->rep, type, count, &bytes);

    if (err == 0 && bytes % v->unit != 0) {
        err = hl_err_say(HL_ERR_TYPE, "%lld bytes are not a whole number of etypes of %lld bytes",
                         (long long)bytes, (long long)v->unit);
    }
    if (err == 0) {
        *etypes = bytes / v->unit;
    }
    return err;
}
