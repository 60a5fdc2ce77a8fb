/* Every defined (operation, type) combines as the standard says; every undefined one is refused. */
#include <complex.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "err.h"
#include "gaps.h"
#include "kernels.h"
#include "op_apply.h"
#include "unit.h"

START_TEST(integers_wrap)
{
    int8_t a8 = 127, b8 = 1;
    uint16_t a16 = 65535, b16 = 65535;
    int64_t a64 = INT64_MAX, b64 = 2;

    ck_assert_int_eq(apply_op(HL_OP_SUM, HL_BASIC_I8, &a8, &b8, 1), 0);
    ck_assert_int_eq(a8, -128);
    ck_assert_int_eq(apply_op(HL_OP_PROD, HL_BASIC_U16, &a16, &b16, 1), 0);
    ck_assert_uint_eq(a16, 1);
    ck_assert_int_eq(apply_op(HL_OP_PROD, HL_BASIC_I64, &a64, &b64, 1), 0);
    ck_assert_int_eq(a64, -2);
}
END_TEST

START_TEST(order_is_signed_or_unsigned)
{
    int32_t a = -1, b = 1;
    uint32_t c = UINT32_MAX, d = 1;

    apply_op(HL_OP_MAX, HL_BASIC_I32, &a, &b, 1);
    apply_op(HL_OP_MAX, HL_BASIC_U32, &c, &d, 1);
    ck_assert_int_eq(a, 1);
    ck_assert_uint_eq(c, UINT32_MAX);
}
END_TEST

START_TEST(logicals_are_0_or_1)
{
    int32_t a[4] = {0, 0, 5, 5}, b[4] = {0, 7, 0, 7}, want[4] = {0, 1, 1, 0};
    uint64_t c = 6, d = 3;

    apply_op(HL_OP_LXOR, HL_BASIC_I32, a, b, 4);
    ck_assert_mem_eq(a, want, sizeof a);
    apply_op(HL_OP_LAND, HL_BASIC_L64, &c, &d, 1);
    ck_assert_uint_eq(c, 1);
}
END_TEST

START_TEST(complex_multiplies)
{
    double _Complex a = 1 + 2 * I, b = 3 - I;
    double _Complex want = a * b;

    apply_op(HL_OP_PROD, HL_BASIC_C64, &a, &b, 1);
    ck_assert(a == want);
    ck_assert_int_eq(apply_op(HL_OP_MAX, HL_BASIC_C64, &a, &b, 1), HL_ERR_OP);
}
END_TEST

START_TEST(equal_values_keep_the_smaller_index)
{
    struct {
        double value;
        int index;
    } a[3] = {{1.0, 7}, {2.0, 1}, {3.0, 5}}, b[3] = {{1.0, 3}, {1.0, 9}, {4.0, 0}};

    apply_op(HL_OP_MINLOC, HL_BASIC_DOUBLE_INT, a, b, 3);
    ck_assert_int_eq(a[0].index, 3);
    ck_assert_int_eq(a[1].index, 9);
    ck_assert_int_eq(a[2].index, 5);
}
END_TEST

START_TEST(neither_side_need_be_aligned)
{
    char a[40] = {0}, b[40] = {0};
    double x = 1.5, y = 2.25, z;

    memcpy(a + 3, &x, sizeof x);
    memcpy(b + 5, &y, sizeof y);
    apply_op(HL_OP_SUM, HL_BASIC_F64, a + 3, b + 5, 1);
    memcpy(&z, a + 3, sizeof z);
    ck_assert(z == 3.75);
}
END_TEST

/* The value of a 16-bit real, by its definition. */
static double half_value(unsigned h)
{
    int exponent = (int)(h >> 10 & 31);
    double f = exponent == 0 ? ldexp(h & 1023, -24) : ldexp((h & 1023) + 1024, exponent - 25);
    return (h & 0x8000) != 0 ? -f : f;
}

