/* Random accesses against a model of the file in memory: views, types, offsets, all three pointers, blocking,
 * nonblocking, collective, split and in order; native and external32.
 *
 * The file is cut into a stripe for each rank (single bytes of etypes dealt out by the view), so that what a
 * rank writes by its own view no other does: every rank knows the whole model of its stripe. Shared pointers
 * and ordered accesses use the plain view, one call of one rank or of all at a time. */
#include "mpi_test.h"

enum { TILES = 40, MOST = 24 }; /* tiles of a stripe in the file; etypes of a tile */
static uint64_t shared, own;
static int draw(int n)
{
    return (int)(test_random(&shared) % (uint64_t)n);
}
static int draw_own(int n)
{
    return (int)(test_random(&own) % (uint64_t)n);
}
#define OK(call) CHECK_EQ(call, MPI_SUCCESS)

/* The round's layout: etypes of the file are 4 bytes; tile etype k of a rank is at place[k] of its stripe. */
static MPI_File file;
static int n_place, tile; /* mine; etypes of the whole tile of all ranks */
static int place[MOST];
static int64_t disp;      /* etypes */
static uint32_t *model;   /* of my stripe, by etype of the view; 0: never written */
static int64_t room, end; /* etypes of the model; bytes that the file has at least, by what I wrote */
static bool foreign;      /* external32 */

static MPI_Datatype indexed(int n, const int *at, int extent)
{
    MPI_Datatype t, sized;
    MPI_Type_create_indexed_block(n, 1, at, MPI_INT32_T, &t);
    MPI_Type_create_resized(t, 0, 4 * (MPI_Aint)extent, &sized);
    MPI_Type_free(&t);
    MPI_Type_commit(&sized);
    return sized;
}

/* Where etype k of my view is in the file, in etypes. */
static int64_t place_of(int64_t k)
{
    return disp + k / n_place * tile + place[k % n_place];
}

/* Columns of a matrix, TILES of them for each rank: the next tile begins one etype further, between the rows of
 * this one. */
static MPI_Datatype make_columns(void)
{
    n_place = 1 + draw(4);
    tile = 1;
    for (int k = 0; k < n_place; k++) {
        place[k] = (k * size + me) * TILES;
    }
    return indexed(n_place, place, tile);
}

/* Deals the etypes of a tile to the ranks: irregular, blocks of a vector, a subarray or one block each; or
 * columns. */
static MPI_Datatype make_filetype(void)
{
    MPI_Datatype t;
    int kind = draw(5), each = 1 + draw(4);
    if (kind == 4) {
        return make_columns();
    }
    if (kind == 0) {
        int owner[MOST];
        tile = size + draw(MOST - size);
        for (int i = 0; i < tile; i++) {
            owner[i] = i < size ? i : draw(size);
        }
        n_place = 0;
        for (int i = 0; i < tile; i++) {
            if (owner[i] == me) {
                place[n_place++] = i;
            }
        }
        return indexed(n_place, place, tile);
    }
    int rows = kind == 1 ? 1 : 1 + draw(3);
    while (each > 1 && each * size * rows > MOST) {
        each--;
    }
    rows = each * size * rows > MOST ? 1 : rows;
    tile = each * size * rows;
    n_place = 0;
    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < each; i++) {
            place[n_place++] = r * each * size + me * each + i;
        }
    }
    int sizes[2] = {rows, each * size}, part[2] = {rows, each}, from[2] = {0, me * each};
    if (kind == 2) {
        MPI_Type_create_subarray(2, sizes, part, from, MPI_ORDER_C, MPI_INT32_T, &t);
    } else if (kind == 1) {
        MPI_Type_create_subarray(1, sizes + 1, part + 1, from + 1, MPI_ORDER_C, MPI_INT32_T, &t);
    } else {
        int psizes[2] = {1, size}, dist[2] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK};
        int args[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
        MPI_Type_create_darray(size, me, 2, sizes, dist, args, psizes, MPI_ORDER_C, MPI_INT32_T, &t);
    }
    MPI_Type_commit(&t);
    return t;
}

/* Types of memory: `each` etypes, the k-th at where[k]. */
struct memory {
    MPI_Datatype type;
    int each, extent, where[8];
};

static struct memory make_memory(void)
{
    struct memory m = {.each = 1 + draw_own(5)};
    int at = draw_own(2);
    for (int i = 0; i < m.each; i++) {
        m.where[i] = at;
        at += 1 + draw_own(3) / 2;
    }
    m.extent = at + draw_own(2);
    m.type = indexed(m.each, m.where, m.extent);
    return m;
}

static int32_t *slot(int32_t *buf, const struct memory *m, int64_t k)
{
    return &buf[k / m->each * m->extent + m->where[k % m->each]];
}

