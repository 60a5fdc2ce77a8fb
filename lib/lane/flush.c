/* Flush: waits for what was issued before, never for what is issued meanwhile.
 *
 * The number of operations issued is read once, on entry, for each lane that has its bit set for the target;
 * done passes an operation only when its own completion was read, so done >= that number means that all of
 * them have ended. A chain that is open has its number already, so it is covered, and whoever flushes sends
 * it. The thread polls lanes itself by try-lock; it never holds one while it waits.
 *
 * A local flush does the same with numbers of their own, which leave out chains that only copied data. */
#include "inner.h"

#include "fault.h"
struct goal {
    struct hl_lane *lane;
    struct hl_way *way; /* NULL: the whole lane */
    const hl_a64 *progress;
    uint64_t until;
};

struct waiting {
    struct goal goals[HL_LANES_MAX];
    uint32_t count;
};

static bool reached(const struct goal *g)
{
    /* acquire: results and error words; pairs with the releases in slot.c. */
    return hl_a64_load_acquire(g->progress) >= g->until;
}

/* Sends what the goal waits for and is still open, then reads the queue. */
static void push(const struct goal *g)
{
    struct hl_lane *lane = g->lane;
    if (!hl_lease_try(&lane->lease)) {
        return;
    }
    if (reached(g)) { /* meanwhile: the rest of the queue is for others to read */
        hl_lane_leave(lane);
        return;
    }
    if (g->way == NULL) {
        hl_chain_send_all(lane, g->until);
    } else if (g->way->chain != NULL && g->way->chain->slot->way_seq <= g->until) {
        (void)hl_chain_send(lane, g->way, true);
    }
    (void)hl_lane_progress(lane);
    hl_lane_leave(lane);
}

static bool all_reached(void *arg)
{
    struct waiting *w = arg;
    for (uint32_t i = w->count; i-- > 0;) {
        if (!reached(&w->goals[i])) {
            push(&w->goals[i]);
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

/* What a flush of this way waits for: all that is issued now. */
static struct goal snapshot(struct hl_lane *lane, struct hl_way *way, enum hl_lane_scope scope)
{
    bool local = scope == HL_LOCAL;
    /* acquire: pairs with the releases in hl_slot_commit and hl_slot_make_local. */
    uint64_t until = hl_a64_load_acquire(local ? &way->local_issued : &way->issued);
    return (struct goal){lane, way, local ? &way->local_done : &way->done, until};
}

int hl_pool_flush(struct hl_pool *p, int peer, enum hl_lane_scope scope)
{
    if (HL_UNLIKELY(p->count == 0)) {
        return 0;
    }
    struct waiting w;
    w.count = 0;
    /* acquire: a bit taken back means that all of that way has ended; pairs with the full and in
     * hl_way_sweep. */
    uint64_t bits = hl_a64_load_acquire(&p->used[peer]);
    bits &= HL_FAULT(flush_lane) ? bits - 1 : bits;
    for (uint64_t rest = bits; rest != 0; rest &= rest - 1) {
        struct hl_lane *lane = p->lanes[__builtin_ctzll(rest)];
        struct hl_way *way = hl_way_find(lane, peer);
        if (way == NULL) {
            continue;
        }
        struct goal g = snapshot(lane, way, scope);
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

/* Local ends are known by way only. */
static void flush_ways(struct hl_lane *lane)
{
    /* acquire: the table and its ways; pairs with the releases in way.c. */
    const struct hl_way_table *t = hl_aptr_load_acquire(&lane->ways);
    for (uint32_t i = 0; t != NULL && i < t->room; i++) {
        struct hl_way *way = hl_aptr_load_acquire(&t->at[i]);
        if (way != NULL) {
            struct waiting w = {.goals = {snapshot(lane, way, HL_LOCAL)}, .count = 1};
            wait_for(&w);
        }
    }
}

int hl_pool_flush_all(struct hl_pool *p, enum hl_lane_scope scope)
{
    struct waiting w;
    w.count = 0;
    /* acquire: the lanes; pairs with the full or in hl_lane_make_ready. */
    for (uint64_t rest = hl_a64_load_acquire(&p->opened); rest != 0; rest &= rest - 1) {
        struct hl_lane *lane = p->lanes[__builtin_ctzll(rest)];
        /* acquire: pairs with the release in hl_slot_commit. */
        struct goal g = {lane, NULL, &lane->tail, hl_a64_load_acquire(&lane->issued)};
        if (reached(&g)) {
            sweep_if_due(lane);
        } else if (scope == HL_LOCAL) {
            flush_ways(lane);
        } else {
            w.goals[w.count++] = g;
        }
    }
    wait_for(&w);
    return 0;
}
