/* The matcher: opened, polled, closed; and this process's own. */
#include "match_internal.h"

#include "deaths.h"
#include "flow.h"
#include "slots.h"
#include "split_copy.h"

#include "conf.h"
#include "err.h"
#include "fab.h"
#include "far.h"
#include "job.h"
#include "lane.h"
#include "log.h"
#include "port.h"
#include "rx.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUIET_SAY_NS UINT64_C(5000000000) /* finalize says what it waits for after this time */

/* ---- Peers ---- */

static void peer_init(const struct hl_matcher *m, struct hl_peer *p, int world, int node)
{
    *p = (struct hl_peer){.world = world, .node = node, .lock = HL_MUTEX_INIT, .section = HL_MUTEX_INIT};
    p->state = node >= 0 ? hl_state_of(m, m->node_rank, node) : &p->far_state;
    /* relaxed: clears an earlier opening's word; a peer throttles this rank only after a message of its. */
    hl_a32_store_relaxed(p->state, 0);
    p->tail = &p->head;
    p->deferred_tail = &p->deferred;
}

static struct hl_peer *new_far(struct hl_matcher *m, int world)
{
    struct hl_peer *p = malloc(sizeof(*p));
    if (p == NULL) {
        hl_err_say(HL_ERR_OTHER, "no memory to send to or receive from rank %d", world);
        return NULL;
    }
    peer_init(m, p, world, -1);
    if (hl_far_add_peer(m, p) != 0) {
        free(p);
        return NULL;
    }
    return p;
}

/* Makes the record of a peer over the network, at its first message. */
static HL_COLD struct hl_peer *make_far(struct hl_matcher *m, int world)
{
    hl_mutex_lock(&m->far_lock);
    struct hl_peer *p = hl_aptr_load_acquire(&m->peers[world]); /* acquire: pairs with the release below */
    if (p == NULL && (p = new_far(m, world)) != NULL) {
        uint32_t n = hl_a32_load_relaxed(&m->n_far); /* relaxed: under the lock */
        m->far_list[n] = p;
        /* release: publishes the record; pairs with the acquires in hl_matcher_peer and drain_peers. */
        hl_a32_store_release(&m->n_far, n + 1);
        hl_aptr_store_release(&m->peers[world], p);
    }
    hl_mutex_unlock(&m->far_lock);
    return p;
}

struct hl_peer *hl_matcher_peer(struct hl_matcher *m, int world)
{
    /* acquire: the record is initialised; pairs with the release in make_far. */
    struct hl_peer *p = hl_aptr_load_acquire(&m->peers[world]);
    return HL_LIKELY(p != NULL) ? p : make_far(m, world);
}

/* ---- Open, close ---- */

static int open_inboxes(struct hl_matcher *m)
{
    struct hl_match_part *part = hl_match_part_of(m, m->node_rank);
    m->places = part->places;
    for (unsigned i = 0; i < m->n_inboxes; i++) {
        struct hl_inbox *ib = &m->inbox[i];
        ib->ring = &part->rings[i];
        hl_mpsc_name(&ib->ring->q, (unsigned)m->node_rank * HL_INBOXES_MAX + i + 1);
        ib->section = (struct hl_mutex)HL_MUTEX_INIT;
        /* relaxed: no other thread is here yet. It begins where the earlier opening left the ring. */
        hl_a64_store_relaxed(&ib->head, hl_a64_load_relaxed(&ib->ring->q.head));
        ib->first = hl_a64_load_relaxed(&ib->head);
        hl_a64_store_relaxed(&ib->mark, m->flow.limit / m->n_inboxes);
        ib->publish = part->ring_room / 2 < 64 ? part->ring_room / 2 - 1 : 63;
        if (hl_table_open(&ib->table) != 0) {
            return HL_ERR_NO_MEM;
        }
    }
    return 0;
}

