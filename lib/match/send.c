/* Sends: at once when the peer has room, else from a list that polls work off. */
#include "hold.h"

#include "buffered.h"
#include "deaths.h"
#include "slots.h"

#include "copy.h"
#include "err.h"
#include "far.h"

#include <string.h>

/* Bytes of a send and, if they are one block, its address. */
struct view {
    uint64_t len;
    char *block; /* NULL: the bytes must be packed */
};

static int view_buffer(const struct hl_type *type, int64_t count, const void *buf, struct view *v)
{
    int64_t len;
    if (!hl_type_bytes(type, count, &len)) {
        *v = (struct view){0};
        return hl_err_say(HL_ERR_COUNT, "%lld elements of %lld bytes do not fit 63 bits", (long long)count,
                          (long long)type->size);
    }
    v->len = (uint64_t)len;
    if (!hl_type_block(type, count, buf, &v->block)) {
        v->block = NULL;
    }
    return 0;
}

HL_INLINE int pack_view(const struct hl_send *s, const struct view *v, void *out)
{
    if (v->len == 0) {
        return 0;
    }
    if (HL_LIKELY(v->block != NULL)) {
        hl_copy(out, v->block, v->len);
        return 0;
    }
    return hl_type_pack(s->type, s->count, s->buf, 0, out, (int64_t)v->len);
}

static void put_head(const struct hl_matcher *m, struct hl_ring_slot *slot, const struct hl_send *s,
                     uint64_t len, uint8_t kind)
{
    slot->head = (struct hl_msg_head){.ctx = s->ctx,
                                      .src = s->me,
                                      .tag = s->tag,
                                      .len = (uint32_t)len,
                                      .kind = kind,
                                      .from = (uint16_t)m->node_rank};
}

static bool is_eager(const struct hl_matcher *m, bool is_near, uint64_t len)
{
    return HL_LIKELY(is_near) ? len <= HL_EAGER_CELLS * HL_CELL_BYTES : hl_far_is_eager(m, len);
}

/* Sends a message that fits a slot or some cells: enum hl_try_send, or an error. A thread that has not
 * enrolled (mpsc.h) gets HL_NO_ROOM, and send_later enrols it. */
HL_INLINE int push_near(struct hl_matcher *m, struct hl_peer *p, const struct hl_send *s,
                        const struct view *v)
{
    struct hl_match_part *to = hl_match_part_of(m, p->node), *mine = NULL;
    uint32_t n_inboxes = hl_peer_inboxes(m, p);
    if (HL_UNLIKELY(n_inboxes == 0)) {
        return HL_NO_ROOM;
    }
    union hl_msg_area area;
    uint8_t kind = HL_MSG_EAGER;
    int err, cell = -1;
    if (v->len <= HL_MATCH_INLINE) {
        err = pack_view(s, v, area.data);
    } else {
        mine = hl_match_part_of(m, m->node_rank);
        cell = hl_cell_take(mine, v->len);
        if (cell < 0) {
            return HL_NO_CELL;
        }
        kind = HL_MSG_CELL;
        area.cell = (uint32_t)cell;
        err = pack_view(s, v, mine->cells[cell]);
        hl_cell_hand_over(mine, area.cell, v->len); /* the receiver gives them back */
    }
    uint64_t claimed;
    struct hl_ring_slot *slot = NULL;
    if (HL_LIKELY(err == 0) &&
        HL_LIKELY((slot = hl_ring_claim(m, to, hl_match_hash(s->ctx, s->me) & (n_inboxes - 1), &claimed)) !=
                  NULL)) {
        put_head(m, slot, s, v->len, kind);
        if (v->len > 0) {
            slot->area = area;
        }
        hl_ring_publish(to, slot, claimed);
        return HL_SENT;
    }
    if (cell >= 0) {
        hl_cell_give(mine, (uint32_t)cell, v->len);
    }
    return err; /* 0 is HL_NO_ROOM */
}

/* Sends an eager message over the network: HL_SENT, HL_NO_ROOM or an error. `patient`: may wait for a port,
 * so not from a poll. */
