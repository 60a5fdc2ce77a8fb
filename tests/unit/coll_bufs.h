/* Datatypes of odd shapes, and buffers that notice stray writes. */
#ifndef COLL_BUFS_H
#define COLL_BUFS_H

#include "coll_sim.h"

/* ---- Datatypes: each rank may see the same bytes through another one ---- */

enum { TYPES = 5 };

/* Types whose data are `size` bytes each: plain bytes, with a hole, with a negative lower bound, ... */
static struct hl_type *type_of_size(int64_t size, int which)
{
    struct hl_type *byte = hl_type_of(MPI_BYTE), *t = NULL, *wide = NULL;
    int64_t half = size / 2, displs[2] = {3, 3 + half + 5}, lens[2] = {half, size - half};

    switch (which) {
    case 0:
        ck_assert_int_eq(hl_type_make_contiguous(size, byte, &t), 0);
        break;
    case 1:
        ck_assert_int_eq(hl_type_make_indexed(2, lens, 0, displs, true, byte, &t), 0);
        break;
    case 2:
        ck_assert_int_eq(hl_type_make_contiguous(size, byte, &wide), 0);
        ck_assert_int_eq(hl_type_make_resized(wide, -4, size + 9, &t), 0);
        break;
    case 3: /* neighbours are below */
        ck_assert_int_eq(hl_type_make_contiguous(size, byte, &wide), 0);
        ck_assert_int_eq(hl_type_make_resized(wide, 0, -(size + 2), &t), 0);
        break;
    default:
        ck_assert_int_eq(hl_type_make_vector(size, 1, 3, false, byte, &t), 0);
        break;
    }
    if (wide != NULL) {
        hl_type_unref(wide);
    }
    ck_assert_int_eq(hl_type_commit(t), 0);
    return t;
}

static struct hl_type *types[13][TYPES]; /* by bytes of data */
static const int sizes[] = {1, 4, 8, 12};

static void make_types(void)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int k = 0; k < TYPES; k++) {
            types[sizes[i]][k] = type_of_size(sizes[i], k);
        }
    }
}

static void free_types(void)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int k = 0; k < TYPES; k++) {
            hl_type_free(types[sizes[i]][k]);
        }
    }
}

/* ---- Buffers: an image of all memory around, so that stray writes are seen ---- */

struct image {
    char *mem, *want; /* what is there, what must be there at the end */
    size_t len;
    char *buf; /* where element 0 is */
};

static struct image new_image(int64_t low, int64_t high)
{
    struct image m = {.len = (size_t)(high - low) + 64};

    m.mem = malloc(m.len);
    m.want = malloc(m.len);
    for (size_t i = 0; i < m.len; i++) {
        m.mem[i] = m.want[i] = (char)rand();
    }
    m.buf = m.mem + 32 - low;
    return m;
}

/* Room for elements [first, last] of a type. */
static struct image image_of(const struct hl_type *t, int64_t first, int64_t last)
{
    int64_t a = first * hl_type_extent(t), b = last * hl_type_extent(t);

    return new_image((a < b ? a : b) + t->true_lb, (a < b ? b : a) + t->true_ub);
}

static void set_bytes(const struct image *m, bool now, const struct hl_data *d, const char *packed)
{
    char *at = now ? d->buf : m->want + ((char *)d->buf - m->mem);

    NEED(hl_type_unpack(d->type, d->count, at, 0, packed, d->count * d->type->size) == 0, "unpacking failed");
}

/* Data that is there before and after. */
static void put_input(const struct image *m, const struct hl_data *d, const char *packed)
{
    set_bytes(m, true, d, packed);
    set_bytes(m, false, d, packed);
}

static void check_image(struct image *m, const char *name, const char *side, int rank)
{
    for (size_t i = 0; i < m->len; i++) {
        NEED(m->mem[i] == m->want[i], "%s: rank %d of %d, %s buffer differs at %zd", name, rank, sim_size,
             side, (ptrdiff_t)i - (m->buf - m->mem));
    }
    free(m->mem);
    free(m->want);
}

#endif
