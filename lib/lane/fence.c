/* Fence: later operations come after earlier ones at each target, mostly without a wait.
 *
 * Records of chains are applied in the order in which they were sent on a way. So where all open operations
 * travel in that stream, a fence only notes its place (hl_way.fenced): later records follow anyway, and a
 * later operation that would leave the stream waits until the way has done all before that place (post.c).
 * Open operations outside of the stream are waited for. Lanes have no order among each other: if only one
 * shared lane has operations open, later operations are bound to that lane until these have ended; if several
 * have, a fence is a flush. */
#include "lane_internal.h"

/* A scan of a lane's open operations, in the order of issue. */
struct look {
    struct hl_lane *lane;
    bool (*also_near)(int peer);
    uint64_t at, until; /* numbers of slots */
    bool over;
    struct hl_way *awaited; /* NULL: none left to wait for */
    uint64_t seq;           /* its operation number to wait for */
};

/* True for a chain that travels, or will travel, in the way's stream of messages, which the target applies in
 * order. */
static bool is_in_stream(const struct hl_lane_slot *slot)
{
    return slot->chain != NULL && (slot->open & (HL_PART_CHAIN | HL_PART_ACK)) != 0;
}

/* Scans up to the first operation that must be waited for. Ways with other operations are told to keep the
 * stream. */
static void look_on(struct look *l) HL_REQUIRES(l->lane->lease)
{
    /* relaxed: written by the leaseholder only. */
    uint64_t tail = hl_a64_load_relaxed(&l->lane->tail);
    l->awaited = NULL;
    for (l->at = l->at > tail ? l->at : tail; l->at < l->until && l->awaited == NULL; l->at++) {
        const struct hl_lane_slot *slot = &l->lane->slots[l->at % HL_LANE_SLOTS];
        struct hl_way *way = slot->way;
        if (slot->open == 0 || slot->quarantined) {
            continue;
        }
        if (is_in_stream(slot) && (l->also_near == NULL || !l->also_near(way->peer))) {
            if (slot->way_seq > way->fenced) { /* another thread's fence may have noted a later slot */
                way->fenced = slot->way_seq;
            }
            way->marked = false; /* so that the next post sees the fence; the bit itself stays */
        } else {
            l->awaited = way;
            l->seq = slot->way_seq;
        }
    }
}

static bool look_if_free(void *arg)
{
    struct look *l = arg;
    if (!l->over && hl_lease_try_any(&l->lane->lease)) {
        look_on(l);
        l->over = true;
        hl_lane_leave(l->lane);
    }
    return l->over;
}

static void describe_look(const void *arg, struct hl_wait_desc *t)
{
    hl_desc_say(t, "lane %u, which other threads hold", ((const struct look *)arg)->lane->index);
}
HL_HANG_WORDS(look_if_free, describe_look);

/* Fences one lane. Returns 0 when all operations before have ended, else the number of the first slot after
 * them. */
static uint64_t fence_lane(struct hl_lane *lane, bool (*also_near)(int peer))
{
    struct look l = {.lane = lane, .also_near = also_near};
    /* acquire: the slots; pairs with the release in hl_lane_slot_commit. */
    l.until = hl_a64_load_acquire(&l.lane->issued);
    do {
        /* acquire: results and error words; pairs with the release in hl_lane_slot_advance. */
        if (hl_a64_load_acquire(&l.lane->tail) >= l.until) {
            return 0;
        }
        l.over = false;
        hl_prog_wait(look_if_free, &l);
        if (l.awaited != NULL) {
            hl_lane_await(l.lane, l.awaited, l.seq);
        }
    } while (l.awaited != NULL);
    return l.until;
}

/* The only shared lane where operations are open. NULL when there is none, or more than one (*several is
 * true). */
static struct hl_lane *only_busy(bool *several)
{
    struct hl_lane *only = NULL;
    *several = false;
    /* acquire, both: pair with the full ors in hl_lane_make_ready and set_apart. */
    for (uint64_t rest = hl_a64_load_acquire(&hl_pool.opened) & ~hl_a64_load_acquire(&hl_pool.apart);
         rest != 0; rest &= rest - 1) {
        struct hl_lane *lane = hl_pool.head.lanes[__builtin_ctzll(rest)];
        /* acquire, both: pair with the releases in hl_lane_slot_advance and hl_lane_slot_commit. */
        if (hl_a64_load_acquire(&lane->tail) >= hl_a64_load_acquire(&lane->issued)) {
            continue;
        }
        if (only != NULL) {
            *several = true;
            return NULL;
        }
        only = lane;
    }
    return only;
}

struct hl_lane *hl_lane_bound_now(void)
{
    /* acquire, both: what was fenced; pairs with the full exchange in `bind_lane` and the release in
     * hl_lane_slot_advance. */
    uint64_t bound = hl_a64_load_acquire(&hl_pool.head.bound);
    struct hl_lane *lane = hl_pool.head.lanes[bound % 64];
    if (bound == 0 || hl_a64_load_acquire(&lane->tail) < bound / 64) {
        return bound != 0 ? lane : NULL;
    }
    /* full: rare; if it fails, a newer one is there. */
    (void)hl_a64_cas_full(&hl_pool.head.bound, &bound, 0);
    return NULL;
}

/* Makes later operations take this lane until slot `until` is done. False: they are bound to another lane
 * now. */
static bool bind_lane(const struct hl_lane *lane, uint64_t until)
{
    uint64_t bound = 0, mine = until * 64 + lane->index;
    (void)hl_lane_bound_now();
    /* full: rare; after the ways' `fenced`. Pairs with the acquire in hl_lane_bound_now. */
    while (!hl_a64_cas_full(&hl_pool.head.bound, &bound, mine)) {
        if (bound % 64 != lane->index) {
            return false;
        }
        if (bound >= mine) {
            return true;
        }
    }
    return true;
}

void hl_lane_fence(struct hl_lane *lane, bool (*also_near)(int peer))
{
    if (hl_pool_count(&hl_pool) == 0) {
        return;
    }
    if (lane != NULL || hl_pool_count(&hl_pool) == 1) {
        (void)fence_lane(lane != NULL ? lane : hl_pool.head.lanes[0], also_near);
        return;
    }
    bool several;
    lane = only_busy(&several);
    if (lane == NULL && !several) {
        return;
    }
    /* an ownable lane may be its owner's alone */
    if (lane != NULL && !hl_lane_is_ownable(&hl_pool, lane->index)) {
        uint64_t until = fence_lane(lane, also_near);
        if (until == 0 || bind_lane(lane, until)) {
            return;
        }
    }
    hl_lane_flush_on(NULL, -1, HL_REMOTE); /* lanes have no order among each other */
}
