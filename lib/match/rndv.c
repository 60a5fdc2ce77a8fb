/* Messages above the eager size: the receiver fetches them.
 *
 *   sender                     receiver
 *   RTS {name, address}   -->  match; nothing owned any more:
 *                              reads the sender's memory (mapped; CMA, both ends at once; network)
 *   completes             <--  FIN {name}
 * or, when it cannot read it:
 *   packs into cells      <--  PULL {name, own name, n}
 *   DATA {own name, offset} ->  unpacks; completes with the last byte
 * and the sender completes with its last cell. A send that is cancelled meanwhile sends REVOKE {name} after
 * the RTS: a receiver that finds the RTS unmatched answers FIN {name, revoked}; else the message goes on.
 *
 * A control message that finds no room waits in a list (hl_deferred): polls try it again. */
#include "match_internal.h"

#include "deaths.h"
#include "slots.h"
#include "split_copy.h"

#include "err.h"
#include "far.h"
#include "job.h"
#include "log.h"
#include "stat.h"

#include <stdlib.h>
#include <string.h>

#define BOUNCE_BYTES 65536u
#define BURST 16 /* pieces of one send, then others get their turn */

/* ---- Control messages ---- */

bool hl_control_push(struct hl_matcher *m, struct hl_peer *p, const struct hl_ring_slot *slot)
{
    bool follows = slot->head.kind == HL_MSG_REVOKE; /* it goes the way of its RTS */
    if (p->node < 0) {
        return (follows ? hl_far_rts(m, p, slot) : hl_far_control(m, p, slot, NULL)) == HL_SENT;
    }
    struct hl_match_part *to = hl_match_part_of(m, p->node);
    uint32_t n_inboxes = hl_peer_inboxes(m, p);
    /* Every area begins with a name, so that all pieces of one message go through one inbox. */
    uint64_t way = follows ? hl_match_hash(slot->head.ctx, slot->head.src) : slot->area.fin.cookie;
    return n_inboxes != 0 && hl_ring_push(m, to, (unsigned)way & (n_inboxes - 1), slot);
}

void hl_deferred_free(struct hl_deferred *o)
{
    free(o);
}

void hl_control_start(const struct hl_matcher *m, struct hl_ring_slot *slot, enum hl_msg_kind kind)
{
    memset(slot, 0, sizeof(*slot));
    slot->head.kind = (uint8_t)kind;
    slot->head.from = (uint16_t)m->node_rank;
}

void hl_control_put(struct hl_matcher *m, struct hl_peer *p, const struct hl_ring_slot *slot)
{
    /* relaxed: a late look finds it */
    if (HL_UNLIKELY((hl_a32_load_relaxed(p->state) & HL_PEER_DEAD) != 0)) {
        return;
    }
    /* relaxed: control messages need no order; a guess whether others wait. */
    if (hl_a32_load_relaxed(&p->owing) == 0 && hl_control_push(m, p, slot)) {
        return;
    }
    struct hl_deferred *o = malloc(sizeof(*o));
    if (o == NULL) {
        hl_log(HL_LOG_ERROR, "no memory to note that rank %d waits for an answer; the job ends", p->world);
        hl_job_abort(1);
    }
    o->slot = *slot;
    o->next = NULL;
    hl_mutex_lock(&p->lock);
    *p->deferred_tail = o;
    p->deferred_tail = &o->next;
    hl_a32_add_relaxed(&p->owing, 1); /* relaxed: a hint for the poller */
    hl_a32_add_relaxed(&m->backlog, 1);
    hl_mutex_unlock(&p->lock);
}

void hl_control_send(struct hl_matcher *m, struct hl_peer *p, enum hl_msg_kind kind,
                     const union hl_msg_area *area)
{
    struct hl_ring_slot slot;
    hl_control_start(m, &slot, kind);
    if (area != NULL) {
        slot.area = *area;
    }
    hl_control_put(m, p, &slot);
}

struct hl_peer *hl_peer_from(struct hl_matcher *m, int from)
{
    return from >= 0 ? &m->near[from] : hl_matcher_peer(m, ~from);
}

/* ---- The receiver ---- */

/* Reads the message through a buffer into a layout that is not one block. False: not all of it. */
static bool scatter_message(const struct hl_matcher *m, const struct hl_peer *p, struct hl_req *r,
                            uint64_t addr)
{
    unsigned char *bounce = malloc(BOUNCE_BYTES);
    bool ok = bounce != NULL;
    for (uint64_t at = 0, n = (uint64_t)r->bytes; ok && at < n; at += BOUNCE_BYTES) {
        uint64_t part = n - at < BOUNCE_BYTES ? n - at : BOUNCE_BYTES;
        ok =
            hl_cma_move(m, p, HL_NEAR_READ, addr + at, bounce, part) && hl_recv_put(r, at, bounce, part) == 0;
    }
    free(bounce);
    return ok;
}

