/* Put with notification: the data, then a flag in the same target's window that announces them; waiting for
 * flags. */
#include "win_call.h"

#include <hotlane.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "dyn.h"
#include "err.h"
#include "job.h"
#include "prog.h"
#include "rpc.h"
#include "util.h"

/* The arguments of one call of the user. */
struct notify_call {
    struct hl_move m;
    int64_t disp; /* of the flag, as given */
    uint64_t value;
    struct hl_span span; /* of the data, checked */
    uint64_t at;         /* of the flag, in bytes, checked */
};

/* A call whose target is not on my node: how flag and data are reached, the data only if they travel with the
 * flag. */
struct far_notice {
    const struct notify_call *n;
    struct hl_target flag, data;
};

/* *at: the offset in bytes of the flag at `disp` of a rank's window, checked but for dynamic windows, where
 * deliver_put and find_flag check it. */
static int locate_flag(const struct hl_win *w, int rank, int64_t disp, uint64_t *at)
{
    const struct hl_extent *e = hl_win_extent(w, rank);
    /* As unsigned numbers, so that a negative displacement is too large or overflows. */
    if (__builtin_mul_overflow((uint64_t)disp, e->unit, at) ||
        (w->dyn == NULL && (e->size < 8 || *at > e->size - 8))) {
        return hl_err_say(
            disp < 0 ? HL_ERR_DISP : HL_ERR_RMA_RANGE,
            "flag displacement %lld (unit %llu) is outside the window of rank %d, which has %llu bytes",
            (long long)disp, (unsigned long long)e->unit, rank, (unsigned long long)e->size);
    }
    return 0;
}

static int refuse_unaligned(int64_t disp, int rank)
{
    return hl_err_say(HL_ERR_DISP, "flag at displacement %lld of rank %d is not aligned to 8 bytes",
                      (long long)disp, rank);
}

/* Fills *place: how the memory at offset `at` of a target is reached (t.where includes the address), and how
 * many bytes follow. Errors of hl_dyn_find. */
static int find_notify_place(struct hl_win *w, int target, uint64_t at, struct hl_place *place)
{
    if (w->dyn != NULL) {
        return hl_dyn_find(w, target, at, place);
    }
    const struct hl_target *t = &w->targets[target];
    *place =
        (struct hl_place){.t = {t->where + at, t->key_or_ctl}, .len = hl_win_extent(w, target)->size - at};
    return 0;
}

/* The target is on my node: all is done when this returns. */
static int notify_near(const struct notify_call *n, const struct hl_target *flag)
{
    uint64_t addr = flag->where & ~HL_TARGET_BITS, value = n->value;
    int rc = hl_move_apply(&n->m, &n->span);
    if (rc == 0 && hl_target_is_mapped(flag)) {
        /* release: the data come before; pairs with the acquire in is_reached. */
        hl_a64_store_release((hl_a64 *)(uintptr_t)addr, value);
    } else if (rc == 0) {
        /* By the owner: the kernel's copy does not promise to write the flag in one access. */
        rc = hl_rpc_move(&n->m, n->at, (char *)&value, sizeof value);
    }
    if (rc == 0) {
        hl_prog_wake_peer(hl_job_node_of(hl_win_world(n->m.win, n->m.target)));
    }
    return rc;
}

/* Sends a record with `len` bytes of data; its receiver stores them, then sets the flag. */
static int send_notice(const struct far_notice *f, const void *data, size_t len)
{
    const struct hl_move *m = &f->n->m;
    const struct hl_wire_signal_rec signal = {.op = HL_WIRE_SIGNAL,
                                              .kind = HL_WIRE_SIGNAL_SET,
                                              .len = (uint32_t)len,
                                              .data_key = f->data.key_or_ctl,
                                              .data_addr = f->data.where & ~HL_TARGET_BITS,
                                              .word_key = f->flag.key_or_ctl,
                                              .word_addr = f->flag.where & ~HL_TARGET_BITS,
                                              .value = f->n->value};
    struct hl_wire_rec rec;
    memcpy(&rec, &signal, sizeof rec);
    struct hl_lane_message msg = {.peer = hl_win_world(m->win, m->target),
                                  .rec = &rec,
                                  .payload = data,
                                  .error = &m->win->errors[m->target]};
    return hl_lane_message(&msg);
}

