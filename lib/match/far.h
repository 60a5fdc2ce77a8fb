/* Messages over the network, as the rest of match sees them. */
#ifndef HL_MATCH_FAR_H
#define HL_MATCH_FAR_H

#include "inner.h"

/* Bytes of a layout that go with a message. */
struct hl_far_part {
    const struct hl_type *type;
    const void *buf;
    int64_t count;
    uint64_t offset, n; /* packed bytes */
    bool patient;       /* wait for a busy port: never from a poll */
};

uint64_t hl_far_piece_max(const struct hl_matcher *m); /* bytes of one DATA */
bool hl_far_is_eager(const struct hl_matcher *m, uint64_t len);
/* 1: it left; 0: no room now; else an error. */
int hl_far_eager(struct hl_matcher *m, struct hl_peer *p, const struct hl_msg_head *head,
                 const struct hl_far_part *part);
int hl_far_rts(struct hl_matcher *m, struct hl_peer *p, const struct hl_ring_slot *slot);
int hl_far_control(struct hl_matcher *m, struct hl_peer *p, const struct hl_ring_slot *slot,
                   const struct hl_far_part *part);

bool hl_far_idle(const struct hl_matcher *m);
int hl_far_poll(struct hl_matcher *m, struct hl_work *w);
/* hl_net_visit, where there are ports. */
void hl_far_visit(struct hl_matcher *m, void (*fn)(struct hl_matcher *m, unsigned port, struct hl_work *w),
                  struct hl_work *w);

/* Before sleeping: has the receive thread ring when a port has work (HL_PROG_RINGS, also where ports cannot),
 * but where something is there already or another thread owns one. */
enum hl_prog_armed hl_far_arm(struct hl_matcher *m);

/* Can ports ring at all? */
bool hl_far_rings(const struct hl_matcher *m);
int hl_far_open(struct hl_matcher *m, unsigned ports);
void hl_far_close(struct hl_matcher *m);
int hl_far_meet(struct hl_matcher *m, struct hl_peer *p);

/* inbox.c: matches or stores what a port received. */
void hl_inbox_receive(struct hl_matcher *m, const struct hl_arrival *a, struct hl_work *w);

#endif
