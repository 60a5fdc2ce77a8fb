/* Ports: the network endpoints of matched messages.
 *
 * A message of (ctx, src) leaves by port hash(ctx, src) and enters the peer's port of the same number: one
 * connection for each such pair, so the provider's order (FI_ORDER_SAS) is MPI's; where receives complete in
 * another one, their numbers tell it (rx/window.h). A port belongs to one
 * thread at a time; holds are short. Everything is copied into a port's buffers, so an eager send is over
 * when it was posted. */
#ifndef HL_MATCH_PORT_H
#define HL_MATCH_PORT_H

#include "fab.h"
#include "inner.h"
#include "window.h"

#define HL_PORT_TX 64  /* buffers of a port for what leaves */
#define HL_PORT_RX 64  /* and for what comes */
#define HL_TRAIN_MAX 4 /* buffers of one message; longer ones are fetched by their receivers */

/* What stands before every message. */
struct hl_far_head {
    uint64_t nonce; /* of the job; checked first */
    uint32_t from;  /* world rank of the sender */
    uint32_t len;   /* bytes behind the area */
    uint64_t seq;   /* number of this message between the two ports, from 1; with HL_FAR_COUNT see tail.c */
    struct hl_msg_head head;
    union hl_msg_area area;
};
_Static_assert(sizeof(struct hl_far_head) == 80, "headers are alike on all machines of a job");
#define HL_FAR_COUNT (UINT64_C(1) << 63) /* in seq: such a number is never the next one */
#define HL_FAR_GAP                                                                                           \
    (UINT64_C(1) << 62) /* in hl_port.heard: messages wait in its window, none is the next one */

/* A message that comes in several buffers, in order and with none of another message between: the first says
 * the length, the others have a piece's header without a name. */
struct hl_far_train {
    struct hl_msg_head head;
    uint64_t got;
    unsigned char data[];
};

struct hl_port;

struct hl_port_buf {
    struct fi_context2 context; /* the provider's while posted */
    struct hl_port_buf *next;   /* free list */
    struct hl_port *port;
    struct hl_peer *to; /* of what leaves */
    uint32_t bytes;
    bool rx;
    _Alignas(8) unsigned char data[];
};

/* All but `owned` is the owner's. */
struct hl_port {
    HL_ALIGNED_LINE struct hl_flag owned;
    struct hl_fab_ep ep;
    struct hl_port_buf *tx; /* free ones */
    struct hl_port_buf *held,
        **held_tail;             /* filled ones that found no room behind the first of their message */
    hl_a32 holds;                /* atomic: how many; changed by the owner */
    struct hl_far_train **train; /* [world size] what has come of a message in several buffers, or NULL */
    uint8_t *flying;             /* [world size] messages to that rank among those in flight */
    hl_a32 in_flight;            /* atomic: messages posted and not on their way yet; changed by the owner */
    void *memory;                /* all buffers */
    uint64_t *heard; /* [world size] number of the last message from that rank's port; HL_FAR_GAP */
    struct hl_rx_window window; /* messages that came before their turn */
    hl_a64 messages, bytes;     /* that came with data; of all that came. atomic, counted by the owner */
    bool broken;                /* an error without its context was reported: said once */
    /* The completions of one pass, the owner's: all that can be there. Who leaves some behind has the
     * provider take more from its sockets at the next pass than goes, and what finds no posted buffer costs
     * 16 KiB of its memory a message. */
    struct fi_cq_msg_entry came[HL_PORT_TX + HL_PORT_RX];
};

struct hl_net {
    struct hl_matcher *m;
    int bell;       /* epoll of the ports' descriptors, one-shot: armed by sleepers; -1: none */
    hl_a32 strange; /* atomic: 1 + a rank that asks and is not known yet, 0: none */
    unsigned n;     /* ports, a power of two */
    size_t max;     /* bytes of the longest message, header included */
    struct hl_port *port;
};

/* What a peer's card says. */
struct hl_port_card {
    uint32_t n;
    uint32_t name_len[HL_PORTS_MAX];
    uint8_t name[HL_PORTS_MAX][64];
};

/* Owning a port: at once, or (patient) after waiting for the owner to leave. */
bool hl_port_own(struct hl_port *port, bool patient);
void hl_port_leave(struct hl_port *port);

/* bell.c: the receive thread wakes sleepers when a port has work. Without it they nap. */
void hl_bell_open(struct hl_net *net);
void hl_bell_close(struct hl_net *net);

/* Opens the ports and puts them on the card; between hl_fab_open and the exchange of cards. */
int hl_net_open(struct hl_matcher *m, unsigned n);
void hl_net_close(struct hl_matcher *m);

/* Looks a peer up and makes it known to all ports: fills p->ports, p->addr. */
int hl_net_meet(struct hl_net *net, struct hl_peer *p);

/* Posts one message of header and payload (filled by `fill`). 1: it left; 0: no room now; else fill's error.
 */
struct hl_far_out {
    struct hl_peer *peer;
    uint64_t hash; /* chooses the port */
    const struct hl_msg_head *head;
    const union hl_msg_area *area;
    uint64_t len; /* payload; more than fits one buffer goes in several, one behind the other */
    int (*fill)(void *arg, uint64_t at, void *out, uint64_t n);
    void *arg;
    bool patient; /* wait for a busy port instead of saying "no room" */
};
int hl_net_post(struct hl_net *net, const struct hl_far_out *out);

/* tail.c: tells peers the ends of streams that rest; on the receive thread, once a second. True: again soon.
 */
bool hl_tail_look(void *net);
/* A sound message that is not simply the next one of its sender; its port's owner. False: it is dropped. */
bool hl_tail_take(struct hl_net *net, struct hl_port *port, const struct hl_far_head *h, struct hl_work *w);
void hl_tail_meet(struct hl_net *net); /* makes who has asked known; in a poll, no port is owned */

/* Has everything posted left this process? Only then may it stop polling. */
bool hl_net_idle(struct hl_net *net);

/* Takes what arrived. */
int hl_net_poll(struct hl_net *net, struct hl_work *w);

/* Calls `fn` as the owner of each port that can be owned at once and has nothing left to take. */
void hl_net_visit(struct hl_net *net, void (*fn)(struct hl_matcher *m, unsigned port, struct hl_work *w),
                  struct hl_work *w);

/* Payload of one buffer. */
HL_INLINE size_t hl_net_piece(const struct hl_net *net)
{
    return net->max - sizeof(struct hl_far_head);
}

/* `b` was taken from the free ones, to leave. */
HL_INLINE void hl_port_flies(struct hl_port *port, const struct hl_port_buf *b)
{
    port->flying[b->to->world]++;
    hl_a32_add_relaxed(&port->in_flight, 1); /* relaxed: read by who waits for 0 at the end */
}

/* A checked message, by a port's owner: far.c. `train`: of its sender. */
void hl_far_take(struct hl_matcher *m, const struct hl_far_head *h, struct hl_far_train **train,
                 struct hl_work *w);

/* One whose turn it is, of `bytes` in all; its port's owner. */
HL_INLINE void hl_port_take(struct hl_net *net, struct hl_port *port, const struct hl_far_head *h,
                            size_t bytes, struct hl_work *w)
{
    /* relaxed, all: counts order nothing. */
    uint64_t with_data = h->head.kind == HL_MSG_EAGER;
    hl_a64_store_relaxed(&port->messages, hl_a64_load_relaxed(&port->messages) + with_data);
    hl_a64_store_relaxed(&port->bytes, hl_a64_load_relaxed(&port->bytes) + bytes);
    hl_far_take(net->m, h, &port->train[h->from], w);
}

#endif
