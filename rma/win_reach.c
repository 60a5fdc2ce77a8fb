/* How each target of a new window is reached: ranks exchange what they have, map what can be mapped, and
 * agree about the rest. */
#include "reach.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coll.h"
#include "conf.h"
#include "err.h"
#include "hints.h"
#include "hl_build.h"
#include "job.h"
#include "rx.h"

/* What a rank tells all others when the window is made. */
struct win_card {
    int32_t flavor, apart;             /* what it called; must be the same on all ranks */
    int32_t pid, seg_owner;            /* seg_owner: world rank */
    uint64_t ctx;                      /* of the window's communicator; issued by rank 0, 0 on others */
    uint64_t base, size, unit;         /* of its part of the window */
    uint64_t seg_id, seg_len, seg_off; /* the segment that holds its part; id 0: private memory */
    uint64_t ctl_id, ctl_len, ctl_off; /* the segment and place of its control block */
    uint64_t token_at;                 /* where its process keeps `token`, for CMA; 0: none */
    uint64_t token;
    uint64_t addr, key; /* for RMA operations, when the network is open */
};

/* What a rank needs all ranks to do. They agree on the smallest value; errors are smaller still. */
enum need {
    NEED_NONE = 0,
    NEED_SEGMENT = -1, /* MPI_Win_allocate_shared: one segment for all */
    NEED_NETWORK = -1, /* some target can be reached only by the network */
};

/* The segment that rank 0 took for all parts of a shared window; id 0: it could not. */
struct shared_piece {
    uint64_t id, len, off;
    struct hl_hints_got got; /* what the kernel gave */
};

static uint64_t token; /* chosen once; peers read it for proof (hl_cma_probe) */
static pthread_once_t token_once = PTHREAD_ONCE_INIT;

static bool near_allowed(void)
{
    return strcmp(hl_conf.near, "none") != 0;
}

static int fill_network(struct hl_win *w, struct win_card *c)
{
    struct hl_mr mr;
    if (w->bytes == 0 || w->base == NULL || w->region != 0 || !hl_rx_has_network()) {
        return 0;
    }
    int rc = hl_mr_register(w->base, w->bytes, &mr);
    if (rc == 0) {
        w->region = mr.id;
        c->addr = mr.addr;
        c->key = mr.key;
    }
    return rc;
}

/* Says in the card where the memory is: in a segment of mine, or private. */
static void fill_segment(const struct hl_win *w, struct win_card *c)
{
    c->seg_owner = hl_job.rank;
    struct hl_seg *seg = w->bytes != 0 ? hl_mem_find(w->base, w->bytes) : w->ctl_piece.seg;
    if (seg != NULL) {
        c->seg_id = seg->id;
        c->seg_len = seg->len;
        c->seg_off = w->bytes != 0 ? (uint64_t)((char *)w->base - seg->base) : w->ctl_piece.off;
    }
}

static void choose_token(void)
{
    (void)hl_random_bytes(&token, sizeof token); /* cannot fail: it worked when the library opened */
}

static int fill_card(struct hl_win *w, const struct hl_win_ask *ask, struct win_card *c)
{
    pthread_once(&token_once, choose_token);
    *c = (struct win_card){.flavor = w->flavor,
                           .apart = ask->apart,
                           .ctx = w->rank == 0 ? hl_comm_ctx_new() : 0,
                           .base = (uint64_t)(uintptr_t)w->base,
                           .size = w->bytes,
                           .unit = ask->unit,
                           .ctl_id = w->ctl_piece.seg->id,
                           .ctl_len = w->ctl_piece.seg->len,
                           .ctl_off = w->ctl_piece.off,
                           .token_at = hl_conf.cma ? (uint64_t)(uintptr_t)&token : 0,
                           .token = token,
                           .pid = getpid()};
    fill_segment(w, c);
    return fill_network(w, c);
}

int hl_win_agree(struct hl_comm *comm, int rc, int need)
{
    char text[HL_ERR_TEXT];
    int all, first;
    int lost = hl_coll_least(comm, rc != 0 ? rc : need, &all);
    if (lost == 0 && all >= NEED_SEGMENT) {
        return all;
    }
    lost = lost != 0 ? lost : hl_coll_first_failed(comm, rc, &first, text);
    if (rc != 0 || lost != 0) {
        return rc != 0 ? rc : lost;
    }
    return hl_err_say(all, "rank %d could not make its part of the window: %s", first, text);
}

