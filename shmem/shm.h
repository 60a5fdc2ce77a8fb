/* What all of shmem/ shares: the state of the interface, and the one place where a wrong program ends. */
#ifndef HL_SHM_H
#define HL_SHM_H

#include <stdbool.h>
#include <stddef.h>

#include "attr.h"

struct hl_comm;

/* All PEs, for agreement at start and in allocation: mine, beside what the user does with MPI. NULL while
 * SHMEM is not open. One thread at a time, in the same order on all PEs. */
extern struct hl_comm *hl_shmem_comm;

/* Says in one line that call `func` was wrong and why ("PE 3: shmem_long_put: ..."), then ends the job as
 * shmem_global_exit(1) does. Any thread. */
_Noreturn void hl_shmem_die(const char *func, const char *fmt, ...) HL_COLD HL_PRINTF(2, 3);

/* The same for an address or PE that hl_sym_find has refused: finds out which is wrong, and whether SHMEM is
 * open at all. */
_Noreturn void hl_shmem_bad_access(const char *func, const void *addr, size_t len, int pe) HL_COLD;

/* Ends the job with the words of error `rc` of an operation on `pe` (-1: on none); 0 is no error. */
void hl_shmem_fail(int rc, const char *func, int pe) HL_COLD;
HL_INLINE void hl_shmem_must(int rc, const char *func, int pe)
{
    if (HL_UNLIKELY(rc != 0)) {
        hl_shmem_fail(rc, func, pe);
    }
}

/* Ends the job unless SHMEM is open: before shmem_init, after shmem_finalize. */
void hl_shmem_need_open(const char *func);

/* Ends the job: argument `name` of the call is NULL, or only when `p` is. SHMEM need not be open. */
_Noreturn void hl_shmem_null(const char *func, const char *name) HL_COLD;
HL_INLINE void hl_shmem_need(const void *p, const char *func, const char *name)
{
    if (HL_UNLIKELY(p == NULL)) {
        hl_shmem_null(func, name);
    }
}

/* Waits for all PEs, with what was issued before stored (shmem_barrier_all). */
void hl_shmem_barrier(const char *func);

/* The same as part of the end, which must not meet a barrier of another PE. */
void hl_shmem_last_barrier(const char *func);

#endif
