/* Operations on private memory of node peers. The kernel copies bytes where it lets us (cma.c). The peer's
 * receive thread does everything else, and every atomic, so that an element has one mechanism: the owner's
 * CPU.
 *
 *   a slot:  free --take--> mine: filled --HL_WIRE_RPC--> peer's: served, rc --done--> mine --leave--> free
 *
 * Operands stand at the request slot's beginning, what is fetched in its second half. For layouts (ROWS) the
 * beginning says where each block belongs, then come the operands of all blocks, contiguous, as is what is
 * fetched. */
#include "rpc.h"

#include <string.h>

#include "err.h"
#include "job.h"
#include "layout.h"
#include "prog.h"
#include "rx.h"
#include "stat.h"

/* What the receive thread shall do; ROWS is a flag. */
enum rpc_verb { PUT, GET, ACC, GET_ACC, CAS, ROWS = 16 };

/* A block of a layout: its offset in the window, and how many bytes or elements. */
struct rpc_row {
    uint64_t at, n;
};

/* One request: `send` bytes of operands go along, `back` bytes are fetched. */
struct rpc_call {
    struct hl_win *win;
    int target;
    enum rpc_verb verb;
    struct hl_wire_rec rec; /* kind, basic, offset, count are the caller's */
    const void *operands;
    size_t send;
    void *result;
    size_t back;
    struct hl_rpc_rows *rows; /* not NULL: the call does as many of these as fit into the request slot */
};

struct rpc_claim {
    struct hl_near_part *part; /* mine, which has my request slots */
    struct hl_near_rpc_slot *slot;
    int peer;
    uint32_t index;
};

