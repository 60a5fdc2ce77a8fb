/* The standard's type tables (OpenSHMEM 1.5, tables 3 to 10): X(C type, TYPENAME). A family of entry points
 * is one macro that defines a function, applied to its table. */
#ifndef HL_SHMEM_TYPES_H
#define HL_SHMEM_TYPES_H

#include <complex.h>
#include <stddef.h>
#include <stdint.h>

/* Bitwise atomics. */
#define HL_SHMEM_BIT_AMO_TYPES(X)                                                                            \
    X(unsigned int, uint)                                                                                    \
    X(unsigned long, ulong)                                                                                  \
    X(unsigned long long, ulonglong)                                                                         \
    X(int32_t, int32)                                                                                        \
    X(int64_t, int64)                                                                                        \
    X(uint32_t, uint32)                                                                                      \
    X(uint64_t, uint64)

/* Standard atomics: add, inc, compare and swap. */
#define HL_SHMEM_AMO_TYPES(X)                                                                                \
    X(int, int)                                                                                              \
    X(long, long)                                                                                            \
    X(long long, longlong)                                                                                   \
    X(size_t, size)                                                                                          \
    X(ptrdiff_t, ptrdiff)                                                                                    \
    HL_SHMEM_BIT_AMO_TYPES(X)

/* Extended atomics: fetch, set, swap. */
#define HL_SHMEM_EXT_AMO_TYPES(X)                                                                            \
    X(float, float)                                                                                          \
    X(double, double)                                                                                        \
    HL_SHMEM_AMO_TYPES(X)

/* Types of waiting and testing. Of short and unsigned short the standard has only the forms for one value. */
#define HL_SHMEM_SYNC_TYPES(X)                                                                               \
    X(short, short)                                                                                          \
    X(unsigned short, ushort)                                                                                \
    HL_SHMEM_AMO_TYPES(X)

/* Reductions of teams, bitwise. */
#define HL_SHMEM_REDUCE_BIT_TYPES(X)                                                                         \
    X(unsigned char, uchar)                                                                                  \
    X(unsigned short, ushort)                                                                                \
    X(unsigned int, uint)                                                                                    \
    X(unsigned long, ulong)                                                                                  \
    X(unsigned long long, ulonglong)                                                                         \
    X(int8_t, int8)                                                                                          \
    X(int16_t, int16)                                                                                        \
    X(int32_t, int32)                                                                                        \
    X(int64_t, int64)                                                                                        \
    X(uint8_t, uint8)                                                                                        \
    X(uint16_t, uint16)                                                                                      \
    X(uint32_t, uint32)                                                                                      \
    X(uint64_t, uint64)                                                                                      \
    X(size_t, size)

/* Put, get, the collectives that move data; reductions of teams to the maximum and minimum. */
#define HL_SHMEM_RMA_TYPES(X)                                                                                \
    X(float, float)                                                                                          \
    X(double, double)                                                                                        \
    X(long double, longdouble)                                                                               \
    X(char, char)                                                                                            \
    X(signed char, schar)                                                                                    \
    X(short, short)                                                                                          \
    X(int, int)                                                                                              \
    X(long, long)                                                                                            \
    X(long long, longlong)                                                                                   \
    X(ptrdiff_t, ptrdiff)                                                                                    \
    HL_SHMEM_REDUCE_BIT_TYPES(X)
#define HL_SHMEM_REDUCE_ORDER_TYPES(X) HL_SHMEM_RMA_TYPES(X)

/* Reductions of teams to the sum and product. */
#define HL_SHMEM_REDUCE_SUM_TYPES(X)                                                                         \
    X(double _Complex, complexd)                                                                             \
    X(float _Complex, complexf)                                                                              \
    HL_SHMEM_REDUCE_ORDER_TYPES(X)

/* The deprecated reductions of active sets. */
#define HL_SHMEM_ASET_BIT_TYPES(X)                                                                           \
    X(short, short)                                                                                          \
    X(int, int)                                                                                              \
    X(long, long)                                                                                            \
    X(long long, longlong)

#define HL_SHMEM_ASET_ORDER_TYPES(X)                                                                         \
    X(float, float)                                                                                          \
    X(double, double)                                                                                        \
    X(long double, longdouble)                                                                               \
    HL_SHMEM_ASET_BIT_TYPES(X)

#define HL_SHMEM_ASET_SUM_TYPES(X)                                                                           \
    X(double _Complex, complexd)                                                                             \
    X(float _Complex, complexf)                                                                              \
    HL_SHMEM_ASET_ORDER_TYPES(X)

/* Sizes of the functions that count bits: X(bits). */
#define HL_SHMEM_SIZES(X) X(8) X(16) X(32) X(64) X(128)

#endif
