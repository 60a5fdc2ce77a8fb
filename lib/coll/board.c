/* Boards: members exchange cards, map areas and agree; areas return when nobody reads them any more.
 *
 *   made -- hl_board_drop: adds 1 to `gone` of each peer's area --> leaving -- own `gone` is n - 1 --> freed
 *
 * Boards that are leaving are in a list that later makers and droppers look through. */
#include "board.h"

#include <stdlib.h>
#include <string.h>

#include "algos.h"
#include "coll.h"
#include "conf.h"
#include "err.h"
#include "job.h"
#include "lock.h"
#include "match.h"
#include "prog.h"
#include "rx.h"
#include "schedule.h"
#include "stat.h"

/* In front of each area. */
struct area_head {
    HL_ALIGNED_LINE hl_a32 gone; /* atomic: peers that have dropped it */
};

/* What a member tells the others. */
struct board_card {
    int32_t err;  /* not 0: it has no area */
    int32_t node; /* world rank of the first rank on its node: it names the node */
    uint64_t seg_id, seg_len, off;
};

/* What a member finds out after mapping. The smallest of all counts; errors are smaller still. */
enum { ALL_READ = 0, SOME_CANNOT_READ = -1 };

static struct hl_mutex lock = HL_MUTEX_INIT;
static struct hl_board *leaving HL_GUARDED_BY(lock);

static struct area_head *head_of(char *area)
{
    return (struct area_head *)(void *)(area - sizeof(struct area_head));
}

static void discard_board(struct hl_board *b, bool with_area)
{
    if (b->piece.seg != NULL && with_area) {
        hl_mem_free(&b->piece);
    }
    free(b->ranks);
    free(b->areas);
    free(b->wants);
    free(b);
}

/* Takes boards off the list whose areas no peer has mapped any more. */
static struct hl_board *take_left(void)
{
    struct hl_board *left = NULL;
    hl_mutex_lock(&lock);
    for (struct hl_board **at = &leaving; *at != NULL;) {
        struct hl_board *b = *at;
        /* acquire: peers' last reads came before; pairs with the addition in hl_board_drop. */
        if (hl_a32_load_acquire(&head_of(b->areas[b->me])->gone) == (uint32_t)b->n - 1) {
            *at = b->next;
            b->next = left;
            left = b;
        } else {
            at = &b->next;
        }
    }
    hl_mutex_unlock(&lock);
    return left;
}

static void sweep_boards(void)
{
    for (struct hl_board *b = take_left(), *next; b != NULL; b = next) {
        next = b->next;
        discard_board(b, true);
    }
}

/* Unmaps the others' areas. */
static void unmap_areas(struct hl_board *b)
{
    for (int i = 0; b->wants != NULL && i < b->n; i++) {
        if (b->wants[i].base != NULL && b->wants[i].rc == 0) {
            hl_near_unmap(b->wants[i].node_rank, b->wants[i].seg_id);
        }
    }
}

void hl_board_drop(struct hl_board *b)
{
    if (b == NULL) {
        return;
    }
    for (int i = 0; i < b->n; i++) {
        if (i != b->me) {
            /* full: my last read came before; pairs with the acquire in take_left. */
            hl_a32_add_full(&head_of(b->areas[i])->gone, 1);
        }
    }
    unmap_areas(b);
    hl_agreement_close(&b->agreement);
    hl_mutex_lock(&lock);
    b->next = leaving;
    leaving = b;
    hl_mutex_unlock(&lock);
    sweep_boards();
}

static int take_board_area(struct hl_board *b, const struct hl_board_plan *p, struct board_card *c)
{
    if (strcmp(hl_conf.near, "none") == 0) {
        return hl_err_say(HL_ERR_RMA_SHARED, "HOTLANE_NEAR=none forbids shared memory");
    }
    if (p->len == HL_BOARD_NONE) {
        return hl_err_say(HL_ERR_NO_MEM, "no room for a communicator's shared memory");
    }
    int err = hl_rx_start(); /* peers ask the receive thread for the segment */
    if (err == 0) {
        err = hl_mem_alloc(sizeof(struct area_head) + p->len, &(struct hl_mem_ask){.align = HL_CACHELINE},
                           &b->piece);
    }
    if (err != 0) {
        return err;
    }
    memset(b->piece.addr, 0, sizeof(struct area_head) + p->clear);
    c->seg_id = b->piece.seg->id;
    c->seg_len = b->piece.seg->len;
    c->off = b->piece.off;
    return 0;
}

/* A node of the communicator; the array's index is the node's lowest world rank. */
struct seen {
    int members, index; /* members found so far; index in the board's leaders */
};

