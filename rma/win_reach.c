/* How each target of a new window is reached: ranks exchange what they have, map what can be mapped, and
 * agree about the rest. */
#include "cards.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll.h"
#include "conf.h"
#include "err.h"
#include "hints.h"
#include "job.h"
#include "repeat.h"
#include "rx.h"

/* The segment that rank 0 took for all parts of a shared window; id 0: it could not. */
struct shared_piece {
    uint64_t id, len, off;
    struct hl_hints_got got; /* what the kernel gave */
};

static bool near_allowed(void)
{
    return strcmp(hl_conf.near, "none") != 0;
}

static int store_extents(struct hl_win *w, const struct win_card *cards, bool alike)
{
    bool uniform = true;
    for (int i = 1; i < w->size && uniform && !alike; i++) {
        uniform = cards[i].size == cards[0].size && cards[i].unit == cards[0].unit;
    }
    w->all = (struct hl_extent){cards[w->rank].size, cards[w->rank].unit};
    w->extents = &w->all;
    if (uniform) {
        bool open = !w->detour && !HL_CHECKED;
        w->scale = w->all.unit;
        w->epoch.open_limit = open ? (w->all.size + w->all.unit - 1) / w->all.unit : 0;
        w->epoch.open_limit8 = open && w->all.size >= 8 ? (w->all.size - 8) / w->all.unit + 1 : 0;
        return 0;
    }
    w->extents = malloc((size_t)w->size * sizeof *w->extents);
    w->extent_mask = UINT32_MAX;
    if (w->extents == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the sizes of %d targets", w->size);
    }
    for (int i = 0; i < w->size; i++) {
        w->extents[i] = (struct hl_extent){cards[i].size, cards[i].unit};
    }
    return 0;
}

/* Makes the group of the ranks of my node. */
static int make_node(struct win_reach *r)
{
    const struct hl_win *w = r->w;
    int *world = malloc((size_t)r->n_node * sizeof *world);
    for (int i = 0; world != NULL && i < r->n_node; i++) {
        world[i] = hl_win_world(w, w->near_ranks[i]);
    }
    int rc = world != NULL ? hl_group_make(world, r->n_node, &r->node) : HL_ERR_NO_MEM;
    free(world);
    return rc == 0 ? 0 : hl_err_say(rc, "no memory for %d ranks of a node", r->n_node);
}

/* Finds the ranks of my node: their number, the list near_ranks, and their group. */
static int find_node(struct win_reach *r)
{
    struct hl_win *w = r->w;
    w->near_ranks = malloc(sizeof *w->near_ranks * (size_t)hl_job.node_size);
    w->wants = calloc((size_t)hl_job.node_size, 2 * sizeof *w->wants);
    if (w->near_ranks == NULL || w->wants == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory to map %d targets", hl_job.node_size);
    }
    for (int i = 0; i < w->size; i++) {
        if (hl_job_node_of(hl_win_world(w, i)) >= 0) {
            w->near_ranks[r->n_node++] = i;
        }
    }
    return r->n_node > 1 && !r->comm->one_node ? make_node(r) : 0;
}

/* Maps control blocks and segments of near targets: two wants for each target, the control block first. */
static int map_near(struct win_reach *r)
{
    struct hl_win *w = r->w;
    for (w->n_near = 0; near_allowed() && w->n_near < r->n_node; w->n_near++) {
        int i = w->near_ranks[w->n_near];
        const struct win_card *c = &r->cards[i];
        int node_rank = hl_job_node_of(hl_win_world(w, i)), owner = hl_job_node_of((int)c->seg_owner);
        w->wants[w->n_wants++] =
            (struct hl_near_want){.node_rank = node_rank, .seg_id = c->ctl_id, .seg_len = c->ctl_len};
        bool private_ = c->seg_id == 0;
        w->wants[w->n_wants++] = (struct hl_near_want){.node_rank = private_ ? node_rank : owner,
                                                       .seg_id = private_ ? c->ctl_id : c->seg_id,
                                                       .seg_len = private_ ? c->ctl_len : c->seg_len};
    }
    int rc = hl_near_map_all(w->wants, w->n_wants);
    return rc == HL_ERR_RMA_SHARED ? 0 : rc; /* targets that cannot be mapped use the network */
}

