/* Array sections (hotlane.h): puts, gets, accumulates, sends and receives of random sections on either side,
 * of every rank and any strides, in whole and in part, of items with and without holes, against a model that
 * lists every byte. Thread t of a rank writes into its own part of the next rank's window. Wrong sections are
 * refused. usage: sections THREADS ROUNDS */
#include "mpi_test.h"

#include <hotlane.h>

/* Bytes of an array; most elements of a section. */
enum { ARRAY = 1 << 16, MOST = 600, RANKS = MPIX_SECTION_RANKS };

static MPI_Win win;
static char *base;
static int threads, rounds;
static uint64_t seed;

static int roll(uint64_t *dice, int n)
{
    return (int)(test_random(dice) % (uint64_t)n);
}

/* A section, and what the model knows of it. */
struct place {
    MPIX_Section section;
    MPIX_Section_dim dims[RANKS];
    const MPIX_Section *given; /* NULL: a plain buffer */
    int64_t first;             /* byte of the array where the first element is */
    int elements;
    int64_t at[MOST]; /* [elements] bytes of the array */
};

/* Lists the elements, the first dimension fastest. */
static void list_elements(struct place *p)
{
    int index[RANKS] = {0};

    for (int i = 0; i < p->elements; i++) {
        p->at[i] = p->first;
        for (int k = 0; k < p->section.rank; k++) {
            p->at[i] += index[k] * p->dims[k].stride;
        }
        for (int k = 0; k < p->section.rank && ++index[k] == (int)p->dims[k].extent; k++) {
            index[k] = 0;
        }
    }
}

/* Extents whose product is `elements`. */
static void deal_extents(uint64_t *d, struct place *p)
{
    int left = p->elements;

    for (int k = 0; k < p->section.rank; k++) {
        p->dims[k].extent = 1;
    }
    for (int f = 2; left > 1; f++) {
        for (; left % f == 0; left /= f) {
            p->dims[roll(d, p->section.rank)].extent *= f;
        }
    }
}

/* Dimensions that have gaps, run backwards, or do not; `again`: they may have the stride 0. Returns how far
 * the array reaches, with some elements more. */
static int64_t deal_dims(uint64_t *d, struct place *p, int elem_len, bool again)
{
    int64_t stride = elem_len;

    p->section.rank = p->elements == 1 ? roll(d, RANKS + 1) : 1 + roll(d, roll(d, 2) == 0 ? 3 : RANKS);
    p->section.elem_len = elem_len;
    p->section.dims = p->dims;
    p->first = 0;
    deal_extents(d, p);
    for (int k = 0; k < p->section.rank; k++) {
        int64_t extent = p->dims[k].extent;
        p->dims[k].lower_bound = roll(d, 1000);
        p->dims[k].stride = stride + (roll(d, 3) == 0 ? 1 + roll(d, 2) : 0) * elem_len;
        stride = p->dims[k].stride * extent;
        if (roll(d, 4) == 0) {
            p->dims[k].stride = -p->dims[k].stride;
            p->first -= p->dims[k].stride * (extent - 1);
        } else if (again && roll(d, 8) == 0) {
            p->dims[k].stride = 0;
        }
    }
    return stride + 8 * elem_len;
}

static void deal_section(uint64_t *d, struct place *p, int elements, int elem_len, bool again)
{
    p->given = &p->section;
    p->elements = elements;
    while (deal_dims(d, p, elem_len, again) > ARRAY) {
    }
    p->first += elem_len * roll(d, 8);
    list_elements(p);
}
/* The same elements one behind the other, without a section. */
static void deal_plain(uint64_t *d, struct place *p, int elements, int elem_len)
{
    p->section = (MPIX_Section){elem_len, 1, p->dims};
    p->dims[0] = (MPIX_Section_dim){0, elements, elem_len};
    p->given = NULL;
    p->elements = elements;
    p->first = elem_len * roll(d, 8);
    list_elements(p);
}

/* Byte i of a section's data, as one of the array. */
static int64_t byte_of(const struct place *p, int64_t i)
{
    return p->at[i / p->section.elem_len] + i % p->section.elem_len;
}

/* What is sent: items of 4 or 8 bytes and made ones, by which bytes of the data they take. */
enum item { LONGS, INTS, BYTES, TRIPLES, GAPS, ITEMS };
enum { LARGEST = 24 }; /* bytes of an item, a multiple of all */
enum { SMALLEST = 4 }; /* bytes of an element */
static MPI_Datatype types[ITEMS];
static const int sizes[ITEMS] = {8, 4, 1, 24, 8}, extents[ITEMS] = {8, 4, 1, 24, 12};

