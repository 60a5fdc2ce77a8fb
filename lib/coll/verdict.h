/* What members agreed on, for members that a death has cut off from it.
 *
 * A rank that dies in the middle of an exchange may have served some members and not others: these know the
 * result, those only know that they have lost it. They ask the others' receive threads, until one of these
 * knows it, or all that live say that they have lost it, too: then nobody has it.
 *
 *   OPEN -- the result --> KNOWN
 *        -- lost ------> LOST -- an answer ------> KNOWN
 *                             -- nobody knows --> NOBODY
 *
 * A member whose list no longer has the agreement has lost it. An answer counts if it was asked for after the
 * last death: by then the answerer has all that the dead have said. */
#ifndef HL_VERDICT_H
#define HL_VERDICT_H

#include <stdbool.h>

#include "atomic.h"
#include "comm.h"

enum hl_verdict_state { HL_VERDICT_OPEN, HL_VERDICT_LOST, HL_VERDICT_KNOWN, HL_VERDICT_NOBODY };

struct hl_verdict {
    /* this rank's list of agreements; at: the pointer to this one, NULL: it is not in the list */
    struct hl_verdict *next, **at;
    const struct hl_comm *comm; /* whose members agree */
    uint64_t ctx;
    int tag;     /* tag of the agreement; (ctx, tag) is its name */
    hl_a64 word; /* atomic: enum hl_verdict_state << 32 | the result as uint32_t */
    /* [size] by member: 1 + the deaths that were known when it was asked and had lost the result. atomic.
     * NULL: nobody was asked */
    hl_a32 *said;
    uint64_t due_ns; /* time of the next question */
};

/* Registers the handler with rx; called before rx starts. */
int hl_verdict_serve(void);

/* Puts an agreement, which is open then, on the list; takes it off and forgets it (nothing for a zeroed one).
 * Any thread. */
void hl_verdict_open(struct hl_verdict *v, const struct hl_comm *comm, int tag);
void hl_verdict_close(struct hl_verdict *v);

/* Sets the result, or says that it is lost. */
void hl_verdict_know(struct hl_verdict *v, int32_t result);
void hl_verdict_lose(struct hl_verdict *v);

/* Called after it was lost: asks the members that have not answered. True when that is over. */
bool hl_verdict_ask(struct hl_verdict *v);

/* Gets the result; false: it is not known, or nobody has it. */
bool hl_verdict_is(const struct hl_verdict *v, int32_t *result);

#endif
