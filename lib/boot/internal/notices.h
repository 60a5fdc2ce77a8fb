/* Inside the module: notices of deaths that nobody has taken yet. */
#ifndef HL_NOTICES_H
#define HL_NOTICES_H

#include "attr.h"

#include <stdbool.h>

/* A queue; all zero: empty. It holds memory only while there are notices. Its owner guards it. */
struct hl_notices {
    struct hl_notice {
        int rank, code;
    } * at;
    int first, count, room;
};

/* Adds a notice. False: there is no memory. The caller must then act as if the launcher were gone, since a
 * death that is not told of leaves others waiting. */
HL_MUST_USE bool hl_notices_put(struct hl_notices *q, int rank, int code);

/* Takes the oldest notice; false: there is none. */
bool hl_notices_take(struct hl_notices *q, int *rank, int *code);

#endif