static void count_copied(const struct hl_req *r)
{
    hl_stat_rank_add(HL_STAT_RANK_messages_copied, 1);
    hl_stat_rank_add(HL_STAT_RANK_bytes_cma, (uint64_t)r->bytes);
}

/* Copies the message from the memory of a sender on the node. `o`: its offer, or NULL. */
static enum hl_fetched fetch_near(struct hl_matcher *m, struct hl_peer *p, struct hl_req *r,
                                  const struct hl_offer *o)
{
    const struct hl_recv_body *b = hl_recv_body(r);
    uint64_t addr = b->fetch.addr;
    if (addr == 0) {
        return HL_FETCHED_NOT;
    }
    if (o != NULL && !hl_cma_is_here(hl_match_part_of(m, p->node)) && hl_offer_copy(p, r, o)) {
        return HL_FETCHED;
    }
    if (!hl_cma_works(m, p)) {
        return HL_FETCHED_NOT;
    }
    char *start;
    enum hl_fetched fetched;
    if (hl_type_block(b->type, b->count, b->buf, &start)) {
        fetched = hl_split_fetch(m, p, r, start);
    } else {
        fetched = scatter_message(m, p, r, addr) ? HL_FETCHED : HL_FETCHED_NOT;
    }
    if (fetched == HL_FETCHED) {
        count_copied(r);
    }
    return fetched;
}

/* Ends a receive that has all its bytes: tells the sender. */
static void end_fetch(struct hl_matcher *m, struct hl_peer *p, struct hl_req *r)
{
    union hl_msg_area fin = {.fin = {.cookie = hl_recv_body(r)->fetch.name}};
    hl_control_send(m, p, HL_MSG_FIN, &fin);
    hl_recv_finish(r);
}

/* Asks the sender to send the bytes. */
static void ask_sender(struct hl_matcher *m, struct hl_peer *p, struct hl_req *r)
{
    struct hl_recv_body *b = hl_recv_body(r);
    union hl_msg_area pull = {.pull = {b->fetch.name, 0, (uint64_t)r->bytes, 0}};
    b->fetch.addr = 0; /* from now on it counts bytes that came; set before pieces can come */
    if (!hl_name_give(&m->names, r, &pull.pull.back)) {
        hl_req_fail(r, HL_ERR_NO_MEM);
        end_fetch(m, p, r);
        return;
    }
    /* The peer's death may end `r` from here on. */
    hl_stat_rank_add(HL_STAT_RANK_messages_pulled, 1);
    hl_stat_rank_add(HL_STAT_RANK_bytes_pulled, pull.pull.n);
    hl_control_send(m, p, HL_MSG_PULL, &pull);
}

/* Ends a receive whose message is without data: a death has taken it. The message names the dead rank, if its
 * sender knows it. */
static void lose_receive(struct hl_matcher *m, struct hl_req *r)
{
    uint64_t world = hl_recv_body(r)->fetch.addr - 1; /* from the message, where 0 means unknown */
    hl_fail_receive(r, world < (uint64_t)m->world_size ? (int)world : hl_deaths_member(m, r->ctx));
}

/* Tells the sender that its message was revoked before it was matched. */
static void end_revoked(struct hl_matcher *m, struct hl_req *r)
{
    const struct hl_fetch *f = &hl_recv_body(r)->fetch;
    struct hl_peer *p = hl_peer_from(m, f->from);
    union hl_msg_area fin = {.fin = {.cookie = f->name, .revoked = 1}};
    if (p != NULL) {
        hl_control_send(m, p, HL_MSG_FIN, &fin);
    }
    hl_req_free(r);
}

