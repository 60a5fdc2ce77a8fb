/* Lanes that belong to one owner, who names them in each call: other threads no longer choose them.
 *
 *   shared --claim: a bit of `owned`--> claimed --`wanted` free--> owned: others leave, their tries fail
 *     --opened, flushed--> apart: nothing but the owner's operations is open --an ordered one comes--> owned
 *
 * `wanted` holds HL_LEASE_OWNED meanwhile, so that a thread which prefers the lane fails at the look that it
 * takes anyway: owners cost other threads nothing. */
#include "lane_internal.h"

/* A lane that is about to be owned, or given back. */
struct lane_claim {
    struct hl_lane *lane;
    bool owned; /* `wanted` holds HL_LEASE_OWNED: no thread waits there any more, or can */
    bool over;
    int rc;
};

static uint64_t bit_of(const struct hl_lane *lane)
{
    return UINT64_C(1) << lane->index;
}

/* Claims the highest lane below `below` that can be owned, and that nobody owns or opens; or NULL. New
 * threads begin at the low end, and lane 0 serves threads whose lanes do not open. */
static struct hl_lane *claim_lane(uint32_t below)
{
    /* relaxed: the lane's lease decides. acquire: what the helper did; pairs with the full and in
     * open_wished_lanes (open_async.c). */
    uint64_t owned = hl_a64_load_relaxed(&hl_pool.owned), opening = hl_a64_load_acquire(&hl_pool.opening);
    for (uint32_t i = below; i-- > 0 && hl_lane_is_ownable(&hl_pool, i);) {
        uint64_t bit = UINT64_C(1) << i;
        while (((owned | opening) & bit) == 0) {
            if (hl_a64_cas_full(&hl_pool.owned, &owned, owned | bit)) { /* full: rare. */
                return hl_pool.head.lanes[i];
            }
        }
    }
    return NULL;
}

/* Tries once to enter as the owner, and to open the lane. True: that is over, with its result in `rc`. */
static bool enter_as_owner(void *arg)
{
    struct lane_claim *c = arg;
    struct hl_lane *lane = c->lane;
    c->owned = c->owned || hl_lease_want(&lane->lease, HL_LEASE_OWNED);
    if (c->owned && !c->over && hl_lease_try_owned(&lane->lease)) {
        c->rc = lane->ep != NULL ? 0 : hl_lane_make_ready(lane);
        c->over = true;
        hl_lane_leave(lane);
    }
    return c->over;
}

/* Marks the lane as apart if nothing is open there: operations whose order binds them to this lane may have
 * come since the flush. True: done. */
static bool set_apart(void *arg)
{
    struct lane_claim *c = arg;
    struct hl_lane *lane = c->lane;
    if (!c->over && hl_lease_try_owned(&lane->lease)) {
        /* relaxed: both are written by the leaseholder only. */
        if (hl_a64_load_relaxed(&lane->issued) == hl_a64_load_relaxed(&lane->tail)) {
            /* full: rare; comes after the others' operations. Pairs with the acquire in hl_lane_flush_on. */
            hl_a64_or_full(&lane->pool->apart, bit_of(lane));
        }
        c->over = true;
        hl_lane_leave(lane);
    }
    return c->over;
}

/* Gives the lane back under its lease, so that a thread that enters next sees that it is not apart. True:
 * done. */
static bool let_go_lane(void *arg)
{
    struct lane_claim *c = arg;
    struct hl_lane *lane = c->lane;
    if (!c->over && hl_lease_try_owned(&lane->lease)) {
        /* full: rare. Pairs with the acquire in hl_lane_flush_on. */
        hl_a64_and_full(&lane->pool->apart, ~bit_of(lane));
        hl_lease_unwant(&lane->lease);
        c->over = true;
        hl_lane_leave(lane);
    }
    return c->over;
}

static void describe_claim(const void *arg, struct hl_wait_desc *t)
{
    hl_desc_say(t, "lane %u, for a context of its own", ((const struct lane_claim *)arg)->lane->index);
}
HL_HANG_WORDS(enter_as_owner, describe_claim);
HL_HANG_WORDS(set_apart, describe_claim);
HL_HANG_WORDS(let_go_lane, describe_claim);

struct hl_lane *hl_lane_own(void)
{
    struct lane_claim c = {.lane = NULL};
    for (uint32_t below = hl_pool_count(&hl_pool); (c.lane = claim_lane(below)) != NULL;
         below = c.lane->index) {
        c.owned = c.over = false;
        hl_prog_wait(enter_as_owner, &c);
        if (c.rc == 0) {
            hl_lane_flush_on(c.lane, -1, HL_REMOTE);
            c.over = false;
            hl_prog_wait(set_apart, &c);
            return c.lane;
        }
        hl_lane_disown(c.lane);
    }
    return NULL;
}

void hl_lane_disown(struct hl_lane *lane)
{
    struct lane_claim c = {.lane = lane};
    if (hl_pool_count(&hl_pool) != 0) { /* else it is closed, and shared */
        hl_prog_wait(let_go_lane, &c);
        hl_a64_and_full(&hl_pool.owned, ~bit_of(lane)); /* full: rare. */
    }
}
