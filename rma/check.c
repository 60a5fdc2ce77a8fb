/* Checks every argument of a one-sided operation, in the order in which a reader of the call would look. */
#include "fast.h"

#include "dyn.h"
#include "err.h"
#include "errh.h"
#include "hl_build.h"
#include "job.h"
#include "user.h"

int hl_win_bad(void)
{
    return hl_job_is_open()
               ? hl_err_say(HL_ERR_WIN, "the handle is not one of a window that was made and not freed")
               : hl_job_refuse();
}

int hl_win_raise(struct hl_win *w, MPI_Win win, const char *func, int rc)
{
    char what[MPI_MAX_OBJECT_NAME + 16];
    if (w == NULL) {
        return hl_errh_comm(NULL, func, rc == HL_ERR_WIN ? hl_err_say_none(rc, "window", win) : rc);
    }
    hl_win_words(w, what, sizeof what);
    return hl_errh_raise(&(struct hl_errh_site){&w->errh, HL_ERRH_WIN, &win, what}, func, rc);
}

int hl_win_fail(MPI_Win win, const char *func, int rc)
{
    return hl_win_raise(hl_win_of(win), win, func, rc);
}

int hl_win_null(const char *what)
{
    return hl_err_say(HL_ERR_ARG, "%s is NULL or no address", what);
}

int hl_win_check_target(const struct hl_win *w, int target)
{
    if (target < 0 || target >= w->size) {
        return hl_err_say(HL_ERR_RANK, "target rank %d is not in the window's group of %d ranks", target,
                          w->size);
    }
    return 0;
}

static _Thread_local const void *none[HL_ARGS]; /* bad handles of this thread's last call that had one */

void hl_win_note_none(enum hl_arg arg, const void *handle)
{
    none[arg] = handle;
}

int hl_win_bad_type(enum hl_arg arg)
{
    static const char *const nouns[] = {"origin datatype", "target datatype", "result datatype"};
    return hl_err_say_none(HL_ERR_TYPE, nouns[arg], none[arg]);
}

int hl_win_bad_op(void)
{
    return hl_op_user_of((MPI_Op)(uintptr_t)none[HL_ARG_OP]) != NULL
               ? hl_err_say(HL_ERR_OP, "accumulates take predefined operations only")
               : hl_err_say_none(HL_ERR_OP, "operation", none[HL_ARG_OP]);
}

static int check_side(enum hl_arg which, int64_t count, const struct hl_type *type)
{
    const char *side = which == HL_ARG_ORIGIN ? "origin" : "target";
    if (count < 0) {
        return hl_err_say(HL_ERR_COUNT, "%s count %lld is negative", side, (long long)count);
    }
    if (type == NULL) {
        return hl_win_bad_type(which);
    }
    if (!hl_type_is_committed(type)) {
        return hl_err_say(HL_ERR_TYPE, "the %s datatype is not committed (MPI_Type_commit)", side);
    }
    return 0;
}

static bool is_basic_real(enum hl_basic basic)
{
    return basic >= HL_BASIC_F16 && basic <= HL_BASIC_C128;
}

/* HL_ERR_TYPE when the elements of the two sides cannot match. Bytes match everything; differences of sign
 * are left to the user; types of several basic ones are not looked into. */
static int check_elements(const struct hl_type *origin, const struct hl_type *target)
{
    enum hl_basic a = origin->basic, b = target->basic;
    if (HL_LIKELY(a == b) || a == HL_BASIC_MIXED || b == HL_BASIC_MIXED || a == HL_BASIC_BYTE ||
        b == HL_BASIC_BYTE || (hl_op_size(a) == hl_op_size(b) && is_basic_real(a) == is_basic_real(b))) {
        return 0;
    }
    return hl_err_say(HL_ERR_TYPE, "the elements of the origin are %s, those of the target %s",
                      hl_op_basic_words(a), hl_op_basic_words(b));
}

static HL_COLD int refuse_many_bytes(const struct hl_move *m)
{
    return hl_err_say(HL_ERR_COUNT,
                      "%lld elements of the origin, or %lld of the target, do not fit 63 bits of bytes",
                      (long long)m->origin_count, (long long)m->target_count);
}

static int check_bytes(const struct hl_move *m, struct hl_span *span)
{
    int64_t mine, theirs;
    if (!hl_type_bytes(m->origin_type, m->origin_count, &mine) ||
        !hl_type_bytes(m->target_type, m->target_count, &theirs)) {
        return refuse_many_bytes(m);
    }
    /* Like a send and its receive: the receiving side may have more room. */
    if (m->dir == HL_PUT ? mine > theirs : theirs > mine) {
        return hl_err_say(HL_ERR_TRUNCATE, "the origin has %lld bytes of data, the target %lld",
                          (long long)mine, (long long)theirs);
    }
    span->len = mine < theirs ? mine : theirs;
    int rc = span->len == 0 ? 0 : check_elements(m->origin_type, m->target_type);
    if (rc != 0) {
        return rc;
    }
    if (span->len != 0 && hl_type_lacks_buffer(m->origin_type, m->origin)) {
        return hl_err_say(HL_ERR_BUFFER, "the origin address is NULL for %lld bytes", (long long)span->len);
    }
    return 0;
}

