/* The short way through every one-sided operation: one predefined type on both sides, everything in range.
 * Inlined into the entry points, where it stays in registers; whatever it has no branch for goes to xfer.c or
 * acc.c. */
#ifndef HL_FAST_H
#define HL_FAST_H

#include "near.h"
#include "win.h"

/* An operation that has passed all checks: the target's hl_target.where moved on to its first byte (the upper
 * bits still tell how it is reached), and its bytes. */
struct hl_place {
    uint64_t where;
    uint64_t len;
};

/* The last two of a put's or get's eight arguments. By value they lie on the stack where the user's call has
 * put them, and so the short way hands all arguments on to the long way by a jump. */
struct hl_tail {
    MPI_Datatype target_type;
    MPI_Win win;
};

/* Which call it is: constants to the compiler. */
struct hl_mover {
    enum hl_dir dir;
    const char *func;
    int (*any)(void *origin, int64_t origin_count, MPI_Datatype origin_type, int target, int64_t disp,
               int64_t target_count, struct hl_tail tail); /* the long way */
    int (*far)(void *origin, size_t len, const char *func, int target, uint64_t where, struct hl_win *w);
};

struct hl_call {
    struct hl_tail tail;
    const struct hl_mover *how;
};

/* True: nothing is wrong with an operation of `count` elements of `type` on both sides, and *p tells what it
 * moves. False: it is not a simple one, or hl_win_check knows what is wrong. The target is a rank of w. */
HL_INLINE bool hl_is_short(const struct hl_win *w, int target, int64_t disp, int64_t count, MPI_Datatype type,
                           struct hl_place *p)
{
    int64_t len;
    if (HL_UNLIKELY((uint64_t)disp >= hl_epoch_reach(&w->epoch))) { /* negative ones too */
        return false;
    }
    if (HL_UNLIKELY((uintptr_t)type >= HL_TYPE_PREDEFINED_END)) {
        return false;
    }
    uint64_t at = (uint64_t)disp * w->all.unit; /* below all.size */
    if (HL_UNLIKELY(__builtin_mul_overflow(count, (int64_t)hl_type_dense[(uintptr_t)type], &len) ||
                    (uint64_t)len > w->all.size - at)) {
        return false;
    }
    p->where = w->targets[target].where + at;
    p->len = (uint64_t)len;
    return true;
}

HL_INLINE bool hl_place_is_mapped(const struct hl_place *p)
{
    return (p->where & HL_TARGET_FAR) == 0;
}

/* The ends of the other ways: they report errors themselves, so that the short way needs no frame. */
int hl_move_copy(void *to, const void *from, size_t len);
int hl_move_nowhere(MPI_Win win, const char *func) HL_COLD;
int hl_accumulate_any(struct hl_acc *a, const MPI_Datatype types[3], MPI_Win win, const char *func);

/* A put or get of elements of one type. Returns MPI's code. */
HL_INLINE int hl_move_same(void *origin, int target, int64_t disp, int64_t count, struct hl_tail tail,
                           const struct hl_mover *how)
{
    struct hl_win *w = (struct hl_win *)(void *)tail.win;
    struct hl_place p;
    if (HL_UNLIKELY(origin == NULL || !hl_is_short(w, target, disp, count, tail.target_type, &p))) {
        return how->any(origin, count, tail.target_type, target, disp, count, tail);
    }
    if (HL_UNLIKELY(!hl_place_is_mapped(&p))) {
        return how->far(origin, p.len, how->func, target, p.where, w);
    }
    char *theirs = (char *)(uintptr_t)p.where;
    void *to = how->dir == HL_PUT ? theirs : origin, *from = how->dir == HL_PUT ? origin : theirs;
    if (HL_LIKELY(p.len == 8)) {
        hl_near_copy(to, from, 8);
        return MPI_SUCCESS;
    }
    if (HL_UNLIKELY(p.len == 0)) { /* of no type, perhaps */
        return how->any(origin, count, tail.target_type, target, disp, count, tail);
    }
    return hl_move_copy(to, from, p.len);
}

/* A whole put or get, six of its arguments in registers. Returns MPI's code. */
HL_INLINE int hl_move(void *origin, int64_t origin_count, MPI_Datatype origin_type, int target, int64_t disp,
                      int64_t target_count, struct hl_call call)
{
    struct hl_win *w = hl_win_of(call.tail.win);
    if (HL_UNLIKELY(w == NULL)) {
        return hl_move_nowhere(call.tail.win, call.how->func);
    }
    call.tail.win = (MPI_Win)(void *)w; /* the same: one register for both */
    if (HL_UNLIKELY((uint32_t)target >= (uint32_t)w->size)) {
        if (target == MPI_PROC_NULL) {
            return MPI_SUCCESS;
        }
    } else if (HL_LIKELY(origin_type == call.tail.target_type && origin_count == target_count)) {
        return hl_move_same(origin, target, disp, target_count, call.tail, call.how);
    }
    return call.how->any(origin, origin_count, origin_type, target, disp, target_count, call.tail);
}

/* A whole accumulate; types[]: the handles of origin, target, result; a's types are not set yet. */
HL_INLINE int hl_accumulate(struct hl_acc a, const MPI_Datatype types[3], MPI_Win win, const char *func)
{
    struct hl_place p;
    a.m.win = hl_win_of(win);
    bool simple =
        types[0] == types[1] && a.op != HL_OP_KINDS &&
        (!a.fetches || (a.result != NULL && types[2] == types[1] && a.result_count == a.m.target_count));
    if (HL_LIKELY(simple && a.m.win != NULL && (uint32_t)a.m.target < (uint32_t)a.m.win->size &&
                  a.m.origin_count == a.m.target_count && a.m.origin != NULL &&
                  hl_is_short(a.m.win, a.m.target, a.m.disp, a.m.target_count, types[1], &p) &&
                  hl_place_is_mapped(&p) && p.len != 0)) {
        int rc = hl_near_acc(a.op, hl_type_predefined[(uintptr_t)types[1] - 0x200].basic,
                             (char *)(uintptr_t)p.where, a.m.origin, a.result, (size_t)a.m.target_count,
                             &hl_target_ctl(&a.m.win->targets[a.m.target])->acc);
        return HL_LIKELY(rc == 0) ? MPI_SUCCESS : hl_win_raise(hl_win_of(win), win, func, rc);
    }
    struct hl_acc any = a;
    return hl_accumulate_any(&any, types, win, func);
}

#endif
