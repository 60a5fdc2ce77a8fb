/* shmemx.h: extensions of OpenSHMEM that programs for Cray SHMEM use: memory by partition, calls for threads.
 */
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

/* ---- The names for profilers ---- */
extern __typeof__(shmem_kind_malloc) pshmem_kind_malloc, pshmemx_kind_malloc, pshmem_partition_malloc;
extern __typeof__(shmem_kind_align) pshmem_kind_align, pshmemx_kind_align, pshmem_partition_align;
extern __typeof__(shmemx_thread_register) pshmemx_thread_register, pshmemx_thread_unregister;
extern __typeof__(shmemx_thread_quiet) pshmemx_thread_quiet, pshmemx_thread_fence;

#ifdef __cplusplus
}
#endif

#endif
