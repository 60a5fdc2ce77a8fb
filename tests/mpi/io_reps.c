/* Data representations: external32 and the program's own, whose basic types have other sizes in the file, so
 * that views made of elements are stretched or shrunk; and what is left of an element where a file ends. */
#include "io_test.h"

#include <wchar.h>

static int calls;

/* Every number is its decimal digits in 8 characters. */
static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    CHECK(state == &calls);
    *extent = type == MPI_INT ? 8 : -1;
    return type == MPI_INT ? MPI_SUCCESS : MPI_ERR_TYPE;
}

static int to_text(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position,
                   void *state)
{
    MPI_Count bytes;
    char digits[16];
    int *packed, at = 0;
    CHECK(state == &calls && position == 0);
    calls++;
    MPI_Type_size_c(type, &bytes);
    packed = malloc((size_t)(bytes * count) + 1);
    MPI_Pack(user, (int)count, type, packed, (int)(bytes * count), &at, MPI_COMM_SELF);
    for (MPI_Count i = 0; i < bytes * count / 4; i++) {
        snprintf(digits, sizeof digits, "%08d", packed[i]);
        memcpy((char *)file + 8 * i, digits, 8);
    }
    free(packed);
    return MPI_SUCCESS;
}

static int from_text(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position,
                     void *state)
{
    MPI_Count bytes;
    char digits[9] = "";
    int *packed, at = 0;
    CHECK(state == &calls && position == 0);
    calls++;
    MPI_Type_size_c(type, &bytes);
    packed = malloc((size_t)(bytes * count) + 1);
    for (MPI_Count i = 0; i < bytes * count / 4; i++) {
        memcpy(digits, (char *)file + 8 * i, 8);
        if (strspn(digits, "0123456789") != 8) {
            free(packed);
            return MPI_ERR_CONVERSION;
        }
        packed[i] = atoi(digits);
    }
    MPI_Unpack(packed, (int)(bytes * count), &at, user, (int)count, type, MPI_COMM_SELF);
    free(packed);
    return MPI_SUCCESS;
}

static int to_text_small(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                         void *state)
{
    return to_text(user, type, count, file, position, state);
}

static int from_text_small(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                           void *state)
{
    return from_text(user, type, count, file, position, state);
}

static MPI_File open_file(void)
{
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &f));
    return f;
}

/* The type with another extent, in its place. */
static void resize(MPI_Datatype *type, MPI_Aint extent)
{
    MPI_Datatype old = *type;

    MPI_Type_create_resized(old, 0, extent, type);
    MPI_Type_free(&old);
}