START_TEST(half_precision_is_rounded_to_the_nearest)
{
    for (unsigned h = 0; h < 0x7c00; h++) {
        double low = half_value(h), high = h == 0x7bff ? 65536 : half_value(h + 1), middle = (low + high) / 2;
        unsigned even = h + (h & 1);
        ck_assert_double_eq(hl_half_widen((uint16_t)h), low);
        ck_assert_double_eq(hl_half_widen((uint16_t)(h | 0x8000)), -low);
        ck_assert_uint_eq(hl_half_round((float)low), h);
        ck_assert_uint_eq(hl_half_round((float)-low), h | 0x8000);
        ck_assert_uint_eq(hl_half_round((float)middle), even);
        ck_assert_uint_eq(hl_half_round(nextafterf((float)middle, 0)), h);
        ck_assert_uint_eq(hl_half_round(nextafterf((float)middle, INFINITY)), h + 1);
    }
    ck_assert(isinf(hl_half_widen(0x7c00)) && isnan(hl_half_widen(0x7c01)));
    ck_assert_uint_eq(hl_half_round(-INFINITY), 0xfc00);
    ck_assert_uint_eq(hl_half_round(3e38f), 0x7c00);
    ck_assert_uint_eq(hl_half_round(1e-40f), 0);
    ck_assert(isnan(hl_half_widen(hl_half_round(NAN))));
}
END_TEST

START_TEST(half_precision_is_computed_with)
{
    enum { ONE = 0x3c00, TWO = 0x4000, THREE = 0x4200, SIX = 0x4600, MINUS = 0x8000 };
    uint16_t a[] = {TWO, ONE | MINUS, 1}, b[] = {THREE, TWO, 1}, x[] = {ONE, TWO}, y[] = {TWO, THREE};
    ck_assert_int_eq(apply_op(HL_OP_PROD, HL_BASIC_F16, a, b, 3), 0);
    ck_assert_uint_eq(a[0], SIX);
    ck_assert_uint_eq(a[1], TWO | MINUS);
    ck_assert_uint_eq(a[2], 0);
    ck_assert_int_eq(apply_op(HL_OP_SUM, HL_BASIC_F16, a, b, 3), 0);
    ck_assert_uint_eq(a[0], 0x4880); /* 9 */
    ck_assert_uint_eq(a[1], 0);
    ck_assert_uint_eq(a[2], 1);
    ck_assert_int_eq(apply_op(HL_OP_MIN, HL_BASIC_F16, a, b, 3), 0);
    ck_assert_uint_eq(a[0], THREE);
    ck_assert_int_eq(apply_op(HL_OP_MAX, HL_BASIC_F16, a, b, 3), 0);
    ck_assert_uint_eq(a[1], TWO);
    ck_assert_int_eq(apply_op(HL_OP_PROD, HL_BASIC_C16, x, y, 1), 0); /* (1 + 2i)(2 + 3i) = -4 + 7i */
    ck_assert_uint_eq(x[0], 0x4400 | MINUS);
    ck_assert_uint_eq(x[1], 0x4700);
    ck_assert_int_eq(apply_op(HL_OP_SUM, HL_BASIC_C16, x, y, 1), 0);
    ck_assert_uint_eq(x[0], TWO | MINUS);
    ck_assert_uint_eq(x[1], 0x4900); /* 10 */
}
END_TEST

/* What the standard allows, by class of type. */
static bool allowed(enum hl_op_kind kind, enum hl_basic basic)
{
    bool integer = basic >= HL_BASIC_I8 && basic <= HL_BASIC_U64;
    bool logical = basic >= HL_BASIC_BOOL && basic <= HL_BASIC_L128;
    bool real = basic >= HL_BASIC_F16 && basic <= HL_BASIC_F128;
    bool complex_ = basic >= HL_BASIC_C16 && basic <= HL_BASIC_C128;

    switch (kind) {
    case HL_OP_SUM:
    case HL_OP_PROD:
        return integer || real || complex_;
    case HL_OP_MIN:
    case HL_OP_MAX:
        return integer || real;
    case HL_OP_BAND:
    case HL_OP_BOR:
    case HL_OP_BXOR:
        return integer || basic == HL_BASIC_BYTE;
    case HL_OP_LAND:
    case HL_OP_LOR:
    case HL_OP_LXOR:
        return integer || logical;
    case HL_OP_MINLOC:
    case HL_OP_MAXLOC:
        return hl_op_is_pair(basic);
    default:
        return true;
    }
}