HL_INLINE int push_far(struct hl_matcher *m, struct hl_peer *p, const struct hl_send *s, const struct view *v,
                       bool patient)
{
    struct hl_ring_slot slot;
    put_head(m, &slot, s, v->len, HL_MSG_EAGER);
    struct hl_far_part part = {s->type, s->buf, s->count, 0, v->len, patient};
    return hl_far_eager(m, p, &slot.head, &part);
}

/* Asks the receiver to fetch the message: HL_SENT, HL_NO_ROOM or an error. The request gets its name here:
 * most requests that wait for room never need one. */
static int push_rts(struct hl_matcher *m, struct hl_peer *p, const struct hl_send *s, const struct view *v,
                    struct hl_req *r)
{
    struct hl_ring_slot slot;
    struct hl_send_body *b = hl_send_body(r);
    put_head(m, &slot, s, 0, HL_MSG_RTS);
    if (HL_UNLIKELY(s->mode == HL_SEND_LOST)) {
        slot.area.rts = (struct hl_msg_rts){.addr = (uint64_t)(hl_deaths_member(m, s->ctx) + 1)};
    } else {
        slot.area.rts = (struct hl_msg_rts){.len = v->len};
        hl_offer_make(p, r, v->block, v->len, &slot.area.rts);
        /* The name comes last: from then on the peer's death may end the request. */
        if (b->cookie == 0 && !hl_name_give(&m->names, r, &b->cookie)) {
            return hl_err_say(HL_ERR_NO_MEM, "no memory to send a large message");
        }
        slot.area.rts.cookie = b->cookie;
    }
    if (p->node < 0) {
        return hl_far_rts(m, p, &slot);
    }
    struct hl_match_part *to = hl_match_part_of(m, p->node);
    uint32_t n_inboxes = hl_peer_inboxes(m, p);
    bool sent = n_inboxes != 0 && hl_ring_push(m, to, hl_match_hash(s->ctx, s->me) & (n_inboxes - 1), &slot);
    return sent ? HL_SENT : HL_NO_ROOM;
}

void hl_send_end(struct hl_req *r)
{
    hl_offer_withdraw(r);
    r->bytes = 0;
    hl_match_drop_type(r, hl_send_body(r)->type);
    hl_match_done(r);
}

void hl_send_finish(struct hl_matcher *m, struct hl_req *r)
{
    uint64_t name = hl_send_body(r)->cookie;
    /* else the peer's death has ended the request */
    if (name == 0 || hl_name_take(&m->names, name) != NULL) {
        hl_send_end(r);
    }
}

static void fill_send_body(struct hl_req *r, const struct hl_send *s)
{
    *hl_send_body(r) = (struct hl_send_body){.buf = s->buf,
                                             .count = s->count,
                                             .type = s->type,
                                             .me = s->me,
                                             .tag = s->tag,
                                             .dest = s->dest_world,
                                             .mode = (int32_t)s->mode};
    r->ctx = s->ctx;
}

/* Sends a request to send for a copy, since no cell is free; the user's send is over. Else peers that both
 * send many short messages before they receive would wait for each other. Returns what push_near does. */
static HL_COLD int push_copy(struct hl_matcher *m, struct hl_peer *p, const struct hl_send *s,
                             const struct view *v)
{
    struct hl_send packed;
    struct hl_req *r = hl_buffered_spill(s, (int64_t)v->len, m->flow.limit, &packed);
    if (r == NULL) {
        return HL_NO_CELL;
    }
    fill_send_body(r, &packed);
    struct view copy = {v->len, (char *)(uintptr_t)packed.buf};
    int sent = push_rts(m, p, &packed, &copy, r);
    if (sent != HL_SENT) {
        hl_send_finish(m, r);
    }
    return sent;
}

