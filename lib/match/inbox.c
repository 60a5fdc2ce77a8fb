/* Inboxes: who owns one, what owners are asked to do, one service.
 *
 * To own: load, then xchg(1). To leave: xchg(0), then look at the command stack again; not empty: try to own
 * again. Who delegates: push the command, then try to own once more. Both sides write, then read the other's
 * word with a full barrier between, so one of them sees the other: no command is left behind. Below
 * THREAD_MULTIPLE there is one caller, who always owns. */
#include "inner.h"

#include "boot.h"
#include "far.h"
#include "log.h"

#include <stdlib.h>
#include <string.h>

#define SERVE_MAX 32 /* slots in one service */

static bool try_own(const struct hl_matcher *m, struct hl_inbox *ib)
{
    if (!m->threads) {
        return true;
    }
    /* relaxed: a guess. full: the command stack is read after we own it. */
    return hl_a32_load_relaxed(&ib->owned) == 0 && hl_a32_xchg_full(&ib->owned, 1) == 0;
}

static HL_COLD void out_of_memory(uint64_t bytes)
{
    hl_log(HL_LOG_ERROR, "no memory to keep an unexpected message of %llu bytes", (unsigned long long)bytes);
    hl_boot_abort(1);
}

struct hl_entry *hl_entry_new(const struct hl_arrival *a)
{
    size_t bytes = a->kind == HL_MSG_RTS ? sizeof(struct hl_msg_rts) : a->len;
    struct hl_entry *e = malloc(sizeof(*e) + bytes);
    if (e == NULL) {
        out_of_memory(a->len);
        return NULL;
    }
    *e = (struct hl_entry){.ctx = a->ctx,
                           .len = a->len,
                           .src = a->src,
                           .tag = a->tag,
                           .from = a->from,
                           .kind = a->kind == HL_MSG_CELL ? HL_MSG_EAGER : a->kind};
    if (bytes > 0) {
        memcpy(e->payload, a->payload, bytes);
    }
    return e;
}

static void entry_arrival(const struct hl_entry *e, struct hl_arrival *a)
{
    *a = (struct hl_arrival){e->ctx, e->len, e->src, e->tag, e->from, e->kind, e->payload};
}

/* A message for a matched probe: itself, not its data. */
static void hand_over(struct hl_req *r, struct hl_entry *e)
{
    hl_recv_result(r, e->src, e->tag, e->len);
    hl_recv_body(r)->u.message = hl_message_new(e);
    hl_req_done(r);
}

static void deliver_entry(struct hl_matcher *m, struct hl_req *r, struct hl_entry *e, struct hl_work *w)
{
    if (HL_UNLIKELY(hl_recv_body(r)->type == NULL)) {
        hand_over(r, e);
        return;
    }
    struct hl_arrival a;
    entry_arrival(e, &a);
    hl_recv_deliver(m, r, &a, w);
    free(e);
}

void hl_inbox_arrive(struct hl_matcher *m, struct hl_inbox *ib, const struct hl_arrival *a, struct hl_work *w)
{
    struct hl_req *r = hl_table_match(&ib->table, a->ctx, a->src, a->tag);
    if (HL_UNLIKELY(r == NULL)) {
        hl_table_add(&ib->table, hl_entry_new(a));
    } else if (HL_UNLIKELY(hl_recv_body(r)->type == NULL)) {
        hand_over(r, hl_entry_new(a));
    } else {
        hl_recv_deliver(m, r, a, w);
    }
}

/* A claim's node reaches its inbox. */
static void apply_wild(struct hl_matcher *m, struct hl_inbox *ib, struct hl_post *p, struct hl_work *w)
{
    struct hl_claim *c = HL_CONTAINER_OF(p, struct hl_claim_node, post)->claim;
    struct hl_entry *e = hl_table_find(&ib->table, c->ctx, MPI_ANY_SOURCE, c->tag);
    /* relaxed: closed stays closed; open is decided by the CAS. */
    if (e == NULL && hl_a32_load_relaxed(&c->state) == HL_CLAIM_OPEN) {
        hl_table_post(&ib->table, p);
        return;
    }
    uint32_t open = HL_CLAIM_OPEN;
    /* full: the one winner over all inboxes delivers; pairs with the CAS in table.c and probe.c. */
    if (e != NULL && hl_a32_cas_full(&c->state, &open, HL_CLAIM_CLAIMED)) {
        hl_table_remove(&ib->table, e);
        deliver_entry(m, c->req, e, w);
    }
    hl_claim_drop(c, 1);
}

