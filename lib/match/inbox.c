/* Inboxes: how threads own one, the commands for owners, and taking messages from the ring.
 *
 * A thread that wants to own an inbox looks at `owned`, then does xchg(1). It leaves by xchg(0), and then
 * looks at the command stack again; if that is not empty, it tries to own again. A thread that delegates
 * pushes its command, then tries to own once more. Both sides write, then read the other's word with a full
 * barrier between, so one of them sees the other: no command is left behind. Below THREAD_MULTIPLE there is
 * one caller, who always owns; in modes with locks the thread that has the section owns. */
#include "match_internal.h"

#include "deaths.h"
#include "flow.h"
#include "slots.h"

#include "copy.h"
#include "far.h"
#include "log.h"

#include <string.h>

#define SERVE_MAX 32   /* slots that are taken in one service */
#define POLL_MASK 255u /* a poll follows each 256th message that was taken at once */

HL_INLINE bool try_own(const struct hl_matcher *m, struct hl_inbox *ib)
{
    if (HL_UNLIKELY(!m->threads)) {
        return hl_cs_try(HL_CS_inbox, &ib->section);
    }
    /* relaxed: a guess. full: the command stack is read after we own it. */
    return hl_a32_load_relaxed(&ib->owned) == 0 && hl_a32_xchg_full(&ib->owned, 1) == 0;
}

/* Owns the inbox for a caller that has a command. False: the command must be left to the owner. In modes with
 * sections the caller waits for its turn. */
static bool own_now(const struct hl_matcher *m, struct hl_inbox *ib)
{
    if (!m->threads) {
        hl_cs_in(HL_CS_inbox, &ib->section);
        return true;
    }
    return try_own(m, ib);
}

void hl_inbox_close(struct hl_inbox *ib)
{
    struct hl_entry *e;
    while ((e = ib->table.arrival.head) != NULL) {
        hl_table_remove(&ib->table, e);
        hl_entry_drop(&ib->pool, e);
    }
    hl_entry_pool_close(&ib->pool);
    if (ib->table.bins != NULL) {
        hl_table_close(&ib->table);
    }
}

static void entry_arrival(const struct hl_entry *e, struct hl_arrival *a)
{
    *a = (struct hl_arrival){e->ctx, e->len, e->src, e->tag, e->from, e->kind, e->payload};
}

/* Gives a matched probe the message itself, not its data. `e`: its entry; NULL: it is copied. */
static void hand_over(struct hl_req *r, const struct hl_arrival *a, struct hl_entry *e)
{
    hl_recv_result(r, a->src, a->tag, a->len);
    hl_recv_body(r)->u.message = hl_message_new(a, e);
    hl_req_done(r);
}

static void deliver_entry(struct hl_matcher *m, struct hl_inbox *ib, struct hl_req *r, struct hl_entry *e,
                          struct hl_work *w)
{
    struct hl_arrival a;
    entry_arrival(e, &a);
    if (HL_LIKELY(hl_recv_body(r)->type != NULL)) {
        hl_recv_deliver(m, r, &a, w);
    } else if (hl_entry_payload(&a) <= HL_MATCH_INLINE) {
        hand_over(r, &a, NULL); /* copies the bytes */
    } else {
        hand_over(r, &a, e);
        return;
    }
    hl_entry_drop(&ib->pool, e);
}

/* Matches or stores a message. The owner only. */
static void sort_msg(struct hl_matcher *m, struct hl_inbox *ib, const struct hl_arrival *a, struct hl_work *w)
{
    struct hl_req *r = hl_table_match(&ib->table, a->ctx, a->src, a->tag);
    if (HL_UNLIKELY(r == NULL)) {
        hl_table_add(&ib->table, hl_entry_keep(&ib->pool, a, ib->table.n_entries));
        /* relaxed: the first is the owner's, the second a hint. */
        if (HL_UNLIKELY(hl_a64_load_relaxed(&ib->table.kept_bytes) > hl_a64_load_relaxed(&ib->mark))) {
            hl_flow_check(m, ib);
        }
    } else if (HL_UNLIKELY(hl_recv_body(r)->type == NULL)) {
        hand_over(r, a, NULL);
    } else {
        hl_recv_deliver(m, r, a, w);
    }
}

