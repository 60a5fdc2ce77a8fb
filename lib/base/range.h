/* Ranges of addresses for objects that users hold and that are never unmapped. All of a range can be read, as
 * zeroes, so that a bad handle that points into it is judged without harm. What can be written grows from its
 * begin: core files hold no more than that, and so does what Valgrind's search for leaks reads. */
#ifndef HL_RANGE_H
#define HL_RANGE_H

#include <stdbool.h>
#include <stddef.h>

struct hl_range {
    char *base; /* NULL: not reserved */
    size_t len;
    size_t open; /* bytes that can be written */
};

/* Reserves up to `most` bytes, half of them and so on down to `least` where the process may not have that
 * many; both are powers of two. `aligned`: at a multiple of the length. False: not to be had. */
bool hl_range_reserve(struct hl_range *r, size_t most, size_t least, bool aligned);

/* Makes at least the first `end` bytes writable. False: they are not there, or the system refuses. The
 * owner's lock is held. */
bool hl_range_reach(struct hl_range *r, size_t end);

#endif
