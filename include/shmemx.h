/* shmemx.h: extensions of OpenSHMEM that programs for Cray SHMEM use (memory by partition, calls for threads) and for
 * Sandia's (functions of OpenSHMEM 1.6 under the names that they had before, the team of a node). */
#ifndef HOTLANE_SHMEMX_H
#define HOTLANE_SHMEMX_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHMEMX_MAX_PARTITIONS SHMEM_MAX_PARTITIONS
#define SHMEMX_MAX_PARTITION_ID SHMEM_MAX_PARTITION_ID

/* ---- Memory of one partition of the symmetric heap (SMA_SYMMETRIC_PARTITION<id>) ----
 * As shmem_malloc and shmem_align, from the partition with that id; 1 is the heap of shmem_malloc. NULL, with
 * a line, for an id that was not configured. shmem_free and shmem_realloc find the partition by the address.
 * One function, three names. */
void *shmem_kind_malloc(size_t size, int partition_id);
void *shmem_kind_align(size_t alignment, size_t size, int partition_id);
void *shmemx_kind_malloc(size_t size, int partition_id);
void *shmemx_kind_align(size_t alignment, size_t size, int partition_id);
void *shmem_partition_malloc(size_t size, int partition_id);
void *shmem_partition_align(size_t alignment, size_t size, int partition_id);

/* ---- Threads ---- */

/* Accepted and not needed: every thread may use the library at SHMEM_THREAD_MULTIPLE. */
void shmemx_thread_register(void);
void shmemx_thread_unregister(void);

/* As shmem_quiet and shmem_fence on the default context: what the calling thread issued is completed, or
 * ordered. */
void shmemx_thread_quiet(void);
void shmemx_thread_fence(void);

/* ---- A quiet that nobody waits in ----
 * shmemx_quiet_nb and shmemx_ctx_quiet_nb start a quiet of the default context, or of `ctx`: of what was issued on
 * it before the call, and of nothing that is issued later. They return at once; *request stands for the quiet.
 * shmemx_quiet_test returns 1 when all of that is completed, as after shmem_quiet, and 0 before; shmemx_quiet_wait
 * returns then. Both set *request to SHMEMX_REQUEST_NULL at the end, and take that for a quiet that has ended.
 * Any thread may test or wait, one at a time for each request. What is not a request ends the program with a
 * message. A program tests or waits until the end: until then what was issued may stay on its way. */
typedef struct shmemx_request *shmemx_request_t;
#define SHMEMX_REQUEST_NULL ((shmemx_request_t)0)
void shmemx_quiet_nb(shmemx_request_t *request);
void shmemx_ctx_quiet_nb(shmem_ctx_t ctx, shmemx_request_t *request);
int shmemx_quiet_test(shmemx_request_t *request);
void shmemx_quiet_wait(shmemx_request_t *request);

/* ---- The PEs of this PE's node: those with whom memory is shared ---- */
#define SHMEMX_TEAM_NODE SHMEM_TEAM_SHARED

/* ---- Functions of OpenSHMEM 1.6 under Sandia's names ----
 * shmemx_NAME is shmem_NAME, and pshmemx_NAME is pshmem_NAME: another name for the same symbol. In C11 the generic
 * forms shmemx_ibput, shmemx_ibget, shmemx_sum_inscan, shmemx_sum_exscan are there as well. */
