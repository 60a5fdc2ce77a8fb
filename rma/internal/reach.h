/* Making and unmaking what a window knows about its targets. */
#ifndef HL_REACH_H
#define HL_REACH_H

#include "win.h"

/* What a rank brings to a new window, besides the fields of the window itself. */
struct hl_win_ask {
    uint64_t unit;
    int rc;                  /* 0, or the error that this rank already has */
    struct hl_mem_wish wish; /* for memory that the window takes */
    int same;                /* enum hl_hints_same, of memory that the window takes for this rank alone */
    const char *func;        /* the user's call */
    bool apart; /* MPI_Win_allocate_shared: every rank has pages of its own; if not, w->base is set here */
};

/* Exchanges what the ranks brought (in w: comm, size, rank, base, bytes, ctl_piece) and fills in the rest of
 * w, also w->id and the context of w->comm. Collective over `comm`, whose group w->comm has: a comparison, an
 * allgather (where sizes and units agree within each node, and of address and key if these differ), a
 * broadcast (contiguous shared memory), an agreement; two exchanges more where some memory cannot be mapped.
 * When one rank has an error all ranks return one: HL_ERR_NO_MEM, HL_ERR_RMA_SHARED, HL_ERR_OTHER;
 * HL_ERR_RMA_FLAVOR or HL_ERR_INFO_VALUE when the ranks called for windows that do not fit together.
 * hl_win_forget_all undoes it, and must be called after errors as well. */
int hl_win_reach_all(struct hl_win *w, struct hl_comm *comm, const struct hl_win_ask *ask);
void hl_win_forget_all(struct hl_win *w);

/* What a rank needs all ranks to do. They agree on the smallest value; errors are smaller still. */
enum hl_win_need {
    HL_NEED_NONE = 0,
    HL_NEED_SOMETHING = -1, /* one segment for all (shared memory), or the network */
};

/* All ranks of `comm` come with their error `rc` or, without one, with `need`, and get the smallest of all.
 * When that is an error and this rank has none, the error's text names the rank that has it, and repeats that
 * rank's text. hl_win_agreed is the end of it: `lost` is the error of the exchange that brought `all`. */
int hl_win_agree(struct hl_comm *comm, int rc, int need);
int hl_win_agreed(struct hl_comm *comm, int rc, int lost, int all);

/* What the ranks of a new window compare (alike.c). */
enum hl_win_fact {
    HL_FACT_CALL,
    HL_FACT_SIZE,
    HL_FACT_UNIT,
    HL_FACT_ADDR,
    HL_FACT_KEY,
    /* Where one before HL_FACT_ADDR differs, all ranks exchange their cards (cards.h). The others are of
     * memory that the window takes and of its base (hotlane_symmetric). */
    HL_FACT_BASE,
    HL_FACT_SAME, /* enum hl_hints_same */
    HL_FACT_TOP,  /* hl_mem_symmetric_top */
    HL_FACTS
};
struct hl_facts {
    int64_t id;  /* of the window, issued by rank 0, INT64_MAX on others; afterwards rank 0's */
    bool far;    /* the network is open, and the ranks are not all of one node */
    bool hidden; /* the card hides how the memory is aligned; afterwards: some rank's card does */
    bool again;  /* memory may be taken anew for equal bases */
    int64_t fact[HL_FACTS];
    /* Afterwards, of all ranks: */
    bool lost; /* this rank has not got the others' facts, since a rank has died */
    bool same; /* all bases are equal */
    int64_t least_same, most_same, top;
};

/* hl_win_agree in which all also learn whether their facts are the same: HL_ALIKE, or HL_ALIKE_BUT_TARGETS
 * where addresses or keys differ. With `again` it may be HL_ALIKE_NOT_YET: some rank wants equal bases, none
 * refuses, and they are not equal; from `top` on the addresses are free on all ranks. `f`: NULL on a rank
 * with an error. */
enum { HL_ALIKE = 1, HL_ALIKE_BUT_TARGETS = 2, HL_ALIKE_NOT_YET = 3 };
int hl_win_compare(struct hl_comm *comm, int rc, int need, struct hl_facts *f);

/* Shows whether all bases of w are equal: by MPI_Win_get_info, and by a line where that was wanted and is not
 * so. The ranks agree for the last time behind it, as one of them may lack the memory (HL_ERR_NO_MEM). */
int hl_win_show_bases(struct hl_win *w, const struct hl_win_ask *ask, const struct hl_facts *f);

/* Takes the memory of w: at `place`, where that is not NULL. */
int hl_win_take_memory(struct hl_win *w, const struct hl_win_ask *ask, void *place);

/* Makes the queue of w's own lock ready. */
void hl_win_lockq_open(struct hl_win *w);

#endif