/* Ranks take turns in the file, two numbers each, by a view of elements: twice as wide here as in memory. */
static void own_text(const char *rep)
{
    MPI_File f = open_file();
    MPI_Datatype turn, gaps, etype, filetype;
    MPI_Status st;
    MPI_Offset size_now;
    MPI_Aint extent;
    int whole[1] = {2 * size}, part[1] = {2}, from[1] = {2 * me}, n = 0, data[12] = {0};
    char text[64], got[32], kept[MPI_MAX_DATAREP_STRING];

    MPI_Type_create_subarray(1, whole, part, from, MPI_ORDER_C, MPI_INT, &turn);
    MPI_Type_commit(&turn);
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    resize(&gaps, 16);
    MPI_Type_commit(&gaps);
    OK(MPI_File_set_view(f, 5, MPI_INT, turn, rep, MPI_INFO_NULL));
    OK(MPI_File_get_type_extent(f, MPI_INT, &extent));
    CHECK_EQ(extent, 8);
    OK(MPI_File_get_view(f, &size_now, &etype, &filetype, kept));
    CHECK(etype == MPI_INT);
    MPI_Type_free(&filetype);
    CHECK(strcmp(kept, rep) == 0);
    for (int i = 0; i < 3; i++) {
        data[4 * i] = 100 * me + i;
        data[4 * i + 2] = 200 * me + i;
    }
    calls = 0;
    OK(MPI_File_write_all(f, data, 3, gaps, &st));
    MPI_Get_count(&st, gaps, &n);
    CHECK(n == 3 && calls > 0);
    OK(MPI_File_get_position(f, &size_now));
    CHECK_EQ(size_now, 6);
    OK(MPI_File_get_size(f, &size_now));
    CHECK_EQ(size_now, 5 + 3 * 2 * size * 8);
    memset(data, -1, sizeof data);
    MPI_Request r;
    OK(MPI_File_iread_at(f, 2, data, 2, gaps, &r));
    OK(MPI_Wait(&r, &st));
    CHECK(data[0] == 100 * me + 1 && data[1] == -1 && data[2] == 200 * me + 1 && data[4] == 100 * me + 2);
    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(f, 5 + (2 * size + 2 * me) * 8, got, 16, MPI_BYTE, &st));
    snprintf(text, sizeof text, "%08d%08d", 100 * me + 1, 200 * me + 1);
    CHECK(memcmp(text, got, 16) == 0);
    /* Not digits: the program's function refuses. */
    OK(MPI_File_write_at(f, 5 + 2 * me * 8, "strange!", 8, MPI_BYTE, &st));
    OK(MPI_File_set_view(f, 5, MPI_INT, turn, rep, MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_read(f, data, 1, MPI_INT, &st), MPI_ERR_CONVERSION);
    CHECK_CLASS(MPI_File_write_at(f, 0, data, 1, MPI_FLOAT, &st), MPI_ERR_CONVERSION);
    MPI_Type_free(&turn);
    MPI_Type_free(&gaps);
    OK(MPI_File_close(&f));
}

/* C's long has 4 bytes in external32. */
static void longs(void)
{
    MPI_File f = open_file();
    MPI_Datatype turn, pair;
    MPI_Status st;
    MPI_Aint extent;
    long data[6];
    unsigned char bytes[4];
    int n = 0;

    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Type_vector(1, 1, size, pair, &turn);
    resize(&turn, 16 * size);
    MPI_Type_commit(&turn);
    MPI_Type_commit(&pair);
    OK(MPI_File_set_view(f, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
    OK(MPI_File_get_type_extent(f, pair, &extent));
    CHECK_EQ(extent, 8);
    for (int i = 0; i < 6; i++) {
        data[i] = -1000 * me - i;
    }
    OK(MPI_File_write_at_all(f, 6 * me, data, 3, pair, &st));
    MPI_Get_count(&st, MPI_LONG, &n);
    CHECK_EQ(n, 6);
    data[0] = 1L << 40;
    CHECK_CLASS(MPI_File_write_at_all(f, 6 * me, data, 1, MPI_LONG, &st), MPI_ERR_CONVERSION);
    memset(data, 0, sizeof data);
    OK(MPI_File_read_at_all(f, 6 * me + 1, data, 5, MPI_LONG, &st));
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(data[i], -1000 * me - 1 - i);
    }
    /* A file that ends within the second element of the second pair. */
    OK(MPI_File_set_size(f, 14));
    memset(data, 0, sizeof data);
    OK(MPI_File_read_at_all(f, 0, data, 3, pair, &st));
    MPI_Get_elements(&st, pair, &n);
    CHECK_EQ(n, 3);
    CHECK(data[1] == -1 && data[2] == -2 && data[3] == 0 && data[4] == 0 && data[5] == 0);
    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(f, 8, bytes, 4, MPI_BYTE, &st));
    CHECK(bytes[0] == 0xff && bytes[1] == 0xff && bytes[2] == 0xff && bytes[3] == 0xfe);
    MPI_Type_free(&pair);
    MPI_Type_free(&turn);
    OK(MPI_File_close(&f));
}

static int combiner_of(MPI_Datatype type)
{
    int ints, addrs, types, combiner = -1;
    OK(MPI_Type_get_envelope(type, &ints, &addrs, &types, &combiner));
    return combiner;
}