static int allocate_matcher(struct hl_matcher *m)
{
    m->near = malloc((size_t)m->node_size * sizeof(*m->near));
    m->inbox = aligned_alloc(HL_CACHELINE, m->n_inboxes * sizeof(*m->inbox));
    /* Only the pages of ranks that are talked to are touched. */
    m->peers = calloc((size_t)m->world_size, sizeof(*m->peers));
    if (m->inbox != NULL) { /* before it may be closed again */
        memset(m->inbox, 0, m->n_inboxes * sizeof(*m->inbox));
    }
    if (m->near == NULL || m->inbox == NULL || m->peers == NULL) {
        return HL_ERR_NO_MEM;
    }
    for (int i = 0; i < m->node_size; i++) {
        peer_init(m, &m->near[i], m->node_world[i], i);
        hl_aptr_store_relaxed(&m->peers[m->node_world[i]],
                              &m->near[i]); /* relaxed: no other thread is here yet */
    }
    if (m->node_size < m->world_size) {
        m->far_list = calloc((size_t)m->world_size, sizeof(*m->far_list));
        if (m->far_list == NULL) {
            return HL_ERR_NO_MEM;
        }
    }
    return open_inboxes(m);
}

static void release_parts(struct hl_matcher *m)
{
    hl_split_close(m);
    for (unsigned i = 0; m->inbox != NULL && i < m->n_inboxes; i++) {
        hl_inbox_close(&m->inbox[i]);
    }
    uint32_t n_far = hl_a32_load_relaxed(&m->n_far); /* relaxed: no other thread is here any more */
    for (uint32_t i = 0; i < n_far; i++) {
        free(m->far_list[i]);
    }
    free(m->far_list);
    free(m->peers);
    free(m->names.rows);
    free(m->inbox);
    free(m->near);
}

int hl_matcher_open(struct hl_matcher *m, const struct hl_matcher_setup *s)
{
    *m = (struct hl_matcher){
        .world_rank = s->world_rank,
        .world_size = s->world_size,
        .node_rank = s->node_rank,
        .node_size = s->node_size,
        .node_world = s->node_world,
        .parts = s->board,
        .states = (hl_a32 *)(void *)((struct hl_match_part *)s->board + s->node_size),
        .n_inboxes = s->inboxes,
        .threads = s->threads,
        .cma = s->cma,
        .is_dead = s->is_dead != NULL ? s->is_dead : hl_rx_is_dead,
        .far_lock = HL_MUTEX_INIT,
        .stream_lock = HL_MUTEX_INIT,
        .flow = {.limit = s->unex_mem != 0 ? s->unex_mem : UINT64_MAX, .lock = HL_MUTEX_INIT},
        .names = {.lock = HL_MUTEX_INIT}};
    m->streams_tail = &m->streams;
    m->helps_tail = &m->helps;
    int rc = hl_random_bytes(&m->probe_value, sizeof(m->probe_value));
    if (rc != 0) {
        return rc;
    }
    struct hl_match_part *part = hl_match_part_of(m, m->node_rank);
    part->ring_room = s->ring != 0 ? s->ring : HL_RING_SLOTS;
    if (allocate_matcher(m) != 0) {
        release_parts(m);
        return hl_err_say(HL_ERR_NO_MEM,
                          "no memory to match messages (%d ranks, %u matching queues: HOTLANE_INBOXES)",
                          m->world_size, m->n_inboxes);
    }
    part->pid = (int32_t)getpid();
    part->process = hl_cma_process();
    part->probe_addr = s->cma ? (uint64_t)(uintptr_t)&m->probe_value : 0;
    part->probe_value = m->probe_value;
    m->opening = hl_a32_load_relaxed(&part->inboxes) >> HL_OPENING_SHIFT; /* relaxed: mine */
    /* release: this rank's part of the board is ready; pairs with the acquire in hl_peer_look. */
    hl_a32_store_release(&part->inboxes, m->opening << HL_OPENING_SHIFT | m->n_inboxes);
    return 0;
}

uint32_t hl_peer_look(struct hl_matcher *m, struct hl_peer *p)
{
    /* acquire: the peer's board is ready; pairs with the release in hl_matcher_open. */
    uint32_t word = hl_a32_load_acquire(&hl_match_part_of(m, p->node)->inboxes);
    if (word >> HL_OPENING_SHIFT != m->opening) {
        return 0;
    }
    uint32_t n = word & ((1u << HL_OPENING_SHIFT) - 1);
    /* release: for our other threads; pairs with the acquire in hl_peer_inboxes */
    hl_a32_store_release(&p->inboxes, n);
    return n;
}

