/* Making mailboxes, within a budget of memory. */
#include "boxes.h"

#include <stdlib.h>

#include "algos.h"
#include "conf.h"
#include "err.h"
#include "flight.h"
#include "job.h"
#include "log.h"
#include "prog.h"
#include "util.h"

static hl_a64 used;    /* atomic: bytes of all mailboxes on this rank */
static hl_a32 making;  /* atomic: number of flights that make mailboxes */
static hl_a32 refused; /* atomic: not 0 when the refusal was logged */

static int members_here(const struct hl_comm *comm)
{
    int n = 0;

    for (int i = 0; i < comm->size; i++) {
        n += hl_job_node_of(hl_comm_world(comm, i)) >= 0;
    }
    return n;
}

static bool take_budget(size_t bytes, uint64_t most)
{
    /* relaxed: a sum orders nothing. */
    if (hl_a64_add_relaxed(&used, bytes) + bytes <= most) {
        return true;
    }
    hl_a64_add_relaxed(&used, -(uint64_t)bytes);
    return false;
}

static void say_refused(void)
{
    if (hl_a32_xchg_acquire(&refused, 1) == 0) { /* acquire: for form; only one caller gets 0. */
        char most[HL_BYTES_TEXT];
        hl_bytes_text(hl_conf.a2a_mem, most);
        hl_log(HL_LOG_INFO,
               "mailboxes of alltoall would exceed %s here (HOTLANE_A2A_MEM): some communicators use "
               "messages",
               most);
    }
}

static void give_budget(size_t bytes)
{
    hl_a64_add_relaxed(&used, -(uint64_t)bytes); /* relaxed: a sum orders nothing. */
}

static struct hl_boxes *allocate_boxes(const struct hl_comm *comm)
{
    size_t pairs = (size_t)comm->size * sizeof(struct hl_mail_pair);
    struct hl_boxes *b = calloc(1, sizeof *b + pairs);

    if (b != NULL) {
        b->near_ranks = malloc((size_t)comm->size * sizeof *b->near_ranks);
    }
    if (b == NULL || b->near_ranks == NULL) {
        free(b);
        hl_err_say(HL_ERR_NO_MEM, "no memory for mailboxes of %d ranks", comm->size);
        return NULL;
    }
    b->epoch = HL_MAIL_FIRST - 1;
    b->ctx = comm->ctx;
    hl_refs_begin(&b->refs);
    return b;
}

/* Bytes of each of `n` rings in an area; 0: no rings. */
static size_t ring_bytes(int n)
{
    size_t bytes = HL_RING_MOST;

    while (bytes * (size_t)n > HL_RINGS_BYTES && bytes >= HL_RING_LEAST) {
        bytes /= 2;
    }
    return bytes >= HL_RING_LEAST ? bytes : 0;
}

/* Connects the pairs. An area has first all boxes, then all rings; a member's place tells which box is its.
 * `rings`: my area has rings. */
static void connect_pairs(struct hl_boxes *b, bool rings)
{
    const struct hl_board *board = b->board;
    size_t n = (size_t)board->n, ring = ring_bytes(board->n - 1);
    char *mine = board->areas[board->me];

    for (int i = 0; i < board->n; i++) {
        struct hl_mail_pair *p = &b->pair[board->ranks[i]];
        struct hl_mailbox *out = (struct hl_mailbox *)(void *)board->areas[i] + board->me;
        struct hl_mailbox *in = (struct hl_mailbox *)(void *)mine + i;
        if (i == board->me) {
            continue;
        }
        /* Each member leaves itself out of its rings. */
        p->out_ring = board->areas[i] + n * sizeof *out + (size_t)(board->me - (board->me > i)) * ring;
        p->in_ring = mine + n * sizeof *in + (size_t)(i - (i > board->me)) * ring;
        p->ring = ring;
        hl_mail_pair_init(p, out, in);
        /* relaxed: a sender that sees it late uses another way; the ring's memory needs no preparation. */
        hl_a64_store_relaxed(&in->room, rings ? ring : 0);
        b->near_ranks[b->n_near++] = board->node_ranks[i];
    }
}

/* ---- Making ---- */

/* A flight that makes them. */
struct boxes_flight {
    struct hl_flight flight;
    struct hl_comm *comm; /* with a reference, as has `boxes` */
    struct hl_boxes *boxes;
    struct hl_board_maker *maker;
    size_t boxes_bytes, all_bytes; /* bytes of my area without and with rings */
};

static bool step_boxes(struct hl_flight *f)
{
    struct boxes_flight *m = HL_CONTAINER_OF(f, struct boxes_flight, flight);
    struct hl_wait_desc t = {0};
    bool over = hl_board_step(m->maker);

    if (!over && hl_hang_is_on()) {
        hl_board_describe(m->maker, &t);
        hl_a32_store_relaxed(&m->boxes->awaited,
                             t.n > 0 ? (uint32_t)t.ranks[0] + 1 : 0); /* relaxed: a hint */
    }
    return over;
}

/* Ends the making. An error of the exchange counts as a refusal: the operations that wait will see it,
 * too. */
