/* Transfers between my memory and symmetric memory of a PE. PE numbers are world PE numbers. The functions
 * check arguments; a wrong one ends the program (hl_shmem_die) in the name of `func`. Any thread; the caller
 * holds no lease. */
#ifndef HL_SHMEM_XFER_H
#define HL_SHMEM_XFER_H

#include <stddef.h>

#include "ctx.h"
#include "hang.h"
#include "short.h"
#include "sym.h"

/* The lane that an operation of the context must use now: the context's own, or, for contexts without one,
 * the lane to which a fence bound the thread; NULL: any lane. */
HL_INLINE struct hl_lane *hl_shmem_lane(const struct hl_ctx *ctx)
{
    return ctx->lane != NULL ? ctx->lane : hl_lane_bound();
}

/* ---- whole transfers ---- */

/* hl_shmem_put puts `len` bytes, which are stored at the PE after hl_shmem_quiet of the context; `src` may
 * change on return. hl_shmem_put_nbi returns at once; unless the data are small, `src` may be read until that
 * quiet. */
HL_HANG_SHMEM void hl_shmem_put(const struct hl_ctx *ctx, void *dest, const void *src, size_t len, int pe,
                                const char *func);
HL_HANG_SHMEM void hl_shmem_put_nbi(const struct hl_ctx *ctx, void *dest, const void *src, size_t len, int pe,
                                    const char *func);

/* hl_shmem_get gets `len` bytes, which are in `dest` on return; of hl_shmem_get_nbi after hl_shmem_quiet. */
HL_HANG_SHMEM void hl_shmem_get(const struct hl_ctx *ctx, void *dest, const void *src, size_t len, int pe,
                                const char *func);
HL_HANG_SHMEM void hl_shmem_get_nbi(const struct hl_ctx *ctx, void *dest, const void *src, size_t len, int pe,
                                    const char *func);

/* A put of `len` bytes, at most 8, for which hl_sym_near returned NULL; `bits` holds them in their order in
 * memory. */
HL_HANG_SHMEM void hl_shmem_put_word(const struct hl_ctx *ctx, void *dest, uint64_t bits, size_t len, int pe,
                                     const char *func);

/* ---- transfers in several parts ---- */

enum hl_shmem_dir { HL_SHMEM_PUT, HL_SHMEM_GET };

/* What all parts of a call have in common. */
struct hl_shmem_call {
    const struct hl_ctx *ctx;
    const char *func;
    enum hl_shmem_dir dir;
    int pe;
    struct hl_req *req; /* completes when `mine` may be touched again; NULL: after a quiet */
};

/* Starts a transfer of one part between `mine` and the symmetric object `sym`. */
HL_HANG_SHMEM void hl_shmem_move(const struct hl_shmem_call *call, void *sym, void *mine, size_t len);

/* ---- for other kinds of operations ---- */

/* Finds where [sym, sym + len), len > 0, is at the PE. Ends the program when it is not symmetric there. */
void hl_shmem_find(const void *sym, size_t len, int pe, const char *func, struct hl_sym_addr *addr);

/* Describes a transfer of `len` bytes between `mine` and a FAR address. */
struct hl_xfer hl_shmem_far(const struct hl_sym_addr *addr, void *mine, size_t len, int pe);

/* A message of the library itself: hl_shmem_send_flag has the PE store `len` bytes (a few kilobytes at most)
 * at `data`, then `value` at `word`, both FAR, and wakes its sleeping threads. The message leaves at once. */
struct hl_shmem_flag {
    const char *func;
    int pe;
    const void *src;
    size_t len;
    struct hl_sym_addr data, word;
    uint64_t value;
};
void hl_shmem_send_flag(const struct hl_shmem_flag *f);

/* Gets `len` bytes of the library's own part at a PE; they are in `dest` after hl_shmem_quiet. */
HL_HANG_SHMEM void hl_shmem_get_own(void *dest, const void *src, size_t len, int pe, const char *func);

/* Takes the error that operations on `pe` have left since the last call: 0 or an HL_ERR_*. */
int hl_shmem_take_error(int pe);

/* hl_shmem_on turns a user's context and a PE number of its team into what the transfers take. A wrong one
 * ends the program. */
struct hl_ctx_pe {
    const struct hl_ctx *ctx;
    int pe;
};
struct hl_ctx_pe hl_shmem_on(shmem_ctx_t ctx, int pe, const char *func);

/* Bytes of n elements; SIZE_MAX, which no object has, when the product overflows. */
HL_INLINE size_t hl_shmem_bytes(size_t n, size_t size)
{
    size_t bytes;
    return HL_UNLIKELY(__builtin_mul_overflow(n, size, &bytes)) ? SIZE_MAX : bytes;
}

/* ---- completion ---- */

/* Waits until all that was issued on the context is stored at its PEs. */
void hl_shmem_quiet(const struct hl_ctx *ctx, const char *func);
/* Frees the requests of shmemx_quiet_nb that the program has not ended; called at the end (init.c). */
void hl_quiets_close(void);

/* Make and free the error words of far operations, one for each PE. init.c calls them at start and end.
 * HL_ERR_NO_MEM. */
int hl_shmem_xfer_open(void);
void hl_shmem_xfer_close(void);

#endif
