/* Large messages on a node: the receiver reads from the front while the sender writes from the back.
 *
 *   receiver                         sender
 *   takes a split copy, fills it
 *   HELP {name, where, split}  -->   notes it; when it polls:
 *   claims a piece, reads it         claims a piece, writes it
 *   ... until none is left           ... until none is left
 *   counts itself out
 *   last: FIN                  -->   completes
 *                              <--   last: ENDED {own name}, completes
 *
 * A sender that computes is not waited for: then the receiver copies all. One word in the receiver's
 * node-shared memory holds `begin` and `end` of the pages that nobody has claimed, and the split copy's
 * generation, so that a late helper finds nothing. A claimed piece keeps the message open until it is
 * counted, so buffers and request stay alive. Pieces shrink with what is left, so that both ends are done at
 * about one time.
 *
 * `done` counts copied pages, and LEFT when the receiver has left: the end that brings it to pages + LEFT is
 * the last, and ends the message. If any piece failed, the receiver asks for all bytes, as if it had read
 * none. */
#include "split_copy.h"

#include "job.h"
#include "log.h"
#include "stat.h"

#include <stdlib.h>

/* Below this size, asking the sender for help costs more than it gains. */
#define SPLIT_MIN (2 * PIECE_MIN)
#define PIECE_MIN UINT64_C(32768)
#define PIECE_MAX UINT64_C(1048576) /* limits the time that a poll of the sender copies */
#define PAGE UINT64_C(4096)

/* The word `left`: generation << 24 | end << 12 | begin; begin and end count units of the message. */
#define PLACE_BITS 12
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)

/* Bits of `done`, above the units. */
#define LEFT (UINT64_C(1) << 32) /* the receiver copies no more */
/* its sender has died: a receiver that leaves later gives the split copy back */
#define FORGOTTEN (UINT64_C(1) << 33)
#define GENERATION UINT64_C(0xffffffffff)

/* What the sender remembers of a HELP. */
struct hl_help {
    struct hl_help *next;
    struct hl_peer *peer;
    struct hl_msg_help what;
    char *from; /* the sender's buffer */
};

struct copy_piece {
    uint64_t at, n; /* bytes */
    uint64_t units; /* units that `done` counts for it */
};

/* Bytes of a unit: a page, doubled until the units of the message fit PLACE_BITS. */
static uint64_t unit_of(uint64_t bytes)
{
    uint64_t unit = PAGE;
    while (bytes / unit >= PLACE_MASK) {
        unit *= 2;
    }
    return unit;
}

static uint64_t units_of(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit;
}

/* Claims the next piece from the front or the back. False: all are claimed, or the split copy has moved
 * on. */
static bool claim_piece(struct hl_split *j, uint64_t generation, uint64_t bytes, bool front,
                        struct copy_piece *piece)
{
    uint64_t unit = unit_of(bytes), most = PIECE_MAX / unit, least = PIECE_MIN / unit;
    /* relaxed: the CAS checks it. */
    uint64_t word = hl_a64_load_relaxed(&j->left), next, begin, end, n;
    do {
        begin = word & PLACE_MASK;
        end = word >> PLACE_BITS & PLACE_MASK;
        if (word >> (2 * PLACE_BITS) != generation || begin >= end) {
            return false;
        }
        n = (end - begin) / 2; /* large pieces: each system call costs as much as about 16 KiB */
        n = n < most ? n : most;
        n = n > least ? n : least;
        n = n > 0 ? n : 1;
        n = n < end - begin ? n : end - begin;
        next = front ? word + n : word - (n << PLACE_BITS);
        /* full: the claimer sees the split copy as it was opened, and nobody else has the piece; pairs with
         * open_split. */
    } while (!hl_a64_cas_full(&j->left, &word, next));
    piece->at = (front ? begin : end - n) * unit;
    piece->n = hl_min_size(n * unit, bytes - piece->at);
    piece->units = n;
    return true;
}

/* ---- The receiver ---- */

static struct hl_split *take_split(struct hl_match_part *mine, uint32_t *index)
{
    /* relaxed: the CAS checks it. */
    uint64_t taken = hl_a64_load_relaxed(&mine->splits_taken);
    while (taken != UINT64_MAX) {
        unsigned i = (unsigned)__builtin_ctzll(~taken);
        /* full: its last user has left; pairs with the full and in give_split. */
        if (hl_a64_cas_full(&mine->splits_taken, &taken, taken | (UINT64_C(1) << i))) {
            *index = i;
            return &mine->splits[i];
        }
    }
    return NULL;
}

static void give_split(struct hl_match_part *mine, uint32_t i)
{
    /* full: this rank's reads of it come before; pairs with the CAS in take_split. */
    hl_a64_and_full(&mine->splits_taken, ~(UINT64_C(1) << i));
}