static void land_boxes(struct hl_flight *f)
{
    struct boxes_flight *m = HL_CONTAINER_OF(f, struct boxes_flight, flight);
    struct hl_boxes *b = m->boxes;

    hl_board_end(m->maker, &b->board);
    if (b->board != NULL) {
        connect_pairs(b, b->bytes == m->all_bytes);
    }
    /* release: publishes them; pairs with the acquire in hl_boxes_state. */
    hl_a32_store_release(&b->state, b->board != NULL ? HL_BOXES_READY : HL_BOXES_REFUSED);
    hl_boxes_drop(b);
    hl_comm_unref(m->comm);
    free(m);
    hl_a32_add_relaxed(&making, UINT32_MAX); /* relaxed: hl_boxes_quiet waits for 0 and needs nothing else */
}

/* Takes the bytes of my area from the budget: rings may take only half of it, the rest is for later
 * communicators' boxes. 0: no room. */
static size_t take_boxes_area(struct boxes_flight *m)
{
    int n = members_here(m->comm);

    m->boxes_bytes = (size_t)n * sizeof(struct hl_mailbox);
    m->all_bytes = m->boxes_bytes + (size_t)(n - 1) * ring_bytes(n - 1);
    if (take_budget(m->all_bytes, hl_conf.a2a_mem / 2)) {
        return m->all_bytes;
    }
    if (take_budget(m->boxes_bytes, hl_conf.a2a_mem)) {
        return m->boxes_bytes;
    }
    say_refused();
    return 0;
}

int hl_boxes_make(struct hl_comm *comm, struct hl_boxes **made)
{
    struct boxes_flight *m = calloc(1, sizeof *m);
    struct hl_boxes *b = m != NULL ? allocate_boxes(comm) : NULL;
    int err = m == NULL   ? hl_err_say(HL_ERR_NO_MEM, "no memory to make mailboxes of %d ranks", comm->size)
              : b != NULL ? hl_flight_ready()
                          : HL_ERR_NO_MEM;

    if (err != 0) {
        hl_boxes_drop(b);
        free(m);
        return hl_coll_unable(comm, err);
    }
    m->flight = (struct hl_flight){.step = step_boxes, .end = land_boxes};
    m->comm = comm;
    m->boxes = b;
    b->bytes = take_boxes_area(m);
    struct hl_board_plan plan = {b->bytes != 0 ? b->bytes : HL_BOARD_NONE, m->boxes_bytes, NULL, NULL};
    err = hl_board_begin(comm, &plan, &m->maker);
    if (err != 0) {
        hl_boxes_drop(b);
        free(m);
        return err;
    }
    hl_comm_ref(comm);
    hl_a32_store_relaxed(&b->refs, 2); /* relaxed: no other thread knows it yet */
    hl_a32_add_relaxed(&making, 1);    /* relaxed: a count orders nothing */
    (void)hl_flight_start(&m->flight); /* its only error was ruled out by hl_flight_ready */
    *made = b;
    return 0;
}

void hl_boxes_drop(struct hl_boxes *b)
{
    if (b != NULL && hl_refs_drop(&b->refs)) {
        hl_board_drop(b->board);
        give_budget(b->bytes);
        free(b->near_ranks);
        free(b);
    }
}

static bool are_boxes_settled(void *boxes)
{
    return hl_boxes_state(boxes) != HL_BOXES_PENDING;
}

void hl_boxes_describe(const struct hl_boxes *b, struct hl_wait_desc *t)
{
    hl_desc_comm(t, b->ctx);
    hl_desc_say(t, ", memory of its members for alltoall");
    hl_desc_await(t, (int)hl_a32_load_relaxed(&b->awaited) - 1); /* relaxed: a hint */
}

static void describe_pending(const void *boxes, struct hl_wait_desc *t)
{
    hl_boxes_describe(boxes, t);
}
HL_HANG_WORDS(are_boxes_settled, describe_pending);

bool hl_boxes_wait(struct hl_boxes *b)
{
    hl_prog_wait(are_boxes_settled, b);
    return hl_boxes_state(b) == HL_BOXES_READY;
}

static bool is_no_box_made(void *unused)
{
    return hl_a32_load_relaxed(&making) == 0; /* relaxed: a count orders nothing */
}

static void describe_making(const void *unused, struct hl_wait_desc *t)
{
    hl_desc_say(t, "mailboxes for alltoall that are being made with other ranks");
}
HL_HANG_WORDS(is_no_box_made, describe_making);

void hl_boxes_quiet(void)
{
    hl_prog_wait(is_no_box_made, NULL);
}

/* ---- A communicator's ---- */

static void drop_part(struct hl_comm_part *part)
{
    hl_boxes_drop(HL_CONTAINER_OF(part, struct hl_boxes, part));
}

int hl_boxes_of(struct hl_comm *comm, struct hl_boxes **boxes)
{
    struct hl_comm_part *part = comm->parts[HL_PART_BOXES];

    if (HL_LIKELY(part != NULL)) {
        *boxes = HL_CONTAINER_OF(part, struct hl_boxes, part);
        return 0;
    }
    int err = hl_boxes_make(comm, boxes);
    if (err == 0) {
        (*boxes)->part.drop = drop_part;
        comm->parts[HL_PART_BOXES] = &(*boxes)->part;
    }
    return err;
}
