/* Inside the module: placement of a segment's pages on NUMA nodes. */
#ifndef HL_MEM_PLACE_H
#define HL_MEM_PLACE_H

#include "mem.h"

/* Tells the kernel the segment's policy; called before its first page is taken. When the kernel refuses,
 * HL_MEM_BIND returns HL_ERR_NO_MEM with the text; other policies go on without, with one line in the log. */
int hl_place_set(const struct hl_seg *seg);

/* For interleaved segments: makes pages of [off, off + len) that are taken from now on prefer one node of the
 * segment; `turn` 0, 1, ... picks its nodes in turn. Once they are taken, hl_place_turned gives the range the
 * segment's policy back. */
void hl_place_turn(const struct hl_seg *seg, size_t off, size_t len, size_t turn);
void hl_place_turned(const struct hl_seg *seg, size_t off, size_t len);

/* Takes the pages of [off, off + len) of the segment's file under its policy, for kernels that cannot
 * populate a mapping. Returns 0 or errno. */
int hl_place_fallocate(const struct hl_seg *seg, size_t off, size_t len);

/* True when the pages of [off, off + len), which must have been taken, lie on the segment's nodes. Sets *e to
 * 0, or to the errno when the kernel does not say. */
bool hl_place_holds(const struct hl_seg *seg, size_t off, size_t len, int *e);

/* Under HL_MEM_BIND returns HL_ERR_NO_MEM with the text unless hl_place_holds is true; other policies: 0. */
int hl_place_verify(const struct hl_seg *seg, size_t off, size_t len);

/* True when the calling thread has a memory policy of its own (numactl), or when the kernel does not say. */
bool hl_place_has_policy(void);

#endif
