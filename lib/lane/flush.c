/* Flush: waits for operations that were issued before, never for those that are issued meanwhile.
 *
 * The number of operations issued is read once, on entry, for each lane that has its bit set for the target.
 * `done` passes an operation only when its own completion was read, so done >= that number means that all of
 * them have ended. An open chain has its number already, so it is covered, and the thread that flushes sends
 * it. The thread polls lanes itself by try-lock; it never holds a lease while it waits.
 *
 * A local flush does the same with local_issued and local_done, which leave out chains that only copied data.
 *
 * A flush for which no thread waits keeps those numbers (hl_lane_goals) and looks at them again and again. */
#include "lane_internal.h"

#include <stdlib.h>

#include "err.h"

/* What a flush waits for: that *progress of a way, or of a whole lane, reaches `until`. */
struct goal {
    struct hl_lane *lane;
    struct hl_way *way; /* NULL: the whole lane */
    const hl_a64 *progress;
    uint64_t until;
};

struct waiting {
    struct goal *goals;
    uint32_t count;
    uint32_t taken; /* looks in a row that found all leases taken */
    bool once;      /* the caller looks once and does not wait: it does not pause either */
};

static bool is_goal_reached(const struct goal *g)
{
    /* acquire: results and error words; pairs with the releases in advance_way and hl_lane_slot_advance. */
    return hl_a64_load_acquire(g->progress) >= g->until;
}

/* Sends chains that the goal waits for, then reads the queue. False: another thread holds the lane. */
static bool push_goal(const struct goal *g)
{
    struct hl_lane *lane = g->lane;
    if (!hl_lease_try_any(&lane->lease)) {
        return false;
    }
    if (is_goal_reached(g)) { /* reached meanwhile: others read the rest of the queue */
        hl_lane_leave(lane);
        return true;
    }
    if (g->way == NULL) {
        hl_chain_send_all(lane, g->until);
    } else if (g->way->chain != NULL && g->way->chain->slot->way_seq <= g->until) {
        (void)hl_chain_send(lane, g->way, HL_CHAIN_MAY_GO_ALONE);
    }
    (void)hl_lane_progress(lane);
    hl_lane_leave(lane);
    return true;
}

static bool are_goals_reached(void *arg)
{
    struct waiting *w = arg;
    bool entered = false;
    for (uint32_t i = w->count; i-- > 0;) {
        bool ended = is_goal_reached(&w->goals[i]);
        if (!ended && push_goal(&w->goals[i])) {
            entered = true;
            ended = is_goal_reached(&w->goals[i]);
        }
        if (ended) {
            w->goals[i] = w->goals[--w->count];
        }
    }
    if (w->count > 0 && !entered && !w->once) {
        hl_lane_stand_back(w->taken++);
    } else {
        w->taken = 0;
    }
    return w->count == 0;
}

/* The error word, which tells the window, of an open operation of this way (NULL: of any way); NULL: none is
 * open. Adds the peers of all open ones. */
static const hl_a32 *look_open(const struct goal *g, struct hl_wait_desc *t)
{
    struct hl_lane *lane = g->lane;
    const hl_a32 *word = NULL;
    if (!hl_lease_try_any(&lane->lease)) {
        return NULL;
    }
    /* relaxed, both: written by the leaseholder only. */
    uint64_t issued = hl_a64_load_relaxed(&lane->issued);
    for (uint64_t at = hl_a64_load_relaxed(&lane->tail); at < issued; at++) {
        const struct hl_lane_slot *s = &lane->slots[at % HL_LANE_SLOTS];
        if (s->open != 0 && (g->way == NULL || s->way == g->way)) {
            word = s->chain != NULL ? hl_chain_error_of(s->chain, UINT32_MAX) : s->error;
            hl_desc_await(t, s->way->peer);
        }
    }
    hl_lane_leave(lane);
    return word;
}

static void describe_each(const struct goal *goals, uint32_t count, struct hl_wait_desc *t)
{
    char window[MPI_MAX_OBJECT_NAME];
    for (uint32_t i = 0; i < count; i++) {
        const struct goal *g = &goals[i];
        const hl_a32 *word = look_open(g, t);
        if (word != NULL && hl_hang_names.window != NULL &&
            hl_hang_names.window(word, window, sizeof window)) {
            hl_desc_say(t, "%s, ", window);
        }
        /* relaxed: what is told may be old. */
        uint64_t left = g->until - hl_a64_load_relaxed(g->progress);
        hl_desc_say(t, "%llu operation%s on lane %u to end%s", (unsigned long long)left, left == 1 ? "" : "s",
                    g->lane->index, i + 1 < count ? ", " : "");
        hl_desc_await(t, g->way != NULL ? g->way->peer : -1);
    }
}

static void describe_goals(const void *arg, struct hl_wait_desc *t)
{
    const struct waiting *w = arg;
    describe_each(w->goals, w->count, t);
}
HL_HANG_WORDS(are_goals_reached, describe_goals);

