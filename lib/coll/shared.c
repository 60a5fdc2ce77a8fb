/* Cells: posting them, waiting for them, ending them; and typed data in them. The protocol is in shared.h. */
#include "shared.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "copy.h"
#include "err.h"
#include "match.h"
#include "prog.h"
#include "rx.h"
#include "util.h"

#define BOUNCE ((uint64_t)64 << 10)
#define DEAD_TURNS 64      /* looks at a flag between two questions whether its writer is alive */
#define NO_CALL UINT16_MAX /* hl_shared.what of a member that has met another call */
#define LOOKS 16           /* looks at a flag whose writer runs on another CPU, before this thread yields */

/* ---- Waiting ---- */

struct word_watch {
    const hl_a64 *word;
    uint64_t least;
    int world; /* the writer's world rank */
    unsigned turns;
    const struct hl_comm *comm;
    const struct hl_shared *turns_of; /* NULL: ranks do not take turns */
    int place;                        /* the writer's place */
    const hl_a64 *done;               /* the writer's `done`, in waits for a cell; else NULL */
    uint64_t last;                    /* last number of the call */
};

static bool is_word_there(const struct word_watch *w)
{
    /* acquire: what its writer did before; pairs with the releases in hl_shared_post and hl_shared_end. */
    return hl_a64_load_acquire(w->word) >= w->least;
}

/* The CPU that this thread is on; others can read it, too. */
static uint32_t cpu_of(struct hl_shared_area *mine)
{
    uint32_t here = (uint32_t)sched_getcpu() + 1;

    /* relaxed, both: a hint; only the length of waits depends on it. */
    if (hl_a32_load_relaxed(&mine->cpu) != here) {
        hl_a32_store_relaxed(&mine->cpu, here);
    }
    return here;
}

static bool is_here(const struct hl_shared *s, int place, uint32_t cpu)
{
    return place != s->me && hl_a32_load_relaxed(&s->areas[place]->cpu) == cpu; /* relaxed: a hint */
}

/* A member on my CPU can do nothing while I look; one on another CPU will probably write soon, and a turn of
 * the scheduler costs more than a few looks. */
static bool is_there_soon(const struct word_watch *w)
{
    const struct hl_shared *s = w->turns_of;
    unsigned looks = s != NULL && !is_here(s, w->place, cpu_of(s->areas[s->me])) ? LOOKS : 0;

    for (unsigned i = 0; i < looks && !is_word_there(w); i++) {
        hl_pause();
    }
    return is_word_there(w);
}

/* True if the writer has ended the call without writing the word, as its arguments differ. */
static bool is_writer_left_out(const struct word_watch *w)
{
    /* acquire: what it posted before; pairs with the release in hl_shared_end. */
    return w->done != NULL && hl_a64_load_acquire(w->done) >= w->last && !is_word_there(w);
}

static bool is_word_wait_over(void *arg)
{
    struct word_watch *w = arg;
    return is_there_soon(w) || (++w->turns % DEAD_TURNS == 0 && w->world >= 0 &&
                                (hl_rx_is_dead(w->world) || is_writer_left_out(w)));
}

static void describe_word(const void *arg, struct hl_wait_desc *t)
{
    const struct word_watch *w = arg;

    if (w->comm != NULL) {
        hl_desc_comm(t, w->comm->ctx);
    }
    hl_desc_await(t, w->world);
}
HL_HANG_WORDS(is_word_wait_over, describe_word);

int hl_shared_rank_at(const struct hl_shared *s, int place)
{
    return s->board != NULL ? s->board->ranks[place] : place;
}

static void fail_left_out(struct hl_shared *s, int place)
{
    if (s->err == 0) {
        s->err =
            hl_err_say(HL_ERR_TRUNCATE,
                       "rank %d of the communicator passed fewer bytes than this one, or is in another call",
                       hl_shared_rank_at(s, place));
    }
}

/* From here on this member waits for no more cells, and others learn from its own that it is in none of their
 * calls. */
static HL_COLD void fail_unlike(struct hl_shared *s, int place, unsigned what)
{
    static const char *const calls[] = {
        [HL_COLL_BARRIER] = "MPI_Barrier",     [HL_COLL_BCAST] = "MPI_Bcast",
        [HL_COLL_REDUCE] = "MPI_Reduce",       [HL_COLL_ALLREDUCE] = "MPI_Allreduce",
        [HL_COLL_GATHER] = "MPI_Gather",       [HL_COLL_GATHERV] = "MPI_Gatherv",
        [HL_COLL_SCATTER] = "MPI_Scatter",     [HL_COLL_SCATTERV] = "MPI_Scatterv",
        [HL_COLL_ALLGATHER] = "MPI_Allgather", [HL_COLL_ALLGATHERV] = "MPI_Allgatherv"};
    const char *theirs = what < HL_COUNT_OF(calls) && calls[what] != NULL ? calls[what] : "another call";

    if (s->what != NO_CALL) { /* it says more than that bytes are missing */
        s->err = hl_err_say(HL_ERR_OTHER, "rank %d of the communicator has called %s meanwhile",
                            hl_shared_rank_at(s, place), theirs);
    }
    s->what = NO_CALL;
}

