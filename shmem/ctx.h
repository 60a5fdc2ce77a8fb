/* Communication contexts (OpenSHMEM 1.5, section 9.5): operations that are ordered and completed together. */
#ifndef HL_CTX_H
#define HL_CTX_H

#include <shmem.h>
#include <stdbool.h>
#include <stddef.h>

#include "attr.h"
#include "handle.h"

struct hl_lane;
struct hl_team;

/* Read-only once made: operations look only at the team's numbers and the lane. */
struct hl_ctx {
    struct hl_handle h;
    struct hl_team *team;    /* whose PE numbers its operations use */
    int start, stride, size; /* PE i of that team is world PE start + i * stride */
    long options;            /* SHMEM_CTX_* */
    struct hl_lane *lane;    /* its own, named by all its operations; NULL: they lease one each */
    const void *thread;      /* who made it (hl_ctx_me) */
};

extern struct hl_ctx hl_ctx_default;

/* The context behind a handle; NULL for SHMEM_CTX_INVALID, destroyed ones and garbage. */
HL_INLINE struct hl_ctx *hl_ctx_of(shmem_ctx_t handle)
{
    return HL_LIKELY(handle == SHMEM_CTX_DEFAULT) ? &hl_ctx_default : hl_handle_get(handle, HL_KIND_CTX);
}

/* World PE of PE `pe` of its team, or -1 when there is none. */
HL_INLINE int hl_ctx_world(const struct hl_ctx *c, int pe)
{
    return HL_LIKELY((uint32_t)pe < (uint32_t)c->size) ? c->start + pe * c->stride : -1;
}

/* The same in a call of the user: all that is no context, and calls before shmem_init, end the program. */
const struct hl_ctx *hl_ctx_must(shmem_ctx_t handle, const char *func);

/* Ends the contexts of a team that may be shared, as its destruction does (NULL: all contexts of all teams),
 * with their operations completed. Nobody uses them any more. */
void hl_ctx_end_team(const struct hl_team *team, const char *func);

/* The calling thread, as hl_ctx.thread names it. */
const void *hl_ctx_me(void);

/* Part of start and end (init.c). */
int hl_ctx_open(void);
void hl_ctx_close(void);

#endif
