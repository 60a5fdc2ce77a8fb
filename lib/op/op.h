/* Basic element types and the reduction operations over them: one set of kernels for reductions and
 * accumulates. */
#ifndef HL_OP_H
#define HL_OP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attr.h"

/* One row for each basic type: name, bytes of data, bytes from one element to the next in memory. Types of
 * one representation share a row: MPI_INT and MPI_INT32_T are both I32. Rows of pairs stand together at the
 * end (hl_op_is_pair). */
#define HL_SINGLE_ROWS(X)                                                                                    \
    X(BYTE, 1, 1) /* uninterpreted: BAND, BOR, BXOR only */                                                  \
    X(I8, 1, 1)   /* also MPI_CHAR and MPI_CHARACTER */                                                      \
    X(I16, 2, 2)                                                                                             \
    X(I32, 4, 4)                                                                                             \
    X(WCHAR, 4, 4) /* the integer of wchar_t; 2 bytes in external32 */                                       \
    X(I64, 8, 8)                                                                                             \
    X(I128, 16, 16)                                                                                          \
    X(U8, 1, 1)                                                                                              \
    X(U16, 2, 2)                                                                                             \
    X(U32, 4, 4)                                                                                             \
    X(U64, 8, 8)                                                                                             \
    X(BOOL, 1, 1)                                                                                            \
    X(L8, 1, 1) /* Fortran logicals: 0 is false, everything else true */                                     \
    X(L16, 2, 2)                                                                                             \
    X(L32, 4, 4)                                                                                             \
    X(L64, 8, 8)                                                                                             \
    X(L128, 16, 16)                                                                                          \
    X(F16, 2, 2)                                                                                             \
    X(F32, 4, 4)                                                                                             \
    X(F64, 8, 8)                                                                                             \
    X(LDOUBLE, sizeof(long double), sizeof(long double))                                                     \
    X(F128, 16, 16)                                                                                          \
    X(C16, 4, 4) /* complex of F16, and so on: the number is the bits of one part */                         \
    X(C32, 8, 8)                                                                                             \
    X(C64, 16, 16)                                                                                           \
    X(CLDOUBLE, 2 * sizeof(long double), 2 * sizeof(long double))                                            \
    X(C128, 32, 32)

#define HL_BASIC_ROWS(X)                                                                                     \
    HL_SINGLE_ROWS(X)                                                                                        \
    X(FLOAT_INT, 8, 8)                                                                                       \
    X(DOUBLE_INT, 12, 16)                                                                                    \
    X(LONG_INT, sizeof(long) + 4, 2 * sizeof(long))                                                          \
    X(2INT, 8, 8)                                                                                            \
    X(SHORT_INT, 6, 8)                                                                                       \
    X(LDOUBLE_INT, sizeof(long double) + 4, 2 * sizeof(long double))                                         \
    X(2REAL, 8, 8)                                                                                           \
    X(2DOUBLE, 16, 16)

enum hl_basic {
#define X(name, size, extent) HL_BASIC_##name,
    HL_BASIC_ROWS(X)
#undef X
        HL_BASICS,
    HL_BASIC_MIXED = HL_BASICS /* of a datatype whose elements are not all of one basic type */
};

/* The predefined operations. REPLACE and NO_OP are defined for every basic type. */
enum hl_op_kind {
    HL_OP_SUM,
    HL_OP_PROD,
    HL_OP_MIN,
    HL_OP_MAX,
    HL_OP_BAND,
    HL_OP_BOR,
    HL_OP_BXOR,
    HL_OP_LAND,
    HL_OP_LOR,
    HL_OP_LXOR,
    HL_OP_MINLOC,
    HL_OP_MAXLOC,
    HL_OP_REPLACE,
    HL_OP_NO_OP,
    HL_OP_KINDS
};

/* Sets inout[i] = inout[i] op in[i] for i < n. REPLACE copies, NO_OP leaves inout as it is; arithmetic of
 * integers wraps around. Elements stand at the distance of their extent; neither side need be aligned. The
 * padding of pairs is neither read nor written. */
typedef void hl_op_fn(void *inout, const void *in, size_t n);

/* Bytes of data of one element, without padding. */
size_t hl_op_size(enum hl_basic basic);

/* Bytes from one element to the next in memory: larger than the size for some pairs. */
size_t hl_op_extent(enum hl_basic basic);

/* Bytes from the first to the last byte of data of n > 0 elements: with the padding between, without
 * that at the end. */
size_t hl_op_span(enum hl_basic basic, size_t n);

/* Name of a type, e.g. "I32"; words for users, e.g. "32-bit integers" (the name where there are none);
 * name of an operation. */
const char *hl_op_basic_name(enum hl_basic basic);
const char *hl_op_basic_words(enum hl_basic basic);
const char *hl_op_kind_name(enum hl_op_kind kind);

/* True for the pairs of value and index of MINLOC and MAXLOC. */
bool hl_op_is_pair(enum hl_basic basic);

/* The kind of a predefined handle; HL_OP_KINDS for anything else. */
enum hl_op_kind hl_op_kind_of(MPI_Op op);

/* The kernel, or NULL when the operation is not defined for the type. */
hl_op_fn *hl_op_kernel(enum hl_op_kind kind, enum hl_basic basic);

#endif