void hl_matcher_leave(struct hl_matcher *m)
{
    struct hl_match_part *part = hl_match_part_of(m, m->node_rank);
    /* release: for form, nothing is published */
    hl_a32_store_release(&part->inboxes, (m->opening + 1) << HL_OPENING_SHIFT);
}

void hl_matcher_close(struct hl_matcher *m)
{
    struct hl_match_part *part = hl_match_part_of(m, m->node_rank);
    /* release: for form, a fence came before. relaxed: this rank's. */
    hl_a32_store_release(&part->inboxes,
                         hl_a32_load_relaxed(&part->inboxes) & ~((1u << HL_OPENING_SHIFT) - 1));
    for (unsigned i = 0; i < m->n_inboxes; i++) {
        /* The next opening goes on from here. relaxed: no owner is left. */
        hl_mpsc_publish(&part->rings[i].q, hl_a64_load_relaxed(&m->inbox[i].head));
    }
    release_parts(m);
}

/* ---- Progress ---- */

/* Sends what waits for room at peers. `idle`: the poll has moved nothing so far. */
static int drain_peers(struct hl_matcher *m, bool idle)
{
    hl_mpsc_enrol();
    int n = hl_flow_run(m) + hl_deaths_run(m, idle);
    for (int i = 0; i < m->node_size; i++) {
        n += hl_peer_drain(m, &m->near[i]);
    }
    /* acquire: sees the records; pairs with the release in make_far. */
    uint32_t n_far = hl_a32_load_acquire(&m->n_far);
    for (uint32_t i = 0; i < n_far; i++) {
        n += hl_peer_drain(m, m->far_list[i]);
    }
    return n;
}

int hl_matcher_poll(void *matcher)
{
    static HL_THREAD_LOCAL unsigned first; /* threads begin at different inboxes */
    struct hl_matcher *m = matcher;
    struct hl_work w;
    hl_work_start(&w);
    if (HL_UNLIKELY(first == 0)) {
        /* relaxed: any number will do. */
        first = hl_a32_add_relaxed(&m->turn, 1) + 1;
    }
    for (unsigned i = 0; i < m->n_inboxes; i++) {
        hl_inbox_poll(m, &m->inbox[(first + i) & (m->n_inboxes - 1)], &w);
    }
    if (m->net != NULL) {
        w.n += hl_net_poll(m->net, &w);
    }
    hl_work_run(m, &w);
    /* relaxed: a guess; a late look comes at the next poll. */
    if (HL_UNLIKELY(hl_a32_load_relaxed(&m->backlog) != 0)) {
        w.n += drain_peers(m, w.n == 0);
    }
    return w.n + hl_rndv_stream(m);
}

/* True if this rank waits for something of which no ring tells: room at a peer, the pieces of a message that
 * others pull, or a network that does not ring. */
static bool is_poll_needed(struct hl_matcher *m)
{
    /* relaxed: what begins later begins in this thread, or one nap is too long. */
    return hl_a32_load_relaxed(&m->backlog) != 0 || hl_a32_load_relaxed(&m->n_streams) != 0 ||
           (m->net != NULL && !hl_far_rings(m));
}

static enum hl_prog_armed arm_matcher(void *matcher)
{
    struct hl_matcher *m = matcher;
    for (unsigned i = 0; i < m->n_inboxes; i++) {
        struct hl_inbox *ib = &m->inbox[i];
        /* A sender that claims from here on rings; an earlier claim shows. relaxed: a slot that another
         * thread of this rank took meanwhile only costs a look. */
        if (hl_mpsc_arm(&ib->ring->q) != hl_a64_load_relaxed(&ib->head) ||
            hl_aptr_load_relaxed(&ib->command) != NULL) {
            return HL_PROG_WAITING;
        }
    }
    enum hl_prog_armed armed = m->net != NULL ? hl_far_arm(m) : HL_PROG_RINGS;
    armed = armed == HL_PROG_RINGS ? hl_lane_arm() : armed;
    return armed == HL_PROG_RINGS && is_poll_needed(m) ? HL_PROG_POLLED : armed;
}

