/* The predefined datatypes. */
#include "loop.h"

/* One row for each type: handle, name after MPI_, basic type, alignment. Fortran's default kinds are those of
 * gfortran without options. */
#define TYPE_ROWS(X)                                                                                         \
    X(0x201, AINT, I64, 8)                                                                                   \
    X(0x202, COUNT, I64, 8)                                                                                  \
    X(0x203, OFFSET, I64, 8)                                                                                 \
    X(0x207, PACKED, BYTE, 1)                                                                                \
    X(0x208, SHORT, I16, 2)                                                                                  \
    X(0x209, INT, I32, 4)                                                                                    \
    X(0x20a, LONG, I64, 8)                                                                                   \
    X(0x20b, LONG_LONG, I64, 8)                                                                              \
    X(0x20c, UNSIGNED_SHORT, U16, 2)                                                                         \
    X(0x20d, UNSIGNED, U32, 4)                                                                               \
    X(0x20e, UNSIGNED_LONG, U64, 8)                                                                          \
    X(0x20f, UNSIGNED_LONG_LONG, U64, 8)                                                                     \
    X(0x210, FLOAT, F32, 4)                                                                                  \
    X(0x212, C_FLOAT_COMPLEX, C32, 4)                                                                        \
    X(0x213, CXX_FLOAT_COMPLEX, C32, 4)                                                                      \
    X(0x214, DOUBLE, F64, 8)                                                                                 \
    X(0x216, C_DOUBLE_COMPLEX, C64, 8)                                                                       \
    X(0x217, CXX_DOUBLE_COMPLEX, C64, 8)                                                                     \
    X(0x218, LOGICAL, L32, 4)                                                                                \
    X(0x219, INTEGER, I32, 4)                                                                                \
    X(0x21a, REAL, F32, 4)                                                                                   \
    X(0x21b, COMPLEX, C32, 4)                                                                                \
    X(0x21c, DOUBLE_PRECISION, F64, 8)                                                                       \
    X(0x21d, DOUBLE_COMPLEX, C64, 8)                                                                         \
    X(0x21e, CHARACTER, I8, 1)                                                                               \
    X(0x220, LONG_DOUBLE, LDOUBLE, _Alignof(long double))                                                    \
    X(0x224, C_LONG_DOUBLE_COMPLEX, CLDOUBLE, _Alignof(long double))                                         \
    X(0x225, CXX_LONG_DOUBLE_COMPLEX, CLDOUBLE, _Alignof(long double))                                       \
    X(0x228, FLOAT_INT, FLOAT_INT, 4)                                                                        \
    X(0x229, DOUBLE_INT, DOUBLE_INT, 8)                                                                      \
    X(0x22a, LONG_INT, LONG_INT, 8)                                                                          \
    X(0x22b, 2INT, 2INT, 4)                                                                                  \
    X(0x22c, SHORT_INT, SHORT_INT, 4)                                                                        \
    X(0x22d, LONG_DOUBLE_INT, LDOUBLE_INT, _Alignof(long double))                                            \
    X(0x230, 2REAL, 2REAL, 4)                                                                                \
    X(0x231, 2DOUBLE_PRECISION, 2DOUBLE, 8)                                                                  \
    X(0x232, 2INTEGER, 2INT, 4)                                                                              \
    X(0x238, C_BOOL, BOOL, 1)                                                                                \
    X(0x239, CXX_BOOL, BOOL, 1)                                                                              \
    X(0x23c, WCHAR, WCHAR, 4)                                                                                \
    X(0x240, INT8_T, I8, 1)                                                                                  \
    X(0x241, UINT8_T, U8, 1)                                                                                 \
    X(0x243, CHAR, I8, 1)                                                                                    \
    X(0x244, SIGNED_CHAR, I8, 1)                                                                             \
    X(0x245, UNSIGNED_CHAR, U8, 1)                                                                           \
    X(0x247, BYTE, BYTE, 1)                                                                                  \
    X(0x248, INT16_T, I16, 2)                                                                                \
    X(0x249, UINT16_T, U16, 2)                                                                               \
    X(0x250, INT32_T, I32, 4)                                                                                \
    X(0x251, UINT32_T, U32, 4)                                                                               \
    X(0x258, INT64_T, I64, 8)                                                                                \
    X(0x259, UINT64_T, U64, 8)                                                                               \
    X(0x2c0, LOGICAL1, L8, 1)                                                                                \
    X(0x2c1, INTEGER1, I8, 1)                                                                                \
    X(0x2c8, LOGICAL2, L16, 2)                                                                               \
    X(0x2c9, INTEGER2, I16, 2)                                                                               \
    X(0x2ca, REAL2, F16, 2)                                                                                  \
    X(0x2d0, LOGICAL4, L32, 4)                                                                               \
    X(0x2d1, INTEGER4, I32, 4)                                                                               \
    X(0x2d2, REAL4, F32, 4)                                                                                  \
    X(0x2d3, COMPLEX4, C16, 2)                                                                               \
    X(0x2d8, LOGICAL8, L64, 8)                                                                               \
    X(0x2d9, INTEGER8, I64, 8)                                                                               \
    X(0x2da, REAL8, F64, 8)                                                                                  \
    X(0x2db, COMPLEX8, C32, 4)                                                                               \
    X(0x2e0, LOGICAL16, L128, 16)                                                                            \
    X(0x2e1, INTEGER16, I128, 16)                                                                            \
    X(0x2e2, REAL16, F128, 16)                                                                               \
    X(0x2e3, COMPLEX16, C64, 8)                                                                              \
    X(0x2eb, COMPLEX32, C128, 16)

