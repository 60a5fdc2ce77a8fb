/* Every accumulate operation on every element type gives what a serial loop gives. */
#include "rma.h"

#include <stdint.h>

#define N 37

struct row {
    const char *name;
    MPI_Datatype type;
    int size;
    char sort; /* i integer, f floating, b byte, p pair of double and int */
};

static MPI_Win win;
static char *base;

static const MPI_Op *ops_of(char sort, int *n)
{
    static MPI_Op integer[10], floating[5], byte[4], pair[3];
    MPI_Op i[] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_BAND,
                  MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_REPLACE};
    MPI_Op f[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_REPLACE};
    MPI_Op b[] = {MPI_BAND, MPI_BOR, MPI_BXOR, MPI_REPLACE};
    MPI_Op p[] = {MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE};
    memcpy(integer, i, sizeof i);
    memcpy(floating, f, sizeof f);
    memcpy(byte, b, sizeof b);
    memcpy(pair, p, sizeof p);
    switch (sort) {
    case 'i':
        *n = 10;
        return integer;
    case 'f':
        *n = 5;
        return floating;
    case 'b':
        *n = 4;
        return byte;
    default:
        *n = 3;
        return pair;
    }
}

struct pair {
    double value;
    int index;
};

static void fill(const struct row *r, char *out, unsigned seed)
{
    for (int i = 0; i < N; i++) {
        int value = (int)((seed * 31u + (unsigned)i * 7u) % 5u);
        if (r->sort == 'f' && r->size == 4) {
            ((float *)out)[i] = (float)value;
        } else if (r->sort == 'f') {
            ((double *)out)[i] = value;
        } else if (r->sort == 'p') {
            ((struct pair *)out)[i] = (struct pair){value, (int)seed + i};
        } else {
            memset(out + i * r->size, 0, (size_t)r->size);
            out[i * r->size] = (char)value;
        }
    }
}

/* Equal data; the padding of pairs is nobody's. */
static int same(const struct row *r, const char *a, const char *b)
{
    if (r->sort != 'p') {
        return memcmp(a, b, (size_t)(N * r->size)) == 0;
    }
    const struct pair *x = (const void *)a, *y = (const void *)b;
    for (int i = 0; i < N; i++) {
        if (x[i].value != y[i].value || x[i].index != y[i].index) {
            return 0;
        }
    }
    return 1;
}

/* All ranks accumulate on rank 0, at an aligned and at an odd offset; the order does not matter but for
 * REPLACE, where one rank accumulates alone. */
static void one(const struct row *r, MPI_Op op, int shift)
{
    char mine[N * 16], expect[N * 16], was[N * 16];

    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        fill(r, mine, 99);
        memcpy(base + shift, mine, (size_t)(N * r->size));
    }
    meet(win);
    fill(r, mine, (unsigned)me);
    if (op != MPI_REPLACE || me == ranks - 1) {
        MPI_Accumulate(mine, N, r->type, 0, shift, N, r->type, op, win);
        MPI_Win_flush(0, win);
    }
    meet(win);
    fill(r, expect, 99);
    for (int i = 0; i < ranks; i++) {
        fill(r, mine, (unsigned)i);
        if (op == MPI_REPLACE) {
            memcpy(expect, mine, (size_t)(N * r->size));
        } else {
            MPI_Reduce_local(mine, expect, N, r->type, op);
        }
    }
    MPI_Get_accumulate(NULL, 0, r->type, was, N, r->type, 0, shift, N, r->type, MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    char name[64] = "";
    CHECK(same(r, was, expect), "%s at %d %s", r->name, shift, name);
}

/* Compare and swap, fetch and op: a counter and a maximum, of each integer type. */
static void fetching(const struct row *r)
{
    char one_[16] = {1}, was[16], compare[16] = {0}, sum[16] = {0};
    int hits = 0, all;

    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        memset(base, 0, 64);
    }
    meet(win);
    MPI_Compare_and_swap(one_, compare, was, r->type, 0, 16, win);
    MPI_Win_flush(0, win);
    hits = memcmp(was, compare, (size_t)r->size) == 0;
    MPI_Allreduce(&hits, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == 1, "%s: %d swapped", r->name, all);
    for (int i = 0; i < 3; i++) {
        MPI_Fetch_and_op(one_, was, r->type, 0, 32, MPI_SUM, win);
        MPI_Win_flush(0, win);
    }
    meet(win);
    MPI_Fetch_and_op(NULL, sum, r->type, 0, 32, MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    CHECK(sum[0] == (char)(3 * ranks), "%s: counter %d", r->name, sum[0]);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const struct row rows[] = {
        {"INT8", MPI_INT8_T, 1, 'i'},     {"INT16", MPI_INT16_T, 2, 'i'},
        {"INT32", MPI_INT32_T, 4, 'i'},   {"INT64", MPI_INT64_T, 8, 'i'},
        {"UINT8", MPI_UINT8_T, 1, 'i'},   {"UINT16", MPI_UINT16_T, 2, 'i'},
        {"UINT32", MPI_UINT32_T, 4, 'i'}, {"UINT64", MPI_UINT64_T, 8, 'i'},
        {"FLOAT", MPI_FLOAT, 4, 'f'},     {"DOUBLE", MPI_DOUBLE, 8, 'f'},
        {"BYTE", MPI_BYTE, 1, 'b'},       {"DOUBLE_INT", MPI_DOUBLE_INT, 16, 'p'},
    };
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int n;
        const MPI_Op *ops = ops_of(rows[i].sort, &n);
        for (int k = 0; k < n; k++) {
            one(&rows[i], ops[k], 0);
            one(&rows[i], ops[k], 3);
        }
        if (rows[i].sort == 'i') {
            fetching(&rows[i]);
        }
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return finish_checks("rma_acc");
}
