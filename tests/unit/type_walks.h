/* Walks over layouts, and what is packed and copied by them: included by test_type.c. */

START_TEST(a_million_blocks_take_no_memory)
{
    struct hl_type *t;
    char *at;
    struct hl_type_cursor c;

    ck_assert_int_eq(hl_type_make_vector(1000000, 1, 2, false, hl_type_of(MPI_DOUBLE), &t), 0);
    hl_type_commit(t);
    ck_assert_int_eq(hl_type_cursor_init(&c, HL_WALK_BYTES, t, 1000, NULL, t->size * 500 + 8004), 0);
    ck_assert_int_eq(hl_type_cursor_next(&c, 100, &at), 4);
    ck_assert_int_eq((intptr_t)at, hl_type_extent(t) * 500 + 16000 + 4 + 0 * 8);
    hl_type_cursor_fini(&c);
    hl_type_free(t);
}
END_TEST

START_TEST(pairs_are_walked_whole_or_without_padding)
{
    struct hl_type *t;
    struct hl_type_cursor c;
    char buf[200], *at;

    ck_assert_int_eq(hl_type_make_vector(2, 2, 3, false, hl_type_of(MPI_DOUBLE_INT), &t), 0);
    hl_type_commit(t);
    hl_type_cursor_init(&c, HL_WALK_ELEMENTS, t, 1, buf, 12);
    ck_assert_int_eq(hl_type_cursor_next(&c, 100, &at), 1);
    ck_assert_ptr_eq(at, buf + 16);
    ck_assert_int_eq(hl_type_cursor_next(&c, 100, &at), 2);
    ck_assert_ptr_eq(at, buf + 48);
    ck_assert_int_eq(hl_type_cursor_next(&c, 100, &at), 0);
    hl_type_cursor_fini(&c);
    hl_type_cursor_init(&c, HL_WALK_BYTES, t, 1, buf, 10);
    ck_assert_int_eq(hl_type_cursor_next(&c, 100, &at), 2);
    ck_assert_ptr_eq(at, buf + 10);
    ck_assert_int_eq(hl_type_cursor_next(&c, 100, &at), 8);
    ck_assert_ptr_eq(at, buf + 16);
    hl_type_cursor_fini(&c);
    hl_type_free(t);
}
END_TEST

/* Pairs with padding inside and behind: packed whole, unpacked without it. */
START_TEST(pairs_are_packed_at_their_extent)
{
    static const MPI_Datatype pairs[] = {MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT};
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
        struct hl_type *t, *pair = hl_type_of(pairs[k]);
        size_t ext = (size_t)hl_type_extent(pair), span = hl_op_span((enum hl_basic)pair->basic, 1);
        struct hl_type_cursor c;
        char from[400], packed[200], to[400], zeros[32] = {0};
        hl_type_make_vector(4, 1, 3, false, pair, &t);
        hl_type_commit(t);
        for (size_t i = 0; i < sizeof from; i++) {
            from[i] = (char)(i + 1);
        }
        memset(packed, 0, sizeof packed);
        memset(to, 0, sizeof to);
        for (int way = 0; way < 2; way++) {
            hl_type_cursor_init(&c, HL_WALK_ELEMENTS, t, 1, way == 0 ? from : to, 0);
            ck_assert_int_eq(hl_type_cursor_pack(&c, packed, 100, way == 0), 4);
            hl_type_cursor_fini(&c);
        }
        for (size_t i = 0; i < 4; i++) {
            ck_assert_mem_eq(packed + i * ext, from + 3 * i * ext, span);
            ck_assert(
                are_elements((enum hl_basic)pair->basic, to + 3 * i * ext, from + 3 * i * ext, zeros, 1));
            for (size_t j = ext; j < 3 * ext; j++) {
                ck_assert_int_eq(to[3 * i * ext + j], 0);
            }
        }
        hl_type_free(t);
    }
}
END_TEST

START_TEST(layouts_are_copied_into_each_other)
{
    struct hl_type *a, *b;
    int from[12], to[12] = {0};

    for (int i = 0; i < 12; i++) {
        from[i] = i;
    }
    hl_type_make_vector(3, 2, 4, false, hl_type_of(MPI_INT), &a);
    hl_type_make_vector(2, 3, 6, false, hl_type_of(MPI_INT), &b);
    hl_type_commit(a);
    hl_type_commit(b);
    ck_assert_int_eq(hl_type_copy(b, 1, to, a, 1, from), 0);
    int want[12] = {0, 1, 4, 0, 0, 0, 5, 8, 9, 0, 0, 0};
    ck_assert_mem_eq(to, want, sizeof want);
    hl_type_free(a);
    hl_type_free(b);
}
END_TEST
