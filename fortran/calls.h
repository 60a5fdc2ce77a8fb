/* What the functions that generate.py makes call. */
#ifndef HL_FORT_CALLS_H
#define HL_FORT_CALLS_H

#include <hotlane.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "callback.h"
#include "descriptor.h"
#include "facts.h"
#include "fail.h"
#include "handle.h"
#include "section.h"
#include "sentinel.h"
#include "text.h"

/* One more name for a function. */
#define HL_FORT_ALIAS(function, name, result, parameters)                                                    \
    HL_FORT_PUBLIC result name parameters __attribute__((alias(#function)));

/* ierror may be absent in mpi_f08. */
static inline void hl_fort_end(int *ierror, int rc)
{
    if (ierror != NULL) {
        *ierror = rc;
    }
}

static inline int hl_fort_no_memory(const char *func)
{
    return hl_fort_fail(func, MPI_ERR_NO_MEM, "there is no memory to convert the arguments");
}

/* Places in arrays, of which Fortran counts the first as 1. */
static inline void hl_fort_indices_out(int *indices, int n)
{
    for (int i = 0; i < n; i++) {
        indices[i] += indices[i] == MPI_UNDEFINED ? 0 : 1;
    }
}

#ifdef MPIX_SECTION_RANKS
/* Functions of libhotlane; other libraries of the ABI lack them. */
#pragma weak PMPIX_Put_section
#pragma weak PMPIX_Get_section
#pragma weak PMPIX_Accumulate_section
#pragma weak PMPIX_Send_section
#pragma weak PMPIX_Recv_section
#pragma weak PMPIX_Isend_section
#pragma weak PMPIX_Irecv_section

_Static_assert(sizeof(MPIX_Section_dim) == sizeof(struct hl_fort_dim),
               "libhotlane reads a descriptor's dimensions");

/* The section of a descriptor as libhotlane takes it. */
static inline MPIX_Section hl_fort_section(const struct hl_fort_array *a)
{
    return (MPIX_Section){
        .elem_len = (MPI_Aint)a->elem_len, .rank = a->rank, .dims = (const MPIX_Section_dim *)a->dim};
}

#endif

/* The buffer of an operation for which MPI_BOTTOM alone is special. */
static inline void *hl_fort_data(void *buffer)
{
    return __builtin_expect(buffer == mpi_fortran_bottom_, 0) ? MPI_BOTTOM : buffer;
}

#define HL_FORT_NOT_WHOLE                                                                                    \
    "the elements of the buffer are apart (it is a section of an array): this call needs memory in one "     \
    "piece"

#endif
