/* Making and unmaking what a window knows of its targets. */
#ifndef HL_REACH_H
#define HL_REACH_H

#include "win.h"

/* What a rank brings to a new window, besides what stands in the window itself. */
struct hl_win_ask {
    uint64_t unit;
    int rc;                  /* the error that this rank already has */
    struct hl_mem_wish wish; /* of memory */
    const char *func;        /* the user's call */
    bool apart; /* MPI_Win_allocate_shared: every rank has pages of its own, and w->base is set here if not */
};

/* Exchanges what the ranks brought (w: comm, size, rank, base, bytes, ctl_piece) and fills in the rest,
 * w->id and the context of w->comm with it. Collective over `comm`, which w->comm has its group of: an
 * agreement, an allgather, of contiguous shared memory a broadcast, an agreement; two exchanges more where
 * what was to be mapped cannot be. An error is an error on all ranks. Undone by hl_win_forget_all,
 * after errors too. HL_ERR_NO_MEM, HL_ERR_RMA_SHARED, HL_ERR_OTHER; HL_ERR_RMA_FLAVOR, HL_ERR_INFO_VALUE when
 * the ranks called for windows that do not fit together. */
int hl_win_reach_all(struct hl_win *w, struct hl_comm *comm, const struct hl_win_ask *ask);
void hl_win_forget_all(struct hl_win *w);

/* All ranks of `comm` come with their error or with `need` (0 or -1) and get the smallest of all. When that
 * is an error and this rank has none, its text says which rank has, and that one's text. */
int hl_win_agree(struct hl_comm *comm, int rc, int need);

/* Gets the queue of w's own lock ready. */
void hl_win_lockq_open(struct hl_win *w);

#endif
