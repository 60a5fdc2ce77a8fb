/* Making and unmaking what a window knows of its targets. */
#ifndef HL_REACH_H
#define HL_REACH_H

#include "win.h"

/* What a rank brings to a new window, besides what stands in the window itself. */
struct hl_win_ask {
    uint64_t unit;
    int rc; /* the error that this rank already has */
    /* Memory in a segment of another rank of my node (MPI_Win_allocate_shared): then w->base is set here.
     * seg_id 0: memory of my own. */
    int seg_owner; /* world rank */
    uint64_t seg_id, seg_len, seg_off;
};

/* Exchanges what the ranks brought (w: comm, size, rank, base, bytes, ctl, ctl_piece) and fills in the rest.
 * Collective over w->comm; an error is an error on all ranks. Undone by hl_win_forget_all, after errors too.
 * HL_ERR_NO_MEM, HL_ERR_RMA_SHARED, HL_ERR_OTHER. */
int hl_win_reach_all(struct hl_win *w, const struct hl_win_ask *ask);
void hl_win_forget_all(struct hl_win *w);

/* Gets the queue of w's own lock ready. */
void hl_win_lockq_open(struct hl_win *w);

#endif
