/* Making and unmaking what a window knows about its targets. */
#ifndef HL_REACH_H
#define HL_REACH_H

#include "win.h"

/* What a rank brings to a new window, besides the fields of the window itself. */
struct hl_win_ask {
    uint64_t unit;
    int rc;                  /* 0, or the error that this rank already has */
    struct hl_mem_wish wish; /* for memory that the window takes */
    const char *func;        /* the user's call */
    bool apart; /* MPI_Win_allocate_shared: every rank has pages of its own; if not, w->base is set here */
};

/* Exchanges what the ranks brought (in w: comm, size, rank, base, bytes, ctl_piece) and fills in the rest of
 * w, also w->id and the context of w->comm. Collective over `comm`, whose group w->comm has: an agreement, an
 * allgather, a broadcast (contiguous shared memory), an agreement; two exchanges more where some memory
 * cannot be mapped. When one rank has an error all ranks return one: HL_ERR_NO_MEM, HL_ERR_RMA_SHARED,
 * HL_ERR_OTHER; HL_ERR_RMA_FLAVOR or HL_ERR_INFO_VALUE when the ranks called for windows that do not fit
 * together. hl_win_forget_all undoes it, and must be called after errors as well. */
int hl_win_reach_all(struct hl_win *w, struct hl_comm *comm, const struct hl_win_ask *ask);
void hl_win_forget_all(struct hl_win *w);

/* All ranks of `comm` come with their error `rc` or, without one, with `need` (0 or -1), and get the smallest
 * of all. When that is an error and this rank has none, the error's text names the rank that has it, and
 * repeats that rank's text. */
int hl_win_agree(struct hl_comm *comm, int rc, int need);

/* Makes the queue of w's own lock ready. */
void hl_win_lockq_open(struct hl_win *w);

#endif