/* Opens a split copy for this message and asks the sender to help. NULL: no help is possible or wanted. */
static struct hl_split *open_split(struct hl_matcher *m, struct hl_peer *p, struct hl_req *r, const char *to,
                                   struct hl_msg_help *help)
{
    struct hl_match_part *mine = hl_match_part_of(m, m->node_rank);
    uint64_t n = (uint64_t)r->bytes;
    uint32_t index;
    /* With more threads than CPUs a helper would only take another thread's CPU. */
    bool wanted = n >= SPLIT_MIN && p->node != m->node_rank && !hl_prog_crowded();
    struct hl_split *j = wanted ? take_split(mine, &index) : NULL;
    if (j == NULL) {
        return NULL;
    }
    /* relaxed, all: the store of `left` publishes them. */
    uint64_t generation = ((hl_a64_load_relaxed(&j->left) >> (2 * PLACE_BITS)) + 1) & GENERATION;
    hl_a64_store_relaxed(&j->done, 0);
    hl_a32_store_relaxed(&j->failed, 0);
    /* release: the split copy is ready; pairs with the CAS in claim_piece. */
    hl_a64_store_release(&j->left, generation << (2 * PLACE_BITS) | units_of(n, unit_of(n)) << PLACE_BITS);
    *help = (struct hl_msg_help){hl_recv_body(r)->fetch.name, (uint64_t)(uintptr_t)to, n,
                                 generation << HL_SPLIT_BITS | index};
    struct hl_ring_slot slot;
    hl_control_start(m, &slot, HL_MSG_HELP);
    slot.area.help = *help;
    if (!hl_control_push(m, p, &slot)) {
        give_split(mine, index);
        return NULL;
    }
    return j;
}

/* Leaves the rest to the sender, which will tell when it has copied it. False: it has finished meanwhile. */
static bool leave_rest(struct hl_matcher *m, struct hl_req *r, struct hl_split *j, uint32_t index,
                       uint64_t units)
{
    struct hl_recv_body *b = hl_recv_body(r);
    uint64_t own;
    b->fetch.addr = index;
    b->fetch.offered = HL_FETCH_SPLIT;
    if (!hl_name_give(&m->names, r, &own)) {
        hl_log(HL_LOG_ERROR, "no memory to copy a large message by several ranks; the job ends");
        hl_job_abort(1);
    }
    j->back = own;
    /* full: publishes the name; the last to count sees all that the other copied. */
    uint64_t done = hl_a64_add_full(&j->done, LEFT); /* `r` may be gone from here on */
    if ((done & FORGOTTEN) != 0) {
        give_split(hl_match_part_of(m, m->node_rank), index);
    }
    return done != units || hl_name_take(&m->names, own) == NULL;
}

enum hl_fetched hl_split_fetch(struct hl_matcher *m, struct hl_peer *p, struct hl_req *r, char *to)
{
    uint64_t from = hl_recv_body(r)->fetch.addr, n = (uint64_t)r->bytes, units = units_of(n, unit_of(n));
    struct hl_msg_help help;
    struct hl_split *j = open_split(m, p, r, to, &help);
    if (j == NULL) {
        return hl_cma_move(m, p, HL_NEAR_READ, from, to, n) ? HL_FETCHED : HL_FETCHED_NOT;
    }
    uint32_t index = (uint32_t)help.split & (HL_SPLITS - 1);
    struct copy_piece piece;
    while (claim_piece(j, help.split >> HL_SPLIT_BITS, n, true, &piece)) {
        if (!hl_cma_move(m, p, HL_NEAR_READ, from + piece.at, to + piece.at, piece.n)) {
            hl_a32_store_relaxed(&j->failed, 1); /* relaxed: the add publishes it. */
        }
        hl_a64_add_full(&j->done, piece.units); /* full: the last to count sees this copy */
    }
    /* acquire: what the sender copied is here; pairs with the full add in hl_split_help. */
    if (hl_a64_load_acquire(&j->done) != units && leave_rest(m, r, j, index, units)) {
        return HL_FETCHED_SOON;
    }
    bool failed = hl_a32_load_relaxed(&j->failed) != 0; /* relaxed: the look at `done` ordered it. */
    hl_recv_body(r)->fetch.offered = HL_FETCH_PLAIN;
    give_split(hl_match_part_of(m, m->node_rank), index);
    return failed ? HL_FETCHED_NOT : HL_FETCHED;
}

void hl_split_forget(struct hl_matcher *m, struct hl_req *r)
{
    struct hl_fetch *f = &hl_recv_body(r)->fetch;
    if (f->offered != HL_FETCH_SPLIT) {
        return;
    }
    f->offered = HL_FETCH_PLAIN;
    struct hl_match_part *mine = hl_match_part_of(m, m->node_rank);
    /* full: either this thread sees LEFT, or leave_rest sees FORGOTTEN. */
    if ((hl_a64_add_full(&mine->splits[f->addr].done, FORGOTTEN) & LEFT) != 0) {
        give_split(mine, (uint32_t)f->addr);
    }
}

