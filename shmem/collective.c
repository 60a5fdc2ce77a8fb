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

HL_SHMEM_API(shmem_barrier_all);
void pshmem_barrier_all(void)
{
    hl_shmem_need_open("shmem_barrier_all");
    hl_shmem_barrier("shmem_barrier_all");
}

HL_SHMEM_API(shmem_sync_all);
void pshmem_sync_all(void)
{
    hl_shmem_need_open("shmem_sync_all");
    sync_world(HL_CALL_SYNC, "shmem_sync_all");
}

HL_SHMEM_API(shmem_team_sync);
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

/* ---- moving data: `bytes` are those of one PE's block; all return what the user's call returns ---- */

static int team_broadcast(shmem_team_t team, struct hl_cast b, const char *func)
{
    struct hl_team *t = hl_team_must(team, func);
    if (t == NULL) {
        return -1;
    }
    if (b.root < 0 || b.root >= t->size) {
        hl_shmem_die(func, "root %d does not exist in the team: it has PEs 0 to %d", b.root, t->size - 1);
    }
    struct hl_call c = {func, hl_call_what(HL_CALL_BROADCAST, (unsigned)b.root, b.bytes), t, NULL};
    hl_collective_check(&c, &(struct hl_call_objects){b.dest, b.bytes, b.source, b.bytes});
    b.root_too = true;
    hl_broadcast(&c, &b);
    return 0;
}

static int collect_team(shmem_team_t team, void *dest, const void *source, size_t bytes, const char *func)
{
    struct hl_team *t = hl_team_must(team, func);
    if (t == NULL) {
        return -1;
    }
    struct hl_call c = {func, hl_call_what(HL_CALL_COLLECT, 0, 0), t, NULL};
    hl_collective_check(&c, &(struct hl_call_objects){dest, bytes, source, bytes});
    hl_collect(&c, dest, source, bytes, false);
    return 0;
}

static int collect_equal(shmem_team_t team, void *dest, const void *source, size_t bytes, const char *func)
{
    struct hl_team *t = hl_team_must(team, func);
    if (t == NULL) {
        return -1;
    }
    struct hl_call c = {func, hl_call_what(HL_CALL_FCOLLECT, 0, bytes), t, NULL};
    size_t all = hl_shmem_bytes(bytes, (size_t)t->size);
    hl_collective_check(&c, &(struct hl_call_objects){dest, all, source, bytes});
    hl_collect(&c, dest, source, bytes, true);
    return 0;
}

static int team_alltoall(shmem_team_t team, struct hl_strided e, enum hl_call_kind kind, const char *func)
{
    struct hl_team *t = hl_team_must(team, func);
    if (t == NULL) {
        return -1;
    }
    struct hl_call c = {
        func, hl_call_what(kind, (unsigned)((size_t)e.dst * 31 + (size_t)e.sst), e.n * e.size), t, NULL};
    hl_alltoall_check(&c, &e);
    hl_alltoall(&c, &e);
    return 0;
}