START_TEST(the_table_is_the_standards)
{
    char a[64] = {0}, b[64] = {0};

    for (int kind = 0; kind < HL_OP_KINDS; kind++) {
        for (int basic = 0; basic < HL_BASICS; basic++) {
            int want = allowed(kind, basic) ? 0 : HL_ERR_OP;
            ck_assert_msg(apply_op(kind, basic, a, b, 1) == want, "%s %s", hl_op_kind_name(kind),
                          hl_op_basic_name(basic));
        }
    }
    ck_assert(hl_op_kernel(HL_OP_SUM, HL_BASIC_MIXED) == NULL);
    ck_assert(hl_op_kernel(HL_OP_KINDS, HL_BASIC_I32) == NULL);
}
END_TEST

START_TEST(replace_and_no_op_move_any_type)
{
    for (int basic = 0; basic < HL_BASICS; basic++) {
        size_t bytes = 3 * hl_op_extent(basic);
        char a[200], b[200], before[200];
        memset(a, 1, sizeof a);
        memset(b, 2, sizeof b);
        memcpy(before, a, sizeof a);
        apply_op(HL_OP_NO_OP, basic, a, b, 3);
        ck_assert_mem_eq(a, before, sizeof a);
        apply_op(HL_OP_REPLACE, basic, a, b, 3);
        ck_assert(are_elements(basic, a, b, before, 3));
        ck_assert_mem_eq(a + bytes, before + bytes, sizeof a - bytes);
    }
}
END_TEST

START_TEST(only_predefined_handles_have_a_kind)
{
    ck_assert_int_eq(hl_op_kind_of(MPI_SUM), HL_OP_SUM);
    ck_assert_int_eq(hl_op_kind_of(MPI_NO_OP), HL_OP_NO_OP);
    ck_assert_int_eq(hl_op_kind_of(MPI_OP_NULL), HL_OP_KINDS);
    ck_assert_int_eq(hl_op_kind_of((MPI_Op)0x3f), HL_OP_KINDS);
    ck_assert_int_eq(hl_op_kind_of((MPI_Op)0x1f), HL_OP_KINDS);
    ck_assert_int_eq(hl_op_kind_of((MPI_Op)-1), HL_OP_KINDS);
}
END_TEST

START_TEST(sizes_are_those_of_c)
{
    struct short_int {
        short value;
        int index;
    };
    struct long_double_int {
        long double value;
        int index;
    };
    ck_assert_uint_eq(hl_op_size(HL_BASIC_DOUBLE_INT), 12);
    ck_assert_uint_eq(hl_op_extent(HL_BASIC_DOUBLE_INT), 16);
    ck_assert_uint_eq(hl_op_size(HL_BASIC_SHORT_INT), 6);
    ck_assert_uint_eq(hl_op_extent(HL_BASIC_SHORT_INT), sizeof(struct short_int));
    /* All of the second part, however little data there is. */
    ck_assert_uint_eq(hl_op_span(HL_BASIC_SHORT_INT, 1), sizeof(struct short_int));
    ck_assert_uint_eq(hl_op_span(HL_BASIC_DOUBLE_INT, 3), 2 * 16 + 12);
    ck_assert_uint_eq(hl_op_span(HL_BASIC_I32, 3), 12);
    ck_assert_uint_eq(hl_op_extent(HL_BASIC_LDOUBLE_INT), sizeof(struct long_double_int));
    ck_assert_uint_eq(hl_op_extent(HL_BASIC_CLDOUBLE), sizeof(long double _Complex));
}
END_TEST

static Suite *op_suite(void)
{
    Suite *suite = suite_create("op");
    TCase *tc = tcase_create("op");

    tcase_add_test(tc, integers_wrap);
    tcase_add_test(tc, order_is_signed_or_unsigned);
    tcase_add_test(tc, logicals_are_0_or_1);
    tcase_add_test(tc, complex_multiplies);
    tcase_add_test(tc, equal_values_keep_the_smaller_index);
    tcase_add_test(tc, neither_side_need_be_aligned);
    tcase_add_test(tc, half_precision_is_rounded_to_the_nearest);
    tcase_add_test(tc, half_precision_is_computed_with);
    tcase_add_test(tc, the_table_is_the_standards);
    tcase_add_test(tc, replace_and_no_op_move_any_type);
    tcase_add_test(tc, only_predefined_handles_have_a_kind);
    tcase_add_test(tc, sizes_are_those_of_c);
    suite_add_tcase(suite, tc);
    return suite;
}

UNIT_MAIN(op_suite)
