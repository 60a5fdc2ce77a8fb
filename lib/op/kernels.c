/* The reduction kernels: each is a loop over unaligned elements, made from the rows of this file. */
#include <string.h>
#include <wchar.h>

#include "kernels.h"

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;
typedef struct {
    hl_f128 re, im;
} c128;

/* The third column: the unsigned type, as wide as int or wider, in which sums and products wrap around. */
#define SIGNED_ROWS(X)                                                                                       \
    X(I8, int8_t, unsigned)                                                                                  \
    X(I16, int16_t, unsigned)                                                                                \
    X(I32, int32_t, uint32_t)                                                                                \
    X(WCHAR, wchar_t, uint32_t)                                                                              \
    X(I64, int64_t, uint64_t)                                                                                \
    X(I128, i128, u128)
#define UNSIGNED_ROWS(X)                                                                                     \
    X(U8, uint8_t, unsigned)                                                                                 \
    X(U16, uint16_t, unsigned)                                                                               \
    X(U32, uint32_t, uint32_t)                                                                               \
    X(U64, uint64_t, uint64_t)
#define REAL_ROWS(X)                                                                                         \
    X(F32, float, float)                                                                                     \
    X(F64, double, double)                                                                                   \
    X(LDOUBLE, long double, long double)                                                                     \
    X(F128, hl_f128, hl_f128)
#define COMPLEX_ROWS(X)                                                                                      \
    X(C32, float _Complex, float _Complex)                                                                   \
    X(C64, double _Complex, double _Complex)                                                                 \
    X(CLDOUBLE, long double _Complex, long double _Complex)
#define LOGICAL_ROWS(X)                                                                                      \
    X(BOOL, uint8_t, uint8_t)                                                                                \
    X(L8, uint8_t, uint8_t)                                                                                  \
    X(L16, uint16_t, uint16_t)                                                                               \
    X(L32, uint32_t, uint32_t)                                                                               \
    X(L64, uint64_t, uint64_t)                                                                               \
    X(L128, u128, u128)
#define PAIR_ROWS(X)                                                                                         \
    X(FLOAT_INT, float, int)                                                                                 \
    X(DOUBLE_INT, double, int)                                                                               \
    X(LONG_INT, long, int)                                                                                   \
    X(2INT, int, int)                                                                                        \
    X(SHORT_INT, short, int)                                                                                 \
    X(LDOUBLE_INT, long double, int)                                                                         \
    X(2REAL, float, float)                                                                                   \
    X(2DOUBLE, double, double)
#define INT_ROWS(X) SIGNED_ROWS(X) UNSIGNED_ROWS(X)

/* result: an expression of x (from inout) and y (from in). */
#define KERNEL(op, name, type, result)                                                                       \
    static void op##_##name(void *inout, const void *in, size_t n)                                           \
    {                                                                                                        \
        typedef type element __attribute__((aligned(1), may_alias));                                         \
        element *a = inout;                                                                                  \
        const element *b = in;                                                                               \
        for (size_t i = 0; i < n; i++) {                                                                     \
            const type x = a[i], y = b[i];                                                                   \
            a[i] = (type)(result);                                                                           \
        }                                                                                                    \
    }

#define X(name, type, wide)                                                                                  \
    KERNEL(sum, name, type, (wide)x + (wide)y)                                                               \
    KERNEL(prod, name, type, (wide)x *(wide)y)
INT_ROWS(X)
REAL_ROWS(X)
COMPLEX_ROWS(X)
#undef X

#define X(name, type, wide)                                                                                  \
    KERNEL(min, name, type, y < x ? y : x)                                                                   \
    KERNEL(max, name, type, y > x ? y : x)
INT_ROWS(X)
REAL_ROWS(X)
#undef X

#define X(name, type, wide)                                                                                  \
    KERNEL(band, name, type, x &y)                                                                           \
    KERNEL(bor, name, type, x | y)                                                                           \
    KERNEL(bxor, name, type, x ^ y)
INT_ROWS(X)
X(BYTE, uint8_t, unsigned)
#undef X

#define X(name, type, wide)                                                                                  \
    KERNEL(land, name, type, x &&y)                                                                          \
    KERNEL(lor, name, type, x || y)                                                                          \
    KERNEL(lxor, name, type, !x != !y)
INT_ROWS(X)
LOGICAL_ROWS(X)
#undef X

static void sum_C128(void *inout, const void *in, size_t n)
{
    sum_F128(inout, in, 2 * n);
}

static void prod_C128(void *inout, const void *in, size_t n)
{
    char *a = inout;
    const char *b = in;

    for (; n-- > 0; a += sizeof(c128), b += sizeof(c128)) {
        c128 x, y, z;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        z.re = x.re * y.re - x.im * y.im;
        z.im = x.re * y.im + x.im * y.re;
        memcpy(a, &z, sizeof z);
    }
}

/* A pair's value and index are read and written each by itself: the bytes between and behind them are not
 * the type's, and may be another field of the user's. Of equal values the smaller index is kept, on whichever
 * side it is. */
