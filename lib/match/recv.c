/* Receives: posting them, and delivering their messages. */
#include "hold.h"

#include "conf.h"
#include "copy.h"
#include "err.h"
#include "log.h"

#include <stdlib.h>
#include <string.h>

void hl_recv_setup(struct hl_req *req, const struct hl_recv *r, enum hl_command_op op)
{
    struct hl_recv_body *b = hl_recv_body(req);
    b->command = (struct hl_command){.op = op, .spare = (uint32_t)r->src_world};
    b->src = r->src;
    b->tag = r->tag;
    b->buf = r->buf;
    b->count = r->count;
    b->type = op == HL_COMMAND_RECV ? r->type : NULL;
    b->u.wild = NULL;
    req->ctx = r->ctx;
    if (HL_UNLIKELY(r->exact)) {
        req->spare |= HL_REQ_EXACT;
    }
}

int hl_recv_results(struct hl_req *r, MPI_Status *status, bool end)
{
    struct hl_recv_body *b = hl_recv_body(r);
    if (end && b->u.wild != NULL) {
        hl_wild_drop(b->u.wild, 1);
        b->u.wild = NULL;
    }
    return hl_req_results(r, status);
}

static const struct hl_req_more wild = {.results = hl_recv_results};

/* Posts a receive from any source over several inboxes: a node in each; the first match takes it. */
static int post_wild(struct hl_matcher *m, struct hl_req *req, struct hl_work *w)
{
    unsigned n = m->n_inboxes;
    struct hl_recv_body *b = hl_recv_body(req);
    struct hl_wild_recv *c = malloc(sizeof(*c) + n * sizeof(c->node[0]));
    if (c == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a receive from any source");
    }
    /* relaxed: published with the commands below. The counts: one for each node, one for this function, one
     * for the request. */
    hl_a32_store_relaxed(&c->state, HL_WILD_OPEN);
    hl_a32_store_relaxed(&c->left, n + 1 + (b->type != NULL ? 1 : 0));
    c->req = req;
    c->ctx = req->ctx;
    c->tag = b->tag;
    if (b->type != NULL) {
        b->u.wild = c;
        req->more = req->more != NULL ? req->more : &wild; /* persistent requests have their own */
    }
    /* relaxed: any start is right; a rotating one is fair. */
    unsigned first = hl_a32_add_relaxed(&m->turn, 1);
    for (unsigned i = 0; i < n; i++) {
        if (i > 0 && hl_a32_load_relaxed(&c->state) != HL_WILD_OPEN) {
            hl_wild_drop(c, n - i);
            break;
        }
        struct hl_wild_node *node = &c->node[i];
        node->command = (struct hl_command){.op = HL_COMMAND_WILD};
        node->wild = c;
        hl_inbox_command(m, &m->inbox[(first + i) & (n - 1)], &node->command, w);
    }
    hl_wild_drop(c, 1);
    return 0;
}

int hl_recv_post(struct hl_matcher *m, struct hl_req *req)
{
    struct hl_recv_body *b = hl_recv_body(req);
    struct hl_work w;
    hl_work_start(&w);
    int err = 0;
    if (HL_UNLIKELY(b->src == MPI_ANY_SOURCE && m->n_inboxes > 1)) {
        err = post_wild(m, req, &w);
    } else {
        hl_inbox_command(m, hl_inbox_of(m, req->ctx, b->src), &b->command, &w);
    }
    hl_work_run(m, &w);
    return err;
}

int hl_recv_put(struct hl_req *r, uint64_t offset, const void *data, uint64_t n)
{
    const struct hl_recv_body *b = hl_recv_body(r);
    char *start;
    if (HL_LIKELY(hl_type_block(b->type, b->count, b->buf, &start))) {
        hl_copy(start + offset, data, n);
        return 0;
    }
    return hl_type_unpack(b->type, b->count, b->buf, (int64_t)offset, data, (int64_t)n);
}

void hl_match_done_counted(struct hl_req *r)
{
    if (!hl_req_has(r, HL_REQ_LOCAL)) {
        hl_cs_count(HL_CS_request, (uintptr_t)r, -1);
    }
    hl_req_done(r);
}

void hl_recv_finish(struct hl_req *r)
{
    hl_match_drop_type(r, hl_recv_body(r)->type);
    hl_match_done(r);
}

void hl_recv_result(struct hl_req *r, int src, int tag, uint64_t bytes)
{
    r->source = src;
    r->tag = tag;
    r->bytes = (int64_t)bytes;
}