/* Byte i of the items, as one of the data they are laid on. */
static int64_t taken(enum item item, int64_t i)
{
    int64_t which = i / sizes[item], in = i % sizes[item];
    return which * extents[item] + (item == GAPS && in >= 4 ? in + 4 : in);
}

/* One side of a transfer. */
struct side {
    struct place p;
    enum item item;
    int64_t count, bytes;
};

/* A side with room for at least `bytes` (0: any number) of data. */
static void deal_side(uint64_t *d, struct side *s, enum item item, int64_t bytes, bool again)
{
    int elem_len = roll(d, 3) != 0 ? 8 : extents[item] < SMALLEST ? SMALLEST : extents[item];
    int64_t data = bytes / sizes[item] * extents[item];
    int elements = bytes == 0 ? 1 + roll(d, MOST) : (int)((data + elem_len - 1) / elem_len);

    if (bytes != 0 && elements < MOST && roll(d, 2) == 0) {
        elements += roll(d, MOST - elements);
    }
    if (roll(d, 5) == 0) {
        deal_plain(d, &s->p, elements, elem_len);
    } else {
        deal_section(d, &s->p, elements, elem_len, again);
    }
    int64_t most = (int64_t)elements * elem_len / extents[item];
    s->item = item;
    s->count = bytes != 0 ? bytes / sizes[item] : roll(d, 2) == 0 ? most : most * roll(d, 4) / 4;
    s->bytes = s->count * sizes[item];
}

/* Both sides: the bytes of the first are those of the second. */
static void deal(uint64_t *d, struct side *from, struct side *to, bool longs)
{
    static const enum item pairs[][2] = {{LONGS, LONGS},     {LONGS, LONGS}, {INTS, INTS}, {INTS, GAPS},
                                         {TRIPLES, LONGS},   {GAPS, INTS},   {GAPS, GAPS}, {BYTES, LONGS},
                                         {TRIPLES, TRIPLES}, {LONGS, BYTES}};
    const enum item *two = pairs[longs ? roll(d, 2) : roll(d, (int)(sizeof pairs / sizeof pairs[0]))];
    int64_t most;

    do {
        deal_side(d, from, two[0], 0, true);
        from->count -= two[0] != two[1] ? from->count % (LARGEST / sizes[two[0]]) : 0;
        from->bytes = from->count * sizes[two[0]];
        most = from->bytes / sizes[two[1]] * extents[two[1]];
    } while (most > SMALLEST * MOST);
    deal_side(d, to, two[1], from->bytes, false);
}

/* Byte i of a side's data, as one of its array. */
static int64_t side_byte(const struct side *s, int64_t i)
{
    return byte_of(&s->p, taken(s->item, i));
}

static void copy_model(char *to, const struct side *t, const char *from, const struct side *f)
{
    for (int64_t i = 0; i < f->bytes; i++) {
        to[side_byte(t, i)] = from[side_byte(f, i)];
    }
}

static void fill(uint64_t *d, char *array)
{
    for (int i = 0; i < ARRAY; i += 8) {
        uint64_t word = (uint64_t)roll(d, 1 << 30) << 32 | (uint64_t)roll(d, 1 << 30);
        memcpy(array + i, &word, 8);
    }
}

/* What a thread works with. */
struct work {
    int thread;
    char *mine, *theirs, *model; /* [ARRAY] each */
    struct side from, to;
};

static MPI_Aint part_of(const struct work *w)
{
    return (MPI_Aint)ARRAY * w->thread;
}

