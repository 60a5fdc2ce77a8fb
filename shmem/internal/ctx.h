/* Communication contexts (OpenSHMEM 1.5, section 9.5): groups of operations that are ordered and completed
 * together. */
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
    struct hl_team *team;    /* its operations use the PE numbers of this team */
    int start, stride, size; /* PE i of that team is world PE start + i * stride */
    long options;            /* SHMEM_CTX_* */
    struct hl_lane *lane;    /* its own lane, which all its operations use; NULL: each operation leases one */
    const void *thread;      /* the thread that made it (hl_ctx_me) */
};

extern struct hl_ctx hl_ctx_default;

/* The context behind a handle; NULL for SHMEM_CTX_INVALID, destroyed contexts and garbage. */
HL_INLINE struct hl_ctx *hl_ctx_of(shmem_ctx_t handle)
{
    return HL_LIKELY(handle == SHMEM_CTX_DEFAULT) ? &hl_ctx_default : hl_handle_get(handle, HL_KIND_CTX);
}

/* World PE number of PE `pe` of the context's team, or -1 when there is no such PE. */
HL_INLINE int hl_ctx_world(const struct hl_ctx *c, int pe)
{
    return HL_LIKELY((uint32_t)pe < (uint32_t)c->size) ? c->start + pe * c->stride : -1;
}

/* The context of a user's call. A handle of no context, or a call before shmem_init, ends the program. */
const struct hl_ctx *hl_ctx_must(shmem_ctx_t handle, const char *func);

/* Completes the operations of a team's contexts that are not SHMEM_CTX_PRIVATE and frees them (team NULL: all
 * contexts of all teams). No thread may use them any more. */
void hl_ctx_end_team(const struct hl_team *team, const char *func);

/* An address that identifies the calling thread, as in hl_ctx.thread. */
const void *hl_ctx_me(void);

/* Called at start and end (init.c). */
void hl_ctx_open(void);
void hl_ctx_close(void);

#endif
