/* Inside the module: the kernel's pools of huge pages, for words and decisions. */
#ifndef HL_MEM_HUGEPOOL_H
#define HL_MEM_HUGEPOOL_H

#include "mem.h"

/* HL_ERR_NO_MEM with the text: `len` bytes in pages of seg->page were not there on seg->nodes. It says what
 * is there now and which command reserves more: call it when nothing is held any more. */
int hl_hugepool_refuse(const struct hl_seg *seg, size_t len, int e);

/* Writes the nodes as words: "node 7 (MCDRAM)", "nodes 4-7 (fast)", "any node" for none. Returns `out`. */
#define HL_HUGEPOOL_NODES 240
char *hl_hugepool_nodes_text(uint64_t nodes, char out[HL_HUGEPOOL_NODES]);

#endif