bool hl_matcher_idle(void *matcher)
{
    struct hl_matcher *m = matcher;
    /* relaxed: only this rank's threads change them; 0 after the thread's own last send means that it
     * left. */
    uint32_t rest = hl_a32_load_relaxed(&m->flow.busy) + hl_a32_load_relaxed(&m->deaths);
    return hl_a32_load_relaxed(&m->backlog) == rest && hl_a32_load_relaxed(&m->n_streams) == 0 &&
           (m->net == NULL || hl_far_idle(m));
}

/* ---- This process's matcher ---- */

struct hl_matcher hl_match_self;

size_t hl_match_board_bytes(int node_size)
{
    size_t states = (size_t)node_size * hl_state_row(node_size) * sizeof(hl_a32);
    return (size_t)node_size * sizeof(struct hl_match_part) + hl_round_up(states, 4096);
}

/* HOTLANE_INBOXES; else one below THREAD_MULTIPLE, and with it one for each CPU, at most 4. */
static unsigned choose_inboxes(bool threads)
{
    int64_t want = hl_conf.inboxes;
    if (want == 0) {
        cpu_set_t set;
        int cpus = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 4;
        bool one = !threads || (hl_cs_any() && hl_cs_mode < HL_CS_OBJECT);
        want = one ? 1 : cpus < 4 ? cpus : 4;
    }
    unsigned n = 1;
    while (2 * n <= (unsigned)want && n < HL_INBOXES_MAX) {
        n *= 2;
    }
    return n;
}

/* Called when the network opens. Without ranks on other nodes no port is needed. */
static int open_ports(void)
{
    struct hl_matcher *m = &hl_match_self;
    return m->far_list == NULL || m->net != NULL ? 0 : hl_far_open(m, (unsigned)hl_conf.ports);
}

/* Called on the receive thread. */
static void note_death(int unused)
{
    hl_deaths_note(&hl_match_self);
    hl_prog_wake();
}

void hl_match_on_lost(int (*lost_member)(uint64_t ctx))
{
    hl_match_self.lost_member = lost_member;
}

int hl_match_open(void *board, bool threads)
{
    struct hl_matcher_setup s = {.world_rank = hl_job.rank,
                                 .world_size = hl_job.size,
                                 .node_rank = hl_job.node_rank,
                                 .node_size = hl_job.node_size,
                                 .node_world = hl_job.node_world,
                                 .board = board,
                                 .inboxes = choose_inboxes(threads),
                                 .threads = threads && !hl_cs_any(),
                                 .cma = hl_conf.cma,
                                 .ring = (uint32_t)hl_conf.ring,
                                 .unex_mem = hl_conf.unex_mem};
    struct hl_matcher *m = &hl_match_self;
    int err = hl_matcher_open(m, &s);
    if (err != 0) {
        return err;
    }
    hl_rx_on_death(note_death);
    err = hl_prog_register(hl_matcher_poll, m, 1);
    if (err != 0) {
        hl_matcher_close(m);
        return err;
    }
    hl_match_counts_open(m);
    hl_match_describe_open();
    hl_prog_know_doors(&m->parts->door, sizeof *m->parts);
    hl_prog_set_door(&hl_match_part_of(m, m->node_rank)->door, arm_matcher, m);
    err = m->far_list == NULL ? 0 : hl_fab_on_open(open_ports);
    if (err != 0) {
        hl_match_close();
    }
    return err;
}

bool hl_match_can_read(int node_rank)
{
    return hl_cma_works(&hl_match_self, &hl_match_self.near[node_rank]);
}

int hl_match_read(int node_rank, uint64_t from, void *to, uint64_t n)
{
    return hl_cma_access(&hl_match_self, &hl_match_self.near[node_rank], HL_NEAR_READ, from, to, n);
}

int hl_match_write(int node_rank, uint64_t to, const void *from, uint64_t n)
{
    return hl_cma_access(&hl_match_self, &hl_match_self.near[node_rank], HL_NEAR_WRITE, to,
                         (void *)(uintptr_t)from, n);
}

struct quiet_wait {
    uint64_t since; /* ns */
    bool said;
};

