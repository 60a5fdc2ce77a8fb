/* usage: p2p_layouts ROUNDS: what is sent in one random layout arrives in another one of the same elements,
 * byte for byte as a plain list of places says, and what lies between them is untouched. Any number of ranks;
 * TEST_SEED repeats a run. */
#include "mpi_test.h"

enum { MOST = 1500, MOST_INTS = 80000 };

static uint64_t state; /* the same on all ranks */

static int upto(int n)
{
    return (int)(test_random(&state) % (uint64_t)n);
}

/* Integers at these bytes, in the order of the type map; the next element follows after `extent`. */
struct layout {
    MPI_Datatype type;
    int n;
    long at[MOST], extent;
};

static void one_int(struct layout *l)
{
    MPI_Type_dup(MPI_INT, &l->type);
    l->n = 1;
    l->at[0] = 0;
    l->extent = 4;
}

/* `len` elements of `old` from byte `disp` on are next in `l`. */
static void append(struct layout *l, const struct layout *old, long disp, int len)
{
    for (int j = 0; j < len; j++) {
        for (int i = 0; i < old->n; i++) {
            l->at[l->n++] = disp + j * old->extent + old->at[i];
        }
    }
}

/* The bounds are said, so that they are the model's. */
static void finish(struct layout *l, MPI_Datatype made, long extent)
{
    l->extent = extent + 4 * upto(3);
    MPI_Type_create_resized(made, 0, l->extent, &l->type);
    MPI_Type_free(&made);
}

static void make_vector(struct layout *l, const struct layout *old)
{
    MPI_Datatype made;
    int k = 1 + upto(6), len = 1 + upto(3);
    long stride = len * old->extent + upto(9); /* bytes: also such that divide by nothing */
    MPI_Type_create_hvector(k, len, stride, old->type, &made);
    for (int i = 0; i < k; i++) {
        append(l, old, i * stride, len);
    }
    finish(l, made, k * stride);
}

/* Blocks of unlike length with holes, the last one first in memory or not. */
static void make_indexed(struct layout *l, const struct layout *old)
{
    MPI_Datatype made;
    int k = 1 + upto(5), lens[5];
    MPI_Aint at[5], next = 0;
    bool backwards = upto(2);
    for (int i = 0; i < k; i++) {
        int b = backwards ? k - 1 - i : i;
        lens[b] = upto(4);
        at[b] = next + upto(7);
        next = at[b] + lens[b] * old->extent;
    }
    MPI_Type_create_hindexed(k, lens, at, old->type, &made);
    for (int i = 0; i < k; i++) {
        append(l, old, at[i], lens[i]);
    }
    finish(l, made, next + 4);
}

static void make_struct(struct layout *l, const struct layout *old)
{
    static struct layout alone;
    MPI_Datatype made;
    int lens[3] = {1 + upto(2), 1 + upto(3), upto(2)};
    MPI_Aint at[3] = {upto(5), 0, 0};
    at[1] = at[0] + 4 * lens[0] + upto(5);
    at[2] = at[1] + lens[1] * old->extent + upto(5);
    one_int(&alone);
    MPI_Datatype parts[3] = {MPI_INT, old->type, MPI_INT};
    MPI_Type_create_struct(3, lens, at, parts, &made);
    append(l, &alone, at[0], lens[0]);
    append(l, old, at[1], lens[1]);
    append(l, &alone, at[2], lens[2]);
    MPI_Type_free(&alone.type);
    finish(l, made, at[2] + 4 * lens[2]);
}

static void make_subarray(struct layout *l, const struct layout *old)
{
    MPI_Datatype made;
    int sizes[2] = {1 + upto(4), 1 + upto(4)};
    int parts[2] = {1 + upto(sizes[0]), 1 + upto(sizes[1])};
    int first[2] = {upto(sizes[0] - parts[0] + 1), upto(sizes[1] - parts[1] + 1)};
    MPI_Type_create_subarray(2, sizes, parts, first, MPI_ORDER_C, old->type, &made);
    for (int i = 0; i < parts[0]; i++) {
        append(l, old, (long)((first[0] + i) * sizes[1] + first[1]) * old->extent, parts[1]);
    }
    finish(l, made, (long)sizes[0] * sizes[1] * old->extent);
}

