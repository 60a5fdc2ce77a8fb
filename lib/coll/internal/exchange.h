/* Operations of the alltoall family by mailboxes: members on my node by their mailboxes, the others by
 * messages, in one operation.
 *
 *   up to HL_MAIL_BYTES   packed into the peer's slot
 *   up to 32 KiB           packed into the pair's ring: two copies at memory speed, no system call; up to
 *                          128 KiB where more threads than CPUs are at work
 *   larger, one block      its address is posted; the peer reads it and acknowledges
 *   larger                 streamed through the ring; without one, or when reading fails, by a message
 *
 * The sender chooses how a pair's data travels, and tells it in the slot; all members know whether there are
 * mailboxes. Once they are made, an operation takes no lock and, on one node, no read-modify-write. */
#ifndef HL_EXCHANGE_H
#define HL_EXCHANGE_H

#include "boxes.h"
#include "coll.h"
#include "schedule.h"

struct hl_exchange;

/* True if this call may go by mailboxes, if they are made; the same on all ranks. False where locks are asked
 * for (HOTLANE_CS): the designs compared there have an alltoall of messages, and mailboxes would never enter
 * a section. */
bool hl_exchange_fits(const struct hl_coll_call *c);

/* Runs the operation over mailboxes that are READY, waiting with progress. Returns its error. */
int hl_exchange_run(const struct hl_coll_call *c, struct hl_boxes *boxes);

/* For a nonblocking or persistent call: keeps copies of all arrays that the call points to, and references to
 * the types. The mailboxes may still be PENDING. `own`: they belong to this operation alone and are dropped
 * with it; it may be started again and again, on different ranks in different orders. `tag`: of its messages,
 * if the mailboxes are its own. HL_ERR_NO_MEM: the boxes stay the caller's. */
struct hl_exchange_how {
    struct hl_boxes *boxes;
    bool own;
    int tag;
};
int hl_exchange_new(const struct hl_coll_call *c, const struct hl_exchange_how *how,
                    struct hl_exchange **made);
void hl_exchange_free(struct hl_exchange *x);

/* Begins the operation (again). Local, in the order of calls. */
void hl_exchange_begin(struct hl_exchange *x);

/* The state of its mailboxes. When they are REFUSED, nothing was done yet, and the call may be carried out
 * otherwise. */
enum hl_boxes_state hl_exchange_state(const struct hl_exchange *x);

/* Describes it in words, for the watchdog; called between two steps. */
void hl_exchange_describe(const struct hl_exchange *x, struct hl_wait_desc *t);
const struct hl_coll_call *hl_exchange_call(const struct hl_exchange *x);

/* Called when the mailboxes are READY: goes on as far as possible; true when the operation has ended. One
 * thread at a time, any thread. */
bool hl_exchange_step(struct hl_exchange *x);

/* The first error of an operation that has ended, or 0. */
int hl_exchange_error(const struct hl_exchange *x);

#endif
