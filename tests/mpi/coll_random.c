/* Random collectives against what the standard says, each rank with datatypes of its own. usage: coll_random
 * ROUNDS All ranks draw the call from one generator; how a rank lays out its data, it draws alone. */
#include "mpi_test.h"

static uint64_t shared, own; /* generators: the same on all ranks, mine */
static uint32_t round_no;

static int draw(int n)
{
    return (int)(test_random(&shared) % (uint64_t)n);
}

static int draw_own(int n)
{
    return (int)(test_random(&own) % (uint64_t)n);
}

/* Datatypes of one uint32_t each. */
struct layout {
    MPI_Datatype type;
    ptrdiff_t offset, extent;
};
enum { LAYOUTS = 4 };
static struct layout layouts[LAYOUTS];

static void make_layouts(void)
{
    MPI_Datatype shifted;
    MPI_Aint four = 4;
    int one = 1;

    layouts[0] = (struct layout){MPI_UINT32_T, 0, 4};
    layouts[1] = (struct layout){MPI_DATATYPE_NULL, 0, 12};
    MPI_Type_create_resized(MPI_UINT32_T, 0, 12, &layouts[1].type);
    layouts[2] = (struct layout){MPI_DATATYPE_NULL, 4, 8};
    MPI_Type_create_hindexed(1, &one, &four, MPI_UINT32_T, &shifted);
    MPI_Type_create_resized(shifted, 0, 8, &layouts[2].type);
    MPI_Type_free(&shifted);
    layouts[3] = (struct layout){MPI_DATATYPE_NULL, 0, 4};
    MPI_Type_contiguous(1, MPI_INT, &layouts[3].type);
    for (int i = 1; i < LAYOUTS; i++) {
        MPI_Type_commit(&layouts[i].type);
    }
}

static const struct layout *own_layout(void)
{
    return &layouts[draw_own(LAYOUTS)];
}

static uint32_t *at(void *buf, const struct layout *l, int64_t i)
{
    return (uint32_t *)(void *)((char *)buf + i * l->extent + l->offset);
}

/* Room for n elements, all bytes `fill`. */
static void *room(const struct layout *l, int64_t n, int fill)
{
    void *p = malloc((size_t)(n * l->extent + 16));

    memset(p, fill, (size_t)(n * l->extent + 16));
    return p;
}

/* Element k of what `from` sends to `to`. */
static uint32_t value(int from, int to, int64_t k)
{
    uint32_t x = round_no * 2654435761u + (uint32_t)from * 40503u + (uint32_t)to * 9973u + (uint32_t)k * 31u;
    return x ^ (x >> 13);
}

static void put_values(void *buf, const struct layout *l, int64_t first, int64_t n, int from, int to)
{
    for (int64_t k = 0; k < n; k++) {
        *at(buf, l, first + k) = value(from, to, k);
    }
}

