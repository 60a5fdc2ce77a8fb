/* Static data as symmetric memory: which PE has whose, and how it is reached.
 *
 * Shared data of node peers is mapped; everything else is registered with the network, which is opened at
 * start when a PE needs it. Data that differs between two PEs (another build, a library that only one has
 * loaded) is not symmetric for them, and who uses it there is told so. */
#ifndef HL_SHMEM_STATICS_H
#define HL_SHMEM_STATICS_H

#include <stdbool.h>
#include <stddef.h>

/* Part of start and end (init.c): fills hl_sym.statics. Collective; an error is the same on all PEs. */
int hl_statics_open(void);
void hl_statics_close(void);

/* Why an address is no symmetric one for that PE, when the reason has to do with static data: true with a
 * sentence in `text`. Any thread. */
bool hl_statics_explain(const void *p, size_t len, int pe, char *text, size_t cap);

#endif
