/* Accumulates: each element is updated by a mechanism that depends only on the basic type, the alignment and
 * how the target is reached.
 *
 *   MAPPED  CPU atomics, or the target's lock (near.h decides)
 *   PRIVATE the target's receive thread does what a mapped origin would (rpc.h)
 *   FAR     the provider's atomics where it has them for aligned elements; else records for the target's
 *           receive thread, which does what a mapped origin would */
#include "mode.h"

#include <stdlib.h>

#include "conflict.h"
#include "dyn.h"
#include "err.h"
#include "layout.h"
#include "rpc.h"

/* n elements at `offset` of the window. On all sides they stand at the distance of their extent. */
struct acc_piece {
    const struct hl_acc *acc;
    enum hl_basic basic;
    int64_t offset;
    char *origin, *result;
    size_t n;
    bool by_record; /* the address that the provider gets does not tell the elements' alignment */
};

/* Fetches n pairs that have a hole between value and index. An answer is copied as one block, and the hole is
 * the user's: so it goes to a buffer, and the call waits for it. */
static int fetch_aside(struct hl_lane_message *msg, enum hl_basic basic, size_t n)
{
    char *result = msg->reply, *aside = malloc(msg->reply_cap);
    struct hl_req *all = msg->req, r;
    if (aside == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a result of %zu bytes", msg->reply_cap);
    }
    hl_req_init_rma(&r, msg->peer);
    msg->reply = aside;
    msg->req = &r;
    int rc = hl_lane_message(msg);
    if (rc == 0) {
        hl_req_wait(&r);
        int failed = hl_req_finish(&r, MPI_STATUS_IGNORE); /* which the next flush tells as well */
        if (failed == 0) {
            hl_op_kernel(HL_OP_REPLACE, basic)(result, aside, n);
        } else if (all != NULL) {
            hl_req_fail(all, failed);
        }
    }
    free(aside);
    return rc;
}

/* Sends records, each of as many elements as one message takes; the answer of a fetch must fit as well. */
static int acc_message(const struct acc_piece *p)
{
    const struct hl_move *m = &p->acc->m;
    struct hl_win *w = m->win;
    size_t ext = hl_op_extent(p->basic), size = hl_op_size(p->basic);
    /* A result is copied as one block, which must not write the padding of the user's elements: neither that
     * behind an element, nor that inside (hole). */
    bool hole = p->result != NULL && size != hl_op_span(p->basic, 1);
    bool single = p->result != NULL && size != ext && !hole;
    size_t room = single ? 1 : hl_lane_payload_max() / ext;
    bool operands = p->acc->op != HL_OP_NO_OP;
    int rc = 0;

    for (size_t i = 0; i < p->n && rc == 0; i += room) {
        size_t k = hl_min_size(room, p->n - i), len = hl_op_span(p->basic, k);
        struct hl_wire_rec rec = {.op = p->result != NULL ? HL_WIRE_GET_ACC : HL_WIRE_ACC,
                                  .kind = (uint8_t)p->acc->op,
                                  .basic = (uint8_t)p->basic,
                                  .len = operands ? (uint32_t)len : 0,
                                  .offset = (uint64_t)p->offset + i * ext,
                                  .count = k,
                                  .aux = w->id};
        struct hl_lane_message msg = {.peer = hl_win_world(w, m->target),
                                      .rec = &rec,
                                      .payload = operands ? p->origin + i * ext : NULL,
                                      .reply = p->result != NULL ? p->result + i * ext : NULL,
                                      .reply_cap = p->result != NULL ? len : 0,
                                      .error = &w->errors[m->target],
                                      .req = m->req,
                                      .ordered = !w->unordered,
                                      .order_key = hl_win_order_key(w, m->target)};
        rc = hole ? fetch_aside(&msg, p->basic, k) : hl_lane_message(&msg);
    }
    return rc;
}

static int acc_far(const struct acc_piece *p, const struct hl_target *t, int64_t at)
{
    const struct hl_move *m = &p->acc->m;
    struct hl_win *w = m->win;
    uint64_t addr = (t->where & ~HL_TARGET_BITS) + (uint64_t)at;

    if (p->by_record || addr % hl_op_extent(p->basic) != 0 ||
        !hl_lane_can_atomic(p->acc->op, p->basic, p->result != NULL, false)) {
        return acc_message(p);
    }
    char *operands = p->acc->op == HL_OP_NO_OP ? NULL : p->origin;
    struct hl_lane_atomic a = {.x = hl_xfer_to_far(w, m->target, t, addr, operands, 0),
                               .op = p->acc->op,
                               .basic = p->basic,
                               .n = p->n,
                               .result = p->result,
                               .ordered = !w->unordered,
                               .order_key = hl_win_order_key(w, m->target)};
    a.x.req = m->req;
    return hl_lane_atomic(&a);
}

