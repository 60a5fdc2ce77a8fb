/* Teams: PEs that do collective operations together (OpenSHMEM 1.5, section 9.4). Splits of arithmetic
 * progressions by start, stride and size are progressions again, so that every team is three numbers. */
#ifndef HL_TEAM_H
#define HL_TEAM_H

#include <shmem.h>
#include <stddef.h>
#include <stdint.h>

#include "attr.h"
#include "handle.h"

/* Read-only once made, except the last two fields, which belong to the one thread that is in a collective
 * call. */
struct hl_team {
    struct hl_handle h;
    int start, stride, size; /* member i is world PE start + i * stride */
    int rank;                /* my number in the team */
    int num_contexts;        /* what the program gave */

    uint64_t boxes;  /* offset of my boxes (tree.h) in the heap */
    uint64_t *where; /* [size]: `boxes` of each member; NULL: the same at all */
    uint64_t number; /* of the last operation that went through boxes */
    int casts;       /* broadcasts through boxes since all members last met */
};

extern struct hl_team hl_team_world, hl_team_shared;

/* The team behind a handle; NULL for SHMEM_TEAM_INVALID, destroyed teams and garbage. */
HL_INLINE struct hl_team *hl_team_of(shmem_team_t handle)
{
    return handle == SHMEM_TEAM_WORLD    ? &hl_team_world
           : handle == SHMEM_TEAM_SHARED ? &hl_team_shared
                                         : hl_handle_get(handle, HL_KIND_TEAM);
}

/* The team of a user's call: NULL for SHMEM_TEAM_INVALID only. Other handles of no team, and calls before
 * shmem_init, end the program. */
struct hl_team *hl_team_must(shmem_team_t handle, const char *func);

/* World PE number of member `rank`. */
HL_INLINE int hl_team_world_pe(const struct hl_team *t, int rank)
{
    return t->start + rank * t->stride;
}

/* Called at start and end (init.c); hl_team_open after the heap is open. Collective; an error, HL_ERR_NO_MEM,
 * is the same on all PEs. */
int hl_team_open(void);
void hl_team_close(void);

#endif
