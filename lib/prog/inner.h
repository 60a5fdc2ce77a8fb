/* What the files of prog share. */
#ifndef HL_PROG_INNER_H
#define HL_PROG_INNER_H

#include <stdint.h>

#include "prog.h"

/* Sleeps at the process's door for at most `ns`, unless cond holds or something is waiting already. */
void hl_prog_sleep(hl_prog_cond *cond, void *arg, uint64_t ns);

/* Around idling: lets others into the process's one lock if the calling thread is inside, and enters again.
 */
void hl_prog_give_way(void);
void hl_prog_come_back(void);

#endif