static void compare(const struct work *w, const char *is, const char *expected, const char *what, int round)
{
    for (int i = 0; i < ARRAY; i++) {
        if (is[i] != expected[i]) {
            fprintf(stderr, "rank %d: %s, round %d, thread %d: byte %d is %d, not %d\n", me, what, round,
                    w->thread, i, is[i], expected[i]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

/* What is there now: by one get of all. */
static void compare_target(const struct work *w, const char *what, int round)
{
    int next = (me + 1) % size;

    MPI_Get(w->theirs, ARRAY, MPI_BYTE, next, part_of(w), ARRAY, MPI_BYTE, win);
    MPI_Win_flush(next, win);
    compare(w, w->theirs, w->model, what, round);
}

static void test_put(struct work *w, uint64_t *d, int round)
{
    const struct side *f = &w->from, *t = &w->to;
    int next = (me + 1) % size;

    deal(d, &w->from, &w->to, false);
    CHECK_EQ(MPIX_Put_section(w->mine + f->p.first, f->p.given, f->count, types[f->item], next,
                              part_of(w) + t->p.first, t->p.given, t->count, types[t->item], win),
             MPI_SUCCESS);
    MPI_Win_flush(next, win);
    copy_model(w->model, t, w->mine, f);
    compare_target(w, "put", round);
}

static void test_get(struct work *w, uint64_t *d, int round)
{
    const struct side *f = &w->from, *t = &w->to;
    int next = (me + 1) % size;

    deal(d, &w->from, &w->to, false);
    char *expected = malloc(ARRAY);
    memcpy(w->theirs, w->mine, ARRAY);
    memcpy(expected, w->mine, ARRAY);
    CHECK_EQ(MPIX_Get_section(w->theirs + t->p.first, t->p.given, t->count, types[t->item], next,
                              part_of(w) + f->p.first, f->p.given, f->count, types[f->item], win),
             MPI_SUCCESS);
    MPI_Win_flush(next, win);
    copy_model(expected, t, w->model, f);
    compare(w, w->theirs, expected, "get", round);
    free(expected);
}

static void test_accumulate(struct work *w, uint64_t *d, int round)
{
    const struct side *f = &w->from, *t = &w->to;
    int next = (me + 1) % size;

    deal(d, &w->from, &w->to, true);
    CHECK_EQ(MPIX_Accumulate_section(w->mine + f->p.first, f->p.given, f->count, types[f->item], next,
                                     part_of(w) + t->p.first, t->p.given, t->count, types[t->item], MPI_SUM,
                                     win),
             MPI_SUCCESS);
    MPI_Win_flush(next, win);
    for (int64_t i = 0; i < f->bytes; i += 8) {
        uint64_t a, b;
        memcpy(&a, w->model + side_byte(t, i), 8);
        memcpy(&b, w->mine + side_byte(f, i), 8);
        a += b;
        memcpy(w->model + side_byte(t, i), &a, 8);
    }
    compare_target(w, "accumulate", round);
}

/* To the next rank, which knows the dice. */
static void test_message(struct work *w, uint64_t *d, int round)
{
    const struct side *f = &w->from, *t = &w->to;
    int next = (me + 1) % size, previous = (me + size - 1) % size, way = roll(d, 4);
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    MPI_Comm comm = MPI_COMM_WORLD;

    deal(d, &w->from, &w->to, false);
    fill(d, w->mine); /* the same on all ranks */
    memset(w->theirs, 5, ARRAY);
    CHECK_EQ(MPIX_Irecv_section(w->theirs + t->p.first, t->p.given, t->count, types[t->item],
                                way == 0 ? MPI_PROC_NULL : previous, w->thread, comm, &r[0]),
             MPI_SUCCESS);
    if (way == 1) {
        CHECK_EQ(MPIX_Send_section(w->mine + f->p.first, f->p.given, f->count, types[f->item], next,
                                   w->thread, comm),
                 MPI_SUCCESS);
    } else {
        CHECK_EQ(MPIX_Isend_section(w->mine + f->p.first, f->p.given, f->count, types[f->item], next,
                                    w->thread, comm, &r[1]),
                 MPI_SUCCESS);
    }
    if (way == 0) {
        CHECK_EQ(MPIX_Recv_section(w->theirs + t->p.first, t->p.given, t->count, types[t->item], previous,
                                   w->thread, comm, &status),
                 MPI_SUCCESS);
        CHECK_EQ(status.MPI_SOURCE, previous);
    }
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    char *expected = malloc(ARRAY);
    memset(expected, 5, ARRAY);
    copy_model(expected, t, w->mine, f);
    compare(w, w->theirs, expected, "message", round);
    free(expected);
}

static void *run(void *arg)
{
    struct work here = {.thread = (int)(intptr_t)arg}, *w = &here;
    uint64_t d = seed + 1000003u * (uint64_t)w->thread; /* the same on all ranks */

    w->mine = malloc(ARRAY);
    w->theirs = malloc(ARRAY);
    w->model = malloc(ARRAY);
    fill(&d, w->mine);
    memset(w->model, 0, ARRAY);
    for (int i = 0; i < rounds; i++) {
        test_put(w, &d, i);
        test_get(w, &d, i);
        test_accumulate(w, &d, i);
        test_message(w, &d, i);
    }
    free(w->mine);
    free(w->theirs);
    free(w->model);
    return NULL;
}

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static int put_of(const char *from, const MPIX_Section *s, int count)
{
    return class_of(MPIX_Put_section(from, s, count, MPI_LONG, 0, 0, NULL, count, MPI_LONG, win));
}

/* Each is refused, and the window is as it was. */
static void test_errors(void)
{
    static long from[64];
    const char *at = (const char *)from;
    MPIX_Section_dim every[2] = {{1, 4, 16}, {1, 2, 256}}, none[2] = {{1, 0, 8}, {1, 4, 32}};
    MPIX_Section_dim wide[2] = {{1, 4, 16}, {1, INT64_MAX / 8, 64}}, less[2] = {{1, -2, 8}, {1, 3, 32}};
    MPIX_Section_dim open[2] = {{1, 4, 8}, {1, -1, 32}}, gaps[2] = {{1, 4, 16}, {1, -1, 64}};

    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK_EQ(put_of(at, &(MPIX_Section){8, 2, every}, 8), MPI_SUCCESS);
    CHECK_EQ(put_of(at, &(MPIX_Section){8, 2, every}, 9), MPI_ERR_COUNT);
    CHECK_EQ(put_of(at, &(MPIX_Section){8, 2, every}, -1), MPI_ERR_COUNT);
    CHECK_EQ(put_of(NULL, &(MPIX_Section){8, 2, every}, 8), MPI_ERR_BUFFER);
    CHECK_EQ(put_of(at, &(MPIX_Section){8, 16, every}, 8), MPI_ERR_ARG);
    CHECK_EQ(put_of(at, &(MPIX_Section){8, -1, every}, 8), MPI_ERR_ARG);
    CHECK_EQ(put_of(at, &(MPIX_Section){8, 2, NULL}, 8), MPI_ERR_ARG);
    CHECK_EQ(put_of(at, &(MPIX_Section){-8, 2, every}, 8), MPI_ERR_ARG);
    CHECK_EQ(put_of(at, &(MPIX_Section){8, 2, wide}, 8), MPI_ERR_ARG);
    CHECK_EQ(put_of(at, &(MPIX_Section){8, 2, less}, 8), MPI_ERR_ARG);
    CHECK_EQ(put_of(at, &(MPIX_Section){8, 2, none}, 0), MPI_SUCCESS);
    CHECK_EQ(put_of(at, &(MPIX_Section){8, 2, none}, 1), MPI_ERR_COUNT);
    CHECK_EQ(put_of(at, &(MPIX_Section){8, 2, open}, 40), MPI_SUCCESS);
    CHECK_EQ(put_of(at, &(MPIX_Section){8, 2, gaps}, 4), MPI_ERR_ARG);
    CHECK_EQ(put_of(at, &(MPIX_Section){8, 0, NULL}, 40), MPI_SUCCESS);
    MPI_Win_flush(0, win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL);
}

static void make_types(void)
{
    MPI_Datatype two;
    types[LONGS] = MPI_LONG;
    types[INTS] = MPI_INT32_T;
    types[BYTES] = MPI_BYTE;
    MPI_Type_contiguous(3, MPI_LONG, &types[TRIPLES]);
    MPI_Type_vector(2, 1, 2, MPI_INT32_T, &two);
    MPI_Type_create_resized(two, 0, 12, &types[GAPS]);
    MPI_Type_free(&two);
    MPI_Type_commit(&types[TRIPLES]);
    MPI_Type_commit(&types[GAPS]);
}

int main(int argc, char **argv)
{
    test_start(1);
    threads = argc > 1 ? atoi(argv[1]) : 2;
    rounds = argc > 2 ? atoi(argv[2]) : 50;
    seed = test_seed();
    make_types();
    MPI_Win_allocate((MPI_Aint)ARRAY * threads, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, (size_t)ARRAY * (size_t)threads);
    MPI_Win_lock_all(0, win);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    test_threads(threads, run);
    MPI_Barrier(MPI_COMM_WORLD);
    test_errors();
    MPI_Win_unlock_all(win);
    MPI_Type_free(&types[TRIPLES]);
    MPI_Type_free(&types[GAPS]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
