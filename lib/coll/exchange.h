/* Operations of the alltoall family by mailboxes: members on my node by theirs, the others by messages, in
 * one operation.
 *
 *   up to HL_MAIL_BYTES   packed into the peer's slot
 *   up to 32 KiB           packed into the pair's ring: two copies at memory speed, no system call; up to
 *                          128 KiB where more threads than CPUs are at work
 *   larger, one block      its address is posted; the peer reads it and acknowledges
 *   larger                 streamed through the ring; without one, or when reading fails, by a message
 *
 * What a pair does is the sender's choice, told in the slot; that there are mailboxes is known to all
 * members. Once they are made, an operation takes no lock and, on one node, no read-modify-write. */
#ifndef HL_EXCHANGE_H
#define HL_EXCHANGE_H

#include "boxes.h"
#include "coll.h"
#include "schedule.h"

struct hl_exchange;

/* May this call go by mailboxes, wherever they are made? The same on all ranks. Not where locks are asked for
 * (HOTLANE_CS), whose designs have an alltoall of messages: mailboxes would never enter a section. */
bool hl_exchange_fits(const struct hl_coll_call *c);

/* Runs the operation over mailboxes that are READY, waiting with progress. Returns its error. */
int hl_exchange_run(const struct hl_coll_call *c, struct hl_boxes *boxes);

/* For a call that comes back before its operation has ended: keeps copies of all that the call points to but
 * the data, and references to the types. The mailboxes may be PENDING still. `own`: they are this operation's
 * alone and go with it; it may be started again and again, on different ranks in different orders. `tag`: of
 * the operation, for messages where mailboxes are its own. HL_ERR_NO_MEM: boxes stay the caller's. */
struct hl_exchange_how {
    struct hl_boxes *boxes;
    bool own;
    int tag;
};
int hl_exchange_new(const struct hl_coll_call *c, const struct hl_exchange_how *how,
                    struct hl_exchange **made);
void hl_exchange_free(struct hl_exchange *x);

/* Begins it (again): local, in the order of calls. */
void hl_exchange_begin(struct hl_exchange *x);

/* Of its mailboxes. Once they are REFUSED, its call may be carried out otherwise: nothing was done yet. */
enum hl_boxes_state hl_exchange_state(const struct hl_exchange *x);

/* In words, between two steps: for the watchdog. */
void hl_exchange_tell(const struct hl_exchange *x, struct hl_told *t);
const struct hl_coll_call *hl_exchange_call(const struct hl_exchange *x);

/* When they are READY: goes on as far as it can; true when it has ended. One thread at a time, any thread. */
bool hl_exchange_step(struct hl_exchange *x);

/* The first error of one that has ended. */
int hl_exchange_error(const struct hl_exchange *x);

#endif
