/* The node's commons: one sparse file with a slice for the first plain arena of each rank of the node, and
 * one for its first plain arena of symmetric memory. Every rank maps all of it, so memory there is reached
 * without a question to its owner, and a node of n ranks makes n mappings instead of n * n.
 *
 *   | slice of node rank 0, HL_MEM_ARENA bytes | of 1 | ... | symmetric: of 0 | of 1 | ... | deeds |
 *
 * The deeds say which segment lies in each. A rank maps the file so that its own symmetric slice lies where
 * all ranks of the job have theirs (symmetric.h).
 *
 * A slice takes no memory before it is used, and stays empty where its rank could not map the file. */
#ifndef HL_MEM_COMMONS_H
#define HL_MEM_COMMONS_H

#include <stddef.h>
#include <stdint.h>

/* Makes the sealed file for `ranks` ranks. Returns its descriptor, which is the caller's, or
 * HL_ERR_NO_MEM with the text. */
int hl_mem_commons_make(int ranks);

/* Takes over the descriptor and maps the file; the next plain arena of this rank will lie in slice `me`. When
 * the file cannot be mapped (limit of address space), that is logged, and arenas have files of their own. It
 * is called once, after hl_mem_symmetric_begin and before other threads use mem. */
void hl_mem_commons_join(int fd, int ranks, int me);

/* Returns where segment `id` of node rank `rank` is mapped in this process, for as long as the process lives,
 * and sets *theirs to its address at its owner. NULL: it lies in no slice, or the file is not mapped. Any
 * thread, no lock. */
char *hl_mem_commons_find(int rank, uint64_t id, uint64_t *theirs);

#endif
