/* Views: making them, and finding places in them. */
#include "view.h"

#include <stdlib.h>

#include "err.h"

#define PLACE_MAX (INT64_C(1) << 61)

static int check(const struct hl_view_ask *ask, int64_t unit)
{
    const struct hl_type *t = ask->filetype;

    if (ask->disp < 0 || ask->disp >= PLACE_MAX) {
        return hl_err_say(HL_ERR_ARG, "the displacement of a view is %lld", (long long)ask->disp);
    }
    if (unit == 0 || ask->etype->size == 0 || t->size % ask->etype->size != 0) {
        return hl_err_say(HL_ERR_ARG, "a filetype of %lld bytes is not made of etypes of %lld bytes",
                          (long long)t->size, (long long)ask->etype->size);
    }
    if (hl_type_extent(t) < 0 || !hl_view_is_ordered(t, ask->writes)) {
        return hl_err_say(HL_ERR_IO,
                          "the data of a filetype (from byte %lld, extent %lld) must follow each other from "
                          "its origin on%s",
                          (long long)t->true_lb, (long long)hl_type_extent(t),
                          ask->writes ? " and not overlap" : "");
    }
    return 0;
}

int hl_view_make(const struct hl_view_ask *ask, struct hl_view **made)
{
    struct hl_type *tile = NULL;
    int64_t unit = 0;
    int err = hl_rep_bytes(ask->rep, ask->etype, 1, &unit);

    err = err == 0 ? check(ask, unit) : err;
    if (err != 0) {
        return err;
    }
    err = hl_rep_tile(ask->rep, ask->filetype, &tile);
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
                          .unit = unit};
    hl_a32_store_relaxed(&v->refs, 1); /* relaxed: no other thread knows it yet. */
    hl_type_ref(v->etype);
    hl_type_ref(v->filetype);
    *made = v;
    return 0;
}

void hl_view_ref(struct hl_view *v)
{
    hl_a32_add_relaxed(&v->refs, 1); /* relaxed: the caller holds a reference or the file's lock. */
}

void hl_view_unref(struct hl_view *v)
{
    /* full: every use comes before the end; pairs with the same subtraction of the others. */
    if (hl_a32_add_full(&v->refs, UINT32_MAX) == 1) {
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
    int64_t size = v->tile->size, end, last;

    *tiles = 0;
    if (size == 0) {
        return bytes == 0 ? 0 : hl_err_say(HL_ERR_ARG, "the view of this rank is empty");
    }
    if (__builtin_add_overflow(at, bytes, &end) || end > PLACE_MAX) {
        return hl_err_say(HL_ERR_ARG, "%lld bytes at byte %lld of a view are beyond the end of all files",
                          (long long)bytes, (long long)at);
    }
    *tiles = (end + size - 1) / size;
    if (__builtin_mul_overflow(*tiles, hl_type_extent(v->tile), &last) ||
        __builtin_add_overflow(last, v->disp + v->tile->true_ub, &last) || last > PLACE_MAX) {
        return hl_err_say(HL_ERR_ARG, "%lld bytes at byte %lld of a view are beyond the end of all files",
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

/* Number of etypes in the tiles that begin before byte `size` of the file; more is no harm, as regions of
 * tiles may overlap. */
static int64_t etypes_of_tiles(const struct hl_view *v, int64_t size)
{
    int64_t first = v->disp + v->tile->true_lb, extent = hl_type_extent(v->tile), etypes;

    if (v->tile->size == 0 || size <= first) {
        return 0;
    }
    int64_t tiles = extent > 0 ? (size - 1 - first) / extent + 1 : 1;
    bool fits = !__builtin_mul_overflow(tiles, v->tile->size / v->unit, &etypes);
    return fits && etypes < PLACE_MAX / v->unit ? etypes : PLACE_MAX / v->unit;
}

int hl_view_end(const struct hl_view *v, int64_t size, int64_t *etypes)
{
    int64_t low = 0, high = etypes_of_tiles(v, size);

    while (low < high) {
        int64_t middle = low + (high - low) / 2, place = 0;
        int err = hl_view_byte(v, middle * v->unit, &place);
        if (err != 0) {
            return err;
        }
        if (place < size) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *etypes = low;
    return 0;
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