static int allocate_board(struct hl_board *b, int size, struct seen **seen)
{
    /* One block of numbers: ranks, node ranks, places, leaders, nodes. */
    b->ranks = malloc(5 * (size_t)size * sizeof *b->ranks);
    b->areas = calloc((size_t)size, sizeof *b->areas);
    b->wants = calloc((size_t)size, sizeof *b->wants);
    *seen = calloc((size_t)hl_job.size, sizeof **seen);
    if (b->ranks == NULL || b->areas == NULL || b->wants == NULL || *seen == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a board of %d ranks", size);
    }
    b->node_ranks = b->ranks + size;
    b->places = b->node_ranks + size;
    b->leaders = b->places + size;
    b->nodes_of = b->leaders + size;
    return 0;
}

/* Gives a member of my node its place. */
static void place_member(struct hl_board *b, const struct hl_comm *comm, int rank, const struct board_card *c)
{
    int node_rank = hl_job_node_of(hl_comm_world(comm, rank));

    b->me = rank == comm->rank ? b->n : b->me;
    b->ranks[b->n] = rank;
    b->node_ranks[b->n] = node_rank;
    b->wants[b->n] =
        (struct hl_near_want){.node_rank = node_rank, .seg_id = c->seg_id, .seg_len = c->seg_len};
    b->places[rank] = b->n++;
}

/* Finds the node and place of all members. `seen`: all zero. */
static void place_all(struct hl_board *b, const struct hl_comm *comm, const struct board_card *cards,
                      struct seen *seen)
{
    int mine = cards[comm->rank].node;

    for (int i = 0; i < comm->size; i++) {
        struct seen *node = &seen[cards[i].node];
        if (node->members++ == 0) {
            node->index = b->nodes;
            b->leaders[b->nodes++] = i;
        }
        b->node_most = node->members > b->node_most ? node->members : b->node_most;
        b->nodes_of[i] = node->index;
        b->places[i] = -1;
        if (cards[i].node == mine) {
            place_member(b, comm, i, &cards[i]);
        }
    }
    b->my_node = b->nodes_of[comm->rank];
}

static int map_areas(struct hl_board *b, const struct board_card *cards)
{
    int err = hl_near_map_all(b->wants, (size_t)b->n);
    for (int i = 0; err == 0 && i < b->n; i++) {
        b->areas[i] = b->wants[i].base + cards[b->ranks[i]].off + sizeof(struct area_head);
    }
    for (int i = 0; err == 0 && i < b->n; i++) {
        if (i != b->me && !hl_match_can_read(b->node_ranks[i])) {
            err = SOME_CANNOT_READ;
        }
    }
    return err;
}

static int first_error(const struct board_card *cards, int size)
{
    int err = 0;
    for (int i = 0; i < size; i++) {
        err = cards[i].err < err ? cards[i].err : err;
    }
    return err;
}

enum board_stage {
    EXCHANGING, /* cards */
    AGREEING,   /* on the smallest finding */
    OVER,
};

/* The state of making a board. */
struct hl_board_maker {
    struct hl_board *board;
    struct hl_comm *comm;
    struct board_card mine, *cards; /* [size] */
    struct seen *seen;              /* [ranks of the job] */
    hl_board_fn *prepare;           /* NULL: nothing is to be prepared */
    void *arg;                      /* argument of `prepare` */
    int agree_tag;
    enum board_stage stage;
    int32_t found, all;       /* what mapping found here, and the smallest of all */
    int err;                  /* first error of the exchanges */
    bool death;               /* a death has spoilt an exchange */
    struct hl_sched exchange; /* the exchange under way: of cards, then of findings */
};

static struct hl_coll_side bytes_at(void *buf, size_t len)
{
    return (struct hl_coll_side){.buf = buf, .count = (int64_t)len, .type = hl_type_of(MPI_BYTE)};
}

static struct hl_coll_side one_int(int32_t *at)
{
    return (struct hl_coll_side){.buf = at, .count = 1, .type = hl_type_of(MPI_INT32_T)};
}

static void begin_exchange(struct hl_board_maker *m, const struct hl_coll_call *call, int tag)
{
    hl_sched_init_tagged(&m->exchange, &hl_coll_net_match, m->comm, HL_PLANE_MAKE, tag);
    hl_coll_build(&m->exchange, call);
}

/* True when the exchange has ended. */
static bool continue_board(struct hl_board_maker *m)
{
    if (!hl_sched_try(&m->exchange)) {
        return false;
    }
    if (m->exchange.err == HL_ERR_NO_MEM) {
        hl_coll_unable(m->comm, HL_ERR_NO_MEM);
    }
    m->err = m->err != 0 ? m->err : m->exchange.err;
    m->death = m->death || m->exchange.err == HL_ERR_PROC_ABORTED;
    hl_sched_fini(&m->exchange);
    return true;
}

static void begin_agreement(struct hl_board_maker *m)
{
    struct hl_coll_call call = {.what = HL_COLL_ALLREDUCE,
                                .comm = m->comm,
                                .op = MPI_MIN,
                                .send = one_int(&m->found),
                                .recv = one_int(&m->all)};

    m->stage = AGREEING;
    begin_exchange(m, &call, m->agree_tag);
}

