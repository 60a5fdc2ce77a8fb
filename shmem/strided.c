/* Put and get of blocks at regular distances (OpenSHMEM 1.6, section 9.6). Each block is a transfer of its
 * own; the call returns when all of them are done. A single element is a block of one. */
#include <shmem.h>

#include "entry.h"
#include "hang.h"
#include "shm.h"
#include "types.h"
#include "xfer.h"

/* The blocks of a call; on each side block i begins i strides behind the first one. */
struct blocks {
    char *sym, *mine;
    ptrdiff_t sym_stride, mine_stride; /* elements */
    size_t elements;                   /* of one block */
    size_t count;                      /* blocks */
};

static HL_COLD void check_stride(ptrdiff_t stride, size_t least, const char *which, const char *func)
{
    hl_shmem_need_open(func);
    if (stride < 0 || (size_t)stride < least) {
        hl_shmem_die(func, "%s is %td, at least %zu is needed", which, stride, least);
    }
}

/* Checks all bytes at the PE, from the first block to the last, so that a wrong call ends before anything
 * moves. */
static void check_extent(const struct hl_shmem_call *call, const struct blocks *b, size_t size)
{
    struct hl_sym_addr addr;
    size_t step = (size_t)b->sym_stride, gap, all;
    if (b->count > 1 && b->elements > 0) {
        bool too_far = __builtin_mul_overflow(b->count - 1, step, &gap) ||
                       __builtin_add_overflow(gap, b->elements, &all);
        hl_shmem_find(b->sym, hl_shmem_bytes(too_far ? SIZE_MAX : all, size), call->pe, call->func, &addr);
    }
}

HL_HANG_SHMEM static void move_blocks(struct hl_shmem_call *call, const struct blocks *b, size_t size)
{
    bool puts = call->dir == HL_SHMEM_PUT;
    size_t count = b->elements > 0 ? b->count : 0; /* blocks that have bytes */
    size_t len = count > 0 ? hl_shmem_bytes(b->elements, size) : 0;
    struct hl_req r;

    check_stride(puts ? b->sym_stride : b->mine_stride, b->elements, "dst", call->func);
    check_stride(puts ? b->mine_stride : b->sym_stride, b->elements, "sst", call->func);
    check_extent(call, b, size);
    hl_req_init_rma(&r, call->pe);
    hl_req_add_parts(&r, 1); /* this call's own part, which ends when all blocks are issued */
    call->req = &r;
    for (size_t i = 0; i < count || i == 0; i++) {
        size_t at = i * size;
        hl_shmem_move(call, b->sym + at * (size_t)b->sym_stride, b->mine + at * (size_t)b->mine_stride, len);
    }
    (void)hl_req_part_done(&r, 0);
    hl_req_wait(&r);
    hl_shmem_must(hl_req_finish(&r, MPI_STATUS_IGNORE), call->func, call->pe);
}

HL_INLINE void put_blocks(struct hl_ctx_pe on, const char *func, struct blocks b, size_t size)
{
    move_blocks(&(struct hl_shmem_call){on.ctx, func, HL_SHMEM_PUT, on.pe, NULL}, &b, size);
}

HL_INLINE void get_blocks(struct hl_ctx_pe on, const char *func, struct blocks b, size_t size)
{
    move_blocks(&(struct hl_shmem_call){on.ctx, func, HL_SHMEM_GET, on.pe, NULL}, &b, size);
}

#define HERE ((struct hl_ctx_pe){&hl_ctx_default, pe})
#define PUT_SIDES(elements, count)                                                                           \
    ((struct blocks){(char *)dest, (char *)(uintptr_t)source, dst, sst, elements, count})
#define GET_SIDES(elements, count)                                                                           \
    ((struct blocks){(char *)(uintptr_t)source, (char *)dest, sst, dst, elements, count})

