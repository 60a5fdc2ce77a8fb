/* Transfers: by a copy where the PE's memory is mapped, else by a lane. */
#include "xfer.h"

#include <stdlib.h>

#include "err.h"
#include "hang.h"
#include "near.h"
#include "shm.h"
#include "short.h"

static hl_a32 *errors; /* [n_pes], written by lanes; atomic; NULL before start and after the end */

int hl_shmem_xfer_open(void)
{
    errors = calloc((size_t)hl_sym.n_pes, sizeof *errors);
    return errors != NULL ? 0 : hl_err_say(HL_ERR_NO_MEM, "no memory for the errors of %d PEs", hl_sym.n_pes);
}

void hl_shmem_xfer_close(void)
{
    free(errors);
    errors = NULL;
}

/* ---- arguments ---- */

void hl_shmem_find(const void *sym, size_t len, int pe, const char *func, struct hl_sym_addr *addr)
{
    if (HL_UNLIKELY(!hl_sym_find(sym, len, pe, addr))) {
        hl_shmem_bad_access(func, sym, len, pe);
    }
}

struct hl_xfer hl_shmem_far(const struct hl_sym_addr *s, void *mine, size_t len, int pe)
{
    return (struct hl_xfer){.peer = pe,
                            .addr = s->where & ~HL_SYM_FAR,
                            .key = s->key,
                            .buf = mine,
                            .len = len,
                            .error = &errors[pe],
                            .token = s->token};
}

int hl_shmem_take_error(int pe)
{
    return hl_lane_error_take(&errors[pe]);
}

/* Ends the program because a context handle, a PE or the calling thread is wrong. */
static HL_COLD void refuse_use(shmem_ctx_t handle, int pe, const char *func)
{
    const struct hl_ctx *c = hl_ctx_must(handle, func);
    if (hl_ctx_world(c, pe) < 0) {
        hl_shmem_die(func, "PE %d does not exist in the context's team: it has PEs 0 to %d", pe, c->size - 1);
    }
    hl_shmem_die(func, "the context is SHMEM_CTX_PRIVATE and belongs to another thread");
}

struct hl_ctx_pe hl_shmem_on(shmem_ctx_t handle, int pe, const char *func)
{
    const struct hl_ctx *c = hl_ctx_of(handle);
    int world = HL_LIKELY(c != NULL) ? hl_ctx_world(c, pe) : -1;
    if (HL_UNLIKELY(world < 0) || ((c->options & SHMEM_CTX_PRIVATE) != 0 && c->thread != hl_ctx_me())) {
        refuse_use(handle, pe, func);
    }
    return (struct hl_ctx_pe){c, world};
}

/* A call of 0 bytes: the addresses may be anything, but the PE must exist. */
static HL_COLD void check_empty(int pe, const char *func)
{
    if ((uint32_t)pe >= (uint32_t)hl_sym.n_pes) {
        hl_shmem_bad_access(func, NULL, 0, pe);
    }
}

/* ---- beside the short way ---- */

HL_HANG_SHMEM static int issue_xfer(const struct hl_shmem_call *c, const struct hl_xfer *x)
{
    struct hl_lane *lane = hl_shmem_lane(c->ctx);
    return c->dir == HL_SHMEM_PUT ? hl_lane_write_on(lane, x) : hl_lane_read_on(lane, x);
}

/* True: the put of `len` bytes from `mine` has joined a chain that is open already. */
HL_INLINE bool joins_chain(const struct hl_ctx *ctx, const struct hl_sym_addr *s, const void *mine,
                           size_t len)
{
    struct hl_wire_short rec = {.op = HL_WIRE_PUT, .addr = s->where & ~HL_SYM_FAR};
    return hl_lane_record_short(hl_shmem_lane(ctx), s->token, rec, mine, len);
}

/* Checks the arguments. True: the part is far, and *s says where. False: it was mapped and is copied already,
 * or has 0 bytes. */
HL_INLINE bool is_far(const struct hl_shmem_call *c, const void *sym, void *mine, size_t len,
                      struct hl_sym_addr *s)
{
    if (HL_UNLIKELY(len == 0)) {
        check_empty(c->pe, c->func);
        return false;
    }
    hl_shmem_find(sym, len, c->pe, c->func, s);
    if (HL_UNLIKELY(mine == NULL)) {
        hl_shmem_die(c->func, "%s is NULL for %zu bytes", c->dir == HL_SHMEM_PUT ? "source" : "dest", len);
    }
    if (!hl_sym_addr_is_mapped(s)) {
        return true;
    }
    void *theirs = (void *)(uintptr_t)s->where;
    hl_near_copy(c->dir == HL_SHMEM_PUT ? theirs : mine, c->dir == HL_SHMEM_PUT ? mine : theirs, len);
    return false;
}

void hl_shmem_move(const struct hl_shmem_call *c, void *sym, void *mine, size_t len)
{
    struct hl_sym_addr s;
    if (is_far(c, sym, mine, len, &s)) {
        struct hl_xfer x = hl_shmem_far(&s, mine, len, c->pe);
        if (c->dir != HL_SHMEM_PUT || !joins_chain(c->ctx, &s, mine, len)) {
            x.req = c->req;
            hl_shmem_must(issue_xfer(c, &x), c->func, c->pe);
        }
    }
}