static bool take_rpc_slot(void *arg)
{
    struct rpc_claim *c = arg;
    for (c->index = 0; c->index < HL_NEAR_RPC_SLOTS; c->index++) {
        c->slot = &c->part->rpc_slots[c->index];
        /* relaxed: only a guess whether the exchange is worth its cost. */
        /* acquire: the last user is done with it; pairs with the release in finish_rpc. */
        if (hl_a32_load_relaxed(&c->slot->busy) == 0 && hl_a32_xchg_acquire(&c->slot->busy, 1) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_rpc_answered(void *arg)
{
    const struct rpc_claim *c = arg;
    /* acquire: the answer; pairs with the release in hl_rpc_serve. */
    return hl_a32_load_acquire(&c->slot->done) != 0 || hl_rx_is_dead(c->peer);
}

static void describe_rpc_claim(const void *arg, struct hl_wait_desc *t)
{
    hl_desc_say(t, "an operation on memory of a node peer, which its receive thread does");
    hl_desc_await(t, ((const struct rpc_claim *)arg)->peer);
}
HL_HANG_WORDS(take_rpc_slot, describe_rpc_claim);
HL_HANG_WORDS(is_rpc_answered, describe_rpc_claim);

/* Writes rows and operands into the request slot as long as it has room. */
static void put_in_rows(struct rpc_call *c, struct hl_near_rpc_slot *slot)
{
    struct hl_rpc_rows *r = c->rows;
    struct rpc_row *rows = (struct rpc_row *)(void *)slot->bytes;
    size_t n = 0, ext = hl_op_extent(r->basic), units = 0;
    char *at;
    for (;;) {
        size_t used = (n + 1) * sizeof *rows + units * ext;
        int64_t room = used < HL_RPC_HALF ? (int64_t)((HL_RPC_HALF - used) / ext) : 0;
        int64_t got = hl_type_cursor_next(r->theirs, room < r->left ? room : r->left, &at);
        if (got == 0) {
            break;
        }
        rows[n++] = (struct rpc_row){(uint64_t)hl_layout_offset(at), (uint64_t)got};
        units += (size_t)got;
        r->left -= got;
    }
    if (r->operands != NULL) {
        hl_type_cursor_pack(r->operands, (char *)&rows[n], (int64_t)units, true);
        c->send = units * ext;
    }
    c->back = r->result != NULL ? units * ext : 0;
    c->rec.count = n;
}

static void take_fetched(const struct rpc_call *c, const char *fetched)
{
    if (c->rows == NULL) {
        hl_op_kernel(HL_OP_REPLACE, c->rec.basic)(c->result, fetched, c->rec.count);
    } else {
        int64_t units = (int64_t)(c->back / hl_op_extent(c->rows->basic));
        hl_type_cursor_pack(c->rows->result, (char *)(uintptr_t)fetched, units, false);
    }
}

/* A call under way and its request slot. */
struct flight {
    struct rpc_call call;
    struct rpc_claim claim;
};

static int send_rpc(struct flight *f)
{
    struct rpc_call *c = &f->call;
    struct hl_near_rpc_slot *slot = f->claim.slot;
    c->rec.op = HL_WIRE_RPC;
    c->rec.flags = (uint8_t)c->verb;
    c->rec.index = f->claim.index;
    c->rec.aux = c->win->id;
    /* relaxed: the sending of the record orders it for the peer. */
    hl_a32_store_relaxed(&slot->done, 0);
    if (c->rows != NULL) {
        put_in_rows(c, slot);
    } else if (c->send != 0) {
        memcpy(slot->bytes, c->operands, c->send);
    }
    return hl_rx_send(f->claim.peer, &c->rec, NULL);
}

/* Reports a call that the peer refused. The origin had found the memory; if the owner does not find it, the
 * owner has detached it since. */
static int tell_refused(const struct rpc_call *c, const struct hl_near_rpc_slot *slot)
{
    const struct rpc_row *rows = (const struct rpc_row *)(const void *)slot->bytes;
    unsigned long long at = c->rows != NULL ? rows->at : c->rec.offset;

    return hl_err_say(slot->rc,
                      c->win->dyn != NULL && slot->rc == HL_ERR_RMA_RANGE
                          ? "target %d has detached memory while an operation on it was under way, at %#llx"
                          : "target %d refused an operation at %#llx",
                      c->target, at);
}

static int await_rpc(const struct flight *f)
{
    const struct rpc_call *c = &f->call;
    struct hl_near_rpc_slot *slot = f->claim.slot;
    hl_prog_wait(is_rpc_answered, (void *)(uintptr_t)&f->claim);
    if (hl_a32_load_acquire(&slot->done) == 0) { /* acquire: the answer; pairs with the release in
                                                  * hl_rpc_serve. */
        return hl_err_say(HL_ERR_PROC_ABORTED, "rank %d died before it served an operation", f->claim.peer);
    }
    if (slot->rc != 0) {
        return tell_refused(c, slot);
    }
    if (c->back != 0) {
        take_fetched(c, slot->bytes + HL_RPC_HALF);
    }
    return 0;
}

/* Ends a call whose send returned `rc`: waits for the answer if that is 0, and gives the request slot
 * back. */
static int finish_rpc(struct flight *f, int rc)
{
    rc = rc == 0 ? await_rpc(f) : rc;
    hl_stat_rank_add(HL_STAT_RANK_trays, 1);
    hl_stat_rank_add(HL_STAT_RANK_bytes_trays, f->call.send + f->call.back);
    /* release: the answer was read; pairs with the acquire in take_rpc_slot. */
    hl_a32_store_release(&f->claim.slot->busy, 0);
    return rc;
}

/* Claims a request slot. It waits for one only if the caller has none: two threads that have some could wait
 * for each other. */
static bool claim_rpc_slot(struct flight *f, bool has_some)
{
    f->claim = (struct rpc_claim){.part = hl_near_part(hl_job.node_rank),
                                  .peer = hl_win_world(f->call.win, f->call.target)};
    if (!has_some) {
        hl_prog_wait(take_rpc_slot, &f->claim);
    }
    return !has_some || take_rpc_slot(&f->claim);
}

/* Fills *c with the next part of an operation; false: there is none left. */
typedef bool part_fn(struct rpc_call *c, void *operation);

/* Takes the answer of the oldest call under way. Returns `rc` if that is an error, else the call's. */
static int finish_oldest(struct flight *flights, size_t *back, int rc)
{
    int refused = finish_rpc(&flights[(*back)++ % HL_NEAR_RPC_SLOTS], 0);
    return rc == 0 ? refused : rc;
}

/* Does all parts of an operation. The peer works on one part while this rank fills the next ones. Answers are
 * taken in the order of the parts. */
static int run_parts(part_fn *part, void *operation)
{
    struct flight flights[HL_NEAR_RPC_SLOTS], *f;
    size_t sent = 0, back = 0;
    int rc = 0;
    while (rc == 0 && part(&(f = &flights[sent % HL_NEAR_RPC_SLOTS])->call, operation)) {
        while (!claim_rpc_slot(f, sent != back)) {
            rc = finish_oldest(flights, &back, rc);
        }
        int unsent = send_rpc(f);
        if (unsent != 0) {
            rc = finish_rpc(f, unsent);
        } else if (++sent - back == HL_NEAR_RPC_SLOTS) {
            rc = finish_oldest(flights, &back, rc);
        }
    }
    while (back != sent) {
        rc = finish_oldest(flights, &back, rc);
    }
    return rc;
}

/* The rest of a put or get. */
struct moving {
    const struct hl_move *m;
    uint64_t at;
    char *mine;
    size_t len;
};

static bool part_of_move(struct rpc_call *c, void *operation)
{
    struct moving *o = operation;
    size_t n = hl_min_size(HL_RPC_HALF, o->len);
    *c = (struct rpc_call){.win = o->m->win,
                           .target = o->m->target,
                           .verb = o->m->dir == HL_PUT ? PUT : GET,
                           .rec = {.basic = HL_BASIC_BYTE, .offset = o->at, .count = n}};
    if (o->m->dir == HL_PUT) {
        c->operands = o->mine;
        c->send = n;
    } else {
        c->result = o->mine;
        c->back = n;
    }
    o->at += n;
    o->mine += n;
    o->len -= n;
    return n != 0;
}

int hl_rpc_move(const struct hl_move *m, uint64_t at, char *mine, size_t len)
{
    return run_parts(part_of_move, &(struct moving){m, at, mine, len});
}

static bool part_of_acc(struct rpc_call *c, void *operation)
{
    struct hl_rpc_acc *a = operation;
    size_t ext = hl_op_extent(a->basic), n = hl_min_size(HL_RPC_HALF / ext, a->n);
    if (n == 0) {
        return false;
    }
    *c = (struct rpc_call){
        .win = a->win,
        .target = a->target,
        .verb = a->result != NULL ? GET_ACC : ACC,
        .rec = {.kind = (uint8_t)a->op, .basic = (uint8_t)a->basic, .offset = a->at, .count = n}};
    if (a->op != HL_OP_NO_OP) {
        c->operands = a->origin;
        c->send = hl_op_span(a->basic, n);
        a->origin += n * ext;
    }
    if (a->result != NULL) {
        c->result = a->result;
        c->back = hl_op_span(a->basic, n);
        a->result += n * ext;
    }
    a->at += n * ext;
    a->n -= n;
    return true;
}

int hl_rpc_acc(struct hl_rpc_acc *a)
{
    return run_parts(part_of_acc, a);
}

static bool part_of_rows(struct rpc_call *c, void *operation)
{
    struct hl_rpc_rows *r = operation;
    bool fetches = r->result != NULL;
    enum rpc_verb verb = r->acc ? (fetches ? GET_ACC : ACC) : (fetches ? GET : PUT);
    *c = (struct rpc_call){.win = r->win,
                           .target = r->target,
                           .verb = verb | ROWS,
                           .rec = {.kind = (uint8_t)r->op, .basic = (uint8_t)r->basic},
                           .rows = r};
    return r->left > 0;
}

int hl_rpc_rows(struct hl_rpc_rows *r)
{
    return run_parts(part_of_rows, r);
}

/* A compare and swap has one part. */
static bool part_of_cas(struct rpc_call *c, void *operation)
{
    struct rpc_call **left = operation;
    const struct rpc_call *only = *left;
    *left = NULL;
    if (only != NULL) {
        *c = *only;
    }
    return only != NULL;
}

int hl_rpc_cas(const struct hl_rpc_acc *a, const void *compare)
{
    char operands[2 * HL_RPC_LARGEST];
    size_t size = hl_op_size(a->basic);
    memcpy(operands, compare, size);
    memcpy(operands + size, a->origin, size);
    struct rpc_call *c = &(struct rpc_call){.win = a->win,
                                            .target = a->target,
                                            .verb = CAS,
                                            .rec = {.basic = (uint8_t)a->basic, .offset = a->at, .count = 1},
                                            .operands = operands,
                                            .send = 2 * size,
                                            .result = a->result,
                                            .back = size};
    return run_parts(part_of_cas, &c);
}

/* ---- the peer's side, on its receive thread ---- */

struct served {
    const struct hl_wire_rec *rec;
    struct hl_near_rpc_slot *slot;
};

/* Does one block; `room`: bytes that the request slot has for its operands or results. */
static int apply_block(struct hl_win *w, const struct hl_wire_rec *rec, char *operands, char *fetched,
                       size_t room)
{
    size_t bytes = 0;
    char *there = hl_win_locate(w, rec, &bytes);

    if (there == NULL || bytes > room) {
        return HL_ERR_RMA_RANGE;
    }
    switch (rec->flags) {
    case PUT:
        hl_near_copy(there, operands, bytes);
        return 0;
    case GET:
        hl_near_copy(fetched, there, bytes);
        return 0;
    case ACC:
    case GET_ACC:
        return rec->kind >= HL_OP_KINDS ? HL_ERR_OP
                                        : hl_near_acc(rec->kind, rec->basic, there, operands,
                                                      rec->flags == GET_ACC ? fetched : NULL, rec->count,
                                                      hl_win_acc_lock(w, there));
    case CAS:
        return rec->count != 1 ? HL_ERR_COUNT
                               : hl_near_cas(rec->basic, there, operands + bytes, operands, fetched,
                                             hl_win_acc_lock(w, there));
    default:
        return HL_ERR_INTERN;
    }
}

/* Does the blocks of a layout. The asking rank can change the request slot at any time, so each row is read
 * once, and all accesses stay inside the request slot. */
static int apply_rows(struct hl_win *w, const struct served *s)
{
    const volatile struct rpc_row *rows = (const volatile struct rpc_row *)(const void *)s->slot->bytes;
    struct hl_wire_rec rec = *s->rec;
    size_t n = rec.count, at = 0, room;
    int rc = 0;

    if (n > HL_RPC_HALF / sizeof *rows || rec.basic >= HL_BASICS) {
        return HL_ERR_RMA_RANGE;
    }
    rec.flags = (uint8_t)(rec.flags & ~ROWS);
    room = HL_RPC_HALF - n * sizeof *rows;
    for (size_t i = 0; i < n && rc == 0; i++) {
        rec.offset = rows[i].at;
        rec.count = rows[i].n;
        rc = apply_block(w, &rec, s->slot->bytes + n * sizeof *rows + at, s->slot->bytes + HL_RPC_HALF + at,
                         room - at);
        if (rc == 0) { /* the block was not too long */
            at += rec.count * hl_op_extent(rec.basic);
        }
        rc = rc == 0 && at > room && i + 1 < n ? HL_ERR_RMA_RANGE : rc;
    }
    return rc;
}

static int apply_rpc(struct hl_win *w, void *arg)
{
    const struct served *s = arg;
    char *operands = s->slot->bytes;

    return (s->rec->flags & ROWS) != 0
               ? apply_rows(w, s)
               : apply_block(w, s->rec, operands, operands + HL_RPC_HALF, HL_RPC_HALF);
}

int hl_rpc_serve(const struct hl_rx_msg *msg)
{
    int from = hl_job_node_of(msg->from);
    if (!msg->near || from < 0 || msg->rec->index >= HL_NEAR_RPC_SLOTS) {
        return hl_err_say(HL_ERR_INTERN, "slot %u of rank %d is none", msg->rec->index, msg->from);
    }
    struct served s = {msg->rec, &hl_near_part(from)->rpc_slots[msg->rec->index]};
    s.slot->rc = hl_win_table_with(msg->rec->aux, apply_rpc, &s);
    /* release: publishes rc and what was fetched; pairs with the acquire in is_rpc_answered. */
    hl_a32_store_release(&s.slot->done, 1);
    return 0;
}
