/* The queue of notices of deaths. */
#include "notices.h"

#include <stdlib.h>
#include <string.h>

bool hl_notices_put(struct hl_notices *q, int rank, int code)
{
    if (q->first + q->count == q->room) {
        int room = 2 * q->count + 16;
        struct hl_notice *at = malloc((size_t)room * sizeof *at);
        if (at == NULL) {
            return false;
        }
        if (q->count) {
            memcpy(at, q->at + q->first, (size_t)q->count * sizeof *at);
        }
        free(q->at);
        *q = (struct hl_notices){at, 0, q->count, room};
    }
    q->at[q->first + q->count++] = (struct hl_notice){rank, code};
    return true;
}

bool hl_notices_take(struct hl_notices *q, int *rank, int *code)
{
    if (!q->count) {
        return false;
    }
    *rank = q->at[q->first].rank;
    *code = q->at[q->first].code;
    q->first++;
    if (--q->count == 0) {
        free(q->at);
        *q = (struct hl_notices){0};
    }
    return true;
}
