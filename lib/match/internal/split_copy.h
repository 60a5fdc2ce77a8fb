/* Inside the module: large messages on a node that both ends copy at the same time, and copies by the
 * kernel. */
#ifndef HL_SPLIT_COPY_H
#define HL_SPLIT_COPY_H

#include "match_internal.h"
#include "near_map.h"

/* ---- cma.c ---- */

uint64_t
hl_cma_process(void); /* a random number of this process: process ids are not unique across namespaces */
/* true for a rank of this process (threads, in tests) */
bool hl_cma_is_here(const struct hl_match_part *h);
bool hl_cma_works(struct hl_matcher *m, struct hl_peer *p); /* true when the peer's memory can be read */
/* Copies `n` bytes between `theirs` in the peer's process and `mine`. False: not all were copied, and errno
 * says why (ESRCH: the rank has died). */
bool hl_cma_move(const struct hl_matcher *m, const struct hl_peer *p, enum hl_near_way way, uint64_t theirs,
                 void *mine, uint64_t n);
/* hl_cma_move for other modules: 0, HL_ERR_PROC_ABORTED (it has died), or HL_ERR_OTHER (a bad address). */
int hl_cma_access(struct hl_matcher *m, struct hl_peer *p, enum hl_near_way way, uint64_t theirs, void *mine,
                  uint64_t n);

/* ---- split_copy.c ---- */

/* The result of a try to fetch the bytes of a receive. */
enum hl_fetched {
    HL_FETCHED,     /* the bytes are here */
    HL_FETCHED_NOT, /* the sender must be asked for them */
    HL_FETCHED_SOON /* the end that copies the last piece ends the receive */
};

/* Copies a message from one block to another, with the sender's help if it comes. The caller owns no
 * inbox. */
enum hl_fetched hl_split_fetch(struct hl_matcher *m, struct hl_peer *p, struct hl_req *r, char *to);
/* On the sender: notes that it may help. The owner of the message's inbox calls it. */
void hl_split_offered(struct hl_matcher *m, const struct hl_ring_slot *slot);
/* Copies one piece of a message. Returns whether there was anything to do. */
int hl_split_help(struct hl_matcher *m);
/* On the receiver: the sender copied the last piece. */
void hl_split_ended(struct hl_matcher *m, const struct hl_msg_ended *ended);
/* The sender of this receive has died, so the receive waits no longer for its copy. */
void hl_split_forget(struct hl_matcher *m, struct hl_req *r);
/* rndv.c: ends a receive that both ends copied, the sender last. */
void hl_rndv_ended(struct hl_matcher *m, struct hl_req *r, bool failed);
void hl_control_start(const struct hl_matcher *m, struct hl_ring_slot *slot,
                      enum hl_msg_kind kind); /* fills the head; the area is zeros */
void hl_split_close(struct hl_matcher *m);

#endif