/* The sender has cancelled a message: drops it, unless it is matched already. */
static HL_COLD void take_back(struct hl_inbox *ib, const struct hl_arrival *a, struct hl_work *w)
{
    const struct hl_msg_fin *fin = a->payload;
    struct hl_entry *e = hl_table_named(&ib->table, a, fin->cookie);
    struct hl_req *r = e != NULL ? hl_req_new(HL_REQ_RECV) : NULL;
    if (r == NULL) {
        return;
    }
    hl_table_remove(&ib->table, e);
    hl_entry_drop(&ib->pool, e);
    r->spare = HL_REQ_REVOKED;
    hl_recv_body(r)->fetch = (struct hl_fetch){.name = fin->cookie, .from = a->from};
    hl_work_add(w, r);
}

static void take_in(struct hl_matcher *m, struct hl_inbox *ib, const struct hl_arrival *a, struct hl_work *w)
{
    if (HL_UNLIKELY(a->kind == HL_MSG_REVOKE)) {
        take_back(ib, a, w);
    } else {
        sort_msg(m, ib, a, w);
    }
}

/* Puts the node of a receive from any source into its inbox, or matches it. */
static void apply_wild(struct hl_matcher *m, struct hl_inbox *ib, struct hl_command *p, struct hl_work *w)
{
    struct hl_wild_recv *c = HL_CONTAINER_OF(p, struct hl_wild_node, command)->wild;
    struct hl_entry *e = hl_table_find(&ib->table, c->ctx, MPI_ANY_SOURCE, c->tag);
    /* relaxed: what is not open stays so; the CAS decides about what is. */
    if (e == NULL && hl_a32_load_relaxed(&c->state) == HL_WILD_OPEN) {
        hl_table_post(&ib->table, p);
        return;
    }
    uint32_t open = HL_WILD_OPEN;
    /* full: one winner over all inboxes delivers; pairs with the CAS in table.c and probe.c. */
    if (e != NULL && hl_a32_cas_full(&c->state, &open, HL_WILD_TAKEN)) {
        hl_table_remove(&ib->table, e);
        deliver_entry(m, ib, c->req, e, w);
    }
    hl_wild_drop(c, 1);
}

static void apply_receive(struct hl_matcher *m, struct hl_inbox *ib, struct hl_command *p, struct hl_work *w)
{
    struct hl_req *r = hl_command_req(p);
    struct hl_recv_body *b = hl_recv_body(r);
    struct hl_entry *e = hl_table_find(&ib->table, r->ctx, b->src, b->tag);
    if (e == NULL && p->op <= HL_COMMAND_MPROBE) {
        hl_table_post(&ib->table, p);
        return;
    }
    if (e != NULL && p->op != HL_COMMAND_PROBE) {
        hl_table_remove(&ib->table, e);
    }
    if (p->op <= HL_COMMAND_MPROBE) {
        deliver_entry(m, ib, r, e, w);
        return;
    }
    /* A probe is answered with or without a message: `spare` tells which. */
    r->spare = e != NULL;
    if (e != NULL && p->op == HL_COMMAND_TAKE) {
        deliver_entry(m, ib, r, e, w);
        return;
    }
    if (e != NULL) {
        hl_recv_result(r, e->src, e->tag, e->len);
    }
    hl_req_done(r);
}

static void apply_cancel(struct hl_inbox *ib, struct hl_command *p)
{
    struct hl_req *r = hl_command_req(p);
    struct hl_req *target = hl_recv_body(r)->u.target;
    if (hl_table_cancel(&ib->table, target)) {
        hl_req_mark(target, HL_REQ_CANCELLED);
        hl_recv_finish(target);
    }
    hl_req_done(r);
}

static void apply_command(struct hl_matcher *m, struct hl_inbox *ib, struct hl_command *p, struct hl_work *w)
{
    w->n++;
    if (p->op == HL_COMMAND_WILD) {
        apply_wild(m, ib, p, w);
    } else if (p->op == HL_COMMAND_CANCEL) {
        apply_cancel(ib, p);
    } else if (p->op == HL_COMMAND_ARRIVE) {
        struct hl_entry *e = hl_entry_of_command(p);
        struct hl_arrival a;
        entry_arrival(e, &a);
        take_in(m, ib, &a, w);
        hl_entry_drop(&ib->pool, e);
    } else {
        apply_receive(m, ib, p, w);
    }
}

/* Takes all commands and applies them, oldest first. */
static void apply_all(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w)
{
    /* relaxed: a command that is pushed later is seen on leaving. */
    while (HL_UNLIKELY(hl_aptr_load_relaxed(&ib->command) != NULL)) {
        /* full: sees the commands' contents; pairs with the CAS in delegate_command. */
        struct hl_command *young = hl_aptr_xchg_full(&ib->command, NULL), *old = NULL;
        while (young != NULL) {
            struct hl_command *next = young->next;
            young->next = old;
            old = young;
            young = next;
        }
        while (old != NULL) {
            struct hl_command *next = old->next;
            apply_command(m, ib, old, w);
            old = next;
        }
    }
}