/* Does a piece that begins `at` bytes after t->where. `lock` guards it where it is mapped; NULL: the lock of
 * the target's control block does. */
static int acc_at(const struct acc_piece *p, const struct hl_target *t, int64_t at, struct hl_near_lock *lock)
{
    const struct hl_move *m = &p->acc->m;
    if (HL_LIKELY(hl_target_is_mapped(t))) {
        char *there = (char *)(uintptr_t)t->where + at;
        lock = lock != NULL ? lock : &hl_target_ctl(t)->acc;
        return hl_near_acc(p->acc->op, p->basic, there, p->origin, p->result, p->n, lock);
    }
    if (hl_target_is_far(t)) {
        return acc_far(p, t, at);
    }
    struct hl_rpc_acc rpc = {m->win,    m->target, p->acc->op, p->basic, (uint64_t)p->offset,
                             p->origin, p->result, p->n};
    return hl_rpc_acc(&rpc);
}

/* Does a piece of a dynamic window, region by region. */
static int acc_attached(const struct acc_piece *p)
{
    const struct hl_move *m = &p->acc->m;
    size_t ext = hl_op_extent(p->basic), size = hl_op_span(p->basic, 1);
    int rc = 0;
    for (size_t i = 0, k; i < p->n && rc == 0; i += k) {
        struct hl_place place;
        struct acc_piece part = *p;
        part.offset += (int64_t)(i * ext);
        rc = hl_dyn_find(m->win, m->target, (uint64_t)part.offset, &place);
        if (rc != 0 || place.len < size) {
            return rc != 0 ? rc : hl_dyn_straddles((uint64_t)part.offset, m->target);
        }
        k = hl_min_size(p->n - i, 1 + (place.len - size) / ext);
        part.origin = p->origin != NULL ? p->origin + i * ext : NULL;
        part.result = p->result != NULL ? p->result + i * ext : NULL;
        part.n = k;
        part.by_record = ((place.t.where ^ (uint64_t)part.offset) & 15) != 0;
        rc = acc_at(&part, &place.t, 0, &place.lock);
    }
    return rc;
}

static int acc_piece(const struct acc_piece *p)
{
    const struct hl_move *m = &p->acc->m;
    if (p->n == 0) {
        return 0;
    }
    return m->win->dyn != NULL ? acc_attached(p) : acc_at(p, &m->win->targets[m->target], p->offset, NULL);
}

/* The sides of an accumulate, in the order of a layout iterator's sides: the target first. `origin` and
 * `result` are indices into `at`; 0: there is no such side. */
struct sides {
    struct hl_layout_side at[HL_LAYOUT_SIDES];
    int n, origin, result;
};

static struct sides sides_of(const struct hl_acc *a, char *target)
{
    struct sides s = {.at = {{a->m.target_type, a->m.target_count, target}}, .n = 1};
    if (a->op != HL_OP_NO_OP) {
        s.origin = s.n;
        s.at[s.n++] = (struct hl_layout_side){a->m.origin_type, a->m.origin_count, a->m.origin};
    }
    if (a->fetches) {
        s.result = s.n;
        s.at[s.n++] = (struct hl_layout_side){a->result_type, a->result_count, a->result};
    }
    return s;
}

/* Layouts with holes off the node: does each span that is contiguous on all sides. The walk is on the heap,
 * as deep calls begin here. */
static int acc_spans(const struct hl_acc *a, const struct sides *s, enum hl_basic basic)
{
    struct hl_layout_iter *z = malloc(sizeof *z);
    if (z == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for the layout of an accumulate");
    }
    int rc = hl_layout_begin(z, HL_WALK_ELEMENTS, hl_op_extent(basic), s->at, s->n);
    while (rc == 0 && hl_layout_next(z)) {
        struct acc_piece p = {a,
                              basic,
                              hl_layout_offset(z->at[0]),
                              s->origin != 0 ? z->at[s->origin] : NULL,
                              s->result != 0 ? z->at[s->result] : NULL,
                              (size_t)z->n,
                              a->m.win->message_acc};
        rc = acc_piece(&p);
    }
    hl_layout_end(z);
    free(z);
    return rc;
}

