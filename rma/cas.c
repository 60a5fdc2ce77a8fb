/* Compare and swap of one element. */
#include "mode.h"

#include <string.h>

#include "conflict.h"
#include "dyn.h"
#include "err.h"
#include "rpc.h"

/* The types that the standard allows: integers, logicals, bytes (MPI 5.0, section 12.3.4). */
static bool is_taken(enum hl_basic basic)
{
    return basic == HL_BASIC_BYTE || (basic >= HL_BASIC_I8 && basic <= HL_BASIC_L128);
}

/* Does one element of a FAR target. `at`: its offset in the window; t->where has its address. */
static int cas_far(const struct hl_acc *a, const void *compare, const struct hl_target *t, int64_t at)
{
    struct hl_win *w = a->m.win;
    enum hl_basic basic = a->m.target_type->basic;
    size_t size = hl_op_size(basic);
    uint64_t addr = t->where & ~HL_TARGET_BITS;
    bool hidden = w->dyn != NULL ? ((addr ^ (uint64_t)at) & 15) != 0 : w->message_acc;
    int world = hl_win_world(w, a->m.target);

    if (!hidden && addr % size == 0 && hl_lane_can_atomic(HL_OP_REPLACE, basic, true, true)) {
        struct hl_lane_atomic op = {.x = hl_xfer_to_far(w, a->m.target, t, addr, a->m.origin, size),
                                    .op = HL_OP_REPLACE,
                                    .basic = basic,
                                    .n = 1,
                                    .compare = compare,
                                    .result = a->result,
                                    .ordered = !w->unordered,
                                    .order_key = hl_win_order_key(w, a->m.target)};
        return hl_lane_atomic(&op);
    }
    char payload[2 * HL_RPC_LARGEST];
    memcpy(payload, compare, size);
    memcpy(payload + size, a->m.origin, size);
    struct hl_wire_rec rec = {.op = HL_WIRE_CAS,
                              .basic = (uint8_t)basic,
                              .len = (uint32_t)(2 * size),
                              .offset = (uint64_t)at,
                              .count = 1,
                              .aux = w->id};
    struct hl_lane_message msg = {.peer = world,
                                  .rec = &rec,
                                  .payload = payload,
                                  .reply = a->result,
                                  .reply_cap = size,
                                  .error = &w->errors[a->m.target],
                                  .ordered = !w->unordered,
                                  .order_key = hl_win_order_key(w, a->m.target)};
    return hl_lane_message(&msg);
}

/* Does one element as t says. `lock` guards it where it is mapped; NULL: the lock of the target's control
 * block does. */
static int cas_at(const struct hl_acc *a, const void *compare, const struct hl_target *t, int64_t at,
                  struct hl_near_lock *lock)
{
    enum hl_basic basic = a->m.target_type->basic;
    if (hl_target_is_mapped(t)) {
        char *there = (char *)(uintptr_t)t->where;
        lock = lock != NULL ? lock : &hl_target_ctl(t)->acc;
        return hl_near_cas(basic, there, a->m.origin, compare, a->result, lock);
    }
    if (hl_target_is_far(t)) {
        int rc = cas_far(a, compare, t, at);
        hl_win_mark_acc(a->m.win, a->m.target);
        return rc;
    }
    struct hl_rpc_acc rpc = {.win = a->m.win,
                             .target = a->m.target,
                             .basic = basic,
                             .at = (uint64_t)at,
                             .origin = a->m.origin,
                             .result = a->result,
                             .n = 1};
    return hl_rpc_cas(&rpc, compare);
}

int hl_cas_apply(const struct hl_acc *a, const struct hl_span *span, const void *compare)
{
    struct hl_win *w = a->m.win;
    struct hl_target t = w->targets[a->m.target];
    t.where += (uint64_t)span->offset;
    struct hl_place place;
    if (w->dyn != NULL) {
        int rc = hl_dyn_find(w, a->m.target, (uint64_t)span->offset, &place);
        if (rc != 0 || place.len < hl_op_size(a->m.target_type->basic)) {
            return rc != 0 ? rc : hl_dyn_straddles((uint64_t)span->offset, a->m.target);
        }
        t = place.t;
    }
    return cas_at(a, compare, &t, span->offset, w->dyn != NULL ? &place.lock : NULL);
}

int hl_win_cas(const struct hl_acc *a, const void *compare)
{
    struct hl_span span;
    struct hl_win *w = a->m.win;
    int rc = hl_win_check(&a->m, &span);
    if (rc != 0 || a->m.target == MPI_PROC_NULL) {
        return rc;
    }
    enum hl_basic basic = a->m.target_type->basic;
    if (!a->m.target_type->predefined || !is_taken(basic)) {
        return hl_err_say(HL_ERR_TYPE, "the call takes predefined integers, logicals and bytes, not %s%s",
                          a->m.target_type->predefined ? "" : "a datatype made of ",
                          hl_op_basic_words(basic));
    }
    if (!hl_is_address(compare) || !hl_is_address(a->result)) {
        return hl_err_say(HL_ERR_BUFFER, "the %s address is NULL or no address",
                          !hl_is_address(compare) ? "compare" : "result");
    }
    if (hl_target_is_far(&w->targets[a->m.target]) && (rc = hl_win_take_lock(w, a->m.target)) != 0) {
        return rc;
    }
    if (HL_CHECKED && (rc = hl_conflict_acc(a, &span, compare)) != 0) {
        return rc;
    }
    if (HL_UNLIKELY(w->detour)) {
        return hl_mode_issue(
            &(struct hl_mode_job){.kind = HL_JOB_CAS, .span = span, .a = *a, .compare = compare});
    }
    return hl_cas_apply(a, &span, compare);
}
