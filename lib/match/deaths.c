/* Ranks that have died while the job goes on: operations that wait for them end with an error that names
 * them.
 *
 * The receive thread only notes a death (hl_deaths_note); polls do the rest, since they may own inboxes. From
 * the first death on `backlog` stays above 0, so that every poll comes here; jobs without deaths pay nothing.
 * A visit also ends operations that were begun since the last one. It comes when a poll has moved nothing,
 * and now and then where every poll moves something. What waits at an inbox ends when all is read that stood
 * in its ring when a visit counted the death (is_read_up): so the messages that the dead had sent are
 * received first, and those that others send without a pause hold up nothing.
 *
 * A receive from any source ends when a member of its communicator is dead: nobody knows whose message it was
 * going to be. Only communicators know which member that is (hl_match_on_lost). */
#include "match_internal.h"

#include "deaths.h"
#include "split_copy.h"

#include "err.h"
#include "far.h"
#include "util.h"

#define VISIT_NS UINT64_C(200000) /* shortest time between two visits */
#define VISITING UINT64_MAX       /* value of visited_ns during a visit */
#define VISIT_PASSES 1024         /* passes that moved something, after which a visit comes all the same */

void hl_deaths_note(struct hl_matcher *m)
{
    /* full: a poll that sees it also sees which rank is dead. */
    if (hl_a32_xchg_full(&m->deaths, 1) == 0) {
        hl_a32_add_relaxed(&m->backlog, 1); /* relaxed: a hint for the poller */
    }
}

/* Has the rank died, and if it is of this node, has a visit counted that? */
static bool is_counted_dead(const struct hl_matcher *m, int world)
{
    if (world < 0 || !m->is_dead(world)) {
        return false;
    }
    const struct hl_peer *p = hl_aptr_load_acquire(&m->peers[world]); /* acquire: pairs with make_far */
    /* acquire: hl_matcher.gone has it, too; pairs with fail_peer. */
    return p == NULL || p->node < 0 || (hl_a32_load_acquire(p->state) & HL_PEER_DEAD) != 0;
}

int hl_deaths_member(const struct hl_matcher *m, uint64_t ctx)
{
    return m->lost_member != NULL ? m->lost_member(ctx) : -1;
}

/* The dead rank whose death ends a receive or probe of this source: its world rank, or -1. */
static int find_lost_source(const struct hl_matcher *m, uint64_t ctx, int src, int src_world)
{
    int world = src != MPI_ANY_SOURCE ? src_world : hl_deaths_member(m, ctx);
    return is_counted_dead(m, world) ? world : -1;
}

/* Is all read, in every inbox, that node peers had sent before they died, as far as visits have counted them?
 * Asked behind is_counted_dead. */
static bool are_read_up(const struct hl_matcher *m)
{
    uint32_t gone = hl_a32_load_relaxed(&m->gone); /* relaxed: the acquire in is_counted_dead ordered it. */
    for (unsigned i = 0; i < m->n_inboxes; i++) {
        /* acquire: what was read is in the tables; pairs with the release in is_read_up. */
        if (hl_a32_load_acquire(&m->inbox[i].dead_read) != gone) {
            return false;
        }
    }
    return true;
}

static void fail_request(struct hl_req *r, int world)
{
    hl_req_fail(r, HL_ERR_PROC_ABORTED);
    hl_a32_store_relaxed(&r->parts, (uint32_t)world + 1); /* relaxed: published with DONE */
}

int hl_deaths_error(int world)
{
    return hl_err_say(HL_ERR_PROC_ABORTED, "rank %d of the job has ended", world);
}

void hl_fail_receive(struct hl_req *r, int world)
{
    fail_request(r, world);
    r->bytes = 0;
    hl_recv_finish(r);
}

void hl_fail_send(struct hl_matcher *m, struct hl_req *r)
{
    fail_request(r, hl_send_body(r)->dest);
    hl_send_finish(m, r);
}

