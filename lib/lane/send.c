/* Sending chains, and how they end. */
#include "lane_internal.h"

#include "err.h"
#include "job.h"
#include "util.h"

#include <string.h>

/* ---- out ---- */

void hl_lane_write_head(const struct hl_lane *lane, struct hl_wire_head head, uint8_t *at)
{
    head.nonce = hl_job.nonce;
    head.from = (uint32_t)hl_job.rank;
    head.lane = (uint16_t)lane->index;
    head.kind = HL_WIRE_DATA;
    memcpy(at, &head, sizeof head);
    if ((head.flags & HL_WIRE_HELLO) != 0) {
        struct hl_wire_hello hello = {.len = lane->fab->name_len};
        memcpy(hello.name, lane->fab->name, lane->fab->name_len);
        memcpy(at + sizeof head, &hello, sizeof hello);
    }
}

/* Writes what stands before the records: returns the first byte of the message. */
static uint8_t *write_chain_head(const struct hl_lane *lane, const struct hl_chain *chain, uint64_t number)
    HL_REQUIRES(lane->lease)
{
    bool says_hello = !chain->way->hello_said;
    uint8_t *from = (uint8_t *)(uintptr_t)chain->bytes + (says_hello ? 0 : sizeof(struct hl_wire_hello));
    struct hl_wire_head head = {.seq = number,
                                .flags = says_hello ? HL_WIRE_HELLO : 0,
                                .len = (uint32_t)(chain->head.end - from),
                                .count = chain->head.records};
    hl_lane_write_head(lane, head, from);
    return from;
}

static bool has_credit(const struct hl_lane *lane, const struct hl_way *way) HL_REQUIRES(lane->lease)
{
    return way->unacked < HL_WIRE_CREDITS && lane->unacked < HL_ACK_BUFS;
}

static void close_chain(struct hl_lane *lane, struct hl_chain *chain) HL_REQUIRES(lane->lease)
{
    struct hl_chain **at = &lane->open;
    while (*at != chain) {
        at = &(*at)->earlier;
    }
    *at = chain->earlier;
    chain->way->chain = NULL;
    chain->way->refused.looked_ns = 0;
    chain->at_tick = lane->ticks;
    if (lane->last.chain == &chain->head) {
        lane->last.chain = NULL;
        hl_a64_store_relaxed(&lane->last.takes, 0); /* relaxed: only the lease's holder acts on it. */
    }
    hl_stat_lane_add(&lane->stat, HL_STAT_LANE_leases, chain->head.records - chain->keys - chain->counted);
}

/* Posts the chain as a message: 0, or a (negative) code of the provider. */
static int post_chain(struct hl_lane *lane, struct hl_chain *chain) HL_REQUIRES(lane->lease)
{
    struct hl_way *way = chain->way;
    struct hl_lane_slot *slot = chain->slot;
    int rc = lane->fab->receives == NULL ? hl_rx_listen(lane->fab, HL_ACK_BUFS) : 0;
    if (rc != 0) {
        return rc;
    }
    uint64_t number = way->messages + 1;
    uint8_t *from = write_chain_head(lane, chain, number);
    struct iovec iov = {from, (size_t)(chain->head.end - from)};
    struct fi_msg msg = {.msg_iov = &iov, .iov_count = 1, .addr = way->addr, .context = &slot->context};
    rc = (int)fi_sendmsg(lane->ep, &msg, FI_COMPLETION);
    if (rc != 0) {
        return rc;
    }
    chain->message = number;
    slot->open = HL_PART_POST | HL_PART_ACK;
    way->hello_said = true;
    way->messages++;
    way->unacked++;
    lane->unacked++;
    hl_stat_lane_add(&lane->stat, HL_STAT_LANE_messages, 1);
    hl_stat_lane_add(&lane->stat, HL_STAT_LANE_chained, chain->head.records - chain->keys);
    hl_stat_lane_add(&lane->stat, HL_STAT_LANE_bytes_chained, iov.iov_len);
    return 0;
}

/* True for one put or get without messages before it that are unacknowledged or fenced: it is cheaper as an
 * operation of its own. */
static bool is_alone(const struct hl_chain *chain)
{
    const struct hl_wire_short *rec = (const void *)(chain->bytes + HL_CHAIN_RECORDS_AT);
    return chain->keys == 1 && chain->head.records == 2 && chain->way->unacked == 0 &&
           !hl_way_is_fenced(chain->way) && (rec[1].op == HL_WIRE_PUT || rec[1].op == HL_WIRE_GET);
}

static int send_alone(struct hl_lane *lane, struct hl_chain *chain) HL_REQUIRES(lane->lease)
{
    const struct hl_wire_short *rec = (const void *)(chain->bytes + HL_CHAIN_RECORDS_AT);
    bool reads = rec[1].op == HL_WIRE_GET;
    struct hl_xfer x = {.addr = rec[1].addr,
                        .key = chain->key,
                        .buf = reads ? chain->asks[0].reply : (void *)(uintptr_t)(rec + 2),
                        .len = rec[1].len};
    int rc = hl_lane_post_rma(lane, chain->way, chain->slot, &x, reads);
    if (rc != 0) {
        chain->slot->open = HL_PART_CHAIN; /* the chain stays open */
        return rc;
    }
    chain->asks[0].answered = true; /* if there is one: the provider answers it */
    chain->asks[0].err = 0;
    hl_stat_lane_add(&lane->stat, reads ? HL_STAT_LANE_reads : HL_STAT_LANE_writes, 1);
    hl_stat_lane_add(&lane->stat, reads ? HL_STAT_LANE_bytes_read : HL_STAT_LANE_bytes_written, x.len);
    return 0;
}

