/* Collective operations of teams. (OpenSHMEM 1.6, section 9.9.) */
#include "collective.h"

#include "entry.h"
#include "shm.h"
#include "types.h"
#include "xfer.h"

/* ---- meeting ---- */

static void sync_world(enum hl_call_kind kind, const char *func)
{
    struct hl_call c = {func, hl_call_what(kind, 0, 0), &hl_team_world, NULL};
    hl_tree_meet(&c, NULL);
}

void hl_shmem_barrier(const char *func)
{
    hl_shmem_quiet(&hl_ctx_default, func);
    sync_world(HL_CALL_SYNC, func);
}

void hl_shmem_last_barrier(const char *func)
{
    hl_shmem_quiet(&hl_ctx_default, func);
    sync_world(HL_CALL_FINALIZE, func);
}

HL_SHMEM_API(shmem_barrier_all)
void pshmem_barrier_all(void)
{
    hl_shmem_need_open("shmem_barrier_all");
    hl_shmem_barrier("shmem_barrier_all");
}

HL_SHMEM_API(shmem_sync_all)
void pshmem_sync_all(void)
{
    hl_shmem_need_open("shmem_sync_all");
    sync_world(HL_CALL_SYNC, "shmem_sync_all");
}

HL_SHMEM_API(shmem_team_sync)
int pshmem_team_sync(shmem_team_t team)
{
    struct hl_team *t = hl_team_must(team, "shmem_team_sync");
    if (t == NULL) {
        return -1;
    }
    struct hl_call c = {"shmem_team_sync", hl_call_what(HL_CALL_SYNC, 0, 0), t, NULL};
    hl_tree_meet(&c, NULL);
    return 0;
}

/* ---- moving: `bytes` are those of one PE's block; returns what the user's call returns ---- */

static int broadcast(shmem_team_t team, struct hl_cast b, const char *func)
{
    struct hl_team *t = hl_team_must(team, func);
    if (t == NULL) {
        return -1;
    }
    if (b.root < 0 || b.root >= t->size) {
        hl_shmem_die(func, "root %d does not exist in the team: it has PEs 0 to %d", b.root, t->size - 1);
    }
    struct hl_call c = {func, hl_call_what(HL_CALL_BROADCAST, (unsigned)b.root, b.bytes), t, NULL};
    hl_collective_check(&c, &(struct hl_pair){b.dest, b.bytes, b.source, b.bytes});
    b.root_too = true;
    hl_broadcast(&c, &b);
    return 0;
}

static int collect(shmem_team_t team, void *dest, const void *source, size_t bytes, const char *func)
{
    struct hl_team *t = hl_team_must(team, func);
    if (t == NULL) {
        return -1;
    }
    struct hl_call c = {func, hl_call_what(HL_CALL_COLLECT, 0, 0), t, NULL};
    hl_collective_check(&c, &(struct hl_pair){dest, bytes, source, bytes});
    hl_collect(&c, dest, source, bytes, false);
    return 0;
}

static int fcollect(shmem_team_t team, void *dest, const void *source, size_t bytes, const char *func)
{
    struct hl_team *t = hl_team_must(team, func);
    if (t == NULL) {
        return -1;
    }
    struct hl_call c = {func, hl_call_what(HL_CALL_FCOLLECT, 0, bytes), t, NULL};
    size_t all = hl_shmem_bytes(bytes, (size_t)t->size);
    hl_collective_check(&c, &(struct hl_pair){dest, all, source, bytes});
    hl_collect(&c, dest, source, bytes, true);
    return 0;
}

static int alltoall(shmem_team_t team, struct hl_exchange e, enum hl_call_kind kind, const char *func)
{
    struct hl_team *t = hl_team_must(team, func);
    if (t == NULL) {
        return -1;
    }
    struct hl_call c = {func, hl_call_what(kind, (unsigned)(e.dst * 31 + e.sst), e.n * e.size), t, NULL};
    hl_alltoall_check(&c, &e);
    hl_alltoall(&c, &e);
    return 0;
}

#define MOVES(T, NAME)                                                                                       \
    HL_SHMEM_API(shmem_##NAME##_broadcast)                                                                   \
    int pshmem_##NAME##_broadcast(shmem_team_t team, T *dest, const T *source, size_t nelems, int PE_root)   \
    {                                                                                                        \
        size_t bytes = hl_shmem_bytes(nelems, sizeof(T));                                                    \
        return broadcast(team, (struct hl_cast){dest, source, bytes, PE_root, true},                         \
                         "shmem_" #NAME "_broadcast");                                                       \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_collect)                                                                     \
    int pshmem_##NAME##_collect(shmem_team_t team, T *dest, const T *source, size_t nelems)                  \
    {                                                                                                        \
        return collect(team, dest, source, hl_shmem_bytes(nelems, sizeof(T)), "shmem_" #NAME "_collect");    \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_fcollect)                                                                    \
    int pshmem_##NAME##_fcollect(shmem_team_t team, T *dest, const T *source, size_t nelems)                 \
    {                                                                                                        \
        return fcollect(team, dest, source, hl_shmem_bytes(nelems, sizeof(T)), "shmem_" #NAME "_fcollect");  \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_alltoall)                                                                    \
    int pshmem_##NAME##_alltoall(shmem_team_t team, T *dest, const T *source, size_t nelems)                 \
    {                                                                                                        \
        return alltoall(team, (struct hl_exchange){dest, source, 1, 1, nelems, sizeof(T)}, HL_CALL_ALLTOALL, \
                        "shmem_" #NAME "_alltoall");                                                         \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_alltoalls)                                                                   \
    int pshmem_##NAME##_alltoalls(shmem_team_t team, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, \
                                  size_t nelems)                                                             \
    {                                                                                                        \
        return alltoall(team, (struct hl_exchange){dest, source, dst, sst, nelems, sizeof(T)},               \
                        HL_CALL_ALLTOALLS, "shmem_" #NAME "_alltoalls");                                     \
    }
HL_SHMEM_RMA_TYPES(MOVES)

HL_SHMEM_API(shmem_broadcastmem)
int pshmem_broadcastmem(shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root)
{
    return broadcast(team, (struct hl_cast){dest, source, nelems, PE_root, true}, "shmem_broadcastmem");
}

HL_SHMEM_API(shmem_collectmem)
int pshmem_collectmem(shmem_team_t team, void *dest, const void *source, size_t nelems)
{
    return collect(team, dest, source, nelems, "shmem_collectmem");
}

HL_SHMEM_API(shmem_fcollectmem)
int pshmem_fcollectmem(shmem_team_t team, void *dest, const void *source, size_t nelems)
{
    return fcollect(team, dest, source, nelems, "shmem_fcollectmem");
}

HL_SHMEM_API(shmem_alltoallmem)
int pshmem_alltoallmem(shmem_team_t team, void *dest, const void *source, size_t nelems)
{
    return alltoall(team, (struct hl_exchange){dest, source, 1, 1, nelems, 1}, HL_CALL_ALLTOALL,
                    "shmem_alltoallmem");
}

HL_SHMEM_API(shmem_alltoallsmem)
int pshmem_alltoallsmem(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
                        size_t nelems)
{
    return alltoall(team, (struct hl_exchange){dest, source, dst, sst, nelems, 1}, HL_CALL_ALLTOALLS,
                    "shmem_alltoallsmem");
}