/* Waits until the word is at least `least`. False: its writer has died, or has ended the call without it. */
static bool await_shared_word(struct hl_shared *s, int place, const hl_a64 *word, uint64_t least)
{
    struct word_watch w = {.word = word, .least = least, .world = -1};

    if (HL_LIKELY(is_word_there(&w))) {
        return true;
    }
    if (s->board != NULL) {
        w.world = hl_comm_world(s->comm, s->board->ranks[place]);
        w.comm = s->comm;
    }
    if (word != &s->areas[place]->done) {
        if (s->what == NO_CALL) {
            return false;
        }
        w.done = &s->areas[place]->done;
        w.last = hl_shared_last(s);
    }
    if (hl_prog_crowded()) {
        w.turns_of = s;
        w.place = place;
    }
    if (s->err == 0 || !is_writer_left_out(&w)) { /* after an error more cells may be missing */
        hl_prog_wait_rung(is_word_wait_over, &w);
    }
    if (HL_LIKELY(is_word_there(&w))) {
        return true;
    }
    if (is_writer_left_out(&w)) {
        fail_left_out(s, place);
    } else {
        hl_shared_fail(s, hl_err_say(HL_ERR_PROC_ABORTED, "rank %d has ended", w.world));
    }
    return false;
}

void hl_shared_await_end(struct hl_shared *s, int place)
{
    (void)await_shared_word(s, place, &s->areas[place]->done, s->op);
}

void hl_shared_await_all(struct hl_shared *s)
{
    for (int i = 0; i < s->n; i++) {
        hl_shared_await_end(s, i);
    }
}

/* ---- Cells ---- */

static unsigned cell_slot(const struct hl_shared *s)
{
    return (unsigned)(s->op + s->op / HL_SHARED_CALL * HL_SHARED_STEP) & (s->slots - 1);
}

/* Waits until all have ended operation `want`, whose cell is in my slot. Mostly this is needed once in
 * several operations. */
static void free_slot(struct hl_shared *s, uint64_t want)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < s->n; i++) {
        if (i != s->me) {
            if (!await_shared_word(s, i, &s->areas[i]->done, want)) {
                continue; /* it has died: it reads nothing any more */
            }
            uint64_t done = hl_a64_load_acquire(&s->areas[i]->done); /* acquire: pairs with hl_shared_end */
            least = done < least ? done : least;
        }
    }
    s->free = least != UINT64_MAX ? least : want;
}

void *hl_shared_room(struct hl_shared *s)
{
    unsigned slot = cell_slot(s);

    if (HL_UNLIKELY(s->posted[slot] > s->free)) {
        free_slot(s, s->posted[slot]);
    }
    return s->areas[s->me]->cells[slot].data;
}

void hl_shared_post(struct hl_shared *s, enum hl_cell_kind kind, uint64_t len, const void *addr)
{
    unsigned slot = cell_slot(s);
    struct hl_cell *cell = &s->areas[s->me]->cells[slot];

    s->posted[slot] = s->op;
    cell->len = len;
    cell->addr = (uint64_t)(uintptr_t)addr;
    cell->err = s->err;
    cell->kind = (uint16_t)kind;
    cell->what = s->what;
    /* release: the cell, and all that this member did before; pairs with the acquire in is_word_there. */
    hl_a64_store_release(&cell->op, s->op);
}

const struct hl_cell *hl_shared_await(struct hl_shared *s, int place)
{
    const struct hl_cell *cell = &s->areas[place]->cells[cell_slot(s)];

    if (!await_shared_word(s, place, &cell->op, s->op)) {
        return NULL;
    }
    /* relaxed: acquired in await_shared_word. A later number: the member has ended this call without the
     * cell. */
    if (HL_UNLIKELY(hl_a64_load_relaxed(&cell->op) != s->op)) {
        fail_left_out(s, place);
        return NULL;
    }
    unsigned what = HL_ONCE(cell->what);
    if (HL_UNLIKELY(what != s->what)) {
        fail_unlike(s, place, what);
        return NULL;
    }
    int err = HL_ONCE(cell->err);
    if (HL_UNLIKELY(err != 0 && s->err == 0)) {
        hl_shared_fail(s, hl_err_say(err, "rank %d of the communicator failed in this call",
                                     hl_shared_rank_at(s, place)));
    }
    return cell;
}

