/* Messages above the eager size: the receiver fetches them.
 *
 *   sender                     receiver
 *   RTS {name, address}   -->  match; nothing owned any more:
 *                              reads the sender's memory              (same process, or CMA)
 *   completes             <--  FIN {name}
 * or, when it cannot read it:
 *   packs into cells      <--  PULL {name, own name, n}
 *   DATA {own name, offset} ->  unpacks; completes with the last byte; the sender completed with its last
 * cell
 *
 * A control message that finds no room is owed: progress retries it. */
#include "inner.h"

#include "boot.h"
#include "err.h"
#include "far.h"
#include "log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define BOUNCE_BYTES 65536u
#define CMA_MAX ((uint64_t)1 << 30) /* bytes of one call; the kernel moves at most 2 GiB */
#define BURST 16                    /* pieces of one send before others get their turn */

enum { CMA_UNTRIED, CMA_WORKS, CMA_FAILS };

/* ---- Control messages ---- */

bool hl_control_push(struct hl_matcher *m, struct hl_peer *p, const struct hl_slot *slot)
{
    if (p->node < 0) {
        return hl_far_control(m, p, slot, NULL) == 1;
    }
    struct hl_home *to = hl_home_of(m, p->node);
    uint32_t n_inboxes = hl_a32_load_acquire(&to->inboxes); /* acquire: as in push_near */
    /* Every area begins with a name: all pieces of one message go through one inbox. */
    return n_inboxes != 0 && hl_ring_push(to, (unsigned)slot->area.fin.cookie & (n_inboxes - 1), slot);
}

void hl_owed_free(struct hl_owed *o)
{
    free(o);
}

/* Sends a control message, behind those owed already. */
static void control_send(struct hl_matcher *m, struct hl_peer *p, const struct hl_slot *slot)
{
    /* relaxed: order among control messages does not matter; a guess who tries first. */
    if (hl_a32_load_relaxed(&p->owing) == 0 && hl_control_push(m, p, slot)) {
        return;
    }
    struct hl_owed *o = malloc(sizeof(*o));
    if (o == NULL) {
        hl_log(HL_LOG_ERROR, "no memory for an answer owed to rank %d", p->world);
        hl_boot_abort(1);
    }
    o->slot = *slot;
    o->next = NULL;
    hl_mutex_lock(&p->lock);
    *p->owed_tail = o;
    p->owed_tail = &o->next;
    hl_a32_add_relaxed(&p->owing, 1); /* relaxed: a hint for the poller */
    hl_a32_add_relaxed(&m->backlog, 1);
    hl_mutex_unlock(&p->lock);
}

static void start_slot(const struct hl_matcher *m, struct hl_slot *slot, enum hl_msg_kind kind)
{
    memset(slot, 0, sizeof(*slot));
    slot->head.kind = (uint8_t)kind;
    slot->head.from = (uint16_t)m->node_rank;
}

static struct hl_peer *peer_from(struct hl_matcher *m, int from)
{
    return from >= 0 ? &m->near[from] : hl_matcher_peer(m, ~from);
}

/* ---- The receiver ---- */

static bool cma_read(pid_t pid, uint64_t from, void *to, uint64_t n)
{
    while (n > 0) {
        uint64_t part = n < CMA_MAX ? n : CMA_MAX;
        struct iovec mine = {to, part}, theirs = {(void *)(uintptr_t)from, part};
        ssize_t got = process_vm_readv(pid, &mine, 1, &theirs, 1, 0);
        if (got <= 0) {
            return false;
        }
        from += (uint64_t)got;
        to = (char *)to + got;
        n -= (uint64_t)got;
    }
    return true;
}

/* May its memory be read? Tried once, on a word whose value is known. */
static bool cma_works(struct hl_matcher *m, struct hl_peer *p)
{
    uint32_t known = hl_a32_load_relaxed(&p->cma); /* relaxed: a result that stays */
    if (known != CMA_UNTRIED || !m->cma) {
        return known == CMA_WORKS && m->cma;
    }
    const struct hl_home *h = hl_home_of(m, p->node);
    uint64_t value = 0;
    bool ok = cma_read(h->pid, h->probe_addr, &value, sizeof(value)) && value == h->probe_value;
    hl_a32_store_relaxed(&p->cma, ok ? CMA_WORKS : CMA_FAILS);
    return ok;
}

/* Reads through a buffer into a layout that is not one block. */
static bool cma_scatter(struct hl_req *r, pid_t pid, uint64_t addr)
{
    unsigned char *bounce = malloc(BOUNCE_BYTES);
    bool ok = bounce != NULL;
    for (uint64_t at = 0, n = (uint64_t)r->bytes; ok && at < n; at += BOUNCE_BYTES) {
        uint64_t part = n - at < BOUNCE_BYTES ? n - at : BOUNCE_BYTES;
        ok = cma_read(pid, addr + at, bounce, part) && hl_recv_put(r, at, bounce, part) == 0;
    }
    free(bounce);
    return ok;
}

