/* Inside the module: large messages on a node that both ends copy at once, and the kernel's copies. */
#ifndef HL_BOTH_H
#define HL_BOTH_H

#include "inner.h"
#include "near.h"

/* ---- cma.c ---- */

uint64_t
hl_cma_process(void); /* a random number of this process, whatever its process number means to others */
bool hl_cma_is_here(const struct hl_home *h);               /* a rank of this process: threads, in tests */
bool hl_cma_works(struct hl_matcher *m, struct hl_peer *p); /* may its memory be read? */
/* `n` bytes between `theirs` in that process and `mine`. False: not all of them, see errno. */
bool hl_cma_move(const struct hl_home *h, enum hl_near_way way, uint64_t theirs, void *mine, uint64_t n);
/* For other modules: HL_ERR_PROC_ABORTED, HL_ERR_OTHER. */
int hl_cma_access(struct hl_matcher *m, struct hl_peer *p, enum hl_near_way way, uint64_t theirs, void *mine,
                  uint64_t n);

/* ---- both.c ---- */

/* What has become of a receive whose bytes were to be fetched. */
enum hl_fetched {
    HL_FETCHED,     /* they are here */
    HL_FETCHED_NOT, /* the sender must be asked for them */
    HL_FETCHED_SOON /* who copies the last of them ends the receive */
};

/* Copies a message between two blocks with the sender's help, if it comes. Outside all inboxes. */
enum hl_fetched hl_both_fetch(struct hl_matcher *m, struct hl_peer *p, struct hl_req *r, char *to);
/* The sender: notes that it may help; by the owner of the message's inbox. */
void hl_both_offered(struct hl_matcher *m, const struct hl_ring_slot *slot);
/* Helps with one piece. Returns whether there was anything to do. */
int hl_both_help(struct hl_matcher *m);
/* The receiver: the sender copied the last piece. */
void hl_both_ended(struct hl_matcher *m, const struct hl_msg_ended *ended);
/* The sender of this receive has died: nobody will copy any more. */
void hl_both_forget(struct hl_matcher *m, struct hl_req *r);
/* rndv.c: both ends have copied it, the sender last. */
void hl_rndv_ended(struct hl_matcher *m, struct hl_req *r, bool failed);
void hl_control_start(const struct hl_matcher *m, struct hl_ring_slot *slot,
                      enum hl_msg_kind kind); /* zeros */
void hl_both_close(struct hl_matcher *m);

#endif
