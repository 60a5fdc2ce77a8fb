/* The last meeting of all ranks, and ranks that are missing there. */
#ifndef HL_LIFE_MEET_H
#define HL_LIFE_MEET_H

#include <stdbool.h>

/* The fence before everything closes. Meanwhile receives that the user freed (MPI_Request_free) are carried
 * on: a peer may wait for one of them before it comes to the fence. Messages that come afterwards belong to
 * the next opening. Returns what hl_boot_fence returns. */
int hl_life_meet(void);

/* Process `pid` of this node peer has ended before it met the others (stops.h). The rank counts as dead; a
 * line is printed when `first`. If this rank is in the fence the job ends, unless the launcher lets the
 * others meet without the dead. */
void hl_life_lose(int node_rank, unsigned pid, bool first);

#endif
