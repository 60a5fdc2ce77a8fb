/* Unexpected messages take bounded memory.
 *
 * Above the limit the sources with the most bytes are throttled: they keep their payloads, and only send
 * requests to send, as for large messages. So a throttled source's Send waits and its Isend stays open, and
 * yet every header arrives: a receive finds its message behind any number of others, and no legal program
 * locks up. When half of the memory is free again, all throttled sources may go on.
 *
 * On the node a bit in the sender's word about this rank throttles it; each of its sends reads that word.
 * Over the network XOFF and XON set and clear the bit. As long as a source is throttled `backlog` stays above
 * 0, so that every poll looks whether it can go on. Lock order: ownership of a port, of an inbox, then
 * flow.lock: nothing is waited for under it. */
#include "match_internal.h"

#include "flow.h"

#include "conf.h"
#include "log.h"
#include "stat.h"

#include <string.h>

#define SLACK 16 /* 1/16 of the limit may come before the next source is throttled */

static uint64_t held_bytes(const struct hl_matcher *m)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < m->n_inboxes; i++) {
        sum += hl_a64_load_relaxed(&m->inbox[i].table.kept_bytes); /* relaxed: a recent value is enough */
    }
    return sum;
}

/* The record of a source, or NULL if there is none yet. */
static struct hl_peer *find_known_peer(const struct hl_matcher *m, int from)
{
    /* acquire: the record is initialised; pairs with the release in make_far. */
    return from >= 0 ? &m->near[from] : hl_aptr_load_acquire(&m->peers[~from]);
}

struct tally {
    int from;
    uint64_t bytes;
};

/* Counts a message. With more sources than places the small ones drop out; a source stays if it has more than
 * 1 / (HL_FLOW_SOURCES + 1) of all bytes. */
static void count_message(struct tally t[HL_FLOW_SOURCES], int from, uint64_t bytes)
{
    struct tally *least = &t[0];
    for (int i = 0; i < HL_FLOW_SOURCES; i++) {
        if (t[i].bytes != 0 && t[i].from == from) {
            t[i].bytes += bytes;
            return;
        }
        least = t[i].bytes < least->bytes ? &t[i] : least;
    }
    if (least->bytes == 0) {
        *least = (struct tally){from, bytes};
        return;
    }
    uint64_t part = bytes < least->bytes ? bytes : least->bytes;
    for (int i = 0; i < HL_FLOW_SOURCES; i++) {
        t[i].bytes -= part;
    }
}

/* Chooses the sources that have at least half as many bytes as the largest. */
static void choose_sources(struct hl_matcher *m, const struct hl_inbox *ib) HL_REQUIRES(m->flow.lock)
{
    struct tally t[HL_FLOW_SOURCES] = {{0}};
    for (const struct hl_entry *e = ib->table.arrival.head; e != NULL; e = e->younger) {
        const struct hl_peer *p = find_known_peer(m, e->from);
        if (p == NULL || !p->throttled) {
            count_message(t, e->from, hl_entry_bytes(e));
        }
    }
    uint64_t most = 0;
    for (int i = 0; i < HL_FLOW_SOURCES; i++) {
        most = t[i].bytes > most ? t[i].bytes : most;
    }
    m->flow.n = 0;
    for (int i = 0; i < HL_FLOW_SOURCES; i++) {
        if (t[i].bytes != 0 && t[i].bytes >= most / 2) {
            m->flow.from[m->flow.n++] = t[i].from;
        }
    }
}

static void set_busy(struct hl_matcher *m, uint32_t busy) HL_REQUIRES(m->flow.lock)
{
    if (hl_a32_load_relaxed(&m->flow.busy) != busy) { /* relaxed: under the lock */
        hl_a32_store_relaxed(&m->flow.busy, busy);
        hl_a32_add_relaxed(&m->backlog, busy != 0 ? 1 : (uint32_t)-1); /* relaxed: a hint for the poller */
    }
}

void hl_flow_check(struct hl_matcher *m, struct hl_inbox *ib)
{
    uint64_t sum = held_bytes(m), limit = m->flow.limit;
    uint64_t more = sum < limit ? (limit - sum) / m->n_inboxes : 0;
    if (sum > limit) {
        hl_mutex_lock(&m->flow.lock);
        choose_sources(m, ib);
        set_busy(m, 1);
        hl_mutex_unlock(&m->flow.lock);
    }
    more = more > limit / SLACK ? more : limit / SLACK;
    hl_a64_store_relaxed(&ib->mark, hl_a64_load_relaxed(&ib->table.kept_bytes) + more); /* relaxed: a hint */
}

