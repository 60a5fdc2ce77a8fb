/* Where a search for any one entry of a list begins, so that an entry whose condition holds does not starve
 * behind others whose conditions hold again and again. A search begins behind the entry that this thread's
 * last search of the same list found: so each entry is found within as many searches as there are entries.
 * When the thread last searched another list, the search begins at a random entry: so searches of several
 * lists in turn cannot miss one entry for ever either. */
#ifndef HL_TURN_H
#define HL_TURN_H

#include <stddef.h>

/* The index, below `n`, at which the calling thread begins its search of the `n` entries at `list`; 0 when n
 * is 0. */
size_t hl_turn_begin(const void *list, size_t n);

/* Notes that the calling thread's search of `list` found `index`. */
void hl_turn_told(const void *list, size_t n, size_t index);

#endif