/* Sends data and flag as one message; data of a layout with holes are packed first. */
static int notify_eager(const struct far_notice *f)
{
    const struct hl_move *m = &f->n->m;
    int64_t bytes = f->n->span.len;
    size_t len = (size_t)bytes;
    char *mine;
    if (len == 0 || hl_type_block(m->origin_type, m->origin_count, m->origin, &mine)) {
        return send_notice(f, len == 0 ? NULL : mine, len);
    }
    char *packed = malloc(len);
    if (packed == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory to pack %zu bytes", len);
    }
    int rc = hl_type_pack(m->origin_type, m->origin_count, m->origin, 0, packed, bytes);
    rc = rc != 0 ? rc : send_notice(f, packed, len);
    free(packed);
    return rc;
}

/* Puts the data, waits until they are there, then sends the flag: so nobody has to send it later. A request
 * would not do, since it tells only that the buffer is free. After a failed operation on this target the flag
 * is not sent; the next flush reports the error. */
static int notify_after(const struct far_notice *f)
{
    const struct hl_move *m = &f->n->m;
    int rc = hl_move_apply(m, &f->n->span);
    hl_lane_flush(hl_win_world(m->win, m->target), HL_REMOTE);
    /* relaxed: the flush has ordered it. */
    bool failed = hl_a32_load_relaxed(&m->win->errors[m->target]) != 0;
    return rc != 0 || failed ? rc : send_notice(f, NULL, 0);
}

/* Can the target's receive thread store the data with one copy, from one message? Finds their place. */
static bool is_one_message(struct far_notice *f)
{
    const struct hl_move *m = &f->n->m;
    uint64_t len = (uint64_t)f->n->span.len;
    struct hl_place data;
    int64_t at;
    if (len > hl_lane_payload_max() || !hl_move_target_block(m, &f->n->span, &at)) {
        return false;
    }
    if (len == 0) {
        return true;
    }
    if (find_notify_place(m->win, m->target, (uint64_t)at, &data) != 0 || data.len < len) {
        return false;
    }
    f->data = data.t;
    return true;
}

/* The target is on another node. */
static int notify_far(const struct notify_call *n, const struct hl_target *flag)
{
    struct far_notice f = {.n = n, .flag = *flag};
    return is_one_message(&f) ? notify_eager(&f) : notify_after(&f);
}

/* Does a put with notification of which all but the flag's place was checked. */
static int deliver_put(const struct notify_call *n)
{
    const struct hl_move *m = &n->m;
    struct hl_place flag;
    bool far = hl_target_is_far(&m->win->targets[m->target]);
    int rc = far ? hl_win_take_lock(m->win, m->target) : 0;
    rc = rc != 0 ? rc : find_notify_place(m->win, m->target, n->at, &flag);
    if (rc != 0) {
        return rc;
    }
    if (flag.len < sizeof n->value) {
        return hl_err_say(HL_ERR_RMA_RANGE, "flag at displacement %lld of rank %d is not attached as a whole",
                          (long long)n->disp, m->target);
    }
    /* Of far memory only the offset is known; the target checks the address. */
    if ((far ? n->at : flag.t.where) % sizeof n->value != 0) {
        return refuse_unaligned(n->disp, m->target);
    }
    return far ? notify_far(n, &flag.t) : notify_near(n, &flag.t);
}

static int put_notify(struct notify_call *n)
{
    struct hl_move *m = &n->m;
    int rc = hl_win_check(m, &n->span);
    if (rc != 0 || m->target == MPI_PROC_NULL) {
        return rc;
    }
    if ((rc = locate_flag(m->win, m->target, n->disp, &n->at)) != 0) {
        return rc;
    }
    if (hl_target_is_far(&m->win->targets[m->target])) {
        hl_win_follow_acc(m->win, m->target);
    }
    /* It is not queued where operations are queued (enqueue): it has no order with others. */
    hl_win_enter(m->win);
    rc = deliver_put(n);
    hl_win_leave(m->win);
    return rc;
}

/* ---- the target's side ---- */

struct flag_watch {
    hl_a64 *flag;
    int compare;
    uint64_t value, seen, at;
    struct hl_win *win;
};

HL_INLINE bool does_flag_hold(uint64_t seen, int compare, uint64_t value)
{
    switch (compare) {
    case MPIX_CMP_EQ:
        return seen == value;
    case MPIX_CMP_NE:
        return seen != value;
    case MPIX_CMP_GT:
        return seen > value;
    case MPIX_CMP_GE:
        return seen >= value;
    case MPIX_CMP_LT:
        return seen < value;
    default:
        return seen <= value;
    }
}