/* Tries to send what a request describes: HL_SENT, and the request may be gone, or HL_NO_ROOM. */
static int push_request(struct hl_matcher *m, struct hl_peer *p, struct hl_req *r)
{
    const struct hl_send_body *b = hl_send_body(r);
    struct hl_send s = {.ctx = r->ctx,
                        .me = b->me,
                        .dest_world = b->dest,
                        .tag = b->tag,
                        .mode = (enum hl_send_mode)b->mode,
                        .buf = b->buf,
                        .count = b->count,
                        .type = b->type};
    struct view v;
    int sent = view_buffer(b->type, b->count, b->buf, &v); /* 0 is HL_NO_ROOM */
    /* relaxed: a peer that throttles this rank still gets what was on its way. */
    bool throttled = (hl_a32_load_relaxed(p->state) & HL_PEER_XOFF) != 0;
    if (!throttled && sent == 0 && s.mode == HL_SEND_STANDARD && is_eager(m, p->node >= 0, v.len)) {
        sent = p->node >= 0 ? push_near(m, p, &s, &v) : push_far(m, p, &s, &v, false);
        sent = sent == HL_NO_CELL && v.len <= HL_CELL_BYTES ? push_copy(m, p, &s, &v) : sent;
        if (sent == HL_NO_ROOM) {
            return sent; /* try again later: as a request to send it would complete only when matched */
        }
    }
    if (sent == HL_NO_ROOM || sent == HL_NO_CELL) {
        sent = push_rts(m, p, &s, &v, r);
        if (sent == HL_NO_ROOM || (sent > 0 && s.mode != HL_SEND_LOST)) {
            return sent;
        }
    }
    if (sent < 0) {
        hl_req_fail(r, sent);
    }
    hl_send_finish(m, r);
    return HL_SENT;
}

static void enqueue_send(struct hl_matcher *m, struct hl_peer *p, struct hl_req *r)
{
    hl_mutex_lock(&p->lock);
    if (HL_UNLIKELY((hl_a32_load_relaxed(p->state) & HL_PEER_DEAD) != 0)) { /* relaxed: set under the lock */
        hl_fail_send(m, r);
        hl_mutex_unlock(&p->lock);
        return;
    }
    /* relaxed: this thread's next send sees it; a poll may see it late. */
    hl_a32_add_relaxed(p->state, 1);
    hl_a32_add_relaxed(&m->backlog, 1);
    r->next = NULL;
    *p->tail = r;
    p->tail = &r->next;
    hl_mutex_unlock(&p->lock);
}

static int send_owed(struct hl_matcher *m, struct hl_peer *p) HL_REQUIRES(p->lock)
{
    int n = 0;
    struct hl_deferred *o;
    while ((o = p->deferred) != NULL && hl_control_push(m, p, &o->slot)) {
        p->deferred = o->next;
        if (p->deferred == NULL) {
            p->deferred_tail = &p->deferred;
        }
        hl_a32_add_relaxed(&p->owing, (uint32_t)-1); /* relaxed: a hint for the poller */
        hl_a32_add_relaxed(&m->backlog, (uint32_t)-1);
        hl_deferred_free(o);
        n++;
    }
    return n;
}

int hl_peer_drain(struct hl_matcher *m, struct hl_peer *p)
{
    /* relaxed: a guess before taking the lock. */
    if (HL_PEER_SENDS(hl_a32_load_relaxed(p->state)) == 0 && hl_a32_load_relaxed(&p->owing) == 0) {
        return 0;
    }
    hl_mutex_lock(&p->lock);
    int n = send_owed(m, p);
    struct hl_req *r;
    while ((r = p->head) != NULL) {
        struct hl_req *next = r->next; /* when it has left, the request may be gone */
        if (push_request(m, p, r) == HL_NO_ROOM) {
            break;
        }
        p->head = next;
        if (next == NULL) {
            p->tail = &p->head;
        }
        /* full: after the message is published, else a later send of the same thread overtakes it; pairs with
         * the acquires in send_at_once and send_later. */
        hl_a32_add_full(p->state, (uint32_t)-1);
        hl_a32_add_relaxed(&m->backlog, (uint32_t)-1);
        n++;
    }
    hl_mutex_unlock(&p->lock);
    return n;
}

