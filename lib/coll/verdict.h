/* What members agreed on, for those whose agreement a death has spoilt.
 *
 * Who dies in the middle of an exchange may have served some members and not others: these know the result,
 * those only that they have lost it. They ask the others' receive threads, until one of these knows it, or
 * all that live say that they have lost it too: then it is nobody's.
 *
 *   OPEN -- the result --> KNOWN
 *        -- lost ------> LOST -- an answer ------> KNOWN
 *                             -- nobody knows --> NOBODY
 *
 * Who has it on its list no more has lost it. An answer counts when it was asked for after the last death:
 * what the dead have said is in the answerer's hands by then. */
#ifndef HL_VERDICT_H
#define HL_VERDICT_H

#include <stdbool.h>

#include "atomic.h"
#include "comm.h"

enum hl_verdict_state { HL_VERDICT_OPEN, HL_VERDICT_LOST, HL_VERDICT_KNOWN, HL_VERDICT_NOBODY };

struct hl_verdict {
    struct hl_verdict *next, **at; /* on the list; at: what points here, NULL: it is not on it */
    const struct hl_comm *comm;    /* whose members agree */
    uint64_t ctx;
    int tag;         /* of the agreement: with ctx, its name */
    hl_a64 word;     /* atomic: enum hl_verdict_state << 32 | the result as uint32_t */
    hl_a32 *said;    /* [size] by member: 1 + the deaths that were known when it was asked and had lost it;
                      * atomic. NULL: nobody was asked */
    uint64_t due_ns; /* when to ask again */
};

/* Registers with rx; before it starts. */
int hl_verdict_serve(void);

/* Puts an open one on the list, takes one off it and forgets it (which was zeroed: nothing). Any thread. */
void hl_verdict_open(struct hl_verdict *v, const struct hl_comm *comm, int tag);
void hl_verdict_close(struct hl_verdict *v);

/* The result, or that it is lost. */
void hl_verdict_know(struct hl_verdict *v, int32_t result);
void hl_verdict_lose(struct hl_verdict *v);

/* After it was lost: asks who has not answered. True when that is over. */
bool hl_verdict_ask(struct hl_verdict *v);

/* The result; false: it is not known, or nobody's. */
bool hl_verdict_is(const struct hl_verdict *v, int32_t *result);

#endif
