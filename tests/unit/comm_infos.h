/* Info objects of many keys: a case of test_comm.c. */
#ifndef HL_COMM_INFOS_H
#define HL_COMM_INFOS_H

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "info.h"

/* Sets key i to a value that tells i and `turn`. */
static void set_numbered(struct hl_info *info, int i, int turn)
{
    char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];

    snprintf(key, sizeof key, "key %d", i);
    snprintf(value, sizeof value, "%d of %d", turn, i);
    ck_assert_int_eq(hl_info_set(info, key, value), 0);
}

/* The n-th key must be that of number i, with its value of `turn`. */
static void check_numbered(const struct hl_info *info, int n, int i, int turn, char key[MPI_MAX_INFO_KEY])
{
    char want[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];
    int len;

    snprintf(want, sizeof want, "key %d", i);
    ck_assert_int_eq(hl_info_nth(info, n, key), 0);
    ck_assert_str_eq(key, want);
    ck_assert(hl_info_get(info, key, value, sizeof value, &len));
    snprintf(want, sizeof want, "%d of %d", turn, i);
    ck_assert_str_eq(value, want);
    ck_assert_int_eq(len, strlen(want));
}

/* Searches look at a few rows each, however many keys there are: no count grows with the square of them. */
START_TEST(many_info_keys_keep_their_order_and_cost_no_square)
{
    enum { KEYS = 30000, MOST = 4 };
    char key[MPI_MAX_INFO_KEY];
    struct hl_info *info, *copy;

    ck_assert_int_eq(hl_info_make(&info), 0);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < KEYS; i++) {
            set_numbered(info, i, turn);
        }
    }
    ck_assert_int_eq(hl_info_count(info), KEYS);
    for (int i = 0; i < KEYS; i++) {
        check_numbered(info, i, i, 1, key);
    }
    for (int i = KEYS - 1; i >= 0; i--) {
        check_numbered(info, i, i, 1, key);
    }
    ck_assert_uint_le(hl_info_looked(info), 6 * MOST * KEYS);
    ck_assert_int_eq(hl_info_dup(info, &copy), 0);
    for (int i = 0; i < KEYS / 2; i++) { /* every second one goes */
        check_numbered(copy, i, 2 * i, 1, key);
        ck_assert_int_eq(hl_info_delete(copy, key), 0);
        ck_assert_int_eq(hl_info_delete(copy, key), HL_ERR_INFO_NOKEY);
    }
    ck_assert_int_eq(hl_info_count(copy), KEYS / 2);
    set_numbered(copy, 0, 2); /* a key that is set anew is the last one */
    check_numbered(copy, KEYS / 2, 0, 2, key);
    for (int n = KEYS / 2 - 1; n >= KEYS / 4; n--) { /* from behind */
        check_numbered(copy, n, 2 * n + 1, 1, key);
        ck_assert_int_eq(hl_info_delete(copy, key), 0);
    }
    for (int i = 0; i < KEYS / 4; i++) { /* always the first */
        check_numbered(copy, 0, 2 * i + 1, 1, key);
        ck_assert_int_eq(hl_info_delete(copy, key), 0);
    }
    check_numbered(copy, 0, 0, 2, key);
    ck_assert_int_eq(hl_info_nth(copy, 1, key), HL_ERR_ARG);
    ck_assert_uint_le(hl_info_looked(copy), 6 * MOST * KEYS);
    check_numbered(info, KEYS - 1, KEYS - 1, 1, key);
    hl_info_free(copy);
    hl_info_free(info);
}
END_TEST

#endif
