/* Inside the module: bounded memory for unexpected messages (flow.c). */
#ifndef HL_FLOW_H
#define HL_FLOW_H

#include "atomic.h"
#include "lock.h"

struct hl_matcher;
struct hl_inbox;

#define HL_FLOW_SOURCES 8 /* sources chosen at once */

/* The limit of memory for unexpected messages, and the sources that were chosen to keep their payloads. */
struct hl_flow {
    uint64_t limit; /* bytes; above it sources are throttled */
    hl_a32 busy; /* atomic: 1 while a source is throttled or will be; counted in `backlog`, so polls look */
    struct hl_mutex lock;
    /* number of sources chosen by an inbox's owner; the next poll tells them */
    int n HL_MEMBER_GUARDED_BY(lock);
    int from[HL_FLOW_SOURCES] HL_MEMBER_GUARDED_BY(lock); /* their hl_entry.from */
    bool said HL_MEMBER_GUARDED_BY(lock);
};

/* Called when `ib` holds more bytes than its mark: chooses sources to throttle if the sum is above the limit.
 * Only its owner calls it. */
void hl_flow_check(struct hl_matcher *m, struct hl_inbox *ib) HL_COLD;
/* Tells the chosen sources to keep payloads, and tells all throttled ones to go on when half of the memory is
 * free. The calling thread owns no inbox. */
int hl_flow_run(struct hl_matcher *m) HL_COLD;
/* Tells all throttled sources to go on; nobody is throttled afterwards. The end of the library calls it. */
void hl_flow_end(struct hl_matcher *m);
/* A peer over the network has told this rank to keep its payloads (on), or to go on. */
void hl_flow_told(struct hl_matcher *m, uint32_t world, bool on);

#endif