/* The error that rank `i` called for another kind of window than rank 0. */
static int not_alike(const struct win_card *cards, int i)
{
    static const char *const calls[] = {[MPI_WIN_FLAVOR_CREATE] = "MPI_Win_create",
                                        [MPI_WIN_FLAVOR_ALLOCATE] = "MPI_Win_allocate",
                                        [MPI_WIN_FLAVOR_DYNAMIC] = "MPI_Win_create_dynamic",
                                        [MPI_WIN_FLAVOR_SHARED] = "MPI_Win_allocate_shared"};
    if (cards[i].flavor != cards[0].flavor) {
        return hl_err_say(HL_ERR_RMA_FLAVOR, "rank %d called %s, but rank 0 %s", i, calls[cards[i].flavor],
                          calls[cards[0].flavor]);
    }
    return hl_err_say(HL_ERR_INFO_VALUE, "alloc_shared_noncontig is %s on rank %d and %s on rank 0",
                      cards[i].apart ? "true" : "false", i, cards[0].apart ? "true" : "false");
}

static int check_cards(const struct hl_win *w, const struct win_card *cards)
{
    for (int i = 1; i < w->size; i++) {
        if (cards[i].flavor != cards[0].flavor || cards[i].apart != cards[0].apart) {
            return not_alike(cards, i);
        }
    }
    return 0;
}

static int store_extents(struct hl_win *w, const struct win_card *cards)
{
    bool uniform = true;
    for (int i = 1; i < w->size && uniform; i++) {
        uniform = cards[i].size == cards[0].size && cards[i].unit == cards[0].unit;
    }
    w->all = (struct hl_extent){cards[0].size, cards[0].unit};
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
        uint64_t unit = HL_FAULT(unit_mine) ? (uint64_t)w->unit : cards[i].unit;
        w->extents[i] = (struct hl_extent){cards[i].size, unit};
    }
    return 0;
}

static bool is_near_rank(const struct hl_win *w, int rank)
{
    return near_allowed() && hl_job_node_of(hl_win_world(w, rank)) >= 0;
}