/* Answers a matched request to send. */
static void run_transfer(struct hl_matcher *m, struct hl_req *r)
{
    if (HL_UNLIKELY((r->spare & HL_REQ_REVOKED) != 0)) {
        end_revoked(m, r);
        return;
    }
    if (HL_UNLIKELY(hl_recv_body(r)->fetch.name == 0)) {
        lose_receive(m, r);
        return;
    }
    struct hl_peer *p = hl_peer_from(m, hl_recv_body(r)->fetch.from);
    struct hl_offer *o = hl_offer_take(r);
    uint64_t n = (uint64_t)r->bytes;
    if (p == NULL) { /* no record of the sender can be made */
        free(o);
        hl_req_fail(r, HL_ERR_OTHER);
        hl_recv_finish(r);
        return;
    }
    /* relaxed: a later look sees the death. */
    if (HL_UNLIKELY((hl_a32_load_relaxed(p->state) & HL_PEER_DEAD) != 0) && n > 0) {
        free(o);
        hl_fail_receive(r, p->world);
        return;
    }
    if (p->node < 0 && n > 0 && o != NULL && hl_offer_read(p, r, o)) {
        return; /* hl_rndv_fetched goes on with it, or has done so */
    }
    enum hl_fetched fetched = n == 0 ? HL_FETCHED : HL_FETCHED_NOT;
    if (p->node >= 0 && n > 0) {
        fetched = fetch_near(m, p, r, o);
    }
    free(o);
    if (fetched == HL_FETCHED) {
        end_fetch(m, p, r);
    } else if (fetched == HL_FETCHED_NOT) {
        ask_sender(m, p, r);
    }
}

void hl_rndv_ended(struct hl_matcher *m, struct hl_req *r, bool failed)
{
    if (failed) {
        ask_sender(m, hl_peer_from(m, hl_recv_body(r)->fetch.from), r);
    } else {
        count_copied(r);
        hl_recv_finish(r);
    }
}

void hl_rndv_fetched(struct hl_matcher *m, struct hl_req *r, int err)
{
    struct hl_peer *p = hl_peer_from(m, hl_recv_body(r)->fetch.from);
    if (err == 0) {
        end_fetch(m, p, r);
    } else if (err != HL_ERR_PROC_ABORTED) {
        ask_sender(m, p, r);
    } else {
        hl_fail_receive(r, p->world);
    }
}

void hl_work_run(struct hl_matcher *m, struct hl_work *w)
{
    if (HL_LIKELY(w->todo == NULL)) {
        return;
    }
    while (w->todo != NULL) {
        struct hl_req *r = w->todo;
        w->todo = r->next;
        run_transfer(m, r);
    }
    w->todo_tail = &w->todo;
    hl_matcher_wake(m);
}

/* Takes a piece. Pieces of one message come through one inbox (or port), so only its owner counts them. */
static void take_data(struct hl_matcher *m, const struct hl_msg_data *d, const void *data)
{
    struct hl_req *r = hl_name_find(&m->names, d->cookie);
    if (r == NULL || r->what != HL_REQ_RECV || d->offset > (uint64_t)r->bytes ||
        d->n > (uint64_t)r->bytes - d->offset) {
        return;
    }
    struct hl_recv_body *b = hl_recv_body(r);
    int err = hl_recv_put(r, d->offset, data, d->n);
    if (err != 0) {
        hl_req_fail(r, err);
    }
    b->fetch.addr += d->n;
    if (b->fetch.addr >= (uint64_t)r->bytes) {
        hl_name_take(&m->names, d->cookie);
        hl_recv_finish(r);
    }
}

/* ---- The sender ---- */

static void stream_append(struct hl_matcher *m, struct hl_req *r)
{
    hl_mutex_lock(&m->stream_lock);
    r->next = NULL;
    *m->streams_tail = r;
    m->streams_tail = &r->next;
    hl_a32_add_relaxed(&m->n_streams, 1); /* relaxed: a hint for the poller */
    hl_mutex_unlock(&m->stream_lock);
}

static struct hl_req *stream_take(struct hl_matcher *m)
{
    hl_mutex_lock(&m->stream_lock);
    struct hl_req *r = m->streams;
    if (r != NULL) {
        m->streams = r->next;
        if (m->streams == NULL) {
            m->streams_tail = &m->streams;
        }
        hl_a32_add_relaxed(&m->n_streams, (uint32_t)-1); /* relaxed: a hint for the poller */
    }
    hl_mutex_unlock(&m->stream_lock);
    return r;
}

/* True if the send is among the streams, which end it. */
static bool is_streaming(struct hl_req *r)
{
    return hl_send_body(r)->back != 0 && (r->spare & HL_REQ_REGISTERED) == 0;
}

static void take_pull(struct hl_matcher *m, const struct hl_msg_pull *pull)
{
    struct hl_req *r = hl_name_find(&m->names, pull->cookie);
    if (r == NULL || r->what != HL_REQ_SEND) {
        return;
    }
    struct hl_send_body *b = hl_send_body(r);
    int64_t len = 0;
    hl_type_bytes(b->type, b->count, &len);
    hl_offer_withdraw(r);
    if (b->back != 0 || pull->back == 0 || pull->n > (uint64_t)len) { /* asked for twice, or malformed */
        return;
    }
    b->back = pull->back;
    r->bytes = (int64_t)pull->n; /* bytes wanted, until they have left */
    stream_append(m, r);
}

