/* Destinations that took nothing in one pass: a list. */
#include "stuck.h"

#include <stdlib.h>

#include "util.h"

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
    if (!hl_grow(&s->at, s->count, &s->room, sizeof *s->at)) {
        return false;
    }
    s->at[s->count++] = to;
    return true;
}

void hl_rx_stuck_free(struct hl_rx_stuck *s)
{
    free(s->at);
    *s = (struct hl_rx_stuck){0};
}
