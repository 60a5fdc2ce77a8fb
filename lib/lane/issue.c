/* Issuing an operation when the preferred lane is taken or refuses it: trying other lanes, queueing, fetching
 * the peer's card. */
#include "lane_internal.h"

#include "err.h"
#include "thread.h"

/* A thread takes so many looks before it queues: if it queued earlier, the lane would change hands with each
 * operation. */
#define QUEUE_AFTER 8u
#define BORROWER (UINT32_MAX - 1)

__thread uint32_t hl_lane_preferred = UINT32_MAX; /* BORROWER: the thread borrows a lane */
static __thread struct {
    uint32_t own;    /* the lane that is being opened for the thread */
    uint32_t lender; /* the lane that it uses meanwhile */
} borrower;

/* An issuer that could not post at its first try. */
struct pursuit {
    struct hl_lane_pool *pool;
    struct hl_issue *op;
    uint32_t lane_index; /* lane to try next */
    uint32_t taken;      /* tries in a row that found the lease taken */
    uint32_t id;         /* my id when it is in `wanted` of that lane, else 0 */
    bool over;           /* issued, or failed with rc */
    int rc;
    struct pursuit *outer; /* this thread's pursuit that polls now; what it polls needs a lane, too */
};

static __thread struct pursuit *innermost;

static __thread uint32_t thread_id;
static hl_a32 thread_ids;

static uint32_t my_id(void)
{
    if (thread_id == 0) {
        /* relaxed: no other thread gets the same number. */
        thread_id = hl_a32_add_relaxed(&thread_ids, 1) + 1;
    }
    return thread_id;
}

/* The next lane in turn that is open and shared; `at` when there is no other. */
static uint32_t next_lane(struct hl_lane_pool *p, uint32_t at)
{
    /* acquire, both: pair with the full or in hl_lane_make_ready and the full and in open_wished_lanes
     * (open_async.c); a lane that opens meanwhile is found the next time. relaxed: a guess, the lease is
     * certain. */
    uint64_t open =
        hl_a64_load_acquire(&p->opened) & ~hl_a64_load_acquire(&p->opening) & ~hl_a64_load_relaxed(&p->owned);
    for (uint32_t i = 1; i <= hl_pool_count(p); i++) {
        uint32_t lane = (at + i) % hl_pool_count(p);
        if (open >> lane & 1) {
            return lane;
        }
    }
    return at;
}

/* Acts on the status of a try; true when that ends the pursuit. */
static bool judge_try(struct pursuit *s, int status)
{
    s->taken = 0;
    switch (status) {
    case HL_LANE_NEED_CARD:
        s->op->card = hl_rx_card_of(s->op->peer, &s->rc);
        return s->rc != 0;
    case HL_LANE_ELSEWHERE:
        s->lane_index = s->op->ordered ? s->lane_index : next_lane(s->pool, s->lane_index);
        return false;
    case HL_LANE_STAY:
        return false;
    case HL_LANE_AS_RECORDS:
        s->rc = status;
        return true;
    case HL_LANE_BROKEN:
        if (s->lane_index == 0) {
            s->rc = hl_err_say(HL_ERR_OTHER, "%s", hl_err_text(HL_ERR_OTHER));
            return true;
        }
        s->lane_index = 0; /* lane 0 replaces lanes that do not open */
        return false;
    default:
        s->rc = status;
        return true;
    }
}

/* Called when a lease was taken: chooses another lane; or, after two rounds and some looks, queues. */
static void found_taken(struct pursuit *s)
{
    hl_lane_stand_back(s->taken++);
    if ((s->taken >= QUEUE_AFTER || hl_prog_crowded()) &&
        (s->taken >= 2 * hl_pool_count(s->pool) || s->op->ordered)) {
        if (hl_lease_want(&s->pool->head.lanes[s->lane_index]->lease, my_id())) {
            s->id = my_id();
            hl_stat_rank_add(HL_STAT_RANK_lease_waits, 1);
            return;
        }
    }
    s->lane_index = s->op->ordered ? s->lane_index : next_lane(s->pool, s->lane_index);
}

/* Gives up the place in the queue: no other thread enters before the thread in `wanted`, and this one cannot
 * enter while a pursuit inside it waits. */
static void leave_queue(struct pursuit *s)
{
    if (s->id != 0) {
        hl_lease_unwant(&s->pool->head.lanes[s->lane_index]->lease);
        s->id = 0;
        s->taken = 0;
    }
}

/* Posts after the lane was entered. `waited`: the tries before this one found leases taken. */
static int post_again(struct hl_lane *lane, const struct hl_issue *op, bool waited) HL_REQUIRES(lane->lease)
{
    if (waited) {
        hl_stat_lane_add(&lane->stat, HL_STAT_LANE_leases_contended, 1);
    }
    return hl_lane_post(lane, op);
}