/* One access to my stripe, in one of its forms; the data in buf. Returns the status. */
enum form {
    AT,
    OWN,
    ALL_AT,
    ALL_OWN,
    SPLIT_AT,
    SPLIT_OWN,
    BEGUN_AT,
    BEGUN_OWN,
    BEGUN_ALL_AT,
    BEGUN_ALL_OWN,
    FORMS
};
#define CALL(prefix, suffix, ...)                                                                            \
    OK(write ? MPI_File_##prefix##write##suffix(__VA_ARGS__) : MPI_File_##prefix##read##suffix(__VA_ARGS__))

static MPI_Status access_file(enum form form, bool write, int64_t at, int32_t *buf, int n, MPI_Datatype t)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status st;
    memset(&st, 0, sizeof st);
    if (form == OWN || form == ALL_OWN || form == SPLIT_OWN || form == BEGUN_OWN || form == BEGUN_ALL_OWN) {
        MPI_Offset now;
        OK(MPI_File_get_position(file, &now));
        OK(draw_own(2) ? MPI_File_seek(file, at, MPI_SEEK_SET) : MPI_File_seek(file, at - now, MPI_SEEK_CUR));
    }
    switch (form) {
    case AT:
        CALL(, _at, file, at, buf, n, t, &st);
        break;
    case OWN:
        CALL(, _c, file, buf, n, t, &st);
        break;
    case ALL_AT:
        CALL(, _at_all, file, at, buf, n, t, &st);
        break;
    case ALL_OWN:
        CALL(, _all, file, buf, n, t, &st);
        break;
    case SPLIT_AT:
        CALL(, _at_all_begin, file, at, buf, n, t);
        CALL(, _at_all_end, file, buf, &st);
        break;
    case SPLIT_OWN:
        CALL(, _all_begin_c, file, buf, n, t);
        CALL(, _all_end, file, buf, &st);
        break;
    case BEGUN_AT:
        CALL(i, _at, file, at, buf, n, t, &r);
        break;
    case BEGUN_OWN:
        CALL(i, _c, file, buf, n, t, &r);
        break;
    case BEGUN_ALL_AT:
        CALL(i, _at_all_c, file, at, buf, n, t, &r);
        break;
    default:
        CALL(i, _all, file, buf, n, t, &r);
        break;
    }
    if (r != MPI_REQUEST_NULL) {
        OK(MPI_Wait(&r, &st));
    }
    return st;
}

static void one_access(enum form form, uint32_t no)
{
    struct memory m = make_memory();
    bool write = draw_own(2);
    int64_t at = draw_own((int)room), left = room - at;
    int n = draw_own((int)(left / m.each) + 1), count = -1;
    int64_t all = (int64_t)n * m.each;
    int32_t *buf = calloc((size_t)(n * m.extent) + 1, sizeof *buf);

    for (int64_t k = 0; write && k < all; k++) {
        *slot(buf, &m, k) = (int32_t)(no * 4096u + (uint32_t)k + 1u);
        model[at + k] = no * 4096u + (uint32_t)k + 1u;
        end = 4 * place_of(at + k) + 4 > end ? 4 * place_of(at + k) + 4 : end;
    }
    int64_t there = 0;
    while (there < all && 4 * place_of(at + there) < end) {
        there++;
    }
    MPI_Status st = access_file(form, write, at, buf, n, m.type);
    MPI_Get_elements(&st, m.type, &count);
    /* What others wrote behind my end reads as nothing or as holes: the file may be longer than my stripe. */
    CHECK(write ? count == all : count <= all && count >= there);
    for (int64_t k = 0; !write && k < count; k++) {
        CHECK_EQ((uint32_t)*slot(buf, &m, k), model[at + k]);
    }
    MPI_Offset now, byte;
    OK(MPI_File_get_position(file, &now));
    CHECK(form % 2 == 0 || now == at + all);
    OK(MPI_File_get_byte_offset(file, at, &byte));
    CHECK_EQ(byte, 4 * place_of(at));
    MPI_Type_free(&m.type);
    free(buf);
}

