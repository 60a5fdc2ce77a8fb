/* Pairs of public functions: pshmem_name is the definition, shmem_name a weak alias of it in the same
 * translation unit, so that a profiler may define shmem_name and call pshmem_name (OpenSHMEM 1.5, annex on
 * profiling).
 *
 *     HL_SHMEM_API(shmem_my_pe);
 *     int pshmem_my_pe(void)
 *     {
 *
 * A function of one statement may be one row: HL_SHMEM_CALL(shmem_my_pe, int, (void), return my_pe())
 *
 * start_pes takes HL_SHMEM_OLD_API(start_pes, pshmem_start_pes). Names from before OpenSHMEM, as
 * HL_SHMEM_OLD(shfree), are weak definitions without a pshmem name: a program may use such a name for
 * something of its own. */
#ifndef HL_SHMEM_ENTRY_H
#define HL_SHMEM_ENTRY_H

#include "attr.h"

/* The directive says "weak" a second time, since the link-time optimiser of gcc makes weak aliases strong. */
#define HL_SHMEM_OLD_API(name, strong)                                                                       \
    __asm__(".weak " #name);                                                                                 \
    extern __typeof__(name) name __attribute__((weak, alias(#strong), visibility("default")));               \
    extern __typeof__(strong) strong HL_PUBLIC
#define HL_SHMEM_API(name) HL_SHMEM_OLD_API(name, p##name)
#define HL_SHMEM_OLD(name)                                                                                   \
    __asm__(".weak " #name);                                                                                 \
    extern __typeof__(name) name HL_PUBLIC __attribute__((weak))
#define HL_SHMEM_CALL(name, result, params, statement)                                                       \
    HL_SHMEM_API(name);                                                                                      \
    result p##name params                                                                                    \
    {                                                                                                        \
        statement;                                                                                           \
    }
#define HL_SHMEM_OLD_CALL(name, result, params, statement)                                                   \
    HL_SHMEM_OLD(name);                                                                                      \
    result name params                                                                                       \
    {                                                                                                        \
        statement;                                                                                           \
    }

#endif