/* Waits until all goals are reached; called after a look that found some open. */
static void wait_for(struct waiting *w)
{
    hl_stat_rank_add(HL_STAT_RANK_flush_waits, 1);
    hl_prog_wait_rung(are_goals_reached, w);
}

static void reach_one(struct goal g)
{
    struct waiting w = {.goals = &g, .count = 1};
    if (!are_goals_reached(&w)) {
        wait_for(&w);
    }
}

void hl_lane_await(struct hl_lane *lane, struct hl_way *way, uint64_t seq)
{
    reach_one((struct goal){lane, way, &way->done, seq});
}

/* Clears the bits of a lane's idle ways, now and then. */
static void sweep_if_due(struct hl_lane *lane)
{
    if (hl_lease_try_any(&lane->lease)) {
        uint64_t leases = hl_a64_load_relaxed(&lane->stat.at[HL_STAT_LANE_leases]); /* relaxed: mine now. */
        if (leases - lane->swept > HL_IDLE_LEASES) {
            hl_way_sweep(lane);
        }
        hl_lane_leave(lane);
    }
}

/* The goal of a flush of this way: all that is issued now. */
static struct goal snapshot_goal(struct hl_lane *lane, struct hl_way *way, enum hl_lane_scope scope)
{
    bool local = scope == HL_LOCAL;
    /* acquire: pairs with the releases in hl_lane_slot_commit and hl_lane_slot_make_local. */
    uint64_t until = hl_a64_load_acquire(local ? &way->local_issued : &way->issued);
    return (struct goal){lane, way, local ? &way->local_done : &way->done, until};
}

/* Flushes a peer on the lanes in `among`. The goal of the thread's own lane is the last one, at which
 * are_goals_reached looks first: its chain is sent at once, and meanwhile other threads may send those of
 * their lanes. It is not inlined: its goals would be on the stack below those of flush_lanes. */
static HL_NOINLINE void flush_peer(int peer, enum hl_lane_scope scope, uint64_t among)
{
    struct goal goals[HL_LANES_MAX];
    struct waiting w = {.goals = goals};
    /* acquire: all of a way whose bit is cleared has ended; pairs with the full and in hl_way_sweep. */
    uint64_t bits = hl_a64_load_acquire(&hl_pool.used[peer]) & among;
    uint32_t first = (hl_lane_preferred + 1) % HL_LANES_MAX;
    for (uint64_t rest = bits >> first | bits << (-first % HL_LANES_MAX); rest != 0; rest &= rest - 1) {
        struct hl_lane *lane = hl_pool.head.lanes[(first + (uint32_t)__builtin_ctzll(rest)) % HL_LANES_MAX];
        struct hl_way *way = hl_way_find(lane, peer);
        if (way != NULL) {
            struct goal g = snapshot_goal(lane, way, scope);
            if (!is_goal_reached(&g)) {
                goals[w.count++] = g;
            }
        }
    }
    if (w.count == 0 && HL_UNLIKELY((bits & (bits - 1)) != 0)) {
        sweep_if_due(hl_pool.head.lanes[__builtin_ctzll(bits)]); /* nothing open: some bits are stale */
    }
    if (w.count > 0 && !are_goals_reached(&w)) {
        wait_for(&w);
    }
}

/* Flushes a lane locally: local ends are only known for each way. */
static void flush_ways(struct hl_lane *lane)
{
    /* acquire, both: the table and its ways; pair with the releases in grow_ways and add_to (way.c). */
    const struct hl_way_table *t = hl_aptr_load_acquire(&lane->ways);
    for (uint32_t i = 0; t != NULL && i < t->room; i++) {
        struct hl_way *way = hl_aptr_load_acquire(&t->at[i].way);
        if (way != NULL) {
            reach_one(snapshot_goal(lane, way, HL_LOCAL));
        }
    }
}

static HL_NOINLINE void flush_lanes(enum hl_lane_scope scope, uint64_t among, bool sweeps)
{
    struct goal goals[HL_LANES_MAX];
    struct waiting w = {.goals = goals};
    /* acquire: the lanes; pairs with the full or in hl_lane_make_ready. */
    for (uint64_t rest = hl_a64_load_acquire(&hl_pool.opened) & among; rest != 0; rest &= rest - 1) {
        struct hl_lane *lane = hl_pool.head.lanes[__builtin_ctzll(rest)];
        /* acquire: pairs with the release in hl_lane_slot_commit. */
        struct goal g = {lane, NULL, &lane->tail, hl_a64_load_acquire(&lane->issued)};
        if (is_goal_reached(&g)) {
            if (sweeps) {
                sweep_if_due(lane);
            }
        } else if (scope == HL_LOCAL) {
            flush_ways(lane);
        } else {
            w.goals[w.count++] = g;
        }
    }
    if (w.count > 0 && !are_goals_reached(&w)) {
        wait_for(&w);
    }
}

void hl_lane_flush(int peer, enum hl_lane_scope scope)
{
    if (peer < 0) {
        flush_lanes(scope, UINT64_MAX, true);
    } else if (HL_LIKELY(hl_pool_count(&hl_pool) != 0)) {
        flush_peer(peer, scope, UINT64_MAX);
    }
}

