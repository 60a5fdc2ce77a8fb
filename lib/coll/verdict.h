/* What members agreed on, for those whose agreement a death has spoilt.
 *
 * Who dies in the middle of an exchange may have served some members and not others: these know the result,
 * those only that they have lost it. They ask the others' receive threads, until one of these knows it, or
 * all that live say that they have lost it too: then there is none, and none is as good as a refusal.
 *
 *   OPEN -- the result --> REFUSED, READS, CANNOT_READ
 *        -- lost ------> LOST -- an answer, or nobody knows --> one of these
 *
 * Who is not on the list any more has refused. An answer counts when it was asked for after the last death:
 * what the dead have said is in the answerer's hands by then. */
#ifndef HL_VERDICT_H
#define HL_VERDICT_H

#include <stdbool.h>

#include "atomic.h"
#include "comm.h"

enum hl_verdict_word {
    HL_VERDICT_OPEN,
    HL_VERDICT_LOST,
    HL_VERDICT_REFUSED,
    HL_VERDICT_READS,       /* a board, whose members read each other's private memory */
    HL_VERDICT_CANNOT_READ, /* a board */
};

struct hl_verdict {
    struct hl_verdict *next, **at; /* on the list; at: what points here, NULL: it is not on it */
    const struct hl_comm *comm;    /* whose members agree */
    uint64_t ctx;
    int tag;         /* of the agreement: with ctx, its name */
    hl_a32 word;     /* atomic: enum hl_verdict_word */
    hl_a32 *said;    /* [size] by member: 1 + the deaths that were known when it was asked and had lost it;
                      * atomic. The owner's memory, zeroed before it is opened */
    uint64_t due_ns; /* when to ask again */
};

/* Registers with rx; before it starts. */
int hl_verdict_serve(void);

/* Puts an open one on the list, takes one off it (once more: nothing). Any thread. */
void hl_verdict_open(struct hl_verdict *v, const struct hl_comm *comm, int tag);
void hl_verdict_close(struct hl_verdict *v);

/* The result, or that it is lost. */
void hl_verdict_set(struct hl_verdict *v, enum hl_verdict_word word);

/* After it was lost: asks who has not answered; the result, or HL_VERDICT_LOST as long as it is not known. */
enum hl_verdict_word hl_verdict_ask(struct hl_verdict *v);

#endif
