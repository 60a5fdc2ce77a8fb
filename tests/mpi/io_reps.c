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
    MPI_Type_create_resized(gaps, 0, 16, &gaps);
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
    MPI_Type_create_resized(turn, 0, 16 * size, &turn);
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

int main(void)
{
    io_start("io-reps");
    OK(MPI_Register_datarep("digits", from_text_small, to_text_small, extent_of, &calls));
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
    MPI_Finalize();
    return 0;
}
