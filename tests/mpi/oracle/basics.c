/* Every predefined type, with arithmetic of its own: nothing here comes from the library. */
#include "oracle.h"

#include <string.h>
#include <wchar.h>

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 f128;
#else
typedef long double f128; /* has its format on aarch64 */
#endif

#define BEGIN(name, T)                                                                                       \
    static void name(enum op op, void *inout, const void *in)                                                \
    {                                                                                                        \
        T a, b;                                                                                              \
        memcpy(&a, inout, sizeof a);                                                                         \
        memcpy(&b, in, sizeof b);                                                                            \
        switch (op) {
#define END                                                                                                  \
    default:                                                                                                 \
        return;                                                                                              \
        }                                                                                                    \
        memcpy(inout, &a, sizeof a);                                                                         \
        }
#define ROW(op, value)                                                                                       \
    case op:                                                                                                 \
        a = value;                                                                                           \
        break;

#define INTEGERS(T)                                                                                          \
    BEGIN(apply_##T, T)                                                                                      \
    ROW(SUM, (T)((u128)a + (u128)b))                                                                         \
    ROW(PROD, (T)((u128)a * (u128)b))                                                                        \
    ROW(MIN, b < a ? b : a)                                                                                  \
    ROW(MAX, b > a ? b : a)                                                                                  \
    ROW(BAND, (T)(a & b))                                                                                    \
    ROW(BOR, (T)(a | b))                                                                                     \
    ROW(BXOR, (T)(a ^ b))                                                                                    \
    ROW(LAND, (T)(a && b))                                                                                   \
    ROW(LOR, (T)(a || b))                                                                                    \
    ROW(LXOR, (T)(!a != !b))                                                                                 \
    END
INTEGERS(int8_t)
INTEGERS(int16_t)
INTEGERS(int32_t)
INTEGERS(int64_t)
INTEGERS(i128)
INTEGERS(uint8_t)
INTEGERS(uint16_t)
INTEGERS(uint32_t)
INTEGERS(uint64_t)
INTEGERS(wchar_t)

typedef long double ldouble;
#define FLOATS(T)                                                                                            \
    BEGIN(apply_##T, T)                                                                                      \
    ROW(SUM, a + b)                                                                                          \
    ROW(PROD, a *b)                                                                                          \
    ROW(MIN, b < a ? b : a)                                                                                  \
    ROW(MAX, b > a ? b : a) END static void value_##T(void *out, double value, int other)                    \
    {                                                                                                        \
        T v = (T)value;                                                                                      \
        memcpy(out, &v, sizeof v);                                                                           \
    }
FLOATS(float)
FLOATS(double)
FLOATS(ldouble)
FLOATS(f128)

/* One part is zero, so that products stay exact. */
#define COMPLEXES(name, T)                                                                                   \
    BEGIN(apply_complex_##name, T _Complex)                                                                  \
    ROW(SUM, a + b) ROW(PROD, a *b) END static void value_complex_##name(void *out, double value, int other) \
    {                                                                                                        \
        T parts[2] = {other % 2 ? 0 : (T)value, other % 2 ? (T)value : 0};                                   \
        memcpy(out, parts, sizeof parts);                                                                    \
    }
COMPLEXES(float, float)
COMPLEXES(double, double)
COMPLEXES(ldouble, long double)

#define PAIRS(name, V, I)                                                                                    \
    struct name {                                                                                            \
        V v;                                                                                                 \
        I i;                                                                                                 \
    };                                                                                                       \
    BEGIN(apply_##name, struct name)                                                                         \
    ROW(MINLOC, b.v < a.v || (b.v == a.v && b.i < a.i) ? b : a)                                              \
    ROW(MAXLOC, b.v > a.v || (b.v == a.v && b.i < a.i) ? b : a)                                              \
    END static void value_##name(void *out, double value, int other)                                         \
    {                                                                                                        \
        struct name p = {.v = (V)(2 * value), .i = (I)other};                                                \
        memcpy((char *)out, &p.v, sizeof p.v);                                                               \
        memcpy((char *)out + offsetof(struct name, i), &p.i, sizeof p.i);                                    \
    }
PAIRS(float_int, float, int)
PAIRS(double_int, double, int)
PAIRS(long_int, long, int)
PAIRS(two_int, int, int)
PAIRS(short_int, short, int)
PAIRS(ldouble_int, ldouble, int)
PAIRS(two_real, float, float)
PAIRS(two_double, double, double)

static void value_truth(void *out, double value, int other)
{
    memset(out, 0, 1);
    *(unsigned char *)out = value > 0; /* the other bytes of larger ones are zero already */
}

/* The name is taken before the handle becomes a number. */
#define B(name, type, size, fn, value, kind, x87)                                                            \
    {                                                                                                        \
        name, type, fn, value, kind, (int)(size), (int)(size), (int)(size), (int)(size), x87                 \
    }
#define I(type, T) B(#type, type, sizeof(T), apply_##T, NULL, INTEGER, false)
#define F(type, T) B(#type, type, sizeof(T), apply_##T, value_##T, FLOATING, sizeof(T) == 16)
#define C(type, T)                                                                                           \
    B(#type, type, 2 * sizeof(T), apply_complex_##T, value_complex_##T, COMPLEX, sizeof(T) == 16)
#define L(type, T) B(#type, type, sizeof(T), apply_##T, value_truth, LOGICAL, false)
#define M(type, size) B(#type, type, size, NULL, NULL, MOVED, false)
#define P(type, s)                                                                                           \
    {                                                                                                        \
#type, type, apply_##s, value_##s, PAIR, (int)sizeof(struct s), (int)sizeof(((struct s *)0)->v),     \
            (int)offsetof(struct s, i), (int)(offsetof(struct s, i) + sizeof(((struct s *)0)->i)),           \
            sizeof(((struct s *)0)->v) == 16                                                                 \
    }

const struct basic basics[] = {
    I(MPI_AINT, int64_t),
    I(MPI_COUNT, int64_t),
    I(MPI_OFFSET, int64_t),
    M(MPI_PACKED, 1),
    I(MPI_SHORT, int16_t),
    I(MPI_INT, int32_t),
    I(MPI_LONG, int64_t),
    I(MPI_LONG_LONG, int64_t),
    I(MPI_UNSIGNED_SHORT, uint16_t),
    I(MPI_UNSIGNED, uint32_t),
    I(MPI_UNSIGNED_LONG, uint64_t),
    I(MPI_UNSIGNED_LONG_LONG, uint64_t),
    F(MPI_FLOAT, float),
    C(MPI_C_FLOAT_COMPLEX, float),
    C(MPI_CXX_FLOAT_COMPLEX, float),
    F(MPI_DOUBLE, double),
    C(MPI_C_DOUBLE_COMPLEX, double),
    C(MPI_CXX_DOUBLE_COMPLEX, double),
    L(MPI_LOGICAL, int32_t),
    I(MPI_INTEGER, int32_t),
    F(MPI_REAL, float),
    C(MPI_COMPLEX, float),
    F(MPI_DOUBLE_PRECISION, double),
    C(MPI_DOUBLE_COMPLEX, double),
    I(MPI_CHARACTER, int8_t),
    F(MPI_LONG_DOUBLE, ldouble),
    C(MPI_C_LONG_DOUBLE_COMPLEX, ldouble),
    C(MPI_CXX_LONG_DOUBLE_COMPLEX, ldouble),
    P(MPI_FLOAT_INT, float_int),
    P(MPI_DOUBLE_INT, double_int),
    P(MPI_LONG_INT, long_int),
    P(MPI_2INT, two_int),
    P(MPI_SHORT_INT, short_int),
    P(MPI_LONG_DOUBLE_INT, ldouble_int),
    P(MPI_2REAL, two_real),
    P(MPI_2DOUBLE_PRECISION, two_double),
    P(MPI_2INTEGER, two_int),
    L(MPI_C_BOOL, uint8_t),
    L(MPI_CXX_BOOL, uint8_t),
    I(MPI_WCHAR, wchar_t),
    I(MPI_INT8_T, int8_t),
    I(MPI_UINT8_T, uint8_t),
    I(MPI_CHAR, int8_t),
    I(MPI_SIGNED_CHAR, int8_t),
    I(MPI_UNSIGNED_CHAR, uint8_t),
    B("MPI_BYTE", MPI_BYTE, 1, apply_uint8_t, NULL, BYTES, false),
    I(MPI_INT16_T, int16_t),
    I(MPI_UINT16_T, uint16_t),
    I(MPI_INT32_T, int32_t),
    I(MPI_UINT32_T, uint32_t),
    I(MPI_INT64_T, int64_t),
    I(MPI_UINT64_T, uint64_t),
    L(MPI_LOGICAL1, int8_t),
    I(MPI_INTEGER1, int8_t),
    L(MPI_LOGICAL2, int16_t),
    I(MPI_INTEGER2, int16_t),
    M(MPI_REAL2, 2),
    L(MPI_LOGICAL4, int32_t),
    I(MPI_INTEGER4, int32_t),
    F(MPI_REAL4, float),
    M(MPI_COMPLEX4, 4),
    L(MPI_LOGICAL8, int64_t),
    I(MPI_INTEGER8, int64_t),
    F(MPI_REAL8, double),
    C(MPI_COMPLEX8, float),
    L(MPI_LOGICAL16, i128),
    I(MPI_INTEGER16, i128),
    B("MPI_REAL16", MPI_REAL16, sizeof(f128), apply_f128, value_f128, FLOATING, false),
    C(MPI_COMPLEX16, double),
    M(MPI_COMPLEX32, 2 * sizeof(f128)),
};
const int n_basics = sizeof basics / sizeof basics[0];

static const struct {
    const char *name;
    MPI_Op handle;
} ops[OPS] = {{"SUM", MPI_SUM},         {"PROD", MPI_PROD},  {"MIN", MPI_MIN},       {"MAX", MPI_MAX},
              {"BAND", MPI_BAND},       {"BOR", MPI_BOR},    {"BXOR", MPI_BXOR},     {"LAND", MPI_LAND},
              {"LOR", MPI_LOR},         {"LXOR", MPI_LXOR},  {"MINLOC", MPI_MINLOC}, {"MAXLOC", MPI_MAXLOC},
              {"REPLACE", MPI_REPLACE}, {"NO_OP", MPI_NO_OP}};

MPI_Op op_handle(enum op op)
{
    return ops[op].handle;
}

const char *op_name(enum op op)
{
    return op < OPS ? ops[op].name : "";
}

bool op_defined(const struct basic *b, enum op op)
{
    static const unsigned of_kind[] = {
        [INTEGER] = (1u << MINLOC) - 1,
        [FLOATING] = 1u << SUM | 1u << PROD | 1u << MIN | 1u << MAX,
        [COMPLEX] = 1u << SUM | 1u << PROD,
        [LOGICAL] = 1u << LAND | 1u << LOR | 1u << LXOR,
        [BYTES] = 1u << BAND | 1u << BOR | 1u << BXOR,
        [MOVED] = 0,
        [PAIR] = 1u << MINLOC | 1u << MAXLOC,
    };
    return op == REPLACE || op == NO_OP || (of_kind[b->kind] >> op & 1) != 0;
}

bool op_commutes(const struct basic *b, enum op op)
{
    /* The signs of zeros in complex products depend on the order. */
    return op < REPLACE && !(b->kind == COMPLEX && op == PROD);
}

bool may_swap(const struct basic *b)
{
    return b->kind == INTEGER || b->kind == LOGICAL || b->kind == BYTES;
}

bool is_data(const struct basic *b, int byte)
{
    return byte < b->hole || (byte >= b->second && byte < b->end);
}

bool is_value(const struct basic *b, int byte)
{
    return is_data(b, byte) && !(b->x87 && byte % 16 >= 10);
}

void random_value(struct rng *r, const struct basic *b, void *out)
{
    static const double numbers[] = {-2, -1, -.5, .5, 1, 2};
    unsigned char value[64] = {0}, *to = out;
    if (b->value != NULL) {
        b->value(value, numbers[pick(r, 6)], pick(r, 5));
    }
    for (int i = 0; i < b->extent; i++) {
        to[i] = b->value == NULL || !is_value(b, i) ? (unsigned char)(rng_next(r) >> 32) : value[i];
    }
}

void copy_element(const struct basic *b, void *to, const void *from)
{
    memcpy(to, from, (size_t)b->hole);
    memcpy((char *)to + b->second, (const char *)from + b->second, (size_t)(b->end - b->second));
}

bool same_element(const struct basic *b, const void *x, const void *y)
{
    for (int i = 0; i < b->end; i++) {
        if (is_value(b, i) && ((const unsigned char *)x)[i] != ((const unsigned char *)y)[i]) {
            return false;
        }
    }
    return true;
}