/* Leaves the inbox. True: commands came meanwhile, and somebody has to own it again. */
HL_INLINE bool let_go_inbox(const struct hl_matcher *m, struct hl_inbox *ib)
{
    if (HL_UNLIKELY(!m->threads)) {
        hl_cs_out(HL_CS_inbox, &ib->section);
        return false;
    }
    /* full: publishes the tables, and comes before the next load of the stack; pairs with the CAS in
     * delegate_command. */
    hl_a32_xchg_full(&ib->owned, 0);
    hl_fence_behind_full();
    /* relaxed: the full exchange before orders it. */
    return HL_UNLIKELY(hl_aptr_load_relaxed(&ib->command) != NULL);
}

static void leave_inbox(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w)
{
    while (let_go_inbox(m, ib) && try_own(m, ib)) {
        apply_all(m, ib, w);
    }
    if (w->n == 0) {
        return;
    }
    if (HL_LIKELY(m->threads)) {
        hl_prog_wake_fenced();
    } else if (hl_cs_has_locks()) {
        hl_prog_wake();
    }
}

/* Does commands that came while the caller owned the inbox; and polls, since a caller that only takes
 * messages that are there would never let the rest move. */
static HL_COLD void catch_up(struct hl_matcher *m, struct hl_inbox *ib)
{
    struct hl_work w;
    hl_work_start(&w);
    if (try_own(m, ib)) {
        apply_all(m, ib, &w);
        leave_inbox(m, ib, &w);
    }
    hl_work_run(m, &w);
    hl_prog_poll();
}

static void delegate_command(struct hl_matcher *m, struct hl_inbox *ib, struct hl_command *command,
                             struct hl_work *w)
{
    void *top = hl_aptr_load_relaxed(&ib->command); /* relaxed: the CAS checks it */
    do {
        command->next = top;
        /* full: publishes the command, and comes before the look at `owned`; pairs with the xchg in
         * let_go_inbox. */
    } while (!hl_aptr_cas_full(&ib->command, &top, command));
    hl_fence_behind_full();
    if (try_own(m, ib)) {
        apply_all(m, ib, w);
        leave_inbox(m, ib, w);
    }
}

void hl_inbox_command(struct hl_matcher *m, struct hl_inbox *ib, struct hl_command *command,
                      struct hl_work *w)
{
    if (HL_LIKELY(own_now(m, ib))) {
        bool answers_me = command->op == HL_COMMAND_PROBE || command->op == HL_COMMAND_TAKE;
        apply_all(m, ib, w);
        apply_command(m, ib, command, w);
        w->n -= answers_me; /* an answer to this thread need wake nobody */
        leave_inbox(m, ib, w);
        return;
    }
    delegate_command(m, ib, command, w);
}

void hl_inbox_receive(struct hl_matcher *m, const struct hl_arrival *a, struct hl_work *w)
{
    struct hl_inbox *ib = hl_inbox_of(m, a->ctx, a->src);
    if (HL_LIKELY(own_now(m, ib))) {
        apply_all(m, ib, w);
        take_in(m, ib, a, w);
        leave_inbox(m, ib, w);
        return;
    }
    /* Messages of one source stay in order: an owner does commands before it takes later messages. */
    struct hl_entry *e = hl_entry_new(a);
    struct hl_command *p = hl_entry_command(e);
    p->op = HL_COMMAND_ARRIVE;
    delegate_command(m, ib, p, w);
}

struct hl_inbox *hl_inbox_of(struct hl_matcher *m, uint64_t ctx, int src)
{
    return &m->inbox[hl_match_hash(ctx, src) & (m->n_inboxes - 1)];
}

/* The slot of ticket `head`, if its message is there; else NULL. */
static struct hl_ring_slot *peek_slot(const struct hl_inbox *ib, uint64_t head)
{
    struct hl_ring_slot *s = &ib->ring->slots[head % HL_RING_SLOTS];
    return hl_mpsc_is_there(&s->stamp, head) ? s : NULL;
}

static bool does_wait_in_inbox(const struct hl_inbox *ib)
{
    /* relaxed: a guess; the owner looks again. */
    return hl_aptr_load_relaxed(&ib->command) != NULL ||
           peek_slot(ib, hl_a64_load_relaxed(&ib->head)) != NULL;
}