#define MOVES(T, NAME)                                                                                       \
    HL_SHMEM_API(shmem_##NAME##_broadcast);                                                                  \
    int pshmem_##NAME##_broadcast(shmem_team_t team, T *dest, const T *source, size_t nelems, int PE_root)   \
    {                                                                                                        \
        size_t bytes = hl_shmem_bytes(nelems, sizeof(T));                                                    \
        return team_broadcast(team, (struct hl_cast){dest, source, bytes, PE_root, true},                    \
                              "shmem_" #NAME "_broadcast");                                                  \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_collect);                                                                    \
    int pshmem_##NAME##_collect(shmem_team_t team, T *dest, const T *source, size_t nelems)                  \
    {                                                                                                        \
        return collect_team(team, dest, source, hl_shmem_bytes(nelems, sizeof(T)),                           \
                            "shmem_" #NAME "_collect");                                                      \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_fcollect);                                                                   \
    int pshmem_##NAME##_fcollect(shmem_team_t team, T *dest, const T *source, size_t nelems)                 \
    {                                                                                                        \
        return collect_equal(team, dest, source, hl_shmem_bytes(nelems, sizeof(T)),                          \
                             "shmem_" #NAME "_fcollect");                                                    \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_alltoall);                                                                   \
    int pshmem_##NAME##_alltoall(shmem_team_t team, T *dest, const T *source, size_t nelems)                 \
    {                                                                                                        \
        return team_alltoall(team, (struct hl_strided){dest, source, 1, 1, nelems, sizeof(T)},               \
                             HL_CALL_ALLTOALL, "shmem_" #NAME "_alltoall");                                  \
    }                                                                                                        \
    HL_SHMEM_API(shmem_##NAME##_alltoalls);                                                                  \
    int pshmem_##NAME##_alltoalls(shmem_team_t team, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, \
                                  size_t nelems)                                                             \
    {                                                                                                        \
        return team_alltoall(team, (struct hl_strided){dest, source, dst, sst, nelems, sizeof(T)},           \
                             HL_CALL_ALLTOALLS, "shmem_" #NAME "_alltoalls");                                \
    }
/* Defines: shmem_float_broadcast shmem_float_collect shmem_float_fcollect shmem_float_alltoall
 * shmem_float_alltoalls shmem_double_broadcast shmem_double_collect shmem_double_fcollect
 * shmem_double_alltoall shmem_double_alltoalls shmem_longdouble_broadcast shmem_longdouble_collect
 * shmem_longdouble_fcollect shmem_longdouble_alltoall shmem_longdouble_alltoalls shmem_char_broadcast
 * shmem_char_collect shmem_char_fcollect shmem_char_alltoall shmem_char_alltoalls shmem_schar_broadcast
 * shmem_schar_collect shmem_schar_fcollect shmem_schar_alltoall shmem_schar_alltoalls shmem_short_broadcast
 * shmem_short_collect shmem_short_fcollect shmem_short_alltoall shmem_short_alltoalls shmem_int_broadcast
 * shmem_int_collect shmem_int_fcollect shmem_int_alltoall shmem_int_alltoalls shmem_long_broadcast
 * shmem_long_collect shmem_long_fcollect shmem_long_alltoall shmem_long_alltoalls shmem_longlong_broadcast
 * shmem_longlong_collect shmem_longlong_fcollect shmem_longlong_alltoall shmem_longlong_alltoalls
 * shmem_ptrdiff_broadcast shmem_ptrdiff_collect shmem_ptrdiff_fcollect shmem_ptrdiff_alltoall
 * shmem_ptrdiff_alltoalls shmem_uchar_broadcast shmem_uchar_collect shmem_uchar_fcollect shmem_uchar_alltoall
 * shmem_uchar_alltoalls shmem_ushort_broadcast shmem_ushort_collect shmem_ushort_fcollect
 * shmem_ushort_alltoall shmem_ushort_alltoalls shmem_uint_broadcast shmem_uint_collect shmem_uint_fcollect
 * shmem_uint_alltoall shmem_uint_alltoalls shmem_ulong_broadcast shmem_ulong_collect shmem_ulong_fcollect
 * shmem_ulong_alltoall shmem_ulong_alltoalls shmem_ulonglong_broadcast shmem_ulonglong_collect
 * shmem_ulonglong_fcollect shmem_ulonglong_alltoall shmem_ulonglong_alltoalls shmem_int8_broadcast
 * shmem_int8_collect shmem_int8_fcollect shmem_int8_alltoall shmem_int8_alltoalls shmem_int16_broadcast
 * shmem_int16_collect shmem_int16_fcollect shmem_int16_alltoall shmem_int16_alltoalls shmem_int32_broadcast
 * shmem_int32_collect shmem_int32_fcollect shmem_int32_alltoall shmem_int32_alltoalls shmem_int64_broadcast
 * shmem_int64_collect shmem_int64_fcollect shmem_int64_alltoall shmem_int64_alltoalls shmem_uint8_broadcast
 * shmem_uint8_collect shmem_uint8_fcollect shmem_uint8_alltoall shmem_uint8_alltoalls shmem_uint16_broadcast
 * shmem_uint16_collect shmem_uint16_fcollect shmem_uint16_alltoall shmem_uint16_alltoalls
 * shmem_uint32_broadcast shmem_uint32_collect shmem_uint32_fcollect shmem_uint32_alltoall
 * shmem_uint32_alltoalls shmem_uint64_broadcast shmem_uint64_collect shmem_uint64_fcollect
 * shmem_uint64_alltoall shmem_uint64_alltoalls shmem_size_broadcast shmem_size_collect shmem_size_fcollect
 * shmem_size_alltoall shmem_size_alltoalls */
HL_SHMEM_RMA_TYPES(MOVES)

HL_SHMEM_CALL(shmem_broadcastmem, int,
              (shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root),
              return team_broadcast(team, (struct hl_cast){dest, source, nelems, PE_root, true},
                                    "shmem_broadcastmem"))
HL_SHMEM_CALL(shmem_collectmem, int, (shmem_team_t team, void *dest, const void *source, size_t nelems),
              return collect_team(team, dest, source, nelems, "shmem_collectmem"))
HL_SHMEM_CALL(shmem_fcollectmem, int, (shmem_team_t team, void *dest, const void *source, size_t nelems),
              return collect_equal(team, dest, source, nelems, "shmem_fcollectmem"))
HL_SHMEM_CALL(shmem_alltoallmem, int, (shmem_team_t team, void *dest, const void *source, size_t nelems),
              return team_alltoall(team, (struct hl_strided){dest, source, 1, 1, nelems, 1}, HL_CALL_ALLTOALL,
                                   "shmem_alltoallmem"))
HL_SHMEM_CALL(shmem_alltoallsmem, int,
              (shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
               size_t nelems),
              return team_alltoall(team, (struct hl_strided){dest, source, dst, sst, nelems, 1},
                                   HL_CALL_ALLTOALLS, "shmem_alltoallsmem"))
