/* Memory of one partition: one function under three names (shmemx.h). */
#include <shmemx.h>

#include "entry.h"
#include "heap.h"

#define KIND(name)                                                                                           \
    HL_SHMEM_API(name##_malloc)                                                                              \
    void *p##name##_malloc(size_t size, int partition_id)                                                    \
    {                                                                                                        \
        return hl_alloc_take(partition_id, sizeof(void *), size, #name "_malloc");                           \
    }                                                                                                        \
    HL_SHMEM_API(name##_align)                                                                               \
    void *p##name##_align(size_t alignment, size_t size, int partition_id)                                   \
    {                                                                                                        \
        return hl_alloc_take(partition_id, alignment, size, #name "_align");                                 \
    }

KIND(shmem_kind)
KIND(shmemx_kind)
KIND(shmem_partition)