/* The types of a view that MPI_File_get_view gives are duplicates, good for the next view. */
static void given_back(void)
{
    MPI_File f = open_file();
    MPI_Datatype every, etype, filetype, inner;
    MPI_Offset disp;
    wchar_t data[2] = {L'h', L'l'};
    char rep[MPI_MAX_DATAREP_STRING];

    MPI_Type_vector(2, 1, 2, MPI_WCHAR, &every);
    MPI_Type_commit(&every);
    OK(MPI_File_set_view(f, 0, MPI_WCHAR, every, "native", MPI_INFO_NULL));
    MPI_Type_free(&every);
    OK(MPI_File_get_view(f, &disp, &etype, &filetype, rep));
    CHECK(etype == MPI_WCHAR);
    CHECK_EQ(combiner_of(etype), MPI_COMBINER_NAMED);
    CHECK_EQ(combiner_of(filetype), MPI_COMBINER_DUP);
    OK(MPI_Type_get_contents(filetype, 0, 0, 1, NULL, NULL, &inner));
    CHECK_EQ(combiner_of(inner), MPI_COMBINER_VECTOR);
    MPI_Type_free(&inner);
    OK(MPI_File_set_view(f, 0, etype, filetype, "external32", MPI_INFO_NULL));
    MPI_Type_free(&filetype);
    OK(MPI_File_write_all(f, data, 2, MPI_WCHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_get_size(f, &disp));
    CHECK_EQ(disp, 6); /* two characters and the gap between them, of 2 bytes each */
    OK(MPI_File_close(&f));
}

static void names_differ(void)
{
    MPI_File f = open_file();
    const char *rep = me == 0 ? "digits" : "digits of all";

    CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, rep, MPI_INFO_NULL),
                size == 1 ? MPI_SUCCESS : MPI_ERR_NOT_SAME);
    OK(MPI_File_close(&f));
}

/* ---- Files that end within an element ---- */

/* This rank's own file of these bytes, with a view of bytes. */
static MPI_File own_file(const void *bytes, int n, const char *rep)
{
    char own[300];
    MPI_File f;

    snprintf(own, sizeof own, "%s-%d", name, me);
    OK(MPI_File_open(MPI_COMM_SELF, own, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &f));
    OK(MPI_File_write(f, bytes, n, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, rep, MPI_INFO_NULL));
    return f;
}

/* Reads two elements; returns how many basic ones there were. */
static int read_elements(MPI_File f, void *buf, MPI_Datatype type)
{
    MPI_Status st;
    int n = -1;

    OK(MPI_File_read_at(f, 0, buf, 2, type, &st));
    MPI_Get_elements(&st, type, &n);
    return n;
}

static MPI_Datatype structure(int n, const int *lens, const MPI_Aint *places, const MPI_Datatype *types)
{
    MPI_Datatype t;

    MPI_Type_create_struct(n, lens, places, types, &t);
    MPI_Type_commit(&t);
    return t;
}

/* external32: every basic element that is whole, whatever the others are. */
static void ends_of_external32(void)
{
    static const unsigned char bytes[] = {0, 0, 0,    7,    0x3f, 0xf0, 0, 0, 0, 0,
                                          0, 0, 0xbf, 0xf0, 0,    0,    0, 0, 0, 0};
    struct {
        int i;
        double x[2];
    } mixed[2];
    struct {
        long i; /* 4 bytes in the file; in memory like the other */
        int64_t j;
    } alike[2];
    struct {
        double value;
        int index;
    } pair[2];
    float complex_[4];
    const MPI_Aint places[2] = {0, 8};
    MPI_Datatype t = structure(2, (int[]){1, 2}, places, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE});
    MPI_Datatype u = structure(2, (int[]){1, 1}, places, (MPI_Datatype[]){MPI_LONG, MPI_INT64_T});
    MPI_File f = own_file(bytes, sizeof bytes, "external32");

    for (int end = 19; end > 0; end--) {
        OK(MPI_File_set_size(f, end));
        memset(mixed, 0, sizeof mixed);
        CHECK_EQ(read_elements(f, mixed, t), (end >= 4) + (end >= 12));
        CHECK(mixed[0].i == (end >= 4 ? 7 : 0) && mixed[0].x[0] == (end >= 12) && mixed[0].x[1] == 0);
        memset(alike, 0, sizeof alike);
        CHECK_EQ(read_elements(f, alike, u), (end >= 4) + (end >= 12) + (end >= 16));
        CHECK(alike[0].i == (end >= 4 ? 7 : 0) && (alike[0].j == 0) == (end < 12));
        memset(pair, 0, sizeof pair);
        CHECK_EQ(read_elements(f, pair, MPI_DOUBLE_INT), (end >= 8) + (end >= 12));
        CHECK((pair[0].value != 0) == (end >= 8) && pair[0].index == 0 && pair[1].index == 0);
        memset(complex_, -1, sizeof complex_);
        CHECK_EQ(read_elements(f, complex_, MPI_C_FLOAT_COMPLEX), end / 8);
        CHECK((complex_[1] == 1.875f) == (end >= 8) && (complex_[3] == -1.875f) == (end >= 16));
    }
    MPI_Type_free(&t);
    MPI_Type_free(&u);
    OK(MPI_File_close(&f));
}

