/* Transfers between my memory and symmetric memory of a PE. World PE numbers, arguments not checked by the
 * caller: what is wrong ends the program (hl_shmem_die) in the name of `func`. Any thread, no lease held. */
#ifndef HL_SHMEM_XFER_H
#define HL_SHMEM_XFER_H

#include <stddef.h>

#include "ctx.h"
#include "short.h"
#include "sym.h"

/* The lane that an operation of the context names now: its own, or the one that a fence bound those without
 * one to; NULL: any. */
HL_INLINE struct hl_lane *hl_shmem_lane(const struct hl_ctx *ctx)
{
    return ctx->lane != NULL ? ctx->lane : hl_lane_bound();
}

/* ---- whole transfers ---- */

/* Puts `len` bytes: stored at the PE after hl_shmem_quiet of the context; `src` may change on return. The
 * same at once, and `src` is read until that quiet when it is not small. */
void hl_shmem_put(const struct hl_ctx *ctx, void *dest, const void *src, size_t len, int pe,
                  const char *func);
void hl_shmem_put_nbi(const struct hl_ctx *ctx, void *dest, const void *src, size_t len, int pe,
                      const char *func);

/* Gets them: in `dest` on return, or after hl_shmem_quiet. */
void hl_shmem_get(const struct hl_ctx *ctx, void *dest, const void *src, size_t len, int pe,
                  const char *func);
void hl_shmem_get_nbi(const struct hl_ctx *ctx, void *dest, const void *src, size_t len, int pe,
                      const char *func);

/* A put of at most 8 bytes that hl_sym_near did not take; they stand in `bits` as in memory. */
void hl_shmem_put_word(const struct hl_ctx *ctx, void *dest, uint64_t bits, size_t len, int pe,
                       const char *func);

/* ---- transfers in several parts ---- */

enum hl_shmem_dir { HL_SHMEM_PUT, HL_SHMEM_GET };

/* What all parts of a call have in common. */
struct hl_shmem_call {
    const struct hl_ctx *ctx;
    const char *func;
    enum hl_shmem_dir dir;
    int pe;
    struct hl_req *req; /* counts what `mine` must not be touched for; or NULL: quiet does */
};

/* Starts one part between `mine` and the symmetric object `sym`. */
void hl_shmem_move(const struct hl_shmem_call *call, void *sym, void *mine, size_t len);

/* ---- for other kinds of operations ---- */

/* Where [sym, sym + len) is at the PE, len > 0. Ends the program when it is nowhere. */
void hl_shmem_find(const void *sym, size_t len, int pe, const char *func, struct hl_sym_spot *spot);

/* The transfer of `len` bytes to or from a spot that is FAR. */
struct hl_xfer hl_shmem_far(const struct hl_sym_spot *spot, void *mine, size_t len, int pe);

/* A message of the library's own: `len` bytes (a few kilobytes at most) stored at `data`, then `value` at
 * `word`, both FAR; it leaves at once. Sleepers of the PE are woken. */
struct hl_shmem_flag {
    const char *func;
    int pe;
    const void *src;
    size_t len;
    struct hl_sym_spot data, word;
    uint64_t value;
};
void hl_shmem_send_flag(const struct hl_shmem_flag *f);

/* Gets `len` bytes of the library's own part, as hl_shmem_get_nbi does. */
void hl_shmem_get_own(void *dest, const void *src, size_t len, int pe, const char *func);

/* Takes the error that operations on `pe` left since the last time: 0 or an HL_ERR_*. */
int hl_shmem_take_error(int pe);

/* A handle of the user and a PE number of its team, as the functions above want them. */
struct hl_ctx_pe {
    const struct hl_ctx *ctx;
    int pe;
};
struct hl_ctx_pe hl_shmem_on(shmem_ctx_t ctx, int pe, const char *func);

/* Bytes of n elements; so many that they are nowhere when the product overflows. */
HL_INLINE size_t hl_shmem_bytes(size_t n, size_t size)
{
    size_t bytes;
    return HL_UNLIKELY(__builtin_mul_overflow(n, size, &bytes)) ? SIZE_MAX : bytes;
}

/* ---- completion ---- */

/* Waits until everything that was issued on the context is stored at its PEs (hl_shmem_quiet), or that what
 * has been issued to each PE is stored there before what comes later (fence). */
void hl_shmem_quiet(const struct hl_ctx *ctx, const char *func);
/* Ends the requests of shmemx_quiet_nb that the program has left: part of the end (init.c). */
void hl_quiets_close(void);
void hl_shmem_fence(const struct hl_ctx *ctx, const char *func);

/* Errors of far operations: one word for each PE, looked at by whoever waited. Part of start and end. */
int hl_shmem_xfer_open(void);
void hl_shmem_xfer_close(void);

#endif