static bool is_reached(void *arg)
{
    struct flag_watch *f = arg;
    /* acquire: the data that the flag announces; pairs with the release stores here and of the receive
     * thread. */
    f->seen = hl_a64_load_acquire(f->flag);
    return does_flag_hold(f->seen, f->compare, f->value);
}

static const char *const signs[] = {"==", "!=", ">", ">=", "<", "<="}; /* in the order of MPIX_CMP_* */

static void describe_flag(const void *arg, struct hl_wait_desc *t)
{
    const struct flag_watch *f = arg;
    hl_win_describe(f->win, t);
    hl_desc_say(t, ", flag at byte %llu, which is %llu, to be %s %llu", (unsigned long long)f->at,
                (unsigned long long)f->seen, signs[f->compare - MPIX_CMP_EQ], (unsigned long long)f->value);
}
HL_HANG_WORDS(is_reached, describe_flag);

/* Finds the flag at f->at. For a dynamic window the caller holds the window by hl_win_table_with. */
static int look_up(struct hl_win *w, void *arg)
{
    struct flag_watch *f = arg;
    f->flag = (hl_a64 *)hl_win_memory(w, f->at, sizeof *f->flag);
    return f->flag != NULL ? 0 : HL_ERR_RMA_RANGE;
}

static int find_flag(struct hl_win *w, int64_t disp, struct flag_watch *f)
{
    if (w == NULL) {
        return hl_win_bad();
    }
    f->win = w;
    if (f->compare < MPIX_CMP_EQ || f->compare > MPIX_CMP_LE) {
        return hl_err_say(HL_ERR_ARG, "comparison %d is none of MPIX_CMP_*", f->compare);
    }
    int rc = locate_flag(w, w->rank, disp, &f->at);
    if (rc != 0) {
        return rc;
    }
    if ((w->dyn == NULL ? look_up(w, f) : hl_win_table_with(w->id, look_up, f)) != 0) {
        return hl_err_say(HL_ERR_RMA_RANGE,
                          "no flag at displacement %lld of this rank's part of the window: its memory is not "
                          "attached as a whole",
                          (long long)disp);
    }
    return (uintptr_t)f->flag % sizeof *f->flag == 0 ? 0 : refuse_unaligned(disp, w->rank);
}

/* The flags of one wait; the arrays are the user's. */
struct watches {
    struct hl_win *win;
    const MPI_Aint *disps; /* MPIX_FLAG_NONE: no flag */
    const uint64_t *values;
    int compare, count;
    int first; /* index at which each search begins */
    int found;
    uint64_t seen;
};

/* The address of a flag whose place was checked. */
static hl_a64 *flag_place(const struct hl_win *w, int64_t disp)
{
    uint64_t at = (uint64_t)disp * hl_win_extent(w, w->rank)->unit;
    return (hl_a64 *)(w->dyn != NULL ? (uintptr_t)at : (uintptr_t)w->base + at);
}

static bool is_any_flag_reached(void *arg)
{
    struct watches *a = arg;
    for (int k = 0; k < a->count; k++) {
        int i = a->first < a->count - k ? a->first + k : a->first + k - a->count;
        if (a->disps[i] != MPIX_FLAG_NONE) {
            /* acquire: the data that the flag announces; pairs with the release stores here and of the
             * receive thread. */
            a->seen = hl_a64_load_acquire(flag_place(a->win, a->disps[i]));
            if (does_flag_hold(a->seen, a->compare, a->values[i])) {
                a->found = i;
                return true;
            }
        }
    }
    return false;
}

static void describe_flags(const void *arg, struct hl_wait_desc *t)
{
    const struct watches *a = arg;
    int first = 0;
    while (a->disps[first] == MPIX_FLAG_NONE) {
        first++;
    }
    hl_win_describe(a->win, t);
    hl_desc_say(t, ", one of %d flags, the first at displacement %lld, to be %s %llu", a->count,
                (long long)a->disps[first], signs[a->compare - MPIX_CMP_EQ],
                (unsigned long long)a->values[first]);
}
HL_HANG_WORDS(is_any_flag_reached, describe_flags);

