/* Characters are computed with, by every call that computes: MPI_CHAR and MPI_CHARACTER as signed char,
 * MPI_WCHAR as wchar_t, MPI_SIGNED_CHAR and MPI_UNSIGNED_CHAR as what they are. */
#include "mpi_test.h"

#include <wchar.h>

enum { N = 37, OPS = 10, WIDEST = sizeof(wchar_t) };

static const MPI_Op ops[OPS] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX, MPI_BAND,
                                MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};

static const struct kind {
    MPI_Datatype type;
    int bytes;
    bool sign;
} kinds[] = {{MPI_CHAR, 1, true},
             {MPI_CHARACTER, 1, true},
             {MPI_SIGNED_CHAR, 1, true},
             {MPI_UNSIGNED_CHAR, 1, false},
             {MPI_WCHAR, WIDEST, WCHAR_MIN != 0}};

static long load(const struct kind *k, const void *at)
{
    if (k->bytes == 1) {
        return k->sign ? *(const signed char *)at : *(const unsigned char *)at;
    }
    wchar_t v; /* at any address */
    memcpy(&v, at, sizeof v);
    return v;
}

static void store(const struct kind *k, void *at, long v)
{
    if (k->bytes == 1) {
        *(unsigned char *)at = (unsigned char)v;
    } else {
        memcpy(at, &(wchar_t){(wchar_t)v}, sizeof(wchar_t));
    }
}

/* As it comes out of the type's bytes. */
static long cut(const struct kind *k, long v)
{
    wchar_t room;
    store(k, &room, v);
    return load(k, &room);
}

static long compute(int op, long a, long b)
{
    switch (op) {
    case 0:
        return a + b;
    case 1:
        return a * b;
    case 2:
        return b < a ? b : a;
    case 3:
        return b > a ? b : a;
    case 4:
        return a & b;
    case 5:
        return a | b;
    case 6:
        return a ^ b;
    case 7:
        return a && b;
    case 8:
        return a || b;
    default:
        return !a != !b;
    }
}

/* The i-th of a rank: of both signs, with zeros among them. */
static long value(const struct kind *k, int rank, int i)
{
    return cut(k, (i * 29 + rank * 71 + 3) % 13 == 0 ? 0 : i * 29 + rank * 71 - 100);
}

static void fill(const struct kind *k, char *at)
{
    for (int i = 0; i < N; i++) {
        store(k, at + i * k->bytes, value(k, me, i));
    }
}

/* Of all ranks up to the last. */
static long folded(const struct kind *k, int op, int last, int i)
{
    long v = value(k, 0, i);
    for (int r = 1; r <= last; r++) {
        v = cut(k, compute(op, v, value(k, r, i)));
    }
    return v;
}

static void reduce(const struct kind *k, int op)
{
    wchar_t in[N], out[N];
    fill(k, (char *)in);
    for (int call = 0; call < 6; call++) { /* messages first, shared memory then */
        CHECK_EQ(MPI_Allreduce(in, out, N, k->type, ops[op], MPI_COMM_WORLD), MPI_SUCCESS);
        for (int i = 0; i < N; i++) {
            CHECK_EQ(load(k, (char *)out + i * k->bytes), folded(k, op, size - 1, i));
        }
    }
    CHECK_EQ(MPI_Scan(in, out, N, k->type, ops[op], MPI_COMM_WORLD), MPI_SUCCESS);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(load(k, (char *)out + i * k->bytes), folded(k, op, me, i));
    }
    fill(k, (char *)out);
    CHECK_EQ(MPI_Reduce_local(in, out, N, k->type, ops[op]), MPI_SUCCESS);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(load(k, (char *)out + i * k->bytes), cut(k, compute(op, value(k, me, i), value(k, me, i))));
    }
}

/* Each rank updates the next one's memory, which holds that one's own values. */
static void accumulate(const struct kind *k, int op, MPI_Win win, char *base, int shift)
{
    int to = (me + 1) % size, from = (me + size - 1) % size;
    wchar_t in[N], was[N], one;
    fill(k, (char *)in);
    fill(k, base + shift);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(
        MPI_Get_accumulate(in, N - 2, k->type, was, N - 2, k->type, to, shift, N - 2, k->type, ops[op], win),
        MPI_SUCCESS);
    CHECK_EQ(MPI_Accumulate((char *)in + (N - 2) * k->bytes, 1, k->type, to, shift + (N - 2) * k->bytes, 1,
                            k->type, ops[op], win),
             MPI_SUCCESS);
    CHECK_EQ(MPI_Fetch_and_op((char *)in + (N - 1) * k->bytes, &one, k->type, to, shift + (N - 1) * k->bytes,
                              ops[op], win),
             MPI_SUCCESS);
    MPI_Win_flush(to, win);
    CHECK_EQ(load(k, &one), value(k, to, N - 1));
    for (int i = 0; i < N - 2; i++) {
        CHECK_EQ(load(k, (char *)was + i * k->bytes), value(k, to, i));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(load(k, base + shift + i * k->bytes),
                 cut(k, compute(op, value(k, me, i), value(k, from, i))));
    }
}

static void swap(const struct kind *k, MPI_Win win, char *base)
{
    int to = (me + 1) % size;
    wchar_t mine, wrong, right, was;
    store(k, &mine, -5);
    store(k, &right, 7);
    store(k, &wrong, 8);
    store(k, base, 7);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_Compare_and_swap(&mine, &wrong, &was, k->type, to, 0, win), MPI_SUCCESS);
    MPI_Win_flush(to, win);
    CHECK_EQ(load(k, &was), 7);
    CHECK_EQ(MPI_Compare_and_swap(&mine, &right, &was, k->type, to, 0, win), MPI_SUCCESS);
    MPI_Win_flush(to, win);
    CHECK_EQ(load(k, &was), 7);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    CHECK_EQ(load(k, base), cut(k, -5));
}

int main(void)
{
    MPI_Win win;
    char *base;
    test_start(1);
    MPI_Win_allocate(2 * N * WIDEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        for (int op = 0; op < OPS; op++) {
            reduce(&kinds[i], op);
            accumulate(&kinds[i], op, win, base, 0); /* by the CPU's or the provider's atomics */
            if (kinds[i].bytes > 1) {
                accumulate(&kinds[i], op, win, base, 1); /* and by the kernel under a lock */
            }
        }
        swap(&kinds[i], win, base);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