/* Bytes of data and of memory of each basic type, as constants. */
enum {
#define X(name, size, extent) SIZE_##name = (size), EXTENT_##name = (extent),
    HL_BASIC_ROWS(X)
#undef X
};

/* MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_INT */
#define NARROW(value) ((value) == 0x20a || (value) == 0x20e || (value) == 0x22a)
#define PADDED(b) (SIZE_##b != EXTENT_##b)
#define ELEMENTS(b) (HL_BASIC_##b >= HL_BASIC_FLOAT_INT ? 2 : 1)

struct hl_loop hl_loop_predefined[256] = {
#define X(value, type, b, alignment)                                                                         \
    [value - 0x200] = {.kind = PADDED(b) ? HL_LOOP_PAIR : HL_LOOP_BLOCK,                                     \
                       .basic = HL_BASIC_##b,                                                                \
                       .fixed = true,                                                                        \
                       .narrow = NARROW(value),                                                              \
                       .size = SIZE_##b,                                                                     \
                       .elements = ELEMENTS(b),                                                              \
                       .n = 1},
    TYPE_ROWS(X)
#undef X
};

const uint8_t hl_type_dense[HL_TYPE_PREDEFINED_END] = {
#define X(value, type, b, alignment) [value] = PADDED(b) ? 0 : SIZE_##b,
    TYPE_ROWS(X)
#undef X
};

#define WORD(b) (HL_BASIC_##b >= HL_BASIC_I8 && HL_BASIC_##b <= HL_BASIC_U64 && SIZE_##b >= 4 ? SIZE_##b : 0)
const uint8_t hl_type_word[HL_TYPE_PREDEFINED_END] = {
#define X(value, type, b, alignment) [value] = WORD(b),
    TYPE_ROWS(X)
#undef X
};

struct hl_type hl_type_predefined[256] = {
#define X(value, type, b, alignment)                                                                         \
    [value - 0x200] = {.h = {.kind = HL_KIND_TYPE},                                                          \
                       .handle = (MPI_Datatype)(value),                                                      \
                       .size = SIZE_##b,                                                                     \
                       .ub = EXTENT_##b,                                                                     \
                       .true_ub = PADDED(b) ? EXTENT_##b / 2 + (int)sizeof(int) : SIZE_##b,                  \
                       .elements = ELEMENTS(b),                                                              \
                       .align = (alignment),                                                                 \
                       .basic = HL_BASIC_##b,                                                                \
                       .committed = {1},                                                                     \
                       .predefined = true,                                                                   \
                       .dense = !PADDED(b),                                                                  \
                       .block = !PADDED(b),                                                                  \
                       .root = &hl_loop_predefined[(value)-0x200],                                           \
                       .fast = &hl_loop_predefined[(value)-0x200],                                           \
                       .given = "MPI_" #type},
    TYPE_ROWS(X)
#undef X
};
