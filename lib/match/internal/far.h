/* Messages over the network, as the rest of match sees them. */
#ifndef HL_MATCH_FAR_H
#define HL_MATCH_FAR_H

#include "match_internal.h"

/* Bytes of a layout that go with a message. */
struct hl_far_part {
    const struct hl_type *type;
    const void *buf;
    int64_t count;
    uint64_t offset, n; /* packed bytes */
    bool patient;       /* wait for a port that is busy; never set in a poll */
};

uint64_t hl_far_piece_max(const struct hl_matcher *m); /* bytes of one DATA message */
bool hl_far_is_eager(const struct hl_matcher *m, uint64_t len);

/* port.c: posts an eager message: HL_SENT, HL_NO_ROOM or an error. hl_far_rts and hl_far_control return the
 * same. */
int hl_far_eager(struct hl_matcher *m, struct hl_peer *p, const struct hl_msg_head *head,
                 const struct hl_far_part *part);
int hl_far_rts(struct hl_matcher *m, struct hl_peer *p, const struct hl_ring_slot *slot);
int hl_far_control(struct hl_matcher *m, struct hl_peer *p, const struct hl_ring_slot *slot,
                   const struct hl_far_part *part);

/* True when everything posted has left this process. */
bool hl_far_idle(const struct hl_matcher *m);
/* hl_net_visit, if there are ports. */
void hl_far_visit(struct hl_matcher *m, void (*fn)(struct hl_matcher *m, unsigned port, struct hl_work *w),
                  struct hl_work *w);

/* Called before sleeping: makes the receive thread ring when a port has work. Returns HL_PROG_RINGS, also
 * where ports cannot ring; HL_PROG_WAITING if something is there already; HL_PROG_SERVED if another thread
 * owns a port. */
enum hl_prog_armed hl_far_arm(struct hl_matcher *m);

/* True when ports can wake a sleeper now. */
bool hl_far_rings(const struct hl_matcher *m);
int hl_far_open(struct hl_matcher *m, unsigned ports);
void hl_far_close(struct hl_matcher *m);
int hl_far_add_peer(struct hl_matcher *m, struct hl_peer *p);

/* inbox.c: matches or stores a message that a port received. */
void hl_inbox_receive(struct hl_matcher *m, const struct hl_arrival *a, struct hl_work *w);

#endif
