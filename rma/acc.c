/* Accumulates: element by element, by a mechanism that depends only on the basic type, the alignment and how
 * the target is reached.
 *
 *   MAPPED  CPU atomics, or the target's lock (near.h decides)
 *   PRIVATE the target's receive thread does what a mapped origin would (tray.h)
 *   FAR     the provider's atomics where it has them for aligned elements; else records for the target's
 *           receive thread, which does what a mapped origin would */
#include "mode.h"

#include "conflict.h"
#include "dyn.h"
#include "err.h"
#include "lane.h"
#include "tray.h"
#include "zip.h"

/* n elements at offset `at` of the window, at the distance of their extent on all sides. */
struct piece {
    const struct hl_acc *acc;
    enum hl_basic basic;
    int64_t at;
    char *origin, *result;
    size_t n;
    bool by_record; /* the provider's address does not tell alignment */
};

/* Records of as many elements as one message takes; the answer of a fetch must fit as well. */
static int acc_message(const struct piece *p)
{
    const struct hl_move *m = &p->acc->m;
    struct hl_win *w = m->win;
    size_t ext = hl_op_extent(p->basic);
    size_t room = hl_lane_payload_max() / ext;
    bool operands = p->acc->op != HL_OP_NO_OP;
    int rc = 0;

    for (size_t i = 0; i < p->n && rc == 0; i += room) {
        size_t k = hl_min_size(room, p->n - i), len = hl_op_span(p->basic, k);
        struct hl_wire_rec rec = {.op = p->result != NULL ? HL_WIRE_GET_ACC : HL_WIRE_ACC,
                                  .kind = (uint8_t)p->acc->op,
                                  .basic = (uint8_t)p->basic,
                                  .len = operands ? (uint32_t)len : 0,
                                  .offset = (uint64_t)p->at + i * ext,
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
        rc = hl_lane_message(&msg);
    }
    return rc;
}

static int acc_far(const struct piece *p, const struct hl_target *t, int64_t at)
{
    const struct hl_move *m = &p->acc->m;
    struct hl_win *w = m->win;
    uint64_t addr = (t->where & ~HL_TARGET_BITS) + (uint64_t)at;

    if (p->by_record || addr % hl_op_extent(p->basic) != 0 ||
        !hl_lane_can_atomic(p->acc->op, p->basic, p->result != NULL, false)) {
        return acc_message(p);
    }
    struct hl_lane_atomic a = {.x = {.peer = hl_win_world(w, m->target),
                                     .addr = addr,
                                     .key = t->at,
                                     .buf = p->acc->op == HL_OP_NO_OP ? NULL : p->origin,
                                     .error = &w->errors[m->target],
                                     .token = hl_win_token(w, m->target),
                                     .req = m->req},
                               .op = p->acc->op,
                               .basic = p->basic,
                               .n = p->n,
                               .result = p->result,
                               .ordered = !w->unordered,
                               .order_key = hl_win_order_key(w, m->target)};
    return hl_lane_atomic(&a);
}

/* The piece begins `at` bytes after t->where; `lock` guards it where that is mapped, NULL: the window's. */
static int acc_at(const struct piece *p, const struct hl_target *t, int64_t at, struct hl_near_lock *lock)
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
    struct hl_tray_acc tray = {m->win,          m->target, p->acc->op, p->basic,
                               (uint64_t)p->at, p->origin, p->result,  p->n};
    return hl_tray_acc(&tray);
}

static int straddles(const struct piece *p, uint64_t addr)
{
    return hl_err_say(HL_ERR_RMA_RANGE, "an element at %#llx is in two regions that target %d has attached",
                      (unsigned long long)addr, p->acc->m.target);
}

/* Of a dynamic window: region by region. */
static int acc_attached(const struct piece *p)
{
    const struct hl_move *m = &p->acc->m;
    size_t ext = hl_op_extent(p->basic), size = hl_op_size(p->basic);
    int rc = 0;
    for (size_t i = 0, k; i < p->n && rc == 0; i += k) {
        struct hl_place place;
        struct piece part = *p;
        part.at += (int64_t)(i * ext);
        rc = hl_dyn_find(m->win, m->target, (uint64_t)part.at, &place);
        if (rc != 0 || place.len < size) {
            return rc != 0 ? rc : straddles(p, (uint64_t)part.at);
        }
        k = hl_min_size(p->n - i, 1 + (place.len - size) / ext);
        part.origin = p->origin != NULL ? p->origin + i * ext : NULL;
        part.result = p->result != NULL ? p->result + i * ext : NULL;
        part.n = k;
        part.by_record = ((place.t.where ^ (uint64_t)part.at) & 15) != 0;
        rc = acc_at(&part, &place.t, 0, &place.lock);
    }
    return rc;
}

static int acc_piece(const struct piece *p)
{
    const struct hl_move *m = &p->acc->m;
    if (p->n == 0) {
        return 0;
    }
    return m->win->dyn != NULL ? acc_attached(p) : acc_at(p, &m->win->targets[m->target], p->at, NULL);
}

