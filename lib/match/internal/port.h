/* Ports: the network endpoints of matched messages.
 *
 * A message of (ctx, src) leaves by port hash(ctx, src) and enters the peer's port of the same number: one
 * connection for each such pair, so the provider's order (FI_ORDER_SAS) is MPI's. Where receives complete in
 * another order, the messages' numbers tell the right one (rx/window.h). One thread owns a port at a time,
 * and not for long. Everything is copied into a port's buffers, so an eager send is over when it was
 * posted. */
#ifndef HL_MATCH_PORT_H
#define HL_MATCH_PORT_H

#include "fab.h"
#include "match_internal.h"
#include "window.h"

#define HL_PORT_TX 64       /* buffers of a port for messages that leave */
#define HL_PORT_RX 64       /* buffers of a port for messages that come */
#define HL_EAGER_SEGMENTS 4 /* most buffers of one message; receivers fetch longer ones */

/* What stands before every message. */
struct hl_far_head {
    uint64_t nonce; /* number of the job; checked first */
    uint32_t from;  /* world rank of the sender */
    uint32_t len;   /* bytes behind the area */
    uint64_t seq;   /* number of this message between the two ports, from 1; with HL_FAR_COUNT: see tail.c */
    struct hl_msg_head head;
    union hl_msg_area area;
};
_Static_assert(sizeof(struct hl_far_head) == 80, "headers are alike on all machines of a job");
#define HL_FAR_COUNT (UINT64_C(1) << 63) /* in seq: such a number is never the next one */
#define HL_FAR_GAP (UINT64_C(1) << 62)   /* in hl_port.heard: later messages of the rank wait in the window */

/* A message that comes in several buffers: in order, and with no buffer of another message in between. The
 * first buffer says the length; the others have the head of a DATA without a name. */
struct hl_far_segments {
    struct hl_msg_head head;
    uint64_t got;
    unsigned char data[];
};

struct hl_port;

/* A message that leaves. */
struct hl_port_buf {
    struct fi_context2 context; /* owned by the provider while the buffer is posted */
    struct hl_port_buf *next;   /* free list */
    struct hl_peer *to;         /* peer that the message goes to */
    uint32_t bytes;
    _Alignas(8) unsigned char data[];
};

/* Only the thread that owns the port uses its fields; `owned` and the atomic ones are exceptions. */
struct hl_port {
    HL_ALIGNED_LINE struct hl_flag owned;
    struct hl_fab_ep ep;
    struct hl_port_buf *tx; /* free buffers */
    /* filled buffers that found no room when the first of their message had left */
    struct hl_port_buf *held, **held_tail;
    hl_a32 holds;                      /* atomic: number of held buffers; changed by the owner */
    struct hl_far_segments **segments; /* [world size] an incomplete message in several buffers, or NULL */
    uint8_t *flying;                   /* [world size] how many of the messages in flight go to that rank */
    /* atomic: messages posted, or held, and not completed; changed by the owner */
    hl_a32 in_flight;
    void *memory;    /* memory of the buffers for what leaves */
    uint64_t *heard; /* [world size] number of the last message from that rank's port; HL_FAR_GAP */
    struct hl_rx_window window; /* messages that came before their turn */
    /* messages with data that came; bytes of all that came. atomic, stored by the owner */
    hl_a64 messages, bytes;
    bool broken; /* an undelivered message was reported: that is logged once */
    /* Completions of one pass: there is room for all that can be there. A pass that leaves some behind makes
     * the provider take more from its sockets at the next one than it gives out, and a message that finds no
     * posted buffer costs 16 KiB of the provider's memory. */
    struct fi_cq_msg_entry came[HL_PORT_TX + HL_PORT_RX];
};

struct hl_net {
    struct hl_matcher *m;
    int bell;     /* epoll of the ports' descriptors, one-shot: sleepers arm it; -1: none */
    bool kept;    /* a sleeper watches the ports' descriptors itself; then there is no bell */
    hl_a32 asker; /* atomic: 1 + a rank that asks but has no record here yet, 0: none */
    unsigned n;   /* ports, a power of two */
    size_t max;   /* bytes of the longest message, header included */
    struct hl_port *port;
};

