/* The short way of every one-sided operation: one predefined type on both sides, everything in range. It is
 * inlined into the entry points, where arguments stay in registers. All other cases go to xfer.c or acc.c. */
#ifndef HL_FAST_H
#define HL_FAST_H

#include "near.h"
#include "win.h"

/* A place in a window and its bytes. */
struct hl_target_addr {
    uint64_t where; /* hl_target.where plus the offset of the first byte: its upper bits tell how it is
                     * reached */
    int64_t len;
};

/* True: `count` elements of *size bytes at this displacement are inside the target's window and may be
 * accessed now; fills *target_addr. False: they are not, or this is no simple case. The target must be a
 * rank of w. */
HL_INLINE bool hl_is_open(const struct hl_win *w, int target, int64_t disp, int64_t count,
                          const uint8_t *size, struct hl_target_addr *target_addr)
{
    if (HL_UNLIKELY((uint64_t)disp >= hl_epoch_limit(&w->epoch))) { /* negative ones, too */
        return false;
    }
    uint64_t at = (uint64_t)disp * w->scale; /* below all.size */
    if (HL_UNLIKELY(__builtin_mul_overflow(count, (int64_t)*size, &target_addr->len) ||
                    (uint64_t)target_addr->len > w->all.size - at)) {
        return false;
    }
    target_addr->where = w->targets[target].where + at;
    return true;
}

/* hl_is_open by the target's own size, unit and epoch: for windows whose targets differ, and epochs that open
 * only some targets. The short way does not use it, since it costs more. */
HL_INLINE bool hl_is_open_apart(const struct hl_win *w, int target, int64_t disp, int64_t count,
                                const uint8_t *size, struct hl_target_addr *target_addr)
{
    const struct hl_extent *e = hl_win_extent(w, target);
    uint64_t at;
    if (HL_CHECKED || HL_UNLIKELY(w->detour || disp < 0 || !hl_epoch_allows_at_once(&w->epoch, target)) ||
        HL_UNLIKELY(__builtin_mul_overflow((uint64_t)disp, e->unit, &at) ||
                    __builtin_mul_overflow(count, (int64_t)*size, &target_addr->len))) {
        return false;
    }
    target_addr->where = w->targets[target].where + at;
    return at <= e->size && (uint64_t)target_addr->len <= e->size - at;
}

HL_INLINE bool hl_target_addr_is_mapped(const struct hl_target_addr *s)
{
    return (s->where & HL_TARGET_UNMAPPED) == 0;
}

/* ---- put and get ---- */

/* The last two of eight arguments. As values they lie on the stack where the user's call has put them,
 * so that the short way passes all arguments on to the long way by a jump. */
struct hl_tail {
    MPI_Datatype target_type;
    MPI_Win win;
};

/* A function with all arguments where the user's call has them. It takes no struct hl_tail: gcc would write
 * that in two halves and copy it as a whole, for which the processor waits. */
typedef int hl_mover_fn(void *origin, int64_t origin_count, MPI_Datatype origin_type, int target,
                        int64_t disp, int64_t target_count, MPI_Datatype target_type, MPI_Win win);

/* Which call it is. Each call has a constant one, whose fields the compiler knows. The functions raise errors
 * themselves, so that the short way needs no stack frame. */
struct hl_mover {
    enum hl_dir dir;
    const char *func;
    hl_mover_fn *any; /* the way between: hl_move_apart */
    hl_mover_fn *all; /* the long way: hl_win_move */
    int (*copy)(void *origin, void *theirs, size_t len);
    int (*unmapped)(void *origin, size_t len, const char *func, int target, uint64_t where, struct hl_win *w);
};

struct hl_move_call {
    struct hl_tail tail;
    const struct hl_mover *how;
};

int hl_move_nowhere(MPI_Win win, const char *func) HL_COLD;

/* The short way of a put or get; the first six arguments are in registers, the others in `call.tail`. It does
 * transfers with one predefined type and the same count on both sides, to a place in an open epoch, and
 * passes all others on to hl_move_apart. Returns MPI's code. */
