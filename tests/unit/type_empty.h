/* Types with empty parts: included by test_type.c. */

/* Strides and displacements of what is empty may be anything. */
START_TEST(empty_parts_have_no_place)
{
    enum { FAR = INT32_MAX };
    struct hl_type *wide = NULL, *none = NULL, *t = NULL, *of_int = hl_type_of(MPI_INT);
    const int64_t lens[] = {1, 0}, far[] = {0, INT64_MIN}, elements[] = {0, FAR}, at[] = {8, -100};
    ck_assert_int_eq(hl_type_make_resized(of_int, 0, (int64_t)1 << 40, &wide), 0);
    for (int64_t n = 0; n < 2; n++) {
        ck_assert_int_eq(hl_type_make_vector(n, 1, FAR, false, wide, &t), 0);
        ck_assert_int_eq(hl_type_extent(t), n << 40);
        hl_type_unref(t);
    }
    ck_assert_int_eq(hl_type_make_vector(5, 0, INT64_MAX, false, of_int, &none), 0);
    ck_assert_int_eq(hl_type_make_indexed(2, lens, 0, elements, false, wide, &t), 0);
    ck_assert_int_eq(hl_type_extent(t), (int64_t)1 << 40);
    hl_type_unref(t);
    ck_assert_int_eq(hl_type_make_struct(2, lens, far, (struct hl_type *const[]){of_int, of_int}, &t), 0);
    ck_assert_int_eq(hl_type_extent(t), 4);
    hl_type_unref(t);
    ck_assert_int_eq(
        hl_type_make_struct(2, (int64_t[]){1, 1}, at, (struct hl_type *const[]){of_int, none}, &t), 0);
    ck_assert_int_eq(t->lb, 8);
    ck_assert_int_eq(t->ub, 12);
    hl_type_unref(t);
    hl_type_unref(none);
    hl_type_unref(wide);
}
END_TEST
