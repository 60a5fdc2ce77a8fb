/* What the files of prog share. */
#ifndef HL_PROG_INNER_H
#define HL_PROG_INNER_H

#include <stdint.h>

#include "prog.h"

#define HL_NAP_NS UINT64_C(1000000) /* the longest where something may not ring */

/* Sleeps at the process's door for at most `ns`, unless something is waiting already or cond holds. True when
 * cond was true. */
bool hl_prog_sleep(hl_prog_cond *cond, void *arg, uint64_t ns);

/* Before a long nap: what is polled on every 64th pass, or more often, is polled on the next. */
void hl_prog_skip_passes(void);

/* Around idling: lets others into the two locks of the process if the calling thread is inside, and enters
 * again (cs.c). */
void hl_prog_give_way(void);
void hl_prog_come_back(void);

#endif
