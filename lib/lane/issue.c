/* Issuing: a slot, a way, a post; and what to do when a lane cannot take it now. */
#include "inner.h"

#include "conf.h"
#include "err.h"
#include "log.h"
#include "util.h"

__thread uint32_t hl_lane_preferred = UINT32_MAX;

/* ---- one post under the lease ---- */

/* A free slot, or NULL. Polls once when the ring is full. */
static struct hl_slot *take_slot(struct hl_lane *lane) HL_REQUIRES(lane->lease)
{
    for (;;) {
        /* relaxed: both are written by the leaseholder only. */
        uint64_t number = hl_a64_load_relaxed(&lane->issued);
        if (HL_UNLIKELY(number - hl_a64_load_relaxed(&lane->tail) >= HL_SLOTS)) {
            if (hl_lane_progress(lane) == 0 || number - hl_a64_load_relaxed(&lane->tail) >= HL_SLOTS) {
                return NULL;
            }
        }
        struct hl_slot *slot = &lane->slots[number % HL_SLOTS];
        if (HL_LIKELY(!slot->quarantined)) {
            slot->number = number;
            return slot;
        }
        /* The provider has not given it back: pass over it. A full lap of such slots is a full ring. */
        hl_a64_store_release(&lane->issued, number + 1); /* release: pairs with hl_pool_flush_all. */
        hl_slot_advance(lane);
        if (hl_a64_load_relaxed(&lane->issued) % HL_SLOTS == 0 && hl_lane_progress(lane) == 0) {
            return NULL;
        }
    }
}

static ssize_t post_transfer(struct hl_lane *lane, const struct hl_way *way, struct hl_slot *slot,
                             const struct hl_issue *op) HL_REQUIRES(lane->lease)
{
    struct iovec iov = {op->buf, op->len};
    struct fi_rma_iov rma = {op->addr, op->len, op->key};
    struct fi_msg_rma msg = {.msg_iov = &iov,
                             .iov_count = 1,
                             .addr = way->addr,
                             .rma_iov = &rma,
                             .rma_iov_count = 1,
                             .context = &slot->context};
    slot->open = HL_PART_POST;
    if (op->what == HL_ISSUE_READ) {
        return fi_readmsg(lane->ep, &msg, FI_COMPLETION);
    }
    return fi_writemsg(lane->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

static ssize_t post_atomic(struct hl_lane *lane, const struct hl_way *way, struct hl_slot *slot,
                           const struct hl_issue *op) HL_REQUIRES(lane->lease)
{
    const struct hl_lane_atomic *a = op->atomic;
    struct fi_ioc iov = {op->buf != NULL ? op->buf : op->result, op->len};
    struct fi_ioc result = {op->result, op->len};
    struct fi_ioc compare = {(void *)(uintptr_t)a->compare, op->len};
    struct fi_rma_ioc rma = {op->addr, op->len, op->key};
    struct fi_msg_atomic msg = {.msg_iov = &iov,
                                .iov_count = 1,
                                .addr = way->addr,
                                .rma_iov = &rma,
                                .rma_iov_count = 1,
                                .datatype = (enum fi_datatype)hl_fab_datatype(a->basic),
                                .op = (enum fi_op)hl_fab_op(a->op, a->compare != NULL),
                                .context = &slot->context};
    slot->open = HL_PART_POST;
    if (a->compare != NULL) {
        return fi_compare_atomicmsg(lane->ep, &msg, &compare, NULL, 1, &result, NULL, 1, FI_COMPLETION);
    }
    if (op->result != NULL) {
        return fi_fetch_atomicmsg(lane->ep, &msg, &result, NULL, 1, FI_COMPLETION);
    }
    return fi_atomicmsg(lane->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

/* 0, a verdict, or a (negative) code of the provider. */
static int post_by_kind(struct hl_lane *lane, struct hl_way *way, struct hl_slot *slot,
                        const struct hl_issue *op) HL_REQUIRES(lane->lease)
{
    switch (op->what) {
    case HL_ISSUE_ATOMIC:
        return (int)post_atomic(lane, way, slot, op);
    case HL_ISSUE_MESSAGE:
        return hl_mail_post(lane, way, slot, op->message);
    default:
        return (int)post_transfer(lane, way, slot, op);
    }
}

static void count(struct hl_lane *lane, const struct hl_issue *op) HL_REQUIRES(lane->lease)
{
    switch (op->what) {
    case HL_ISSUE_WRITE:
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_writes, 1);
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_bytes_written, op->len);
        break;
    case HL_ISSUE_READ:
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_reads, 1);
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_bytes_read, op->len);
        break;
    case HL_ISSUE_ATOMIC:
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_atomics, 1);
        break;
    case HL_ISSUE_MESSAGE:
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_messages, 1);
        break;
    }
}