/* Copies the message from the sender's memory. False: it must be asked for it. */
static bool fetch_near(struct hl_matcher *m, struct hl_peer *p, struct hl_req *r)
{
    const struct hl_recv_body *b = hl_recv_body(r);
    const struct hl_home *h = hl_home_of(m, p->node);
    uint64_t addr = b->fetch.addr, n = (uint64_t)r->bytes;
    if (addr == 0) {
        return false;
    }
    if (h->pid == (int32_t)getpid()) {
        return m->cma && hl_recv_put(r, 0, (const void *)(uintptr_t)addr, n) == 0;
    }
    if (!cma_works(m, p)) {
        return false;
    }
    char *start;
    if (hl_type_block(b->type, b->count, b->buf, &start)) {
        return cma_read(h->pid, addr, start, n);
    }
    return cma_scatter(r, h->pid, addr);
}

void hl_rndv_run(struct hl_matcher *m, struct hl_req *r)
{
    struct hl_recv_body *b = hl_recv_body(r);
    struct hl_peer *p = peer_from(m, b->fetch.from);
    uint64_t send = b->fetch.name, n = (uint64_t)r->bytes;
    struct hl_slot slot;
    if (p == NULL) { /* it reached us, but we cannot reach it */
        hl_req_fail(r, HL_ERR_OTHER);
        hl_recv_finish(r);
        return;
    }
    if (n > 0 && (p->node < 0 || !fetch_near(m, p, r))) {
        uint64_t own;
        b->fetch.addr = 0; /* from here on the bytes that came; before pieces can come */
        if (hl_name_give(&m->names, r, &own)) {
            start_slot(m, &slot, HL_MSG_PULL);
            slot.area.pull = (struct hl_msg_pull){send, own, n, 0};
            control_send(m, p, &slot);
            return;
        }
        hl_req_fail(r, HL_ERR_NO_MEM);
    }
    start_slot(m, &slot, HL_MSG_FIN);
    slot.area.fin.cookie = send;
    control_send(m, p, &slot);
    hl_recv_finish(r);
}

void hl_work_run(struct hl_matcher *m, struct hl_work *w)
{
    if (HL_LIKELY(w->todo == NULL)) {
        return;
    }
    while (w->todo != NULL) {
        struct hl_req *r = w->todo;
        w->todo = r->next;
        hl_rndv_run(m, r);
    }
    w->todo_tail = &w->todo;
    if (m->threads) {
        hl_prog_wake();
    }
}

/* A piece came. Pieces of one message come through one inbox (or port), so its owner alone counts them. */
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
        hl_a32_add_relaxed(&m->n_streams, (uint32_t)-1); /* relaxed: as above */
    }
    hl_mutex_unlock(&m->stream_lock);
    return r;
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
    if (b->back != 0 || pull->n > (uint64_t)len) {
        return;
    }
    b->back = pull->back;
    r->bytes = (int64_t)pull->n; /* what is wanted, until it has left */
    stream_append(m, r);
}

/* One piece through a cell. False: no room. */
static bool piece_near(struct hl_matcher *m, struct hl_peer *p, struct hl_send_body *b, uint64_t n)
{
    struct hl_home *mine = hl_home_of(m, m->node_rank);
    int cell = hl_cell_take(mine);
    if (cell < 0) {
        return false;
    }
    struct hl_slot slot;
    start_slot(m, &slot, HL_MSG_DATA);
    slot.area.piece = (struct hl_msg_data){b->back, b->offset, (uint32_t)cell, (uint32_t)n, 0};
    int err = hl_type_pack(b->type, b->count, b->buf, (int64_t)b->offset, mine->cells[cell], (int64_t)n);
    hl_handover_give(mine->cells[cell]); /* comes back by way of the receiver */
    if (err != 0 || !hl_control_push(m, p, &slot)) {
        hl_cell_give(mine, (uint32_t)cell);
        return false;
    }
    return true;
}

/* One piece over the network, as long as fits. Returns its bytes; 0: no room. */
static uint64_t piece_far(struct hl_matcher *m, struct hl_peer *p, struct hl_send_body *b, uint64_t n)
{
    uint64_t max = hl_far_piece_max(m);
    n = n < max ? n : max;
    struct hl_slot slot;
    start_slot(m, &slot, HL_MSG_DATA);
    slot.area.piece = (struct hl_msg_data){b->back, b->offset, 0, (uint32_t)n, 0};
    struct hl_far_part part = {b->type, b->buf, b->count, b->offset, n, false};
    return hl_far_control(m, p, &slot, &part) == 1 ? n : 0;
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
    /* relaxed: a glance. */
    if (HL_LIKELY(hl_a32_load_relaxed(&m->n_streams) == 0)) {
        return 0;
    }
    struct hl_req *r = stream_take(m);
    if (r == NULL) {
        return 0;
    }
    struct hl_send_body *b = hl_send_body(r);
    struct hl_peer *p = hl_matcher_peer(m, b->dest);
    uint64_t end = (uint64_t)r->bytes;
    int pieces = 0;
    for (; pieces < BURST && b->offset < end; pieces++) {
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
    if (m->threads) {
        hl_prog_wake();
    }
    return pieces;
}

void hl_rndv_control(struct hl_matcher *m, const struct hl_slot *slot, const void *data)
{
    struct hl_req *r;
    switch (slot->head.kind) {
    case HL_MSG_PULL:
        take_pull(m, &slot->area.pull);
        break;
    case HL_MSG_DATA:
        take_data(m, &slot->area.piece, data);
        break;
    case HL_MSG_FIN:
        r = hl_name_find(&m->names, slot->area.fin.cookie);
        if (r != NULL && r->what == HL_REQ_SEND) {
            hl_send_finish(m, r);
        }
        break;
    default:
        break;
    }
}