static HL_COLD void refuse_short(struct hl_req *r, const struct hl_arrival *a, int64_t room)
{
    if (hl_conf.broken_hints != 0) {
        hl_req_fail(r, HL_ERR_COUNT);
        return;
    }
    hl_log_once(
        "the message of rank %d with tag %d has %llu bytes, fewer than the receive buffer of %lld, on a "
        "communicator with the hint mpi_assert_exact_length: it goes on, as without the hint "
        "(HOTLANE_BROKEN_HINTS=error makes that an error)",
        a->src, a->tag, (unsigned long long)a->len, (long long)room);
}

void hl_recv_deliver(struct hl_matcher *m, struct hl_req *r, const struct hl_arrival *a, struct hl_work *w)
{
    struct hl_recv_body *b = hl_recv_body(r);
    int64_t room = 0;
    hl_type_bytes(b->type, b->count, &room);
    uint64_t n = a->len;
    if (HL_UNLIKELY(n > (uint64_t)room)) {
        hl_req_fail_long(r, n - (uint64_t)room);
        n = (uint64_t)room;
    } else if (HL_UNLIKELY((r->spare & HL_REQ_EXACT) != 0) && n != (uint64_t)room) {
        refuse_short(r, a, room);
    }
    hl_recv_result(r, a->src, a->tag, n);
    if (HL_UNLIKELY(a->kind == HL_MSG_RTS)) {
        const struct hl_msg_rts *rts = a->payload;
        hl_req_mark(r, HL_REQ_MOVING);
        hl_offer_keep(m, r, rts, a->from);
        hl_work_add(w, r);
        return;
    }
    int err = n > 0 ? hl_recv_put(r, 0, a->payload, n) : 0;
    if (HL_UNLIKELY(err != 0)) {
        hl_req_fail(r, err);
    }
    hl_recv_finish(r);
}

/* Fills the request of a receive that is over already. */
HL_INLINE void irecv_taken(struct hl_req *req, const struct hl_recv *r, const struct hl_got *got)
{
    hl_req_begin(req, HL_REQ_RECV, 0);
    hl_recv_result(req, got->src, got->tag, got->bytes);
    hl_match_count_both(req, r->ctx);
    hl_req_done(req);
}

HL_INLINE int hold_and_post(struct hl_matcher *m, const struct hl_recv *r, struct hl_req *req)
{
    hl_match_hold_type(req, r->type);
    int err = hl_recv_post(m, req);
    if (HL_UNLIKELY(err != 0)) {
        hl_match_drop_type(req, r->type);
    }
    return err;
}

static int irecv_later(struct hl_matcher *m, const struct hl_recv *r, struct hl_req *req)
{
    hl_req_begin(req, HL_REQ_RECV, 0);
    hl_recv_setup(req, r, HL_COMMAND_RECV);
    hl_match_count_new(req);
    int err = hold_and_post(m, r, req);
    if (HL_UNLIKELY(err != 0)) {
        hl_req_free(req);
    }
    return err;
}

int hl_match_irecv(struct hl_matcher *m, const struct hl_recv *r, struct hl_req **out)
{
    struct hl_got got;
    struct hl_req *req = hl_req_take();
    if (HL_UNLIKELY(req == NULL)) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a request");
    }
    int err = 0;
    if (hl_inbox_take(m, r, &got)) {
        irecv_taken(req, r, &got);
    } else {
        err = irecv_later(m, r, req);
    }
    if (HL_LIKELY(err == 0)) {
        *out = req;
    }
    return err;
}

int hl_recv_begin(struct hl_matcher *m, const struct hl_recv *r, struct hl_req *req)
{
    hl_req_init(req, HL_REQ_RECV);
    hl_recv_setup(req, r, HL_COMMAND_RECV);
    return hold_and_post(m, r, req);
}

int hl_match_recv(struct hl_matcher *m, const struct hl_recv *r, MPI_Status *status)
{
    struct hl_got got;
    if (HL_LIKELY(hl_inbox_take(m, r, &got))) {
        hl_req_set_status(status, got.src, got.tag, (int64_t)got.bytes, false);
        return 0;
    }
    struct hl_req req;
    int err = hl_recv_begin(m, r, &req);
    if (HL_UNLIKELY(err != 0)) {
        return err;
    }
    hl_req_wait(&req);
    return hl_req_finish(&req, status);
}
