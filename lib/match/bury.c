/* Ranks that have died while the job goes on: what waits for them ends with an error that names them.
 *
 * The receive thread only takes notice (hl_bury_note); the rest is done by polls, which may own inboxes. From
 * the first death on `backlog` stays above 0, so every poll comes here and jobs without deaths pay nothing;
 * a visit does what is needed for operations begun since the last one, too. It comes when nothing moved any
 * more: what the dead have sent is received first.
 *
 * A receive from any source ends when a member of its communicator is dead: nobody knows whose message it
 * was going to be. Which member that is only communicators know (hl_match_on_lost). */
#include "inner.h"

#include "both.h"
#include "bury.h"

#include "err.h"
#include "far.h"
#include "fault.h"
#include "util.h"

#define VISIT_NS UINT64_C(200000) /* at most this often */
#define VISITING UINT64_MAX       /* the time of a visit that is not over */
#define VISIT_PASSES 1024         /* passes with something to do before a visit comes all the same */

void hl_bury_note(struct hl_matcher *m)
{
    /* full: the poll that sees it sees who is dead, too. */
    if (hl_a32_xchg_full(&m->deaths, 1) == 0) {
        hl_a32_add_relaxed(&m->backlog, 1); /* relaxed: a hint for the poller */
    }
}

static int dead_peer(const struct hl_matcher *m, int world)
{
    return world >= 0 && m->is_dead(world) ? world : -1;
}

int hl_bury_whom(const struct hl_matcher *m, uint64_t ctx)
{
    return m->lost_member != NULL ? m->lost_member(ctx) : -1;
}

/* Whose death ends a receive or probe of this source: its world rank, or -1. */
static int lost_source(const struct hl_matcher *m, uint64_t ctx, int src, int src_world)
{
    if (src != MPI_ANY_SOURCE) {
        return dead_peer(m, src_world);
    }
    return hl_bury_whom(m, ctx);
}

static void fail_request(struct hl_req *r, int world)
{
    hl_req_fail(r, HL_ERR_PROC_ABORTED);
    hl_a32_store_relaxed(&r->parts, (uint32_t)world + 1); /* relaxed: published with DONE */
}

int hl_bury_error(int world)
{
    return hl_err_say(HL_ERR_PROC_ABORTED, "rank %d of the job has ended", world);
}

void hl_bury_receive(struct hl_req *r, int world)
{
    fail_request(r, world);
    r->bytes = 0;
    hl_recv_finish(r);
}

void hl_bury_send(struct hl_matcher *m, struct hl_req *r)
{
    fail_request(r, hl_send_body(r)->dest);
    hl_send_finish(m, r);
}

int hl_bury_probe(struct hl_matcher *m, const struct hl_recv *p)
{
    if (HL_LIKELY(hl_a32_load_relaxed(&m->deaths) == 0)) { /* relaxed: a later look sees it */
        return 0;
    }
    for (unsigned i = 0; i < m->n_inboxes; i++) {
        if (hl_inbox_waiting(&m->inbox[i])) {
            return 0; /* perhaps it is in there */
        }
    }
    int world = lost_source(m, p->ctx, p->src, p->src_world);
    return world >= 0 ? hl_bury_error(world) : 0;
}

/* ---- A visit ---- */

/* What we have for a dead peer. */
static int bury_peer(struct hl_matcher *m, struct hl_peer *p)
{
    int n = 0;
    hl_mutex_lock(&p->lock);
    hl_a32_or_full(p->state, HL_PEER_DEAD); /* full: there is no weaker one */
    for (struct hl_owed *o = p->owed, *next; o != NULL; o = next, n++) {
        next = o->next;
        hl_owed_free(o);
        hl_a32_add_relaxed(&p->owing, (uint32_t)-1); /* relaxed: a hint for the poller */
    }
    p->owed = NULL;
    p->owed_tail = &p->owed;
    for (struct hl_req *r = p->head, *next; r != NULL; r = next, n++) {
        next = r->next;
        hl_a32_add_full(p->state, (uint32_t)-1); /* full: as in hl_peer_drain */
        hl_bury_send(m, r);
    }
    p->head = NULL;
    p->tail = &p->head;
    hl_a32_add_relaxed(&m->backlog, (uint32_t)-n);
    hl_mutex_unlock(&p->lock);
    return n;
}

struct visit {
    const struct hl_matcher *m;
    bool far;     /* a port is ours, else an inbox: */
    unsigned way; /* its number */
    int world;    /* found dead */
};

