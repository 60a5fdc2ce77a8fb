/* Ports: endpoints, buffers, posting and polling. */
#include "port.h"

#include "buffer.h"
#include "err.h"
#include "far.h"
#include "job.h"
#include "log.h"
#include "rx.h"
#include "stat.h"
#include "util.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

/* Refusals that are farther apart do not count as one that lasts. */
#define STREAK_NS UINT64_C(500000000)

#define QUIET_YIELDS 1000
#define QUIET_NAP_NS 50000

/* ---- Owning ---- */

struct turn {
    struct hl_port *port;
    bool mine;
};

static bool try_turn(void *arg) HL_NO_TSA
{
    struct turn *t = arg;
    t->mine = t->mine || hl_flag_try(&t->port->owned);
    return t->mine;
}

static void describe_turn(const void *unused, struct hl_wait_desc *t)
{
    hl_desc_say(t, "a port, which another thread of this rank owns");
}
HL_HANG_WORDS(try_turn, describe_turn);

bool hl_port_own(struct hl_port *port, bool patient) HL_NO_TSA
{
    if (HL_LIKELY(hl_flag_try(&port->owned))) {
        return true;
    }
    if (!patient) {
        return false;
    }
    struct turn t = {port, false};
    hl_prog_wait(try_turn, &t);
    return true;
}

/* Owns a port for a caller that holds something which polls may want: it neither polls nor leaves sections
 * meanwhile. Owners of ports wait for nobody and leave soon. */
static void own_quietly(struct hl_port *port) HL_NO_TSA
{
    for (unsigned tries = 0; !hl_flag_try(&port->owned); tries++) {
        if (tries < QUIET_YIELDS) {
            sched_yield();
        } else {
            nanosleep(&(struct timespec){0, QUIET_NAP_NS}, NULL);
        }
    }
}

void hl_port_leave(struct hl_port *port) HL_NO_TSA
{
    hl_flag_leave(&port->owned);
}

/* ---- Opening ---- */

static int open_port(struct hl_net *net, struct hl_port *port)
{
    size_t one = hl_round_up(sizeof(struct hl_port_buf) + net->max, 64);
    int err = hl_fab_ep_open(HL_FAB_PORT, &port->ep);
    if (err != 0) {
        return err;
    }
    port->memory = hl_mem_buffer_take(one * HL_PORT_TX);
    port->heard = calloc((size_t)net->m->world_size, sizeof *port->heard);
    port->segments = calloc((size_t)net->m->world_size, sizeof *port->segments);
    port->flying = calloc((size_t)net->m->world_size, sizeof *port->flying);
    port->held_tail = &port->held;
    if (port->memory == NULL || port->heard == NULL || port->segments == NULL || port->flying == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the buffers of a network endpoint: %s",
                          hl_err_text(HL_ERR_NO_MEM));
    }
    for (unsigned i = 0; i < HL_PORT_TX; i++) {
        struct hl_port_buf *b = (struct hl_port_buf *)(void *)((char *)port->memory + i * one);
        b->next = port->tx;
        port->tx = b;
    }
    err = hl_rx_listen(&port->ep, HL_PORT_RX);
    return err == 0 ? 0 : hl_rx_listen_fail(&port->ep, err);
}

static int put_card(struct hl_net *net)
{
    struct hl_port_card card = {.n = net->n};
    for (unsigned i = 0; i < net->n; i++) {
        card.name_len[i] = (uint32_t)net->port[i].ep.name_len;
        memcpy(card.name[i], net->port[i].ep.name, sizeof(card.name[i]));
    }
    size_t len = offsetof(struct hl_port_card, name) + net->n * sizeof(card.name[0]);
    return hl_fab_card_put(HL_FAB_PART_PORTS, &card, len);
}

