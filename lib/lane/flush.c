/* Flush: waits for what was issued before, never for what is issued meanwhile.
 *
 * The number of operations issued is read once, on entry, for each lane that has its bit set for the target;
 * done passes an operation only when its own completion was read, so done >= that number means that all of
 * them have ended. The thread polls lanes itself by try-lock; it never holds one while it waits. */
#include "inner.h"

struct goal {
    struct hl_lane *lane;
    const hl_a64 *progress; /* the way's done, or the lane's tail */
    uint64_t until;
};

struct waiting {
    struct goal goals[HL_LANES_MAX];
    uint32_t count;
};

static bool reached(const struct goal *g)
{
    /* acquire: results and error words; pairs with the release in slot.c. */
    return hl_a64_load_acquire(g->progress) >= g->until;
}

static void poll_lane(struct hl_lane *lane)
{
    if (hl_lease_try(&lane->lease)) {
        (void)hl_lane_progress(lane);
        hl_lane_leave(lane);
    }
}

static bool all_reached(void *arg)
{
    struct waiting *w = arg;
    for (uint32_t i = w->count; i-- > 0;) {
        if (!reached(&w->goals[i])) {
            poll_lane(w->goals[i].lane);
            if (!reached(&w->goals[i])) {
                continue;
            }
        }
        w->goals[i] = w->goals[--w->count];
    }
    return w->count == 0;
}

static void wait_for(struct waiting *w)
{
    if (w->count > 0 && !all_reached(w)) {
        hl_stat_rank_add(HL_STAT_RANK_flush_waits, 1);
        hl_prog_wait(all_reached, w);
    }
}

/* A lane whose ways were idle for long: takes their bits back, now and then. */
static void sweep_if_due(struct hl_lane *lane)
{
    if (hl_lease_try(&lane->lease)) {
        uint64_t leases = hl_a64_load_relaxed(&lane->stat.at[HL_STAT_LANE_leases]); /* relaxed: mine now. */
        if (leases - lane->swept > HL_IDLE_LEASES) {
            hl_way_sweep(lane);
        }
        hl_lane_leave(lane);
    }
}

int hl_pool_flush(struct hl_pool *p, int peer)
{
    if (HL_UNLIKELY(p->count == 0)) {
        return 0;
    }
    struct waiting w;
    w.count = 0;
    /* acquire: a bit taken back means that all of that way has ended; pairs with the full and in
     * hl_way_sweep. */
    uint64_t bits = hl_a64_load_acquire(&p->used[peer]);
    for (uint64_t rest = bits; rest != 0; rest &= rest - 1) {
        struct hl_lane *lane = p->lanes[__builtin_ctzll(rest)];
        const struct hl_way *way = hl_way_find(lane, peer);
        if (way == NULL) {
            continue;
        }
        /* acquire: pairs with the release in commit. */
        struct goal g = {lane, &way->done, hl_a64_load_acquire(&way->issued)};
        if (!reached(&g)) {
            w.goals[w.count++] = g;
        }
    }
    if (w.count > 0) {
        wait_for(&w);
    } else if (HL_UNLIKELY((bits & (bits - 1)) != 0)) {
        sweep_if_due(p->lanes[__builtin_ctzll(bits)]); /* several bits and nothing open: some are stale */
    }
    return 0;
}

int hl_pool_flush_all(struct hl_pool *p)
{
    struct waiting w;
    w.count = 0;
    /* acquire: the lanes; pairs with the full or in hl_lane_make_ready. */
    for (uint64_t rest = hl_a64_load_acquire(&p->opened); rest != 0; rest &= rest - 1) {
        struct hl_lane *lane = p->lanes[__builtin_ctzll(rest)];
        /* acquire: pairs with the release in commit. */
        struct goal g = {lane, &lane->tail, hl_a64_load_acquire(&lane->issued)};
        if (!reached(&g)) {
            w.goals[w.count++] = g;
        } else {
            sweep_if_due(lane);
        }
    }
    wait_for(&w);
    return 0;
}
