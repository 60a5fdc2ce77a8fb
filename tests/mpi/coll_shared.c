/* Collectives over node-shared memory: sizes around each threshold, every root, layouts that differ between
 * ranks, in place or not, operations that do not commute; counters prove which calls went that way.
 * usage: coll_shared SEED */
#include "mpi_test.h"

#include <hotlane.h>

/* Sizes in elements of 8 bytes: a note's head, a note, a chunk of a slice. */
static const int counts[] = {0,    1,    4,    5,    127,  128,   129,   1023, 1024,
                             1025, 3000, 2049, 4097, 8193, 16385, 33000, 40000};
enum { MOST = 40000, COUNTS = sizeof counts / sizeof *counts, GAP = 3 };

static MPI_Datatype sparse; /* 8 bytes, at the distance of GAP elements */
static uint64_t random_state;
static uint32_t *in, *out, *expected; /* pairs; room for `size` blocks of MOST elements, sparse ones */

static long long calls(void)
{
    long long value;
    CHECK_EQ(hotlane_counter("shared_calls", &value), 0);
    return value;
}

static uint32_t word(int rank, int i, int half)
{
    uint64_t state = (uint64_t)rank * 1000003 + (uint64_t)i * 2 + (uint64_t)half;
    return (uint32_t)(test_random(&state) >> 20) | 1;
}

/* Each rank draws its layout: elements one behind the other, or with gaps. */
struct side {
    MPI_Datatype type;
    int step; /* pairs from one element to the next */
};

static struct side draw_side(void)
{
    bool gaps = test_random(&random_state) % 3 == 0;
    return gaps ? (struct side){sparse, GAP} : (struct side){MPI_UINT64_T, 1};
}

static void fill(uint32_t *to, struct side s, int rank, int from, int n)
{
    for (int i = 0; i < n; i++) {
        to[2 * i * s.step] = word(rank, from + i, 0);
        to[2 * i * s.step + 1] = word(rank, from + i, 1);
    }
}

static void expect(const uint32_t *at, struct side s, int rank, int from, int n)
{
    for (int i = 0; i < n; i++) {
        CHECK_EQ(at[2 * i * s.step], word(rank, from + i, 0));
        CHECK_EQ(at[2 * i * s.step + 1], word(rank, from + i, 1));
    }
}

static uint32_t *block(uint32_t *buf, struct side s, int i, int n)
{
    return buf + 2 * (size_t)i * (size_t)n * (size_t)s.step;
}

static void test_bcast(int n, int root)
{
    struct side s = draw_side();
    memset(out, 0, 8 * (size_t)n * GAP);
    if (me == root) {
        fill(out, s, root, 0, n);
    }
    MPI_Bcast(out, n, s.type, root, MPI_COMM_WORLD);
    expect(out, s, root, 0, n);
}

static void test_gather(int n, int root)
{
    struct side s = draw_side(), r = draw_side();
    bool in_place = me == root && test_random(&random_state) % 2;
    fill(in, s, me, 0, n);
    if (in_place) {
        fill(block(out, r, me, n), r, me, 0, n);
    }
    MPI_Gather(in_place ? MPI_IN_PLACE : in, n, s.type, out, n, r.type, root, MPI_COMM_WORLD);
    for (int i = 0; me == root && i < size; i++) {
        expect(block(out, r, i, n), r, i, 0, n);
    }
    r = draw_side();
    if (test_random(&random_state) % 2) {
        fill(block(out, r, me, n), r, me, 0, n);
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, out, n, r.type, MPI_COMM_WORLD);
    } else {
        MPI_Allgather(in, n, s.type, out, n, r.type, MPI_COMM_WORLD);
    }
    for (int i = 0; i < size; i++) {
        expect(block(out, r, i, n), r, i, 0, n);
    }
}

static void test_scatter(int n, int root)
{
    struct side s = draw_side(), r = draw_side();
    for (int i = 0; me == root && i < size; i++) {
        fill(block(in, s, i, n), s, root, i, n);
    }
    bool in_place = me == root && test_random(&random_state) % 2;
    MPI_Scatter(in, n, s.type, in_place ? MPI_IN_PLACE : out, n, r.type, root, MPI_COMM_WORLD);
    if (!in_place) {
        expect(out, r, root, me, n);
    }
}