/* The post went out: the slot takes its place in ring and way. */
static void commit(struct hl_lane *lane, struct hl_way *way, struct hl_slot *slot, const struct hl_issue *op)
    HL_REQUIRES(lane->lease)
{
    slot->way = way;
    slot->next = NULL;
    slot->error = op->error;
    slot->req = op->req;
    slot->err = 0;
    slot->way_seq = hl_a64_load_relaxed(&way->issued) + 1; /* relaxed: written by the leaseholder only. */
    if (way->first == NULL) {
        way->first = slot;
    } else {
        way->last->next = slot;
    }
    way->last = slot;
    way->refused_ns = 0;
    way->touched = hl_a64_load_relaxed(&lane->stat.at[HL_STAT_LANE_leases]); /* relaxed: the same. */
    /* release: pairs with the acquire in the flushes: what they see issued has its slot in place. */
    hl_a64_store_release(&way->issued, slot->way_seq);
    hl_a64_store_release(&lane->issued, slot->number + 1);
    count(lane, op);
}

/* The provider takes nothing for this way at the moment. */
static int refused(struct hl_lane *lane, struct hl_way *way) HL_REQUIRES(lane->lease)
{
    hl_stat_lane_add(&lane->stat, HL_STAT_LANE_again, 1);
    (void)hl_lane_progress(lane);
    uint64_t now = hl_now_ns();
    uint64_t done = hl_a64_load_relaxed(&way->done); /* relaxed: written by the leaseholder only. */
    if (way->refused_ns == 0 || done != way->done_at_refuse) {
        way->refused_ns = now;
        way->done_at_refuse = done;
    } else if (now - way->refused_ns > (uint64_t)hl_conf.unreachable * 1000000000u) {
        return hl_err_say(HL_ERR_PROC_ABORTED,
                          "rank %d takes nothing for %lld s: unreachable (dead, or out of descriptors)",
                          way->peer, (long long)hl_conf.unreachable);
    }
    /* Before the first post it is the connection that is being made: other lanes would make theirs too. */
    return hl_a64_load_relaxed(&way->issued) == 0 ? HL_LANE_STAY : HL_LANE_ELSEWHERE; /* relaxed: the same. */
}

static int failed(struct hl_lane *lane, struct hl_way *way, int rc) HL_REQUIRES(lane->lease)
{
    if (rc > 0) {
        return rc; /* a verdict */
    }
    if (rc == -FI_EAGAIN) {
        return refused(lane, way);
    }
    return hl_err_say(HL_ERR_OTHER, "the provider refuses an operation to rank %d: %s", way->peer,
                      hl_fab_strerror(rc));
}

/* The way when it is not the one used last: found, made, or a verdict. */
static struct hl_way *other_way(struct hl_lane *lane, const struct hl_issue *op, int *rc)
    HL_REQUIRES(lane->lease)
{
    if (lane->ep == NULL) {
        *rc = hl_lane_make_ready(lane);
        if (*rc != 0) {
            return NULL;
        }
    }
    struct hl_way *way = hl_way_find(lane, op->peer);
    if (way == NULL && op->card == NULL) {
        *rc = HL_LANE_NEED_CARD;
        return NULL;
    }
    if (way == NULL) {
        way = hl_way_make(lane, op->peer, op->card, rc);
    }
    if (way != NULL) {
        lane->recent = way;
    }
    return way;
}