int hl_net_open(struct hl_matcher *m, unsigned n)
{
    struct hl_net *net = calloc(1, sizeof(*net));
    if (net == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the network endpoints of messages");
    }
    m->net = net;
    net->m = m;
    net->bell = -1;
    net->max = hl_fab.eager;
    net->port = aligned_alloc(HL_CACHELINE, n * sizeof(*net->port));
    if (net->port == NULL) {
        hl_net_close(m);
        return hl_err_say(HL_ERR_NO_MEM, "no memory for %u network endpoint%s of messages (HOTLANE_PORTS)", n,
                          hl_plural(n));
    }
    memset(net->port, 0, n * sizeof(*net->port));
    for (unsigned i = 0; i < n; i++) {
        net->n = i + 1;
        int err = open_port(net, &net->port[i]);
        if (err != 0) {
            hl_net_close(m);
            return err;
        }
    }
    hl_bell_open(net);
    hl_rx_on_look(hl_tail_look, net);
    return put_card(net);
}

void hl_net_close(struct hl_matcher *m)
{
    struct hl_net *net = m->net;
    if (net == NULL) {
        return;
    }
    m->net = NULL;
    hl_rx_on_look(NULL, NULL);
    hl_bell_close(net);
    for (unsigned i = 0; i < net->n; i++) {
        bool closed = net->port[i].ep.ep == NULL || hl_rx_close_ep(&net->port[i].ep);
        hl_mem_buffer_give(closed ? net->port[i].memory : NULL); /* else the provider may use it still */
        for (int k = 0; net->port[i].segments != NULL && k < m->world_size; k++) {
            free(net->port[i].segments[k]);
        }
        free(net->port[i].segments);
        free(net->port[i].flying);
        free(net->port[i].heard);
        hl_rx_window_free(&net->port[i].window);
    }
    free(net->port);
    free(net);
}

int hl_net_add_peer(struct hl_net *net, struct hl_peer *p)
{
    const void *data;
    size_t len;
    struct hl_port_card card = {0};
    int err = hl_fab_card_get(p->world, HL_FAB_PART_PORTS, &data, &len);
    if (err != 0) {
        return err == HL_ERR_FOUND_NONE
                   ? hl_err_say(HL_ERR_OTHER, "rank %d has published no address for messages", p->world)
                   : err;
    }
    memcpy(&card, data, hl_min_size(len, sizeof(card)));
    /* Both ends take the smaller number. */
    p->ports = card.n < net->n ? card.n : net->n;
    if (p->ports == 0 || p->ports > HL_PORTS_MAX) {
        return hl_err_say(HL_ERR_OTHER, "the address that rank %d has published for messages makes no sense",
                          p->world);
    }
    for (unsigned i = 0; err == 0 && i < p->ports; i++) {
        fi_addr_t addr = FI_ADDR_UNSPEC;
        own_quietly(&net->port[i]); /* the caller holds far_lock */
        err = hl_fab_ep_insert(&net->port[i].ep, card.name[i], card.name_len[i], &addr);
        hl_port_leave(&net->port[i]);
        p->addr[i] = addr;
    }
    return err;
}

/* ---- Posting ---- */

/* Notes that the peer accepts no message: when that lasts, its process may be gone. */
static HL_COLD void note_refusal(struct hl_peer *p)
{
    uint64_t now = hl_now_ns();
    /* relaxed, all: times that only decide when to ask. */
    if (now - hl_a64_load_relaxed(&p->refused_ns) > STREAK_NS) {
        hl_a64_store_relaxed(&p->refusing_ns, now);
    }
    hl_a64_store_relaxed(&p->refused_ns, now);
    if (now - hl_a64_load_relaxed(&p->refusing_ns) > HL_RX_SUSPECT_NS) {
        hl_rx_suspect(p->world);
    }
}

/* Judges a refused post. HL_NO_ROOM: it may be tried again, since queues are full, or the peer is about to
 * end, which the launcher tells. An error: no connection can be made. */
static HL_COLD int judge_refusal(struct hl_peer *p, unsigned i, int rc)
{
    note_refusal(p);
    if (p->sent[i] == 0) {
        hl_rx_connecting();
    }
    if (hl_fab_refused(rc) != HL_FAB_NO_FILE) {
        return HL_NO_ROOM;
    }
    return hl_err_say(HL_ERR_OTHER, "no connection to rank %d: %s%s", p->world, hl_fab_strerror(rc),
                      hl_err_hint(-rc));
}