/* What this member finds. Even errors that all cards show are agreed on, since a member that has not got all
 * cards cannot see them. */
static int32_t find_outcome(struct hl_board_maker *m)
{
    struct hl_board *b = m->board;
    int err = m->err != 0 ? m->err : first_error(m->cards, m->comm->size);

    if (err != 0) {
        return err;
    }
    place_all(b, m->comm, m->cards, m->seen);
    if (b->node_most < 2) {
        return HL_ERR_RMA_SHARED;
    }
    int found = map_areas(b, m->cards);
    if (found >= SOME_CANNOT_READ && m->prepare != NULL) {
        err = m->prepare(b, m->arg);
    }
    return err != 0 ? err : found;
}

/* Takes the smallest finding as the result. A member that found an error itself knows the result without the
 * others. */
static void conclude_board(struct hl_board_maker *m)
{
    struct hl_agreement *v = &m->board->agreement;

    m->stage = OVER;
    if (m->death && m->found >= SOME_CANNOT_READ) {
        hl_agreement_lose(v);
    } else {
        hl_agreement_know(v, m->err != 0 ? m->err : m->all);
    }
}

bool hl_board_step(struct hl_board_maker *m)
{
    if (m->stage == EXCHANGING && continue_board(m)) {
        m->found = find_outcome(m);
        begin_agreement(m);
    }
    if (m->stage == AGREEING && continue_board(m)) {
        conclude_board(m);
    }
    return m->stage == OVER && hl_agreement_ask(&m->board->agreement);
}

static void free_maker(struct hl_board_maker *m)
{
    free(m->cards);
    free(m->seen);
    free(m);
}

int hl_board_begin(struct hl_comm *comm, const struct hl_board_plan *p, struct hl_board_maker **begun)
{
    struct hl_board_maker *m = aligned_alloc(_Alignof(struct hl_board_maker), sizeof *m);
    struct hl_board *b = calloc(1, sizeof *b);
    struct board_card *cards = malloc((size_t)comm->size * sizeof *cards);

    if (m == NULL || b == NULL || cards == NULL) {
        free(m);
        free(b);
        free(cards);
        return hl_coll_unable(
            comm, hl_err_say(HL_ERR_NO_MEM, "no memory to exchange where %d ranks have theirs", comm->size));
    }
    memset(m, 0, offsetof(struct hl_board_maker, exchange));
    m->board = b;
    m->comm = comm;
    m->cards = cards;
    m->prepare = p->prepare;
    m->arg = p->arg;
    m->mine.node = hl_job.node_world[0];
    m->all = HL_ERR_OTHER;
    sweep_boards();
    m->mine.err = allocate_board(b, comm->size, &m->seen);
    m->mine.err = m->mine.err != 0 ? m->mine.err : take_board_area(b, p, &m->mine);
    struct hl_coll_call call = {.what = HL_COLL_ALLGATHER,
                                .comm = comm,
                                .send = bytes_at(&m->mine, sizeof m->mine),
                                .recv = bytes_at(cards, sizeof m->mine)};
    begin_exchange(m, &call, hl_comm_coll_tag(comm));
    m->agree_tag = hl_comm_coll_tag(comm);
    hl_agreement_open(&b->agreement, comm, m->agree_tag);
    *begun = m;
    return 0;
}

int hl_board_end(struct hl_board_maker *m, struct hl_board **made)
{
    struct hl_board *b = m->board;
    int32_t all;
    bool use = hl_agreement_is(&b->agreement, &all) && all >= SOME_CANNOT_READ;
    int err = use ? 0 : m->err;

    b->reads = use && all == ALL_READ;
    hl_stat_rank_add(use ? HL_STAT_RANK_boards : HL_STAT_RANK_boards_refused, 1);
    if (!use) {
        unmap_areas(b);
        hl_agreement_close(&b->agreement);
        discard_board(b, !m->death);
    }
    *made = use ? b : NULL;
    free_maker(m);
    return err;
}

static bool step_board(void *maker)
{
    return hl_board_step(maker);
}

void hl_board_describe(const struct hl_board_maker *m, struct hl_wait_desc *t)
{
    if (m->stage != OVER) {
        hl_sched_describe(&m->exchange, t);
    }
    hl_desc_say(t, ", memory shared by its members");
}

static void describe_maker(const void *maker, struct hl_wait_desc *t)
{
    hl_board_describe(maker, t);
}
HL_HANG_WORDS(step_board, describe_maker);

int hl_board_make(struct hl_comm *comm, const struct hl_board_plan *p, struct hl_board **made)
{
    struct hl_board_maker *m = NULL;
    int err = hl_board_begin(comm, p, &m);

    *made = NULL;
    if (err != 0) {
        return err;
    }
    hl_prog_wait(step_board, m);
    return hl_board_end(m, made);
}
