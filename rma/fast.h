/* The short way through every one-sided operation: one predefined type on both sides, everything in range.
 * Inlined into the entry points, where it stays in registers; whatever it has no branch for goes to xfer.c or
 * acc.c. */
#ifndef HL_FAST_H
#define HL_FAST_H

#include "near.h"
#include "win.h"

/* An operation that has passed all checks: first byte's offset in the target's window, bytes of data. */
struct hl_pass {
    const struct hl_type *type;
    uint64_t at, len;
};

/* True: nothing is wrong with this operation, and *pass tells what it moves. False: hl_win_check knows why,
 * or it is not a simple one (or not at first sight). `type`: the handle on both sides. */
HL_INLINE bool hl_pass(const struct hl_move *m, MPI_Datatype type, struct hl_pass *pass)
{
    const struct hl_win *w = m->win;
    uintptr_t index = (uintptr_t)type - 0x200; /* of a predefined type; unused handles are not dense */
    if (HL_UNLIKELY(w == NULL || (uint32_t)m->target >= w->short_size || index >= 256 ||
                    m->origin_count != m->target_count || (uint64_t)m->target_count > UINT32_MAX)) {
        return false;
    }
    const struct hl_type *t = &hl_type_predefined[index];
    const struct hl_extent *e = hl_win_extent(w, m->target);
    pass->type = t;
    pass->len = (uint64_t)m->target_count * (uint64_t)t->size;
    /* As unsigned numbers, so that a negative displacement is too large or overflows. */
    if (HL_UNLIKELY(!t->dense || __builtin_mul_overflow((uint64_t)m->disp, e->unit, &pass->at) ||
                    pass->len > e->size || pass->at > e->size - pass->len || m->origin == NULL)) {
        return false;
    }
    return hl_epoch_allows_at_once(&w->epoch, m->target);
}

/* The ends of the long ways: they report errors themselves, so that the short way needs no frame. */
int hl_move_any(struct hl_move *m, const MPI_Datatype types[2], MPI_Win win, const char *func);
int hl_move_far(const struct hl_move *m, const struct hl_pass *pass, MPI_Win win, const char *func);
int hl_move_copy(void *to, const void *from, size_t len);
int hl_accumulate_any(struct hl_acc *a, const MPI_Datatype types[3], MPI_Win win, const char *func);

/* A whole put or get: types[] are the handles of origin and target, m's types are not set yet. Returns MPI's
 * code. */
HL_INLINE int hl_move(struct hl_move m, const MPI_Datatype types[2], MPI_Win win, const char *func)
{
    struct hl_pass pass;
    m.win = hl_win_of(win);
    if (HL_LIKELY(types[0] == types[1] && hl_pass(&m, types[1], &pass))) {
        const struct hl_target *t = &m.win->targets[m.target];
        if (HL_LIKELY(hl_target_is_mapped(t))) {
            char *theirs = (char *)(uintptr_t)t->where + pass.at;
            char *to = m.dir == HL_PUT ? theirs : m.origin, *from = m.dir == HL_PUT ? m.origin : theirs;
            if (HL_LIKELY(pass.len == 8)) {
                hl_near_copy(to, from, 8);
                return MPI_SUCCESS;
            }
            return hl_move_copy(to, from, pass.len);
        }
        struct hl_move far = m; /* copies, so that m and pass need not be in memory */
        struct hl_pass far_pass = pass;
        return hl_move_far(&far, &far_pass, win, func);
    }
    struct hl_move any = m;
    return hl_move_any(&any, types, win, func);
}

/* A whole accumulate; types[]: the handles of origin, target, result; a's types are not set yet. */
HL_INLINE int hl_accumulate(struct hl_acc a, const MPI_Datatype types[3], MPI_Win win, const char *func)
{
    struct hl_pass pass;
    a.m.win = hl_win_of(win);
    bool simple =
        types[0] == types[1] && a.op != HL_OP_KINDS &&
        (!a.fetches || (a.result != NULL && types[2] == types[1] && a.result_count == a.m.target_count));
    if (HL_LIKELY(simple && hl_pass(&a.m, types[1], &pass))) {
        const struct hl_target *t = &a.m.win->targets[a.m.target];
        if (HL_LIKELY(hl_target_is_mapped(t))) {
            int rc = hl_near_acc(a.op, pass.type->basic, (char *)(uintptr_t)t->where + pass.at, a.m.origin,
                                 a.result, (size_t)a.m.target_count, &hl_target_ctl(t)->acc);
            return HL_LIKELY(rc == 0) ? MPI_SUCCESS : hl_win_raise(hl_win_of(win), win, func, rc);
        }
    }
    struct hl_acc any = a;
    return hl_accumulate_any(&any, types, win, func);
}

#endif
