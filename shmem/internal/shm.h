/* What all of shmem/ shares: the communicator of all PEs, and how a wrong program ends. */
#ifndef HL_SHM_H
#define HL_SHM_H

#include <stdbool.h>
#include <stddef.h>

#include "attr.h"

struct hl_comm;

/* A communicator over all PEs for agreement at start and in allocation, separate from what the user does with
 * MPI. NULL while SHMEM is not open. It is used by one thread at a time, in the same order on all PEs. */
extern struct hl_comm *hl_shmem_comm;

/* Prints in one line that call `func` was wrong and why ("PE 3: shmem_long_put: ..."), then ends the job as
 * shmem_global_exit(1) does. Any thread. */
_Noreturn void hl_shmem_die(const char *func, const char *fmt, ...) HL_COLD HL_PRINTF(2, 3);

/* Ends the job because hl_sym_find has refused an address or a PE: finds out which of them is wrong, or that
 * SHMEM is not open. */
_Noreturn void hl_shmem_bad_access(const char *func, const void *addr, size_t len, int pe) HL_COLD;

/* Writes an error's text to out[cap] with PE for rank: the modules below speak as MPI does. */
void hl_shmem_words(const char *text, char *out, size_t cap);

/* hl_shmem_fail ends the job with the text of error `rc` of an operation on `pe` (-1: on no PE);
 * hl_shmem_must does so unless rc is 0. */
void hl_shmem_fail(int rc, const char *func, int pe) HL_COLD;
HL_INLINE void hl_shmem_must(int rc, const char *func, int pe)
{
    if (HL_UNLIKELY(rc != 0)) {
        hl_shmem_fail(rc, func, pe);
    }
}

/* Ends the job unless SHMEM is open, that is, before shmem_init and after shmem_finalize. */
void hl_shmem_need_open(const char *func);

/* hl_shmem_null ends the job because argument `name` of the call is NULL; hl_shmem_need does so if `p` is
 * NULL. SHMEM need not be open. */
_Noreturn void hl_shmem_null(const char *func, const char *name) HL_COLD;
HL_INLINE void hl_shmem_need(const void *p, const char *func, const char *name)
{
    if (HL_UNLIKELY(p == NULL)) {
        hl_shmem_null(func, name);
    }
}

/* Waits for all PEs; what was issued before on the default context is stored then (shmem_barrier_all). */
void hl_shmem_barrier(const char *func);

/* The barrier at the end: a PE that is in hl_shmem_barrier meanwhile is an error. */
void hl_shmem_last_barrier(const char *func);

#endif