/* Block i has about n elements, none of some ranks. */
static int count_of(int i, int n)
{
    return (i + n) % 4 == 0 ? 0 : n - (i * 7) % (n + 1);
}

static void test_blocks_of_unlike_size(int n, int root)
{
    struct side s = draw_side(), r = draw_side();
    int n_of[16], at[16];
    for (int i = 0; i < size; i++) {
        n_of[i] = count_of(i, n);
        at[i] = i * n;
    }
    fill(in, s, me, 0, n_of[me]);
    MPI_Gatherv(in, n_of[me], s.type, out, n_of, at, r.type, root, MPI_COMM_WORLD);
    for (int i = 0; me == root && i < size; i++) {
        expect(block(out, r, i, n), r, i, 0, n_of[i]);
    }
    MPI_Allgatherv(in, n_of[me], s.type, out, n_of, at, r.type, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        expect(block(out, r, i, n), r, i, 0, n_of[i]);
    }
    for (int i = 0; me == root && i < size; i++) {
        fill(block(in, s, i, n), s, root, i, n_of[i]);
    }
    MPI_Scatterv(in, n_of, at, s.type, out, n_of[me], r.type, root, MPI_COMM_WORLD);
    expect(out, r, root, me, n_of[me]);
}

/* x -> a x + b composed: the order of operands matters. */
static void compose(void *left, void *right, int *len, MPI_Datatype *type)
{
    int step = *type == sparse ? GAP : 1;
    for (int i = 0; i < *len; i++) {
        uint32_t *f = (uint32_t *)left + 2 * i * step, *g = (uint32_t *)right + 2 * i * step;
        g[1] = g[0] * f[1] + g[1];
        g[0] *= f[0];
    }
}

static void expect_composed(const uint32_t *at, struct side s, int n)
{
    int one = 1;
    for (int i = 0; i < n; i++) {
        uint32_t f[2] = {word(0, i, 0), word(0, i, 1)};
        for (int r = 1; r < size; r++) {
            uint32_t g[2] = {word(r, i, 0), word(r, i, 1)};
            MPI_Datatype plain = MPI_UINT64_T;
            compose(f, g, &one, &plain);
            memcpy(f, g, sizeof f);
        }
        CHECK_EQ(at[2 * i * s.step], f[0]);
        CHECK_EQ(at[2 * i * s.step + 1], f[1]);
    }
}

static MPI_Op composition;

static void test_composition(int n, int root)
{
    struct side s = draw_side();
    bool in_place = test_random(&random_state) % 2;
    fill(in, s, me, 0, n);
    fill(out, s, me, 0, n);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, n, s.type, composition, MPI_COMM_WORLD);
    expect_composed(out, s, n);
    fill(out, s, me, 0, n);
    MPI_Reduce(in_place && me == root ? MPI_IN_PLACE : in, out, n, s.type, composition, root, MPI_COMM_WORLD);
    if (me == root) {
        expect_composed(out, s, n);
    }
}