/* Does a part that is the whole call, and returns when the user may touch its buffer again. */
HL_HANG_SHMEM static HL_NOINLINE void move_now(const struct hl_shmem_call *c, void *sym, void *mine, size_t n)
{
    struct hl_sym_addr s;
    struct hl_req r;
    if (!is_far(c, sym, mine, n, &s)) {
        return;
    }
    if (c->dir == HL_SHMEM_PUT && joins_chain(c->ctx, &s, mine, n)) {
        return;
    }
    struct hl_xfer x = hl_shmem_far(&s, mine, n, c->pe);
    bool copied = c->dir == HL_SHMEM_PUT && hl_lane_is_chained(n);
    if (!copied) {
        hl_req_init_rma(&r, c->pe);
        x.req = &r;
    }
    int rc = issue_xfer(c, &x);
    if (!copied && rc == 0) {
        hl_req_wait(&r);
        rc = hl_req_finish(&r, MPI_STATUS_IGNORE);
    }
    hl_shmem_must(rc, c->func, c->pe);
}

/* ---- puts and gets ---- */

/* The short way: true when the data were copied. */
HL_INLINE bool is_done_near(enum hl_shmem_dir dir, const void *sym, void *mine, size_t len, int pe)
{
    char *theirs = hl_sym_near(sym, len, pe);
    if (HL_UNLIKELY(theirs == NULL || mine == NULL)) {
        return false;
    }
    hl_near_copy(dir == HL_SHMEM_PUT ? theirs : mine, dir == HL_SHMEM_PUT ? mine : theirs, len);
    return true;
}

void hl_shmem_put(const struct hl_ctx *ctx, void *dest, const void *src, size_t len, int pe, const char *func)
{
    void *mine = (void *)(uintptr_t)src;
    if (HL_UNLIKELY(!is_done_near(HL_SHMEM_PUT, dest, mine, len, pe))) {
        move_now(&(struct hl_shmem_call){ctx, func, HL_SHMEM_PUT, pe, NULL}, dest, mine, len);
    }
}

void hl_shmem_put_nbi(const struct hl_ctx *ctx, void *dest, const void *src, size_t len, int pe,
                      const char *func)
{
    void *mine = (void *)(uintptr_t)src;
    if (HL_UNLIKELY(!is_done_near(HL_SHMEM_PUT, dest, mine, len, pe))) {
        hl_shmem_move(&(struct hl_shmem_call){ctx, func, HL_SHMEM_PUT, pe, NULL}, dest, mine, len);
    }
}

void hl_shmem_get(const struct hl_ctx *ctx, void *dest, const void *src, size_t len, int pe, const char *func)
{
    void *theirs = (void *)(uintptr_t)src;
    if (HL_UNLIKELY(!is_done_near(HL_SHMEM_GET, theirs, dest, len, pe))) {
        move_now(&(struct hl_shmem_call){ctx, func, HL_SHMEM_GET, pe, NULL}, theirs, dest, len);
    }
}

void hl_shmem_get_nbi(const struct hl_ctx *ctx, void *dest, const void *src, size_t len, int pe,
                      const char *func)
{
    void *theirs = (void *)(uintptr_t)src;
    if (HL_UNLIKELY(!is_done_near(HL_SHMEM_GET, theirs, dest, len, pe))) {
        hl_shmem_move(&(struct hl_shmem_call){ctx, func, HL_SHMEM_GET, pe, NULL}, theirs, dest, len);
    }
}

void hl_shmem_get_own(void *dest, const void *src, size_t len, int pe, const char *func)
{
    struct hl_sym_addr s = hl_sym_own(src, pe);
    if (hl_sym_addr_is_mapped(&s)) {
        hl_near_copy(dest, (void *)(uintptr_t)s.where, len);
        return;
    }
    struct hl_xfer x = hl_shmem_far(&s, dest, len, pe);
    hl_shmem_must(issue_xfer(&(struct hl_shmem_call){&hl_ctx_default, func, HL_SHMEM_GET, pe, NULL}, &x),
                  func, pe);
}

/* ---- one word ---- */

/* Puts a word that joins no open chain. */
HL_HANG_SHMEM static void issue_word(const struct hl_shmem_call *c, void *dest, uint64_t bits, size_t len,
                                     const struct hl_sym_addr *s)
{
    struct hl_xfer x = hl_shmem_far(s, &bits, len, c->pe);
    if (hl_lane_is_chained(len)) {
        hl_shmem_must(issue_xfer(c, &x), c->func, c->pe);
    } else if (!hl_lane_write_word(hl_shmem_lane(c->ctx), &x)) {
        move_now(c, dest, &bits, len); /* waits, since nothing copies the word */
    }
}

void hl_shmem_put_word(const struct hl_ctx *ctx, void *dest, uint64_t bits, size_t len, int pe,
                       const char *func)
{
    struct hl_sym_addr s;
    struct hl_shmem_call c = {ctx, func, HL_SHMEM_PUT, pe, NULL};
    if (is_far(&c, dest, &bits, len, &s) &&
        !(len == 8 ? joins_chain(ctx, &s, &bits, 8) : joins_chain(ctx, &s, &bits, len))) {
        issue_word(&c, dest, bits, len, &s);
    }
}
