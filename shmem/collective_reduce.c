/* Reductions and scans of teams. (OpenSHMEM 1.6, section 9.9.) */
#include "collective.h"
#include "entry.h"
#include "types.h"
#include "xfer.h"

static int team_fold(shmem_team_t team, struct hl_shmem_fold f, const char *func)
{
    struct hl_team *t = hl_team_must(team, func);
    if (t == NULL) {
        return -1;
    }
    size_t bytes = hl_shmem_bytes(f.n, f.size);
    struct hl_call c = {
        func, hl_call_what(f.what == HL_FOLD_ALL ? HL_CALL_REDUCE : HL_CALL_SCAN, hl_fold_detail(&f), bytes),
        t, NULL};
    hl_collective_check(&c, &(struct hl_call_objects){f.dest, bytes, f.source, bytes});
    hl_fold(&c, &f);
    return 0;
}

#define FOLD(T, NAME, WHAT, OP, END)                                                                         \
    HL_SHMEM_API(shmem_##NAME##END);                                                                         \
    int pshmem_##NAME##END(shmem_team_t team, T *dest, const T *source, size_t nelems)                       \
    {                                                                                                        \
        struct hl_shmem_fold f = {HL_FOLD_##WHAT, HL_OP_##OP, HL_BASIC_OF(T), sizeof(T),                     \
                                  dest,           source,     nelems};                                       \
        return team_fold(team, f, "shmem_" #NAME #END);                                                      \
    }

#define BITS(T, NAME)                                                                                        \
    FOLD(T, NAME, ALL, BAND, _and_reduce)                                                                    \
    FOLD(T, NAME, ALL, BOR, _or_reduce)                                                                      \
    FOLD(T, NAME, ALL, BXOR, _xor_reduce)
/* Defines: shmem_uchar_and_reduce shmem_uchar_or_reduce shmem_uchar_xor_reduce shmem_ushort_and_reduce
 * shmem_ushort_or_reduce shmem_ushort_xor_reduce shmem_uint_and_reduce shmem_uint_or_reduce
 * shmem_uint_xor_reduce shmem_ulong_and_reduce shmem_ulong_or_reduce shmem_ulong_xor_reduce
 * shmem_ulonglong_and_reduce shmem_ulonglong_or_reduce shmem_ulonglong_xor_reduce shmem_int8_and_reduce
 * shmem_int8_or_reduce shmem_int8_xor_reduce shmem_int16_and_reduce shmem_int16_or_reduce
 * shmem_int16_xor_reduce shmem_int32_and_reduce shmem_int32_or_reduce shmem_int32_xor_reduce
 * shmem_int64_and_reduce shmem_int64_or_reduce shmem_int64_xor_reduce shmem_uint8_and_reduce
 * shmem_uint8_or_reduce shmem_uint8_xor_reduce shmem_uint16_and_reduce shmem_uint16_or_reduce
 * shmem_uint16_xor_reduce shmem_uint32_and_reduce shmem_uint32_or_reduce shmem_uint32_xor_reduce
 * shmem_uint64_and_reduce shmem_uint64_or_reduce shmem_uint64_xor_reduce shmem_size_and_reduce
 * shmem_size_or_reduce shmem_size_xor_reduce */
HL_SHMEM_REDUCE_BIT_TYPES(BITS)

#define ORDER(T, NAME)                                                                                       \
    FOLD(T, NAME, ALL, MAX, _max_reduce)                                                                     \
    FOLD(T, NAME, ALL, MIN, _min_reduce)
/* Defines: shmem_float_max_reduce shmem_float_min_reduce shmem_double_max_reduce shmem_double_min_reduce
 * shmem_longdouble_max_reduce shmem_longdouble_min_reduce shmem_char_max_reduce shmem_char_min_reduce
 * shmem_schar_max_reduce shmem_schar_min_reduce shmem_short_max_reduce shmem_short_min_reduce
 * shmem_int_max_reduce shmem_int_min_reduce shmem_long_max_reduce shmem_long_min_reduce
 * shmem_longlong_max_reduce shmem_longlong_min_reduce shmem_ptrdiff_max_reduce shmem_ptrdiff_min_reduce
 * shmem_uchar_max_reduce shmem_uchar_min_reduce shmem_ushort_max_reduce shmem_ushort_min_reduce
 * shmem_uint_max_reduce shmem_uint_min_reduce shmem_ulong_max_reduce shmem_ulong_min_reduce
 * shmem_ulonglong_max_reduce shmem_ulonglong_min_reduce shmem_int8_max_reduce shmem_int8_min_reduce
 * shmem_int16_max_reduce shmem_int16_min_reduce shmem_int32_max_reduce shmem_int32_min_reduce
 * shmem_int64_max_reduce shmem_int64_min_reduce shmem_uint8_max_reduce shmem_uint8_min_reduce
 * shmem_uint16_max_reduce shmem_uint16_min_reduce shmem_uint32_max_reduce shmem_uint32_min_reduce
 * shmem_uint64_max_reduce shmem_uint64_min_reduce shmem_size_max_reduce shmem_size_min_reduce */
HL_SHMEM_REDUCE_ORDER_TYPES(ORDER)

#define SUMS(T, NAME)                                                                                        \
    FOLD(T, NAME, ALL, SUM, _sum_reduce)                                                                     \
    FOLD(T, NAME, ALL, PROD, _prod_reduce)                                                                   \
    FOLD(T, NAME, IN, SUM, _sum_inscan)                                                                      \
    FOLD(T, NAME, EX, SUM, _sum_exscan)
/* Defines: shmem_complexd_sum_reduce shmem_complexd_prod_reduce shmem_complexd_sum_inscan
 * shmem_complexd_sum_exscan shmem_complexf_sum_reduce shmem_complexf_prod_reduce shmem_complexf_sum_inscan
 * shmem_complexf_sum_exscan shmem_float_sum_reduce shmem_float_prod_reduce shmem_float_sum_inscan
 * shmem_float_sum_exscan shmem_double_sum_reduce shmem_double_prod_reduce shmem_double_sum_inscan
 * shmem_double_sum_exscan shmem_longdouble_sum_reduce shmem_longdouble_prod_reduce
 * shmem_longdouble_sum_inscan shmem_longdouble_sum_exscan shmem_char_sum_reduce shmem_char_prod_reduce
 * shmem_char_sum_inscan shmem_char_sum_exscan shmem_schar_sum_reduce shmem_schar_prod_reduce
 * shmem_schar_sum_inscan shmem_schar_sum_exscan shmem_short_sum_reduce shmem_short_prod_reduce
 * shmem_short_sum_inscan shmem_short_sum_exscan shmem_int_sum_reduce shmem_int_prod_reduce
 * shmem_int_sum_inscan shmem_int_sum_exscan shmem_long_sum_reduce shmem_long_prod_reduce
 * shmem_long_sum_inscan shmem_long_sum_exscan shmem_longlong_sum_reduce shmem_longlong_prod_reduce
 * shmem_longlong_sum_inscan shmem_longlong_sum_exscan shmem_ptrdiff_sum_reduce shmem_ptrdiff_prod_reduce
 * shmem_ptrdiff_sum_inscan shmem_ptrdiff_sum_exscan shmem_uchar_sum_reduce shmem_uchar_prod_reduce
 * shmem_uchar_sum_inscan shmem_uchar_sum_exscan shmem_ushort_sum_reduce shmem_ushort_prod_reduce
 * shmem_ushort_sum_inscan shmem_ushort_sum_exscan shmem_uint_sum_reduce shmem_uint_prod_reduce
 * shmem_uint_sum_inscan shmem_uint_sum_exscan shmem_ulong_sum_reduce shmem_ulong_prod_reduce
 * shmem_ulong_sum_inscan shmem_ulong_sum_exscan shmem_ulonglong_sum_reduce shmem_ulonglong_prod_reduce
 * shmem_ulonglong_sum_inscan shmem_ulonglong_sum_exscan shmem_int8_sum_reduce shmem_int8_prod_reduce
 * shmem_int8_sum_inscan shmem_int8_sum_exscan shmem_int16_sum_reduce shmem_int16_prod_reduce
 * shmem_int16_sum_inscan shmem_int16_sum_exscan shmem_int32_sum_reduce shmem_int32_prod_reduce
 * shmem_int32_sum_inscan shmem_int32_sum_exscan shmem_int64_sum_reduce shmem_int64_prod_reduce
 * shmem_int64_sum_inscan shmem_int64_sum_exscan shmem_uint8_sum_reduce shmem_uint8_prod_reduce
 * shmem_uint8_sum_inscan shmem_uint8_sum_exscan shmem_uint16_sum_reduce shmem_uint16_prod_reduce
 * shmem_uint16_sum_inscan shmem_uint16_sum_exscan shmem_uint32_sum_reduce shmem_uint32_prod_reduce
 * shmem_uint32_sum_inscan shmem_uint32_sum_exscan shmem_uint64_sum_reduce shmem_uint64_prod_reduce
 * shmem_uint64_sum_inscan shmem_uint64_sum_exscan shmem_size_sum_reduce shmem_size_prod_reduce
 * shmem_size_sum_inscan shmem_size_sum_exscan */
HL_SHMEM_REDUCE_SUM_TYPES(SUMS)
