/* Where a search for any done request of a list begins: at its first entry, or, where an earlier search has
 * told of one and the entry behind that is still the same request, there. So no request that is done starves
 * behind others that are posted again at once, and a new list is told of in its order. */
#ifndef HL_REQ_FAIR_H
#define HL_REQ_FAIR_H

#include "attr.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Calls of this thread that end all requests of a list that are done: eager sends share one request, and what
 * is behind such a call is another list. */
extern HL_THREAD_LOCAL uint32_t hl_fair_drained;

HL_INLINE void hl_fair_drain(void)
{
    hl_fair_drained++;
}

/* The index, below `n`, at which the calling thread begins; 0 for n = 0. All handles are valid. */
size_t hl_fair_begin(const MPI_Request *list, size_t n);

/* A search has told of `index`, and leaves it or will end it. */
void hl_fair_told(const MPI_Request *list, size_t n, size_t index);

#endif