/* Doubles are floats in the file, pairs one byte; ints stay. */
static int narrow_extent(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    (void)state;
    *extent = type == MPI_DOUBLE_INT ? 1 : 4;
    return MPI_SUCCESS;
}

static int from_narrow(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *state)
{
    int bytes = 0, at = 0;

    CHECK(position == 0 && state == NULL);
    MPI_Type_size(type, &bytes);
    if (type == MPI_DOUBLE_INT || bytes % 8 != 0) {
        return MPI_SUCCESS;
    }
    int n = count * bytes / 8;
    double *wide = malloc((size_t)n * sizeof *wide);
    for (int i = 0; i < n; i++) {
        wide[i] = ((float *)file)[i];
    }
    MPI_Unpack(wide, 8 * n, &at, user, count, type, MPI_COMM_SELF);
    free(wide);
    return MPI_SUCCESS;
}

static int never(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *state)
{
    (void)user, (void)type, (void)count, (void)file, (void)position, (void)state;
    CHECK(false);
    return MPI_ERR_OTHER;
}

/* A function of the program converts elements of the basic type then, into their places. */
static void ends_of_own(const char *rep)
{
    enum { N = 1000, HAVE = 1500 };
    float bytes[HAVE];
    double *got = malloc(4 * N * sizeof *got);
    struct {
        double x;
        int i;
    } mixed[2] = {{-1, -1}, {-1, -1}};
    char pairs[2 * 20 * 16];
    MPI_Datatype t, u, v;

    for (int i = 0; i < HAVE; i++) {
        bytes[i] = (float)i;
    }
    MPI_Type_vector(N, 1, 2, MPI_DOUBLE, &t);
    resize(&t, 2 * N * 8);
    MPI_Type_commit(&t);
    MPI_Type_contiguous(20, MPI_DOUBLE_INT, &u);
    MPI_Type_commit(&u);
    v = structure(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_DOUBLE, MPI_INT});
    MPI_File f = own_file(bytes, sizeof bytes, rep);
    for (int end = 4 * HAVE; end > 4 * (HAVE - 1); end--) {
        int have = end / 4;
        OK(MPI_File_set_size(f, end));
        for (int i = 0; i < 4 * N; i++) {
            got[i] = -1;
        }
        CHECK_EQ(read_elements(f, got, t), have);
        for (int i = 0; i < 4 * N; i++) {
            CHECK(got[i] == (i % 2 == 0 && i / 2 < have ? i / 2 : -1));
        }
    }
    OK(MPI_File_set_size(f, 15));
    CHECK_EQ(read_elements(f, pairs, u), 2 * 15);
    OK(MPI_File_set_size(f, 7));
    CHECK_EQ(read_elements(f, mixed, v), 0);
    CHECK(mixed[0].x == -1 && mixed[0].i == -1);
    MPI_Type_free(&t);
    MPI_Type_free(&u);
    MPI_Type_free(&v);
    OK(MPI_File_close(&f));
    free(got);
}

