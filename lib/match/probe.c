/* Probes, matched messages, cancel. */
#include "hold.h"

#include "deaths.h"

#include "err.h"
#include "job.h"
#include "log.h"

#include <string.h>

static struct hl_message_body *body_of(struct hl_message *message)
{
    return (struct hl_message_body *)(void *)message->req.body;
}

struct hl_message *hl_message_new(const struct hl_arrival *a, struct hl_entry *e)
{
    struct hl_message *message = (struct hl_message *)(void *)hl_req_take();
    if (message == NULL) {
        hl_log(HL_LOG_ERROR, "no memory for a matched message; the job ends");
        hl_job_abort(1);
        return NULL;
    }
    struct hl_message_body *b = body_of(message);
    uint64_t here = a->kind == HL_MSG_RTS ? sizeof(struct hl_msg_rts) : a->len;
    hl_req_begin(&message->req, HL_REQ_MESSAGE, 0);
    message->req.kind = HL_KIND_MESSAGE;
    message->req.ctx = a->ctx;
    hl_recv_result(&message->req, a->src, a->tag, a->len);
    b->from = a->from;
    b->kind = a->kind == HL_MSG_CELL ? HL_MSG_EAGER : a->kind;
    b->entry = e == NULL && here > sizeof(b->payload) ? hl_entry_new(a) : e;
    if (b->entry == NULL && here > 0) {
        memcpy(b->payload, a->payload, here);
    }
    return message;
}

struct hl_message *hl_match_message_of(MPI_Message handle)
{
    return (struct hl_message *)(void *)hl_req_place(handle, HL_KIND_MESSAGE);
}

MPI_Message hl_match_message_handle(struct hl_message *message)
{
    return (MPI_Message)(void *)message;
}

uint64_t hl_match_message_ctx(const struct hl_message *message)
{
    return message->req.ctx;
}

/* Has the owner of an inbox look for a message; true with the answer in `req`. Since the owner answers, a
 * thread that polls all the time cannot keep this one out. */
static bool ask_inbox(struct hl_matcher *m, struct hl_inbox *ib, const struct hl_recv *p,
                      enum hl_command_op op, struct hl_req *req)
{
    struct hl_work w;
    hl_work_start(&w);
    hl_req_init(req, HL_REQ_RECV);
    hl_recv_setup(req, p, op);
    hl_inbox_command(m, ib, &hl_recv_body(req)->command, &w);
    hl_work_run(m, &w);
    hl_req_wait(req);
    return req->spare != 0;
}

static bool look_for_message(struct hl_matcher *m, const struct hl_recv *p, enum hl_command_op op,
                             struct hl_req *req)
{
    if (p->src != MPI_ANY_SOURCE || m->n_inboxes == 1) {
        return ask_inbox(m, hl_inbox_of(m, p->ctx, p->src), p, op, req);
    }
    /* relaxed: any start is right; a rotating one is fair. */
    unsigned first = hl_a32_add_relaxed(&m->turn, 1);
    for (unsigned i = 0; i < m->n_inboxes; i++) {
        if (ask_inbox(m, &m->inbox[(first + i) & (m->n_inboxes - 1)], p, op, req)) {
            return true;
        }
    }
    return false;
}

/* Looks for a message; where none can come any more it looks again, since another thread may have taken it
 * out of the ring meanwhile. Returns 0, or without a message the error of the rank that has died. */
static int find_message(struct hl_matcher *m, const struct hl_recv *p, enum hl_command_op op,
                        struct hl_req *req, bool *found)
{
    *found = look_for_message(m, p, op, req);
    int lost = *found ? 0 : hl_deaths_probe(m, p);
    if (HL_UNLIKELY(lost != 0)) {
        *found = look_for_message(m, p, op, req);
    }
    return *found ? 0 : lost;
}

int hl_match_iprobe_now(struct hl_matcher *m, const struct hl_recv *p, bool *found, MPI_Status *status)
{
    struct hl_req req;
    int lost = find_message(m, p, HL_COMMAND_PROBE, &req, found);
    return *found ? hl_req_status(&req, status) : lost;
}

/* Fills the status of a message that was just taken; returns 0. */
HL_INLINE int fill_taken_status(const struct hl_message *message, MPI_Status *status)
{
    const struct hl_req *r = &message->req;
    hl_req_set_status(status, r->source, r->tag, r->bytes, false);
    return 0;
}

int hl_match_improbe(struct hl_matcher *m, const struct hl_recv *p, struct hl_message **message,
                     MPI_Status *status)
{
    struct hl_req req;
    if ((*message = hl_inbox_take_message(m, p)) != NULL) {
        return fill_taken_status(*message, status);
    }
    hl_prog_look();
    bool found;
    int lost = find_message(m, p, HL_COMMAND_TAKE, &req, &found);
    *message = found ? hl_recv_body(&req)->u.message : NULL;
    return found ? hl_req_status(&req, status) : lost;
}