static bool post_is_lost(void *arg, const struct hl_post *p)
{
    struct visit *v = arg;
    if (p->op == HL_POST_WILD) {
        const struct hl_claim *c = HL_CONTAINER_OF(p, struct hl_claim_node, post)->claim;
        v->world = lost_source(v->m, c->ctx, MPI_ANY_SOURCE, -1);
    } else {
        struct hl_req *r = hl_post_req((struct hl_post *)(uintptr_t)p);
        v->world = lost_source(v->m, r->ctx, hl_recv_body(r)->src, (int)p->spare);
    }
    return v->world >= 0;
}

/* Who answers to a named request: its record is there since before the name. */
static const struct hl_peer *answerer(const struct hl_matcher *m, struct hl_req *r)
{
    int from = r->what == HL_REQ_SEND ? ~hl_send_body(r)->dest : hl_recv_body(r)->fetch.from;
    return from >= 0 ? &m->near[from] : hl_aptr_load_acquire(&m->peers[~from]); /* acquire: as in match.c */
}

/* Of large messages under way: those whose control messages come by this inbox or port, which is ours now, so
 * nobody handles one. What is being pulled ends by itself (hl_rndv_stream). */
static bool name_is_lost(void *arg, struct hl_req *r, uint64_t name)
{
    struct visit *v = arg;
    const struct hl_peer *p = answerer(v->m, r);
    unsigned ways = p->node < 0 ? p->ports : v->m->n_inboxes;
    if ((p->node < 0) != v->far || ((unsigned)name & (ways - 1)) != v->way) {
        return false;
    }
    bool pulled = r->what == HL_REQ_SEND && (r->spare & HL_REQ_REGISTERED) == 0 && hl_send_body(r)->back != 0;
    v->world = p->world;
    /* relaxed: set by visits. Not is_dead: what is in the peer's list is ended from there, before. */
    return !pulled && (hl_a32_load_relaxed(p->state) & HL_PEER_DEAD) != 0;
}

static void bury_names(struct hl_matcher *m, struct visit *v, struct hl_work *w)
{
    struct hl_req *r;
    while ((r = hl_name_take_if(&m->names, name_is_lost, v)) != NULL) {
        fail_request(r, v->world);
        if (r->what == HL_REQ_SEND) {
            hl_send_end(r);
        } else {
            hl_both_forget(m, r);
            hl_recv_finish(r);
        }
        w->n++;
    }
}

static void bury_in_inbox(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w)
{
    struct visit v = {m, false, (unsigned)(ib - m->inbox), -1};
    struct hl_req *r;
    w->n += hl_inbox_skip(m, ib);
    if (hl_inbox_waiting(ib)) {
        return; /* perhaps what they wait for */
    }
    while ((r = hl_table_take_if(&ib->table, post_is_lost, &v)) != NULL) {
        hl_bury_receive(r, v.world);
        w->n++;
    }
    bury_names(m, &v, w);
}

static void bury_in_port(struct hl_matcher *m, unsigned port, struct hl_work *w)
{
    bury_names(m, &(struct visit){m, true, port, -1}, w);
}

/* One visitor at a time, now and then. */
static bool may_visit(struct hl_matcher *m, bool idle)
{
    /* relaxed: counts and times are hints; the CAS lets one in. full: sees what the last one did. */
    uint64_t last = hl_a64_load_relaxed(&m->visited_ns), now = hl_now_ns();
    if (!idle && hl_a32_add_relaxed(&m->passes, 1) % VISIT_PASSES != 0) {
        return false;
    }
    return last != VISITING && now - last >= VISIT_NS && hl_a64_cas_full(&m->visited_ns, &last, VISITING);
}

int hl_bury_run(struct hl_matcher *m, bool idle)
{
    if (HL_LIKELY(hl_a32_load_relaxed(&m->deaths) == 0) || HL_FAULT(bury_none) ||
        !may_visit(m, idle)) { /* relaxed: a glance */
        return 0;
    }
    struct hl_work w;
    hl_work_start(&w);
    /* acquire: sees the records; pairs with the release in make_far. */
    int n_far = (int)hl_a32_load_acquire(&m->n_far);
    for (int i = 0; i < m->node_size + n_far; i++) {
        struct hl_peer *p = i < m->node_size ? &m->near[i] : m->far_list[i - m->node_size];
        if (m->is_dead(p->world)) {
            w.n += bury_peer(m, p);
        }
    }
    for (unsigned i = 0; i < m->n_inboxes; i++) {
        hl_inbox_visit(m, &m->inbox[i], bury_in_inbox, &w);
    }
    hl_far_visit(m, bury_in_port, &w);
    hl_a64_store_release(&m->visited_ns, hl_now_ns()); /* release: pairs with the CAS in may_visit */
    hl_work_run(m, &w);
    if (w.n > 0) {
        hl_prog_wake();
    }
    return w.n;
}