/* A target's rxm (libfabric 1.17) that has not noticed yet that a connection stands applies an atomic twice:
 * its answer cannot leave, so it takes the request up again. An acknowledged message proves that answers do
 * leave; a way's first atomic waits for one. True: the atomic may go. */
static bool is_greeted(struct hl_way *way)
{
    way->greeted = way->greeted || (way->messages > 0 && way->unacked == 0);
    return way->greeted;
}

static int greet(struct hl_lane *lane, struct hl_way *way, struct hl_slot *slot) HL_REQUIRES(lane->lease)
{
    if (way->messages != 0) {
        (void)hl_lane_progress(lane);
        return HL_LANE_STAY;
    }
    struct hl_wire_rec rec = {.op = HL_WIRE_GREET};
    struct hl_lane_message message = {.peer = way->peer, .rec = &rec, .error = &way->greeting};
    struct hl_issue op = {
        .what = HL_ISSUE_MESSAGE, .peer = way->peer, .error = &way->greeting, .message = &message};
    int rc = hl_mail_post(lane, way, slot, &message);
    if (rc == 0) {
        commit(lane, way, slot, &op);
        return HL_LANE_STAY;
    }
    slot->open = 0;
    return failed(lane, way, rc);
}

int hl_lane_post(struct hl_lane *lane, const struct hl_issue *op)
{
    hl_stat_lane_add(&lane->stat, HL_STAT_LANE_leases, 1);
    struct hl_way *way = lane->recent;
    if (HL_UNLIKELY(way == NULL || way->peer != op->peer)) {
        int rc = 0;
        way = other_way(lane, op, &rc);
        if (way == NULL) {
            return rc;
        }
    }
    if (HL_UNLIKELY(way->dead)) {
        return hl_err_say(HL_ERR_PROC_ABORTED, "rank %d has ended", op->peer);
    }
    if (HL_UNLIKELY(!way->marked)) {
        hl_way_mark(lane, way);
    }
    struct hl_slot *slot = take_slot(lane);
    if (HL_UNLIKELY(slot == NULL)) {
        return HL_LANE_ELSEWHERE;
    }
    if (HL_UNLIKELY(op->what == HL_ISSUE_ATOMIC && !is_greeted(way))) {
        return greet(lane, way, slot);
    }
    int rc = post_by_kind(lane, way, slot, op);
    if (HL_LIKELY(rc == 0)) {
        commit(lane, way, slot, op);
        return 0;
    }
    slot->open = 0;
    return failed(lane, way, rc);
}

/* ---- waiting for a lane ---- */

/* An issuer that could not post at its first try. */
struct pursuit {
    struct hl_pool *pool;
    struct hl_issue *op;
    uint32_t at;    /* lane to try next */
    uint32_t taken; /* tries in a row that found the lease taken */
    uint32_t id;    /* my id when it is in `wanted` of lane `at`, else 0 */
    bool over;      /* issued, or failed with rc */
    int rc;
};

static __thread uint32_t thread_id;
static hl_a32 thread_ids;

static uint32_t my_id(void)
{
    if (thread_id == 0) {
        /* relaxed: a number nobody else has. */
        thread_id = hl_a32_add_relaxed(&thread_ids, 1) + 1;
    }
    return thread_id;
}

/* The next lane in turn that is open; the present one when there is no other. */
static uint32_t next_lane(const struct pursuit *s)
{
    /* relaxed: a lane that opens meanwhile is found the next time. */
    uint64_t opened = hl_a64_load_relaxed(&s->pool->opened);
    for (uint32_t i = 1; i <= s->pool->count; i++) {
        uint32_t lane = (s->at + i) % s->pool->count;
        if (opened >> lane & 1) {
            return lane;
        }
    }
    return s->at;
}

