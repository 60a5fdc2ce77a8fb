/* Inside the module: on which nodes the pages of a segment go. */
#ifndef HL_MEM_PLACE_H
#define HL_MEM_PLACE_H

#include "mem.h"

/* Tells the kernel the segment's policy, before its first page. HL_MEM_BIND: an error with the text when it
 * cannot be had; the others go on without, with one line in the log. */
int hl_place_set(const struct hl_seg *seg);

/* HL_MEM_BIND: proves that the pages of [off, off + len), which are there, lie on the segment's nodes, else
 * HL_ERR_NO_MEM with the text. Other policies: 0. */
int hl_place_verify(const struct hl_seg *seg, size_t off, size_t len);

#endif
