/* Communication contexts. (OpenSHMEM 1.5, section 9.5; sessions: 1.6.) */
#include "ctx.h"

#include "entry.h"
#include "lane.h"
#include "shm.h"
#include "sym.h"
#include "team.h"
#include "xfer.h"

#define OPTIONS (SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE)
#define SESSION_OPTIONS (SHMEM_CTX_SESSION_BATCH | SHMEM_CTX_SESSION_SAME_AMO)

struct hl_ctx hl_ctx_default;

const void *hl_ctx_me(void)
{
    static HL_THREAD_LOCAL char me;
    return &me;
}

const struct hl_ctx *hl_ctx_must(shmem_ctx_t handle, const char *func)
{
    const struct hl_ctx *c = hl_ctx_of(handle);
    if (HL_UNLIKELY(c == NULL || hl_sym.n_pes == 0)) {
        hl_shmem_need_open(func);
        if (handle == SHMEM_CTX_INVALID) {
            hl_shmem_die(func, "the context is SHMEM_CTX_INVALID");
        }
        hl_shmem_die(func, "%p is no context, or one that was destroyed", (void *)handle);
    }
    return c;
}

/* Makes a context, or NULL without memory. One that a single thread at a time uses gets a lane of its own, as
 * long as there are free ones. */
static struct hl_ctx *make_ctx(const struct hl_team *t, long options, const char *func)
{
    if ((options & ~OPTIONS) != 0) {
        hl_shmem_die(func, "options %#lx: they can be SHMEM_CTX_SERIALIZED, _PRIVATE and _NOSTORE, or 0",
                     options);
    }
    struct hl_ctx *c = hl_handle_new(HL_KIND_CTX);
    if (c != NULL) {
        c->team = (struct hl_team *)(uintptr_t)t;
        c->start = t->start;
        c->stride = t->stride;
        c->size = t->size;
        c->options = options;
        c->thread = hl_ctx_me();
        c->lane = (options & (SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE)) != 0 ? hl_lane_own() : NULL;
    }
    return c;
}

static void end_ctx(struct hl_ctx *c, const char *func)
{
    hl_shmem_quiet(c, func);
    if (c->lane != NULL) {
        hl_lane_disown(c->lane);
    }
    hl_handle_free(c);
}

static int create_ctx(const struct hl_team *t, long options, shmem_ctx_t *ctx, const char *func)
{
    hl_shmem_need(ctx, func, "ctx");
    struct hl_ctx *c = t != NULL ? make_ctx(t, options, func) : NULL;
    *ctx = c != NULL ? (shmem_ctx_t)c : SHMEM_CTX_INVALID;
    return c != NULL ? 0 : -1;
}

/* ---- contexts that the program has left ---- */

static bool is_ctx_of(const void *object, const void *team)
{
    const struct hl_ctx *c = object;
    return team == NULL || (c->team == team && (c->options & SHMEM_CTX_PRIVATE) == 0);
}

void hl_ctx_end_team(const struct hl_team *team, const char *func)
{
    struct hl_ctx *c;
    while ((c = hl_handle_find(HL_KIND_CTX, is_ctx_of, team)) != NULL) {
        end_ctx(c, func);
    }
}

void hl_ctx_open(void)
{
    hl_ctx_default = (struct hl_ctx){.team = &hl_team_world, .start = 0, .stride = 1, .size = hl_sym.n_pes};
}

void hl_ctx_close(void)
{
    hl_ctx_default = (struct hl_ctx){.size = 0};
}

/* ---- calls ---- */

HL_SHMEM_API(shmem_ctx_create);
int pshmem_ctx_create(long options, shmem_ctx_t *ctx)
{
    hl_shmem_need_open("shmem_ctx_create");
    return create_ctx(&hl_team_world, options, ctx, "shmem_ctx_create");
}

HL_SHMEM_API(shmem_team_create_ctx);
int pshmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx)
{
    hl_shmem_need_open("shmem_team_create_ctx");
    const struct hl_team *t = hl_team_of(team);
    if (t == NULL && team != SHMEM_TEAM_INVALID) {
        hl_shmem_die("shmem_team_create_ctx", "%p is no team, or one that was destroyed", (void *)team);
    }
    return create_ctx(t, options, ctx, "shmem_team_create_ctx");
}

HL_SHMEM_API(shmem_ctx_destroy);
void pshmem_ctx_destroy(shmem_ctx_t ctx)
{
    if (ctx == SHMEM_CTX_INVALID) {
        hl_shmem_need_open("shmem_ctx_destroy");
        return;
    }
    const struct hl_ctx *c = hl_ctx_must(ctx, "shmem_ctx_destroy");
    if (c == &hl_ctx_default) {
        hl_shmem_die("shmem_ctx_destroy", "SHMEM_CTX_DEFAULT cannot be destroyed");
    }
    end_ctx((struct hl_ctx *)(uintptr_t)c, "shmem_ctx_destroy");
}

HL_SHMEM_API(shmem_ctx_get_team);
int pshmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)
{
    hl_shmem_need_open("shmem_ctx_get_team");
    hl_shmem_need(team, "shmem_ctx_get_team", "team");
    if (ctx == SHMEM_CTX_INVALID) {
        *team = SHMEM_TEAM_INVALID;
        return -1;
    }
    const struct hl_team *t = hl_ctx_must(ctx, "shmem_ctx_get_team")->team;
    *team = t == &hl_team_world    ? SHMEM_TEAM_WORLD
            : t == &hl_team_shared ? SHMEM_TEAM_SHARED
                                   : (shmem_team_t)(uintptr_t)t;
    return 0;
}

/* Checks the context of a session; false for SHMEM_CTX_INVALID, with which nothing is done. */
static bool has_session_context(shmem_ctx_t ctx, const char *func)
{
    hl_shmem_need_open(func);
    return ctx != SHMEM_CTX_INVALID && hl_ctx_must(ctx, func) != NULL;
}

HL_SHMEM_API(shmem_ctx_session_start);
void pshmem_ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config,
                              long config_mask)
{
    if (!has_session_context(ctx, "shmem_ctx_session_start")) {
        return;
    }
    if ((options & ~SESSION_OPTIONS) != 0) {
        hl_shmem_die("shmem_ctx_session_start",
                     "options %#lx: they can be SHMEM_CTX_SESSION_BATCH and _SAME_AMO, or 0", options);
    }
    if (config_mask != 0 && config == NULL) {
        hl_shmem_die("shmem_ctx_session_start", "config is NULL, and config_mask, %#lx, says that it is read",
                     config_mask);
    }
}

HL_SHMEM_API(shmem_ctx_session_stop);
void pshmem_ctx_session_stop(shmem_ctx_t ctx)
{
    (void)has_session_context(ctx, "shmem_ctx_session_stop");
}
