/* Structures within structures, on a small stack. Part of test_type.c. */
#ifndef TYPE_DEEP_H
#define TYPE_DEEP_H

#include "err.h"
#include "type.h"
#include "unit.h"

#include <pthread.h>

/* A structure of an int, and of the old type 8 bytes behind it. */
static int nest_once(struct hl_type *old, struct hl_type **made)
{
    int64_t lens[2] = {1, 1}, displs[2] = {0, 8};
    struct hl_type *types[2] = {hl_type_of(MPI_INT), old};

    return hl_type_make_struct(2, lens, displs, types, made);
}

/* Uses and frees a type of `levels` ints and a double. */
static void use_deep(struct hl_type *t, int levels)
{
    enum { MOST = 300 };
    static _Alignas(8) char from[8 * MOST], to[8 * MOST], packed[8 * MOST];
    int64_t bytes = 0, size = 4 * levels + 8;

    ck_assert_int_lt(levels, MOST - 1);
    ck_assert_int_eq(t->size, size);
    for (size_t i = 0; i < sizeof from; i++) {
        from[i] = (char)(i / 4 % 2 == 0 || i >= 8 * (size_t)levels ? i : 0); /* 0 where the type has gaps */
    }
    ck_assert_int_eq(hl_type_commit(t), 0);
    ck_assert_int_eq(hl_type_pack(t, 1, from, 0, packed, size), 0);
    ck_assert_int_eq(hl_type_unpack(t, 1, to, 0, packed, size), 0);
    ck_assert_mem_eq(to, from, 8 * (size_t)levels + 8);
    ck_assert_int_eq(hl_type_external_bytes(t, 1, &bytes), 0);
    ck_assert_int_eq(bytes, size);
    memset(to, 0, sizeof to);
    ck_assert_int_eq(hl_type_external(t, 1, from, packed, true), 0);
    ck_assert_int_eq(hl_type_external(t, 1, to, packed, false), 0);
    ck_assert_mem_eq(to, from, 8 * (size_t)levels + 8);
    hl_type_free(t);
}

/* Nests until it is refused: the deepest type that is possible works, and the error tells depth and bound. */
static void *nest_and_use(void *unused)
{
    struct hl_type *t = NULL, *deeper = NULL;
    int rc, levels = 0;

    ck_assert_int_eq(hl_type_make_dup(hl_type_of(MPI_DOUBLE), &t), 0);
    while ((rc = nest_once(t, &deeper)) == 0) {
        hl_type_free(t);
        t = deeper;
        levels++;
    }
    ck_assert_int_eq(rc, HL_ERR_TYPE);
    ck_assert_int_eq(levels, 128);
    ck_assert_ptr_nonnull(strstr(hl_err_text(rc), "129 levels deep, and at most 128 are possible"));
    use_deep(t, levels);
    return unused;
}

START_TEST(a_small_stack_is_enough_for_types_of_any_depth)
{
    pthread_attr_t small;
    pthread_t thread;

    pthread_attr_init(&small);
    ck_assert_int_eq(pthread_attr_setstacksize(&small, 128 << 10), 0);
    ck_assert_int_eq(pthread_create(&thread, &small, nest_and_use, NULL), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&small);
}
END_TEST

#endif
