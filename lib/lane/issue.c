/* Issuing when the preferred lane is taken or refuses: other lanes, a place in a queue, the peer's card. */
#include "inner.h"

#include "err.h"

__thread uint32_t hl_lane_preferred = UINT32_MAX;
__thread struct hl_lane_last hl_lane_last = {.target = -1};

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
    if (op->card != NULL) {
        hl_rx_seal(); /* a way was made */
    }
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