/* ---- MPI_CONVERSION_FN_NULL: native in that direction ---- */

static MPI_Offset shared_position(MPI_File f)
{
    MPI_Offset at = -1;
    OK(MPI_File_get_position_shared(f, &at));
    return at;
}

static void check_refused(int code, const char *rep)
{
    char words[MPI_MAX_ERROR_STRING];
    int n;

    CHECK_CLASS(code, MPI_ERR_CONVERSION);
    MPI_Error_string(code, words, &n);
    CHECK(strstr(words, rep) != NULL && strstr(words, "12 bytes of these 24") != NULL);
}

/* Other sizes in the file and no function: nothing moves, no pointer either. */
static void no_function(const char *rep, bool reads)
{
    MPI_File f = open_file();
    MPI_Request r;
    MPI_Offset at = -1;
    double x[3] = {1, 2, 3};

    OK(MPI_File_set_view(f, 0, MPI_DOUBLE, MPI_DOUBLE, rep, MPI_INFO_NULL));
    check_refused(MPI_File_write(f, x, 3, MPI_DOUBLE, MPI_STATUS_IGNORE), rep);
    check_refused(MPI_File_iwrite(f, x, 3, MPI_DOUBLE, &r), rep);
    check_refused(MPI_File_write_shared(f, x, 3, MPI_DOUBLE, MPI_STATUS_IGNORE), rep);
    check_refused(MPI_File_write_ordered(f, x, 3, MPI_DOUBLE, MPI_STATUS_IGNORE), rep);
    if (!reads) {
        check_refused(MPI_File_read_all(f, x, 3, MPI_DOUBLE, MPI_STATUS_IGNORE), rep);
    }
    OK(MPI_File_get_position(f, &at));
    CHECK(at == 0 && shared_position(f) == 0);
    OK(MPI_File_get_size(f, &at));
    CHECK_EQ(at, 0);
    OK(MPI_File_close(&f));
}

/* Equal sizes. */
static void native_direction(void)
{
    unsigned char bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    MPI_File f = own_file(bytes, sizeof bytes, "narrow");
    MPI_Datatype t;
    MPI_Status st;
    int x[2] = {0, 0}, n = 0;

    OK(MPI_File_write_at(f, 4, bytes, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "nothing", MPI_INFO_NULL));
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Type_commit(&t);
    OK(MPI_File_read_at(f, 4, x, 1, t, &st));
    MPI_Get_elements(&st, t, &n);
    CHECK(n == 1 && memcmp(x, bytes, 4) == 0 && x[1] == 0);
    MPI_Type_free(&t);
    OK(MPI_File_close(&f));
}

/* ---- Functions that fail ---- */

static int good_calls; /* before one fails */

static int to_text_at_times(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                            void *state)
{
    return good_calls-- > 0 ? to_text(user, type, count, file, position, state) : MPI_ERR_OTHER;
}

static int from_text_at_times(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                              void *state)
{
    return good_calls-- > 0 ? from_text(user, type, count, file, position, state) : MPI_ERR_OTHER;
}

/* The file's bytes: `n` zeros in digits, then what was there. */
static void check_digits(MPI_File f, char *bytes, int all, int n)
{
    OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(f, 0, bytes, 8 * all, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < 8 * all; i++) {
        CHECK_EQ(bytes[i], i < 8 * n ? '0' : 'x');
    }
}