/* Posts a buffer: HL_SENT, or what judge_refusal() returns. */
static int post_buf(struct hl_net *net, struct hl_port *port, struct hl_port_buf *b)
{
    unsigned i = (unsigned)(port - net->port);
    ((struct hl_far_head *)(void *)b->data)->seq = b->to->sent[i] + 1;
    /* Not injected: finalize must know when the message has left. */
    int rc = hl_fab_ep_send(&port->ep, b->to->addr[i], b->data, b->bytes, &b->context);
    if (HL_UNLIKELY(rc != 0)) {
        return judge_refusal(b->to, i, rc);
    }
    if (HL_UNLIKELY(b->to->sent[i]++ == 0)) {
        hl_rx_cloexec(); /* the provider has connected */
    }
    return HL_SENT;
}

static void give_back_buf(struct hl_port *port, struct hl_port_buf *b)
{
    b->next = port->tx;
    port->tx = b;
    port->flying[b->to->world]--;
    hl_a32_add_relaxed(&port->in_flight, (uint32_t)-1); /* relaxed: finalize waits for 0 */
}

static void hold_buf(struct hl_port *port, struct hl_port_buf *b)
{
    b->next = NULL;
    *port->held_tail = b;
    port->held_tail = &b->next;
    hl_a32_add_relaxed(&port->holds, 1); /* relaxed: a hint for sleepers */
}

static bool is_held(const struct hl_port *port, const struct hl_peer *p)
{
    const struct hl_port_buf *b = port->held;
    while (b != NULL && b->to != p) {
        b = b->next;
    }
    return b != NULL;
}

/* Posts held buffers, as far as there is room now, in order for each peer. True: some for `asked` are
 * left. */
static HL_COLD bool post_held_bufs(struct hl_net *net, struct hl_port *port, const struct hl_peer *asked)
{
    struct hl_port_buf *b = port->held;
    port->held = NULL;
    port->held_tail = &port->held;
    for (struct hl_port_buf *next; b != NULL; b = next) {
        next = b->next;
        hl_a32_add_relaxed(&port->holds, (uint32_t)-1);                /* relaxed: a hint for sleepers */
        if ((hl_a32_load_relaxed(b->to->state) & HL_PEER_DEAD) != 0) { /* relaxed: a late look finds it */
            give_back_buf(port, b);
        } else if (is_held(port, b->to) || post_buf(net, port, b) != HL_SENT) {
            hold_buf(port, b);
        }
    }
    return is_held(port, asked);
}

static int fill_buf(struct hl_net *net, struct hl_port_buf *b, const struct hl_far_out *o, uint64_t at)
{
    struct hl_far_head *h = (struct hl_far_head *)(void *)b->data;
    uint64_t n = hl_min_size(o->len - at, hl_net_piece(net));
    h->nonce = hl_job.nonce;
    h->from = (uint32_t)net->m->world_rank;
    h->len = (uint32_t)n;
    h->head = *o->head;
    h->area = *o->area;
    if (at > 0) {
        h->head.kind = HL_MSG_DATA;
        h->area.piece = (struct hl_msg_data){.offset = at, .n = (uint32_t)n};
    }
    b->to = o->peer;
    b->bytes = (uint32_t)(sizeof(*h) + n);
    return n > 0 ? o->fill(o->arg, at, b->data + sizeof(*h), n) : 0;
}

/* Copies the message into buffers and posts them; only the owner. When the first has left, the others follow
 * it. */