static void check_values(void *buf, const struct layout *l, int64_t first, int64_t n, int from, int to)
{
    for (int64_t k = 0; k < n; k++) {
        uint32_t there = *at(buf, l, first + k);
        if (there != value(from, to, k)) {
            fprintf(stderr, "rank %d, round %u: element %lld from %d is %x instead of %x\n", me, round_no,
                    (long long)k, from, there, value(from, to, k));
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

static int draw_count(int most)
{
    int sort = draw(8);

    return sort == 0 ? draw(2) : sort < 6 ? draw(200) : draw(most);
}

static void test_bcast(void)
{
    int n = draw_count(300000), root = draw(size);
    const struct layout *l = own_layout();
    void *buf = room(l, n, 0);

    if (me == root) {
        put_values(buf, l, 0, n, root, 0);
    }
    CHECK_EQ(MPI_Bcast(buf, n, l->type, root, MPI_COMM_WORLD), MPI_SUCCESS);
    check_values(buf, l, 0, n, root, 0);
    free(buf);
}

/* Counts and places of blocks: n[i] elements, of which all ranks know all. */
static int block_n[64], block_at[64], total;

static void make_blocks(bool different, int most)
{
    int n = draw_count(most);

    total = 0;
    for (int i = 0; i < size; i++) {
        block_n[i] = different ? draw(n + 1) : n;
        block_at[i] = total + (different ? i : 0);
        total += block_n[i];
    }
    total += size;
}

static void test_gather(bool different, bool to_all)
{
    int root = draw(size);
    bool in_place = draw(2), gets = to_all || me == root;
    const struct layout *s = own_layout(), *r = own_layout();

    make_blocks(different, 20000);
    void *out = room(s, block_n[me], 0), *in = room(r, total, 0x55);
    put_values(out, s, 0, block_n[me], me, 0);
    if (in_place && gets) {
        put_values(in, r, block_at[me], block_n[me], me, 0);
    }
    void *sendbuf = in_place && gets ? MPI_IN_PLACE : out;
    if (to_all && different) {
        MPI_Allgatherv(sendbuf, block_n[me], s->type, in, block_n, block_at, r->type, MPI_COMM_WORLD);
    } else if (to_all) {
        MPI_Allgather(sendbuf, block_n[me], s->type, in, block_n[0], r->type, MPI_COMM_WORLD);
    } else if (different) {
        MPI_Gatherv(sendbuf, block_n[me], s->type, in, block_n, block_at, r->type, root, MPI_COMM_WORLD);
    } else {
        MPI_Gather(sendbuf, block_n[me], s->type, in, block_n[0], r->type, root, MPI_COMM_WORLD);
    }
    for (int i = 0; i < size && gets; i++) {
        check_values(in, r, block_at[i], block_n[i], i, 0);
        if (different) {
            CHECK_EQ(*at(in, r, block_at[i] + block_n[i]), 0x55555555);
        }
    }
    free(out);
    free(in);
}

static void test_scatter(bool different)
{
    int root = draw(size);
    bool in_place = draw(2) && me == root;
    const struct layout *s = own_layout(), *r = own_layout();

    make_blocks(different, 20000);
    void *out = room(s, total, 0), *in = room(r, block_n[me], 0);
    for (int i = 0; i < size; i++) {
        put_values(out, s, block_at[i], block_n[i], root, i);
    }
    void *recvbuf = in_place ? MPI_IN_PLACE : in;
    if (different) {
        MPI_Scatterv(out, block_n, block_at, s->type, recvbuf, block_n[me], r->type, root, MPI_COMM_WORLD);
    } else {
        MPI_Scatter(out, block_n[0], s->type, recvbuf, block_n[me], r->type, root, MPI_COMM_WORLD);
    }
    if (!in_place) {
        check_values(in, r, 0, block_n[me], root, me);
    }
    free(out);
    free(in);
}

/* n elements from a to b, the same both ways when in place. */
static int pair_n(int a, int b, int most, bool both)
{
    if (both && a > b) {
        int c = a;
        a = b;
        b = c;
    }
    return (int)(value(a, b, 77) % (uint32_t)(most + 1)) * (value(a, b, 78) % 3 != 0);
}

static void test_alltoallv(void)
{
    int most = draw_count(5000), sn[64], sat[64], rn[64], rat[64], st = 0, rt = 0;
    bool in_place = draw(3) == 0;
    const struct layout *s = own_layout(), *r = own_layout();

    for (int i = size - 1; i >= 0; i--) {
        sn[i] = pair_n(me, i, most, in_place);
        rn[i] = pair_n(i, me, most, in_place);
        sat[i] = st;
        rat[i] = rt;
        st += sn[i];
        rt += rn[i] + 1;
    }
    void *out = room(s, st, 0), *in = room(r, rt, 0x55);
    for (int i = 0; i < size; i++) {
        put_values(out, s, sat[i], sn[i], me, i);
        if (in_place) {
            put_values(in, r, rat[i], rn[i], me, i);
        }
    }
    MPI_Alltoallv(in_place ? MPI_IN_PLACE : out, sn, sat, s->type, in, rn, rat, r->type, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        check_values(in, r, rat[i], rn[i], i, me);
        CHECK_EQ(*at(in, r, rat[i] + rn[i]), 0x55555555);
    }
    free(out);
    free(in);
}

static void test_alltoall(void)
{
    int n = draw_count(5000);
    bool in_place = draw(3) == 0;
    const struct layout *s = own_layout(), *r = own_layout();
    void *out = room(s, (int64_t)n * size, 0), *in = room(r, (int64_t)n * size, 0);

    for (int i = 0; i < size; i++) {
        put_values(out, s, (int64_t)i * n, n, me, i);
        if (in_place) {
            put_values(in, r, (int64_t)i * n, n, me, i);
        }
    }
    MPI_Alltoall(in_place ? MPI_IN_PLACE : out, n, s->type, in, n, r->type, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        check_values(in, r, (int64_t)i * n, n, i, me);
    }
    free(out);
    free(in);
}

/* x -> a x + b, as pairs of elements; first the left one, then the right one. */
static void compose(void *left, void *right, int *len, MPI_Datatype *type)
{
    const uint32_t *f = left;
    uint32_t *g = right;

    (void)type;
    for (int i = 0; i < 2 * *len; i += 2) {
        g[i + 1] += g[i] * f[i + 1];
        g[i] *= f[i];
    }
}

static MPI_Op composition;
static MPI_Datatype pair;

/* What ranks first .. last get together, by the sort of reduction, in tmp[0 .. n). */
static void reduce_values(uint32_t *tmp, int sort, int n, int first, int last)
{
    for (int k = 0; k < n; k++) {
        tmp[k] = value(first, 0, k);
    }
    for (int rank = first + 1; rank <= last; rank++) {
        for (int k = 0; k < n; k++) {
            uint32_t v = value(rank, 0, k);
            if (sort == 0) {
                tmp[k] += v;
            } else if (sort == 1) {
                tmp[k] = v > tmp[k] ? v : tmp[k];
            } else if (k % 2 == 0) {
                uint32_t b = value(rank, 0, k + 1);
                tmp[k + 1] = b + v * tmp[k + 1];
                tmp[k] *= v;
            }
        }
    }
}

static void check_reduced(const uint32_t *in, int sort, int first_k, int n, int all, int last)
{
    uint32_t *want = malloc(((size_t)all + 2) * 4);

    reduce_values(want, sort, all, 0, last);
    for (int k = 0; k < n; k++) {
        if (in[k] != want[first_k + k]) {
            fprintf(stderr, "rank %d, round %u, reduction %d: element %d of %d is %x instead of %x\n", me,
                    round_no, sort, k, n, in[k], want[first_k + k]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    free(want);
}

enum { REDUCE, ALLREDUCE, SCAN, EXSCAN, SPREAD_EQUAL, SPREAD };

static int reduce_blocks(int what, int unit)
{
    int n = draw_count(what >= SPREAD_EQUAL ? 5000 : 40000) / unit;

    total = 0;
    for (int i = 0; i < size; i++) {
        block_n[i] = what == SPREAD ? draw(n + 1) : n;
        block_at[i] = total;
        total += block_n[i];
    }
    return what >= SPREAD_EQUAL ? total : n;
}

static void call_reduction(int what, void *out, void *in, int n, MPI_Datatype type, MPI_Op op, int root)
{
    switch (what) {
    case REDUCE:
        MPI_Reduce(out, in, n, type, op, root, MPI_COMM_WORLD);
        break;
    case ALLREDUCE:
        MPI_Allreduce(out, in, n, type, op, MPI_COMM_WORLD);
        break;
    case SCAN:
        MPI_Scan(out, in, n, type, op, MPI_COMM_WORLD);
        break;
    case EXSCAN:
        MPI_Exscan(out, in, n, type, op, MPI_COMM_WORLD);
        break;
    case SPREAD_EQUAL:
        MPI_Reduce_scatter_block(out, in, block_n[0], type, op, MPI_COMM_WORLD);
        break;
    default:
        MPI_Reduce_scatter(out, in, block_n, type, op, MPI_COMM_WORLD);
        break;
    }
}

static void test_reduction(int what)
{
    int sort = draw(3), unit = sort == 2 ? 2 : 1, root = draw(size);
    MPI_Datatype type = sort == 2 ? pair : MPI_UINT32_T;
    MPI_Op op = sort == 0 ? MPI_SUM : sort == 1 ? MPI_MAX : composition;
    int n = reduce_blocks(what, unit), all = n * unit;
    bool in_place = draw(2) && (what != REDUCE || me == root);
    uint32_t *out = room(&layouts[0], all, 0), *in = room(&layouts[0], all, 0x55);

    put_values(out, &layouts[0], 0, all, me, 0);
    if (in_place) {
        put_values(in, &layouts[0], 0, all, me, 0);
    }
    call_reduction(what, in_place ? MPI_IN_PLACE : out, in, n, type, op, root);
    if (what == SPREAD || what == SPREAD_EQUAL) {
        check_reduced(in, sort, block_at[me] * unit, block_n[me] * unit, all, size - 1);
    } else if (what == SCAN) {
        check_reduced(in, sort, 0, all, all, me);
    } else if (what == EXSCAN && me > 0) {
        check_reduced(in, sort, 0, all, all, me - 1);
    } else if (what == ALLREDUCE || (what == REDUCE && me == root)) {
        check_reduced(in, sort, 0, all, all, size - 1);
    }
    CHECK_EQ(in[all], 0x55555555);
    free(out);
    free(in);
}

static void one_round(void)
{
    switch (draw(16)) {
    case 0:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case 1:
    case 2:
        test_bcast();
        break;
    case 3:
    case 4:
        test_gather(draw(2), false);
        break;
    case 5:
    case 6:
        test_gather(draw(2), true);
        break;
    case 7:
    case 8:
        test_scatter(draw(2));
        break;
    case 9:
        test_alltoall();
        break;
    case 10:
        test_alltoallv();
        break;
    default:
        test_reduction(draw(6));
        break;
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 300;

    test_start(1);
    shared = test_seed();
    own = shared + (argc > 2 ? 1 : (uint64_t)me + 1);
    make_layouts();
    MPI_Op_create(compose, 0, &composition);
    MPI_Type_contiguous(2, MPI_UINT32_T, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < rounds; i++) {
        round_no = (uint32_t)i;
        one_round();
    }
    MPI_Type_free(&pair);
    MPI_Op_free(&composition);
    for (int i = 1; i < LAYOUTS; i++) {
        MPI_Type_free(&layouts[i].type);
    }
    MPI_Finalize();
    return 0;
}