int hl_match_mprobe(struct hl_matcher *m, const struct hl_recv *p, struct hl_message **message,
                    MPI_Status *status)
{
    struct hl_req req;
    if ((*message = hl_inbox_take_message(m, p)) != NULL) {
        return fill_taken_status(*message, status);
    }
    hl_req_init(&req, HL_REQ_RECV);
    hl_recv_setup(&req, p, HL_COMMAND_MPROBE);
    int err = hl_recv_post(m, &req);
    if (err != 0) {
        return err;
    }
    hl_req_wait(&req);
    *message = hl_recv_body(&req)->u.message;
    return hl_req_status(&req, status);
}

/* Receives a message whose bytes are in its body, into one block with room for them: no error is possible
 * then. False: nothing was done. */
static bool receive_here(struct hl_message *message, const struct hl_recv *r, MPI_Status *status)
{
    const struct hl_message_body *b = body_of(message);
    const struct hl_req *got = &message->req;
    uint64_t n = (uint64_t)got->bytes;
    int64_t room;
    char *start;
    if (b->entry != NULL || b->kind == HL_MSG_RTS || !hl_type_bytes(r->type, r->count, &room) ||
        n > (uint64_t)room) {
        return false;
    }
    if (n > 0) {
        if (!hl_type_block(r->type, r->count, r->buf, &start)) {
            return false;
        }
        memcpy(start, b->payload, n);
    }
    hl_req_set_status(status, got->source, got->tag, got->bytes, false);
    hl_req_free(&message->req);
    return true;
}

struct hl_req *hl_match_imrecv(struct hl_matcher *m, struct hl_message *message, const struct hl_recv *r)
{
    struct hl_req *req = &message->req;
    const struct hl_message_body b = *body_of(message); /* the receive writes over it */
    struct hl_arrival a = {req->ctx,
                           (uint64_t)req->bytes,
                           req->source,
                           req->tag,
                           b.from,
                           b.kind,
                           b.entry != NULL ? b.entry->payload : b.payload};
    struct hl_work w;
    hl_req_begin(req, HL_REQ_RECV, 0);
    hl_recv_setup(req, r, HL_COMMAND_RECV);
    req->ctx = a.ctx;
    hl_match_count_new(req);
    hl_match_hold_type(req, r->type);
    hl_work_start(&w);
    hl_recv_deliver(m, req, &a, &w);
    hl_entry_free(b.entry);
    hl_work_run(m, &w);
    return req;
}

int hl_match_mrecv(struct hl_matcher *m, struct hl_message *message, const struct hl_recv *r,
                   MPI_Status *status)
{
    if (HL_LIKELY(receive_here(message, r, status))) {
        return 0;
    }
    /* A copy of the fields that matter: so the caller's own struct can stay in registers if it is not
     * needed. */
    struct hl_recv mine = {.buf = r->buf, .count = r->count, .type = r->type};
    struct hl_req *req = hl_match_imrecv(m, message, &mine);
    hl_req_wait(req);
    return hl_req_finish(req, status);
}

int hl_match_cancel_now(struct hl_matcher *m, struct hl_req *r)
{
    if (hl_req_has(r, HL_REQ_STATIC) || !hl_req_is_active(r) || hl_req_is_done(r)) {
        return 0;
    }
    if (r->what == HL_REQ_SEND) {
        hl_send_cancel(m, r);
        return 0;
    }
    const struct hl_recv_body *b = hl_recv_body(r);
    if (b->u.wild != NULL) {
        uint32_t open = HL_WILD_OPEN;
        /* full: either this thread or the owner that matches wins; pairs with the CAS in table.c and
         * inbox.c. */
        if (hl_a32_cas_full(&b->u.wild->state, &open, HL_WILD_CANCELLED)) {
            hl_req_mark(r, HL_REQ_CANCELLED);
            hl_recv_finish(r);
        }
        return 0;
    }
    struct hl_req command;
    struct hl_work w;
    hl_work_start(&w);
    hl_req_init(&command, HL_REQ_RECV);
    struct hl_recv same = {.ctx = r->ctx, .src = b->src, .tag = b->tag};
    hl_recv_setup(&command, &same, HL_COMMAND_CANCEL);
    hl_recv_body(&command)->u.target = r;
    hl_inbox_command(m, hl_inbox_of(m, r->ctx, b->src), &hl_recv_body(&command)->command, &w);
    hl_work_run(m, &w);
    hl_req_wait(&command);
    return 0;
}
