/* Ordering and completion. (OpenSHMEM 1.5, section 9.11; pe_quiet: 1.6.)
 *
 * On the node a quiet is one fence of the processor, and a fence orders stores. Lanes are asked only where
 * there is a network. */
#include <shmem.h>
#include <shmemx.h>

#include "ctx.h"
#include "entry.h"
#include "hang.h"
#include "hl_build.h"
#include "near.h"
#include "prog.h"
#include "shm.h"
#include "short.h"
#include "sym.h"
#include "xfer.h"

static hl_a64 errors_seen; /* hl_lane_errors when the error words of all PEs were last looked at; atomic */

/* ---- over the network ---- */

/* Some operation has failed: ends the job if one of this interface has, at the first such PE. (Others report
 * to windows.) */
static HL_COLD void look_at_errors(uint64_t now, const char *func)
{
    hl_a64_store_relaxed(&errors_seen, now); /* relaxed: of several threads one or more look. */
    for (int pe = 0; pe < hl_sym.n_pes; pe++) {
        hl_shmem_must(hl_shmem_take_error(pe), func, pe);
    }
}

static void tell_errors(const char *func)
{
    uint64_t now = hl_a64_load_acquire(&hl_lane_errors);         /* acquire: pairs with hl_lane_error_keep */
    if (HL_UNLIKELY(now != hl_a64_load_relaxed(&errors_seen))) { /* relaxed: a wrong guess costs a look */
        look_at_errors(now, func);
    }
}

/* Is some memory of the PE mapped here? (Other memory of it may not be.) */
static bool is_mapped(int pe)
{
    bool mapped = hl_sym.heap.len != 0 && (hl_sym.heap.pes[pe].where & HL_SYM_FAR) == 0;
    for (int i = 0; i < hl_sym.n_statics && !mapped; i++) {
        mapped = (hl_sym.statics[i].pes[pe].where & HL_SYM_FAR) == 0;
    }
    return mapped;
}

/* ---- what the calls share ---- */

HL_HANG_SHMEM void hl_shmem_quiet(const struct hl_ctx *ctx, const char *func)
{
    if (hl_lane_is_there()) {
        hl_lane_flush_on(ctx->lane, -1, HL_REMOTE);
        tell_errors(func);
    }
    hl_near_fence();
}

/* Makes sure that what was issued to a PE is stored there before what is issued to it later. */
HL_HANG_SHMEM static void fence_context(const struct hl_ctx *ctx, const char *func)
{
    hl_fence_release(); /* orders my stores; pairs with an acquire load of the later one at another PE. */
    if (hl_lane_is_there()) {
        hl_lane_fence(ctx->lane, is_mapped);
        tell_errors(func);
    }
}

/* The context of a user's call on a whole context; a wrong one ends the program. */
static const struct hl_ctx *check_context(shmem_ctx_t ctx, const char *func)
{
    const struct hl_ctx *c = hl_ctx_must(ctx, func);
    if (HL_CHECKED && (c->options & SHMEM_CTX_PRIVATE) != 0 && c->thread != hl_ctx_me()) {
        hl_shmem_die(func, "the context is SHMEM_CTX_PRIVATE and belongs to another thread");
    }
    return c;
}

/* True: there is no network, SHMEM is open and the context is good. */
HL_INLINE bool is_near_only(shmem_ctx_t ctx)
{
    return !HL_CHECKED && hl_sym.n_pes != 0 && !hl_lane_is_there() && hl_ctx_of(ctx) != NULL;
}

/* Calls on SHMEM_CTX_INVALID do nothing. (OpenSHMEM 1.5, section 9.11.) */
static bool is_invalid(shmem_ctx_t ctx, const char *func)
{
    hl_shmem_need_open(func);
    return ctx == SHMEM_CTX_INVALID;
}

HL_HANG_SHMEM static HL_NOINLINE void quiet_slow(shmem_ctx_t ctx, const char *func)
{
    if (!is_invalid(ctx, func)) {
        hl_shmem_quiet(check_context(ctx, func), func);
    }
}

HL_INLINE void quiet_context(shmem_ctx_t ctx, const char *func)
{
    if (HL_LIKELY(is_near_only(ctx))) {
        hl_near_fence();
    } else {
        quiet_slow(ctx, func);
    }
}

