/* Fair searches: each thread remembers its last list, and draws random numbers. */
#include "turn.h"

#include "attr.h"
#include "util.h"

static HL_THREAD_LOCAL struct {
    const void *list;
    size_t n, next; /* next < n */
    uint64_t draws;
} last;

size_t hl_turn_begin(const void *list, size_t n)
{
    if (n < 2) {
        return 0;
    }
    return last.list == list && last.n == n ? last.next : hl_mix64(last.draws++) % n;
}

void hl_turn_told(const void *list, size_t n, size_t index)
{
    last.list = list;
    last.n = n;
    last.next = index + 1 < n ? index + 1 : 0;
}