/* The ports' part of a rank's card. */
struct hl_port_card {
    uint32_t n;
    uint32_t name_len[HL_PORTS_MAX];
    uint8_t name[HL_PORTS_MAX][64];
};

/* Owns a port: at once or not at all; or, `patient`, after waiting for its owner to leave. */
bool hl_port_own(struct hl_port *port, bool patient);
void hl_port_leave(struct hl_port *port);

/* bell.c: lets the receive thread wake sleepers when a port has work. Where that is impossible, they nap. */
void hl_bell_open(struct hl_net *net);
void hl_bell_close(struct hl_net *net);

/* Opens the ports and puts them on this rank's card; called between hl_fab_open and the exchange of cards.
 * HL_ERR_NO_MEM, HL_ERR_OTHER. */
int hl_net_open(struct hl_matcher *m, unsigned n);
void hl_net_close(struct hl_matcher *m);

/* Reads a peer's card and makes its addresses known to all ports: fills p->ports, p->addr. HL_ERR_OTHER: the
 * peer has no ports, or a damaged card. */
int hl_net_add_peer(struct hl_net *net, struct hl_peer *p);

/* Posts one message of header and payload, which `fill` writes: HL_SENT, HL_NO_ROOM, fill's error, or
 * HL_ERR_OTHER: no connection can be made. */
struct hl_far_out {
    struct hl_peer *peer;
    uint64_t hash; /* chooses the port */
    const struct hl_msg_head *head;
    const union hl_msg_area *area;
    uint64_t len; /* bytes of payload; if one buffer is too small, several go one behind the other */
    int (*fill)(void *arg, uint64_t at, void *out, uint64_t n);
    void *arg;
    bool patient; /* wait for a busy port instead of returning HL_NO_ROOM */
};
int hl_net_post(struct hl_net *net, const struct hl_far_out *out);

/* tail.c: tells peers the ends of streams that rest; called by the receive thread once a second. True: call
 * again soon. */
bool hl_tail_look(void *net);
/* Handles a valid message that is not the next one of its sender. The port's owner calls it. False: it is
 * dropped. */
bool hl_tail_take(struct hl_net *net, struct hl_port *port, const struct hl_far_head *h, struct hl_work *w);
/* makes a record for a rank that has asked; called in a poll that owns no port */
void hl_tail_add_asker(struct hl_net *net);

/* True when everything posted has left this process; only then it may stop polling. */
bool hl_net_idle(struct hl_net *net);

/* Takes what arrived at all ports; returns the number of completions. */
int hl_net_poll(struct hl_net *net, struct hl_work *w);

/* Calls `fn` as the owner of each port that can be owned at once and has nothing left to take. */
void hl_net_visit(struct hl_net *net, void (*fn)(struct hl_matcher *m, unsigned port, struct hl_work *w),
                  struct hl_work *w);

/* Payload of one buffer. */
HL_INLINE size_t hl_net_piece(const struct hl_net *net)
{
    return net->max - sizeof(struct hl_far_head);
}

/* Counts a buffer that was taken from the free ones and will leave. */
HL_INLINE void hl_port_flies(struct hl_port *port, const struct hl_port_buf *b)
{
    port->flying[b->to->world]++;
    hl_a32_add_relaxed(&port->in_flight, 1); /* relaxed: finalize waits for 0 */
}

/* far.c: takes a checked message; called by the port's owner. `segments`: the sender's incomplete message. */
void hl_far_take(struct hl_matcher *m, const struct hl_far_head *h, struct hl_far_segments **segments,
                 struct hl_work *w);

/* Takes a message whose turn it is, of `bytes` with its header. The port's owner calls it. */
HL_INLINE void hl_port_take(struct hl_net *net, struct hl_port *port, const struct hl_far_head *h,
                            size_t bytes, struct hl_work *w)
{
    /* relaxed, all: counts order nothing. */
    uint64_t with_data = h->head.kind == HL_MSG_EAGER;
    hl_a64_store_relaxed(&port->messages, hl_a64_load_relaxed(&port->messages) + with_data);
    hl_a64_store_relaxed(&port->bytes, hl_a64_load_relaxed(&port->bytes) + bytes);
    hl_far_take(net->m, h, &port->segments[h->from], w);
}

#endif
