/* io: views put every byte where their types say, and moves keep to them. */
#include "unit.h"

#include "err.h"
#include "io.h"

static struct hl_type *byte_type(void)
{
    return hl_type_of(MPI_BYTE);
}

START_TEST(places_of_a_view_are_those_of_its_filetype)
{
    struct hl_type *t;
    struct hl_view *v;
    int64_t at = 0;

    /* 2 bytes of every 10, from byte 100 */
    ck_assert_int_eq(hl_type_make_vector(3, 2, 10, false, byte_type(), &t), 0);
    ck_assert_int_eq(hl_type_commit(t), 0);
    struct hl_view_ask ask = {100, byte_type(), t, hl_rep_of("native"), true};
    ck_assert_int_eq(hl_view_make(&ask, &v), 0);
    static const int64_t places[] = {100, 101, 110, 111, 120, 121, 122, 123, 132};
    for (int i = 0; i < 9; i++) {
        ck_assert_int_eq(hl_view_byte(v, i, &at), 0);
        ck_assert_int_eq(at, places[i]);
        ck_assert_int_eq(hl_view_end(v, places[i], &at), 0);
        ck_assert_int_eq(at, i);
    }
    ck_assert_int_eq(hl_view_end(v, 0, &at), 0);
    ck_assert_int_eq(at, 0);
    ck_assert_int_eq(hl_view_end(v, 105, &at), 0);
    ck_assert_int_eq(at, 2);
    ck_assert_int_eq(hl_view_byte(v, INT64_C(6) << 40, &at), 0);
    ck_assert_int_eq(at, 100 + (INT64_C(22) << 40));
    ck_assert_int_eq(hl_view_byte(v, INT64_MAX, &at), HL_ERR_ARG);
    hl_view_unref(v);
    hl_type_free(t);
}
END_TEST

/* Compares ends and ranges with those found by looking at each byte. */
static void check_by_bytes(int64_t disp, struct hl_type *etype, struct hl_type *filetype, bool writes)
{
    enum { BYTES = 96 };
    struct hl_view_ask ask = {disp, etype, filetype, hl_rep_of("native"), writes};
    struct hl_view *v;
    int64_t place[BYTES], at, first, end;

    ck_assert_int_eq(hl_view_make(&ask, &v), 0);
    for (int i = 0; i < BYTES; i++) {
        ck_assert_int_eq(hl_view_byte(v, i, &place[i]), 0);
    }
    for (int i = 0; i < BYTES; i++) {
        int64_t low = place[i], high = place[i];
        for (int k = i; k < BYTES; k++) {
            low = place[k] < low ? place[k] : low;
            high = place[k] > high ? place[k] : high;
            ck_assert_int_eq(hl_view_range(v, i, k + 1 - i, &first, &end), 0);
            ck_assert(writes ? first == low && end == high + 1 : first <= low && end > high);
            ck_assert(first >= disp + filetype->true_lb);
        }
    }
    for (int64_t size = 0; size < 200; size++) {
        int k = 0;
        while (k < BYTES && place[k] < size) {
            k += (int)etype->size;
        }
        ck_assert_int_eq(hl_view_end(v, size, &at), 0);
        ck_assert(k < BYTES ? at == k / etype->size : at >= BYTES / etype->size);
    }
    hl_view_unref(v);
}

/* A column of a matrix, and the next tile is the next column; blocks that overlap, in files that are read. */
START_TEST(tiles_that_interleave)
{
    static const int64_t lens[] = {16, 4, 12}, places[] = {8, 12, 32};
    struct hl_type *column, *next, *whole, *over, *both, *etype = hl_type_of(MPI_INT32_T);

    ck_assert_int_eq(hl_type_make_vector(3, 1, 10, false, etype, &column), 0);
    ck_assert_int_eq(hl_type_make_resized(column, 0, 4, &next), 0);
    ck_assert_int_eq(hl_type_make_resized(column, 0, 44, &whole), 0);
    ck_assert_int_eq(hl_type_make_indexed(3, lens, 0, places, true, byte_type(), &over), 0);
    ck_assert_int_eq(hl_type_make_resized(over, 0, 20, &both), 0);
    struct hl_type *all[] = {column, next, whole, over, both};
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(hl_type_commit(all[i]), 0);
        for (int64_t disp = 0; disp < 20; disp += 7) {
            check_by_bytes(disp, i < 3 ? etype : byte_type(), all[i], i < 3);
            check_by_bytes(disp, etype, all[i], false);
        }
    }
    for (int i = 0; i < 5; i++) {
        hl_type_free(all[i]);
    }
}
END_TEST