/* Layouts with holes: the spans that are contiguous on all sides. */
static int acc_spans(const struct hl_acc *a, const struct hl_span *span, enum hl_basic basic)
{
    struct hl_zip z;
    struct hl_zip_side sides[HL_ZIP_SIDES] = {
        {a->m.target_type, a->m.target_count, hl_zip_at(span->at)},
    };
    int n = 1, origin = 0, result = 0;
    if (a->op != HL_OP_NO_OP) {
        origin = n;
        sides[n++] = (struct hl_zip_side){a->m.origin_type, a->m.origin_count, a->m.origin};
    }
    if (a->fetches) {
        result = n;
        sides[n++] = (struct hl_zip_side){a->result_type, a->result_count, a->result};
    }
    int rc = hl_zip_begin(&z, HL_WALK_ELEMENTS, hl_op_extent(basic), sides, n);
    while (rc == 0 && hl_zip_next(&z)) {
        struct piece p = {a,
                          basic,
                          hl_zip_offset(z.at[0]),
                          origin != 0 ? z.at[origin] : NULL,
                          result != 0 ? z.at[result] : NULL,
                          (size_t)z.n,
                          a->m.win->message_acc};
        rc = acc_piece(&p);
    }
    hl_zip_end(&z);
    return rc;
}

/* Operation and types must fit each other: one basic type everywhere. */
static int check_types(const struct hl_acc *a, const struct hl_span *span)
{
    if (a->op == HL_OP_NO_OP && !a->fetches) {
        return hl_err_say(HL_ERR_OP, "MPI_NO_OP is for calls that fetch; nothing would be done");
    }
    const struct hl_type *t = a->m.target_type;
    const struct hl_type *others[2] = {a->op == HL_OP_NO_OP ? t : a->m.origin_type,
                                       a->fetches ? a->result_type : t};
    for (int i = 0; i < 2; i++) {
        if (others[i] == NULL || !others[i]->committed) {
            return others[i] == NULL ? hl_win_bad_type(i == 0 ? HL_ARG_ORIGIN : HL_ARG_RESULT)
                                     : hl_err_say(HL_ERR_TYPE, "result datatype is not committed");
        }
        if (span->len > 0 && (t->basic == HL_BASIC_MIXED || others[i]->basic != t->basic)) {
            return hl_err_say(HL_ERR_TYPE, "accumulates need one basic type on all sides, here %s and %s",
                              hl_op_basic_words(t->basic), hl_op_basic_words(others[i]->basic));
        }
    }
    if (a->op == HL_OP_KINDS) {
        return hl_win_bad_op();
    }
    if (span->len > 0 && a->op < HL_OP_REPLACE && hl_op_kernel(a->op, t->basic) == NULL) {
        return hl_err_say(HL_ERR_OP, "operation %s is not defined for basic type %s", hl_op_kind_name(a->op),
                          hl_op_basic_words(t->basic));
    }
    int64_t room = span->len;
    if (a->fetches && (a->result_count < 0 || !hl_type_bytes(a->result_type, a->result_count, &room))) {
        return hl_err_say(HL_ERR_COUNT, "result count is %lld", (long long)a->result_count);
    }
    if (room < span->len) {
        return hl_err_say(HL_ERR_TRUNCATE, "result has room for %lld bytes of data, %lld are fetched",
                          (long long)room, (long long)span->len);
    }
    return 0;
}

int hl_win_acc(const struct hl_acc *a)
{
    struct hl_span span;
    struct hl_move m = a->m;
    if (a->op == HL_OP_NO_OP) { /* the origin side is ignored; what does not fetch is refused below */
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
        return hl_err_say(HL_ERR_BUFFER, "result address is NULL for %lld bytes", (long long)span.len);
    }
    if (HL_CHECKED && (rc = hl_conflict_acc(a, &span, NULL)) != 0) {
        return rc;
    }
    if (hl_target_is_far(&m.win->targets[m.target]) && (rc = hl_win_reach(m.win, m.target)) != 0) {
        return rc;
    }
    if (HL_UNLIKELY(m.win->detour)) {
        return hl_mode_issue(&(struct hl_job){.kind = HL_JOB_ACC, .span = span, .a = *a});
    }
    return hl_acc_apply(a, &span);
}

int hl_acc_apply(const struct hl_acc *a, const struct hl_span *span)
{
    const struct hl_type *t = a->m.target_type;
    if (t->dense && a->m.target_count >= 0 && (a->op == HL_OP_NO_OP || a->m.origin_type == t) &&
        (!a->fetches || a->result_type == t)) {
        struct piece p = {a,
                          t->basic,
                          span->at,
                          a->m.origin,
                          a->result,
                          (size_t)(span->len / (int64_t)hl_op_size(t->basic)),
                          a->m.win->message_acc};
        return acc_piece(&p);
    }
    return acc_spans(a, span, t->basic);
}
