/* The node's commons: one sparse file with a slice for the first plain arena of each rank of the node, which
 * every rank maps whole. What lies there is reached without asking its owner, and takes n mappings on a node
 * of n ranks instead of n * n.
 *
 *   | slice of node rank 0, HL_MEM_ARENA bytes | slice of 1 | ... | deeds: which segment lies in each |
 *
 * A slice takes no memory before it is used, and stays empty where its rank could not map the file. */
#ifndef HL_MEM_COMMONS_H
#define HL_MEM_COMMONS_H

#include <stddef.h>
#include <stdint.h>

/* The sealed file for `ranks` of them: the caller's descriptor, or HL_ERR_NO_MEM with the text. */
int hl_mem_commons_make(int ranks);

/* Takes over the descriptor and maps the file; my next plain arena will be slice `me`. Where it cannot be
 * mapped (limit of address space), that is logged, and arenas have files of their own. Once, before other
 * threads use mem. */
void hl_mem_commons_join(int fd, int ranks, int me);

/* Where the segment `id` of node rank `rank` lies here, for as long as the process lives, and its address at
 * its owner: NULL when it lies in no slice, or nothing is mapped here. Any thread, no lock. */
char *hl_mem_commons_find(int rank, uint64_t id, uint64_t *theirs);

#endif
