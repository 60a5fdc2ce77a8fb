/* The symmetric heap on networks that pin the pages of registered memory (hl_mr_pins): it is registered
 * piece by piece, as its blocks are handed out.
 *
 * The heap is gigabytes of address space, and registering all of it would take all that memory at once. So
 * its parts have no keys on such networks. The memory around a block is registered when the block is taken,
 * on all PEs alike, and becomes an area of its own among hl_sym.parts, whose keys all PEs then tell each
 * other. Each begins at a granule and takes over all granules that it covers, so that a block lies wholly in
 * the area of its first granule. An area within a later one is registered no more, unless a PE has threads
 * that call at the same time: one of them may be using its key, so areas stay until the end there. */
#ifndef HL_PINNED_H
#define HL_PINNED_H

#include <stdbool.h>
#include <stdint.h>

/* Registers the library's own part. Collective; called when all parts have their places in hl_sym and the
 * network is open. Before it, the other functions do nothing. An error is the same on all PEs. */
int hl_pinned_open(void);
void hl_pinned_close(void);

/* Makes sure that peers reach bytes [off, off + len) of the span, a block of part `part` of hl_heap.
 * Collective: all PEs must ask for the same bytes. HL_ERR_NO_MEM or the error of a registration on all PEs,
 * with the text of the one that failed. */
int hl_pinned_cover(int part, uint64_t off, uint64_t len);

/* Where an area begins and ends that is to hold [off, end) of a part of `len` bytes, of which [0, covered) is
 * registered; all relative to the part. `step`: bytes that the part may grow by at once. Here for tests. */
struct hl_pinned_range {
    uint64_t begin, end;
};
struct hl_pinned_range hl_pinned_choose(uint64_t off, uint64_t end, uint64_t covered, uint64_t len,
                                        uint64_t step);

#endif