/* Updates the next p->n elements of a mapped target, run by run; operands and results are contiguous. */
static int acc_run(const struct acc_piece *p, struct hl_type_cursor *theirs, struct hl_near_lock *lock)
{
    size_t done = 0, ext = hl_op_extent(p->basic);
    struct hl_run r;
    int rc = 0;
    while (rc == 0 && hl_type_cursor_run(theirs, (int64_t)(p->n - done), &r)) {
        struct hl_near_blocks b = {r.addr, (size_t)r.n, r.stride, (size_t)r.times, r.disp};
        rc = hl_near_acc_blocks(p->acc->op, p->basic, &b, p->origin != NULL ? p->origin + done * ext : NULL,
                                p->result != NULL ? p->result + done * ext : NULL, lock);
        done += (size_t)(r.n * r.times);
    }
    return rc;
}

#define BOUNCE 1024 /* bytes of operands, or of results, that go through a buffer at a time */

/* How many of n elements go next: no more than the side's current block has, or a buffer holds if that is
 * more. */
static int64_t limit_piece(struct hl_type_cursor *c, int64_t n, int64_t buffer)
{
    int64_t span = hl_type_cursor_span(c), most = span > buffer ? span : buffer;
    return n < most ? n : most;
}

/* Does a layout of a mapped target. Operands and results that are not contiguous go through buffers, so that
 * a run of the target is done in one go whatever the other sides look like. */
static HL_NOINLINE int acc_runs(const struct hl_acc *a, const struct sides *s, enum hl_basic basic,
                                int64_t left, struct hl_near_lock *lock)
{
    _Alignas(16) char operands[BOUNCE], fetched[BOUNCE];
    struct hl_layout_iter z;
    struct hl_type_cursor *origin = &z.cursors[s->origin], *result = &z.cursors[s->result];
    int64_t buffer = BOUNCE / (int64_t)hl_op_extent(basic);
    int rc = hl_layout_begin(&z, HL_WALK_ELEMENTS, hl_op_extent(basic), s->at, s->n);
    for (int64_t n; rc == 0 && left > 0; left -= n) {
        n = s->origin != 0 ? limit_piece(origin, left, buffer) : left;
        n = s->result != 0 ? limit_piece(result, n, buffer) : n;
        struct acc_piece p = {.acc = a, .basic = basic, .n = (size_t)n};
        if (s->origin != 0 && hl_type_cursor_span(origin) >= n) {
            hl_type_cursor_next(origin, n, &p.origin);
        } else if (s->origin != 0) {
            hl_type_cursor_pack(origin, p.origin = operands, n, true);
        }
        bool direct = s->result != 0 && hl_type_cursor_span(result) >= n;
        if (direct) {
            hl_type_cursor_next(result, n, &p.result);
        } else if (s->result != 0) {
            p.result = fetched;
        }
        rc = acc_run(&p, &z.cursors[0], lock);
        if (s->result != 0 && !direct) {
            hl_type_cursor_pack(result, fetched, n, false);
        }
    }
    hl_layout_end(&z);
    return rc;
}

/* Does a layout of private memory: the peer's receive thread does many blocks at a time. It is not inlined,
 * to keep its walk out of the frames of other deep calls. */
static HL_NOINLINE int acc_rows(const struct hl_acc *a, const struct sides *s, enum hl_basic basic,
                                int64_t left)
{
    struct hl_layout_iter z;
    struct hl_rpc_rows r = {.win = a->m.win,
                            .target = a->m.target,
                            .acc = true,
                            .op = a->op,
                            .basic = basic,
                            .theirs = &z.cursors[0],
                            .operands = s->origin != 0 ? &z.cursors[s->origin] : NULL,
                            .result = s->result != 0 ? &z.cursors[s->result] : NULL,
                            .left = left};
    int rc = hl_layout_begin(&z, HL_WALK_ELEMENTS, hl_op_extent(basic), s->at, s->n);
    rc = rc == 0 ? hl_rpc_rows(&r) : rc;
    hl_layout_end(&z);
    return rc;
}

static int acc_layout(const struct hl_acc *a, const struct hl_span *span)
{
    enum hl_basic basic = a->m.target_type->basic;
    int64_t n = span->len / (int64_t)hl_op_size(basic);
    struct sides s = sides_of(a, hl_layout_at(span->offset));
    struct hl_ground g;
    if (hl_target_is_far(&a->m.win->targets[a->m.target]) || !hl_win_ground(&a->m, span, &g) ||
        hl_target_is_far(&g.t)) {
        return acc_spans(a, &s, basic);
    }
    if (!hl_target_is_mapped(&g.t)) {
        return acc_rows(a, &s, basic, n);
    }
    s = sides_of(a, (char *)(uintptr_t)(g.base + (uint64_t)span->offset));
    return acc_runs(a, &s, basic, n, g.lock);
}

/* Checks that operation and types fit each other, with one basic type everywhere, and that the result has
 * room. */
