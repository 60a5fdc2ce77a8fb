/* The cards of a new window's ranks, their exchange, and the records of its targets. */
#include "cards.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "coll.h"
#include "conf.h"
#include "err.h"
#include "job.h"
#include "repeat.h"
#include "rx.h"

static uint64_t token; /* chosen once; peers read it for proof (hl_cma_probe) */
static pthread_once_t token_once = PTHREAD_ONCE_INIT;

int hl_card_fill_network(struct hl_win *w, struct win_card *c)
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

int hl_card_fill(struct win_reach *r)
{
    struct hl_win *w = r->w;
    struct win_card *c = &r->cards[w->rank];
    pthread_once(&token_once, choose_token);
    *c = (struct win_card){.flavor = (int16_t)w->flavor,
                           .apart = r->ask->apart,
                           .base = (uint64_t)(uintptr_t)w->base,
                           .size = w->bytes,
                           .unit = r->ask->unit,
                           .ctl_id = w->ctl_piece.seg->id,
                           .ctl_len = w->ctl_piece.seg->len,
                           .ctl_off = w->ctl_piece.off,
                           .token_at = hl_conf.cma ? (uint64_t)(uintptr_t)&token : 0,
                           .token = token,
                           .pid = getpid(),
                           .pattern = -1};
    fill_segment(w, c);
    return hl_card_fill_network(w, c);
}

/* The error that rank `i` called for another kind of window than rank 0. */
static int refuse_not_alike(const struct win_card *cards, int i)
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
            return refuse_not_alike(cards, i);
        }
    }
    return 0;
}

/* The records of all targets. Where the ranks are alike, one is right for all FAR ones. `one` is its room. */
static struct hl_repeat rows_of_targets(const struct win_reach *r, struct hl_target *one)
{
    const int64_t *fact = r->facts.fact;
    *one = hl_card_target(r->w, (uint64_t)fact[HL_FACT_ADDR], (uint64_t)fact[HL_FACT_KEY]);
    return (struct hl_repeat){(size_t)r->w->size, sizeof *one, r->how == HL_ALIKE ? one : NULL};
}

/* The first rank of each node makes the pattern for all of them. */
static void make_pattern(struct win_reach *r)
{
    struct hl_target one;
    struct hl_repeat rows = rows_of_targets(r, &one);
    if (r->w->near_ranks[0] == r->w->rank) {
        r->pattern = hl_mem_pattern_make(&rows);
        r->cards[r->w->rank].pattern = r->pattern;
    }
}

static int make_targets(struct win_reach *r)
{
    struct hl_target one;
    struct hl_win *w = r->w;
    struct hl_repeat rows = rows_of_targets(r, &one), words = {(size_t)w->size, sizeof *w->acc_words, NULL};
    const struct win_card *first = &r->cards[w->near_ranks[0]];
    if (r->pattern < 0) {
        r->pattern = hl_mem_pattern_open(&rows, first->pid, first->pattern);
    }
    w->targets = hl_mem_repeat(&rows, r->pattern);
    w->acc_words = hl_mem_repeat(&words, -1);
    return w->targets != NULL && w->acc_words != NULL
               ? 0
               : hl_err_say(HL_ERR_NO_MEM, "no memory for a window over %d ranks", w->size);
}

/* The cards of all ranks. It is not inlined, so that the frame with `mine` is gone when later steps wait. */
static HL_NOINLINE int exchange_cards(struct win_reach *r)
{
    struct win_card mine = r->cards[r->w->rank];
    int lost = hl_coll_allgather_bytes(r->comm, &mine, sizeof mine, r->cards);
    return lost != 0 ? lost : check_cards(r->w, r->cards);
}

/* The cards of the ranks of my node, which come as one block first. All ranks of the job take the tag. */
static HL_NOINLINE int exchange_near_cards(struct win_reach *r)
{
    const struct hl_win *w = r->w;
    struct win_card mine = r->cards[w->rank];
    int tag = hl_comm_coll_tag(r->comm);
    if (r->node == NULL) {
        return 0;
    }
    struct hl_comm comm = {.ctx = r->comm->ctx,
                           .rank = hl_group_rank(r->node, hl_job.rank),
                           .size = r->n_node,
                           .group = r->node,
                           .peers = r->node,
                           .n_peers = r->n_node};
    hl_a32_store_relaxed(&comm.coll, (uint32_t)tag); /* relaxed: nobody else knows it. */
    int rc = hl_coll_allgather_bytes(&comm, &mine, sizeof mine, r->cards);
    for (int i = r->n_node - 1; i >= 0; i--) {
        r->cards[w->near_ranks[i]] = r->cards[i];
    }
    return rc;
}

/* The records of all targets, where only they differ: each rank gives its own. */
static int exchange_targets(struct win_reach *r)
{
    const struct win_card *c = &r->cards[r->w->rank];
    struct hl_target mine = hl_card_target(r->w, c->addr, c->key);
    void *all =
        r->w->targets != NULL ? (void *)r->w->targets : (void *)r->cards; /* after an error: anywhere */
    return hl_coll_allgather_bytes(r->comm, &mine, sizeof mine, all);
}

int hl_cards_exchange(struct win_reach *r)
{
    if (!hl_cards_are_alike(r)) {
        int lost = exchange_cards(r), rc = make_targets(r);
        return lost != 0 ? lost : rc;
    }
    make_pattern(r);
    int lost = exchange_near_cards(r), rc = make_targets(r);
    int torn = r->how == HL_ALIKE_BUT_TARGETS ? exchange_targets(r) : 0;
    return lost != 0 ? lost : rc != 0 ? rc : torn;
}
