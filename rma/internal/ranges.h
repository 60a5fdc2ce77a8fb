/* checked_mode's sets of bytes: ranges in memory that node peers can map, so that they can look into them. */
#ifndef HL_RANGES_H
#define HL_RANGES_H

#include <stddef.h>
#include <stdint.h>

#include "mem.h"

/* Bytes lo to hi - 1 of one target's window, or of my own memory that operations on that target use. Never
 * empty. The lower half of `target` is its number; the upper half, its age, keeps apart what is not forgotten
 * together. */
struct hl_touched {
    uint64_t target, lo, hi;
};

/* Ranges in ascending order by target and place; those of one target do not touch each other. Zero = empty.
 * Its owner guards it. */
struct hl_ranges {
    struct hl_touched *at;
    size_t n;
    struct hl_piece piece; /* holds the ranges; seg NULL: none yet */
};

/* The first of the n ranges that overlaps `r` and has its target and age, or NULL. */
const struct hl_touched *hl_ranges_meet(const struct hl_touched *at, size_t n, struct hl_touched r);

/* The first of the n ranges that overlaps `r` and has its target, whatever its age, or NULL; the age of `r`
 * is 0. Ranges of another age, as a rule none, are looked at one by one. */
const struct hl_touched *hl_ranges_meet_aged(const struct hl_touched *at, size_t n, struct hl_touched r);

/* The first of the n ranges that overlaps `r`, whatever its target and age, or NULL. */
const struct hl_touched *hl_ranges_meet_any(const struct hl_touched *at, size_t n, struct hl_touched r);

/* Adds a range, joining it with those that it overlaps or touches. HL_ERR_NO_MEM: nothing has changed. */
int hl_ranges_add(struct hl_ranges *s, struct hl_touched r);

/* Removes all ranges of a target (-1: of all targets) whose age is less than `before`. */
void hl_ranges_forget(struct hl_ranges *s, int target, uint32_t before);

void hl_ranges_fini(struct hl_ranges *s);

#endif
