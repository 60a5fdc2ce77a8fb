/* Derived datatypes on either side of puts, gets and accumulates: what arrives is what packing says. */
#include "rma.h"

#define N 96

static double *base;
static MPI_Win win;

static void clear(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        base[i] = -1.0;
    }
    meet_outside(win);
}

/* Offsets, in doubles, of the data of `count` elements of a type: by packing a buffer of indices. */
static int places(MPI_Datatype type, int count, int *out)
{
    double in[N], packed[N];
    int size, at = 0;
    for (int i = 0; i < N; i++) {
        in[i] = i;
    }
    MPI_Type_size(type, &size);
    MPI_Pack(in, count, type, packed, sizeof packed, &at, MPI_COMM_WORLD);
    for (int i = 0; i < at / (int)sizeof(double); i++) {
        out[i] = (int)packed[i];
    }
    return size * count / (int)sizeof(double);
}

static void round_trip(MPI_Datatype origin, int origin_count, MPI_Datatype target, int target_count, int disp)
{
    int from[N], to[N], n = places(origin, origin_count, from), m = places(target, target_count, to);
    int t = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    double out[N], in[N], twice[N];

    CHECK(n == m, "%d and %d elements", n, m);
    clear();
    for (int i = 0; i < N; i++) {
        out[i] = me * 1000.0 + i;
        in[i] = twice[i] = -3.0;
    }
    MPI_Win_lock_all(0, win);
    MPI_Put(out, origin_count, origin, t, disp, target_count, target, win);
    MPI_Win_flush(t, win);
    MPI_Get(in, origin_count, origin, t, disp, target_count, target, win);
    MPI_Win_flush(t, win);
    meet(win);
    double expect[N];
    for (int i = 0; i < N; i++) {
        expect[i] = -1.0;
    }
    for (int i = 0; i < n; i++) {
        expect[disp + to[i]] = left * 1000.0 + from[i];
        CHECK(in[from[i]] == out[from[i]], "got [%d] = %g", from[i], in[from[i]]);
        in[from[i]] = -3.0;
    }
    for (int i = 0; i < N; i++) {
        CHECK(base[i] == expect[i], "window [%d] = %g, not %g", i, base[i], expect[i]);
        CHECK(in[i] == -3.0, "untouched [%d] = %g", i, in[i]);
    }
    meet(win);
    MPI_Get_accumulate(out, origin_count, origin, twice, origin_count, origin, t, disp, target_count, target,
                       MPI_SUM, win);
    MPI_Win_flush(t, win);
    MPI_Accumulate(out, origin_count, origin, t, disp, target_count, target, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    meet_outside(win);
    for (int i = 0; i < n; i++) {
        CHECK(twice[from[i]] == out[from[i]], "fetched [%d] = %g", from[i], twice[from[i]]);
        expect[disp + to[i]] *= 3;
    }
    for (int i = 0; i < N; i++) {
        CHECK(base[i] == expect[i], "sum [%d] = %g, not %g", i, base[i], expect[i]);
    }
}

int main(int argc, char **argv)
{
    MPI_Datatype vector, block, indexed, strided, strct, resized, deep;
    int lens[] = {2, 1, 3}, displs[] = {9, 0, 4};
    MPI_Aint bytes[] = {0, 5 * sizeof(double)};
    int counts[] = {2, 4};
    MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_DOUBLE};

    begin(&argc, &argv);
    MPI_Win_allocate(N * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Type_vector(3, 2, 5, MPI_DOUBLE, &vector);
    MPI_Type_contiguous(6, MPI_DOUBLE, &block);
    MPI_Type_indexed(3, lens, displs, MPI_DOUBLE, &indexed);
    MPI_Type_create_struct(2, counts, bytes, parts, &strct);
    MPI_Type_create_resized(MPI_DOUBLE, 0, 3 * sizeof(double), &resized);
    MPI_Type_create_hvector(2, 1, 16 * sizeof(double), strct, &strided);
    MPI_Type_vector(2, 1, 2, vector, &deep);
    MPI_Datatype all[] = {vector, block, indexed, strct};
    MPI_Type_commit(&resized);
    MPI_Type_commit(&strided);
    MPI_Type_commit(&deep);
    for (int i = 0; i < 4; i++) {
        MPI_Type_commit(&all[i]);
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            round_trip(all[i], 1, all[j], 1, 7);
            round_trip(all[i], 2, all[j], 2, 0);
        }
        round_trip(all[i], 2, MPI_DOUBLE, 12, 3);
        round_trip(MPI_DOUBLE, 12, all[i], 2, 1);
        round_trip(resized, 6, all[i], 1, 2);
        round_trip(all[i], 1, resized, 6, 2);
        round_trip(strided, 1, all[i], 2, 2);
        round_trip(deep, 1, all[i], 2, 0);
    }
    MPI_Type_free(&deep);
    MPI_Type_free(&resized);
    MPI_Type_free(&strided);
    for (int i = 0; i < 4; i++) {
        MPI_Type_free(&all[i]);
    }
    MPI_Win_free(&win);
    return finish_checks("rma_types");
}