void hl_lane_flush_on(struct hl_lane *lane, int peer, enum hl_lane_scope scope)
{
    if (hl_pool_count(&hl_pool) == 0) {
        return;
    }
    /* acquire: what others had issued on an owned lane has ended; pairs with the full or in set_apart. */
    uint64_t among = lane != NULL ? UINT64_C(1) << lane->index : ~hl_a64_load_acquire(&hl_pool.apart);
    if (peer >= 0) {
        flush_peer(peer, scope, among);
    } else {
        flush_lanes(scope, among, false);
    }
}

/* ---- without waiting ---- */

struct hl_lane_goals {
    uint32_t count, room, closings; /* closings: the pool's, when the goals were made */
    struct goal at[];
};

void hl_lane_goals_describe(const struct hl_lane_goals *goals, struct hl_wait_desc *t)
{
    describe_each(goals->at, goals->count, t);
}

/* Adds a goal, unless it is reached. */
static int add_goal(struct hl_lane_goals **all, struct goal g)
{
    enum { FIRST_ROOM = 4 };
    struct hl_lane_goals *goals = *all;
    if (is_goal_reached(&g)) {
        return 0;
    }
    if (goals == NULL || goals->count == goals->room) {
        uint32_t count = goals != NULL ? goals->count : 0, room = goals != NULL ? 2 * count : FIRST_ROOM;
        goals = realloc(goals, sizeof *goals + room * sizeof goals->at[0]);
        if (goals == NULL) {
            return hl_err_say(HL_ERR_NO_MEM, "no memory for a flush of %u connections", count + 1);
        }
        goals->count = count;
        goals->room = room;
        *all = goals;
    }
    goals->at[goals->count++] = g;
    return 0;
}

static int add_peer(int peer, enum hl_lane_scope scope, uint64_t among, struct hl_lane_goals **all)
{
    int rc = 0;
    /* acquire: pairs with the full and in hl_way_sweep. */
    for (uint64_t rest = hl_a64_load_acquire(&hl_pool.used[peer]) & among; rest != 0 && rc == 0;
         rest &= rest - 1) {
        struct hl_lane *lane = hl_pool.head.lanes[__builtin_ctzll(rest)];
        struct hl_way *way = hl_way_find(lane, peer);
        rc = way != NULL ? add_goal(all, snapshot_goal(lane, way, scope)) : 0;
    }
    return rc;
}

static int add_ways(struct hl_lane *lane, struct hl_lane_goals **all)
{
    int rc = 0;
    /* acquire, both: pair with the releases in grow_ways and add_to. */
    const struct hl_way_table *t = hl_aptr_load_acquire(&lane->ways);
    for (uint32_t i = 0; t != NULL && i < t->room && rc == 0; i++) {
        struct hl_way *way = hl_aptr_load_acquire(&t->at[i].way);
        rc = way != NULL ? add_goal(all, snapshot_goal(lane, way, HL_LOCAL)) : 0;
    }
    return rc;
}

static int add_lanes(enum hl_lane_scope scope, uint64_t among, struct hl_lane_goals **all)
{
    int rc = 0;
    /* acquire, both: pair with the full or in hl_lane_make_ready and the release in hl_lane_slot_commit. */
    for (uint64_t rest = hl_a64_load_acquire(&hl_pool.opened) & among; rest != 0 && rc == 0;
         rest &= rest - 1) {
        struct hl_lane *lane = hl_pool.head.lanes[__builtin_ctzll(rest)];
        struct goal g = {lane, NULL, &lane->tail, hl_a64_load_acquire(&lane->issued)};
        rc = scope == HL_LOCAL && !is_goal_reached(&g) ? add_ways(lane, all) : add_goal(all, g);
    }
    return rc;
}

int hl_lane_goals_make(struct hl_lane *lane, int peer, enum hl_lane_scope scope, struct hl_lane_goals **goals)
{
    *goals = NULL;
    if (hl_pool_count(&hl_pool) == 0) {
        return 0;
    }
    /* acquire: what others had issued on an owned lane has ended; pairs with the full or in set_apart. */
    uint64_t among = lane != NULL ? UINT64_C(1) << lane->index : ~hl_a64_load_acquire(&hl_pool.apart);
    int rc = peer >= 0 ? add_peer(peer, scope, among, goals) : add_lanes(scope, among, goals);
    if (rc != 0) {
        free(*goals);
        *goals = NULL;
    }
    if (*goals != NULL) {
        (*goals)->closings = hl_pool.closings;
    }
    return rc;
}

bool hl_lane_goals_reached(struct hl_lane_goals *goals)
{
    struct waiting w = {.goals = goals->at, .count = goals->count, .once = true};
    if (hl_pool_count(&hl_pool) == 0 ||
        goals->closings != hl_pool.closings) { /* all of it ended before the lanes closed */
        return true;
    }
    bool over = are_goals_reached(&w);
    goals->count = w.count;
    return over;
}

void hl_lane_goals_free(struct hl_lane_goals *goals)
{
    free(goals);
}