HL_HANG_SHMEM static HL_NOINLINE void fence_slow(shmem_ctx_t ctx, const char *func)
{
    if (!is_invalid(ctx, func)) {
        fence_context(check_context(ctx, func), func);
    }
}

HL_INLINE void fence_ctx(shmem_ctx_t ctx, const char *func)
{
    if (HL_LIKELY(is_near_only(ctx))) {
        hl_fence_release(); /* orders my stores; pairs with an acquire load of the later one. */
    } else {
        fence_slow(ctx, func);
    }
}

HL_HANG_SHMEM static void pe_quiet(shmem_ctx_t ctx, const int *pes, size_t n, const char *func)
{
    if (is_invalid(ctx, func)) {
        return;
    }
    const struct hl_ctx *c = check_context(ctx, func);
    if (n > 0 && pes == NULL) {
        hl_shmem_die(func, "target_pes is NULL for %zu PEs", n);
    }
    for (size_t i = 0; i < n; i++) {
        int pe = hl_ctx_world(c, pes[i]);
        if (pe < 0) {
            hl_shmem_die(func, "target_pes[%zu] is %d: the context's team has PEs 0 to %d", i, pes[i],
                         c->size - 1);
        }
        hl_lane_flush_on(c->lane, pe, HL_REMOTE);
        hl_shmem_must(hl_shmem_take_error(pe), func, pe);
    }
    hl_near_fence();
}

/* ---- quiets with a request: numbers of the lanes say what was issued before the call ---- */

struct quiet_request {
    struct hl_handle h;
    struct hl_lane_goals *goals;
};

static void start_quiet(shmem_ctx_t ctx, shmemx_request_t *request, const char *func)
{
    struct hl_lane_goals *goals = NULL;
    hl_shmem_need_open(func);
    const struct hl_ctx *c = ctx == SHMEM_CTX_INVALID ? NULL : check_context(ctx, func);
    hl_shmem_need(request, func, "request");
    *request = SHMEMX_REQUEST_NULL;
    if (c == NULL) {
        return;
    }
    hl_near_fence();
    if (hl_lane_is_there()) {
        hl_shmem_must(hl_lane_goals_make(c->lane, -1, HL_REMOTE, &goals), func, -1);
    }
    if (goals == NULL) {
        tell_errors(func);
        return;
    }
    struct quiet_request *q = hl_handle_new(HL_KIND_QUIET);
    if (q == NULL) {
        hl_shmem_die(func, "no memory for a request");
    }
    q->goals = goals;
    *request = (shmemx_request_t)(void *)q;
    (void)hl_lane_goals_reached(goals); /* sends chains that are still open */
}

/* The quiet behind a user's request; NULL: it has ended already. */
static struct quiet_request *quiet_of(const shmemx_request_t *request, const char *func)
{
    hl_shmem_need_open(func);
    hl_shmem_need(request, func, "request");
    struct quiet_request *q = hl_handle_get(*request, HL_KIND_QUIET);
    if (q == NULL && *request != SHMEMX_REQUEST_NULL) {
        hl_shmem_die(func, "%p is no request, or one that has ended", (void *)*request);
    }
    return q;
}

static bool has_quiet_ended(void *quiet)
{
    return hl_lane_goals_reached(((struct quiet_request *)quiet)->goals);
}

static void describe_quiet(const void *quiet, struct hl_wait_desc *t)
{
    hl_lane_goals_describe(((const struct quiet_request *)quiet)->goals, t);
}
HL_HANG_WORDS(has_quiet_ended, describe_quiet);

static void free_quiet(struct quiet_request *q)
{
    hl_lane_goals_free(q->goals);
    hl_handle_free(q);
}

static void end_quiet(struct quiet_request *q, shmemx_request_t *request, const char *func)
{
    free_quiet(q);
    *request = SHMEMX_REQUEST_NULL;
    tell_errors(func);
}

static bool is_a_quiet(const void *object, const void *unused)
{
    (void)unused;
    return object != NULL;
}

