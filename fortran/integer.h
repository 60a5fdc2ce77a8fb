/* What the generated mpi_integer.c needs: the procedures of module mpi and mpif.h, as gfortran and flang call
 * them. Arguments are addresses; the lengths of CHARACTER arguments follow all others, in their order. */
#ifndef HL_FORT_INTEGER_H
#define HL_FORT_INTEGER_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "callback.h"
#include "facts.h"
#include "fail.h"
#include "handle.h"
#include "sentinel.h"
#include "text.h"

/* The name that a tool may replace, of the procedure that was defined before as p##name. */
#define HL_FORT_NAME(name)                                                                                   \
    HL_FORT_PUBLIC extern __typeof__(p##name) name __attribute__((weak, alias("p" #name)));

/* The error of a procedure that found no memory to convert its arguments. */
static inline int hl_fort_no_memory(const char *func)
{
    return hl_fort_fail(func, MPI_ERR_NO_MEM, "there is no memory");
}

/* A place in an array, counted from 1; MPI_UNDEFINED and what else is negative stays. */
static inline int hl_fort_index_out(int index)
{
    return index < 0 ? index : index + 1;
}

static inline void hl_fort_indices_out(int *indices, int n)
{
    for (int i = 0; i < n; i++) {
        indices[i]++;
    }
}

/* Whether the caller is the one whose arguments matter. */
static inline int hl_fort_is_root(MPI_Comm comm, int root)
{
    int rank = MPI_PROC_NULL;

    return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

#endif
