/* Atomics on one element (OpenSHMEM 1.6, section 9.7).
 *
 * All types are words of 4 or 8 bytes, and operations on floating point only move bits: so there is one
 * unsigned operation for each size. For a near PE it is one instruction. For a far one it is a record for the
 * target's receive thread, which uses the same instruction, or the provider's operation where those go
 * directly. MPI's accumulates use the same three (near.h, lane.h), so both may be used on one word. */
#include <shmem.h>
#include <string.h>

#include "entry.h"
#include "hang.h"
#include "near.h"
#include "shm.h"
#include "short.h"
#include "types.h"
#include "xfer.h"

/* Which operation an entry point does. Each has a constant one, whose fields the compiler knows. */
struct amo {
    const char *func;
    enum hl_op_kind op; /* HL_OP_KINDS: compare and swap */
    uint8_t bytes;      /* 4 or 8 */
    bool fetches;
};

/* The operands of a call, as unsigned words. */
struct operands {
    uint64_t value, cond;
    void *fetch; /* gets the old word, perhaps only by the next quiet; NULL: it is returned */
};

/* Updates one mapped word of 8 bytes; returns the old one if the operation fetches. */
HL_INLINE uint64_t apply_64(const struct amo *how, hl_a64 *word, const struct operands *o)
{
    uint64_t before = o->cond;
    switch (how->op) {
    case HL_OP_SUM:
        return hl_a64_add_relaxed(word, o->value); /* relaxed, all: an atomic orders nothing. */
    case HL_OP_BAND:
        return hl_a64_and_full(word, o->value); /* full, all three: no weaker form exists here. */
    case HL_OP_BOR:
        return hl_a64_or_full(word, o->value);
    case HL_OP_BXOR:
        return hl_a64_xor_full(word, o->value);
    case HL_OP_NO_OP:
        return hl_a64_load_relaxed(word);
    case HL_OP_REPLACE:
        if (how->fetches) {
            return hl_a64_xchg_acquire(word, o->value); /* acquire: no weaker form exists here. */
        }
        hl_a64_store_relaxed(word, o->value);
        return 0;
    default:
        (void)hl_a64_cas_full(word, &before, o->value); /* full: programs build locks on it. */
        return before;
    }
}

HL_INLINE uint64_t apply_32(const struct amo *how, hl_a32 *word, const struct operands *o)
{
    uint32_t value = (uint32_t)o->value, before = (uint32_t)o->cond;
    switch (how->op) { /* the orders are those of apply_64 */
    case HL_OP_SUM:
        return hl_a32_add_relaxed(word, value);
    case HL_OP_BAND:
        return hl_a32_and_full(word, value);
    case HL_OP_BOR:
        return hl_a32_or_full(word, value);
    case HL_OP_BXOR:
        return hl_a32_xor_full(word, value);
    case HL_OP_NO_OP:
        return hl_a32_load_relaxed(word);
    case HL_OP_REPLACE:
        if (how->fetches) {
            return hl_a32_xchg_acquire(word, value);
        }
        hl_a32_store_relaxed(word, value);
        return 0;
    default:
        (void)hl_a32_cas_full(word, &before, value);
        return before;
    }
}

/* Updates one mapped word of 4 or 8 bytes; also writes the old one to *o->fetch unless that is NULL. */
HL_INLINE uint64_t apply_amo(const struct amo *how, void *word, const struct operands *o)
{
    uint64_t wide = how->bytes == 8 ? apply_64(how, word, o) : 0;
    uint32_t narrow = how->bytes == 4 ? (uint32_t)apply_32(how, word, o) : 0;
    if (o->fetch != NULL) {
        memcpy(o->fetch, how->bytes == 8 ? (void *)&wide : (void *)&narrow, how->bytes);
    }
    return how->bytes == 8 ? wide : narrow;
}

/* ---- beside the short way ---- */

static enum hl_basic amo_basic(const struct amo *how)
{
    return how->bytes == 8 ? HL_BASIC_U64 : HL_BASIC_U32;
}

/* A word of 4 or 8 bytes as it is in memory, whatever the byte order. */
union word {
    uint32_t narrow;
    uint64_t wide;
};

static union word amo_word(const struct amo *how, uint64_t value)
{
    union word w = {.wide = value};
    if (how->bytes == 4) {
        w.narrow = (uint32_t)value;
    }
    return w;
}

/* True: the operation fetches nothing, and has joined a chain that is open already. */
HL_INLINE bool is_amo_chained(const struct amo *how, const struct hl_ctx *ctx, const union word *value,
                              const struct hl_sym_addr *addr)
{
    struct hl_wire_short rec = {.op = HL_WIRE_ATOMIC,
                                .kind = (uint8_t)how->op,
                                .basic = (uint8_t)amo_basic(how),
                                .addr = addr->where & ~HL_SYM_FAR};
    return !how->fetches && hl_lane_record_short(hl_shmem_lane(ctx), addr->token, rec, value, how->bytes);
}

/* Does a far operation. It waits where the result is returned, and where nothing copies the operands (chains
 * are off). */