static int check_types(const struct hl_acc *a, const struct hl_span *span)
{
    if (a->op == HL_OP_NO_OP && !a->fetches) {
        return hl_err_say(HL_ERR_OP, "MPI_NO_OP is for calls that fetch: this call would do nothing");
    }
    const struct hl_type *t = a->m.target_type;
    const struct hl_type *others[2] = {a->op == HL_OP_NO_OP ? t : a->m.origin_type,
                                       a->fetches ? a->result_type : t};
    for (int i = 0; i < 2; i++) {
        if (others[i] == NULL || !hl_type_is_committed(others[i])) {
            return others[i] == NULL
                       ? hl_win_bad_type(i == 0 ? HL_ARG_ORIGIN : HL_ARG_RESULT)
                       : hl_err_say(HL_ERR_TYPE, "the result datatype is not committed (MPI_Type_commit)");
        }
        if (span->len > 0 && (t->basic == HL_BASIC_MIXED || others[i]->basic != t->basic)) {
            return hl_err_say(HL_ERR_TYPE,
                              "accumulates need one basic type on all sides, and here they have %s and %s",
                              hl_op_basic_words(t->basic), hl_op_basic_words(others[i]->basic));
        }
    }
    if (a->op == HL_OP_KINDS) {
        return hl_win_bad_op();
    }
    if (span->len > 0 && a->op < HL_OP_REPLACE && hl_op_kernel(a->op, t->basic) == NULL) {
        return hl_err_say(HL_ERR_OP, "operation %s is not defined for %s", hl_op_kind_name(a->op),
                          hl_op_basic_words(t->basic));
    }
    int64_t room = span->len;
    if (a->fetches && (a->result_count < 0 || !hl_type_bytes(a->result_type, a->result_count, &room))) {
        return hl_err_say(HL_ERR_COUNT, "result count %lld is %s", (long long)a->result_count,
                          a->result_count < 0 ? "negative" : "of more bytes than fit 63 bits");
    }
    if (room < span->len) {
        return hl_err_say(HL_ERR_TRUNCATE, "the result has room for %lld bytes of data, and %lld are fetched",
                          (long long)room, (long long)span->len);
    }
    return 0;
}

int hl_win_acc(const struct hl_acc *a)
{
    struct hl_span span;
    struct hl_move m = a->m;
    if (a->op == HL_OP_NO_OP) { /* the origin side is ignored; check_types refuses it without a fetch */
        m.origin = (char *)&span;
        m.origin_count = a->fetches ? a->result_count : m.target_count;
        m.origin_type = a->fetches ? a->result_type : m.target_type;
        m.dir = HL_GET;
        if (a->fetches && m.origin_type == NULL) {
            return hl_win_bad_type(HL_ARG_RESULT);
        }
    }
    int rc = hl_win_check(&m, &span);
    if (rc != 0 || m.target == MPI_PROC_NULL || (rc = check_types(a, &span)) != 0 || span.len == 0) {
        return rc;
    }
    if (a->fetches && hl_type_lacks_buffer(a->result_type, a->result)) {
        return hl_err_say(HL_ERR_BUFFER, "the result address is NULL for %lld bytes", (long long)span.len);
    }
    if (hl_target_is_far(&m.win->targets[m.target]) && (rc = hl_win_take_lock(m.win, m.target)) != 0) {
        return rc;
    }
    if (HL_CHECKED && (rc = hl_conflict_acc(a, &span, NULL)) != 0) {
        return rc;
    }
    if (HL_UNLIKELY(m.win->detour)) {
        return hl_mode_issue(&(struct hl_mode_job){.kind = HL_JOB_ACC, .span = span, .a = *a});
    }
    return hl_acc_apply(a, &span);
}

static int acc_any(const struct hl_acc *a, const struct hl_span *span)
{
    const struct hl_type *t = a->m.target_type;
    if (t->dense && a->m.target_count >= 0 && (a->op == HL_OP_NO_OP || a->m.origin_type == t) &&
        (!a->fetches || a->result_type == t)) {
        struct acc_piece p = {a,
                              t->basic,
                              span->offset,
                              a->m.origin,
                              a->result,
                              (size_t)(span->len / (int64_t)hl_op_size(t->basic)),
                              a->m.win->message_acc};
        return acc_piece(&p);
    }
    return acc_layout(a, span);
}

int hl_acc_apply(const struct hl_acc *a, const struct hl_span *span)
{
    int rc = acc_any(a, span);
    if (hl_target_is_far(&a->m.win->targets[a->m.target])) {
        hl_win_mark_acc(a->m.win, a->m.target);
    }
    return rc;
}