/* Writes the record of one near target; false when the network must reach it. */
static bool store_one(struct hl_win *w, int i, const struct win_card *c, const struct hl_near_want want[2])
{
    struct hl_target *t = &w->targets[i];
    uint64_t where;

    if (want[0].rc != 0 || (c->base == 0 && want[1].rc != 0)) {
        return false;
    }
    if (w->dyn == NULL && i == w->rank && c->base != 0) {
        where = c->base;
    } else if (w->dyn == NULL && c->seg_id != 0 && want[1].rc == 0) {
        where = (uint64_t)(uintptr_t)want[1].base + c->seg_off;
    } else {
        bool cma = hl_cma_probe(want[0].node_rank, c->pid, c->token_at, c->token);
        where = HL_TARGET_PRIVATE | (cma ? 0 : HL_TARGET_NO_CMA) | c->base;
    }
    t->where = where;
    t->key_or_ctl =
        i == w->rank ? (uint64_t)(uintptr_t)hl_win_ctl(w) : (uint64_t)(uintptr_t)(want[0].base + c->ctl_off);
    return true;
}

/* Writes the records of near targets; w->near_ranks keeps those that can be reached. Returns what the others
 * need. */
static enum hl_win_need store_near_targets(struct hl_win *w, const struct win_card *cards)
{
    enum hl_win_need need = w->n_near < w->size && !hl_rx_has_network() ? HL_NEED_SOMETHING : HL_NEED_NONE;
    int kept = 0;
    for (int n = 0; n < w->n_near; n++) {
        int i = w->near_ranks[n];
        if (!store_one(w, i, &cards[i], &w->wants[2 * n])) {
            need = HL_NEED_SOMETHING;
            continue;
        }
        w->near_ranks[kept++] = i;
    }
    w->n_near = kept;
    if (w->base == NULL && w->flavor == MPI_WIN_FLAVOR_SHARED) {
        w->base = (void *)(uintptr_t)w->targets[w->rank].where;
    }
    return need;
}

/* Opens the network in the middle of a job that did not need it so far. */
static int open_win_network(const struct hl_win *w)
{
    if (hl_rx_has_network()) {
        return 0;
    }
    if (w->size != hl_job.size) {
        return hl_err_say(HL_ERR_RMA_SHARED,
                          "memory of ranks on this node cannot be mapped, and the network opens only for a "
                          "window over all %d ranks, not %d",
                          hl_job.size, w->size);
    }
    return hl_rx_network();
}

static hl_a64 tokens; /* given out; atomic */

/* Tells the lanes to expect the next FAR rank behind me: as a rule a different one for each rank. */
static void expect_far(const struct hl_win *w)
{
    for (int k = 1; w->far && k < w->size; k++) {
        int i = (w->rank + k) % w->size;
        if (hl_target_is_far(&w->targets[i])) {
            hl_lane_expect(hl_win_world(w, i));
            return;
        }
    }
}

/* Writes the records of FAR targets where the ranks' are not alike. */
static void store_far_each(struct hl_win *w, const struct win_card *cards)
{
    w->mapped = w->far = false;
    for (int i = 0; i < w->size; i++) {
        struct hl_target *t = &w->targets[i];
        if (t->key_or_ctl != 0 && !hl_target_is_far(t)) {
            w->mapped = true;
            continue;
        }
        *t = hl_card_target(w, cards[i].addr, cards[i].key);
        w->far = true;
    }
}

/* Writes the records of FAR targets and what depends on them. It runs twice where it is another rank that
 * needs the network. */
static int store_far(struct win_reach *r)
{
    struct hl_win *w = r->w;
    if (hl_cards_are_alike(r)) {
        w->mapped = w->n_near > 0;
        w->far = w->n_near < w->size;
    } else {
        store_far_each(w, r->cards);
    }
    /* A target of this node that cannot be mapped may have rows. Its receive thread respects them; the
     * provider would not. */
    w->message_acc = r->n_node > w->n_near || r->facts.hidden;
    bool waits = w->far || w->detour || HL_CHECKED;
    hl_a8_store_relaxed(&w->waits, waits); /* relaxed: nobody else knows the window yet. */
    w->epoch.fence_only = !waits;
    /* relaxed: draws numbers. Targets in private memory get tokens as well: the short ways compare a target's
     * token with those that lanes know before they look how the target is reached. */
    w->tokens = hl_a64_add_relaxed(&tokens, (uint64_t)w->size) + 1;
    if (waits && w->errors == NULL) {
        w->errors = hl_mem_repeat(&(struct hl_repeat){(size_t)w->size, sizeof *w->errors, NULL}, -1);
    }
    if (waits && w->errors == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the errors of %d targets", w->size);
    }
    return w->far ? hl_lane_open() : 0;
}

/* All ranks have done what they can alone: each has a window, or an error, or needs the network. A rank that
 * has a window enters it into the table first, since records of other ranks may come before this call
 * ends. Nothing that may fail on one rank comes after this. */
