/* Inside the module: on which nodes the pages of a segment go. */
#ifndef HL_MEM_PLACE_H
#define HL_MEM_PLACE_H

#include "mem.h"

/* Tells the kernel the segment's policy, before its first page. HL_MEM_BIND: an error with the text when it
 * cannot be had; the others go on without, with one line in the log. */
int hl_place_set(const struct hl_seg *seg);

/* Interleaved segments: the pages of [off, off + len) that are still to come prefer one node, the segment's
 * next one for each `turn`. After them, hl_place_turned gives the range the segment's policy back. */
void hl_place_turn(const struct hl_seg *seg, size_t off, size_t len, size_t turn);
void hl_place_turned(const struct hl_seg *seg, size_t off, size_t len);

/* Takes the pages of [off, off + len) of its file under the segment's policy, for kernels that cannot
 * populate a mapping. Returns 0 or errno. */
int hl_place_fallocate(const struct hl_seg *seg, size_t off, size_t len);

/* True when the pages of [off, off + len), which are there, lie on the segment's nodes; *e is 0, or the errno
 * when the kernel does not say. */
bool hl_place_holds(const struct hl_seg *seg, size_t off, size_t len, int *e);

/* HL_MEM_BIND: proves it, else HL_ERR_NO_MEM with the text. Other policies: 0. */
int hl_place_verify(const struct hl_seg *seg, size_t off, size_t len);

/* True when the calling thread has a memory policy of its own (numactl), or nobody may know. */
bool hl_place_has_policy(void);

#endif