static void apply_receive(struct hl_matcher *m, struct hl_inbox *ib, struct hl_post *p, struct hl_work *w)
{
    struct hl_req *r = hl_post_req(p);
    struct hl_recv_body *b = hl_recv_body(r);
    struct hl_entry *e = hl_table_find(&ib->table, r->ctx, b->src, b->tag);
    if (e == NULL && p->op <= HL_POST_MPROBE) {
        hl_table_post(&ib->table, p);
        return;
    }
    if (e != NULL && p->op != HL_POST_PROBE) {
        hl_table_remove(&ib->table, e);
    }
    if (p->op <= HL_POST_MPROBE) {
        deliver_entry(m, r, e, w);
        return;
    }
    /* Probes are answered with or without a message: `spare` tells. */
    r->spare = e != NULL;
    if (e != NULL && p->op == HL_POST_TAKE) {
        hand_over(r, e);
        return;
    }
    if (e != NULL) {
        hl_recv_result(r, e->src, e->tag, e->len);
    }
    hl_req_done(r);
}

static void apply_cancel(struct hl_inbox *ib, struct hl_post *p)
{
    struct hl_req *r = hl_post_req(p);
    struct hl_req *target = hl_recv_body(r)->u.target;
    if (hl_table_cancel(&ib->table, target)) {
        target->flags |= HL_REQ_CANCELLED;
        hl_recv_finish(target);
    }
    hl_req_done(r);
}

static void apply(struct hl_matcher *m, struct hl_inbox *ib, struct hl_post *p, struct hl_work *w)
{
    w->n++;
    if (p->op == HL_POST_WILD) {
        apply_wild(m, ib, p, w);
    } else if (p->op == HL_POST_CANCEL) {
        apply_cancel(ib, p);
    } else if (p->op == HL_POST_ARRIVE) {
        struct hl_entry *e = HL_CONTAINER_OF(p, struct hl_entry, post);
        struct hl_arrival a;
        entry_arrival(e, &a);
        hl_inbox_arrive(m, ib, &a, w);
        free(e);
    } else {
        apply_receive(m, ib, p, w);
    }
}

/* Takes all commands and applies them, oldest first. */
static void apply_all(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w)
{
    /* relaxed: what is pushed later is seen on leaving. */
    while (HL_UNLIKELY(hl_aptr_load_relaxed(&ib->command) != NULL)) {
        /* full: sees the commands' contents; pairs with the CAS in hl_inbox_command. */
        struct hl_post *young = hl_aptr_xchg_full(&ib->command, NULL), *old = NULL;
        while (young != NULL) {
            struct hl_post *next = young->next;
            young->next = old;
            old = young;
            young = next;
        }
        while (old != NULL) {
            struct hl_post *next = old->next;
            apply(m, ib, old, w);
            old = next;
        }
    }
}

static void leave(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w)
{
    if (!m->threads) {
        return;
    }
    do {
        /* full: publishes the tables, and comes before the next load of the stack; see above. */
        hl_a32_xchg_full(&ib->owned, 0);
        if (HL_LIKELY(hl_aptr_load_relaxed(&ib->command) == NULL) || !try_own(m, ib)) {
            break;
        }
        apply_all(m, ib, w);
    } while (true);
    if (w->n > 0) {
        hl_prog_wake_fenced();
    }
}

static void delegate(struct hl_matcher *m, struct hl_inbox *ib, struct hl_post *post, struct hl_work *w)
{
    void *top = hl_aptr_load_relaxed(&ib->command); /* relaxed: the CAS checks it */
    do {
        post->next = top;
        /* full: publishes the command, and comes before the look at `owned`; see above. */
    } while (!hl_aptr_cas_full(&ib->command, &top, post));
    if (try_own(m, ib)) {
        apply_all(m, ib, w);
        leave(m, ib, w);
    }
}

