/* Destinations that took nothing in one pass: a list. */
#include "stuck.h"

#include <stdlib.h>

bool hl_rx_stuck_has(const struct hl_rx_stuck *s, uint64_t to)
{
    size_t i = 0;
    while (i < s->count && s->at[i] != to) {
        i++;
    }
    return i < s->count;
}

bool hl_rx_stuck_note(struct hl_rx_stuck *s, uint64_t to)
{
    if (s->count == s->room) {
        size_t room = s->room > 0 ? 2 * s->room : 16;
        uint64_t *more = realloc(s->at, room * sizeof *more);
        if (more == NULL) {
            return false;
        }
        s->at = more;
        s->room = room;
    }
    s->at[s->count++] = to;
    return true;
}

void hl_rx_stuck_free(struct hl_rx_stuck *s)
{
    free(s->at);
    *s = (struct hl_rx_stuck){0};
}