static int post_owned(struct hl_net *net, struct hl_port *port, const struct hl_far_out *o)
{
    if (HL_UNLIKELY(port->held != NULL) && post_held_bufs(net, port, o->peer)) {
        return HL_NO_ROOM;
    }
    /* No peer takes more buffers than are left then: a slow one would hold up all others. */
    uint32_t used = hl_a32_load_relaxed(&port->in_flight); /* relaxed: only the owner changes it */
    if (HL_UNLIKELY(port->flying[o->peer->world] >= HL_PORT_TX - used)) {
        return HL_NO_ROOM;
    }
    struct hl_port_buf *first = port->tx, *b = first;
    uint64_t at = 0;
    do {
        int err = b != NULL ? fill_buf(net, b, o, at) : 0;
        if (HL_UNLIKELY(b == NULL || err != 0)) {
            return err; /* 0 is HL_NO_ROOM */
        }
        at += b->bytes - sizeof(struct hl_far_head);
        b = b->next;
    } while (HL_UNLIKELY(at < o->len));
    struct hl_port_buf *rest = first->next, *end = b;
    int sent = post_buf(net, port, first);
    if (HL_UNLIKELY(sent != HL_SENT)) {
        return sent;
    }
    port->tx = end;
    hl_port_flies(port, first);
    bool full = false;
    for (b = rest; HL_UNLIKELY(b != end); b = rest) {
        rest = b->next;
        hl_port_flies(port, b);
        full = full || post_buf(net, port, b) != HL_SENT;
        if (full) {
            hold_buf(port, b);
        }
    }
    return HL_SENT;
}

int hl_net_post(struct hl_net *net, const struct hl_far_out *out)
{
    unsigned i = (unsigned)out->hash & (out->peer->ports - 1);
    struct hl_port *port = &net->port[i];
    if (!hl_port_own(port, out->patient)) {
        return HL_NO_ROOM;
    }
    int sent = post_owned(net, port, out);
    hl_port_leave(port);
    return sent;
}

/* ---- Messages that leave ---- */

static int pack_part(void *arg, uint64_t at, void *out, uint64_t n)
{
    const struct hl_far_part *p = arg;
    return hl_type_pack(p->type, p->count, p->buf, (int64_t)(p->offset + at), out, (int64_t)n);
}

int hl_far_eager(struct hl_matcher *m, struct hl_peer *p, const struct hl_msg_head *head,
                 const struct hl_far_part *part)
{
    union hl_msg_area area;
    memset(&area, 0, sizeof(area));
    struct hl_far_out out = {.peer = p,
                             .hash = hl_match_hash(head->ctx, head->src) >> 4,
                             .head = head,
                             .area = &area,
                             .len = part->n,
                             .fill = pack_part,
                             .arg = (void *)(uintptr_t)part,
                             .patient = part->patient};
    return hl_net_post(m->net, &out);
}

int hl_far_rts(struct hl_matcher *m, struct hl_peer *p, const struct hl_ring_slot *slot)
{
    struct hl_far_out out = {.peer = p,
                             .hash = hl_match_hash(slot->head.ctx, slot->head.src) >> 4,
                             .head = &slot->head,
                             .area = &slot->area};
    return hl_net_post(m->net, &out);
}

int hl_far_control(struct hl_matcher *m, struct hl_peer *p, const struct hl_ring_slot *slot,
                   const struct hl_far_part *part)
{
    struct hl_far_out out = {.peer = p,
                             .hash = slot->area.fin.cookie,
                             .head = &slot->head,
                             .area = &slot->area,
                             .len = part != NULL ? part->n : 0,
                             .fill = pack_part,
                             .arg = (void *)(uintptr_t)part};
    return hl_net_post(m->net, &out);
}

/* ---- Polling ---- */

static bool is_head_sane(const struct hl_net *net, const struct hl_far_head *h, size_t bytes)
{
    /* Providers may report a length that a stranger has made up. */
    return bytes >= sizeof(*h) && bytes <= net->max && h->nonce == hl_job.nonce &&
           h->len == bytes - sizeof(*h) && h->from < (uint32_t)net->m->world_size;
}

static bool is_next(const struct hl_port *port, const struct hl_far_head *h)
{
    uint64_t *last = &port->heard[h->from];
    if (HL_UNLIKELY(h->seq != *last + 1)) {
        return false;
    }
    if (HL_UNLIKELY((*last)++ == 0)) {
        hl_rx_cloexec(); /* the peer has connected */
    }
    return true;
}