/* Sums of numbers whose order shows in the last bits: the same on all ranks. */
static void test_sum(int n, int root)
{
    double *x = (double *)in, *sum = (double *)out, *other = (double *)expected, whole = 0;
    for (int i = 0; i < n; i++) {
        x[i] = 1.0 / (1 + word(me, i, 0) % 1000);
    }
    MPI_Allreduce(x, sum, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    memcpy(other, sum, 8 * (size_t)n);
    MPI_Bcast(other, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
    CHECK(memcmp(other, sum, 8 * (size_t)n) == 0);
    MPI_Reduce(x, other, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        whole = 0;
        for (int r = 0; r < size; r++) {
            whole += 1.0 / (1 + word(r, i, 0) % 1000);
        }
        CHECK(sum[i] > whole - 1e-9 && sum[i] < whole + 1e-9);
        CHECK(me != root || (other[i] > whole - 1e-9 && other[i] < whole + 1e-9));
    }
    memcpy(other, x, 8 * (size_t)n);
    MPI_Allreduce(MPI_IN_PLACE, other, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(memcmp(other, sum, 8 * (size_t)n) == 0);
    memcpy(other, x, 8 * (size_t)n);
    MPI_Reduce(me == root ? MPI_IN_PLACE : other, other, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        CHECK(me == root ? other[i] > sum[i] - 1e-9 && other[i] < sum[i] + 1e-9 : other[i] == x[i]);
    }
}

/* MINLOC's type has a gap at its end. */
static void test_minloc(int n)
{
    struct pair {
        double value;
        int rank;
    } *x = (struct pair *)in, *least = (struct pair *)out;
    for (int i = 0; i < n; i++) {
        x[i].value = word(me, i, 0) % 3;
        x[i].rank = me;
    }
    MPI_Allreduce(x, least, n, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        int first = 0;
        for (int r = 1; r < size; r++) {
            first = word(r, i, 0) % 3 < word(first, i, 0) % 3 ? r : first;
        }
        CHECK_EQ(least[i].rank, first);
    }
}

/* Calls that must have gone over shared memory since `before`; `most`: all of them if they may. */
static void check_calls(long long before, int most)
{
    const char *near = getenv("HOTLANE_NEAR"), *cliques = getenv("HOTLANE_CLIQUES"),
               *cma = getenv("HOTLANE_CMA");
    bool none = size == 1 || (near != NULL && strcmp(near, "1") != 0);
    long long made = calls() - before;
    if (none) {
        CHECK_EQ(made, 0);
    } else if (cliques == NULL && cma == NULL) {
        CHECK_EQ(made, most);
    } else if (size > 2) {
        CHECK(made > 0 && made < most);
    }
}

/* Nonblocking and persistent ones between blocking ones, ended in another order. */
static void test_mixed(void)
{
    MPI_Request r[3];
    int a = me == 0 ? 7 : 0, b = me, c = 0, d = me, e = 0;
    MPI_Ibcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iallreduce(&b, &c, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[1]);
    MPI_Allreduce_init(&d, &e, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &r[2]);
    MPI_Start(&r[2]);
    MPI_Allreduce(MPI_IN_PLACE, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    MPI_Bcast(&b, 0, MPI_INT, size - 1, MPI_COMM_WORLD);
    MPI_Wait(&r[2], MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&r[2]);
    CHECK(a == 7 && c == size * (size - 1) / 2 && e == size - 1);
}

/* Memory that peers can map on some ranks, which must not decide how the data goes on others. */
static void *take_room(size_t bytes, bool mapped)
{
    void *at;
    if (!mapped) {
        return calloc(1, bytes);
    }
    MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &at);
    return memset(at, 0, bytes);
}

static void give_room(void *at, bool mapped)
{
    if (mapped) {
        MPI_Free_mem(at);
    } else {
        free(at);
    }
}

int main(int argc, char **argv)
{
    test_start(1);
    random_state = (uint64_t)(argc > 1 ? atoi(argv[1]) : 1) * 1000 + (uint64_t)me;
    size_t room = 8 * (size_t)size * MOST * GAP + 64;
    in = take_room(room, me % 2 == 1);
    out = take_room(room, me % 3 == 1);
    expected = calloc(1, room);
    MPI_Type_create_resized(MPI_UINT64_T, 0, 8 * GAP, &sparse);
    MPI_Type_commit(&sparse);
    MPI_Op_create(compose, 0, &composition);
    for (int i = 0; i < 4; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int k = 0; k < COUNTS; k++) {
        int n = counts[k], root = k % size;
        long long before = calls();
        MPI_Barrier(MPI_COMM_WORLD);
        test_bcast(n, root);
        test_gather(n, root);
        test_scatter(n, root);
        test_blocks_of_unlike_size(n, root);
        test_composition(n, root);
        test_sum(n, root);
        test_minloc(n);
        check_calls(before, 16);
        test_mixed();
    }
    test_sum(MOST * GAP * size, size - 1);
    MPI_Op_free(&composition);
    MPI_Type_free(&sparse);
    give_room(in, me % 2 == 1);
    give_room(out, me % 3 == 1);
    free(expected);
    MPI_Finalize();
    return 0;
}