/* Maps control blocks and segments of near targets: two wants for each target, the control block first. */
static int map_near(struct hl_win *w, const struct win_card *cards)
{
    int n = 0;
    for (int i = 0; i < w->size; i++) {
        n += is_near_rank(w, i);
    }
    w->near_ranks = malloc(sizeof *w->near_ranks * (size_t)(n + 1));
    w->wants = calloc((size_t)n + 1, 2 * sizeof *w->wants);
    if (w->near_ranks == NULL || w->wants == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory to map %d targets", n);
    }
    for (int i = 0; i < w->size; i++) {
        if (is_near_rank(w, i)) {
            const struct win_card *c = &cards[i];
            int node_rank = hl_job_node_of(hl_win_world(w, i)), owner = hl_job_node_of((int)c->seg_owner);
            w->near_ranks[w->n_near++] = i;
            w->wants[w->n_wants++] =
                (struct hl_near_want){.node_rank = node_rank, .seg_id = c->ctl_id, .seg_len = c->ctl_len};
            bool private_ = c->seg_id == 0;
            w->wants[w->n_wants++] = (struct hl_near_want){.node_rank = private_ ? node_rank : owner,
                                                           .seg_id = private_ ? c->ctl_id : c->seg_id,
                                                           .seg_len = private_ ? c->ctl_len : c->seg_len};
        }
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
static enum need store_near_targets(struct hl_win *w, const struct win_card *cards)
{
    enum need need = w->n_near < w->size && !hl_rx_has_network() ? NEED_NETWORK : NEED_NONE;
    int kept = 0;
    for (int n = 0; n < w->n_near; n++) {
        int i = w->near_ranks[n];
        if (!store_one(w, i, &cards[i], &w->wants[2 * n])) {
            need = NEED_NETWORK;
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
                          "memory of node peers cannot be mapped, and a window over %d of %d ranks cannot "
                          "open the network",
                          w->size, hl_job.size);
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

/* Writes the records of FAR targets and what depends on them. Called twice where it is another rank that
 * needs the network. */
static int store_far(struct hl_win *w, const struct win_card *cards)
{
    for (int i = 0; i < w->size; i++) {
        struct hl_target *t = &w->targets[i];
        if (t->key_or_ctl != 0 && !hl_target_is_far(t)) {
            w->mapped = true;
            continue;
        }
        uint64_t where = HL_TARGET_UNMAPPED | (w->dyn != NULL ? HL_TARGET_NO_CMA : 0) | cards[i].addr;
        *t = (struct hl_target){where, cards[i].key};
        w->far = true;
        /* A target of this node that cannot be mapped may have rows. Its receive thread respects them; the
         * provider would not. */
        w->message_acc = w->message_acc || hl_job_node_of(hl_win_world(w, i)) >= 0;
    }
    for (int i = 0; i < w->size; i++) {
        /* Registration offsets of private memory may hide how its addresses are aligned. */
        w->message_acc = w->message_acc || (cards[i].size != 0 && cards[i].base % 16 != cards[i].addr % 16);
    }
    bool waits = w->far || w->detour || HL_CHECKED;
    hl_a8_store_relaxed(&w->waits, waits); /* relaxed: nobody else knows the window yet. */
    w->epoch.fence_only = !waits;
    /* relaxed: draws numbers. Targets in private memory get tokens as well: the short ways compare a target's
     * token with those that lanes know before they look how the target is reached. */
    w->tokens = hl_a64_add_relaxed(&tokens, (uint64_t)w->size) + 1;
    if (waits && w->errors == NULL && (w->errors = calloc((size_t)w->size, sizeof *w->errors)) == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the errors of %d targets", w->size);
    }
    return w->far ? hl_lane_open() : 0;
}

/* All ranks have done what they can alone: each has a window, or an error, or needs the network. A rank that
 * has a window enters it into the table first, since records of other ranks may come before this call
 * ends. */
static int agree_on_reach(struct hl_win *w, struct hl_comm *comm, const struct win_card *cards, int rc,
                          enum need need)
{
    if (rc == 0 && need == NEED_NONE && (rc = store_far(w, cards)) == 0) {
        hl_win_lockq_open(w);
        hl_win_table_add(w);
    }
    rc = hl_win_agree(comm, rc, need);
    if (rc != 0) {
        hl_win_table_remove(w);
    }
    return rc;
}

/* Reaches targets by mapping their memory; *need: what the other targets need. */
static HL_NOINLINE int reach_by_mapping(struct hl_win *w, const struct win_card *cards, enum need *need)
{
    int rc = store_extents(w, cards);
    rc = rc != 0 ? rc : map_near(w, cards);
    if (rc == 0) {
        *need = store_near_targets(w, cards);
    }
    return rc;
}

/* Opens the network; the ranks exchange anew how their memory is reached. */
static HL_NOINLINE int bring_network(struct hl_win *w, struct hl_comm *comm, struct win_card *cards)
{
    struct win_card mine = cards[w->rank];
    int rc = open_win_network(w);
    rc = rc != 0 ? rc : fill_network(w, &mine);
    int lost = hl_coll_allgather_bytes(comm, &mine, sizeof mine, cards);
    return rc != 0 ? rc : lost;
}

static int take_for_all(struct hl_win *w, const struct hl_win_ask *ask, const struct win_card *cards,
                        struct shared_piece *piece)
{
    uint64_t total = 0;
    for (int i = 0; i < w->size; i++) {
        total += cards[i].size;
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

/* Fills and exchanges the cards. Not inlined, so that the frame with `mine` is gone when later steps wait. */
static HL_NOINLINE int exchange_cards(struct hl_win *w, struct hl_comm *comm, const struct hl_win_ask *ask,
                                      struct win_card *cards)
{
    struct win_card mine;
    int rc = fill_card(w, ask, &mine);
    int lost = hl_coll_allgather_bytes(comm, &mine, sizeof mine, cards);
    if (lost == 0) {
        w->id = w->comm->ctx = cards[0].ctx;
    }
    rc = rc != 0 ? rc : lost;
    return rc != 0 ? rc : check_cards(w, cards);
}

/* Every rank takes part in each exchange even after an error of its own, which it brings to the agreement. */
static int reach_in_order(struct hl_win *w, struct hl_comm *comm, const struct hl_win_ask *ask,
                          struct win_card *cards, int need)
{
    enum need more = NEED_NONE;
    int rc = exchange_cards(w, comm, ask, cards);
    rc = need == NEED_SEGMENT ? share_window_memory(w, comm, ask, cards, rc) : rc;
    rc = rc != 0 ? rc : reach_by_mapping(w, cards, &more);
    rc = agree_on_reach(w, comm, cards, rc, more);
    if (rc == NEED_NETWORK) {
        rc = bring_network(w, comm, cards);
        rc = agree_on_reach(w, comm, cards, rc, NEED_NONE);
    }
    if (rc == 0) {
        expect_far(w);
    }
    return rc;
}

int hl_win_reach_all(struct hl_win *w, struct hl_comm *comm, const struct hl_win_ask *ask)
{
    struct win_card *cards = malloc((size_t)w->size * sizeof *cards);
    int rc = ask->rc;

    w->targets = calloc((size_t)w->size, sizeof *w->targets + sizeof(hl_a64)); /* and hl_win_acc_word */
    if (rc == 0 && (cards == NULL || w->targets == NULL)) {
        rc = hl_err_say(HL_ERR_NO_MEM, "no memory for a window over %d ranks", w->size);
    }
    bool one_segment = w->flavor == MPI_WIN_FLAVOR_SHARED && !ask->apart;
    rc = hl_win_agree(comm, rc, one_segment ? NEED_SEGMENT : NEED_NONE);
    if (rc == NEED_NONE || rc == NEED_SEGMENT) {
        rc = reach_in_order(w, comm, ask, cards, rc);
    }
    free(cards);
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
    free(w->targets);
    free(w->extents == &w->all ? NULL : w->extents);
    free(w->errors);
}