/* Asks the receiver to forget a request to send that it has not matched. */
static void revoke_rts(struct hl_matcher *m, struct hl_peer *p, const struct hl_req *r,
                       const struct hl_send_body *b)
{
    struct hl_ring_slot slot = {.head = {.ctx = r->ctx,
                                         .src = b->me,
                                         .tag = b->tag,
                                         .len = sizeof(slot.area.fin),
                                         .kind = HL_MSG_REVOKE,
                                         .from = (uint16_t)m->node_rank},
                                .area.fin.cookie = b->cookie};
    hl_control_put(m, p, &slot);
}

void hl_send_cancel(struct hl_matcher *m, struct hl_req *r)
{
    struct hl_peer *p = hl_matcher_peer(m, hl_send_body(r)->dest);
    bool found = false;
    hl_mutex_lock(&p->lock);
    for (struct hl_req **at = &p->head; *at != NULL; at = &(*at)->next) {
        if (*at == r) {
            *at = r->next;
            if (p->tail == &r->next) {
                p->tail = at;
            }
            /* full: as in hl_peer_drain. Relaxed would do, since nothing was published. */
            hl_a32_add_full(p->state, (uint32_t)-1);
            hl_a32_add_relaxed(&m->backlog, (uint32_t)-1);
            found = true;
            break;
        }
    }
    hl_mutex_unlock(&p->lock);
    if (found) {
        hl_req_mark(r, HL_REQ_CANCELLED);
        hl_send_finish(m, r);
    } else if (hl_send_body(r)->cookie != 0) {
        revoke_rts(m, p, r, hl_send_body(r));
    }
}

/* Sends what cannot leave at once, or must be fetched: `r` remembers it. 0 or an error. */
static int send_later(struct hl_matcher *m, struct hl_peer *p, const struct hl_send *s, struct hl_req *r)
{
    fill_send_body(r, s);
    /* relaxed: a late look finds it */
    if (HL_UNLIKELY((hl_a32_load_relaxed(p->state) & HL_PEER_DEAD) != 0)) {
        return hl_deaths_error(p->world);
    }
    hl_mpsc_enrol();
    /* acquire: earlier sends are in the ring before this one; pairs with the addition in hl_peer_drain. */
    if (HL_PEER_SENDS(hl_a32_load_acquire(p->state)) != 0 || push_request(m, p, r) == HL_NO_ROOM) {
        enqueue_send(m, p, r);
    }
    return 0;
}

/* Tries to send at once: HL_SENT; HL_NO_ROOM: it needs a request; or an error. */
HL_INLINE int send_at_once(struct hl_matcher *m, const struct hl_send *s, struct hl_peer **peer)
{
    struct hl_peer *p = *peer = hl_matcher_peer(m, s->dest_world);
    if (HL_UNLIKELY(p == NULL)) {
        return HL_ERR_OTHER;
    }
    struct view v;
    bool is_near = p->node >= 0;
    int sent = view_buffer(s->type, s->count, s->buf, &v);
    if (HL_UNLIKELY(sent != 0)) {
        return sent;
    }
    /* acquire: earlier sends are in the ring before this one; pairs with the addition in hl_peer_drain. */
    if (HL_UNLIKELY(s->mode != HL_SEND_STANDARD || !is_eager(m, is_near, v.len)) ||
        HL_UNLIKELY(hl_a32_load_acquire(p->state) != 0)) {
        return HL_NO_ROOM;
    }
    sent = HL_LIKELY(is_near) ? push_near(m, p, s, &v) : push_far(m, p, s, &v, true);
    return sent == HL_NO_CELL ? HL_NO_ROOM : sent;
}

/* send_at_once in the section of a node peer (hl_peer.section). A port is such a section itself. */
static HL_NOINLINE int send_at_once_in_section(struct hl_matcher *m, const struct hl_send *s,
                                               struct hl_peer **peer)
{
    struct hl_peer *p = hl_matcher_peer(m, s->dest_world);
    if (p == NULL || p->node < 0) {
        return send_at_once(m, s, peer);
    }
    hl_cs_in(HL_CS_send, &p->section);
    int sent = send_at_once(m, s, peer);
    hl_cs_out(HL_CS_send, &p->section);
    return sent;
}

