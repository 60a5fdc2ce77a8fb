/* Inside the module: the kernel's pools of huge pages, and error texts about them. */
#ifndef HL_MEM_HUGEPOOL_H
#define HL_MEM_HUGEPOOL_H

#include "mem.h"

/* Returns HL_ERR_NO_MEM with the text: `len` bytes in pages of seg->page could not be taken on seg->nodes,
 * with errno `e`. The text says how many pages are free now and which command reserves more; so call it when
 * the pages of the failed try are given back. */
int hl_hugepool_refuse(const struct hl_seg *seg, size_t len, int e);

/* Writes the nodes (bit i: node i) as words: "node 7 (MCDRAM)", "nodes 4-7 (fast)"; "any node" for 0. Returns
 * `out`. */
#define HL_HUGEPOOL_NODES 240
char *hl_hugepool_nodes_text(uint64_t nodes, char out[HL_HUGEPOOL_NODES]);

#endif