/* The bytes of the file, read without a view, are those of the model. */
static void compare(void)
{
    MPI_Offset bytes;
    unsigned char *all;
    OK(MPI_File_sync(file));
    OK(MPI_File_get_size(file, &bytes));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    all = malloc((size_t)bytes + 1);
    OK(MPI_File_read_at(file, 0, all, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(end <= bytes);
    for (int64_t k = 0; k < room; k++) {
        int64_t at = 4 * place_of(k);
        uint32_t v = 0;
        if (at < bytes) {
            memcpy(&v, all + at, sizeof v);
        }
        CHECK_EQ(foreign ? __builtin_bswap32(v) : v, model[k]);
    }
    free(all);
}

static void round_of_views(const char *name, int round)
{
    const char *rep = round % 3 == 2 ? "external32" : round % 3 == 1 ? "internal" : "native";
    MPI_Datatype t;
    MPI_Offset at;

    foreign = round % 3 == 2;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &file));
    OK(MPI_File_set_atomicity(file, draw(3) == 0));
    t = make_filetype();
    disp = draw(5);
    room = (int64_t)TILES * n_place;
    end = 0;
    model = calloc((size_t)room, sizeof *model);
    OK(MPI_File_set_view(file, 4 * disp, MPI_INT32_T, t, rep, MPI_INFO_NULL));
    MPI_Type_free(&t); /* the view keeps it */
    for (int i = 0; i < 30; i++) {
        one_access((enum form)draw(FORMS), (uint32_t)(i + 1));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* The end of the view is the first etype at or behind the end of the file. */
    MPI_Offset bytes;
    OK(MPI_File_get_size(file, &bytes));
    OK(MPI_File_seek(file, 0, MPI_SEEK_END));
    OK(MPI_File_get_position(file, &at));
    int64_t first = 0;
    while (4 * place_of(first) < bytes) {
        first++;
    }
    CHECK_EQ(at, first);
    compare();
    OK(MPI_File_close(&file));
    free(model);
}

/* ---- The shared pointer: a record is its length in etypes, who wrote it, and its number ---- */

static void write_record(int form, int len, int no)
{
    int32_t rec[16] = {len, me, no};
    MPI_Request r;
    for (int i = 3; i < len; i++) {
        rec[i] = no * 100 + i;
    }
    if (form == 0) {
        OK(MPI_File_write_shared(file, rec, len, MPI_INT32_T, MPI_STATUS_IGNORE));
    } else if (form == 1) {
        OK(MPI_File_iwrite_shared_c(file, rec, len, MPI_INT32_T, &r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    } else if (form == 2) {
        OK(MPI_File_write_ordered(file, rec, len, MPI_INT32_T, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_File_write_ordered_begin(file, rec, len, MPI_INT32_T));
        OK(MPI_File_write_ordered_end(file, rec, MPI_STATUS_IGNORE));
    }
}

/* All records, once each, and those of ordered calls behind each other by rank. */
static void check_records(const int32_t *all, int64_t n, int calls, const char *ordered)
{
    char *seen = calloc((size_t)(calls * size), 1);
    int found = 0, before = -1;
    for (int64_t at = 0; at < n; at += all[at]) {
        int who = all[at + 1], no = all[at + 2];
        CHECK(all[at] >= 3 && all[at] < 16 && who >= 0 && who < size && no >= 0 && no < calls);
        CHECK(!seen[no * size + who]);
        seen[no * size + who] = 1;
        found++;
        for (int i = 3; i < all[at]; i++) {
            CHECK_EQ(all[at + i], no * 100 + i);
        }
        CHECK(!ordered[no] || (who == 0 ? true : before == no * size + who - 1));
        before = no * size + who;
    }
    CHECK_EQ(found, calls * size);
    free(seen);
}

static void round_of_records(const char *name)
{
    enum { CALLS = 40 };
    char ordered[CALLS];
    MPI_Offset n;
    MPI_Status st;
    int count;

    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &file));
    OK(MPI_File_set_view(file, 12, MPI_INT32_T, MPI_INT32_T, "native", MPI_INFO_NULL));
    for (int i = 0; i < CALLS; i++) {
        int form = draw(4);
        ordered[i] = form >= 2;
        write_record(form, 3 + draw_own(13), i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_position_shared(file, &n));
    int32_t *all = malloc((size_t)(n + 1) * 4);
    OK(MPI_File_read_at_all(file, 0, all, (int)n + 1, MPI_INT32_T, &st));
    MPI_Get_count(&st, MPI_INT32_T, &count);
    CHECK_EQ(count, n);
    check_records(all, n, CALLS, ordered);
    /* Read again in order: each rank its part. */
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    int each = (int)(n / size), mine = me == size - 1 ? (int)(n - (int64_t)each * (size - 1)) : each;
    int32_t *part = malloc((size_t)(mine + 1) * 4);
    if (draw(2)) {
        OK(MPI_File_read_ordered(file, part, mine, MPI_INT32_T, &st));
    } else {
        OK(MPI_File_read_ordered_begin_c(file, part, mine, MPI_INT32_T));
        OK(MPI_File_read_ordered_end(file, part, &st));
    }
    MPI_Get_count(&st, MPI_INT32_T, &count);
    CHECK_EQ(count, mine);
    CHECK(memcmp(part, all + (int64_t)each * me, (size_t)mine * 4) == 0);
    OK(MPI_File_seek_shared(file, -(int64_t)n, MPI_SEEK_END));
    OK(MPI_File_read_shared(file, part, 0, MPI_INT32_T, &st));
    OK(MPI_File_get_position_shared(file, &n));
    CHECK_EQ(n, 0);
    OK(MPI_File_close(&file));
    free(part);
    free(all);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 12;
    char name[256];
    const char *folder = getenv("TMPDIR");

    test_start(1);
    shared = test_seed();
    own = shared * 31 + (uint64_t)me;
    snprintf(name, sizeof name, "%s/hotlane-io-random-%d", folder != NULL ? folder : "/tmp", (int)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < rounds; i++) {
        round_of_views(name, i);
        round_of_records(name);
    }
    MPI_Finalize();
    return 0;
}