void hl_inbox_command(struct hl_matcher *m, struct hl_inbox *ib, struct hl_post *post, struct hl_work *w)
{
    if (HL_LIKELY(try_own(m, ib))) {
        apply_all(m, ib, w);
        apply(m, ib, post, w);
        leave(m, ib, w);
        return;
    }
    delegate(m, ib, post, w);
}

void hl_inbox_receive(struct hl_matcher *m, const struct hl_arrival *a, struct hl_work *w)
{
    struct hl_inbox *ib = hl_inbox_of(m, a->ctx, a->src);
    if (HL_LIKELY(try_own(m, ib))) {
        apply_all(m, ib, w);
        hl_inbox_arrive(m, ib, a, w);
        leave(m, ib, w);
        return;
    }
    /* A port's messages of one source stay in order: commands are applied before whatever comes later. */
    struct hl_entry *e = hl_entry_new(a);
    e->post.op = HL_POST_ARRIVE;
    delegate(m, ib, &e->post, w);
}

struct hl_inbox *hl_inbox_of(struct hl_matcher *m, uint64_t ctx, int src)
{
    return &m->inbox[hl_match_hash(ctx, src) & (m->n_inboxes - 1)];
}

/* The next slot, if its message is there. */
static struct hl_slot *peek(const struct hl_inbox *ib, uint64_t head)
{
    struct hl_slot *s = &ib->ring->slots[head % HL_RING_SLOTS];
    /* acquire: sees the message; pairs with the release in hl_ring_push. */
    return hl_a64_load_acquire(&s->stamp) == head + 1 ? s : NULL;
}

bool hl_inbox_waiting(const struct hl_inbox *ib)
{
    /* relaxed: a glance; who owns it looks again. */
    return hl_aptr_load_relaxed(&ib->command) != NULL || peek(ib, hl_a64_load_relaxed(&ib->head)) != NULL;
}

static void take_slot(struct hl_matcher *m, struct hl_inbox *ib, const struct hl_slot *s, struct hl_work *w)
{
    const struct hl_msg_head *h = &s->head;
    struct hl_home *sender = hl_home_of(m, h->from);
    if (h->kind > HL_MSG_RTS) {
        const void *data = NULL;
        if (h->kind == HL_MSG_DATA) {
            data = sender->cells[s->area.piece.cell % HL_CELLS];
        }
        hl_rndv_control(m, s, data);
        if (data != NULL) {
            hl_cell_give(sender, s->area.piece.cell);
        }
        return;
    }
    struct hl_arrival a = {h->ctx, h->len, h->src, h->tag, h->from, h->kind, s->area.data};
    if (h->kind == HL_MSG_CELL) {
        a.payload = sender->cells[s->area.cell % HL_CELLS];
    } else if (h->kind == HL_MSG_RTS) {
        a.len = s->area.rts.len;
    }
    hl_inbox_arrive(m, ib, &a, w);
    if (h->kind == HL_MSG_CELL) {
        hl_cell_give(sender, s->area.cell);
    }
}

static void serve(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w)
{
    uint64_t head = hl_a64_load_relaxed(&ib->head); /* relaxed: only owners write it */
    const struct hl_slot *s;
    for (int i = 0; i < SERVE_MAX && (s = peek(ib, head)) != NULL; i++) {
        take_slot(m, ib, s, w);
        head++;
        w->n++;
        if (head % 64 == 0) {
            /* release: we have read these slots; pairs with the acquire in hl_ring_push. */
            hl_a64_store_release(&ib->ring->head, head);
        }
    }
    hl_a64_store_relaxed(&ib->head, head);
}

void hl_inbox_poll(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w)
{
    if (!hl_inbox_waiting(ib) || !try_own(m, ib)) {
        return;
    }
    apply_all(m, ib, w);
    serve(m, ib, w);
    leave(m, ib, w);
}
