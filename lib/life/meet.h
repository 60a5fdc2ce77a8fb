/* The last meeting of all ranks. */
#ifndef HL_LIFE_MEET_H
#define HL_LIFE_MEET_H

#include <stdbool.h>

/* The fence before everything closes. Receives that the user freed (MPI_Request_free) are carried on
 * meanwhile: a peer may still wait for one of them before it comes. Messages that come afterwards belong to
 * the next opening. What hl_boot_fence returns. */
int hl_life_meet(void);

/* The process of this node peer, of that number, has ended before it met the others (stops.h). It counts as
 * dead, with a line when `first`; a fence that waits for it ends the job, unless the launcher is to let the
 * others meet once it knows. */
void hl_life_lose(int node_rank, unsigned pid, bool first);

#endif