void hl_shared_await_mates(struct hl_shared *s)
{
    if (!hl_prog_crowded()) {
        return;
    }
    uint32_t here = cpu_of(s->areas[s->me]);
    for (int i = 0; i < s->n; i++) {
        if (is_here(s, i, here)) {
            (void)await_shared_word(s, i, &s->areas[i]->cells[cell_slot(s)].op, s->op);
        }
    }
}

const struct hl_cell *hl_shared_seen(const struct hl_shared *s, int place)
{
    const struct hl_cell *cell = &s->areas[place]->cells[cell_slot(s)];

    /* relaxed: the caller only prefetches; readers have awaited the cell. */
    return hl_a64_load_relaxed(&cell->op) >= s->op ? cell : NULL;
}

void hl_shared_end(struct hl_shared *s)
{
    /* release: my reads of others' cells and addresses are over; pairs with the acquire in is_word_there. */
    hl_a64_store_release(&s->areas[s->me]->done, s->op);
}

void hl_shared_wake(const struct hl_shared *s, int place)
{
    if (place != s->me) {
        s->wake(&s->others[place < s->me ? place : place - 1], 1);
    }
}

/* ---- Typed data ---- */

void *hl_shared_temp(struct hl_shared *s, uint64_t len)
{
    s->temp = malloc(len + 1);
    if (s->temp == NULL) {
        hl_shared_fail(s, hl_err_say(HL_ERR_NO_MEM, "no memory to pack %llu bytes", (unsigned long long)len));
    }
    return s->temp;
}

void hl_shared_read(struct hl_shared *s, int place, uint64_t addr, void *to, uint64_t n)
{
    if (n > 0) {
        hl_shared_fail(s, hl_match_read(s->board->node_ranks[place], addr, to, n));
    }
}

void hl_shared_write(struct hl_shared *s, int place, uint64_t addr, const void *from, uint64_t n)
{
    if (n > 0) {
        hl_shared_fail(s, hl_match_write(s->board->node_ranks[place], addr, from, n));
    }
}

void hl_shared_pack(struct hl_shared *s, struct hl_data from, void *to, int64_t bytes)
{
    char *start;

    if (hl_type_block(from.type, from.count, from.buf, &start)) {
        hl_copy(to, start, (size_t)bytes);
    } else {
        hl_shared_fail(s, hl_type_pack(from.type, from.count, from.buf, 0, to, bytes));
    }
}

void hl_shared_fill(struct hl_shared *s, struct hl_data from, int64_t at, void *room, int64_t bytes)
{
    char *start;

    if (hl_type_block(from.type, from.count, from.buf, &start)) {
        hl_copy_out(&s->out, room, start + at, (size_t)bytes);
    } else if (!s->out.past || bytes < HL_COPY_LEAST) {
        hl_shared_fail(s, hl_type_pack(from.type, from.count, from.buf, at, room, bytes));
    } else {
        hl_shared_fail(s, hl_type_pack(from.type, from.count, from.buf, at, s->packed, bytes));
        hl_copy_out(&s->out, room, s->packed, (size_t)bytes);
    }
}

bool hl_shared_give(struct hl_shared *s, struct hl_data from)
{
    int64_t bytes = from.count * from.type->size;
    char *start;

    if (bytes <= HL_SHARED_DATA) {
        void *room = hl_shared_room(s);
        if (bytes > 0) {
            hl_shared_fill(s, from, 0, room, bytes);
        }
        hl_shared_post(s, HL_CELL_DATA, (uint64_t)bytes, NULL);
        return false;
    }
    (void)hl_shared_room(s);
    if (!hl_type_block(from.type, from.count, from.buf, &start)) {
        start = hl_shared_temp(s, (uint64_t)bytes);
        if (start != NULL) {
            hl_shared_pack(s, from, start, bytes);
        }
    }
    if (start == NULL) {
        hl_shared_post(s, HL_CELL_DATA, 0, NULL); /* with its error */
        return false;
    }
    hl_shared_post(s, HL_CELL_ADDR, (uint64_t)bytes, start);
    return true;
}

/* Copies `n` bytes from a place's memory into a layout that is not one block. */
static void scatter_from_place(struct hl_shared *s, int place, uint64_t addr, struct hl_data to, uint64_t n)
{
    char *bounce = malloc(BOUNCE);

    if (bounce == NULL) {
        hl_shared_fail(s, hl_err_say(HL_ERR_NO_MEM, "no memory to unpack %llu bytes", (unsigned long long)n));
    }
    for (uint64_t at = 0; bounce != NULL && at < n; at += BOUNCE) {
        uint64_t part = n - at < BOUNCE ? n - at : BOUNCE;
        hl_shared_read(s, place, addr + at, bounce, part);
        if (s->err == 0) {
            hl_shared_fail(s, hl_type_unpack(to.type, to.count, to.buf, (int64_t)at, bounce, (int64_t)part));
        }
    }
    free(bounce);
}