/* Checks lowest and highest byte, as offsets from the window's base, against its size. Sets span->offset. */
static int check_range(const struct hl_move *m, struct hl_span *span)
{
    const struct hl_extent *e = hl_win_extent(m->win, m->target);
    const struct hl_type *t = m->target_type;
    int64_t lo, hi, far_end;
    bool over = __builtin_mul_overflow(m->disp, (int64_t)e->unit, &span->offset);

    if (!over && (m->target_count == 0 || t->size == 0)) {
        return 0;
    }
    over = over || __builtin_add_overflow(span->offset, t->true_lb, &lo) ||
           __builtin_add_overflow(span->offset, t->true_ub, &hi);
    over = over || __builtin_mul_overflow(m->target_count - 1, hl_type_extent(t), &far_end);
    if (!over) {
        over =
            far_end < 0 ? __builtin_add_overflow(lo, far_end, &lo) : __builtin_add_overflow(hi, far_end, &hi);
    }
    if (m->disp < 0 && m->win->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        return hl_err_say(HL_ERR_DISP, "displacement %lld in the window of target %d is negative",
                          (long long)m->disp, m->target);
    }
    if (!over && lo >= 0 && m->win->dyn != NULL) {
        return hl_dyn_check(m, span, (uint64_t)lo, (uint64_t)hi);
    }
    if (over || lo < 0 || (uint64_t)hi > e->size) {
        return hl_err_say(
            HL_ERR_RMA_RANGE,
            "displacement %lld (unit %llu) with %lld element%s of %lld bytes is outside the window "
            "of target %d, which has %llu bytes",
            (long long)m->disp, (unsigned long long)e->unit, (long long)m->target_count,
            m->target_count == 1 ? "" : "s", (long long)t->size, m->target, (unsigned long long)e->size);
    }
    return 0;
}

size_t hl_word_apart(MPI_Win win, MPI_Datatype type, int target, int64_t disp, char **there)
{
    struct hl_win *w = hl_win_of(win);
    struct hl_target_addr s;
    if (w == NULL || (uint32_t)target >= (uint32_t)w->size || (uintptr_t)type >= HL_TYPE_PREDEFINED_END ||
        !hl_is_open_apart(w, target, disp, 1, &hl_type_word[(uintptr_t)type], &s) ||
        !hl_target_addr_is_mapped(&s)) {
        return 0;
    }
    if (HL_UNLIKELY(hl_a8_load_acquire(&w->singles) == 0)) { /* acquire: rows have ended; pairs with the
                                                              * release in hl_win_end_rows. */
        hl_win_end_rows(w);
    }
    *there = (char *)(uintptr_t)s.where;
    return (size_t)s.len;
}

static int check_epoch(const struct hl_move *m)
{
    if (hl_epoch_allows(&m->win->epoch, m->target)) {
        return 0;
    }
    if (hl_epoch_mode_of(&m->win->epoch) == HL_EPOCH_LOCKS) {
        return hl_err_say(HL_ERR_RMA_SYNC, "target %d is not locked", m->target);
    }
    if (hl_epoch_mode_of(&m->win->epoch) == HL_EPOCH_START) {
        return hl_err_say(HL_ERR_RMA_SYNC, "target %d is not in the group of MPI_Win_start", m->target);
    }
    return hl_err_say(HL_ERR_RMA_SYNC,
                      "no epoch is open for target %d: MPI_Win_fence, MPI_Win_start or a lock comes before",
                      m->target);
}

int hl_win_check(const struct hl_move *m, struct hl_span *span)
{
    int rc;
    if (m->win == NULL) {
        return hl_win_bad();
    }
    if (m->target == MPI_PROC_NULL) {
        return 0;
    }
    if (!HL_CHECKS) {
        span->offset = m->disp * (int64_t)hl_win_extent(m->win, m->target)->unit;
        return hl_type_bytes(m->target_type, m->target_count, &span->len) ? 0 : refuse_many_bytes(m);
    }
    if ((rc = hl_win_check_target(m->win, m->target)) != 0 ||
        (rc = check_side(HL_ARG_ORIGIN, m->origin_count, m->origin_type)) != 0 ||
        (rc = check_side(HL_ARG_TARGET, m->target_count, m->target_type)) != 0 ||
        (rc = check_bytes(m, span)) != 0 || (rc = check_epoch(m)) != 0) {
        return rc;
    }
    return check_range(m, span);
}
