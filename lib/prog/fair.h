/* Where a search for any done request of a list begins. Usually it begins at the first entry. If an earlier
 * search of the thread found a request and the active entry behind that is still the same request, it begins
 * there. So a request that is done does not starve behind others that are posted again at once, and the first
 * searches of a new list find its requests in their order. */
#ifndef HL_REQ_FAIR_H
#define HL_REQ_FAIR_H

#include "attr.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* The number of this thread's calls that ended all done requests of a list. Eager sends share one request, so
 * after such a call an entry with that request is not the one that a search remembered. */
extern HL_THREAD_LOCAL uint32_t hl_fair_drained;

HL_INLINE void hl_fair_drain(void)
{
    hl_fair_drained++;
}

/* The index, below `n`, at which the calling thread begins its search; 0 when n is 0. All handles must be
 * valid. */
size_t hl_fair_begin(const MPI_Request *list, size_t n);

/* Notes that a search of the calling thread has found the request at `index`, which it has not ended yet. */
void hl_fair_told(const MPI_Request *list, size_t n, size_t index);

#endif
