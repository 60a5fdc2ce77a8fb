/* Put and get of contiguous data, blocking and not, and of one element (OpenSHMEM 1.6, section 9.6). */
#include <shmem.h>
#include <string.h>

#include "entry.h"
#include "near.h"
#include "types.h"
#include "xfer.h"

/* A transfer by the function `move`, of elements of `size` bytes: the plain form and that of contexts. */
#define MOVE(NAME, T, size, move)                                                                            \
    HL_SHMEM_API(shmem_##NAME)                                                                               \
    void pshmem_##NAME(T *dest, const T *source, size_t nelems, int pe)                                      \
    {                                                                                                        \
        move(&hl_ctx_default, dest, source, hl_shmem_bytes(nelems, size), pe, "shmem_" #NAME);               \
    }                                                                                                        \
    HL_SHMEM_API(shmem_ctx_##NAME)                                                                           \
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
HL_SHMEM_RMA_TYPES(MOVES)

#define MOVES_OF_SIZE(BITS)                                                                                  \
    MOVE(put##BITS, void, BITS / 8, hl_shmem_put)                                                            \
    MOVE(get##BITS, void, BITS / 8, hl_shmem_get)                                                            \
    MOVE(put##BITS##_nbi, void, BITS / 8, hl_shmem_put_nbi)                                                  \
    MOVE(get##BITS##_nbi, void, BITS / 8, hl_shmem_get_nbi)
HL_SHMEM_SIZES(MOVES_OF_SIZE)

MOVE(putmem, void, 1, hl_shmem_put)
MOVE(getmem, void, 1, hl_shmem_get)
MOVE(putmem_nbi, void, 1, hl_shmem_put_nbi)
MOVE(getmem_nbi, void, 1, hl_shmem_get_nbi)

/* ---- one element ---- */

/* Puts the element at `value`, a variable that the compiler keeps in a register where nothing takes its
 * address: elements of up to 8 bytes leave as bits. */
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

/* Gets one into `value`. */
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
    HL_SHMEM_API(shmem_##NAME##_p)                                                                           \
    void pshmem_##NAME##_p(T *dest, T value, int pe)                                                         \
    {                                                                                                        \
        put_one(&hl_ctx_default, dest, &value, sizeof value, pe, "shmem_" #NAME "_p");                       \
    }                                                                                                        \
    HL_SHMEM_API(shmem_ctx_##NAME##_p)                                                                       \
    void pshmem_ctx_##NAME##_p(shmem_ctx_t ctx, T *dest, T value, int pe)                                    \
    {                                                                                                        \
        struct hl_ctx_pe on = hl_shmem_on(ctx, pe, "shmem_ctx_" #NAME "_p");                                 \
        put_one(on.ctx, dest, &value, sizeof value, on.pe, "shmem_ctx_" #NAME "_p");                         \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_g)                                                                           \
    T pshmem_##NAME##_g(const T *source, int pe)                                                             \
    {                                                                                                        \
        T value;                                                                                             \
        get_one(&hl_ctx_default, &value, source, sizeof value, pe, "shmem_" #NAME "_g");                     \
        return value;                                                                                        \
    }                                                                                                        \
    HL_SHMEM_API(shmem_ctx_##NAME##_g)                                                                       \
    T pshmem_ctx_##NAME##_g(shmem_ctx_t ctx, const T *source, int pe)                                        \
    {                                                                                                        \
        struct hl_ctx_pe on = hl_shmem_on(ctx, pe, "shmem_ctx_" #NAME "_g");                                 \
        T value;                                                                                             \
        get_one(on.ctx, &value, source, sizeof value, on.pe, "shmem_ctx_" #NAME "_g");                       \
        return value;                                                                                        \
    }
HL_SHMEM_RMA_TYPES(ONE)
