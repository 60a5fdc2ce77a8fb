/* Long rows of records of which most are equal: what a rank knows of each of a million others. */
#ifndef HL_MEM_REPEAT_H
#define HL_MEM_REPEAT_H

#include <stddef.h>

/* `count` records of `len` bytes, which begin as copies of `record` (NULL: as zeros). `len` is a power of two
 * up to the smallest page. */
struct hl_repeat {
    size_t count, len;
    const void *record;
};

/* Returns the row, private to this process; the caller may write any record, and gives the row to
 * hl_mem_repeat_free. In a long row the pages that nobody has written are few pages of memory, mapped over
 * and over. These are in `pattern`, which stays the caller's, or, when it is -1, in a file of the row's own.
 * NULL: no memory. Any thread. */
void *hl_mem_repeat(const struct hl_repeat *r, int pattern);
void hl_mem_repeat_free(void *row, size_t count, size_t len); /* row may be NULL */

/* Processes of a node can have one pattern for rows that are alike. hl_mem_pattern_make returns a descriptor
 * of it, which the caller closes when all have opened it; hl_mem_pattern_open one of that of process `pid`,
 * if nobody can change what is in it and it is right. Both return -1 where it cannot be had, or where r's row
 * has none. */
int hl_mem_pattern_make(const struct hl_repeat *r);
int hl_mem_pattern_open(const struct hl_repeat *r, int pid, int fd);

#endif