/* A post has failed with the error `rc`. Where memory alone was missing, the connection stands. */
static void judge_failure(struct hl_lane *lane, struct hl_way *way, int rc) HL_REQUIRES(lane->lease)
{
    if (rc != HL_ERR_NO_MEM) {
        hl_lane_slot_lost(lane, way);
    }
}

/* The provider refused a chain with `rc`: returns a status, and the chain stays open; or the error with
 * which all its operations ended. A get by itself whose buffer cannot be registered goes as a message. */
static int settle_refused_chain(struct hl_lane *lane, struct hl_chain *chain, enum hl_chain_form form, int rc)
    HL_REQUIRES(lane->lease)
{
    struct hl_way *way = chain->way;
    if (form == HL_CHAIN_MAY_GO_ALONE && is_alone(chain) && hl_fab_refused(rc) == HL_FAB_NO_MEM) {
        return hl_chain_send(lane, way, HL_CHAIN_AS_MESSAGE);
    }
    rc = hl_lane_refused(lane, way, rc); /* polls, and may find the peer dead */
    if (rc < 0) {
        hl_chain_fail(lane, way, rc);
        judge_failure(lane, way, rc);
    }
    return way->dead && rc >= 0 ? HL_ERR_PROC_ABORTED : rc;
}

int hl_chain_send(struct hl_lane *lane, struct hl_way *way, enum hl_chain_form form)
{
    int rc = HL_UNLIKELY(way->lost) && way->chain != NULL ? hl_lane_reconnect(lane, way) : 0;
    if (rc < 0) {
        hl_chain_fail(lane, way, rc);
    }
    struct hl_chain *chain = way->chain;
    if (rc != 0 || chain == NULL) {
        return rc;
    }
    if (form == HL_CHAIN_MAY_GO_ALONE && is_alone(chain)) {
        rc = send_alone(lane, chain);
    } else {
        if (!has_credit(lane, way)) {
            (void)hl_lane_progress(lane);
            if (way->dead) {
                return hl_err_say(HL_ERR_PROC_ABORTED, "rank %d has ended", way->peer);
            }
            if (way->lost || !has_credit(lane, way)) { /* a loss ends messages, which gives credits back */
                return HL_LANE_STAY;
            }
        }
        rc = post_chain(lane, chain);
    }
    if (rc != 0) {
        return settle_refused_chain(lane, chain, form, rc);
    }
    close_chain(lane, chain);
    return 0;
}

/* Which of a lane's open chains are to be sent. */
struct pick {
    uint64_t before; /* slots with lower numbers */
    uint64_t tick;   /* opened at this tick of the lane or earlier */
    bool mine;       /* only what the calling thread opened, or what several threads wait for */
};

static bool is_picked(const struct hl_chain *chain, const struct pick *p)
{
    bool mine = chain->head.opener == NULL || chain->head.opener == hl_chain_me();
    return chain->slot->number < p->before && chain->at_tick <= p->tick && (mine || !p->mine);
}

/* Sends the oldest chain first. Sending may poll, which may end chains: so after each one it looks at the
 * list anew. */
static void send_picked(struct hl_lane *lane, const struct pick *p) HL_REQUIRES(lane->lease)
{
    for (uint64_t from = 0;;) {
        struct hl_chain *oldest = NULL;
        for (struct hl_chain *c = lane->open; c != NULL; c = c->earlier) {
            uint64_t number = c->slot->number;
            if (is_picked(c, p) && number >= from && (oldest == NULL || number < oldest->slot->number)) {
                oldest = c;
            }
        }
        if (oldest == NULL) {
            return;
        }
        from = oldest->slot->number + 1;
        (void)hl_chain_send(lane, oldest->way, HL_CHAIN_MAY_GO_ALONE);
    }
}

void hl_chain_send_all(struct hl_lane *lane, uint64_t before)
{
    send_picked(lane, &(struct pick){.before = before, .tick = UINT64_MAX});
}

void hl_chain_send_mine(struct hl_lane *lane)
{
    send_picked(lane, &(struct pick){.before = UINT64_MAX, .tick = UINT64_MAX, .mine = true});
}

/* ---- ticks ---- */

/* True when the read of the heartbeat is complete; `done` passes it only when all operations before it
 * are. */
static bool has_heartbeat_come(const struct hl_way *way)
{
    const struct hl_lane_slot *slot = way->first;
    while (slot != NULL && slot->way_seq < way->heartbeat_seq) {
        slot = slot->next;
    }
    return slot != NULL && slot->open == 0;
}