HL_INLINE int begin_send(struct hl_matcher *m, const struct hl_send *s, struct hl_peer **peer)
{
    return HL_LIKELY(!hl_cs_any()) ? send_at_once(m, s, peer) : send_at_once_in_section(m, s, peer);
}

/* Makes a request for a send; in modes with sections that comes before the first try. */
static struct hl_req *request_of(const struct hl_send *s)
{
    struct hl_req *r = hl_req_new(HL_REQ_SEND);
    if (r == NULL) {
        hl_err_say(HL_ERR_NO_MEM, "no memory for a request");
        return NULL;
    }
    r->ctx = s->ctx;
    hl_match_count_new(r);
    return r;
}

HL_INLINE int hold_and_send(struct hl_matcher *m, struct hl_peer *p, const struct hl_send *s,
                            struct hl_req *r)
{
    hl_match_hold_type(r, s->type);
    int err = send_later(m, p, s, r);
    if (err != 0) {
        hl_match_drop_type(r, s->type);
    }
    return err;
}

static int isend_later(struct hl_matcher *m, struct hl_peer *p, const struct hl_send *s, struct hl_req *r,
                       struct hl_req **out)
{
    int err = hold_and_send(m, p, s, r);
    if (err != 0) {
        hl_req_free(r);
        return err;
    }
    *out = r;
    return 0;
}

int hl_match_isend_on(struct hl_matcher *m, const struct hl_send *s, struct hl_req *r)
{
    struct hl_peer *p;
    int sent = begin_send(m, s, &p);
    if (sent == HL_NO_ROOM) {
        return send_later(m, p, s, r);
    }
    if (sent == HL_SENT) {
        hl_match_done(r);
    }
    return sent < 0 ? sent : 0;
}

static HL_NOINLINE int isend_in_sections(struct hl_matcher *m, const struct hl_send *s, struct hl_req **out)
{
    struct hl_peer *p;
    struct hl_req *r = request_of(s);
    if (r == NULL) {
        return HL_ERR_NO_MEM;
    }
    int sent = send_at_once_in_section(m, s, &p);
    if (sent == HL_NO_ROOM) {
        return isend_later(m, p, s, r, out);
    }
    if (sent < 0) {
        hl_req_free(r);
        return sent;
    }
    hl_match_done(r);
    *out = r;
    return 0;
}

int hl_match_isend(struct hl_matcher *m, const struct hl_send *s, struct hl_req **out)
{
    if (HL_UNLIKELY(hl_cs_any())) {
        return isend_in_sections(m, s, out);
    }
    struct hl_peer *p;
    int sent = send_at_once(m, s, &p);
    if (HL_LIKELY(sent == HL_SENT)) {
        *out = hl_req_completed();
        return 0;
    }
    if (sent < 0) {
        return sent;
    }
    struct hl_req *r = request_of(s);
    return r != NULL ? isend_later(m, p, s, r, out) : HL_ERR_NO_MEM;
}

/* The rest of a blocking send, after a try that returned `sent`. */
HL_INLINE int send_rest(struct hl_matcher *m, struct hl_peer *p, const struct hl_send *s, int sent)
{
    if (HL_LIKELY(sent == HL_SENT)) {
        return 0;
    }
    if (sent < 0) {
        return sent;
    }
    struct hl_req r;
    hl_req_init(&r, HL_REQ_SEND);
    int err = hold_and_send(m, p, s, &r);
    if (err != 0) {
        return err;
    }
    hl_req_wait(&r);
    return hl_req_finish(&r, MPI_STATUS_IGNORE);
}

static HL_NOINLINE int send_in_section(struct hl_matcher *m, const struct hl_send *s)
{
    struct hl_peer *p;
    int sent = send_at_once_in_section(m, s, &p);
    return send_rest(m, p, s, sent);
}

int hl_match_send(struct hl_matcher *m, const struct hl_send *s)
{
    if (HL_UNLIKELY(hl_cs_any())) {
        return send_in_section(m, s);
    }
    struct hl_peer *p;
    int sent = send_at_once(m, s, &p);
    return send_rest(m, p, s, sent);
}
