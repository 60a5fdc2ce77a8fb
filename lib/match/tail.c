/* Ends of the streams of messages between ports (how: rx's tail.h). The last number goes behind the messages
 * as a COUNT, which is no message of the stream itself, and comes back as one. What connection resets have
 * lost can nobody send again: the job ends with words. */
#include "port.h"

#include "boot.h"
#include "log.h"

#include <string.h>
#include <sys/uio.h>

/* In the area of a COUNT. */
struct count {
    uint64_t heard; /* number of the last message that came the other way */
    uint64_t asks;  /* 1: say the same of yours */
};

/* The last number sent to the peer, and the last one heard. False: not now. */
static bool tell(const struct hl_net *net, struct hl_port *port, struct hl_peer *p, bool asks)
{
    unsigned i = (unsigned)(port - net->port);
    struct hl_port_buf *b = port->tx;
    if (b == NULL) {
        return false;
    }
    struct count count = {port->heard[p->world], asks};
    struct hl_far_head h = {
        .nonce = hl_boot.nonce, .from = (uint32_t)net->m->world_rank, .seq = p->sent[i] | HL_FAR_COUNT};
    memcpy(&h.area, &count, sizeof count);
    memcpy(b->data, &h, sizeof h);
    struct iovec iov = {b->data, sizeof h};
    struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .addr = p->addr[i], .context = &b->context};
    if (fi_sendmsg(port->ep.ep, &msg, FI_COMPLETION) != 0) {
        return false;
    }
    port->tx = b->next;
    b->to = p;
    hl_port_flies(port, b);
    return true;
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
            continue; /* its streams do not rest */
        }
        for (uint32_t k = 0; k < n; k++) {
            struct hl_peer *p = net->m->far_list[k];
            if (i >= p->ports || !hl_rx_tail_is_due(&p->ends[i], p->sent[i]) || net->m->is_dead(p->world)) {
                continue;
            }
            if (tell(net, port, p, true)) {
                hl_rx_tail_told(&p->ends[i]);
            } else {
                refused = true; /* perhaps it connects */
            }
        }
        hl_port_leave(port);
    }
    return refused;
}

/* Ends the job when `missing` messages never came. Nothing that the dead say does. */
static bool is_loss(const struct hl_net *net, const struct hl_far_head *h, uint64_t missing)
{
    if (missing == 0 || net->m->is_dead((int)h->from)) {
        return false;
    }
    hl_log(HL_LOG_ERROR,
           "%llu messages of rank %u were lost by the network (a connection was reset): the job ends",
           (unsigned long long)missing, h->from);
    hl_boot_abort(1);
    return true;
}

static void counted(struct hl_net *net, struct hl_port *port, const struct hl_far_head *h)
{
    unsigned i = (unsigned)(port - net->port);
    /* acquire: as in hl_matcher_peer. */
    struct hl_peer *p = hl_aptr_load_acquire(&net->m->peers[h->from]);
    if (p == NULL) {
        hl_a32_store_relaxed(&net->strange, h->from + 1); /* relaxed: the next poll makes it known */
    } else if (p->node < 0 && i < p->ports) {
        struct count count;
        memcpy(&count, &h->area, sizeof count);
        hl_rx_tail_answered(&p->ends[i], p->sent[i], count.heard);
        if (count.asks != 0) {
            (void)tell(net, port, p, false); /* if it does not leave: they ask again */
        }
    }
}

/* Bytes of an earlier message that a stranger had the provider deliver again (as in rx) are dropped; a
 * message that never came is told from the next one, or a COUNT. */
bool hl_tail_take(struct hl_net *net, struct hl_port *port, const struct hl_far_head *h)
{
    uint64_t last = port->heard[h->from], number = h->seq & ~HL_FAR_COUNT;
    bool counts = number != h->seq;
    bool lost = number > last && is_loss(net, h, number - last - !counts);
    if (counts && !lost) {
        counted(net, port, h);
        return true;
    }
    return false;
}

void hl_tail_meet(struct hl_net *net)
{
    uint32_t rank = hl_a32_xchg_acquire(&net->strange, 0); /* acquire: for form, nothing comes with it */
    if (rank != 0) {
        (void)hl_matcher_peer(net->m, (int)rank - 1);
    }
}