/* Sends one piece through a cell. False: no room. */
static bool piece_near(struct hl_matcher *m, struct hl_peer *p, struct hl_send_body *b, uint64_t n)
{
    struct hl_match_part *mine = hl_match_part_of(m, m->node_rank);
    int cell = hl_cell_take(mine, n);
    if (cell < 0) {
        return false;
    }
    struct hl_ring_slot slot;
    hl_control_start(m, &slot, HL_MSG_DATA);
    slot.area.piece = (struct hl_msg_data){b->back, b->offset, (uint32_t)cell, (uint32_t)n, 0};
    int err = hl_type_pack(b->type, b->count, b->buf, (int64_t)b->offset, mine->cells[cell], (int64_t)n);
    hl_cell_hand_over(mine, (uint32_t)cell, n);
    if (err != 0 || !hl_control_push(m, p, &slot)) {
        hl_cell_give(mine, (uint32_t)cell, n);
        return false;
    }
    return true;
}

/* Sends one piece over the network, as long as fits. Returns its bytes; 0: no room. */
static uint64_t piece_far(struct hl_matcher *m, struct hl_peer *p, struct hl_send_body *b, uint64_t n)
{
    uint64_t max = hl_far_piece_max(m);
    n = n < max ? n : max;
    struct hl_ring_slot slot;
    hl_control_start(m, &slot, HL_MSG_DATA);
    slot.area.piece = (struct hl_msg_data){b->back, b->offset, 0, (uint32_t)n, 0};
    struct hl_far_part part = {b->type, b->buf, b->count, b->offset, n, false};
    return hl_far_control(m, p, &slot, &part) == HL_SENT ? n : 0;
}

static uint64_t send_piece(struct hl_matcher *m, struct hl_peer *p, struct hl_send_body *b, uint64_t left)
{
    if (p->node < 0) {
        return piece_far(m, p, b, left);
    }
    uint64_t n = left < HL_CELL_BYTES ? left : HL_CELL_BYTES;
    return piece_near(m, p, b, n) ? n : 0;
}

int hl_rndv_stream(struct hl_matcher *m)
{
    /* relaxed: a guess. */
    if (HL_LIKELY(hl_a32_load_relaxed(&m->n_streams) == 0)) {
        return 0;
    }
    int helped = hl_split_help(m);
    struct hl_req *r = stream_take(m);
    if (r == NULL) {
        return helped;
    }
    struct hl_send_body *b = hl_send_body(r);
    struct hl_peer *p = hl_matcher_peer(m, b->dest);
    uint64_t end = (uint64_t)r->bytes;
    int pieces = helped;
    /* relaxed: a late look finds it */
    if (HL_UNLIKELY((hl_a32_load_relaxed(p->state) & HL_PEER_DEAD) != 0)) {
        hl_fail_send(m, r);
        return 1;
    }
    for (int burst = 0; burst < BURST && b->offset < end; burst++, pieces++) {
        uint64_t n = send_piece(m, p, b, end - b->offset);
        if (n == 0) {
            break;
        }
        b->offset += n;
    }
    if (b->offset < end) {
        stream_append(m, r);
        return pieces;
    }
    hl_send_finish(m, r);
    hl_matcher_wake(m);
    return pieces;
}

void hl_rndv_control(struct hl_matcher *m, const struct hl_ring_slot *slot, const void *data)
{
    struct hl_req *r;
    switch (slot->head.kind) {
    case HL_MSG_PULL:
        take_pull(m, &slot->area.pull);
        break;
    case HL_MSG_DATA:
        take_data(m, &slot->area.piece, data);
        break;
    case HL_MSG_HELP:
        hl_split_offered(m, slot);
        break;
    case HL_MSG_ENDED:
        hl_split_ended(m, &slot->area.ended);
        break;
    case HL_MSG_FIN:
        r = hl_name_find(&m->names, slot->area.fin.cookie);
        if (r != NULL && r->what == HL_REQ_SEND && !is_streaming(r)) {
            if (slot->area.fin.revoked != 0) {
                hl_req_mark(r, HL_REQ_CANCELLED);
            }
            hl_send_finish(m, r);
        }
        break;
    default:
        break;
    }
}
