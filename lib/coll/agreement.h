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
#ifndef HL_AGREEMENT_H
#define HL_AGREEMENT_H

#include <stdbool.h>

#include "atomic.h"
#include "comm.h"

enum hl_agreement_state { HL_AGREEMENT_OPEN, HL_AGREEMENT_LOST, HL_AGREEMENT_KNOWN, HL_AGREEMENT_NOBODY };

struct hl_agreement {
    /* this rank's list of agreements; at: the pointer to this one, NULL: it is not in the list */
    struct hl_agreement *next, **at;
    const struct hl_comm *comm; /* whose members agree */
    uint64_t ctx;
    int tag;     /* tag of the agreement; (ctx, tag) is its name */
    hl_a64 word; /* atomic: enum hl_agreement_state << 32 | the result as uint32_t */
    /* [size] by member: 1 + the deaths that were known when it was asked and had lost the result. atomic.
     * NULL: nobody was asked */
    hl_a32 *said;
    uint64_t due_ns; /* time of the next question */
};

/* Registers the handler with rx; called before rx starts. */
int hl_agreement_serve(void);

/* Puts an agreement, which is open then, on the list; takes it off and forgets it (nothing for a zeroed one).
 * Any thread. */
void hl_agreement_open(struct hl_agreement *v, const struct hl_comm *comm, int tag);
void hl_agreement_close(struct hl_agreement *v);

/* Sets the result, or says that it is lost. */
void hl_agreement_know(struct hl_agreement *v, int32_t result);
void hl_agreement_lose(struct hl_agreement *v);

/* Asks the members that have not answered yet for a result that this rank has lost. True when nothing is left
 * to ask: the result is known, or nobody has it. */
bool hl_agreement_ask(struct hl_agreement *v);

/* Gets the result; false: it is not known, or nobody has it. */
bool hl_agreement_is(const struct hl_agreement *v, int32_t *result);

#endif
