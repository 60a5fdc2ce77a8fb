/* Static data as symmetric memory: which PEs have the same data, and how it is reached.
 *
 * Shared data of node peers is mapped; everything else is registered with the network, which is opened at
 * start when a PE needs it. Data that differs between two PEs (another build, a library that only one has
 * loaded) is not symmetric for them; a call that uses it there ends the job with that reason. */
#ifndef HL_SHMEM_STATICS_H
#define HL_SHMEM_STATICS_H

#include <stdbool.h>
#include <stddef.h>

/* Called at start and end (init.c). hl_statics_open fills hl_sym.statics; it is collective, and an error is
 * the same on all PEs. */
int hl_statics_open(void);
void hl_statics_close(void);

/* Explains why an address is not symmetric for that PE: true with a sentence in `text` when the reason has to
 * do with static data. Any thread. */
bool hl_statics_explain(const void *p, size_t len, int pe, char *text, size_t cap);

#endif