#define PAIR_KERNEL(op, name, value_type, index_type, takes)                                                 \
    static void op##_##name(void *inout, const void *in, size_t n)                                           \
    {                                                                                                        \
        struct pair {                                                                                        \
            value_type value;                                                                                \
            index_type index;                                                                                \
        } x, y;                                                                                              \
        const size_t at = offsetof(struct pair, index);                                                      \
        char *a = inout;                                                                                     \
        const char *b = in;                                                                                  \
        for (; n-- > 0; a += sizeof x, b += sizeof y) {                                                      \
            memcpy(&x.value, a, sizeof x.value);                                                             \
            memcpy(&x.index, a + at, sizeof x.index);                                                        \
            memcpy(&y.value, b, sizeof y.value);                                                             \
            memcpy(&y.index, b + at, sizeof y.index);                                                        \
            if (takes) {                                                                                     \
                memcpy(a, &y.value, sizeof y.value);                                                         \
                memcpy(a + at, &y.index, sizeof y.index);                                                    \
            }                                                                                                \
        }                                                                                                    \
    }

#define X(name, value_type, index_type)                                                                      \
    PAIR_KERNEL(minloc, name, value_type, index_type,                                                        \
                y.value < x.value || (y.value == x.value && y.index < x.index))                              \
    PAIR_KERNEL(maxloc, name, value_type, index_type,                                                        \
                y.value > x.value || (y.value == x.value && y.index < x.index))                              \
    PAIR_KERNEL(replace, name, value_type, index_type, true)
PAIR_ROWS(X)
#undef X

#define X(name, size, extent)                                                                                \
    static void replace_##name(void *inout, const void *in, size_t n)                                        \
    {                                                                                                        \
        memmove(inout, in, n *(extent));                                                                     \
    }
HL_SINGLE_ROWS(X)
#undef X

static void no_op(void *inout, const void *in, size_t n)
{
}

#define sum_F16 hl_half_sum
#define prod_F16 hl_half_prod
#define min_F16 hl_half_min
#define max_F16 hl_half_max
#define sum_C16 hl_half_sum_complex
#define prod_C16 hl_half_prod_complex

#define SUM(name, ...) [HL_BASIC_##name] = sum_##name,
#define PROD(name, ...) [HL_BASIC_##name] = prod_##name,
#define MIN(name, ...) [HL_BASIC_##name] = min_##name,
#define MAX(name, ...) [HL_BASIC_##name] = max_##name,
#define BAND(name, ...) [HL_BASIC_##name] = band_##name,
#define BOR(name, ...) [HL_BASIC_##name] = bor_##name,
#define BXOR(name, ...) [HL_BASIC_##name] = bxor_##name,
#define LAND(name, ...) [HL_BASIC_##name] = land_##name,
#define LOR(name, ...) [HL_BASIC_##name] = lor_##name,
#define LXOR(name, ...) [HL_BASIC_##name] = lxor_##name,
#define MINLOC(name, ...) [HL_BASIC_##name] = minloc_##name,
#define MAXLOC(name, ...) [HL_BASIC_##name] = maxloc_##name,
#define REPLACE(name, ...) [HL_BASIC_##name] = replace_##name,
#define NO_OP(name, ...) [HL_BASIC_##name] = no_op,

hl_op_fn *const hl_op_kernels[HL_OP_KINDS][HL_BASICS] = {
    [HL_OP_SUM] = {INT_ROWS(SUM) REAL_ROWS(SUM) COMPLEX_ROWS(SUM) SUM(C128, ) SUM(F16, ) SUM(C16, )},
    [HL_OP_PROD] = {INT_ROWS(PROD) REAL_ROWS(PROD) COMPLEX_ROWS(PROD) PROD(C128, ) PROD(F16, ) PROD(C16, )},
    [HL_OP_MIN] = {INT_ROWS(MIN) REAL_ROWS(MIN) MIN(F16, )},
    [HL_OP_MAX] = {INT_ROWS(MAX) REAL_ROWS(MAX) MAX(F16, )},
    [HL_OP_BAND] = {INT_ROWS(BAND) BAND(BYTE, )},
    [HL_OP_BOR] = {INT_ROWS(BOR) BOR(BYTE, )},
    [HL_OP_BXOR] = {INT_ROWS(BXOR) BXOR(BYTE, )},
    [HL_OP_LAND] = {INT_ROWS(LAND) LOGICAL_ROWS(LAND)},
    [HL_OP_LOR] = {INT_ROWS(LOR) LOGICAL_ROWS(LOR)},
    [HL_OP_LXOR] = {INT_ROWS(LXOR) LOGICAL_ROWS(LXOR)},
    [HL_OP_MINLOC] = {PAIR_ROWS(MINLOC)},
    [HL_OP_MAXLOC] = {PAIR_ROWS(MAXLOC)},
    [HL_OP_REPLACE] = {HL_BASIC_ROWS(REPLACE)},
    [HL_OP_NO_OP] = {HL_BASIC_ROWS(NO_OP)},
};
