/* Moves static data into shared memory, at the addresses that it has.
 *
 * One segment (lib/mem) holds the stretches of all objects one behind the other, so that peers map one
 * segment and the network registers one. Each stretch of the program's address space is then mapped to its
 * part of the segment. A stretch that cannot be shared stays private memory, and `why` says the reason. */
#ifndef HL_SHMEM_SHARE_H
#define HL_SHMEM_SHARE_H

#include "mem.h"
#include "objects.h"

struct hl_share {
    bool tried;
    struct hl_objects objects;
    struct hl_piece piece; /* piece.seg NULL: nothing is shared */
    char why[200];         /* why some stretches are not shared; "": all are, or it was not asked for */
};

/* hl_share_statics writes it, before threads exist; read-only afterwards. */
extern struct hl_share hl_share;

/* Finds the static data and, with `share`, moves what it can into shared memory. The first call does it,
 * later ones return at once. Local; must be called while the process has one thread. Returns 0 also when
 * something cannot be shared; HL_ERR_NO_MEM when there is no memory for the list. */
int hl_share_statics(bool share);

#endif