HL_HANG_SHMEM static uint64_t apply_far(const struct amo *how, const struct hl_ctx *ctx,
                                        const struct operands *o, const struct hl_sym_addr *addr, int pe)
{
    union word value = amo_word(how, o->value), cond = amo_word(how, o->cond), got = {.wide = 0};
    bool compares = how->op == HL_OP_KINDS;
    bool returns = how->fetches && o->fetch == NULL, waits = returns || !hl_lane_is_chained(1);
    struct hl_req r;
    if (is_amo_chained(how, ctx, &value, addr)) {
        return 0;
    }
    struct hl_lane_atomic a = {.x =
                                   hl_shmem_far(addr, how->op == HL_OP_NO_OP ? NULL : &value, how->bytes, pe),
                               .op = compares ? HL_OP_REPLACE : how->op,
                               .basic = amo_basic(how),
                               .n = 1,
                               .compare = compares ? &cond : NULL,
                               .result = returns ? &got : o->fetch};
    if (waits) {
        hl_req_init_rma(&r, pe);
        a.x.req = &r;
    }
    int rc = hl_lane_atomic_on(hl_shmem_lane(ctx), &a);
    if (waits && rc == 0) {
        hl_req_wait(&r);
        rc = hl_req_finish(&r, MPI_STATUS_IGNORE);
    }
    hl_shmem_must(rc, how->func, pe);
    return how->bytes == 8 ? got.wide : got.narrow;
}

HL_HANG_SHMEM static HL_NOINLINE uint64_t apply_anywhere(const struct amo *how, const struct hl_ctx *ctx,
                                                         void *dest, struct operands o, int pe)
{
    struct hl_sym_addr addr;
    hl_shmem_find(dest, how->bytes, pe, how->func, &addr);
    if ((uintptr_t)dest % how->bytes != 0) {
        hl_shmem_die(how->func, "address %p is not aligned to %d bytes", dest, how->bytes);
    }
    return hl_sym_addr_is_mapped(&addr) ? apply_amo(how, (void *)(uintptr_t)addr.where, &o)
                                        : apply_far(how, ctx, &o, &addr, pe);
}

HL_INLINE uint64_t do_atomic(const struct amo *how, const struct hl_ctx *ctx, void *dest, struct operands o,
                             int pe)
{
    uint64_t where;
    if (HL_LIKELY(hl_sym_short(dest, how->bytes, pe, &where)) &&
        HL_LIKELY((where & (HL_SYM_FAR | (how->bytes - 1u))) == 0)) {
        return apply_amo(how, (void *)(uintptr_t)where, &o);
    }
    return apply_anywhere(how, ctx, dest, o, pe);
}

/* ---- entry points ---- */

/* bits_of reads the bits of a variable of the user's type; set_bits writes them. */
HL_INLINE uint64_t bits_of(const void *value, size_t bytes)
{
    uint32_t narrow;
    uint64_t wide;
    if (bytes == 4) {
        memcpy(&narrow, value, 4);
        return narrow;
    }
    memcpy(&wide, value, 8);
    return wide;
}

HL_INLINE void set_bits(void *value, size_t bytes, uint64_t bits)
{
    uint32_t narrow = (uint32_t)bits;
    memcpy(value, bytes == 4 ? (const void *)&narrow : (const void *)&bits, bytes);
}

HL_INLINE void need_fetch(const void *fetch, const char *func)
{
    if (HL_UNLIKELY(fetch == NULL)) {
        hl_shmem_need_open(func);
        hl_shmem_null(func, "fetch");
    }
}

/* Does the operation; `bits` gets the old word. The operands are named like the parameters, or are
 * constants. */
#define DO(FUNC, T, OP, FETCHES, CTX, PE, VALUE, COND, FETCH)                                                \
    static const struct amo how = {FUNC, OP, sizeof(T), FETCHES};                                            \
    const T v = VALUE, c = COND;                                                                             \
    struct operands o = {bits_of(&v, sizeof v), bits_of(&c, sizeof c), FETCH};                               \
    uint64_t bits = do_atomic(&how, CTX, (void *)(uintptr_t)dest, o, PE)

/* Parameters between dest and pe. */
#define NOTHING(T)
#define VALUE(T) , T value
#define COND_VALUE(T) , T cond, T value