/* What was not converted is written nowhere, and does not count; nor does what comes after it. */
static void failing_functions(void)
{
    enum { N = 200000 }; /* more than one call converts */
    char *bytes = malloc(8 * (size_t)N);
    int *data = calloc(N, sizeof *data), n = -1;
    MPI_Status st;

    memset(bytes, 'x', 8 * (size_t)N);
    MPI_File f = own_file(bytes, 8 * N, "native");
    for (int good = 0; good < 2; good++) {
        OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "digits at times", MPI_INFO_NULL));
        good_calls = good;
        CHECK_CLASS(MPI_File_write_at(f, 0, data, N, MPI_INT, &st), MPI_ERR_CONVERSION);
        MPI_Get_count(&st, MPI_INT, &n);
        CHECK(good == 0 ? n == 0 : n > 0 && n < N);
        check_digits(f, bytes, N, n);
    }
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "digits at times", MPI_INFO_NULL));
    good_calls = N;
    OK(MPI_File_write_at(f, 0, data, N, MPI_INT, &st));
    for (int good = 0; good < 2; good++) {
        memset(data, -1, N * sizeof *data);
        good_calls = good;
        CHECK_CLASS(MPI_File_read_at(f, 0, data, N, MPI_INT, &st), MPI_ERR_CONVERSION);
        MPI_Get_count(&st, MPI_INT, &n);
        CHECK(good == 0 ? n == 0 : n > 0 && n < N);
        for (int i = 0; i < N; i++) {
            CHECK_EQ(data[i], i < n ? 0 : -1);
        }
    }
    OK(MPI_File_close(&f));
    free(bytes);
    free(data);
}

/* Numbers of 8 bytes that the view puts 4 bytes from each other, in bytes. */
static void no_room_for_digits(void)
{
    MPI_File f = open_file();
    MPI_Datatype t;

    MPI_Type_create_hvector(2, 1, 4, MPI_INT, &t);
    MPI_Type_commit(&t);
    OK(MPI_File_set_view(f, 0, MPI_INT, t, "native", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, t, "digits", MPI_INFO_NULL), MPI_ERR_IO);
    MPI_Type_free(&t);
    /* two numbers: 12 bytes in external32, and 16; a filetype of 16 is not made of such etypes there */
    MPI_Datatype etype, whole;
    etype = structure(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_LONG, MPI_INT64_T});
    MPI_Type_contiguous(2, MPI_INT64_T, &whole);
    MPI_Type_commit(&whole);
    OK(MPI_File_set_view(f, 0, etype, whole, "native", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_set_view(f, 0, etype, whole, "external32", MPI_INFO_NULL), MPI_ERR_ARG);
    MPI_Type_free(&etype);
    MPI_Type_free(&whole);
    OK(MPI_File_close(&f));
}

int main(void)
{
    io_start("io-reps");
    OK(MPI_Register_datarep("narrow", from_narrow, MPI_CONVERSION_FN_NULL, narrow_extent, NULL));
    OK(MPI_Register_datarep("narrow, never written", from_narrow, never, narrow_extent, NULL));
    OK(MPI_Register_datarep_c("nothing", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, narrow_extent,
                              NULL));
    OK(MPI_Register_datarep("digits", from_text_small, to_text_small, extent_of, &calls));
    OK(MPI_Register_datarep("digits at times", from_text_at_times, to_text_at_times, extent_of, &calls));
    OK(MPI_Register_datarep_c("digits, large", from_text, to_text, extent_of, &calls));
    CHECK_EQ(class_of(MPI_Register_datarep("digits", from_text_small, to_text_small, extent_of, &calls)),
             MPI_ERR_DUP_DATAREP);
    CHECK_CLASS(MPI_Register_datarep("native", NULL, NULL, extent_of, NULL), MPI_ERR_DUP_DATAREP);
    CHECK_CLASS(MPI_Register_datarep("x", NULL, NULL, NULL, NULL), MPI_ERR_ARG);
    /* Registering is a rank's own: orders may differ. */
    if (me % 2 == 1) {
        OK(MPI_Register_datarep("digits of some", from_text_small, to_text_small, extent_of, &calls));
    }
    OK(MPI_Register_datarep("digits of all", from_text_small, to_text_small, extent_of, &calls));
    own_text("digits of all");
    names_differ();
    own_text("digits");
    own_text("digits, large");
    longs();
    given_back();
    ends_of_external32();
    ends_of_own("narrow");
    ends_of_own("narrow, never written");
    no_function("narrow", true);
    no_function("nothing", false);
    native_direction();
    failing_functions();
    no_room_for_digits();
    MPI_Finalize();
    return 0;
}
