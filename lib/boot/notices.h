/* Deaths that were told of and that nobody has taken yet. Private to boot. */
#ifndef HL_NOTICES_H
#define HL_NOTICES_H

#include "attr.h"

#include <stdbool.h>

/* A queue; zeroed: empty, it holds memory only while there are some. Who has it guards it. */
struct hl_notices {
    struct hl_notice {
        int rank, code;
    } * at;
    int first, count, room;
};

/* False: no memory for it, and a death that is not told of leaves others waiting: treat the launcher as gone.
 */
HL_MUST_USE bool hl_notices_put(struct hl_notices *q, int rank, int code);

/* The oldest; false: there is none. */
bool hl_notices_take(struct hl_notices *q, int *rank, int *code);

#endif