static void complete_entry(struct hl_net *net, struct hl_port *port, const struct fi_cq_msg_entry *entry,
                           struct hl_work *w)
{
    struct hl_fab_receive *r = hl_fab_ep_receive(&port->ep, entry->op_context);
    if (r == NULL) {
        give_back_buf(port, entry->op_context);
        return;
    }
    const struct hl_far_head *h = (const struct hl_far_head *)(const void *)r->bytes;
    if (HL_LIKELY(is_head_sane(net, h, entry->len) && is_next(port, h))) {
        hl_port_take(net, port, h, entry->len, w);
    } else if (!is_head_sane(net, h, entry->len) || !hl_tail_take(net, port, h, w)) {
        hl_stat_rank_add(HL_STAT_RANK_rx_dropped, 1);
    }
    hl_fab_ep_again(&port->ep, r);
}

/* Takes an error from the queue: 1; 0: there is none. */
static HL_COLD int read_port_error(struct hl_port *port)
{
    struct fi_cq_err_entry e;
    if (!hl_fab_ep_error(&port->ep, &e)) {
        return 0;
    }
    if (e.err != FI_ECANCELED && !port->broken) {
        port->broken = true;
        hl_log(HL_LOG_WARN, "the network reports that it could not deliver a message: %s",
               hl_fab_strerror(e.err));
    }
    if (e.op_context != NULL) {
        give_back_buf(port, e.op_context);
    }
    return 1;
}

/* True when all messages in flight go to dead ranks: a provider may never give these back. */
static bool does_fly_to_dead_only(const struct hl_net *net, struct hl_port *port)
{
    uint32_t lost = 0;
    if (!hl_port_own(port, false)) {
        return false;
    }
    /* acquire: sees the records; pairs with the release in make_far. */
    uint32_t n = hl_a32_load_acquire(&net->m->n_far);
    for (uint32_t k = 0; k < n; k++) {
        int rank = net->m->far_list[k]->world;
        lost += port->flying[rank] != 0 && net->m->is_dead(rank) ? port->flying[rank] : 0;
    }
    bool all = lost == hl_a32_load_relaxed(&port->in_flight); /* relaxed: only the owner changes it */
    hl_port_leave(port);
    return all;
}

bool hl_net_idle(struct hl_net *net)
{
    for (unsigned i = 0; i < net->n; i++) {
        /* relaxed, both: nobody posts any more when this is asked; a later look sees a death. */
        if (hl_a32_load_relaxed(&net->port[i].in_flight) != 0 &&
            (hl_a32_load_relaxed(&net->m->deaths) == 0 || !does_fly_to_dead_only(net, &net->port[i]))) {
            return false;
        }
    }
    return true;
}

/* Takes what arrived; only the owner. Returns the number of completions. */
HL_INLINE int serve_port(struct hl_net *net, struct hl_port *port, struct hl_work *w)
{
    if (HL_UNLIKELY(port->held != NULL)) {
        post_held_bufs(net, port, NULL);
    }
    int got = hl_fab_ep_completed(&port->ep, port->came, HL_COUNT_OF(port->came));
    for (int k = 0; k < got; k++) {
        complete_entry(net, port, &port->came[k], w);
    }
    return got >= 0 ? got : read_port_error(port);
}

int hl_net_poll(struct hl_net *net, struct hl_work *w)
{
    int n = 0;
    for (unsigned i = 0; i < net->n; i++) {
        if (hl_port_own(&net->port[i], false)) {
            n += serve_port(net, &net->port[i], w);
            hl_port_leave(&net->port[i]);
        }
    }
    if (HL_UNLIKELY(hl_a32_load_relaxed(&net->asker) != 0)) { /* relaxed: a guess */
        hl_tail_add_asker(net);
    }
    return n;
}

void hl_net_visit(struct hl_net *net, void (*fn)(struct hl_matcher *m, unsigned port, struct hl_work *w),
                  struct hl_work *w)
{
    for (unsigned i = 0; i < net->n; i++) {
        struct hl_port *port = &net->port[i];
        if (hl_port_own(port, false)) {
            if (serve_port(net, port, w) == 0) {
                fn(net->m, i, w);
            }
            hl_port_leave(port);
        }
    }
}