/* Tries to enter. Ordered operations go to their lane even if it has an owner; then flushes must know it. */
static bool enter_lane(const struct pursuit *s, struct hl_lane *lane)
    HL_TRY_ACQUIRE(true, lane->lease) HL_NO_TSA
{
    if (!s->op->ordered) {
        return hl_lease_try(&lane->lease);
    }
    if (!hl_lease_try_any(&lane->lease)) {
        return false;
    }
    if (!s->op->named && hl_lease_is_owned(&lane->lease)) {
        /* full: rare; before the post. Pairs with the acquire in hl_lane_flush_on. */
        hl_a64_and_full(&s->pool->apart, ~(UINT64_C(1) << lane->index));
    }
    return true;
}

/* Tries once. True when the operation is issued or has failed, also when called again after that. */
static bool is_issue_over(void *arg)
{
    struct pursuit *s = arg;
    if (s->over) {
        return true;
    }
    struct hl_lane *lane = s->pool->head.lanes[s->lane_index];
    int status;
    if (s->id != 0) {
        if (!hl_lease_try_wanted(&lane->lease)) {
            return false;
        }
        hl_lease_unwant(&lane->lease);
        s->id = 0;
        status = post_again(lane, s->op, true);
        hl_lane_leave(lane);
        return s->over = judge_try(s, status);
    }
    if (!enter_lane(s, lane)) {
        found_taken(s);
        return false;
    }
    status = post_again(lane, s->op, s->taken > 0);
    hl_lane_leave(lane);
    return s->over = judge_try(s, status);
}

static void describe_pursuit(const void *arg, struct hl_wait_desc *t)
{
    const struct pursuit *s = arg;
    hl_desc_say(t, "a lane that takes an operation; lane %u was tried last", s->lane_index);
    hl_desc_await(t, s->op->peer);
}
HL_HANG_WORDS(is_issue_over, describe_pursuit);

int hl_lane_issue_slow(struct hl_lane_pool *p, struct hl_issue *op, int status)
{
    if (status < 0) {
        return status;
    }
    struct pursuit s = {.pool = p, .op = op, .lane_index = op->lane_index, .outer = innermost};
    if (hl_pool_count(p) == 0) {
        return hl_err_say(HL_ERR_OTHER, "the network is not open in this process");
    }
    if (status != 0 && judge_try(&s, status)) {
        return s.rc;
    }
    if (status == 0) {
        found_taken(&s);
    }
    if (s.outer != NULL) {
        leave_queue(s.outer);
    }
    innermost = &s;
    hl_prog_wait(is_issue_over, &s);
    innermost = s.outer;
    if (op->card != NULL) {
        hl_rx_cloexec(); /* the provider has connected */
    }
    if (s.rc == 0 && !op->ordered) {
        *(hl_lane_preferred == BORROWER ? &borrower.lender : &hl_lane_preferred) = s.lane_index;
    }
    return s.rc;
}

/* Chooses the lane that a thread with lane `own` begins on: that lane, or a borrowed one while it is not
 * open. */
static uint32_t settle_own_lane(struct hl_lane_pool *p, uint32_t own, int peer)
{
    hl_thread_look_at_stack();
    /* relaxed: a guess; lane 0 is never owned. */
    while ((hl_a64_load_relaxed(&p->owned) >> own & 1) != 0) {
        own = (own + 1) % hl_pool_count(p);
    }
    uint64_t bit = UINT64_C(1) << own;
    uint32_t lender = next_lane(p, own);
    hl_lane_preferred = own;
    /* acquire, both: pair with the full read-modify-writes in open_wished_lanes (open_async.c) and
     * hl_lane_make_ready. */
    bool opening = (hl_a64_load_acquire(&p->opening) & bit) != 0;
    if (lender == own || (!opening && (hl_a64_load_acquire(&p->opened) & bit) != 0)) {
        return own;
    }
    /* full: of the threads that want the lane, one asks. */
    opening = opening || (hl_a64_or_full(&p->opening, bit) & bit) != 0;
    if (!opening && !hl_lane_open_async(p, own, peer)) {
        hl_a64_and_full(&p->opening, ~bit); /* full: rare; pairs with the acquires of `opening` */
        return own;
    }
    hl_lane_preferred = BORROWER;
    borrower.own = own;
    borrower.lender = lender;
    return lender;
}

uint32_t hl_lane_assign(struct hl_lane_pool *p, int peer)
{
    if (hl_pool_count(p) == 0) {
        return HL_LANES_MAX;
    }
    if (hl_lane_preferred != BORROWER || borrower.own >= hl_pool_count(p) ||
        borrower.lender >= hl_pool_count(p)) {
        /* relaxed: spreads threads over lanes, orders nothing. */
        return settle_own_lane(p, hl_a32_add_relaxed(&p->next, 1) % hl_pool_count(p), peer);
    }
    /* acquire: pairs with the full and in open_wished_lanes (open_async.c). */
    if ((hl_a64_load_acquire(&p->opening) >> borrower.own & 1) != 0) {
        return borrower.lender;
    }
    return hl_lane_preferred = borrower.own;
}
