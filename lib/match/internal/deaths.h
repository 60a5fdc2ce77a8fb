/* Inside the module: operations that wait for ranks that have died (deaths.c). */
#ifndef HL_DEATHS_H
#define HL_DEATHS_H

#include "match_internal.h"

void hl_deaths_note(struct hl_matcher *m); /* a rank has died; any thread */
/* Ends operations that wait for dead ranks; returns how many. `idle`: the poll has moved nothing so far. */
int hl_deaths_run(struct hl_matcher *m, bool idle) HL_COLD;
int hl_deaths_error(int world) HL_COLD;
int hl_deaths_member(const struct hl_matcher *m, uint64_t ctx) HL_COLD; /* a dead member, or -1 */
void hl_fail_receive(struct hl_req *r, int world) HL_COLD;
void hl_fail_send(struct hl_matcher *m, struct hl_req *r) HL_COLD;
/* Called for a probe that found nothing: the error if it never will, else 0. */
int hl_deaths_probe(struct hl_matcher *m, const struct hl_recv *p);
/* inbox.c: passes over slots that dead ranks have claimed and left empty; returns how many. Only the owner
 * calls it. */
int hl_inbox_skip(const struct hl_matcher *m, struct hl_inbox *ib) HL_COLD;

#endif
