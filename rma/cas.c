/* Compare and swap of one element. */
#include "win.h"

#include <string.h>

#include "boot.h"
#include "err.h"
#include "lane.h"

#define LARGEST 32

/* The standard's list: integers, logicals, bytes (MPI 5.0, section 12.3.4). */
static bool is_taken(enum hl_basic basic)
{
    return basic == HL_BASIC_BYTE || (basic >= HL_BASIC_I8 && basic <= HL_BASIC_L128);
}

int hl_cas_locked(enum hl_basic basic, void *target, const void *origin, const void *compare, void *fetched,
                  struct hl_near_lock *lock)
{
    size_t size = hl_op_size(basic);
    hl_near_lock_take(lock);
    bool same = memcmp(target, compare, size) == 0;
    memcpy(fetched, target, size);
    if (same) {
        memcpy(target, origin, size);
    }
    hl_near_lock_leave(lock);
    return 0;
}

static int cas_cma(const struct hl_acc *a, const void *compare, const struct hl_target *t, int64_t at)
{
    int node_rank = hl_boot_node_of(hl_win_world(a->m.win, a->m.target));
    uint64_t addr = (t->where & ~HL_TARGET_BITS) + (uint64_t)at;
    size_t size = hl_op_size(a->m.target_type->basic);
    struct hl_near_lock *lock = &hl_target_ctl(t)->acc;
    char here[LARGEST];

    hl_near_lock_take(lock);
    int rc = hl_cma_copy(node_rank, HL_GET, here, addr, size);
    if (rc == 0 && memcmp(here, compare, size) == 0) {
        rc = hl_cma_copy(node_rank, HL_PUT, a->m.origin, addr, size);
    }
    hl_near_lock_leave(lock);
    if (rc == 0) {
        memcpy(a->result, here, size);
    }
    return rc;
}

static int cas_far(const struct hl_acc *a, const void *compare, const struct hl_target *t, int64_t at)
{
    struct hl_win *w = a->m.win;
    enum hl_basic basic = a->m.target_type->basic;
    size_t size = hl_op_size(basic);
    uint64_t addr = (t->where & ~HL_TARGET_BITS) + (uint64_t)at;
    int world = hl_win_world(w, a->m.target);

    if (!w->message_acc && addr % size == 0 && hl_lane_can_atomic(HL_OP_REPLACE, basic, true, true)) {
        struct hl_lane_atomic op = {.x = {.peer = world,
                                          .addr = addr,
                                          .key = t->at,
                                          .buf = a->m.origin,
                                          .error = &w->errors[a->m.target]},
                                    .op = HL_OP_REPLACE,
                                    .basic = basic,
                                    .n = 1,
                                    .compare = compare,
                                    .result = a->result,
                                    .ordered = !w->unordered,
                                    .order_key = hl_win_order_key(w, a->m.target)};
        return hl_lane_atomic(&op);
    }
    char payload[2 * LARGEST];
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
        return hl_err_say(HL_ERR_TYPE, "compare and swap takes integers, logicals and bytes, not %s",
                          hl_op_basic_name(basic));
    }
    if (compare == NULL || a->result == NULL) {
        return hl_err_say(HL_ERR_BUFFER, "%s address is NULL", compare == NULL ? "compare" : "result");
    }
    const struct hl_target *t = &w->targets[a->m.target];
    if (hl_target_is_mapped(t)) {
        char *there = (char *)(uintptr_t)t->where + span.at;
        struct hl_near_lock *lock = &hl_target_ctl(t)->acc;
        return (w->locked_acc ? hl_cas_locked : hl_near_cas)(basic, there, a->m.origin, compare, a->result,
                                                             lock);
    }
    if (!hl_target_is_far(t)) {
        return cas_cma(a, compare, t, span.at);
    }
    rc = hl_win_reach(w, a->m.target);
    return rc != 0 ? rc : cas_far(a, compare, t, span.at);
}