void hl_split_ended(struct hl_matcher *m, const struct hl_msg_ended *ended)
{
    struct hl_req *r = hl_name_find(&m->names, ended->cookie);
    if (r == NULL || r->what != HL_REQ_RECV || hl_recv_body(r)->fetch.offered != HL_FETCH_SPLIT) {
        return;
    }
    hl_name_take(&m->names, ended->cookie);
    hl_split_forget(m, r);
    hl_rndv_ended(m, r, ended->failed != 0);
}

/* ---- The sender ---- */

void hl_split_offered(struct hl_matcher *m, const struct hl_ring_slot *slot)
{
    const struct hl_msg_help *what = &slot->area.help;
    struct hl_req *r = hl_name_find(&m->names, what->cookie);
    struct hl_peer *p = &m->near[slot->head.from];
    if (r == NULL || r->what != HL_REQ_SEND || hl_send_body(r)->dest != p->world) {
        return;
    }
    const struct hl_send_body *b = hl_send_body(r);
    int64_t len = 0;
    char *from;
    if (!hl_type_bytes(b->type, b->count, &len) || what->n > (uint64_t)len ||
        !hl_type_block(b->type, b->count, b->buf, &from)) {
        return;
    }
    struct hl_help *help = malloc(sizeof(*help));
    if (help == NULL) {
        return; /* the receiver copies all */
    }
    *help = (struct hl_help){.peer = p, .what = *what, .from = from};
    hl_mutex_lock(&m->stream_lock);
    *m->helps_tail = help;
    m->helps_tail = &help->next;
    hl_a32_add_relaxed(&m->n_streams, 1); /* relaxed: a hint for the poller */
    hl_mutex_unlock(&m->stream_lock);
}

static struct hl_help *take_help(struct hl_matcher *m)
{
    hl_mutex_lock(&m->stream_lock);
    struct hl_help *help = m->helps;
    if (help != NULL) {
        m->helps = help->next;
        if (m->helps == NULL) {
            m->helps_tail = &m->helps;
        }
    }
    hl_mutex_unlock(&m->stream_lock);
    return help;
}

static void put_back(struct hl_matcher *m, struct hl_help *help)
{
    hl_mutex_lock(&m->stream_lock);
    help->next = m->helps;
    m->helps = help;
    if (help->next == NULL) {
        m->helps_tail = &help->next;
    }
    hl_mutex_unlock(&m->stream_lock);
}

static void drop_help(struct hl_matcher *m, struct hl_help *help)
{
    hl_a32_add_relaxed(&m->n_streams, (uint32_t)-1); /* relaxed: a hint for the poller */
    free(help);
}

/* Ends the message: everything is copied, and the receiver has left. */
static void end_split_copy(struct hl_matcher *m, const struct hl_help *help, const struct hl_split *j)
{
    bool failed = hl_a32_load_relaxed(&j->failed) != 0; /* relaxed: the last add ordered it. */
    union hl_msg_area ended = {.ended = {.cookie = j->back, .failed = failed}};
    hl_control_send(m, help->peer, HL_MSG_ENDED, &ended);
    struct hl_req *r = failed ? NULL : hl_name_take(&m->names, help->what.cookie);
    if (r != NULL) {
        hl_send_end(r);
        hl_matcher_wake(m);
    }
}

int hl_split_help(struct hl_matcher *m)
{
    struct hl_help *help = take_help(m);
    if (help == NULL) {
        return 0;
    }
    const struct hl_msg_help *what = &help->what;
    struct hl_match_part *theirs = hl_match_part_of(m, help->peer->node);
    struct hl_split *j = &theirs->splits[what->split & (HL_SPLITS - 1)];
    struct copy_piece piece;
    if (!hl_cma_works(m, help->peer) ||
        !claim_piece(j, what->split >> HL_SPLIT_BITS, what->n, false, &piece)) {
        drop_help(m, help);
        return 1;
    }
    bool ok =
        hl_cma_move(m, help->peer, HL_NEAR_WRITE, what->addr + piece.at, help->from + piece.at, piece.n);
    if (!ok) {
        hl_a32_store_relaxed(&j->failed, 1); /* relaxed: the add publishes it. */
    }
    hl_stat_rank_add(HL_STAT_RANK_pieces_helped, 1);
    uint64_t unit = unit_of(what->n);
    /* full: publishes what was copied; the last to count sees all that the other copied. */
    if (hl_a64_add_full(&j->done, piece.units) + piece.units == units_of(what->n, unit) + LEFT) {
        end_split_copy(m, help, j);
        drop_help(m, help);
    } else if (!ok) {
        drop_help(m, help);
    } else {
        put_back(m, help);
    }
    return 1;
}

void hl_split_close(struct hl_matcher *m)
{
    struct hl_help *help;
    while ((help = take_help(m)) != NULL) {
        drop_help(m, help);
    }
}
