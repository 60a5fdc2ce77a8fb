/* Datatypes as a program sees them: what a constructor was called with rebuilds the same type, a distributed
 * array's parts are what the standard says, external32 has the standard's bytes. usage: type_calls ROUNDS */
#include "mpi_test.h"

#include <float.h>

#include <pthread.h>

static uint64_t state;

static int upto(int n)
{
    return (int)(test_random(&state) % (uint64_t)n);
}

static const MPI_Datatype basics[] = {MPI_INT, MPI_CHAR, MPI_DOUBLE, MPI_SHORT_INT, MPI_LONG, MPI_FLOAT_INT};

#define MOST 4

static MPI_Datatype random_array(MPI_Datatype old, bool large)
{
    int sizes[2] = {5, 7}, sub[2] = {2, 3}, starts[2] = {1, upto(4)};
    int kinds[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, args[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
    int procs[2] = {2, 2}, order = upto(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, rank = upto(4);
    MPI_Count sizes_c[2] = {5, 7}, sub_c[2] = {2, 3}, starts_c[2] = {1, starts[1]};
    MPI_Datatype new;

    if (upto(2)) {
        large ? MPI_Type_create_subarray_c(2, sizes_c, sub_c, starts_c, order, old, &new)
              : MPI_Type_create_subarray(2, sizes, sub, starts, order, old, &new);
    } else {
        large ? MPI_Type_create_darray_c(4, rank, 2, sizes_c, kinds, args, procs, order, old, &new)
              : MPI_Type_create_darray(4, rank, 2, sizes, kinds, args, procs, order, old, &new);
    }
    return new;
}

/* A random type made of others, by the int forms or the large ones. */
static MPI_Datatype random_type(int depth, bool large)
{
    int n = 1 + upto(MOST), len[MOST], disp[MOST], made = 0;
    MPI_Count lens[MOST], displs[MOST];
    MPI_Aint where[MOST];
    MPI_Datatype old[MOST], new;

    if (depth == 0) {
        MPI_Type_dup(basics[upto(6)], &new);
        return new;
    }
    for (int i = 0; i < MOST; i++) {
        old[i] = random_type(i == 0 ? depth - 1 : 0, large);
        lens[i] = len[i] = upto(3);
        displs[i] = where[i] = disp[i] = 40 * i + upto(9);
    }
    made = upto(11);
    switch (made) {
    case 0:
        large ? MPI_Type_contiguous_c(n, old[0], &new) : MPI_Type_contiguous(n, old[0], &new);
        break;
    case 1:
        large ? MPI_Type_vector_c(n, 2, 3, old[0], &new) : MPI_Type_vector(n, 2, 3, old[0], &new);
        break;
    case 2:
        large ? MPI_Type_create_hvector_c(n, 2, -77, old[0], &new)
              : MPI_Type_create_hvector(n, 2, -77, old[0], &new);
        break;
    case 3:
        large ? MPI_Type_indexed_c(n, lens, displs, old[0], &new)
              : MPI_Type_indexed(n, len, disp, old[0], &new);
        break;
    case 4:
        large ? MPI_Type_create_hindexed_c(n, lens, displs, old[0], &new)
              : MPI_Type_create_hindexed(n, len, where, old[0], &new);
        break;
    case 5:
        large ? MPI_Type_create_indexed_block_c(n, 2, displs, old[0], &new)
              : MPI_Type_create_indexed_block(n, 2, disp, old[0], &new);
        break;
    case 6:
        large ? MPI_Type_create_hindexed_block_c(n, 2, displs, old[0], &new)
              : MPI_Type_create_hindexed_block(n, 2, where, old[0], &new);
        break;
    case 7:
        large ? MPI_Type_create_struct_c(n, lens, displs, old, &new)
              : MPI_Type_create_struct(n, len, where, old, &new);
        break;
    case 8:
        large ? MPI_Type_create_resized_c(old[0], -5, 99, &new)
              : MPI_Type_create_resized(old[0], -5, 99, &new);
        break;
    default:
        new = random_array(old[0], large);
    }
    for (int i = 0; i < MOST; i++) {
        MPI_Type_free(&old[i]);
    }
    return new;
}

static MPI_Datatype rebuild(MPI_Datatype t);

static void release(MPI_Datatype *t)
{
    MPI_Count n[4];
    int combiner;

    MPI_Type_get_envelope_c(*t, &n[0], &n[1], &n[2], &n[3], &combiner);
    if (combiner != MPI_COMBINER_NAMED) {
        MPI_Type_free(t);
    }
}

static MPI_Datatype construct_array(int combiner, bool large, const int *i, const MPI_Count *c,
                                    MPI_Datatype t)
{
    bool sub = combiner == MPI_COMBINER_SUBARRAY;
    int n = sub ? i[0] : i[2];
    MPI_Datatype new;

    if (sub) {
        large ? MPI_Type_create_subarray_c(n, c, c + n, c + 2 * n, i[1], t, &new)
              : MPI_Type_create_subarray(n, i + 1, i + 1 + n, i + 1 + 2 * n, i[1 + 3 * n], t, &new);
    } else {
        large ? MPI_Type_create_darray_c(i[0], i[1], n, c, i + 3, i + 3 + n, i + 3 + 2 * n, i[3 + 3 * n], t,
                                         &new)
              : MPI_Type_create_darray(i[0], i[1], n, i + 3, i + 3 + n, i + 3 + 2 * n, i + 3 + 3 * n,
                                       i[3 + 4 * n], t, &new);
    }
    return new;
}

/* The constructor called again: i integers, a addresses, c large counts. */
static MPI_Datatype construct(int combiner, bool large, const int *i, const MPI_Aint *a, const MPI_Count *c,
                              const MPI_Datatype *t)
{
    MPI_Datatype new = MPI_DATATYPE_NULL;
    int n = large ? (int)c[0] : i[0];

    switch (combiner) {
    case MPI_COMBINER_DUP:
        MPI_Type_dup(t[0], &new);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        large ? MPI_Type_contiguous_c(c[0], t[0], &new) : MPI_Type_contiguous(i[0], t[0], &new);
        break;
    case MPI_COMBINER_VECTOR:
        large ? MPI_Type_vector_c(c[0], c[1], c[2], t[0], &new)
              : MPI_Type_vector(i[0], i[1], i[2], t[0], &new);
        break;
    case MPI_COMBINER_HVECTOR:
        large ? MPI_Type_create_hvector_c(c[0], c[1], c[2], t[0], &new)
              : MPI_Type_create_hvector(i[0], i[1], a[0], t[0], &new);
        break;
    case MPI_COMBINER_INDEXED:
        large ? MPI_Type_indexed_c(n, c + 1, c + 1 + n, t[0], &new)
              : MPI_Type_indexed(n, i + 1, i + 1 + n, t[0], &new);
        break;
    case MPI_COMBINER_HINDEXED:
        large ? MPI_Type_create_hindexed_c(n, c + 1, c + 1 + n, t[0], &new)
              : MPI_Type_create_hindexed(n, i + 1, a, t[0], &new);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        large ? MPI_Type_create_indexed_block_c(n, c[1], c + 2, t[0], &new)
              : MPI_Type_create_indexed_block(n, i[1], i + 2, t[0], &new);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        large ? MPI_Type_create_hindexed_block_c(n, c[1], c + 2, t[0], &new)
              : MPI_Type_create_hindexed_block(n, i[1], a, t[0], &new);
        break;
    case MPI_COMBINER_STRUCT:
        large ? MPI_Type_create_struct_c(n, c + 1, c + 1 + n, t, &new)
              : MPI_Type_create_struct(n, i + 1, a, t, &new);
        break;
    case MPI_COMBINER_RESIZED:
        large ? MPI_Type_create_resized_c(t[0], c[0], c[1], &new)
              : MPI_Type_create_resized(t[0], a[0], a[1], &new);
        break;
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
        new = construct_array(combiner, large, i, c, t[0]);
        break;
    default:
        CHECK(!"a combiner nobody used");
    }
    return new;
}

static MPI_Datatype rebuild(MPI_Datatype t)
{
    MPI_Count ni, na, nc, nt;
    int combiner, ints[64], code;
    MPI_Aint addrs[64];
    MPI_Count counts[64];
    MPI_Datatype types[64], inner[64], new;

    MPI_Type_get_envelope_c(t, &ni, &na, &nc, &nt, &combiner);
    if (combiner == MPI_COMBINER_NAMED) {
        return t;
    }
    MPI_Type_get_contents_c(t, 64, 64, 64, 64, ints, addrs, counts, types);
    if (nc == 0) {
        int n[3], again;
        MPI_Type_get_envelope(t, &n[0], &n[1], &n[2], &again);
        CHECK(n[0] == ni && n[1] == na && n[2] == nt && again == combiner);
    } else {
        int n[3], again;
        code = MPI_Type_get_envelope(t, &n[0], &n[1], &n[2], &again);
        CHECK_EQ(code, MPI_ERR_TYPE); /* large counts do not fit the old form */
    }
    for (int k = 0; k < nt; k++) {
        inner[k] = rebuild(types[k]);
    }
    new = construct(combiner, nc > 0, ints, addrs, counts, inner);
    for (int k = 0; k < nt; k++) {
        if (inner[k] != types[k]) {
            release(&inner[k]);
        }
        release(&types[k]);
    }
    return new;
}

static char ground[1 << 20], image[2][1 << 20], packed[2][1 << 20];

/* Same bounds, same bytes in the same order. */
static void check_same(MPI_Datatype a, MPI_Datatype b)
{
    MPI_Count lb[2], extent[2], true_lb[2], true_extent[2], bytes_in[2], at[2] = {0, 0};
    MPI_Datatype t[2] = {a, b};

    for (int k = 0; k < 2; k++) {
        MPI_Type_get_extent_c(t[k], &lb[k], &extent[k]);
        MPI_Type_get_true_extent_c(t[k], &true_lb[k], &true_extent[k]);
        MPI_Type_size_c(t[k], &bytes_in[k]);
        MPI_Type_commit(&t[k]);
    }
    CHECK(lb[0] == lb[1] && extent[0] == extent[1] && bytes_in[0] == bytes_in[1]);
    CHECK(true_lb[0] == true_lb[1] && true_extent[0] == true_extent[1]);
    int64_t middle = sizeof ground / 2;
    if (true_lb[0] < -middle || true_lb[0] + true_extent[0] > middle ||
        bytes_in[0] > (int64_t)sizeof packed[0]) {
        return;
    }
    for (int k = 0; k < 2; k++) {
        MPI_Pack_c(ground + middle, 1, t[k], packed[k], sizeof packed[k], &at[k], MPI_COMM_SELF);
    }
    CHECK_EQ(at[0], at[1]);
    CHECK(memcmp(packed[0], packed[1], (size_t)at[0]) == 0);
    MPI_Count bytes;
    MPI_Aint there = 0, back = 0;
    MPI_Pack_external_size_c("external32", 1, a, &bytes);
    if (bytes > (int64_t)sizeof packed[1]) {
        return;
    }
    /* In, out and in again: the same memory, unless entries overlap and make a long that does not fit. */
    memset(image[0], 0, sizeof image[0]);
    memset(image[1], 0, sizeof image[1]);
    for (int64_t i = 0; i < bytes; i++) {
        packed[0][i] = (char)test_random(&state);
    }
    MPI_Unpack_external("external32", packed[0], bytes, &back, image[0] + middle, 1, a);
    CHECK_EQ(back, bytes);
    int code = MPI_Pack_external("external32", image[0] + middle, 1, b, packed[1], sizeof packed[1], &there);
    if (code != MPI_SUCCESS) {
        CHECK_EQ(code, MPI_ERR_CONVERSION);
        return;
    }
    CHECK_EQ(there, bytes);
    back = 0;
    MPI_Unpack_external("external32", packed[1], bytes, &back, image[1] + middle, 1, b);
    CHECK(memcmp(image[0], image[1], sizeof image[0]) == 0);
}

/* ---- Distributed arrays against the standard's words ---- */

static int owner(int kind, int arg, int procs, int n, int i)
{
    int block = arg;

    if (kind == MPI_DISTRIBUTE_NONE) {
        return 0;
    }
    if (arg == MPI_DISTRIBUTE_DFLT_DARG) {
        block = kind == MPI_DISTRIBUTE_BLOCK ? (n + procs - 1) / procs : 1;
    }
    return i / block % procs;
}

/* Arrays of nearly 2^63 bytes: the parts of both processes have them all. */
static void check_wide_darrays(void)
{
    static const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    static const int args[] = {MPI_DISTRIBUTE_DFLT_DARG, 1 << 30}, procs[] = {2};

    for (int i = 0; i < 4; i++) {
        MPI_Count all[] = {INT64_MAX - i / 2}, bytes, extent, lb, sum = 0;
        for (int rank = 0; rank < 2; rank++) {
            MPI_Datatype t;
            CHECK_EQ(MPI_Type_create_darray_c(2, rank, 1, all, &kinds[i % 2], &args[i % 2], procs,
                                              MPI_ORDER_C, MPI_BYTE, &t),
                     MPI_SUCCESS);
            MPI_Type_size_c(t, &bytes);
            MPI_Type_get_extent_c(t, &lb, &extent);
            CHECK(extent == all[0] && bytes >= all[0] / 2 - 1 && bytes <= all[0] / 2 + 1);
            sum += bytes;
            MPI_Type_free(&t);
        }
        CHECK(sum == all[0]);
    }
}

static void check_darray(void)
{
    enum { DIMS = 3 };
    static const int kinds[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    int n[DIMS], kind[DIMS], arg[DIMS], procs[DIMS], grid = 1, all = 1, dims = 1 + upto(DIMS);
    int order = upto(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    static int data[1000], out[1000], seen[1000];

    for (int d = 0; d < dims; d++) {
        n[d] = 1 + upto(9);
        kind[d] = kinds[upto(3)];
        procs[d] = kind[d] == MPI_DISTRIBUTE_NONE ? 1 : 1 + upto(4);
        arg[d] = upto(2) ? MPI_DISTRIBUTE_DFLT_DARG : 1 + upto(4);
        if (kind[d] == MPI_DISTRIBUTE_BLOCK && arg[d] > 0 && arg[d] * procs[d] < n[d]) {
            arg[d] = n[d];
        }
        grid *= procs[d];
        all *= n[d];
    }
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < all; i++) {
        data[i] = i;
    }
    for (int rank = 0; rank < grid; rank++) {
        MPI_Datatype t;
        MPI_Count lb, extent;
        int at = 0, got = 0;
        MPI_Type_create_darray(grid, rank, dims, n, kind, arg, procs, order, MPI_INT, &t);
        MPI_Type_commit(&t);
        MPI_Type_get_extent_c(t, &lb, &extent);
        CHECK(lb == 0 && extent == 4 * all);
        MPI_Pack(data, 1, t, out, sizeof out, &at, MPI_COMM_SELF);
        for (int i = 0; i < all; i++) { /* in the order of memory */
            int rest = i, who = 0;
            int place[DIMS];
            for (int k = 0; k < dims; k++) {
                int d = order == MPI_ORDER_C ? dims - 1 - k : k;
                place[d] = rest % n[d];
                rest /= n[d];
            }
            for (int d = 0; d < dims; d++) {
                who = who * procs[d] + owner(kind[d], arg[d], procs[d], n[d], place[d]);
            }
            if (who == rank) {
                CHECK_EQ(out[got], i);
                got++;
                seen[i]++;
            }
        }
        CHECK_EQ(at, 4 * got);
        MPI_Type_free(&t);
    }
    for (int i = 0; i < all; i++) {
        CHECK_EQ(seen[i], 1);
    }
}

/* ---- external32 ---- */

static void check_bytes(const void *value, MPI_Datatype t, int n, const char *want)
{
    unsigned char got[64];
    char back[64] = {0};
    MPI_Aint at = 0, need = -1, from = 0;
    int bytes, code;

    MPI_Pack_external_size("external32", 1, t, &need);
    CHECK_EQ(need, n);
    code = MPI_Pack_external("external32", value, 1, t, got, n, &at);
    CHECK_EQ(code, MPI_SUCCESS);
    CHECK_EQ(at, n);
    CHECK(memcmp(got, want, (size_t)n) == 0);
    MPI_Unpack_external("external32", got, n, &from, back, 1, t);
    MPI_Type_size(t, &bytes);
    CHECK_EQ(from, n);
    CHECK(memcmp(back, value, t == MPI_LONG_DOUBLE ? 10 : (size_t)(bytes < 12 ? bytes : 8)) == 0);
    CHECK_EQ(MPI_Pack_external("external32", value, 1, t, got, n - 1, &(MPI_Aint){0}), MPI_ERR_TRUNCATE);
}

static void check_words(int code, int class, const char *want)
{
    char text[MPI_MAX_ERROR_STRING];
    int len, found;
    MPI_Error_class(code, &found);
    MPI_Error_string(code, text, &len);
    CHECK_EQ(found, class);
    if (strstr(text, want) == NULL || strstr(text, "receive buffer") != NULL) {
        fprintf(stderr, "%s: no \"%s\"\n", text, want);
        CHECK(0);
    }
}

/* A packing buffer without room, and places that it does not have; a communicator without a name. */
static void check_refusals(void)
{
    int value = 1, out[2], at = 5, before = -1;
    MPI_Aint at_external = -4;
    MPI_Comm nameless;
    check_words(MPI_Pack(&value, 1, MPI_INT, out, 8, &at, MPI_COMM_SELF), MPI_ERR_TRUNCATE,
                "the packing buffer is too small: 4 bytes at position 5 of a buffer of 8");
    check_words(MPI_Pack(&value, 1, MPI_INT, out, 8, &before, MPI_COMM_SELF), MPI_ERR_ARG,
                "position -1 is negative");
    check_words(MPI_Unpack(out, 8, &before, &value, 1, MPI_INT, MPI_COMM_SELF), MPI_ERR_ARG,
                "position -1 is negative");
    check_words(MPI_Pack_external("external32", &value, 1, MPI_INT, out, 8, &at_external), MPI_ERR_ARG,
                "position -4 is negative");
    CHECK(at == 5 && before == -1 && at_external == -4);
    MPI_Comm_dup(MPI_COMM_SELF, &nameless);
    MPI_Comm_set_name(nameless, "");
    check_words(MPI_Pack(&value, 1, MPI_INT, out, 8, &at, nameless), MPI_ERR_TRUNCATE, "communicator");
    MPI_Comm_free(&nameless);
}

static void check_external(void)
{
    MPI_Aint at = 0;
    char out[16];
    static struct { /* static: nothing in the gap */
        short value;
        int index;
    } pair = {-2, 3};

    check_bytes(&(int){0x01020304}, MPI_INT, 4, "\1\2\3\4");
    check_bytes(&(short){-2}, MPI_SHORT, 2, "\xff\xfe");
    check_bytes(&(long){-3}, MPI_LONG, 4, "\xff\xff\xff\xfd");
    check_bytes(&(unsigned long){0xfffffffd}, MPI_UNSIGNED_LONG, 4, "\xff\xff\xff\xfd");
    check_bytes(&(int64_t){-3}, MPI_INT64_T, 8, "\xff\xff\xff\xff\xff\xff\xff\xfd");
    check_bytes(&(MPI_Aint){5}, MPI_AINT, 8, "\0\0\0\0\0\0\0\5");
    check_bytes(&(wchar_t){0x1234}, MPI_WCHAR, 2, "\x12\x34");
    check_bytes(&(float){1}, MPI_FLOAT, 4, "\x3f\x80\0\0");
    check_bytes(&(double){-2}, MPI_DOUBLE, 8, "\xc0\0\0\0\0\0\0\0");
    check_bytes(&(long double){1.5}, MPI_LONG_DOUBLE, 16, "\x3f\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0");
    check_bytes("\x7f", MPI_BYTE, 1, "\x7f");
    check_bytes(&pair, MPI_SHORT_INT, 6, "\xff\xfe\0\0\0\3");
    CHECK_EQ(MPI_Pack_external("external32", &(long){1L << 40}, 1, MPI_LONG, out, 16, &at),
             MPI_ERR_CONVERSION);
    CHECK_EQ(MPI_Pack_external("native", &at, 1, MPI_LONG, out, 16, &at), MPI_ERR_UNSUPPORTED_DATAREP);
}

/* A type of Fortran's kinds is not freed, and has no name: the message names the call that gave it. */
static void check_kept_kind(MPI_Datatype type, const char *call)
{
    MPI_Datatype given = type;
    int code = MPI_Type_free(&given), class_, length;
    char words[MPI_MAX_ERROR_STRING];

    MPI_Error_class(code, &class_);
    MPI_Error_string(code, words, &length);
    CHECK_EQ(class_, MPI_ERR_TYPE);
    CHECK(given == type && strstr(words, call) != NULL);
}

static void check_f90(void)
{
    MPI_Datatype a, b;
    int size_, n[3], combiner, ints[2];
    double x[2] = {1, 2}, sum[2];

    MPI_Type_create_f90_real(15, 300, &a);
    MPI_Type_create_f90_real(15, 300, &b);
    CHECK(a == b && a != MPI_REAL8);
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &b);
    CHECK(a != b);
    MPI_Type_size(a, &size_);
    CHECK_EQ(size_, 8);
    MPI_Allreduce(x, sum, 2, a, MPI_SUM, MPI_COMM_SELF);
    CHECK(sum[1] == 2);
    MPI_Type_get_envelope(a, &n[0], &n[1], &n[2], &combiner);
    CHECK(n[0] == 2 && n[1] == 0 && n[2] == 0 && combiner == MPI_COMBINER_F90_REAL);
    MPI_Type_get_contents(a, 2, 0, 0, ints, NULL, NULL);
    CHECK(ints[0] == 15 && ints[1] == 300);
    check_kept_kind(a, "MPI_Type_create_f90_real");
    if (LDBL_MANT_DIG == 64) { /* gfortran's kind 10 */
        long double y = 1, twice[2] = {0, 5};
        MPI_Type_create_f90_real(18, 4000, &a);
        MPI_Reduce_local(&y, twice, 1, a, MPI_SUM);
        CHECK(twice[0] == 1 && twice[1] == 5);
        MPI_Reduce_local(&y, twice, 1, a, MPI_SUM);
        CHECK(twice[0] == 2);
    }
    MPI_Type_create_f90_integer(9, &a);
    MPI_Type_size(a, &size_);
    CHECK_EQ(size_, 4);
    check_kept_kind(a, "MPI_Type_create_f90_integer");
    MPI_Type_create_f90_complex(6, 30, &a);
    MPI_Type_size(a, &size_);
    CHECK_EQ(size_, 8);
    check_kept_kind(a, "MPI_Type_create_f90_complex");
    CHECK_EQ(MPI_Type_create_f90_integer(39, &a), MPI_ERR_ARG);
    CHECK_EQ(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &a), MPI_ERR_ARG);
}

/* Types each made of the one before, as many as one likes: the last one's end is the end of all, on a stack
 * of any size. */
static void *free_chain(void *unused)
{
    MPI_Datatype t, next;

    MPI_Type_vector(3, 1, 2, MPI_INT, &t);
    for (int i = 0; i < 20000; i++) {
        CHECK_EQ(MPI_Type_create_resized(t, 0, 24 + i % 8, &next), MPI_SUCCESS);
        MPI_Type_free(&t);
        t = next;
    }
    MPI_Type_free(&t);
    return unused;
}

static void check_chain(void)
{
    pthread_attr_t small;
    pthread_t thread;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    CHECK_EQ(pthread_create(&thread, &small, free_chain, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&small);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 300;

    test_start(1);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    state = test_seed();
    for (size_t i = 0; i < sizeof ground; i++) {
        ground[i] = (char)test_random(&state);
    }
    check_external();
    check_refusals();
    check_f90();
    check_chain();
    check_wide_darrays();
    for (int i = 0; i < rounds; i++) {
        MPI_Datatype t = random_type(1 + upto(3), i % 2), twin = rebuild(t);
        check_same(t, twin);
        MPI_Type_free(&t);
        MPI_Type_free(&twin);
        check_darray();
    }
    MPI_Finalize();
    return 0;
}
