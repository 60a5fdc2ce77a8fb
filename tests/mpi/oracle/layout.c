/* Random layouts: a list of places and a datatype that says the same. */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 64 };

/* The repeated part of a layout of one basic type: m elements, places relative to the address. */
struct inner {
    const struct basic *b;
    int m, *at;
    int extent; /* bytes from one repetition to the next */
    MPI_Datatype type;
};

/* Blocks of random lengths with random gaps: lengths and first slots. */
struct blocks {
    int n;
    int lens[BLOCKS], first[BLOCKS];
    int low, high; /* slots: first one used, one behind the last */
};

static int divisor(struct rng *r, int n)
{
    int d = 1 + pick(r, 4);
    return n % d == 0 ? d : 1;
}

static void draw_blocks(struct blocks *k, struct rng *r, int m, bool single)
{
    int slot = pick(r, 3), longest = m > BLOCKS ? (m + BLOCKS - 1) / BLOCKS * 2 : 3;
    *k = (struct blocks){.n = 0, .low = slot};
    while (m > 0) {
        int len = single ? 1 : 1 + pick(r, longest);
        len = len > m || k->n == BLOCKS - 1 ? m : len;
        k->lens[k->n] = len;
        k->first[k->n++] = slot;
        k->high = slot + len;
        slot += len + pick(r, 4);
        m -= len;
    }
    for (int i = 0; pick(r, 2) && i + 1 < k->n; i += 2) { /* not in the order of addresses */
        int len = k->lens[i], first = k->first[i];
        k->lens[i] = k->lens[i + 1];
        k->first[i] = k->first[i + 1];
        k->lens[i + 1] = len;
        k->first[i + 1] = first;
    }
}

/* Places of the blocks, moved by `shift` slots. */
static void place_blocks(struct inner *in, const struct blocks *k, int shift)
{
    int n = 0;
    for (int i = 0; i < k->n; i++) {
        for (int j = 0; j < k->lens[i]; j++) {
            in->at[n++] = (k->first[i] + shift + j) * in->b->extent;
        }
    }
    in->extent = (k->high - k->low) * in->b->extent;
}

static void make_strided(struct inner *in, struct rng *r)
{
    int len = divisor(r, in->m), n = in->m / len, stride = len + pick(r, 4), from = 0;
    int how = pick(r, 3), ext = in->b->extent;

    if (how == 0) {
        MPI_Type_vector(n, len, stride, in->b->type, &in->type);
    } else if (how == 1) {
        MPI_Type_create_hvector(n, len, (MPI_Aint)stride * ext, in->b->type, &in->type);
    } else {
        from = pick(r, stride - len + 1);
        MPI_Type_create_subarray(2, (int[]){n, stride}, (int[]){n, len}, (int[]){0, from}, MPI_ORDER_C,
                                 in->b->type, &in->type);
    }
    for (int i = 0; i < in->m; i++) {
        in->at[i] = (i / len * stride + from + i % len) * ext;
    }
    in->extent = (how == 2 ? n * stride : (n - 1) * stride + len) * ext;
}

static void make_indexed(struct inner *in, struct rng *r)
{
    struct blocks k;
    MPI_Aint bytes[BLOCKS];
    int how = pick(r, in->m > BLOCKS ? 2 : 4);

    draw_blocks(&k, r, in->m, how > 1);
    for (int i = 0; i < k.n; i++) {
        bytes[i] = (MPI_Aint)k.first[i] * in->b->extent;
    }
    if (how == 0) {
        MPI_Type_indexed(k.n, k.lens, k.first, in->b->type, &in->type);
    } else if (how == 1) {
        MPI_Type_create_hindexed(k.n, k.lens, bytes, in->b->type, &in->type);
    } else if (how == 2) {
        MPI_Type_create_indexed_block(k.n, 1, k.first, in->b->type, &in->type);
    } else {
        MPI_Type_create_hindexed_block(k.n, 1, bytes, in->b->type, &in->type);
    }
    place_blocks(in, &k, 0);
}

static void make_struct(struct inner *in, struct rng *r)
{
    struct blocks k;
    MPI_Aint bytes[BLOCKS];
    MPI_Datatype types[BLOCKS];
    int ones[BLOCKS];

    draw_blocks(&k, r, in->m, false);
    for (int i = 0; i < k.n; i++) {
        bytes[i] = (MPI_Aint)k.first[i] * in->b->extent;
        types[i] = in->b->type;
        ones[i] = k.lens[i];
        if (i % 2 == 1) { /* a field with a type of its own */
            MPI_Type_contiguous(k.lens[i], in->b->type, &types[i]);
            ones[i] = 1;
        }
    }
    MPI_Type_create_struct(k.n, ones, bytes, types, &in->type);
    for (int i = 1; i < k.n; i += 2) {
        MPI_Type_free(&types[i]);
    }
    place_blocks(in, &k, 0);
}

static void make_resized(struct inner *in, struct rng *r)
{
    MPI_Datatype old;
    int ext = in->b->extent, slots = in->m + pick(r, 4);

    MPI_Type_contiguous(in->m, in->b->type, &old);
    MPI_Type_create_resized(old, (MPI_Aint)pick(r, 3) * ext, (MPI_Aint)slots * ext, &in->type);
    MPI_Type_free(&old);
    for (int i = 0; i < in->m; i++) {
        in->at[i] = i * ext;
    }
    in->extent = slots * ext;
}

