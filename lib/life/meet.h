/* The last meeting of all ranks. */
#ifndef HL_LIFE_MEET_H
#define HL_LIFE_MEET_H

/* The fence before everything closes. Receives that the user freed (MPI_Request_free) are carried on
 * meanwhile: a peer may still wait for one of them before it comes. Messages that come afterwards belong to
 * the next opening. What hl_boot_fence returns. */
int hl_life_meet(void);

#endif