/* Probes a target whose oldest unacknowledged message has waited for long: nothing else tells of a peer that
 * died after it took the message. */
static void check_heartbeat(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease)
{
    const struct hl_lane_slot *slot = way->first;
    while (slot != NULL && (slot->open & HL_PART_ACK) == 0) {
        slot = slot->next;
    }
    bool late = slot != NULL && slot->chain->at_tick + HL_HEARTBEAT_TICKS <= lane->ticks &&
                way->heartbeat_tick + HL_HEARTBEAT_TICKS <= lane->ticks;
    if (!late || (way->heartbeat_addr == 0 && way->heartbeat_key == 0)) {
        return;
    }
    way->heartbeat_tick = lane->ticks;
    uint64_t done = hl_a64_load_relaxed(&way->done); /* relaxed: written by the leaseholder only. */
    if (way->heartbeat_seq > done) {                 /* one read at a time: slots are scarce */
        if (has_heartbeat_come(way)) {
            hl_rx_has_answered(way->peer);
            /* the peer lives: perhaps the message or its acknowledgement was lost */
            (void)hl_lane_ping(lane, way);
        } else {
            hl_rx_is_silent(way->peer, hl_now_ns() - way->heartbeat_ns);
        }
        return;
    }
    if (way->heartbeat_seq != 0) {
        hl_rx_has_answered(way->peer);
    }
    int rc = hl_lane_read_heartbeat(lane, way);
    if (rc < 0) {
        judge_failure(lane, way, rc);
    } else if (rc == 0) {
        way->heartbeat_seq = way->last->way_seq;
        way->heartbeat_ns = hl_now_ns();
    }
}

/* What a tick does for one lane: sends old chains, probes silent peers, reads the queue. True while something
 * is open on the lane. */
static bool look_after(struct hl_lane *lane) HL_REQUIRES(lane->lease)
{
    if (++lane->ticks >= 2 && lane->open != NULL) {
        send_picked(lane, &(struct pick){.before = UINT64_MAX, .tick = lane->ticks - 2});
    }
    /* relaxed: written by the holder only. */
    const struct hl_way_table *t = lane->unacked > 0 ? hl_aptr_load_relaxed(&lane->ways) : NULL;
    for (uint32_t i = 0; t != NULL && i < t->room; i++) {
        struct hl_way *way = hl_aptr_load_relaxed(&t->at[i].way); /* relaxed: written by the holder only. */
        if (way != NULL && way->unacked > 0) {
            check_heartbeat(lane, way);
        }
    }
    /* relaxed, all: written by the leaseholder only. */
    bool busy = hl_a64_load_relaxed(&lane->issued) != hl_a64_load_relaxed(&lane->tail);
    if (busy || lane->unacked > 0) {
        (void)hl_lane_progress(lane);
        busy = hl_a64_load_relaxed(&lane->issued) != hl_a64_load_relaxed(&lane->tail);
    }
    return busy;
}

bool hl_pool_tick(struct hl_lane_pool *p)
{
    bool busy = false;
    /* acquire: the lanes; pairs with the full or in hl_lane_make_ready. */
    for (uint64_t rest = hl_a64_load_acquire(&p->opened); rest != 0; rest &= rest - 1) {
        struct hl_lane *lane = p->head.lanes[__builtin_ctzll(rest)];
        if (!hl_lease_try_any(&lane->lease)) {
            busy = true;
            continue;
        }
        busy |= look_after(lane);
        hl_lane_leave(lane);
    }
    return busy;
}

/* ---- ends ---- */

void hl_chain_refuse(struct hl_lane *lane, struct hl_chain *chain, uint32_t record, int err)
{
    hl_a32 *word = hl_chain_error_of(chain, record);
    hl_stat_lane_add(&lane->stat, HL_STAT_LANE_errors, 1);
    if (word != NULL) {
        hl_lane_error_keep(word, err);
    }
}

void hl_chain_finish(struct hl_lane *lane, struct hl_chain *chain, int err)
{
    for (uint32_t i = 0; i < chain->error_count && err != 0; i++) {
        hl_lane_error_keep(chain->errors[i].word, err);
    }
    for (uint32_t i = 0; i < chain->head.ask_count; i++) {
        const struct hl_ask *ask = &chain->asks[i];
        int rc = err != 0 ? err : ask->answered ? ask->err : HL_ERR_OTHER;
        if (err == 0 && !ask->answered) {
            hl_chain_refuse(lane, chain, ask->record, rc);
        }
        if (ask->req != NULL) {
            (void)hl_req_part_done(ask->req, rc);
        }
    }
    chain->head.ask_count = chain->error_count = 0;
}

void hl_chain_fail(struct hl_lane *lane, struct hl_way *way, int err)
{
    struct hl_chain *chain = way->chain;
    if (chain != NULL) {
        struct hl_lane_slot *slot = chain->slot;
        close_chain(lane, chain);
        hl_lane_slot_close(lane, slot, HL_PART_CHAIN, err);
        if (slot->open != 0) { /* the read that tries its way has not come back */
            hl_lane_slot_quarantine(lane, slot);
        }
        hl_lane_slot_advance(lane); /* no completion comes for it */
    }
}