void hl_quiets_close(void)
{
    struct quiet_request *q;
    while ((q = hl_handle_find(HL_KIND_QUIET, is_a_quiet, NULL)) != NULL) {
        free_quiet(q);
    }
}

/* ---- calls ---- */

HL_SHMEM_API(shmem_quiet);
void pshmem_quiet(void)
{
    quiet_context(SHMEM_CTX_DEFAULT, "shmem_quiet");
}

HL_SHMEM_CALL(shmem_ctx_quiet, void, (shmem_ctx_t ctx), quiet_context(ctx, "shmem_ctx_quiet"))
HL_SHMEM_CALL(shmem_pe_quiet, void, (const int *target_pes, size_t npes),
              pe_quiet(SHMEM_CTX_DEFAULT, target_pes, npes, "shmem_pe_quiet"))
HL_SHMEM_CALL(shmem_ctx_pe_quiet, void, (shmem_ctx_t ctx, const int *target_pes, size_t npes),
              pe_quiet(ctx, target_pes, npes, "shmem_ctx_pe_quiet"))
HL_SHMEM_CALL(shmem_fence, void, (void), fence_ctx(SHMEM_CTX_DEFAULT, "shmem_fence"))
HL_SHMEM_CALL(shmem_ctx_fence, void, (shmem_ctx_t ctx), fence_ctx(ctx, "shmem_ctx_fence"))

/* ---- extensions of Hotlane ---- */

HL_SHMEM_CALL(shmemx_quiet_nb, void, (shmemx_request_t * request),
              start_quiet(SHMEM_CTX_DEFAULT, request, "shmemx_quiet_nb"))
HL_SHMEM_CALL(shmemx_ctx_quiet_nb, void, (shmem_ctx_t ctx, shmemx_request_t *request),
              start_quiet(ctx, request, "shmemx_ctx_quiet_nb"))

HL_SHMEM_API(shmemx_quiet_test);
int pshmemx_quiet_test(shmemx_request_t *request)
{
    struct quiet_request *q = quiet_of(request, "shmemx_quiet_test");
    if (q != NULL && !has_quiet_ended(q)) {
        hl_prog_look();
        return 0;
    }
    if (q != NULL) {
        end_quiet(q, request, "shmemx_quiet_test");
    }
    return 1;
}

HL_SHMEM_API(shmemx_quiet_wait);
void pshmemx_quiet_wait(shmemx_request_t *request)
{
    struct quiet_request *q = quiet_of(request, "shmemx_quiet_wait");
    if (q != NULL) {
        hl_prog_wait(has_quiet_ended, q);
        end_quiet(q, request, "shmemx_quiet_wait");
    }
}

/* ---- Cray's calls for threads: here every thread may use the library at any time ---- */

HL_SHMEM_CALL(shmemx_thread_register, void, (void), hl_shmem_need_open("shmemx_thread_register"))
HL_SHMEM_CALL(shmemx_thread_unregister, void, (void), hl_shmem_need_open("shmemx_thread_unregister"))
HL_SHMEM_CALL(shmemx_thread_quiet, void, (void), quiet_context(SHMEM_CTX_DEFAULT, "shmemx_thread_quiet"))
HL_SHMEM_CALL(shmemx_thread_fence, void, (void), fence_ctx(SHMEM_CTX_DEFAULT, "shmemx_thread_fence"))

/* ---- calls of old programs for caches: nothing need be done ---- */

HL_SHMEM_CALL(shmem_clear_cache_inv, void, (void), hl_shmem_need_open("shmem_clear_cache_inv"))
HL_SHMEM_CALL(shmem_set_cache_inv, void, (void), hl_shmem_need_open("shmem_set_cache_inv"))
HL_SHMEM_CALL(shmem_clear_cache_line_inv, void, (void *object),
              hl_shmem_need_open("shmem_clear_cache_line_inv"))
HL_SHMEM_CALL(shmem_set_cache_line_inv, void, (void *object), hl_shmem_need_open("shmem_set_cache_line_inv"))
HL_SHMEM_CALL(shmem_udcflush, void, (void), hl_shmem_need_open("shmem_udcflush"))
HL_SHMEM_CALL(shmem_udcflush_line, void, (void *object), hl_shmem_need_open("shmem_udcflush_line"))
