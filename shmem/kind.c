/* Memory of one partition: one function under three names (shmemx.h). */
#include <shmemx.h>

#include "entry.h"
#include "heap.h"

#define KIND(name)                                                                                           \
    HL_SHMEM_API(name##_malloc);                                                                             \
    void *p##name##_malloc(size_t size, int partition_id)                                                    \
    {                                                                                                        \
        return hl_alloc_take(partition_id, sizeof(void *), size, #name "_malloc");                           \
    }                                                                                                        \
    HL_SHMEM_API(name##_align);                                                                              \
    void *p##name##_align(size_t alignment, size_t size, int partition_id)                                   \
    {                                                                                                        \
        return hl_alloc_take(partition_id, alignment, size, #name "_align");                                 \
    }

/* Defines: shmem_kind_malloc shmem_kind_align */
KIND(shmem_kind)
/* Defines: shmemx_kind_malloc shmemx_kind_align */
KIND(shmemx_kind)
/* Defines: shmem_partition_malloc shmem_partition_align */
KIND(shmem_partition)