int hl_deaths_probe(struct hl_matcher *m, const struct hl_recv *p)
{
    if (HL_LIKELY(hl_a32_load_relaxed(&m->deaths) == 0)) { /* relaxed: a later look sees it */
        return 0;
    }
    int world = find_lost_source(m, p->ctx, p->src, p->src_world);
    /* If not all is read, the message is perhaps there. */
    return world >= 0 && are_read_up(m) ? hl_deaths_error(world) : 0;
}

/* ---- A visit ---- */

/* Ends what waits to be sent to a dead peer. Returns how many. */
static int fail_peer(struct hl_matcher *m, struct hl_peer *p)
{
    int n = 0;
    hl_mutex_lock(&p->lock);
    /* relaxed: only visits set it. */
    if (p->node >= 0 && (hl_a32_load_relaxed(p->state) & HL_PEER_DEAD) == 0) {
        hl_a32_add_relaxed(&m->gone, 1); /* relaxed: the next operation publishes it. */
    }
    hl_a32_or_full(p->state, HL_PEER_DEAD); /* full: pairs with the acquire in is_counted_dead. */
    for (struct hl_deferred *o = p->deferred, *next; o != NULL; o = next, n++) {
        next = o->next;
        hl_deferred_free(o);
        hl_a32_add_relaxed(&p->owing, (uint32_t)-1); /* relaxed: a hint for the poller */
    }
    p->deferred = NULL;
    p->deferred_tail = &p->deferred;
    for (struct hl_req *r = p->head, *next; r != NULL; r = next, n++) {
        next = r->next;
        hl_a32_add_full(p->state, (uint32_t)-1); /* full: for form, the message is dropped */
        hl_fail_send(m, r);
    }
    p->head = NULL;
    p->tail = &p->head;
    hl_a32_add_relaxed(&m->backlog, (uint32_t)-n);
    hl_mutex_unlock(&p->lock);
    return n;
}

struct visit {
    const struct hl_matcher *m;
    bool far;     /* the visitor owns a port, else an inbox: */
    unsigned way; /* its number */
    int world;    /* the rank that was found dead */
};

static bool is_post_lost(void *arg, const struct hl_command *p)
{
    struct visit *v = arg;
    if (p->op == HL_COMMAND_WILD) {
        const struct hl_wild_recv *c = HL_CONTAINER_OF(p, struct hl_wild_node, command)->wild;
        v->world = find_lost_source(v->m, c->ctx, MPI_ANY_SOURCE, -1);
        return v->world >= 0 && are_read_up(v->m); /* its message may be in another inbox */
    }
    struct hl_req *r = hl_command_req((struct hl_command *)(uintptr_t)p);
    v->world = find_lost_source(v->m, r->ctx, hl_recv_body(r)->src, (int)p->spare);
    return v->world >= 0;
}

/* The peer that answers to a named request; its record was made before the name. */
static const struct hl_peer *find_answerer(const struct hl_matcher *m, struct hl_req *r)
{
    int from = r->what == HL_REQ_SEND ? ~hl_send_body(r)->dest : hl_recv_body(r)->fetch.from;
    /* acquire: pairs with make_far */
    return from >= 0 ? &m->near[from] : hl_aptr_load_acquire(&m->peers[~from]);
}

/* True for a named request of a large message whose peer is dead, and whose control messages come by the
 * inbox or port that the visitor owns, so that nobody handles one now. Sends whose bytes are being pulled end
 * by themselves (hl_rndv_stream). */
static bool is_name_lost(void *arg, struct hl_req *r, uint64_t name)
{
    struct visit *v = arg;
    const struct hl_peer *p = find_answerer(v->m, r);
    unsigned ways = p->node < 0 ? p->ports : v->m->n_inboxes;
    if ((p->node < 0) != v->far || ((unsigned)name & (ways - 1)) != v->way) {
        return false;
    }
    bool pulled = r->what == HL_REQ_SEND && (r->spare & HL_REQ_REGISTERED) == 0 && hl_send_body(r)->back != 0;
    v->world = p->world;
    /* relaxed: visits set it. (Not is_dead: sends in the peer's list must be ended by fail_peer before.) */
    return !pulled && (hl_a32_load_relaxed(p->state) & HL_PEER_DEAD) != 0;
}