START_TEST(tiles_near_the_largest_number)
{
    int64_t far = INT64_C(1) << 61, size = INT64_MAX - far + 11, at;
    struct hl_type *t;
    struct hl_view *v;

    ck_assert_int_eq(hl_type_make_contiguous(size, byte_type(), &t), 0);
    ck_assert_int_eq(hl_type_commit(t), 0);
    struct hl_view_ask ask = {far - 1, byte_type(), t, hl_rep_of("native"), true};
    ck_assert_int_eq(hl_view_make(&ask, &v), 0);
    ck_assert_int_eq(hl_view_byte(v, 5, &at), HL_ERR_ARG);
    ck_assert_int_eq(hl_view_byte(v, far - 1, &at), HL_ERR_ARG);
    ck_assert_int_eq(hl_view_check(v, 0, far), HL_ERR_ARG);
    ck_assert_int_eq(hl_view_end(v, INT64_MAX, &at), 0);
    ck_assert_int_eq(at, INT64_MAX - (far - 1));
    hl_view_unref(v);
    hl_type_free(t);
}
END_TEST

static int try_view(int64_t disp, struct hl_type *etype, struct hl_type *filetype, bool writes)
{
    struct hl_view *v;
    struct hl_view_ask ask = {disp, etype, filetype, hl_rep_of("native"), writes};
    int err = hl_view_make(&ask, &v);

    if (err == 0) {
        hl_view_unref(v);
    }
    return err;
}

/* Blocks of bytes. */
static struct hl_type *blocks(int64_t n, const int64_t *lens, const int64_t *places)
{
    struct hl_type *t;

    ck_assert_int_eq(hl_type_make_indexed(n, lens, 0, places, true, byte_type(), &t), 0);
    ck_assert_int_eq(hl_type_commit(t), 0);
    return t;
}

START_TEST(views_that_cannot_be_are_refused)
{
    struct hl_type *t = blocks(1, (int64_t[]){6}, (int64_t[]){0});
    struct hl_type *before = blocks(1, (int64_t[]){4}, (int64_t[]){-4});
    struct hl_type *back = blocks(2, (int64_t[]){4, 4}, (int64_t[]){8, 0});
    struct hl_type *over = blocks(2, (int64_t[]){4, 4}, (int64_t[]){0, 2});
    struct hl_type *folded;

    ck_assert_int_eq(try_view(-1, byte_type(), byte_type(), false), HL_ERR_ARG);
    ck_assert_int_eq(try_view(0, hl_type_of(MPI_INT32_T), t, false), HL_ERR_ARG);
    ck_assert_int_eq(try_view(0, byte_type(), before, false), HL_ERR_IO);
    ck_assert_int_eq(try_view(0, byte_type(), back, false), HL_ERR_IO);
    ck_assert_int_eq(try_view(0, byte_type(), over, true), HL_ERR_IO);
    ck_assert_int_eq(try_view(0, byte_type(), over, false), 0);
    ck_assert_int_eq(hl_type_make_vector(3, 1, 4, true, t, &folded), 0);
    ck_assert_int_eq(hl_type_commit(folded), 0);
    ck_assert_int_eq(try_view(0, byte_type(), folded, true), HL_ERR_IO);
    ck_assert_ptr_null(hl_rep_of("native "));
    hl_type_free(t);
    hl_type_free(before);
    hl_type_free(back);
    hl_type_free(over);
    hl_type_free(folded);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *s = suite_create("io");
    TCase *tc = tcase_create("views");

    tcase_add_test(tc, places_of_a_view_are_those_of_its_filetype);
    tcase_add_test(tc, tiles_that_interleave);
    tcase_add_test(tc, tiles_near_the_largest_number);
    tcase_add_test(tc, views_that_cannot_be_are_refused);
    suite_add_tcase(s, tc);
    return s;
}

UNIT_MAIN(make_suite)