/* Updates without a result. */
#define UPDATE_OLD(NAME, T, OP, PARAMS, GIVEN)                                                               \
    HL_SHMEM_API(shmem_##NAME);                                                                              \
    void pshmem_##NAME(T *dest PARAMS(T), int pe)                                                            \
    {                                                                                                        \
        DO("shmem_" #NAME, T, OP, false, &hl_ctx_default, pe, GIVEN, 0, NULL);                               \
        (void)bits;                                                                                          \
    }
#define UPDATE(NAME, T, OP, PARAMS, GIVEN)                                                                   \
    UPDATE_OLD(NAME, T, OP, PARAMS, GIVEN)                                                                   \
    HL_SHMEM_API(shmem_ctx_##NAME);                                                                          \
    void pshmem_ctx_##NAME(shmem_ctx_t ctx, T *dest PARAMS(T), int pe)                                       \
    {                                                                                                        \
        struct hl_ctx_pe on = hl_shmem_on(ctx, pe, "shmem_ctx_" #NAME);                                      \
        DO("shmem_ctx_" #NAME, T, OP, false, on.ctx, on.pe, GIVEN, 0, NULL);                                 \
        (void)bits;                                                                                          \
    }

/* Functions that return the old word, or write it to *fetch. */
#define RESULT(T)                                                                                            \
    T result;                                                                                                \
    set_bits(&result, sizeof result, bits);                                                                  \
    return result
#define FETCH_OLD(NAME, T, CONST, OP, PARAMS, GIVEN, IF)                                                     \
    HL_SHMEM_API(shmem_##NAME);                                                                              \
    T pshmem_##NAME(CONST T *dest PARAMS(T), int pe)                                                         \
    {                                                                                                        \
        DO("shmem_" #NAME, T, OP, true, &hl_ctx_default, pe, GIVEN, IF, NULL);                               \
        RESULT(T);                                                                                           \
    }
#define FETCH(NAME, T, CONST, OP, PARAMS, GIVEN, IF)                                                         \
    FETCH_OLD(NAME, T, CONST, OP, PARAMS, GIVEN, IF)                                                         \
    HL_SHMEM_API(shmem_ctx_##NAME);                                                                          \
    T pshmem_ctx_##NAME(shmem_ctx_t ctx, CONST T *dest PARAMS(T), int pe)                                    \
    {                                                                                                        \
        struct hl_ctx_pe on = hl_shmem_on(ctx, pe, "shmem_ctx_" #NAME);                                      \
        DO("shmem_ctx_" #NAME, T, OP, true, on.ctx, on.pe, GIVEN, IF, NULL);                                 \
        RESULT(T);                                                                                           \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_nbi);                                                                        \
    void pshmem_##NAME##_nbi(T *fetch, CONST T *dest PARAMS(T), int pe)                                      \
    {                                                                                                        \
        need_fetch(fetch, "shmem_" #NAME "_nbi");                                                            \
        DO("shmem_" #NAME "_nbi", T, OP, true, &hl_ctx_default, pe, GIVEN, IF, fetch);                       \
        (void)bits;                                                                                          \
    }                                                                                                        \
    HL_SHMEM_API(shmem_ctx_##NAME##_nbi);                                                                    \
    void pshmem_ctx_##NAME##_nbi(shmem_ctx_t ctx, T *fetch, CONST T *dest PARAMS(T), int pe)                 \
    {                                                                                                        \
        need_fetch(fetch, "shmem_ctx_" #NAME "_nbi");                                                        \
        struct hl_ctx_pe on = hl_shmem_on(ctx, pe, "shmem_ctx_" #NAME "_nbi");                               \
        DO("shmem_ctx_" #NAME "_nbi", T, OP, true, on.ctx, on.pe, GIVEN, IF, fetch);                         \
        (void)bits;                                                                                          \
    }

#define STANDARD(T, NAME)                                                                                    \
    UPDATE(NAME##_atomic_add, T, HL_OP_SUM, VALUE, value)                                                    \
    UPDATE(NAME##_atomic_inc, T, HL_OP_SUM, NOTHING, 1)                                                      \
    FETCH(NAME##_atomic_fetch_add, T, , HL_OP_SUM, VALUE, value, 0)                                          \
    FETCH(NAME##_atomic_fetch_inc, T, , HL_OP_SUM, NOTHING, 1, 0)                                            \
    FETCH(NAME##_atomic_compare_swap, T, , HL_OP_KINDS, COND_VALUE, value, cond)                             \
    UPDATE_OLD(NAME##_add, T, HL_OP_SUM, VALUE, value)                                                       \
    UPDATE_OLD(NAME##_inc, T, HL_OP_SUM, NOTHING, 1)                                                         \
    FETCH_OLD(NAME##_fadd, T, , HL_OP_SUM, VALUE, value, 0)                                                  \
    FETCH_OLD(NAME##_finc, T, , HL_OP_SUM, NOTHING, 1, 0)                                                    \
    FETCH_OLD(NAME##_cswap, T, , HL_OP_KINDS, COND_VALUE, value, cond)
/* Defines: shmem_int_atomic_add shmem_ctx_int_atomic_add shmem_int_atomic_inc shmem_ctx_int_atomic_inc
 * shmem_int_atomic_fetch_add shmem_ctx_int_atomic_fetch_add shmem_int_atomic_fetch_add_nbi
 * shmem_ctx_int_atomic_fetch_add_nbi shmem_int_atomic_fetch_inc shmem_ctx_int_atomic_fetch_inc
 * shmem_int_atomic_fetch_inc_nbi shmem_ctx_int_atomic_fetch_inc_nbi shmem_int_atomic_compare_swap
 * shmem_ctx_int_atomic_compare_swap shmem_int_atomic_compare_swap_nbi shmem_ctx_int_atomic_compare_swap_nbi
 * shmem_int_add shmem_int_inc shmem_int_fadd shmem_int_finc shmem_int_cswap shmem_long_atomic_add
 * shmem_ctx_long_atomic_add shmem_long_atomic_inc shmem_ctx_long_atomic_inc shmem_long_atomic_fetch_add
 * shmem_ctx_long_atomic_fetch_add shmem_long_atomic_fetch_add_nbi shmem_ctx_long_atomic_fetch_add_nbi
 * shmem_long_atomic_fetch_inc shmem_ctx_long_atomic_fetch_inc shmem_long_atomic_fetch_inc_nbi
 * shmem_ctx_long_atomic_fetch_inc_nbi shmem_long_atomic_compare_swap shmem_ctx_long_atomic_compare_swap
 * shmem_long_atomic_compare_swap_nbi shmem_ctx_long_atomic_compare_swap_nbi shmem_long_add shmem_long_inc
 * shmem_long_fadd shmem_long_finc shmem_long_cswap shmem_longlong_atomic_add shmem_ctx_longlong_atomic_add
 * shmem_longlong_atomic_inc shmem_ctx_longlong_atomic_inc shmem_longlong_atomic_fetch_add
 * shmem_ctx_longlong_atomic_fetch_add shmem_longlong_atomic_fetch_add_nbi
 * shmem_ctx_longlong_atomic_fetch_add_nbi shmem_longlong_atomic_fetch_inc shmem_ctx_longlong_atomic_fetch_inc
 * shmem_longlong_atomic_fetch_inc_nbi shmem_ctx_longlong_atomic_fetch_inc_nbi
 * shmem_longlong_atomic_compare_swap shmem_ctx_longlong_atomic_compare_swap
 * shmem_longlong_atomic_compare_swap_nbi shmem_ctx_longlong_atomic_compare_swap_nbi shmem_longlong_add
 * shmem_longlong_inc shmem_longlong_fadd shmem_longlong_finc shmem_longlong_cswap shmem_size_atomic_add
 * shmem_ctx_size_atomic_add shmem_size_atomic_inc shmem_ctx_size_atomic_inc shmem_size_atomic_fetch_add
 * shmem_ctx_size_atomic_fetch_add shmem_size_atomic_fetch_add_nbi shmem_ctx_size_atomic_fetch_add_nbi
 * shmem_size_atomic_fetch_inc shmem_ctx_size_atomic_fetch_inc shmem_size_atomic_fetch_inc_nbi
 * shmem_ctx_size_atomic_fetch_inc_nbi shmem_size_atomic_compare_swap shmem_ctx_size_atomic_compare_swap
 * shmem_size_atomic_compare_swap_nbi shmem_ctx_size_atomic_compare_swap_nbi shmem_size_add shmem_size_inc
 * shmem_size_fadd shmem_size_finc shmem_size_cswap shmem_ptrdiff_atomic_add shmem_ctx_ptrdiff_atomic_add
 * shmem_ptrdiff_atomic_inc shmem_ctx_ptrdiff_atomic_inc shmem_ptrdiff_atomic_fetch_add
 * shmem_ctx_ptrdiff_atomic_fetch_add shmem_ptrdiff_atomic_fetch_add_nbi
 * shmem_ctx_ptrdiff_atomic_fetch_add_nbi shmem_ptrdiff_atomic_fetch_inc shmem_ctx_ptrdiff_atomic_fetch_inc
 * shmem_ptrdiff_atomic_fetch_inc_nbi shmem_ctx_ptrdiff_atomic_fetch_inc_nbi shmem_ptrdiff_atomic_compare_swap
 * shmem_ctx_ptrdiff_atomic_compare_swap shmem_ptrdiff_atomic_compare_swap_nbi
 * shmem_ctx_ptrdiff_atomic_compare_swap_nbi shmem_ptrdiff_add shmem_ptrdiff_inc shmem_ptrdiff_fadd
 * shmem_ptrdiff_finc shmem_ptrdiff_cswap shmem_uint_atomic_add shmem_ctx_uint_atomic_add
 * shmem_uint_atomic_inc shmem_ctx_uint_atomic_inc shmem_uint_atomic_fetch_add shmem_ctx_uint_atomic_fetch_add
 * shmem_uint_atomic_fetch_add_nbi shmem_ctx_uint_atomic_fetch_add_nbi shmem_uint_atomic_fetch_inc
 * shmem_ctx_uint_atomic_fetch_inc shmem_uint_atomic_fetch_inc_nbi shmem_ctx_uint_atomic_fetch_inc_nbi
 * shmem_uint_atomic_compare_swap shmem_ctx_uint_atomic_compare_swap shmem_uint_atomic_compare_swap_nbi
 * shmem_ctx_uint_atomic_compare_swap_nbi shmem_uint_add shmem_uint_inc shmem_uint_fadd shmem_uint_finc
 * shmem_uint_cswap shmem_ulong_atomic_add shmem_ctx_ulong_atomic_add shmem_ulong_atomic_inc
 * shmem_ctx_ulong_atomic_inc shmem_ulong_atomic_fetch_add shmem_ctx_ulong_atomic_fetch_add
 * shmem_ulong_atomic_fetch_add_nbi shmem_ctx_ulong_atomic_fetch_add_nbi shmem_ulong_atomic_fetch_inc
 * shmem_ctx_ulong_atomic_fetch_inc shmem_ulong_atomic_fetch_inc_nbi shmem_ctx_ulong_atomic_fetch_inc_nbi
 * shmem_ulong_atomic_compare_swap shmem_ctx_ulong_atomic_compare_swap shmem_ulong_atomic_compare_swap_nbi
 * shmem_ctx_ulong_atomic_compare_swap_nbi shmem_ulong_add shmem_ulong_inc shmem_ulong_fadd shmem_ulong_finc
 * shmem_ulong_cswap shmem_ulonglong_atomic_add shmem_ctx_ulonglong_atomic_add shmem_ulonglong_atomic_inc
 * shmem_ctx_ulonglong_atomic_inc shmem_ulonglong_atomic_fetch_add shmem_ctx_ulonglong_atomic_fetch_add
 * shmem_ulonglong_atomic_fetch_add_nbi shmem_ctx_ulonglong_atomic_fetch_add_nbi
 * shmem_ulonglong_atomic_fetch_inc shmem_ctx_ulonglong_atomic_fetch_inc shmem_ulonglong_atomic_fetch_inc_nbi
 * shmem_ctx_ulonglong_atomic_fetch_inc_nbi shmem_ulonglong_atomic_compare_swap
 * shmem_ctx_ulonglong_atomic_compare_swap shmem_ulonglong_atomic_compare_swap_nbi
 * shmem_ctx_ulonglong_atomic_compare_swap_nbi shmem_ulonglong_add shmem_ulonglong_inc shmem_ulonglong_fadd
 * shmem_ulonglong_finc shmem_ulonglong_cswap shmem_int32_atomic_add shmem_ctx_int32_atomic_add
 * shmem_int32_atomic_inc shmem_ctx_int32_atomic_inc shmem_int32_atomic_fetch_add
 * shmem_ctx_int32_atomic_fetch_add shmem_int32_atomic_fetch_add_nbi shmem_ctx_int32_atomic_fetch_add_nbi
 * shmem_int32_atomic_fetch_inc shmem_ctx_int32_atomic_fetch_inc shmem_int32_atomic_fetch_inc_nbi
 * shmem_ctx_int32_atomic_fetch_inc_nbi shmem_int32_atomic_compare_swap shmem_ctx_int32_atomic_compare_swap
 * shmem_int32_atomic_compare_swap_nbi shmem_ctx_int32_atomic_compare_swap_nbi shmem_int32_add shmem_int32_inc
 * shmem_int32_fadd shmem_int32_finc shmem_int32_cswap shmem_int64_atomic_add shmem_ctx_int64_atomic_add
 * shmem_int64_atomic_inc shmem_ctx_int64_atomic_inc shmem_int64_atomic_fetch_add
 * shmem_ctx_int64_atomic_fetch_add shmem_int64_atomic_fetch_add_nbi shmem_ctx_int64_atomic_fetch_add_nbi
 * shmem_int64_atomic_fetch_inc shmem_ctx_int64_atomic_fetch_inc shmem_int64_atomic_fetch_inc_nbi
 * shmem_ctx_int64_atomic_fetch_inc_nbi shmem_int64_atomic_compare_swap shmem_ctx_int64_atomic_compare_swap
 * shmem_int64_atomic_compare_swap_nbi shmem_ctx_int64_atomic_compare_swap_nbi shmem_int64_add shmem_int64_inc
 * shmem_int64_fadd shmem_int64_finc shmem_int64_cswap shmem_uint32_atomic_add shmem_ctx_uint32_atomic_add
 * shmem_uint32_atomic_inc shmem_ctx_uint32_atomic_inc shmem_uint32_atomic_fetch_add
 * shmem_ctx_uint32_atomic_fetch_add shmem_uint32_atomic_fetch_add_nbi shmem_ctx_uint32_atomic_fetch_add_nbi
 * shmem_uint32_atomic_fetch_inc shmem_ctx_uint32_atomic_fetch_inc shmem_uint32_atomic_fetch_inc_nbi
 * shmem_ctx_uint32_atomic_fetch_inc_nbi shmem_uint32_atomic_compare_swap shmem_ctx_uint32_atomic_compare_swap
 * shmem_uint32_atomic_compare_swap_nbi shmem_ctx_uint32_atomic_compare_swap_nbi shmem_uint32_add
 * shmem_uint32_inc shmem_uint32_fadd shmem_uint32_finc shmem_uint32_cswap shmem_uint64_atomic_add
 * shmem_ctx_uint64_atomic_add shmem_uint64_atomic_inc shmem_ctx_uint64_atomic_inc
 * shmem_uint64_atomic_fetch_add shmem_ctx_uint64_atomic_fetch_add shmem_uint64_atomic_fetch_add_nbi
 * shmem_ctx_uint64_atomic_fetch_add_nbi shmem_uint64_atomic_fetch_inc shmem_ctx_uint64_atomic_fetch_inc
 * shmem_uint64_atomic_fetch_inc_nbi shmem_ctx_uint64_atomic_fetch_inc_nbi shmem_uint64_atomic_compare_swap
 * shmem_ctx_uint64_atomic_compare_swap shmem_uint64_atomic_compare_swap_nbi
 * shmem_ctx_uint64_atomic_compare_swap_nbi shmem_uint64_add shmem_uint64_inc shmem_uint64_fadd
 * shmem_uint64_finc shmem_uint64_cswap */
HL_SHMEM_AMO_TYPES(STANDARD)

#define EXTENDED(T, NAME)                                                                                    \
    FETCH(NAME##_atomic_fetch, T, const, HL_OP_NO_OP, NOTHING, 0, 0)                                         \
    FETCH(NAME##_atomic_swap, T, , HL_OP_REPLACE, VALUE, value, 0)                                           \
    UPDATE(NAME##_atomic_set, T, HL_OP_REPLACE, VALUE, value)                                                \
    FETCH_OLD(NAME##_fetch, T, const, HL_OP_NO_OP, NOTHING, 0, 0)                                            \
    FETCH_OLD(NAME##_swap, T, , HL_OP_REPLACE, VALUE, value, 0)                                              \
    UPDATE_OLD(NAME##_set, T, HL_OP_REPLACE, VALUE, value)
/* Defines: shmem_float_atomic_fetch shmem_ctx_float_atomic_fetch shmem_float_atomic_fetch_nbi
 * shmem_ctx_float_atomic_fetch_nbi shmem_float_atomic_swap shmem_ctx_float_atomic_swap
 * shmem_float_atomic_swap_nbi shmem_ctx_float_atomic_swap_nbi shmem_float_atomic_set
 * shmem_ctx_float_atomic_set shmem_float_fetch shmem_float_swap shmem_float_set shmem_double_atomic_fetch
 * shmem_ctx_double_atomic_fetch shmem_double_atomic_fetch_nbi shmem_ctx_double_atomic_fetch_nbi
 * shmem_double_atomic_swap shmem_ctx_double_atomic_swap shmem_double_atomic_swap_nbi
 * shmem_ctx_double_atomic_swap_nbi shmem_double_atomic_set shmem_ctx_double_atomic_set shmem_double_fetch
 * shmem_double_swap shmem_double_set shmem_int_atomic_fetch shmem_ctx_int_atomic_fetch
 * shmem_int_atomic_fetch_nbi shmem_ctx_int_atomic_fetch_nbi shmem_int_atomic_swap shmem_ctx_int_atomic_swap
 * shmem_int_atomic_swap_nbi shmem_ctx_int_atomic_swap_nbi shmem_int_atomic_set shmem_ctx_int_atomic_set
 * shmem_int_fetch shmem_int_swap shmem_int_set shmem_long_atomic_fetch shmem_ctx_long_atomic_fetch
 * shmem_long_atomic_fetch_nbi shmem_ctx_long_atomic_fetch_nbi shmem_long_atomic_swap
 * shmem_ctx_long_atomic_swap shmem_long_atomic_swap_nbi shmem_ctx_long_atomic_swap_nbi shmem_long_atomic_set
 * shmem_ctx_long_atomic_set shmem_long_fetch shmem_long_swap shmem_long_set shmem_longlong_atomic_fetch
 * shmem_ctx_longlong_atomic_fetch shmem_longlong_atomic_fetch_nbi shmem_ctx_longlong_atomic_fetch_nbi
 * shmem_longlong_atomic_swap shmem_ctx_longlong_atomic_swap shmem_longlong_atomic_swap_nbi
 * shmem_ctx_longlong_atomic_swap_nbi shmem_longlong_atomic_set shmem_ctx_longlong_atomic_set
 * shmem_longlong_fetch shmem_longlong_swap shmem_longlong_set shmem_size_atomic_fetch
 * shmem_ctx_size_atomic_fetch shmem_size_atomic_fetch_nbi shmem_ctx_size_atomic_fetch_nbi
 * shmem_size_atomic_swap shmem_ctx_size_atomic_swap shmem_size_atomic_swap_nbi shmem_ctx_size_atomic_swap_nbi
 * shmem_size_atomic_set shmem_ctx_size_atomic_set shmem_size_fetch shmem_size_swap shmem_size_set
 * shmem_ptrdiff_atomic_fetch shmem_ctx_ptrdiff_atomic_fetch shmem_ptrdiff_atomic_fetch_nbi
 * shmem_ctx_ptrdiff_atomic_fetch_nbi shmem_ptrdiff_atomic_swap shmem_ctx_ptrdiff_atomic_swap
 * shmem_ptrdiff_atomic_swap_nbi shmem_ctx_ptrdiff_atomic_swap_nbi shmem_ptrdiff_atomic_set
 * shmem_ctx_ptrdiff_atomic_set shmem_ptrdiff_fetch shmem_ptrdiff_swap shmem_ptrdiff_set
 * shmem_uint_atomic_fetch shmem_ctx_uint_atomic_fetch shmem_uint_atomic_fetch_nbi
 * shmem_ctx_uint_atomic_fetch_nbi shmem_uint_atomic_swap shmem_ctx_uint_atomic_swap
 * shmem_uint_atomic_swap_nbi shmem_ctx_uint_atomic_swap_nbi shmem_uint_atomic_set shmem_ctx_uint_atomic_set
 * shmem_uint_fetch shmem_uint_swap shmem_uint_set shmem_ulong_atomic_fetch shmem_ctx_ulong_atomic_fetch
 * shmem_ulong_atomic_fetch_nbi shmem_ctx_ulong_atomic_fetch_nbi shmem_ulong_atomic_swap
 * shmem_ctx_ulong_atomic_swap shmem_ulong_atomic_swap_nbi shmem_ctx_ulong_atomic_swap_nbi
 * shmem_ulong_atomic_set shmem_ctx_ulong_atomic_set shmem_ulong_fetch shmem_ulong_swap shmem_ulong_set
 * shmem_ulonglong_atomic_fetch shmem_ctx_ulonglong_atomic_fetch shmem_ulonglong_atomic_fetch_nbi
 * shmem_ctx_ulonglong_atomic_fetch_nbi shmem_ulonglong_atomic_swap shmem_ctx_ulonglong_atomic_swap
 * shmem_ulonglong_atomic_swap_nbi shmem_ctx_ulonglong_atomic_swap_nbi shmem_ulonglong_atomic_set
 * shmem_ctx_ulonglong_atomic_set shmem_ulonglong_fetch shmem_ulonglong_swap shmem_ulonglong_set
 * shmem_int32_atomic_fetch shmem_ctx_int32_atomic_fetch shmem_int32_atomic_fetch_nbi
 * shmem_ctx_int32_atomic_fetch_nbi shmem_int32_atomic_swap shmem_ctx_int32_atomic_swap
 * shmem_int32_atomic_swap_nbi shmem_ctx_int32_atomic_swap_nbi shmem_int32_atomic_set
 * shmem_ctx_int32_atomic_set shmem_int32_fetch shmem_int32_swap shmem_int32_set shmem_int64_atomic_fetch
 * shmem_ctx_int64_atomic_fetch shmem_int64_atomic_fetch_nbi shmem_ctx_int64_atomic_fetch_nbi
 * shmem_int64_atomic_swap shmem_ctx_int64_atomic_swap shmem_int64_atomic_swap_nbi
 * shmem_ctx_int64_atomic_swap_nbi shmem_int64_atomic_set shmem_ctx_int64_atomic_set shmem_int64_fetch
 * shmem_int64_swap shmem_int64_set shmem_uint32_atomic_fetch shmem_ctx_uint32_atomic_fetch
 * shmem_uint32_atomic_fetch_nbi shmem_ctx_uint32_atomic_fetch_nbi shmem_uint32_atomic_swap
 * shmem_ctx_uint32_atomic_swap shmem_uint32_atomic_swap_nbi shmem_ctx_uint32_atomic_swap_nbi
 * shmem_uint32_atomic_set shmem_ctx_uint32_atomic_set shmem_uint32_fetch shmem_uint32_swap shmem_uint32_set
 * shmem_uint64_atomic_fetch shmem_ctx_uint64_atomic_fetch shmem_uint64_atomic_fetch_nbi
 * shmem_ctx_uint64_atomic_fetch_nbi shmem_uint64_atomic_swap shmem_ctx_uint64_atomic_swap
 * shmem_uint64_atomic_swap_nbi shmem_ctx_uint64_atomic_swap_nbi shmem_uint64_atomic_set
 * shmem_ctx_uint64_atomic_set shmem_uint64_fetch shmem_uint64_swap shmem_uint64_set */
HL_SHMEM_EXT_AMO_TYPES(EXTENDED)

#define BITWISE(T, NAME)                                                                                     \
    UPDATE(NAME##_atomic_and, T, HL_OP_BAND, VALUE, value)                                                   \
    UPDATE(NAME##_atomic_or, T, HL_OP_BOR, VALUE, value)                                                     \
    UPDATE(NAME##_atomic_xor, T, HL_OP_BXOR, VALUE, value)                                                   \
    FETCH(NAME##_atomic_fetch_and, T, , HL_OP_BAND, VALUE, value, 0)                                         \
    FETCH(NAME##_atomic_fetch_or, T, , HL_OP_BOR, VALUE, value, 0)                                           \
    FETCH(NAME##_atomic_fetch_xor, T, , HL_OP_BXOR, VALUE, value, 0)
/* Defines: shmem_uint_atomic_and shmem_ctx_uint_atomic_and shmem_uint_atomic_or shmem_ctx_uint_atomic_or
 * shmem_uint_atomic_xor shmem_ctx_uint_atomic_xor shmem_uint_atomic_fetch_and shmem_ctx_uint_atomic_fetch_and
 * shmem_uint_atomic_fetch_and_nbi shmem_ctx_uint_atomic_fetch_and_nbi shmem_uint_atomic_fetch_or
 * shmem_ctx_uint_atomic_fetch_or shmem_uint_atomic_fetch_or_nbi shmem_ctx_uint_atomic_fetch_or_nbi
 * shmem_uint_atomic_fetch_xor shmem_ctx_uint_atomic_fetch_xor shmem_uint_atomic_fetch_xor_nbi
 * shmem_ctx_uint_atomic_fetch_xor_nbi shmem_ulong_atomic_and shmem_ctx_ulong_atomic_and shmem_ulong_atomic_or
 * shmem_ctx_ulong_atomic_or shmem_ulong_atomic_xor shmem_ctx_ulong_atomic_xor shmem_ulong_atomic_fetch_and
 * shmem_ctx_ulong_atomic_fetch_and shmem_ulong_atomic_fetch_and_nbi shmem_ctx_ulong_atomic_fetch_and_nbi
 * shmem_ulong_atomic_fetch_or shmem_ctx_ulong_atomic_fetch_or shmem_ulong_atomic_fetch_or_nbi
 * shmem_ctx_ulong_atomic_fetch_or_nbi shmem_ulong_atomic_fetch_xor shmem_ctx_ulong_atomic_fetch_xor
 * shmem_ulong_atomic_fetch_xor_nbi shmem_ctx_ulong_atomic_fetch_xor_nbi shmem_ulonglong_atomic_and
 * shmem_ctx_ulonglong_atomic_and shmem_ulonglong_atomic_or shmem_ctx_ulonglong_atomic_or
 * shmem_ulonglong_atomic_xor shmem_ctx_ulonglong_atomic_xor shmem_ulonglong_atomic_fetch_and
 * shmem_ctx_ulonglong_atomic_fetch_and shmem_ulonglong_atomic_fetch_and_nbi
 * shmem_ctx_ulonglong_atomic_fetch_and_nbi shmem_ulonglong_atomic_fetch_or
 * shmem_ctx_ulonglong_atomic_fetch_or shmem_ulonglong_atomic_fetch_or_nbi
 * shmem_ctx_ulonglong_atomic_fetch_or_nbi shmem_ulonglong_atomic_fetch_xor
 * shmem_ctx_ulonglong_atomic_fetch_xor shmem_ulonglong_atomic_fetch_xor_nbi
 * shmem_ctx_ulonglong_atomic_fetch_xor_nbi shmem_int32_atomic_and shmem_ctx_int32_atomic_and
 * shmem_int32_atomic_or shmem_ctx_int32_atomic_or shmem_int32_atomic_xor shmem_ctx_int32_atomic_xor
 * shmem_int32_atomic_fetch_and shmem_ctx_int32_atomic_fetch_and shmem_int32_atomic_fetch_and_nbi
 * shmem_ctx_int32_atomic_fetch_and_nbi shmem_int32_atomic_fetch_or shmem_ctx_int32_atomic_fetch_or
 * shmem_int32_atomic_fetch_or_nbi shmem_ctx_int32_atomic_fetch_or_nbi shmem_int32_atomic_fetch_xor
 * shmem_ctx_int32_atomic_fetch_xor shmem_int32_atomic_fetch_xor_nbi shmem_ctx_int32_atomic_fetch_xor_nbi
 * shmem_int64_atomic_and shmem_ctx_int64_atomic_and shmem_int64_atomic_or shmem_ctx_int64_atomic_or
 * shmem_int64_atomic_xor shmem_ctx_int64_atomic_xor shmem_int64_atomic_fetch_and
 * shmem_ctx_int64_atomic_fetch_and shmem_int64_atomic_fetch_and_nbi shmem_ctx_int64_atomic_fetch_and_nbi
 * shmem_int64_atomic_fetch_or shmem_ctx_int64_atomic_fetch_or shmem_int64_atomic_fetch_or_nbi
 * shmem_ctx_int64_atomic_fetch_or_nbi shmem_int64_atomic_fetch_xor shmem_ctx_int64_atomic_fetch_xor
 * shmem_int64_atomic_fetch_xor_nbi shmem_ctx_int64_atomic_fetch_xor_nbi shmem_uint32_atomic_and
 * shmem_ctx_uint32_atomic_and shmem_uint32_atomic_or shmem_ctx_uint32_atomic_or shmem_uint32_atomic_xor
 * shmem_ctx_uint32_atomic_xor shmem_uint32_atomic_fetch_and shmem_ctx_uint32_atomic_fetch_and
 * shmem_uint32_atomic_fetch_and_nbi shmem_ctx_uint32_atomic_fetch_and_nbi shmem_uint32_atomic_fetch_or
 * shmem_ctx_uint32_atomic_fetch_or shmem_uint32_atomic_fetch_or_nbi shmem_ctx_uint32_atomic_fetch_or_nbi
 * shmem_uint32_atomic_fetch_xor shmem_ctx_uint32_atomic_fetch_xor shmem_uint32_atomic_fetch_xor_nbi
 * shmem_ctx_uint32_atomic_fetch_xor_nbi shmem_uint64_atomic_and shmem_ctx_uint64_atomic_and
 * shmem_uint64_atomic_or shmem_ctx_uint64_atomic_or shmem_uint64_atomic_xor shmem_ctx_uint64_atomic_xor
 * shmem_uint64_atomic_fetch_and shmem_ctx_uint64_atomic_fetch_and shmem_uint64_atomic_fetch_and_nbi
 * shmem_ctx_uint64_atomic_fetch_and_nbi shmem_uint64_atomic_fetch_or shmem_ctx_uint64_atomic_fetch_or
 * shmem_uint64_atomic_fetch_or_nbi shmem_ctx_uint64_atomic_fetch_or_nbi shmem_uint64_atomic_fetch_xor
 * shmem_ctx_uint64_atomic_fetch_xor shmem_uint64_atomic_fetch_xor_nbi
 * shmem_ctx_uint64_atomic_fetch_xor_nbi */
HL_SHMEM_BIT_AMO_TYPES(BITWISE)
