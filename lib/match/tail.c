/* Ends of the streams of messages between ports (rx/tail.h tells how). The last number follows the messages
 * as a COUNT, which is no numbered message of the stream; the answer is a COUNT, too. Nobody can send again
 * what connection resets have lost: then the job ends with a message. */
#include "port.h"

#include "job.h"
#include "rx.h"
#include "util.h"

#include <stdlib.h>
#include <string.h>

/* The area of a COUNT. */
struct count {
    uint64_t heard; /* number of the last message that came the other way */
    uint64_t asks;  /* 1: answer with a COUNT */
};

/* Sends a COUNT: the last number sent to the peer, and the last one heard from it. False: not possible
 * now. */
static bool tell_numbers(const struct hl_net *net, struct hl_port *port, struct hl_peer *p, bool asks)
{
    unsigned i = (unsigned)(port - net->port);
    struct hl_port_buf *b = port->tx;
    if (b == NULL) {
        return false;
    }
    struct count count = {port->heard[p->world] & ~HL_FAR_GAP, asks};
    struct hl_far_head h = {
        .nonce = hl_job.nonce, .from = (uint32_t)net->m->world_rank, .seq = p->sent[i] | HL_FAR_COUNT};
    memcpy(&h.area, &count, sizeof count);
    memcpy(b->data, &h, sizeof h);
    if (hl_fab_ep_send(&port->ep, p->addr[i], b->data, sizeof h, &b->context) != 0) {
        return false;
    }
    port->tx = b->next;
    b->to = p;
    hl_port_flies(port, b);
    return true;
}

/* Asks the ranks whose messages wait in the window: they mostly go on sending, and then tell no end by
 * themselves. True: a COUNT did not leave. */
static bool ask_beyond_gaps(struct hl_net *net, struct hl_port *port)
{
    bool refused = false;
    unsigned i = (unsigned)(port - net->port);
    for (const struct hl_rx_gap *gap = port->window.gaps; gap != NULL; gap = gap->next) {
        int rank = hl_rx_window_rank(gap);
        /* acquire: the record is initialised; pairs with the release in make_far. */
        struct hl_peer *p = hl_aptr_load_acquire(&net->m->peers[rank]);
        if (p == NULL) {
            /* relaxed: the next poll makes it known */
            hl_a32_store_relaxed(&net->asker, (uint32_t)rank + 1);
        } else if (p->node < 0 && i < p->ports && !net->m->is_dead(rank)) {
            refused |= !tell_numbers(net, port, p, true);
        }
    }
    return refused;
}

bool hl_tail_look(void *arg)
{
    struct hl_net *net = arg;
    /* acquire: sees the records; pairs with the release in make_far. */
    uint32_t n = hl_a32_load_acquire(&net->m->n_far);
    bool refused = false;
    for (unsigned i = 0; i < net->n; i++) {
        struct hl_port *port = &net->port[i];
        if (!hl_port_own(port, false)) {
            continue; /* its owner is sending: its streams do not rest */
        }
        for (uint32_t k = 0; k < n; k++) {
            struct hl_peer *p = net->m->far_list[k];
            if (i >= p->ports || !hl_rx_tail_is_due(&p->ends[i], p->sent[i]) || net->m->is_dead(p->world)) {
                continue;
            }
            if (tell_numbers(net, port, p, true)) {
                hl_rx_tail_told(&p->ends[i]);
            } else {
                refused = true; /* perhaps it is connecting */
            }
        }
        refused |= ask_beyond_gaps(net, port);
        hl_port_leave(port);
    }
    return refused;
}

static void take_count(struct hl_net *net, struct hl_port *port, const struct hl_far_head *h)
{
    unsigned i = (unsigned)(port - net->port);
    /* acquire: the record is initialised; pairs with the release in make_far. */
    struct hl_peer *p = hl_aptr_load_acquire(&net->m->peers[h->from]);
    if (p == NULL) {
        hl_a32_store_relaxed(&net->asker, h->from + 1); /* relaxed: the next poll makes it known */
    } else if (p->node < 0 && i < p->ports) {
        struct count count;
        memcpy(&count, &h->area, sizeof count);
        hl_rx_tail_answered(&p->ends[i], p->sent[i], count.heard);
        if (count.asks != 0) {
            (void)tell_numbers(net, port, p, false); /* if it does not leave, the peer asks again */
        }
    }
}

/* Takes the message whose turn it is, and all that waited for it. */
static void take_in_turn(struct hl_net *net, struct hl_port *port, const struct hl_far_head *h,
                         struct hl_work *w)
{
    uint64_t *heard = &port->heard[h->from];
    uint64_t stream = hl_rx_window_stream(h->from, 0), last = h->seq;
    struct hl_rx_parked *next;
    hl_port_take(net, port, h, sizeof *h + h->len, w);
    while ((next = hl_rx_window_take(&port->window, stream, last + 1)) != NULL) {
        last++;
        hl_port_take(net, port, (const void *)next->bytes, next->len, w);
        free(next);
    }
    bool waits = hl_rx_window_first(&port->window, stream) != NULL;
    if (*heard == HL_FAR_GAP) {
        hl_rx_cloexec(); /* the peer has connected */
    }
    *heard = last | (waits ? HL_FAR_GAP : 0);
}

/* A message that a stranger had the provider deliver again (as in rx) is dropped. The next message, or a
 * COUNT, shows that one never came. */
bool hl_tail_take(struct hl_net *net, struct hl_port *port, const struct hl_far_head *h, struct hl_work *w)
{
    uint64_t last = port->heard[h->from] & ~HL_FAR_GAP, number = h->seq & ~HL_FAR_COUNT;
    uint64_t stream = hl_rx_window_stream(h->from, 0);
    bool counts = number != h->seq, dead = net->m->is_dead((int)h->from);
    if (counts) {
        bool lost = hl_rx_window_probe(&port->window, stream, last, number, hl_now_ns()) &&
                    hl_rx_window_loss(stream, number - last, dead);
        if (!lost) {
            take_count(net, port, h);
        }
        return !lost;
    }
    enum hl_rx_turn turn = hl_rx_window_turn(&port->window, stream, last, number, h, sizeof *h + h->len);
    if (turn == HL_RX_NEXT) {
        take_in_turn(net, port, h, w);
    } else if (turn == HL_RX_DONE) {
        port->heard[h->from] |= HL_FAR_GAP;
    } else if (turn == HL_RX_GAP) {
        (void)hl_rx_window_loss(stream, number - last - 1, dead);
    }
    return turn == HL_RX_NEXT || turn == HL_RX_DONE;
}

void hl_tail_add_asker(struct hl_net *net)
{
    uint32_t rank = hl_a32_xchg_acquire(&net->asker, 0); /* acquire: for form, nothing comes with it */
    if (rank != 0) {
        (void)hl_matcher_peer(net->m, (int)rank - 1);
    }
}