/* The bytes of a message in a slot or cell; NULL: it is another kind of message. */
static const void *payload_of(const struct hl_matcher *m, const struct hl_ring_slot *s)
{
    if (HL_LIKELY(s->head.kind == HL_MSG_EAGER)) {
        return s->area.data;
    }
    return s->head.kind == HL_MSG_CELL ? hl_match_part_of(m, s->head.from)->cells[s->area.cell % HL_CELLS]
                                       : NULL;
}

/* Adds to a counter of the owner's. */
HL_INLINE void raise_count(hl_a64 *n, uint64_t by)
{
    hl_a64_store_relaxed(n, hl_a64_load_relaxed(n) + by); /* relaxed: a count orders nothing. */
}

HL_INLINE void count_cell(struct hl_inbox *ib, uint64_t bytes)
{
    raise_count(&ib->cells, 1);
    raise_count(&ib->cell_bytes, bytes);
}

/* Copies the slot's message into the receive's buffer, if that is one block with room for it. False: it does
 * not fit so. */
static bool copy_slot(struct hl_matcher *m, struct hl_inbox *ib, const struct hl_ring_slot *s,
                      const struct hl_recv *r)
{
    const void *data = payload_of(m, s);
    uint64_t n = HL_ONCE(s->head.len);
    int64_t room;
    char *start;
    if (n == 0 && s->head.kind == HL_MSG_EAGER) {
        return true;
    }
    if (data == NULL || !hl_type_bytes(r->type, r->count, &room) || n > (uint64_t)room) {
        return false;
    }
    if (n > 0) {
        if (!hl_type_block(r->type, r->count, r->buf, &start)) {
            return false;
        }
        hl_copy(start, data, n);
    }
    if (s->head.kind == HL_MSG_CELL) {
        hl_cell_give(hl_match_part_of(m, s->head.from), s->area.cell, n);
        count_cell(ib, n);
    }
    return true;
}

static bool is_for(const struct hl_msg_head *h, const struct hl_recv *r)
{
    return h->ctx == r->ctx && h->src == r->src && (h->tag == r->tag || r->tag == MPI_ANY_TAG);
}

/* The owner has read the slots below `head`. */
static void set_head(struct hl_inbox *ib, uint64_t head)
{
    if ((head & ib->publish) == 0) {
        hl_mpsc_publish(&ib->ring->q, head);
    }
    hl_a64_store_relaxed(&ib->head, head); /* relaxed: others only guess by it */
}

int hl_inbox_skip(const struct hl_matcher *m, struct hl_inbox *ib)
{
    int n = 0;
    uint64_t head = hl_a64_load_relaxed(&ib->head); /* relaxed: only owners write it */
    struct hl_mpsc_node node = {m->parts->places, sizeof *m->parts, m->node_size, m->node_world, m->is_dead};
    while (hl_mpsc_is_hole(&ib->ring->q, &ib->ring->slots[head % HL_RING_SLOTS].stamp, head, &node)) {
        set_head(ib, ++head);
        n++;
    }
    return n;
}

/* Takes the message of a slot. False: it stays there. */
typedef bool take_fn(struct hl_matcher *m, struct hl_inbox *ib, const struct hl_ring_slot *s,
                     const struct hl_recv *r, void *out);

HL_INLINE bool take_next(struct hl_matcher *m, const struct hl_recv *r, take_fn *take, void *out)
{
    uint64_t hash = hl_match_hash(r->ctx, r->src);
    struct hl_inbox *ib = &m->inbox[hash & (m->n_inboxes - 1)];
    /* relaxed: a guess, before the work of owning. */
    uint64_t head = hl_a64_load_relaxed(&ib->head);
    const struct hl_ring_slot *s = peek_slot(ib, head);
    if (r->src < 0 || r->exact || s == NULL || !try_own(m, ib)) {
        return false;
    }
    /* relaxed: only owners write it. If it is unchanged, the message that was seen is the next one. */
    uint64_t now = hl_a64_load_relaxed(&ib->head);
    if (HL_UNLIKELY(now != head)) {
        s = peek_slot(ib, head = now);
    }
    /* relaxed: a receive that is delegated from now on comes after this one. */
    bool taken = hl_aptr_load_relaxed(&ib->command) == NULL && hl_table_is_clear(&ib->table, hash, r->tag) &&
                 HL_LIKELY(s != NULL) && is_for(&s->head, r) && take(m, ib, s, r, out);
    if (HL_LIKELY(taken)) {
        set_head(ib, head + 1);
    }
    if (let_go_inbox(m, ib) || HL_UNLIKELY((head & POLL_MASK) == POLL_MASK)) {
        catch_up(m, ib);
    }
    return taken;
}

