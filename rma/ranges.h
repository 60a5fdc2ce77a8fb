/* checked_mode's sets of bytes: ranges in memory that node peers can map, so that they can look into them. */
#ifndef HL_RANGES_H
#define HL_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "mem.h"

/* Bytes lo to hi - 1 of one target, or of my own memory for operations on it. Never empty. */
struct hl_touched {
    uint64_t target, lo, hi;
};

/* In ascending order by target and place; those of one target do not touch. Zero = empty. Guarded by its
 * owner. */
struct hl_ranges {
    struct hl_touched *at;
    size_t n;
    struct hl_piece piece; /* which holds them; seg NULL: none yet */
};

/* The first range that meets `r` in its target's bytes, or NULL. */
const struct hl_touched *hl_ranges_meet(const struct hl_touched *at, size_t n, struct hl_touched r);

/* The same over all targets. */
const struct hl_touched *hl_ranges_meet_any(const struct hl_touched *at, size_t n, struct hl_touched r);

/* Adds a range, which may meet others. HL_ERR_NO_MEM, and nothing has changed. */
int hl_ranges_add(struct hl_ranges *s, struct hl_touched r);

/* Leaves out all ranges of a target (-1: of all). */
void hl_ranges_forget(struct hl_ranges *s, int target);

void hl_ranges_fini(struct hl_ranges *s);

#endif
