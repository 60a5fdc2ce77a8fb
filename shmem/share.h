/* Static data into shared memory, at the addresses where it is.
 *
 * One segment (mem) holds the stretches of all objects, one behind the other, so that peers map and the
 * network registers one thing; each stretch of the program's address space is mapped to its part of it. What
 * cannot be shared stays private memory, with the reason. */
#ifndef HL_SHMEM_SHARE_H
#define HL_SHMEM_SHARE_H

#include "mem.h"
#include "objects.h"

struct hl_share {
    bool tried;
    struct hl_objects objects;
    struct hl_piece piece; /* piece.seg NULL: nothing is shared */
    char why[200];         /* why some are not: "" when all are, or nobody asked for it */
};

/* Written by hl_share_statics, before threads exist; read-only afterwards. */
extern struct hl_share hl_share;

/* Finds the static data and, when asked to, shares what can be: the first call does it, later ones return at
 * once. Local; to be called as long as the process has one thread. HL_ERR_NO_MEM only when there is no memory
 * for the list: what cannot be shared is no error. */
int hl_share_statics(bool share);

#endif