static void fail_names(struct hl_matcher *m, struct visit *v, struct hl_work *w)
{
    struct hl_req *r;
    while ((r = hl_name_take_if(&m->names, is_name_lost, v)) != NULL) {
        fail_request(r, v->world);
        if (r->what == HL_REQ_SEND) {
            hl_send_end(r);
        } else {
            hl_split_forget(m, r);
            hl_recv_finish(r);
        }
        w->n++;
    }
}

/* True when all that node peers had put into the ring before they died is read. For the inbox's owner. */
static bool is_read_up(const struct hl_matcher *m, struct hl_inbox *ib)
{
    uint32_t gone = hl_a32_load_relaxed(&m->gone); /* relaxed: only visits change it. */
    if (ib->dead_seen != gone) {
        ib->dead_seen = gone;
        ib->dead_end = hl_mpsc_end(&ib->ring->q);
    }
    /* relaxed: only owners write it. */
    if ((int64_t)(hl_a64_load_relaxed(&ib->head) - ib->dead_end) < 0) {
        return false;
    }
    hl_a32_store_release(&ib->dead_read, gone); /* release: pairs with the acquire in are_read_up. */
    return true;
}

static void fail_in_inbox(struct hl_matcher *m, struct hl_inbox *ib, struct hl_work *w)
{
    struct visit v = {m, false, (unsigned)(ib - m->inbox), -1};
    struct hl_req *r;
    w->n += hl_inbox_skip(m, ib);
    if (!is_read_up(m, ib)) {
        return; /* perhaps the messages that they wait for are there */
    }
    while ((r = hl_table_take_if(&ib->table, is_post_lost, &v)) != NULL) {
        hl_fail_receive(r, v.world);
        w->n++;
    }
    fail_names(m, &v, w);
}

static void fail_in_port(struct hl_matcher *m, unsigned port, struct hl_work *w)
{
    fail_names(m, &(struct visit){m, true, port, -1}, w);
}

/* True if a visit is due and nobody else is visiting. */
static bool claim_visit(struct hl_matcher *m, bool idle)
{
    /* relaxed: counts and times are hints; the CAS lets one in. full: sees what the last visitor did. */
    uint64_t last = hl_a64_load_relaxed(&m->visited_ns), now = hl_now_ns();
    if (!idle && hl_a32_add_relaxed(&m->passes, 1) % VISIT_PASSES != 0) {
        return false;
    }
    return last != VISITING && now - last >= VISIT_NS && hl_a64_cas_full(&m->visited_ns, &last, VISITING);
}

int hl_deaths_run(struct hl_matcher *m, bool idle)
{
    if (HL_LIKELY(hl_a32_load_relaxed(&m->deaths) == 0) || !claim_visit(m, idle)) { /* relaxed: a guess */
        return 0;
    }
    struct hl_work w;
    hl_work_start(&w);
    /* acquire: sees the records; pairs with the release in make_far. */
    int n_far = (int)hl_a32_load_acquire(&m->n_far);
    for (int i = 0; i < m->node_size + n_far; i++) {
        struct hl_peer *p = i < m->node_size ? &m->near[i] : m->far_list[i - m->node_size];
        if (m->is_dead(p->world)) {
            w.n += fail_peer(m, p);
        }
    }
    for (unsigned i = 0; i < m->n_inboxes; i++) {
        hl_inbox_visit(m, &m->inbox[i], fail_in_inbox, &w);
    }
    hl_far_visit(m, fail_in_port, &w);
    hl_a64_store_release(&m->visited_ns, hl_now_ns()); /* release: pairs with the CAS in claim_visit */
    hl_work_run(m, &w);
    if (w.n > 0) {
        hl_prog_wake();
    }
    return w.n;
}
