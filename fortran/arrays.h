/* Arrays of logicals, lists of datatypes that outlive the call, and how many elements those arrays have whose
 * length is not among the arguments. */
#ifndef HL_FORT_ARRAYS_H
#define HL_FORT_ARRAYS_H

#include <mpi.h>

#include "facts.h"
#include "handle.h"

/* n logicals as C's flags, until hl_fort_list_end; NULL: no memory. And back, in place. */
static inline int *hl_fort_logicals_in(struct hl_fort_list *list, const int *logicals, int n)
{
    int *flags = hl_fort_list_begin(list, n);

    for (int i = 0; flags != NULL && i < n; i++) {
        flags[i] = hl_fort_logical_in(logicals[i]);
    }
    return flags;
}

static inline void hl_fort_logicals_out(int *logicals, int n)
{
    for (int i = 0; i < n; i++) {
        logicals[i] = hl_fort_logical_out(logicals[i]);
    }
}

/* n datatypes that stay, for operations that read them after the call has returned: equal lists are one,
 * which is never freed, as nothing tells when the last operation that reads it has ended. NULL: there is no
 * memory. Any thread. */
const MPI_Datatype *hl_fort_datatypes_kept(const int *handles, int n);

/* How many processes a collective operation sends to: of an intercommunicator, those of the remote group. 0
 * if comm is none. */
int hl_fort_peers(MPI_Comm comm);
/* Neighbors from and to which the collective operations of a topology go, and dimensions of a grid. 0 if comm
 * has none. */
int hl_fort_indegree(MPI_Comm comm);
int hl_fort_outdegree(MPI_Comm comm);
int hl_fort_ndims(MPI_Comm comm);

#endif
