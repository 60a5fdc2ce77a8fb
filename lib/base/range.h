/* Ranges of addresses for objects that users hold and that are never unmapped. All of a range can be
 * read, as zeroes, so that a bad handle that points into it can be looked at without harm. The part that
 * can be written grows from the begin; core files hold only that part, and Valgrind's search for leaks
 * reads only that part. */
#ifndef HL_RANGE_H
#define HL_RANGE_H

#include <stdbool.h>
#include <stddef.h>

struct hl_range {
    char *base; /* NULL: not reserved */
    size_t len;
    size_t open; /* bytes that can be written */
};

/* Reserves `most` bytes, or, where the process may not have that many, half of them and so on, down to
 * `least`; both are powers of two. `aligned`: at a multiple of the length. Returns false when there is
 * no such range. */
bool hl_range_reserve(struct hl_range *r, size_t most, size_t least, bool aligned);

/* Makes at least the first `end` bytes writable. Returns false when the range is shorter, or the system
 * refuses. The caller holds the owner's lock. */
bool hl_range_reach(struct hl_range *r, size_t end);

#endif