/* Checks the arguments of a wait. *live: the number of flags that are not MPIX_FLAG_NONE. */
static int check_flags(const struct watches *a, const int *index, int *live)
{
    struct flag_watch f = {.compare = a->compare};
    *live = 0;
    if (a->win == NULL) {
        return hl_win_bad();
    }
    if (a->count < 0) {
        return hl_err_say(HL_ERR_COUNT, "count %d is negative", a->count);
    }
    if (!hl_is_address(index) || (a->count > 0 && !(hl_is_address(a->disps) && hl_is_address(a->values)))) {
        return hl_win_null(!hl_is_address(index)      ? "index"
                           : !hl_is_address(a->disps) ? "flag_disps"
                                                      : "values");
    }
    int rc = 0;
    for (int i = 0; i < a->count && rc == 0; i++) {
        if (a->disps[i] != MPIX_FLAG_NONE) {
            rc = find_flag(a->win, a->disps[i], &f);
            ++*live;
        }
    }
    return rc;
}

/* Each wait begins its searches at a random index, so that no flag whose condition holds is passed over for
 * ever, in whatever order a thread waits for several lists. */
static int draw_first(int count)
{
    static HL_THREAD_LOCAL uint64_t draws;
    return (int)(hl_mix64(++draws) % (uint64_t)count);
}

#define X(name, number)                                                                                      \
    HL_API(name);                                                                                            \
    int P##name(const void *origin_addr, number origin_count, MPI_Datatype origin_datatype, int target_rank, \
                MPI_Aint target_disp, number target_count, MPI_Datatype target_datatype, MPI_Aint flag_disp, \
                uint64_t value, MPI_Win win)                                                                 \
    {                                                                                                        \
        struct notify_call n = {.m = {.win = hl_win_of(win),                                                 \
                                      .origin = (char *)(uintptr_t)origin_addr,                              \
                                      .origin_count = origin_count,                                          \
                                      .origin_type = hl_win_type(HL_ARG_ORIGIN, origin_datatype),            \
                                      .target = target_rank,                                                 \
                                      .disp = target_disp,                                                   \
                                      .target_count = target_count,                                          \
                                      .target_type = hl_win_type(HL_ARG_TARGET, target_datatype),            \
                                      .dir = HL_PUT},                                                        \
                                .disp = flag_disp,                                                           \
                                .value = value};                                                             \
        return hl_win_end(win, #name, put_notify(&n));                                                       \
    }
/* Defines: MPIX_Put_notify */
X(MPIX_Put_notify, int)
/* Defines: MPIX_Put_notify_c */
X(MPIX_Put_notify_c, MPI_Count)
#undef X

HL_API(MPIX_Win_flag_wait);
int PMPIX_Win_flag_wait(MPI_Aint flag_disp, int compare, uint64_t value, uint64_t *seen, MPI_Win win)
{
    struct flag_watch f = {.compare = compare, .value = value};
    int rc = find_flag(hl_win_of(win), flag_disp, &f);
    if (rc == 0) {
        hl_prog_wait(is_reached, &f);
        if (seen != NULL) {
            *seen = f.seen;
        }
    }
    return hl_win_end(win, "MPIX_Win_flag_wait", rc);
}

HL_API(MPIX_Win_flag_test);
int PMPIX_Win_flag_test(MPI_Aint flag_disp, int compare, uint64_t value, uint64_t *seen, int *done,
                        MPI_Win win)
{
    struct flag_watch f = {.compare = compare, .value = value};
    int rc = find_flag(hl_win_of(win), flag_disp, &f);
    if (rc == 0 && !hl_is_address(done)) {
        rc = hl_win_null("done");
    }
    if (rc == 0) {
        *done = is_reached(&f);
        if (!*done) {
            hl_prog_look();
        }
        if (seen != NULL) {
            *seen = f.seen;
        }
    }
    return hl_win_end(win, "MPIX_Win_flag_test", rc);
}

HL_API(MPIX_Win_flag_wait_any);
int PMPIX_Win_flag_wait_any(int count, const MPI_Aint flag_disps[], int compare, const uint64_t values[],
                            int *index, uint64_t *seen, MPI_Win win)
{
    struct watches a = {
        .win = hl_win_of(win), .disps = flag_disps, .values = values, .compare = compare, .count = count};
    int live, rc = check_flags(&a, index, &live);
    if (rc == 0 && live == 0) {
        *index = MPI_UNDEFINED;
    } else if (rc == 0) {
        a.first = draw_first(count);
        hl_prog_wait(is_any_flag_reached, &a);
        *index = a.found;
        if (seen != NULL) {
            *seen = a.seen;
        }
    }
    return hl_win_end(win, "MPIX_Win_flag_wait_any", rc);
}
