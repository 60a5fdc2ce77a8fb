/* The symmetric heap on networks that keep the pages of registered memory (hl_fab.pins): registered piece by
 * piece, as its blocks are handed out.
 *
 * The heap is address space, gigabytes of it, and registering all would take all its memory at once. So its
 * parts have no keys there. What blocks lie in is registered when they are taken, on all PEs alike, and
 * becomes a part of its own among hl_sym.parts (an area), with keys that all PEs tell each other then. Areas
 * only come, until the end: each begins at a granule and takes over all granules that it covers, so that a
 * block lies wholly in the area of its first granule. */
#ifndef HL_PINNED_H
#define HL_PINNED_H

#include <stdbool.h>
#include <stdint.h>

/* Has the library's own part registered. Collective, once all parts have their places in hl_sym and the
 * network is open; nothing else here does anything before. An error is the same on all PEs. */
int hl_pinned_open(void);
void hl_pinned_close(void);

/* Makes sure that peers reach bytes [off, off + len) of the span, a block of part `part` of hl_heap.
 * Collective, when all PEs ask for the same. HL_ERR_NO_MEM on all, with the words of the one that cannot. */
int hl_pinned_cover(int part, uint64_t off, uint64_t len);

/* Where an area that is to hold [off, end) of a part of `len` bytes begins and ends, of which [0, covered)
 * is registered; all relative to the part. `step`: bytes that the part may grow by at once. Seen by tests. */
struct hl_pinned_range {
    uint64_t begin, end;
};
struct hl_pinned_range hl_pinned_choose(uint64_t off, uint64_t end, uint64_t covered, uint64_t len,
                                        uint64_t step);

#endif