/* Tells a peer to keep its payloads (on), or to go on. */
static void tell_flow(struct hl_matcher *m, struct hl_peer *p, bool on) HL_REQUIRES(m->flow.lock)
{
    p->throttled = on;
    if (p->node < 0) {
        hl_control_send(m, p, on ? HL_MSG_XOFF : HL_MSG_XON, NULL);
        return;
    }
    hl_a32 *word = hl_state_of(m, p->node, m->node_rank);
    if (on) {
        hl_a32_or_full(word, HL_PEER_XOFF); /* full: a weaker one does not exist */
    } else {
        hl_a32_and_full(word, ~HL_PEER_XOFF);              /* full: before the ring of the door */
        hl_prog_ring(&hl_match_part_of(m, p->node)->door); /* its waiting sends may leave now */
    }
}

static void throttle_peer(struct hl_matcher *m, struct hl_peer *p) HL_REQUIRES(m->flow.lock)
{
    if (p == NULL || p->throttled) {
        return;
    }
    tell_flow(m, p, true);
    hl_stat_rank_add(HL_STAT_RANK_chokes, 1);
    if (hl_conf.stats && !m->flow.said) {
        m->flow.said = true;
        hl_log(HL_LOG_ERROR,
               "%llu MiB of messages that came to this rank are not received yet: rank %d, and others that "
               "send as many, hold further ones back until they are received (HOTLANE_UNEX_MEM)",
               (unsigned long long)(held_bytes(m) >> 20), p->world);
    }
}

static void let_all_go(struct hl_matcher *m) HL_REQUIRES(m->flow.lock)
{
    /* acquire: sees the records; pairs with the release in make_far. */
    int n_far = (int)hl_a32_load_acquire(&m->n_far);
    for (int i = 0; i < m->node_size + n_far; i++) {
        struct hl_peer *p = i < m->node_size ? &m->near[i] : m->far_list[i - m->node_size];
        if (p->throttled) {
            tell_flow(m, p, false);
        }
    }
    uint64_t sum = held_bytes(m), more = sum < m->flow.limit ? m->flow.limit - sum : 0;
    for (unsigned i = 0; i < m->n_inboxes; i++) {
        struct hl_inbox *ib = &m->inbox[i];
        /* relaxed: hints. */
        hl_a64_store_relaxed(&ib->mark, hl_a64_load_relaxed(&ib->table.kept_bytes) + more / m->n_inboxes);
    }
    m->flow.n = 0;
    set_busy(m, 0);
}

static int take_chosen(struct hl_matcher *m, struct hl_peer *peers[HL_FLOW_SOURCES])
{
    int from[HL_FLOW_SOURCES], n;
    hl_mutex_lock(&m->flow.lock);
    n = m->flow.n;
    memcpy(from, m->flow.from, sizeof(from));
    m->flow.n = 0;
    hl_mutex_unlock(&m->flow.lock);
    for (int i = 0; i < n; i++) {
        peers[i] = hl_peer_from(m, from[i]); /* may wait for a port */
    }
    return n;
}

int hl_flow_run(struct hl_matcher *m)
{
    if (HL_LIKELY(hl_a32_load_relaxed(&m->flow.busy) == 0)) { /* relaxed: a guess */
        return 0;
    }
    struct hl_peer *peers[HL_FLOW_SOURCES];
    int n = take_chosen(m, peers);
    hl_mutex_lock(&m->flow.lock);
    for (int i = 0; i < n; i++) {
        throttle_peer(m, peers[i]);
    }
    if (held_bytes(m) <= m->flow.limit / 2) {
        let_all_go(m);
        n++;
    }
    hl_mutex_unlock(&m->flow.lock);
    return n;
}

void hl_flow_end(struct hl_matcher *m)
{
    hl_mutex_lock(&m->flow.lock);
    m->flow.limit = UINT64_MAX;
    let_all_go(m);
    hl_mutex_unlock(&m->flow.lock);
}

void hl_flow_told(struct hl_matcher *m, uint32_t world, bool on)
{
    struct hl_peer *p = m->far_list != NULL ? find_known_peer(m, ~(int)world) : NULL;
    if (p == NULL) {
        return;
    }
    if (on) {
        hl_a32_or_full(p->state, HL_PEER_XOFF); /* full: a weaker one does not exist */
    } else {
        hl_a32_and_full(p->state, ~HL_PEER_XOFF);
    }
}
