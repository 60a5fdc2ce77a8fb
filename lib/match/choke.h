/* Inside the module: bounded memory for unexpected messages (choke.c). */
#ifndef HL_CHOKE_H
#define HL_CHOKE_H

#include "atomic.h"
#include "lock.h"

struct hl_matcher;
struct hl_inbox;

#define HL_CHOKE_MAX 8 /* sources chosen at once */

/* Memory of unexpected messages. */
struct hl_choke {
    uint64_t limit; /* bytes */
    hl_a32 busy;    /* atomic: 1 while somebody is to be choked or is: counted in `backlog`, so polls look */
    struct hl_mutex lock;
    int n HL_MEMBER_GUARDED_BY(lock); /* chosen by an inbox's owner, to be told by the next poll */
    int from[HL_CHOKE_MAX] HL_MEMBER_GUARDED_BY(lock); /* as in struct hl_entry */
    bool said HL_MEMBER_GUARDED_BY(lock);
};

/* `ib` holds more than its mark: chooses whom to choke if the sum is above the limit. Its owner only. */
void hl_choke_look(struct hl_matcher *m, struct hl_inbox *ib) HL_COLD;
/* Tells whom an owner has chosen, lets all go when half the memory is free. Not while an inbox is owned. */
int hl_choke_run(struct hl_matcher *m) HL_COLD;
/* Lets all go for good: at the end. */
void hl_choke_end(struct hl_matcher *m);
/* A peer by the network chokes us, or lets us go. */
void hl_choke_told(struct hl_matcher *m, uint32_t world, bool on);

#endif