static int agree_on_reach(struct win_reach *r, int rc, enum hl_win_need need)
{
    struct hl_win *w = r->w;
    if (rc == 0 && need == HL_NEED_NONE && (rc = store_far(r)) == 0) {
        hl_win_lockq_open(w);
        hl_win_table_add(w);
    }
    rc = hl_win_agree(r->comm, rc, need);
    if (rc != 0) {
        hl_win_table_remove(w);
    }
    return rc;
}

/* Reaches targets by mapping their memory; *need: what the other targets need. */
static HL_NOINLINE int reach_by_mapping(struct win_reach *r, enum hl_win_need *need)
{
    int rc = store_extents(r->w, r->cards, hl_cards_are_alike(r));
    rc = rc != 0 ? rc : map_near(r);
    if (rc == 0) {
        *need = store_near_targets(r->w, r->cards);
    }
    return rc;
}

/* Opens the network; the ranks exchange anew how their memory is reached. */
static HL_NOINLINE int bring_network(struct win_reach *r)
{
    struct win_card mine = r->cards[r->w->rank];
    int rc = open_win_network(r->w);
    rc = rc != 0 ? rc : hl_card_fill_network(r->w, &mine);
    r->how = HL_NEED_NONE;
    int lost = hl_coll_allgather_bytes(r->comm, &mine, sizeof mine, r->cards);
    for (int i = 0; lost == 0 && i < r->w->size; i++) {
        r->facts.hidden = r->facts.hidden || hl_card_hides_alignment(&r->cards[i]);
    }
    return rc != 0 ? rc : lost;
}

static int take_for_all(struct hl_win *w, const struct hl_win_ask *ask, const struct win_card *cards,
                        struct shared_piece *piece)
{
    uint64_t total = 0;
    for (int i = 0; i < w->size; i++) {
        if (__builtin_add_overflow(total, cards[i].size, &total)) {
            return hl_err_say(HL_ERR_NO_MEM, "the parts of all %d ranks have more than 2^64 bytes in all",
                              w->size);
        }
    }
    struct hl_mem_ask how = {.own_segment = true,
                             .align = hl_hints_alignment(w->info),
                             .wish = total > 0 ? &ask->wish : NULL,
                             .caller = ask->func};
    int rc = hl_mem_alloc(total, &how, &w->piece);
    if (rc == 0) {
        piece->id = w->piece.seg->id;
        piece->len = w->piece.seg->len;
        piece->off = w->piece.off;
        hl_hints_taken(w, how.wish);
        hl_hints_look(w, &piece->got); /* the kernel tells each process only of pages that it has touched */
    }
    return rc;
}

/* Rank 0 takes one segment for all ranks, by its own wish: contiguous memory has one kind, page size and
 * policy. (On machines with several nodes of a kind, parts near their owners need alloc_shared_noncontig.)
 * The cards get the place of every rank's part. */
static HL_NOINLINE int share_window_memory(struct hl_win *w, struct hl_comm *comm,
                                           const struct hl_win_ask *ask, struct win_card *cards, int rc)
{
    struct shared_piece piece = {0};
    if (w->rank == 0 && rc == 0) {
        rc = take_for_all(w, ask, cards, &piece);
    }
    int lost = hl_coll_bcast_bytes(comm, &piece, sizeof piece, 0);
    rc = rc != 0 ? rc : lost;
    if (rc != 0 || piece.id == 0) {
        return rc; /* the agreement reports rank 0's error */
    }
    for (int i = 0; i < w->size; i++) {
        cards[i].seg_owner = hl_win_world(w, 0);
        cards[i].seg_id = piece.id;
        cards[i].seg_len = piece.len;
        cards[i].seg_off = piece.off;
        piece.off += cards[i].size;
    }
    hl_win_ctl(w)->acc.owner = (uint32_t)hl_job_node_of(hl_win_world(w, 0)) + 1;
    return w->rank == 0 ? 0 : hl_hints_show_got(w->info, &piece.got);
}

static int say_lost(void)
{
    return hl_err_say(HL_ERR_PROC_ABORTED, "a rank has ended");
}

/* Every rank takes part in each exchange even after an error of its own, which it brings to the agreement. */
static int reach_in_order(struct win_reach *r)
{
    enum hl_win_need more = HL_NEED_NONE;
    struct hl_win *w = r->w;
    w->id = w->comm->ctx = (uint64_t)r->facts.id;
    int lost = hl_cards_exchange(r), rc = r->facts.lost ? say_lost() : lost;
    rc = r->how == HL_NEED_SOMETHING ? share_window_memory(w, r->comm, r->ask, r->cards, rc) : rc;
    rc = rc != 0 ? rc : hl_win_show_bases(w, r->ask, &r->facts);
    rc = rc != 0 ? rc : reach_by_mapping(r, &more);
    rc = agree_on_reach(r, rc, more);
    if (rc == HL_NEED_SOMETHING) {
        rc = bring_network(r);
        rc = agree_on_reach(r, rc, HL_NEED_NONE);
    }
    if (rc == 0) {
        expect_far(w);
    }
    return rc;
}

