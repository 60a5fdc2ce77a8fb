/* Where a search for any one entry of a list begins, so that no entry that holds starves behind others that
 * hold again and again: behind the entry that this thread's last search of that list told of, so that each is
 * told of within as many searches as there are entries. A list that was not the last is begun at an entry
 * drawn anew: searches of several lists in turn cannot keep one entry out for ever either. */
#ifndef HL_TURN_H
#define HL_TURN_H

#include <stddef.h>

/* The index, below `n`, at which the calling thread begins its search of the `n` entries at `list`; 0 for n =
 * 0. */
size_t hl_turn_begin(const void *list, size_t n);

/* The search told of `index`. */
void hl_turn_told(const void *list, size_t n, size_t index);

#endif
