/* Inside the module: bounded memory for unexpected messages (choke.c). */
#ifndef HL_CHOKE_H
#define HL_CHOKE_H

#include "inner.h"

/* `ib` holds more than its mark: chooses whom to choke if the sum is above the limit. Its owner only. */
void hl_choke_look(struct hl_matcher *m, struct hl_inbox *ib) HL_COLD;
/* Tells whom an owner has chosen, lets all go when half the memory is free. Not while an inbox is owned. */
int hl_choke_run(struct hl_matcher *m) HL_COLD;
/* Lets all go for good: at the end. */
void hl_choke_end(struct hl_matcher *m);
/* A peer by the network chokes us, or lets us go. */
void hl_choke_told(struct hl_matcher *m, uint32_t world, bool on);

#endif