HL_INLINE bool take_bytes(struct hl_matcher *m, struct hl_inbox *ib, const struct hl_ring_slot *s,
                          const struct hl_recv *r, void *got)
{
    if (!copy_slot(m, ib, s, r)) {
        return false;
    }
    *(struct hl_got *)got = (struct hl_got){s->head.src, s->head.tag, s->head.len};
    return true;
}

bool hl_inbox_take(struct hl_matcher *m, const struct hl_recv *r, struct hl_got *got)
{
    return take_next(m, r, take_bytes, got);
}

/* Describes the message of a slot that holds no control message, but perhaps a REVOKE. */
HL_INLINE void slot_arrival(const struct hl_matcher *m, const struct hl_ring_slot *s, struct hl_arrival *a)
{
    const struct hl_msg_head *h = &s->head;
    *a = (struct hl_arrival){h->ctx, h->len, h->src, h->tag, h->from, h->kind, s->area.data};
    if (h->kind == HL_MSG_CELL) {
        a->payload = hl_match_part_of(m, h->from)->cells[s->area.cell % HL_CELLS];
    } else if (h->kind == HL_MSG_RTS) {
        a->len = s->area.rts.len;
    }
}

HL_INLINE bool take_whole(struct hl_matcher *m, struct hl_inbox *ib, const struct hl_ring_slot *s,
                          const struct hl_recv *r, void *message)
{
    struct hl_arrival a;
    if (s->head.kind > HL_MSG_RTS) {
        return false;
    }
    slot_arrival(m, s, &a);
    *(struct hl_message **)message = hl_message_new(&a, NULL);
    if (s->head.kind == HL_MSG_CELL) {
        hl_cell_give(hl_match_part_of(m, s->head.from), s->area.cell, a.len);
        count_cell(ib, a.len);
    } else if (s->head.kind == HL_MSG_RTS) {
        raise_count(&ib->others, 1);
    }
    return true;
}

struct hl_message *hl_inbox_take_message(struct hl_matcher *m, const struct hl_recv *r)
{
    struct hl_message *message = NULL;
    take_next(m, r, take_whole, &message);
    return message;
}

/* Handles a control message. What is checked below is a copy of it. */
static void take_control(struct hl_matcher *m, struct hl_inbox *ib, const struct hl_ring_slot *there,
                         struct hl_work *w)
{
    struct hl_ring_slot s = {.head = there->head, .area = there->area};
    struct hl_match_part *sender = hl_match_part_of(m, s.head.from);
    const void *data = NULL;
    raise_count(&ib->others, 1);
    if (s.head.kind == HL_MSG_REVOKE) {
        struct hl_arrival a;
        slot_arrival(m, &s, &a);
        take_back(ib, &a, w);
        return;
    }
    if (s.head.kind == HL_MSG_DATA) {
        data = sender->cells[s.area.piece.cell % HL_CELLS];
    }
    hl_rndv_control(m, &s, data);
    if (data != NULL) {
        hl_cell_give(sender, s.area.piece.cell, 1);
    }
}

static void take_slot(struct hl_matcher *m, struct hl_inbox *ib, const struct hl_ring_slot *s,
                      struct hl_work *w)
{
    const struct hl_msg_head *h = &s->head;
    if (h->kind > HL_MSG_RTS) {
        take_control(m, ib, s, w);
        return;
    }
    struct hl_arrival a;
    slot_arrival(m, s, &a);
    if (h->kind == HL_MSG_RTS) {
        raise_count(&ib->others, 1);
    }
    sort_msg(m, ib, &a, w);
    if (h->kind == HL_MSG_CELL) {
        count_cell(ib, a.len);
        hl_cell_give(hl_match_part_of(m, h->from), s->area.cell, a.len);
    }
}

void hl_inbox_visit(struct hl_matcher *m, struct hl_inbox *ib,
                    void (*fn)(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w),
                    struct hl_work *w)
{
    if (try_own(m, ib)) {
        apply_all(m, ib, w);
        fn(m, ib, w);
        leave_inbox(m, ib, w);
    }
}

void hl_inbox_poll(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w)
{
    if (!does_wait_in_inbox(ib) || !try_own(m, ib)) {
        return;
    }
    apply_all(m, ib, w);
    uint64_t head = hl_a64_load_relaxed(&ib->head); /* relaxed: only owners write it */
    const struct hl_ring_slot *s;
    for (int i = 0; i < SERVE_MAX && (s = peek_slot(ib, head)) != NULL; i++) {
        take_slot(m, ib, s, w);
        set_head(ib, ++head);
        w->n++;
    }
    leave_inbox(m, ib, w);
}