static HL_COLD void fail_size(struct hl_shared *s, int place, uint64_t bytes, uint64_t room)
{
    hl_shared_fail(s, hl_coll_say_long((int64_t)bytes, hl_shared_rank_at(s, place), (int64_t)room));
}

void hl_shared_fail_size(struct hl_shared *s, int place, const struct hl_cell *cell, uint64_t room)
{
    fail_size(s, place, cell->kind == HL_CELL_PIECE ? cell->addr : cell->len, room);
}

void hl_shared_take_from(struct hl_shared *s, int place, uint64_t addr, uint64_t len, struct hl_data to)
{
    uint64_t room = (uint64_t)(to.count * to.type->size), n = len < room ? len : room;
    char *start;

    if (HL_UNLIKELY(len > room)) {
        fail_size(s, place, len, room);
    }
    if (n == 0) {
        return;
    }
    if (hl_type_block(to.type, to.count, to.buf, &start)) {
        hl_shared_read(s, place, addr, start, n);
    } else {
        scatter_from_place(s, place, addr, to, n);
    }
}

void hl_shared_take(struct hl_shared *s, int place, const struct hl_cell *cell, struct hl_data to)
{
    uint64_t room = (uint64_t)(to.count * to.type->size), len = HL_ONCE(cell->len);
    uint64_t most = room < HL_SHARED_DATA ? room : HL_SHARED_DATA, n = len < most ? len : most;
    uint32_t kind = HL_ONCE(cell->kind);
    char *start = NULL;

    if (kind == HL_CELL_ADDR) {
        hl_shared_take_from(s, place, cell->addr, len, to);
        return;
    }
    if (HL_UNLIKELY(len > most || kind == HL_CELL_PIECE)) {
        hl_shared_fail_size(s, place, cell, room);
    }
    if (n == 0) {
        return;
    }
    if (hl_type_block(to.type, to.count, to.buf, &start)) {
        hl_copy_in(start, cell->data, n);
    } else {
        hl_shared_fail(s, hl_type_unpack(to.type, to.count, to.buf, 0, cell->data, (int64_t)n));
    }
}

int64_t hl_shared_take_piece(struct hl_shared *s, const struct hl_cell *cell, struct hl_data data, int64_t at)
{
    int64_t all = data.count * data.type->size, room = all - at, len = (int64_t)HL_ONCE(cell->len);
    int64_t most = room < HL_SHARED_DATA ? room : HL_SHARED_DATA, n = len < most ? len : most;
    char *start;

    if (len > 0 && len > most) {
        hl_shared_fail(s, hl_err_say(HL_ERR_TRUNCATE,
                                     "more bytes came than the %lld for which the buffer has room",
                                     (long long)all));
    }
    if (n <= 0) {
        return 0;
    }
    if (hl_type_block(data.type, data.count, data.buf, &start)) {
        hl_copy_in(start + at, cell->data, (size_t)n);
    } else {
        hl_shared_fail(s, hl_type_unpack(data.type, data.count, data.buf, at, cell->data, n));
    }
    return n;
}

void hl_shared_leads_run(struct hl_shared *s, struct hl_coll_call *c)
{
    struct hl_sched *sched = hl_sched_take();

    c->comm = &s->leads;
    if (sched == NULL) {
        hl_shared_fail(s, HL_ERR_NO_MEM);
        return;
    }
    hl_sched_init_tagged(sched, &hl_coll_net_match, &s->leads, HL_PLANE_COLL, s->tag);
    int err = hl_coll_build(sched, c);
    hl_shared_fail(s, err != 0 ? err : hl_sched_run(sched));
    hl_sched_give(sched);
}

struct hl_shared *hl_shared_make(struct hl_shared_area *const *areas, int n, int me)
{
    size_t head = sizeof(struct hl_shared) + (size_t)n * (sizeof(struct hl_shared_area *) + sizeof(int));
    head = hl_round_up(head, 64);
    struct hl_shared *s = aligned_alloc(64, head + 2 * HL_SHARED_DATA);

    if (s != NULL) {
        memset(s, 0, head);
        s->operand = (char *)s + head;
        s->packed = s->operand + HL_SHARED_DATA;
        s->n = n;
        s->me = me;
        s->slots = HL_SHARED_SLOTS;
        s->others = (int *)(void *)&s->areas[n];
        s->wake = hl_prog_wake_peers;
        memcpy(s->areas, areas, (size_t)n * sizeof *areas);
    }
    return s;
}
