/* checked_mode: accesses that the standard calls conflicting, of one origin or of origins of one node, found
 * when they are issued.
 *
 * Remembered per (window, target) until the call that completes them: the bytes of the target that this
 * process puts, gets and accumulates, and the bytes of its own memory that operations read and write. An
 * operation is HL_ERR_RMA_CONFLICT, and is not begun, when
 *   - its target bytes were put before, or it puts and they were read or accumulated, or one of the two
 *     accumulates and the other gets (accumulates meet accumulates and gets meet gets freely, and MPI_NO_OP
 *     meets both), by this process or by another rank of the node;
 *   - its layout names a byte of the target twice and it puts;
 *   - it writes own memory that another operation reads or writes, or reads what another writes;
 *   - the target is this rank itself and target bytes are own memory of an operation, in the same sense.
 * flush, unlock and complete forget everything of their targets; flush_local all but puts and accumulates;
 * their forms with a request when the user ends the request, and of what began before them alone; a fence
 * forgets when all ranks have come to it, so that accesses between two fences meet in whatever order
 * they come. Other origins meet puts and accumulates that MPI_Win_complete has completed until the target's
 * exposure epoch is over. Operations with requests are compared; they leave only what they put or accumulate,
 * because the library does not learn what the user knows of their completion.
 * Ranks of a node look into each other's sets, which stand in memory that all of them map, under one lock. An
 * operation is compared when its target's lock is held, and a call that completes operations forgets them
 * before it tells anybody: what locks, fences and post-start put in order does not meet.
 * It does not find conflicts between origins that do not map each other's memory (other nodes,
 * HOTLANE_NEAR=none), with puts that notify (their flag tells the user of completion), and with the user's
 * own loads and stores. */
#ifndef HL_CONFLICT_H
#define HL_CONFLICT_H

#include "hl_build.h"
#include "win.h"

/* Bytes behind a window's control block for what its rank shows its peers: zero at first. */
size_t hl_conflict_room(void);

/* Makes and frees a window's sets. hl_conflict_make returns 0 or HL_ERR_NO_MEM; `p` may be NULL. */
int hl_conflict_make(struct hl_conflicts **made);
void hl_conflict_free(struct hl_conflicts *p);

/* Compares a checked operation with the remembered ones and remembers it: hl_conflict_move a put or get,
 * hl_conflict_acc an accumulate, or a compare and swap (`compare` not NULL). Any thread. HL_ERR_RMA_CONFLICT,
 * HL_ERR_NO_MEM. */
int hl_conflict_move(const struct hl_move *m, const struct hl_span *span);
int hl_conflict_acc(const struct hl_acc *a, const struct hl_span *span, const void *compare);

/* Forgets operations on `target` (-1: all) that are completed: all of them, or (local) all but puts and
 * accumulates, which are complete at the origin only. */
void hl_conflict_forget_checked(struct hl_win *w, int target, bool local);
HL_INLINE void hl_conflict_forget(struct hl_win *w, int target, bool local)
{
    if (HL_CHECKED) {
        hl_conflict_forget_checked(w, target, local);
    }
}

/* A flush with a request begins: *number is its number. Its end, which is when the user's call ends the
 * request, forgets what had begun on the target before. HL_ERR_NO_MEM. */
int hl_conflict_flush_begins(struct hl_win *w, int target, uint32_t *number);
void hl_conflict_flush_ends(struct hl_win *w, int target, bool local, uint32_t number);

/* Called by MPI_Win_complete before it completes the operations on `target` and tells the target.
 * HL_ERR_NO_MEM. */
int hl_conflict_complete(struct hl_win *w, int target);

/* An exposure epoch of mine begins or has ended. The call comes before any other rank knows of it. */
void hl_conflict_expose(struct hl_win *w);

/* A fence that waits for all ranks begins, or (begins false) has ended. In between nothing is forgotten. */
void hl_conflict_fence(struct hl_win *w, bool begins);

/* Says whether the calling thread's next operations have requests. */
void hl_conflict_requests(bool on);

#endif