HL_INLINE int hl_move_short(void *origin, int64_t origin_count, MPI_Datatype origin_type, int target,
                            int64_t disp, int64_t target_count, struct hl_move_call call)
{
    const struct hl_mover *how = call.how;
    struct hl_win *w = hl_win_of(call.tail.win);
    if (HL_UNLIKELY(w == NULL)) {
        return hl_move_nowhere(call.tail.win, how->func);
    }
    struct hl_tail tail = {call.tail.target_type, (MPI_Win)(void *)w}; /* so that one register holds both */
    bool is_rank = (uint32_t)target < (uint32_t)w->size;
    if (HL_UNLIKELY(!is_rank) && target == MPI_PROC_NULL) {
        return MPI_SUCCESS;
    }
    uintptr_t type = (uintptr_t)tail.target_type;
    struct hl_target_addr s;
    if (HL_UNLIKELY(!is_rank || origin_type != tail.target_type || origin_count != target_count ||
                    origin == NULL || type >= HL_TYPE_PREDEFINED_END)) {
        return how->any(origin, origin_count, origin_type, target, disp, target_count, tail.target_type,
                        tail.win);
    }
    /* One element of 8 bytes: the general case below with a known length. */
    if (HL_LIKELY(target_count == 1 && hl_type_dense[type] == 8 &&
                  (uint64_t)disp < hl_epoch_limit8(&w->epoch))) {
        uint64_t where = w->targets[target].where + (uint64_t)disp * w->scale;
        if (HL_UNLIKELY((where & HL_TARGET_UNMAPPED) != 0)) {
            return how->unmapped(origin, 8, how->func, target, where, w);
        }
        char *there = (char *)(uintptr_t)where;
        hl_near_copy(how->dir == HL_PUT ? there : origin, how->dir == HL_PUT ? origin : there, 8);
        return MPI_SUCCESS;
    }
    if (HL_UNLIKELY(!hl_is_open(w, target, disp, target_count, &hl_type_dense[type], &s) ||
                    s.len == 0)) { /* 0 bytes: the type may be none */
        return how->any(origin, target_count, (MPI_Datatype)type, target, disp, target_count,
                        (MPI_Datatype)type, tail.win);
    }
    if (HL_UNLIKELY(!hl_target_addr_is_mapped(&s))) {
        return how->unmapped(origin, (size_t)s.len, how->func, target, s.where, w);
    }
    return how->copy(origin, (char *)(uintptr_t)s.where, (size_t)s.len);
}

/* The way between: does what the short way does not, and passes the rest to the long way. The short way jumps
 * here for every reason: with one exit it needs no stack frame. Same arguments; the window exists. */
HL_INLINE int hl_move_apart(void *origin, int64_t origin_count, MPI_Datatype origin_type, int target,
                            int64_t disp, int64_t target_count, struct hl_move_call call)
{
    struct hl_win *w = (struct hl_win *)(void *)call.tail.win;
    const struct hl_mover *how = call.how;
    uintptr_t type = (uintptr_t)call.tail.target_type;
    struct hl_target_addr s;
    if (HL_UNLIKELY((uint32_t)target >= (uint32_t)w->size || origin == NULL || origin_count != target_count ||
                    origin_type != call.tail.target_type || type >= HL_TYPE_PREDEFINED_END ||
                    !hl_is_open_apart(w, target, disp, target_count, &hl_type_dense[type], &s) ||
                    s.len == 0)) {
        return how->all(origin, origin_count, origin_type, target, disp, target_count, call.tail.target_type,
                        call.tail.win);
    }
    if (HL_UNLIKELY(!hl_target_addr_is_mapped(&s))) {
        return how->unmapped(origin, (size_t)s.len, how->func, target, s.where, w);
    }
    char *there = (char *)(uintptr_t)s.where;
    if (HL_LIKELY(s.len == 8)) {
        hl_near_copy(how->dir == HL_PUT ? there : origin, how->dir == HL_PUT ? origin : there, 8);
        return MPI_SUCCESS;
    }
    return how->copy(origin, there, (size_t)s.len);
}

/* ---- atomics ---- */

/* Sets *there to the place of one integer of 4 or 8 bytes in the memory of a mapped target. Returns its size,
 * or 0 if this is no such simple case. */
HL_INLINE size_t hl_word_at(MPI_Win win, MPI_Datatype type, int target, int64_t disp, char **there)
{
    const struct hl_win *w = hl_win_of(win);
    struct hl_target_addr s;
    if (HL_UNLIKELY(
            w == NULL || (uint32_t)target >= (uint32_t)w->size || (uintptr_t)type >= HL_TYPE_PREDEFINED_END ||
            !hl_is_open(w, target, disp, 1, &hl_type_word[(uintptr_t)type], &s) ||
            !hl_target_addr_is_mapped(&s) ||
            hl_a8_load_acquire(&w->singles) == 0)) { /* acquire: rows have ended; pairs with the release in
                                                      * hl_win_end_rows. */
        return 0;
    }
    *there = (char *)(uintptr_t)s.where;
    return (size_t)s.len;
}

/* hl_word_at by hl_is_open_apart; ends rows first where there are any. */
size_t hl_word_apart(MPI_Win win, MPI_Datatype type, int target, int64_t disp, char **there);

/* Does an accumulate of one integer of `bytes` at `there`; true when it is done. `result` NULL: nothing is
 * fetched. */
HL_INLINE bool hl_acc_word(const void *origin, void *result, MPI_Op op, size_t bytes, char *there)
{
    enum hl_op_kind kind = op == MPI_SUM       ? HL_OP_SUM
                           : op == MPI_REPLACE ? HL_OP_REPLACE
                           : op == MPI_NO_OP   ? HL_OP_NO_OP
                                               : HL_OP_KINDS;
    if (HL_LIKELY(bytes == 8)) {
        return hl_near_acc_word(kind, 8, there, origin, result);
    }
    return bytes == 4 && hl_near_acc_word(kind, 4, there, origin, result);
}

#endif