/* Data or only the lower bound stand before the address. */
static void make_negative(struct inner *in, struct rng *r)
{
    struct blocks k;
    MPI_Aint bytes[BLOCKS];
    int shift, ext = in->b->extent, before = pick(r, 2) ? 0 : 1 + pick(r, 3);

    draw_blocks(&k, r, in->m, false);
    shift = -k.low - 1 - pick(r, k.high - k.low);
    for (int i = 0; i < k.n; i++) {
        bytes[i] = (MPI_Aint)(k.first[i] + shift) * ext;
    }
    MPI_Type_create_hindexed(k.n, k.lens, bytes, in->b->type, &in->type);
    place_blocks(in, &k, shift);
    if (before != 0) {
        MPI_Datatype old = in->type;
        MPI_Type_create_resized(old, (MPI_Aint)(k.low + shift - before) * ext,
                                in->extent + (MPI_Aint)before * ext, &in->type);
        MPI_Type_free(&old);
        in->extent += before * ext;
    }
}

static void make_dense(struct inner *in, struct rng *r)
{
    for (int i = 0; i < in->m; i++) {
        in->at[i] = i * in->b->extent;
    }
    in->extent = in->m * in->b->extent;
    MPI_Type_contiguous(in->m, in->b->type, &in->type);
}

/* A struct of several basic types; its extent is set, as rounding by alignment is the implementation's. */
static void make_mixed(struct layout *l, struct rng *r, int *extent)
{
    MPI_Aint bytes[BLOCKS];
    MPI_Datatype types[BLOCKS], old;
    int ones[BLOCKS], at = pick(r, 4), low = at;

    for (int i = 0; i < l->n_of; i++) {
        bytes[i] = l->at[i] = at;
        types[i] = l->of[i]->type;
        ones[i] = 1;
        at += l->of[i]->extent + pick(r, 4);
    }
    MPI_Type_create_struct(l->n_of, ones, bytes, types, &old);
    MPI_Type_create_resized(old, low, at - low, &l->type);
    MPI_Type_free(&old);
    *extent = at - low;
}

/* From places relative to the address to places relative to the first byte. */
static void settle(struct layout *l)
{
    int low = l->at[0], high = l->at[0];
    for (int i = 0; i < l->n; i++) {
        int end = l->at[i] + l->of[i % l->n_of]->end;
        low = l->at[i] < low ? l->at[i] : low;
        high = end > high ? end : high;
    }
    for (int i = 0; i < l->n; i++) {
        l->at[i] -= low;
    }
    l->zero = -low;
    l->bytes = high - low;
}

void layout_make(struct layout *l, struct rng *r, enum shape shape, int n, const struct basic *const *of,
                 int n_of)
{
    static void (*const makers[SHAPES])(struct inner *, struct rng *) = {
        [DENSE] = make_dense,   [STRIDED] = make_strided, [INDEXED] = make_indexed,
        [STRUCT] = make_struct, [RESIZED] = make_resized, [NEGATIVE] = make_negative,
    };
    int extent;
    *l = (struct layout){.shape = n_of > 1 ? STRUCT : shape, .n = n, .n_of = n_of, .of = of};
    l->at = malloc((size_t)n * sizeof *l->at);
    if (n_of > 1) {
        l->count = n / n_of;
        make_mixed(l, r, &extent);
    } else if (shape == DENSE && (n == 1 || pick(r, 4) != 0)) {
        l->count = n;
        l->type = of[0]->type;
        l->at[0] = 0;
        extent = of[0]->extent;
    } else {
        l->count = divisor(r, n);
        struct inner in = {.b = of[0], .m = n / l->count, .at = l->at};
        makers[shape](&in, r);
        l->type = in.type;
        extent = in.extent;
    }
    int m = n / l->count;
    for (int i = m; i < n; i++) {
        l->at[i] = l->at[i % m] + i / m * extent;
    }
    if (l->type != of[0]->type) {
        MPI_Type_commit(&l->type);
    }
    settle(l);
}

void layout_align(struct layout *l, struct rng *r, int position, int unit)
{
    int address = position + l->zero, aligned = address < 0 ? 0 : address / unit * unit;
    if (aligned == address) {
        return;
    }
    aligned += address > 0 && pick(r, 2) ? unit : 0;
    MPI_Datatype old = l->type, whole;
    MPI_Aint moved = address - aligned;
    MPI_Type_contiguous(l->count, old, &whole);
    MPI_Type_create_hindexed_block(1, 1, &moved, whole, &l->type);
    MPI_Type_commit(&l->type);
    MPI_Type_free(&whole);
    if (old != l->of[0]->type) {
        MPI_Type_free(&old);
    }
    l->count = 1;
    l->zero -= (int)moved;
    l->shape = moved < 0 ? NEGATIVE : l->shape == DENSE ? INDEXED : l->shape;
}

void layout_free(struct layout *l)
{
    if (l->at != NULL && l->type != l->of[0]->type) {
        MPI_Type_free(&l->type);
    }
    free(l->at);
    *l = (struct layout){0};
}

static const char *const class_names[CLASSES] = {"dense",   "strided",  "indexed", "struct",
                                                 "resized", "negative", "pair",    "16-byte"};

const char *layout_name(const struct layout *l)
{
    return l->at == NULL ? "none" : class_names[l->shape];
}

const char *class_name(int class)
{
    return class_names[class];
}