static int fetch_card(struct hl_issue *op)
{
    const void *data;
    size_t len;
    int rc = hl_fab_card_get(op->peer, HL_FAB_PART_RX, &data, &len);
    if (rc == 0 && len == sizeof(struct hl_rx_card)) {
        op->card = data;
        return 0;
    }
    return rc != 0 ? rc : hl_err_say(HL_ERR_OTHER, "rank %d publishes a malformed card", op->peer);
}

/* What a try said: true when that ends the pursuit. */
static bool judge(struct pursuit *s, int verdict)
{
    s->taken = 0;
    switch (verdict) {
    case HL_LANE_NEED_CARD:
        s->rc = fetch_card(s->op);
        return s->rc != 0;
    case HL_LANE_ELSEWHERE:
        s->at = s->op->ordered ? s->at : next_lane(s);
        return false;
    case HL_LANE_STAY:
        return false;
    case HL_LANE_BROKEN:
        if (s->at == 0) {
            s->rc = hl_err_say(HL_ERR_OTHER, "%s", hl_err_text(HL_ERR_OTHER));
            return true;
        }
        s->at = 0; /* lane 0 serves for those that do not open */
        return false;
    default:
        s->rc = verdict;
        return true;
    }
}

/* The lease was taken: another lane, or after two rounds a place in the queue. */
static void found_taken(struct pursuit *s)
{
    s->taken++;
    if (s->taken >= 2 * s->pool->count || s->op->ordered) {
        if (hl_lease_want(&s->pool->lanes[s->at]->lease, my_id())) {
            s->id = my_id();
            hl_stat_rank_add(HL_STAT_RANK_lease_waits, 1);
            return;
        }
    }
    s->at = s->op->ordered ? s->at : next_lane(s);
}

static int post_contended(struct hl_lane *lane, const struct hl_issue *op) HL_REQUIRES(lane->lease)
{
    hl_stat_lane_add(&lane->stat, HL_STAT_LANE_leases_contended, 1);
    return hl_lane_post(lane, op);
}

/* One try; true when the operation is issued or failed (also when asked again afterwards). */
static bool pursue(void *arg)
{
    struct pursuit *s = arg;
    if (s->over) {
        return true;
    }
    struct hl_lane *lane = s->pool->lanes[s->at];
    int verdict;
    if (s->id != 0) {
        if (!hl_lease_try_wanted(&lane->lease)) {
            return false;
        }
        hl_lease_unwant(&lane->lease);
        s->id = 0;
        verdict = post_contended(lane, s->op);
        hl_lane_leave(lane);
        return s->over = judge(s, verdict);
    }
    if (!hl_lease_try(&lane->lease)) {
        found_taken(s);
        return false;
    }
    verdict = post_contended(lane, s->op);
    hl_lane_leave(lane);
    return s->over = judge(s, verdict);
}

int hl_lane_issue_slow(struct hl_pool *p, struct hl_issue *op, int verdict)
{
    if (verdict < 0) {
        return verdict;
    }
    struct pursuit s = {.pool = p, .op = op, .at = op->at};
    if (p->count == 0) {
        return hl_err_say(HL_ERR_OTHER, "the network is not open in this process");
    }
    if (verdict != 0 && judge(&s, verdict)) {
        return s.rc;
    }
    if (verdict == 0) {
        found_taken(&s);
    }
    hl_prog_wait(pursue, &s);
    if (s.rc == 0 && !op->ordered) {
        hl_lane_preferred = s.at;
    }
    return s.rc;
}

uint32_t hl_lane_assign(struct hl_pool *p)
{
    if (p->count == 0) {
        return HL_LANES_MAX;
    }
    if (hl_lane_preferred >= p->count) {
        /* relaxed: spreads threads over lanes, orders nothing. */
        hl_lane_preferred = hl_a32_add_relaxed(&p->next, 1) % p->count;
    }
    return hl_lane_preferred;
}