/* Does the window take memory for each rank by itself? */
static bool has_memory(const struct hl_win *w)
{
    return w->piece.seg != NULL;
}

/* Takes memory behind all symmetric memory of all ranks, instead of what this rank has. */
static int take_again(struct win_reach *r)
{
    struct hl_win *w = r->w;
    void *place = (void *)(uintptr_t)hl_round_up((uint64_t)r->facts.top, (uint64_t)1 << 30);
    if (w->region != 0) {
        hl_mr_unregister(w->region);
        w->region = 0;
    }
    hl_mem_free(&w->piece);
    w->piece.seg = NULL;
    int rc = hl_win_take_memory(w, r->ask, place);
    return rc != 0 ? rc : hl_card_fill(r);
}

static void fill_facts(const struct win_reach *r, struct hl_facts *f)
{
    const struct win_card *c = &r->cards[r->w->rank];
    *f = (struct hl_facts){.id = r->w->rank == 0 ? (int64_t)hl_comm_ctx_new() : INT64_MAX,
                           .far = hl_rx_has_network() && !r->comm->one_node,
                           .hidden = hl_card_hides_alignment(c)};
    f->fact[HL_FACT_CALL] = c->flavor << 1 | c->apart;
    f->fact[HL_FACT_SIZE] = (int64_t)c->size;
    f->fact[HL_FACT_UNIT] = (int64_t)c->unit;
    f->fact[HL_FACT_ADDR] = (int64_t)c->addr;
    f->fact[HL_FACT_KEY] = (int64_t)c->key;
    f->fact[HL_FACT_BASE] = (int64_t)c->base;
    f->fact[HL_FACT_SAME] = has_memory(r->w) ? r->ask->same : HL_SAME_TRY;
    f->fact[HL_FACT_TOP] = (int64_t)(uintptr_t)hl_mem_symmetric_top();
}

int hl_win_reach_all(struct hl_win *w, struct hl_comm *comm, const struct hl_win_ask *ask)
{
    struct win_reach r = {.w = w, .comm = comm, .ask = ask, .pattern = -1};
    r.cards = calloc((size_t)w->size, sizeof *r.cards); /* memory comes with the cards that are written */
    int rc = ask->rc;
    if (rc == 0 && r.cards == NULL) {
        rc = hl_err_say(HL_ERR_NO_MEM, "no memory for a window over %d ranks", w->size);
    }
    rc = rc != 0 ? rc : find_node(&r);
    rc = rc != 0 ? rc : hl_card_fill(&r);
    if (rc == 0) {
        fill_facts(&r, &r.facts);
    }
    bool one_segment = w->flavor == MPI_WIN_FLAVOR_SHARED && !ask->apart;
    r.facts.again = true;
    rc = hl_win_compare(comm, rc, one_segment ? HL_NEED_SOMETHING : HL_NEED_NONE, &r.facts);
    if (rc == HL_ALIKE_NOT_YET) {
        rc = r.facts.lost ? say_lost() : take_again(&r);
        int64_t id = r.facts.id;
        fill_facts(&r, &r.facts);
        r.facts.id = id;
        rc = hl_win_compare(comm, rc, HL_NEED_NONE, &r.facts);
    }
    if (rc >= HL_NEED_SOMETHING) {
        r.how = rc;
        rc = reach_in_order(&r);
    }
    if (r.pattern >= 0) {
        close(r.pattern); /* the ranks of the node have it: they have agreed */
    }
    if (r.node != NULL) {
        hl_group_unref(r.node);
    }
    free(r.cards);
    return rc;
}

void hl_win_forget_all(struct hl_win *w)
{
    for (size_t i = 0; i < w->n_wants; i++) {
        if (w->wants[i].base != NULL && w->wants[i].rc == 0) {
            hl_near_unmap(w->wants[i].node_rank, w->wants[i].seg_id);
        }
    }
    if (w->region != 0) {
        hl_mr_unregister(w->region);
    }
    free(w->wants);
    free(w->near_ranks);
    hl_mem_repeat_free(w->targets, (size_t)w->size, sizeof *w->targets);
    hl_mem_repeat_free(w->acc_words, (size_t)w->size, sizeof *w->acc_words);
    free(w->extents == &w->all ? NULL : w->extents);
    hl_mem_repeat_free(w->errors, (size_t)w->size, sizeof *w->errors);
}
