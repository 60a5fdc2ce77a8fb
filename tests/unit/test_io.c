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
    tcase_add_test(tc, views_that_cannot_be_are_refused);
    suite_add_tcase(s, tc);
    return s;
}

UNIT_MAIN(make_suite)