static bool is_quiet(void *arg)
{
    struct quiet_wait *q = arg;
    if (hl_matcher_idle(&hl_match_self)) {
        return true;
    }
    if (!q->said && hl_now_ns() - q->since > QUIET_SAY_NS) {
        q->said = true;
        hl_log(HL_LOG_WARN, "the end of the library waits until messages that this rank has sent are "
                            "delivered: have their receivers called a receive for each?");
    }
    return false;
}

static void describe_owed(const void *unused, struct hl_wait_desc *t)
{
    hl_desc_say(t, "messages to leave that nobody has received");
    const struct hl_matcher *m = &hl_match_self;
    for (int i = 0; i < m->world_size; i++) {
        const struct hl_peer *p = hl_aptr_load_acquire(&m->peers[i]); /* acquire: the peer's record */
        /* relaxed: what is told may be old. */
        bool owes = p != NULL && (HL_PEER_SENDS(hl_a32_load_relaxed(p->state)) != 0 ||
                                  hl_a32_load_relaxed(&p->owing) != 0);
        hl_desc_await(t, owes ? i : -1);
    }
}
HL_HANG_WORDS(is_quiet, describe_owed);

void hl_match_quiet(void)
{
    struct quiet_wait q = {hl_now_ns(), false};
    hl_flow_end(&hl_match_self);
    hl_prog_wait(is_quiet, &q);
}

void hl_match_leave(void)
{
    hl_matcher_leave(&hl_match_self);
}

void hl_match_close(void)
{
    hl_prog_set_door(NULL, NULL, NULL);
    hl_prog_unregister(hl_matcher_poll, &hl_match_self);
    hl_match_counts_close();
    hl_far_close(&hl_match_self);
    hl_matcher_close(&hl_match_self);
}

int hl_match_sendrecv(struct hl_matcher *m, const struct hl_send *s, const struct hl_recv *r,
                      MPI_Status *status)
{
    struct hl_req recv;
    int err = hl_recv_begin(m, r, &recv);
    if (err != 0) {
        return err;
    }
    int send_err = hl_match_send(m, s);
    if (send_err != 0) {
        hl_match_cancel_now(m, &recv); /* the request is on this stack: it must end */
    }
    hl_req_wait(&recv);
    err = hl_req_finish(&recv, status);
    return send_err != 0 ? send_err : err;
}

#define OWN_PASSES 100 /* more than this process needs to answer itself */

int hl_match_cancel(struct hl_matcher *m, struct hl_req *req)
{
    if (req->what != HL_REQ_SEND) {
        /* else a program that cancels and posts again and again would never get messages that are there */
        hl_prog_poll();
    }
    int err = hl_match_cancel_now(m, req);

    /* A rank that sends to itself may test only once, and receive the message if it was not cancelled. */
    bool own = !hl_req_is_done(req) && req->what == HL_REQ_SEND && hl_send_body(req)->dest == m->world_rank;
    for (int i = 0; own && i < OWN_PASSES && !hl_req_is_done(req); i++) {
        hl_prog_poll();
    }
    return err;
}

int hl_match_iprobe(struct hl_matcher *m, const struct hl_recv *p, bool *found, MPI_Status *status)
{
    hl_prog_look();
    return hl_match_iprobe_now(m, p, found, status);
}

struct probe {
    struct hl_matcher *m;
    const struct hl_recv *p;
    MPI_Status *status;
    int err;
};

static bool is_probe_over(void *arg)
{
    struct probe *a = arg;
    bool found = false;
    a->err = hl_match_iprobe_now(a->m, a->p, &found, a->status);
    return found || a->err != 0;
}

static void describe_probe(const void *arg, struct hl_wait_desc *t)
{
    const struct hl_recv *p = ((const struct probe *)arg)->p;
    hl_match_describe_message(t, p->ctx, p->src, p->tag, false);
}
HL_HANG_WORDS(is_probe_over, describe_probe);

int hl_match_probe(struct hl_matcher *m, const struct hl_recv *p, MPI_Status *status)
{
    struct probe a = {m, p, status, 0};
    hl_prog_wait_rung(is_probe_over, &a);
    return a.err;
}
