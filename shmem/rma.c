/* Put and get of contiguous data, blocking and not, and of one element (OpenSHMEM 1.6, section 9.6). */
#include <shmem.h>
#include <string.h>

#include "entry.h"
#include "near.h"
#include "types.h"
#include "xfer.h"

/* A transfer by the function `move`, of elements of `size` bytes: the plain form and that of contexts. */
#define MOVE(NAME, T, size, move)                                                                            \
    HL_SHMEM_API(shmem_##NAME);                                                                              \
    void pshmem_##NAME(T *dest, const T *source, size_t nelems, int pe)                                      \
    {                                                                                                        \
        move(&hl_ctx_default, dest, source, hl_shmem_bytes(nelems, size), pe, "shmem_" #NAME);               \
    }                                                                                                        \
    HL_SHMEM_API(shmem_ctx_##NAME);                                                                          \
    void pshmem_ctx_##NAME(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe)                 \
    {                                                                                                        \
        struct hl_ctx_pe on = hl_shmem_on(ctx, pe, "shmem_ctx_" #NAME);                                      \
        move(on.ctx, dest, source, hl_shmem_bytes(nelems, size), on.pe, "shmem_ctx_" #NAME);                 \
    }

#define MOVES(T, NAME)                                                                                       \
    MOVE(NAME##_put, T, sizeof(T), hl_shmem_put)                                                             \
    MOVE(NAME##_get, T, sizeof(T), hl_shmem_get)                                                             \
    MOVE(NAME##_put_nbi, T, sizeof(T), hl_shmem_put_nbi)                                                     \
    MOVE(NAME##_get_nbi, T, sizeof(T), hl_shmem_get_nbi)
/* Defines: shmem_float_put shmem_ctx_float_put shmem_float_get shmem_ctx_float_get shmem_float_put_nbi
 * shmem_ctx_float_put_nbi shmem_float_get_nbi shmem_ctx_float_get_nbi shmem_double_put shmem_ctx_double_put
 * shmem_double_get shmem_ctx_double_get shmem_double_put_nbi shmem_ctx_double_put_nbi shmem_double_get_nbi
 * shmem_ctx_double_get_nbi shmem_longdouble_put shmem_ctx_longdouble_put shmem_longdouble_get
 * shmem_ctx_longdouble_get shmem_longdouble_put_nbi shmem_ctx_longdouble_put_nbi shmem_longdouble_get_nbi
 * shmem_ctx_longdouble_get_nbi shmem_char_put shmem_ctx_char_put shmem_char_get shmem_ctx_char_get
 * shmem_char_put_nbi shmem_ctx_char_put_nbi shmem_char_get_nbi shmem_ctx_char_get_nbi shmem_schar_put
 * shmem_ctx_schar_put shmem_schar_get shmem_ctx_schar_get shmem_schar_put_nbi shmem_ctx_schar_put_nbi
 * shmem_schar_get_nbi shmem_ctx_schar_get_nbi shmem_short_put shmem_ctx_short_put shmem_short_get
 * shmem_ctx_short_get shmem_short_put_nbi shmem_ctx_short_put_nbi shmem_short_get_nbi shmem_ctx_short_get_nbi
 * shmem_int_put shmem_ctx_int_put shmem_int_get shmem_ctx_int_get shmem_int_put_nbi shmem_ctx_int_put_nbi
 * shmem_int_get_nbi shmem_ctx_int_get_nbi shmem_long_put shmem_ctx_long_put shmem_long_get shmem_ctx_long_get
 * shmem_long_put_nbi shmem_ctx_long_put_nbi shmem_long_get_nbi shmem_ctx_long_get_nbi shmem_longlong_put
 * shmem_ctx_longlong_put shmem_longlong_get shmem_ctx_longlong_get shmem_longlong_put_nbi
 * shmem_ctx_longlong_put_nbi shmem_longlong_get_nbi shmem_ctx_longlong_get_nbi shmem_ptrdiff_put
 * shmem_ctx_ptrdiff_put shmem_ptrdiff_get shmem_ctx_ptrdiff_get shmem_ptrdiff_put_nbi
 * shmem_ctx_ptrdiff_put_nbi shmem_ptrdiff_get_nbi shmem_ctx_ptrdiff_get_nbi shmem_uchar_put
 * shmem_ctx_uchar_put shmem_uchar_get shmem_ctx_uchar_get shmem_uchar_put_nbi shmem_ctx_uchar_put_nbi
 * shmem_uchar_get_nbi shmem_ctx_uchar_get_nbi shmem_ushort_put shmem_ctx_ushort_put shmem_ushort_get
 * shmem_ctx_ushort_get shmem_ushort_put_nbi shmem_ctx_ushort_put_nbi shmem_ushort_get_nbi
 * shmem_ctx_ushort_get_nbi shmem_uint_put shmem_ctx_uint_put shmem_uint_get shmem_ctx_uint_get
 * shmem_uint_put_nbi shmem_ctx_uint_put_nbi shmem_uint_get_nbi shmem_ctx_uint_get_nbi shmem_ulong_put
 * shmem_ctx_ulong_put shmem_ulong_get shmem_ctx_ulong_get shmem_ulong_put_nbi shmem_ctx_ulong_put_nbi
 * shmem_ulong_get_nbi shmem_ctx_ulong_get_nbi shmem_ulonglong_put shmem_ctx_ulonglong_put shmem_ulonglong_get
 * shmem_ctx_ulonglong_get shmem_ulonglong_put_nbi shmem_ctx_ulonglong_put_nbi shmem_ulonglong_get_nbi
 * shmem_ctx_ulonglong_get_nbi shmem_int8_put shmem_ctx_int8_put shmem_int8_get shmem_ctx_int8_get
 * shmem_int8_put_nbi shmem_ctx_int8_put_nbi shmem_int8_get_nbi shmem_ctx_int8_get_nbi shmem_int16_put
 * shmem_ctx_int16_put shmem_int16_get shmem_ctx_int16_get shmem_int16_put_nbi shmem_ctx_int16_put_nbi
 * shmem_int16_get_nbi shmem_ctx_int16_get_nbi shmem_int32_put shmem_ctx_int32_put shmem_int32_get
 * shmem_ctx_int32_get shmem_int32_put_nbi shmem_ctx_int32_put_nbi shmem_int32_get_nbi shmem_ctx_int32_get_nbi
 * shmem_int64_put shmem_ctx_int64_put shmem_int64_get shmem_ctx_int64_get shmem_int64_put_nbi
 * shmem_ctx_int64_put_nbi shmem_int64_get_nbi shmem_ctx_int64_get_nbi shmem_uint8_put shmem_ctx_uint8_put
 * shmem_uint8_get shmem_ctx_uint8_get shmem_uint8_put_nbi shmem_ctx_uint8_put_nbi shmem_uint8_get_nbi
 * shmem_ctx_uint8_get_nbi shmem_uint16_put shmem_ctx_uint16_put shmem_uint16_get shmem_ctx_uint16_get
 * shmem_uint16_put_nbi shmem_ctx_uint16_put_nbi shmem_uint16_get_nbi shmem_ctx_uint16_get_nbi
 * shmem_uint32_put shmem_ctx_uint32_put shmem_uint32_get shmem_ctx_uint32_get shmem_uint32_put_nbi
 * shmem_ctx_uint32_put_nbi shmem_uint32_get_nbi shmem_ctx_uint32_get_nbi shmem_uint64_put
 * shmem_ctx_uint64_put shmem_uint64_get shmem_ctx_uint64_get shmem_uint64_put_nbi shmem_ctx_uint64_put_nbi
 * shmem_uint64_get_nbi shmem_ctx_uint64_get_nbi shmem_size_put shmem_ctx_size_put shmem_size_get
 * shmem_ctx_size_get shmem_size_put_nbi shmem_ctx_size_put_nbi shmem_size_get_nbi shmem_ctx_size_get_nbi */
HL_SHMEM_RMA_TYPES(MOVES)

#define MOVES_OF_SIZE(BITS)                                                                                  \
    MOVE(put##BITS, void, BITS / 8, hl_shmem_put)                                                            \
    MOVE(get##BITS, void, BITS / 8, hl_shmem_get)                                                            \
    MOVE(put##BITS##_nbi, void, BITS / 8, hl_shmem_put_nbi)                                                  \
    MOVE(get##BITS##_nbi, void, BITS / 8, hl_shmem_get_nbi)
/* Defines: shmem_put8 shmem_ctx_put8 shmem_get8 shmem_ctx_get8 shmem_put8_nbi shmem_ctx_put8_nbi
 * shmem_get8_nbi shmem_ctx_get8_nbi shmem_put16 shmem_ctx_put16 shmem_get16 shmem_ctx_get16 shmem_put16_nbi
 * shmem_ctx_put16_nbi shmem_get16_nbi shmem_ctx_get16_nbi shmem_put32 shmem_ctx_put32 shmem_get32
 * shmem_ctx_get32 shmem_put32_nbi shmem_ctx_put32_nbi shmem_get32_nbi shmem_ctx_get32_nbi shmem_put64
 * shmem_ctx_put64 shmem_get64 shmem_ctx_get64 shmem_put64_nbi shmem_ctx_put64_nbi shmem_get64_nbi
 * shmem_ctx_get64_nbi shmem_put128 shmem_ctx_put128 shmem_get128 shmem_ctx_get128 shmem_put128_nbi
 * shmem_ctx_put128_nbi shmem_get128_nbi shmem_ctx_get128_nbi */
HL_SHMEM_SIZES(MOVES_OF_SIZE)

/* Defines: shmem_putmem shmem_ctx_putmem */
MOVE(putmem, void, 1, hl_shmem_put)
/* Defines: shmem_getmem shmem_ctx_getmem */
MOVE(getmem, void, 1, hl_shmem_get)
/* Defines: shmem_putmem_nbi shmem_ctx_putmem_nbi */
MOVE(putmem_nbi, void, 1, hl_shmem_put_nbi)
/* Defines: shmem_getmem_nbi shmem_ctx_getmem_nbi */
MOVE(getmem_nbi, void, 1, hl_shmem_get_nbi)

/* ---- one element ---- */

/* Puts the element at `value`. Up to 8 bytes are passed on as bits, so that the compiler can keep the
 * variable in a register. */
HL_INLINE void put_one(const struct hl_ctx *ctx, void *dest, const void *value, size_t size, int pe,
                       const char *func)
{
    if (size > 8) {
        hl_shmem_put(ctx, dest, value, size, pe, func);
        return;
    }
    uint64_t bits = 0;
    memcpy(&bits, value, size);
    char *theirs = hl_sym_near(dest, size, pe);
    if (HL_UNLIKELY(theirs == NULL)) {
        hl_shmem_put_word(ctx, dest, bits, size, pe, func);
    } else if (size == 8) {
        /* relaxed: a put orders nothing; the fence of quiet does. */
        hl_any64_store_relaxed(theirs, bits);
    } else {
        hl_near_copy(theirs, &bits, size);
    }
}

/* Gets one element into `value`. */
HL_INLINE void get_one(const struct hl_ctx *ctx, void *value, const void *source, size_t size, int pe,
                       const char *func)
{
    const char *theirs = hl_sym_near(source, size, pe);
    if (HL_LIKELY(size == 8 && theirs != NULL)) {
        /* relaxed: a get orders nothing; the fence of quiet does. */
        uint64_t bits = hl_any64_load_relaxed(theirs);
        memcpy(value, &bits, 8);
        return;
    }
    hl_shmem_get(ctx, value, source, size, pe, func);
}

#define ONE(T, NAME)                                                                                         \
    HL_SHMEM_API(shmem_##NAME##_p);                                                                          \
    void pshmem_##NAME##_p(T *dest, T value, int pe)                                                         \
    {                                                                                                        \
        put_one(&hl_ctx_default, dest, &value, sizeof value, pe, "shmem_" #NAME "_p");                       \
    }                                                                                                        \
    HL_SHMEM_API(shmem_ctx_##NAME##_p);                                                                      \
    void pshmem_ctx_##NAME##_p(shmem_ctx_t ctx, T *dest, T value, int pe)                                    \
    {                                                                                                        \
        struct hl_ctx_pe on = hl_shmem_on(ctx, pe, "shmem_ctx_" #NAME "_p");                                 \
        put_one(on.ctx, dest, &value, sizeof value, on.pe, "shmem_ctx_" #NAME "_p");                         \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_g);                                                                          \
    T pshmem_##NAME##_g(const T *source, int pe)                                                             \
    {                                                                                                        \
        T value;                                                                                             \
        get_one(&hl_ctx_default, &value, source, sizeof value, pe, "shmem_" #NAME "_g");                     \
        return value;                                                                                        \
    }                                                                                                        \
    HL_SHMEM_API(shmem_ctx_##NAME##_g);                                                                      \
    T pshmem_ctx_##NAME##_g(shmem_ctx_t ctx, const T *source, int pe)                                        \
    {                                                                                                        \
        struct hl_ctx_pe on = hl_shmem_on(ctx, pe, "shmem_ctx_" #NAME "_g");                                 \
        T value;                                                                                             \
        get_one(on.ctx, &value, source, sizeof value, on.pe, "shmem_ctx_" #NAME "_g");                       \
        return value;                                                                                        \
    }
/* Defines: shmem_float_p shmem_ctx_float_p shmem_float_g shmem_ctx_float_g shmem_double_p shmem_ctx_double_p
 * shmem_double_g shmem_ctx_double_g shmem_longdouble_p shmem_ctx_longdouble_p shmem_longdouble_g
 * shmem_ctx_longdouble_g shmem_char_p shmem_ctx_char_p shmem_char_g shmem_ctx_char_g shmem_schar_p
 * shmem_ctx_schar_p shmem_schar_g shmem_ctx_schar_g shmem_short_p shmem_ctx_short_p shmem_short_g
 * shmem_ctx_short_g shmem_int_p shmem_ctx_int_p shmem_int_g shmem_ctx_int_g shmem_long_p shmem_ctx_long_p
 * shmem_long_g shmem_ctx_long_g shmem_longlong_p shmem_ctx_longlong_p shmem_longlong_g shmem_ctx_longlong_g
 * shmem_ptrdiff_p shmem_ctx_ptrdiff_p shmem_ptrdiff_g shmem_ctx_ptrdiff_g shmem_uchar_p shmem_ctx_uchar_p
 * shmem_uchar_g shmem_ctx_uchar_g shmem_ushort_p shmem_ctx_ushort_p shmem_ushort_g shmem_ctx_ushort_g
 * shmem_uint_p shmem_ctx_uint_p shmem_uint_g shmem_ctx_uint_g shmem_ulong_p shmem_ctx_ulong_p shmem_ulong_g
 * shmem_ctx_ulong_g shmem_ulonglong_p shmem_ctx_ulonglong_p shmem_ulonglong_g shmem_ctx_ulonglong_g
 * shmem_int8_p shmem_ctx_int8_p shmem_int8_g shmem_ctx_int8_g shmem_int16_p shmem_ctx_int16_p shmem_int16_g
 * shmem_ctx_int16_g shmem_int32_p shmem_ctx_int32_p shmem_int32_g shmem_ctx_int32_g shmem_int64_p
 * shmem_ctx_int64_p shmem_int64_g shmem_ctx_int64_g shmem_uint8_p shmem_ctx_uint8_p shmem_uint8_g
 * shmem_ctx_uint8_g shmem_uint16_p shmem_ctx_uint16_p shmem_uint16_g shmem_ctx_uint16_g shmem_uint32_p
 * shmem_ctx_uint32_p shmem_uint32_g shmem_ctx_uint32_g shmem_uint64_p shmem_ctx_uint64_p shmem_uint64_g
 * shmem_ctx_uint64_g shmem_size_p shmem_ctx_size_p shmem_size_g shmem_ctx_size_g */
HL_SHMEM_RMA_TYPES(ONE)