#define SHMEMX_SAME_(name)                                                                                   \
    extern __typeof__(shmem_##name) shmemx_##name __asm__("shmem_" #name);                                   \
    extern __typeof__(shmem_##name) pshmemx_##name __asm__("pshmem_" #name)
#define SHMEMX_SAME_RMA_(pre, op)                                                                            \
    SHMEMX_SAME_(pre##float##op); SHMEMX_SAME_(pre##double##op); SHMEMX_SAME_(pre##longdouble##op);          \
    SHMEMX_SAME_(pre##char##op); SHMEMX_SAME_(pre##schar##op); SHMEMX_SAME_(pre##short##op);                 \
    SHMEMX_SAME_(pre##int##op); SHMEMX_SAME_(pre##long##op); SHMEMX_SAME_(pre##longlong##op);                \
    SHMEMX_SAME_(pre##uchar##op); SHMEMX_SAME_(pre##ushort##op); SHMEMX_SAME_(pre##uint##op);                \
    SHMEMX_SAME_(pre##ulong##op); SHMEMX_SAME_(pre##ulonglong##op); SHMEMX_SAME_(pre##int8##op);             \
    SHMEMX_SAME_(pre##int16##op); SHMEMX_SAME_(pre##int32##op); SHMEMX_SAME_(pre##int64##op);                \
    SHMEMX_SAME_(pre##uint8##op); SHMEMX_SAME_(pre##uint16##op); SHMEMX_SAME_(pre##uint32##op);              \
    SHMEMX_SAME_(pre##uint64##op); SHMEMX_SAME_(pre##size##op); SHMEMX_SAME_(pre##ptrdiff##op)
#define SHMEMX_SAME_SIZES_(name)                                                                             \
    SHMEMX_SAME_(name##8); SHMEMX_SAME_(name##16); SHMEMX_SAME_(name##32); SHMEMX_SAME_(name##64);           \
    SHMEMX_SAME_(name##128)
SHMEMX_SAME_RMA_(, _ibput); SHMEMX_SAME_RMA_(ctx_, _ibput); SHMEMX_SAME_SIZES_(ibput); SHMEMX_SAME_SIZES_(ctx_ibput);
SHMEMX_SAME_RMA_(, _ibget); SHMEMX_SAME_RMA_(ctx_, _ibget); SHMEMX_SAME_SIZES_(ibget); SHMEMX_SAME_SIZES_(ctx_ibget);
SHMEMX_SAME_RMA_(, _sum_inscan); SHMEMX_SAME_(complexd_sum_inscan); SHMEMX_SAME_(complexf_sum_inscan);
SHMEMX_SAME_RMA_(, _sum_exscan); SHMEMX_SAME_(complexd_sum_exscan); SHMEMX_SAME_(complexf_sum_exscan);
SHMEMX_SAME_(signal_add); SHMEMX_SAME_(ctx_signal_add); SHMEMX_SAME_(signal_set); SHMEMX_SAME_(ctx_signal_set);
#undef SHMEMX_SAME_
#undef SHMEMX_SAME_RMA_
#undef SHMEMX_SAME_SIZES_
#ifdef shmem_ibput /* the generic forms of shmem/generic.h */
#define shmemx_ibput shmem_ibput
#define shmemx_ibget shmem_ibget
#define shmemx_sum_inscan shmem_sum_inscan
#define shmemx_sum_exscan shmem_sum_exscan
#define shmemx_signal_add shmem_signal_add
#define shmemx_signal_set shmem_signal_set
#endif

/* ---- The names for profilers ---- */
extern __typeof__(shmem_kind_malloc) pshmem_kind_malloc, pshmemx_kind_malloc, pshmem_partition_malloc;
extern __typeof__(shmem_kind_align) pshmem_kind_align, pshmemx_kind_align, pshmem_partition_align;
extern __typeof__(shmemx_thread_register) pshmemx_thread_register, pshmemx_thread_unregister;
extern __typeof__(shmemx_thread_quiet) pshmemx_thread_quiet, pshmemx_thread_fence;
extern __typeof__(shmemx_quiet_nb) pshmemx_quiet_nb;
extern __typeof__(shmemx_ctx_quiet_nb) pshmemx_ctx_quiet_nb;
extern __typeof__(shmemx_quiet_test) pshmemx_quiet_test;
extern __typeof__(shmemx_quiet_wait) pshmemx_quiet_wait;

#ifdef __cplusplus
}
#endif

#endif