/* Entry points for single elements, then for blocks; each in the plain form and that of contexts. */
#define STRIDED(NAME, T, size, move, SIDES)                                                                  \
    HL_SHMEM_API(shmem_##NAME);                                                                              \
    void pshmem_##NAME(T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)        \
    {                                                                                                        \
        move(HERE, "shmem_" #NAME, SIDES(1, nelems), size);                                                  \
    }                                                                                                        \
    HL_SHMEM_API(shmem_ctx_##NAME);                                                                          \
    void pshmem_ctx_##NAME(shmem_ctx_t ctx, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,          \
                           size_t nelems, int pe)                                                            \
    {                                                                                                        \
        move(hl_shmem_on(ctx, pe, "shmem_ctx_" #NAME), "shmem_ctx_" #NAME, SIDES(1, nelems), size);          \
    }

#define BLOCKED(NAME, T, size, move, SIDES)                                                                  \
    HL_SHMEM_API(shmem_##NAME);                                                                              \
    void pshmem_##NAME(T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, \
                       int pe)                                                                               \
    {                                                                                                        \
        move(HERE, "shmem_" #NAME, SIDES(bsize, nblocks), size);                                             \
    }                                                                                                        \
    HL_SHMEM_API(shmem_ctx_##NAME);                                                                          \
    void pshmem_ctx_##NAME(shmem_ctx_t ctx, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,          \
                           size_t bsize, size_t nblocks, int pe)                                             \
    {                                                                                                        \
        move(hl_shmem_on(ctx, pe, "shmem_ctx_" #NAME), "shmem_ctx_" #NAME, SIDES(bsize, nblocks), size);     \
    }

#define OF_TYPE(T, NAME)                                                                                     \
    STRIDED(NAME##_iput, T, sizeof(T), put_blocks, PUT_SIDES)                                                \
    STRIDED(NAME##_iget, T, sizeof(T), get_blocks, GET_SIDES)                                                \
    BLOCKED(NAME##_ibput, T, sizeof(T), put_blocks, PUT_SIDES)                                               \
    BLOCKED(NAME##_ibget, T, sizeof(T), get_blocks, GET_SIDES)
/* Defines: shmem_float_iput shmem_ctx_float_iput shmem_float_iget shmem_ctx_float_iget shmem_float_ibput
 * shmem_ctx_float_ibput shmem_float_ibget shmem_ctx_float_ibget shmem_double_iput shmem_ctx_double_iput
 * shmem_double_iget shmem_ctx_double_iget shmem_double_ibput shmem_ctx_double_ibput shmem_double_ibget
 * shmem_ctx_double_ibget shmem_longdouble_iput shmem_ctx_longdouble_iput shmem_longdouble_iget
 * shmem_ctx_longdouble_iget shmem_longdouble_ibput shmem_ctx_longdouble_ibput shmem_longdouble_ibget
 * shmem_ctx_longdouble_ibget shmem_char_iput shmem_ctx_char_iput shmem_char_iget shmem_ctx_char_iget
 * shmem_char_ibput shmem_ctx_char_ibput shmem_char_ibget shmem_ctx_char_ibget shmem_schar_iput
 * shmem_ctx_schar_iput shmem_schar_iget shmem_ctx_schar_iget shmem_schar_ibput shmem_ctx_schar_ibput
 * shmem_schar_ibget shmem_ctx_schar_ibget shmem_short_iput shmem_ctx_short_iput shmem_short_iget
 * shmem_ctx_short_iget shmem_short_ibput shmem_ctx_short_ibput shmem_short_ibget shmem_ctx_short_ibget
 * shmem_int_iput shmem_ctx_int_iput shmem_int_iget shmem_ctx_int_iget shmem_int_ibput shmem_ctx_int_ibput
 * shmem_int_ibget shmem_ctx_int_ibget shmem_long_iput shmem_ctx_long_iput shmem_long_iget shmem_ctx_long_iget
 * shmem_long_ibput shmem_ctx_long_ibput shmem_long_ibget shmem_ctx_long_ibget shmem_longlong_iput
 * shmem_ctx_longlong_iput shmem_longlong_iget shmem_ctx_longlong_iget shmem_longlong_ibput
 * shmem_ctx_longlong_ibput shmem_longlong_ibget shmem_ctx_longlong_ibget shmem_ptrdiff_iput
 * shmem_ctx_ptrdiff_iput shmem_ptrdiff_iget shmem_ctx_ptrdiff_iget shmem_ptrdiff_ibput
 * shmem_ctx_ptrdiff_ibput shmem_ptrdiff_ibget shmem_ctx_ptrdiff_ibget shmem_uchar_iput shmem_ctx_uchar_iput
 * shmem_uchar_iget shmem_ctx_uchar_iget shmem_uchar_ibput shmem_ctx_uchar_ibput shmem_uchar_ibget
 * shmem_ctx_uchar_ibget shmem_ushort_iput shmem_ctx_ushort_iput shmem_ushort_iget shmem_ctx_ushort_iget
 * shmem_ushort_ibput shmem_ctx_ushort_ibput shmem_ushort_ibget shmem_ctx_ushort_ibget shmem_uint_iput
 * shmem_ctx_uint_iput shmem_uint_iget shmem_ctx_uint_iget shmem_uint_ibput shmem_ctx_uint_ibput
 * shmem_uint_ibget shmem_ctx_uint_ibget shmem_ulong_iput shmem_ctx_ulong_iput shmem_ulong_iget
 * shmem_ctx_ulong_iget shmem_ulong_ibput shmem_ctx_ulong_ibput shmem_ulong_ibget shmem_ctx_ulong_ibget
 * shmem_ulonglong_iput shmem_ctx_ulonglong_iput shmem_ulonglong_iget shmem_ctx_ulonglong_iget
 * shmem_ulonglong_ibput shmem_ctx_ulonglong_ibput shmem_ulonglong_ibget shmem_ctx_ulonglong_ibget
 * shmem_int8_iput shmem_ctx_int8_iput shmem_int8_iget shmem_ctx_int8_iget shmem_int8_ibput
 * shmem_ctx_int8_ibput shmem_int8_ibget shmem_ctx_int8_ibget shmem_int16_iput shmem_ctx_int16_iput
 * shmem_int16_iget shmem_ctx_int16_iget shmem_int16_ibput shmem_ctx_int16_ibput shmem_int16_ibget
 * shmem_ctx_int16_ibget shmem_int32_iput shmem_ctx_int32_iput shmem_int32_iget shmem_ctx_int32_iget
 * shmem_int32_ibput shmem_ctx_int32_ibput shmem_int32_ibget shmem_ctx_int32_ibget shmem_int64_iput
 * shmem_ctx_int64_iput shmem_int64_iget shmem_ctx_int64_iget shmem_int64_ibput shmem_ctx_int64_ibput
 * shmem_int64_ibget shmem_ctx_int64_ibget shmem_uint8_iput shmem_ctx_uint8_iput shmem_uint8_iget
 * shmem_ctx_uint8_iget shmem_uint8_ibput shmem_ctx_uint8_ibput shmem_uint8_ibget shmem_ctx_uint8_ibget
 * shmem_uint16_iput shmem_ctx_uint16_iput shmem_uint16_iget shmem_ctx_uint16_iget shmem_uint16_ibput
 * shmem_ctx_uint16_ibput shmem_uint16_ibget shmem_ctx_uint16_ibget shmem_uint32_iput shmem_ctx_uint32_iput
 * shmem_uint32_iget shmem_ctx_uint32_iget shmem_uint32_ibput shmem_ctx_uint32_ibput shmem_uint32_ibget
 * shmem_ctx_uint32_ibget shmem_uint64_iput shmem_ctx_uint64_iput shmem_uint64_iget shmem_ctx_uint64_iget
 * shmem_uint64_ibput shmem_ctx_uint64_ibput shmem_uint64_ibget shmem_ctx_uint64_ibget shmem_size_iput
 * shmem_ctx_size_iput shmem_size_iget shmem_ctx_size_iget shmem_size_ibput shmem_ctx_size_ibput
 * shmem_size_ibget shmem_ctx_size_ibget */
HL_SHMEM_RMA_TYPES(OF_TYPE)

#define OF_SIZE(BITS)                                                                                        \
    STRIDED(iput##BITS, void, BITS / 8, put_blocks, PUT_SIDES)                                               \
    STRIDED(iget##BITS, void, BITS / 8, get_blocks, GET_SIDES)                                               \
    BLOCKED(ibput##BITS, void, BITS / 8, put_blocks, PUT_SIDES)                                              \
    BLOCKED(ibget##BITS, void, BITS / 8, get_blocks, GET_SIDES)
/* Defines: shmem_iput8 shmem_ctx_iput8 shmem_iget8 shmem_ctx_iget8 shmem_ibput8 shmem_ctx_ibput8 shmem_ibget8
 * shmem_ctx_ibget8 shmem_iput16 shmem_ctx_iput16 shmem_iget16 shmem_ctx_iget16 shmem_ibput16
 * shmem_ctx_ibput16 shmem_ibget16 shmem_ctx_ibget16 shmem_iput32 shmem_ctx_iput32 shmem_iget32
 * shmem_ctx_iget32 shmem_ibput32 shmem_ctx_ibput32 shmem_ibget32 shmem_ctx_ibget32 shmem_iput64
 * shmem_ctx_iput64 shmem_iget64 shmem_ctx_iget64 shmem_ibput64 shmem_ctx_ibput64 shmem_ibget64
 * shmem_ctx_ibget64 shmem_iput128 shmem_ctx_iput128 shmem_iget128 shmem_ctx_iget128 shmem_ibput128
 * shmem_ctx_ibput128 shmem_ibget128 shmem_ctx_ibget128 */
HL_SHMEM_SIZES(OF_SIZE)