static void draw_layout(struct layout *l)
{
    static void (*const makers[])(struct layout *, const struct layout *) = {make_vector, make_indexed,
                                                                             make_struct, make_subarray};
    static struct layout old;
    one_int(l);
    for (int depth = upto(4); depth > 0 && l->n * 24 < MOST; depth--) {
        old = *l;
        l->n = 0;
        makers[upto(4)](l, &old);
        MPI_Type_free(&old.type);
    }
    MPI_Type_commit(&l->type);
}

static int value(int rank, int round, int k)
{
    return rank * 10000019 + round * 7919 + k * 3 + 1;
}

/* The first n integers of `rank` lie there. */
static void lay_out(char *buf, const struct layout *l, int rank, int round, int n)
{
    for (int k = 0; k < n; k++) {
        int v = value(rank, round, k);
        memcpy(buf + (k / l->n) * l->extent + l->at[k % l->n], &v, sizeof v);
    }
}

enum { PLAIN, SYNCHRONOUS, PACKED, MATCHED, WAYS };

struct side {
    struct layout l;
    int count, bytes; /* elements; of memory */
    char *buf, *model;
};

static void make_side(struct side *s, int ints)
{
    draw_layout(&s->l);
    s->count = s->l.n > 0 ? (ints + s->l.n - 1) / s->l.n : 3;
    s->bytes = (int)(s->count * s->l.extent) + 64;
    s->buf = memset(malloc((size_t)s->bytes), 0x5a, (size_t)s->bytes);
    s->model = memset(malloc((size_t)s->bytes), 0x5a, (size_t)s->bytes);
}

static void free_side(struct side *s)
{
    MPI_Type_free(&s->l.type);
    free(s->buf);
    free(s->model);
}

static void receive(struct side *in, int from, int tag, int way, int ints)
{
    MPI_Message m;
    MPI_Status st;
    int n = -1;
    if (way == MATCHED) {
        MPI_Mprobe(from, tag, MPI_COMM_WORLD, &m, &st);
        MPI_Mrecv(in->buf, in->count, in->l.type, &m, &st);
    } else {
        MPI_Recv(in->buf, in->count, in->l.type, from, tag, MPI_COMM_WORLD, &st);
    }
    MPI_Get_elements(&st, in->l.type, &n);
    CHECK_EQ(n, ints);
    CHECK(memcmp(in->buf, in->model, (size_t)in->bytes) == 0);
}

static void play(int round)
{
    static struct side out, in;
    int to = (me + 1) % size, from = (me + size - 1) % size, way = upto(WAYS), at = 0;
    int most = upto(3) == 0 ? MOST_INTS : 3000;
    MPI_Request r;
    make_side(&out, 1 + upto(most));
    int ints = out.count * out.l.n, bytes = 4 * ints;
    make_side(&in, ints);
    lay_out(out.buf, &out.l, me, round, ints);
    char *packed = malloc((size_t)bytes + 1);
    if (in.l.n == 0 && ints > 0) { /* there would be no room */
        way = WAYS;
    } else if (way == PACKED) {
        MPI_Pack(out.buf, out.count, out.l.type, packed, bytes, &at, MPI_COMM_WORLD);
        CHECK_EQ(at, bytes);
        MPI_Isend(packed, bytes, MPI_PACKED, to, round, MPI_COMM_WORLD, &r);
    } else if (way == SYNCHRONOUS) {
        MPI_Issend(out.buf, out.count, out.l.type, to, round, MPI_COMM_WORLD, &r);
    } else {
        MPI_Isend(out.buf, out.count, out.l.type, to, round, MPI_COMM_WORLD, &r);
    }
    if (way != WAYS) {
        lay_out(in.model, &in.l, from, round, ints);
        receive(&in, from, round, way, ints);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    free(packed);
    free_side(&out);
    free_side(&in);
}

int main(int argc, char **argv)
{
    test_start(1);
    state = test_seed();
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 100); i++) {
        play(i);
    }
    MPI_Finalize();
    return 0;
}
