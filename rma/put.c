/* Entry points of Put, Get and their forms with a request or a large count: the short way (fast.h), else
 * handles are resolved and xfer.c does the rest. */
#include "fast.h"

#include "api.h"
#include "short.h"

/* ---- where the short way ends ---- */

/* May lanes reach the target now? If not, it is private memory of this node, or its lock must be taken
 * first. */
HL_INLINE bool may_go_by_lane(const struct hl_win *w, int target)
{
    return hl_target_is_plain_far(&w->targets[target]) && hl_epoch_holds_at_once(&w->epoch, target);
}

static HL_NOINLINE int move_slowly(struct hl_win *w, int target, const struct hl_xfer *x, enum hl_dir dir)
{
    struct hl_move m = {.win = w, .origin = x->buf, .target = target, .dir = dir};
    uint64_t at = x->addr - (w->targets[target].where & ~HL_TARGET_BITS);
    return hl_move_unmapped(&m, at, x->len);
}

/* Notes this put, so that the thread's next one to the same target can go the same way. */
HL_INLINE void remember_put(struct hl_win *w, int target, int64_t count, MPI_Datatype type)
{
    hl_lane_remember((struct hl_lane_memo){.win = w,
                                           .type = (uintptr_t)type,
                                           .count = (int)count,
                                           .limit = w->epoch.open_limit8,
                                           .unit = w->scale,
                                           .addr = w->targets[target].where & ~HL_TARGET_BITS,
                                           .token = hl_win_token(w, target),
                                           .target = target});
}

/* Issues a put that joins no open chain: it goes by itself, or is the first of a chain. It is described
 * before lanes are known to reach the target, which costs the short ways no register. */
static HL_NOINLINE int put_direct(void *origin, size_t len, const char *func, int target, uint64_t where,
                                  struct hl_win *w)
{
    struct hl_xfer x = hl_xfer_to_far(w, target, &w->targets[target], where & ~HL_TARGET_BITS, origin, len);
    int rc = HL_LIKELY(may_go_by_lane(w, target)) ? hl_lane_write(&x) : move_slowly(w, target, &x, HL_PUT);
    return hl_win_end((MPI_Win)(void *)w, func, rc);
}

/* Puts into memory that is not mapped. A chain with a record of this target proves that the target's lock is
 * taken, if it needs one: the end of an epoch sends all chains. */
HL_INLINE int put_now(void *origin, size_t len, const char *func, int target, uint64_t where, int64_t count,
                      struct hl_tail tail)
{
    struct hl_win *w = (struct hl_win *)(void *)tail.win;
    if (len > hl_pool.chain) {
        return put_direct(origin, len, func, target, where, w);
    }
    bool done = hl_lane_put_short(hl_win_token(w, target), where & ~HL_TARGET_BITS, origin, len);
    int rc = done ? MPI_SUCCESS : put_direct(origin, len, func, target, where, w);
    if (len == 8 && rc == MPI_SUCCESS) {
        remember_put(w, target, count, tail.target_type);
    }
    return rc;
}

/* A put that first waits for the thread's accumulates. Entered by a jump, so that other puts need no stack
 * frame. */
static HL_NOINLINE int put_behind(void *origin, size_t len, const char *func, int target, uint64_t where,
                                  int64_t count, struct hl_tail tail)
{
    hl_win_await_acc((struct hl_win *)(void *)tail.win, target);
    return put_now(origin, len, func, target, where, count, tail);
}

/* A put to memory that is not mapped: of another node, or private memory of this one. */
static HL_NOINLINE int put_unmapped(void *origin, size_t len, const char *func, int target, uint64_t where,
                                    int64_t count, struct hl_tail tail)
{
    if (HL_UNLIKELY(hl_win_mixes((const struct hl_win *)(const void *)tail.win))) {
        return put_behind(origin, len, func, target, where, count, tail);
    }
    return put_now(origin, len, func, target, where, count, tail);
}

/* Does the call, whose target is that of the thread's last put, repeat that put but for displacement and
 * origin? */
HL_INLINE bool is_again(const void *origin, int64_t origin_count, MPI_Datatype origin_type, int64_t disp,
                        int64_t target_count, struct hl_tail tail)
{
    return (const void *)tail.win == hl_lane_last.win && (uintptr_t)origin_type == hl_lane_last.type &&
           origin_type == tail.target_type && origin_count == hl_lane_last.count &&
           target_count == hl_lane_last.count && origin != NULL && (uint64_t)disp < hl_lane_last.limit;
}

HL_INLINE int get_now(void *origin, size_t len, const char *func, int target, uint64_t where,
                      struct hl_tail tail)
{
    struct hl_win *w = (struct hl_win *)(void *)tail.win;
    if (HL_LIKELY(hl_lane_get_short(hl_win_token(w, target), where & ~HL_TARGET_BITS, origin, len))) {
        return MPI_SUCCESS;
    }
    struct hl_xfer x = hl_xfer_to_far(w, target, &w->targets[target], where & ~HL_TARGET_BITS, origin, len);
    int rc = HL_LIKELY(may_go_by_lane(w, target)) ? hl_lane_read(&x) : move_slowly(w, target, &x, HL_GET);
    return hl_win_end((MPI_Win)(void *)w, func, rc);
}

static HL_NOINLINE int get_behind(void *origin, size_t len, const char *func, int target, uint64_t where,
                                  int64_t count, struct hl_tail tail)
{
    (void)count;
    hl_win_await_acc((struct hl_win *)(void *)tail.win, target);
    return get_now(origin, len, func, target, where, tail);
}

static HL_NOINLINE int get_unmapped(void *origin, size_t len, const char *func, int target, uint64_t where,
                                    int64_t count, struct hl_tail tail)
{
    if (HL_UNLIKELY(hl_win_mixes((const struct hl_win *)(const void *)tail.win))) {
        return get_behind(origin, len, func, target, where, count, tail);
    }
    return get_now(origin, len, func, target, where, tail);
}

static HL_NOINLINE int put_copy(void *origin, void *theirs, size_t len)
{
    hl_near_copy(theirs, origin, len);
    return MPI_SUCCESS;
}

static HL_NOINLINE int get_copy(void *origin, void *theirs, size_t len)
{
    hl_near_copy(origin, theirs, len);
    return MPI_SUCCESS;
}

int hl_move_nowhere(MPI_Win win, const char *func)
{
    return hl_win_raise(NULL, win, func, hl_win_bad());
}

/* The long way of each call. */
HL_INLINE int move_anyhow(void *origin, int64_t origin_count, MPI_Datatype origin_type, int target,
                          int64_t disp, int64_t target_count, struct hl_move_call call)
{
    struct hl_move m = {.win = hl_win_of(call.tail.win),
                        .origin = origin,
                        .origin_count = origin_count,
                        .origin_type = hl_win_type(HL_ARG_ORIGIN, origin_type),
                        .target = target,
                        .disp = disp,
                        .target_count = target_count,
                        .target_type = hl_win_type(HL_ARG_TARGET, call.tail.target_type),
                        .dir = call.how->dir};
    return hl_win_end(call.tail.win, call.how->func, hl_win_move(&m));
}

/* A function with all arguments where the user's call has them, which goes on by `way`. */
#define WAY(name, count_t, way, how)                                                                         \
    static HL_NOINLINE int name(void *origin, count_t origin_count, MPI_Datatype origin_type, int target,    \
                                int64_t disp, count_t target_count, MPI_Datatype target_type, MPI_Win win)   \
    {                                                                                                        \
        return way(origin, origin_count, origin_type, target, disp, target_count,                            \
                   (struct hl_move_call){{target_type, win}, how});                                          \
    }

/* One row for each call makes what describes it, and the functions to which its short way jumps: the way
 * between and the long way. Behind them those for mapped and for other memory. */
#define MOVER(how, func, dir, any, all, copy, unmapped)                                                      \
    static const struct hl_mover how;                                                                        \
    WAY(all, int64_t, move_anyhow, &how)                                                                     \
    WAY(any, int64_t, hl_move_apart, &how)                                                                   \
    static const struct hl_mover how = {dir, #func, any, all, copy, unmapped};
MOVER(put_how, MPI_Put, HL_PUT, put_any, put_all, put_copy, put_unmapped)
MOVER(put_c_how, MPI_Put_c, HL_PUT, put_c_any, put_c_all, put_copy, put_unmapped)
MOVER(get_how, MPI_Get, HL_GET, get_any, get_all, get_copy, get_unmapped)
MOVER(get_c_how, MPI_Get_c, HL_GET, get_c_any, get_c_all, get_copy, get_unmapped)

/* ---- another put where the last one went ---- */

static HL_NOINLINE int wake_after_put(void)
{
    hl_lane_short_wake();
    return MPI_SUCCESS;
}

/* The put cannot go as the last one did: it is done by the short way, with all arguments from what is
 * remembered. */
HL_INLINE int move_anew(void *origin, int64_t disp, const struct hl_mover *how)
{
    const struct hl_lane_memo *l = &hl_lane_last;
    MPI_Datatype type = (MPI_Datatype)l->type;
    MPI_Win win = (MPI_Win)(uintptr_t)l->win;
    return hl_move_short(origin, l->count, type, l->target, disp, l->count,
                         (struct hl_move_call){{type, win}, how});
}

typedef int put_rest_fn(void *origin, int64_t disp);

/* The same for a caller that has the lane's lease: leaves it first. */
HL_INLINE int leave_lane(void *origin, int64_t disp, put_rest_fn *anew)
{
    hl_lane_short_leave(hl_lane_last.lane, true);
    return anew(origin, disp);
}

HL_INLINE int put_again(void *origin, int64_t disp, put_rest_fn *anew, put_rest_fn *leave_anew)
{
    switch (hl_lane_put_again((uint64_t)disp, origin)) {
    case HL_AGAIN_DONE:
        return MPI_SUCCESS;
    case HL_AGAIN_WAKE:
        return wake_after_put();
    case HL_AGAIN_TAKEN:
        return anew(origin, disp);
    default:
        return leave_anew(origin, disp);
    }
}

/* Counts stay in their registers as the user's call has them. A call that does not repeat the last one goes
 * on by a jump, so that the short way saves no register for it. */
#define CHAINED(chained, count_t, how, unlike, anew, leave_anew)                                             \
    static HL_NOINLINE int anew(void *origin, int64_t disp)                                                  \
    {                                                                                                        \
        return move_anew(origin, disp, &how);                                                                \
    }                                                                                                        \
    static HL_NOINLINE int leave_anew(void *origin, int64_t disp)                                            \
    {                                                                                                        \
        return leave_lane(origin, disp, anew);                                                               \
    }                                                                                                        \
    WAY(unlike, count_t, hl_move_short, &how)                                                                \
    static HL_NOINLINE int chained(void *origin, count_t origin_count, MPI_Datatype origin_type, int target, \
                                   int64_t disp, count_t target_count, MPI_Datatype target_type,             \
                                   MPI_Win win)                                                              \
    {                                                                                                        \
        struct hl_tail tail = {target_type, win};                                                            \
        return is_again(origin, origin_count, origin_type, disp, target_count, tail)                         \
                   ? put_again(origin, disp, anew, leave_anew)                                               \
                   : unlike(origin, origin_count, origin_type, target, disp, target_count, target_type,      \
                            win);                                                                            \
    }
CHAINED(put_chained, int, put_how, put_unlike, put_anew, put_leave_anew)
CHAINED(put_c_chained, int64_t, put_c_how, put_c_unlike, put_c_anew, put_c_leave_anew)
#undef CHAINED
#undef MOVER
#undef WAY

/* ---- public ---- */

HL_API(MPI_Put);
int PMPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    void *origin = (void *)(uintptr_t)origin_addr;
    if (HL_UNLIKELY(target_rank == hl_lane_last.target)) { /* a put into a chain affords the jump */
        return put_chained(origin, origin_count, origin_datatype, target_rank, target_disp, target_count,
                           target_datatype, win);
    }
    return hl_move_short(origin, origin_count, origin_datatype, target_rank, target_disp, target_count,
                         (struct hl_move_call){{target_datatype, win}, &put_how});
}

HL_API(MPI_Put_c);
int PMPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    void *origin = (void *)(uintptr_t)origin_addr;
    if (HL_UNLIKELY(target_rank == hl_lane_last.target)) { /* a put into a chain affords the jump */
        return put_c_chained(origin, origin_count, origin_datatype, target_rank, target_disp, target_count,
                             target_datatype, win);
    }
    return hl_move_short(origin, origin_count, origin_datatype, target_rank, target_disp, target_count,
                         (struct hl_move_call){{target_datatype, win}, &put_c_how});
}

HL_API(MPI_Get);
int PMPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    return hl_move_short(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                         (struct hl_move_call){{target_datatype, win}, &get_how});
}

HL_API(MPI_Get_c);
int PMPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    return hl_move_short(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                         (struct hl_move_call){{target_datatype, win}, &get_c_how});
}

/* ---- with a request ---- */

/* The last three of nine arguments, passed by value on the stack. */
struct request_tail {
    MPI_Datatype target_type;
    MPI_Win win;
    MPI_Request *request;
};

/* Does an operation at once if it can; true when its request has nothing to wait for: the target is mapped,
 * or the put joined a lane's chain, which copies the data. */
HL_INLINE bool is_done_at_once(const struct hl_move *m, MPI_Datatype type)
{
    const struct hl_win *w = m->win;
    struct hl_target_addr s;
    if (w == NULL || (uint32_t)m->target >= (uint32_t)w->size || m->origin == NULL ||
        m->origin_type != m->target_type || m->origin_count != m->target_count ||
        (uintptr_t)type >= HL_TYPE_PREDEFINED_END ||
        !hl_is_open_apart(w, m->target, m->disp, m->target_count, &hl_type_dense[(uintptr_t)type], &s) ||
        s.len == 0 || (hl_epoch_mode_of(&w->epoch) & (HL_EPOCH_ALL | HL_EPOCH_LOCKS)) == 0) {
        return false;
    }
    if (!hl_target_addr_is_mapped(&s)) {
        return m->dir == HL_PUT && !hl_win_mixes(w) &&
               hl_lane_put_short(hl_win_token(w, m->target), s.where & ~HL_TARGET_BITS, m->origin,
                                 (size_t)s.len);
    }
    char *there = (char *)(uintptr_t)s.where;
    hl_near_copy(m->dir == HL_PUT ? there : m->origin, m->dir == HL_PUT ? m->origin : there, (size_t)s.len);
    return true;
}

static int start_move(struct hl_move *m, const struct request_tail *tail, const char *func)
{
    if (tail->request != NULL && is_done_at_once(m, tail->target_type)) {
        *tail->request = hl_req_handle(hl_req_completed());
        return MPI_SUCCESS;
    }
    struct hl_req *r;
    int rc = !hl_is_address(tail->request) ? hl_win_null("request") : hl_win_request_begin(m, &r);
    if (rc == 0) {
        rc = hl_win_move(m);
        hl_win_request_end(m, rc);
    }
    if (rc == 0) {
        *tail->request = hl_req_handle(r);
    }
    return hl_win_end(tail->win, func, rc);
}

/* Which call it is; constants to the compiler. */
struct starter {
    enum hl_dir dir;
    const char *func;
    int (*any)(void *origin, int64_t origin_count, MPI_Datatype origin_type, int target, int64_t disp,
               int64_t target_count, struct request_tail tail);
};

struct request_call {
    struct request_tail tail;
    const struct starter *how;
};

/* The short way: all is done when the call returns, so it gives the user the shared completed request. */
HL_INLINE int start_call(void *origin, int64_t origin_count, MPI_Datatype origin_type, int target,
                         int64_t disp, int64_t target_count, struct request_call call)
{
    const struct starter *how = call.how;
    const struct hl_win *w = hl_win_of(call.tail.win);
    uintptr_t type = (uintptr_t)call.tail.target_type;
    struct hl_target_addr s;
    if (HL_UNLIKELY(w == NULL)) {
        return hl_move_nowhere(call.tail.win, how->func);
    }
    call.tail.win = (MPI_Win)(void *)(uintptr_t)w; /* the same value, so that one register holds both */
    if (HL_UNLIKELY((uint32_t)target >= (uint32_t)w->size || origin_type != call.tail.target_type ||
                    origin_count != target_count || origin == NULL || !hl_is_address(call.tail.request))) {
        return how->any(origin, origin_count, origin_type, target, disp, target_count, call.tail);
    }
    if (HL_UNLIKELY(type >= HL_TYPE_PREDEFINED_END ||
                    !hl_is_open(w, target, disp, target_count, &hl_type_dense[type], &s) ||
                    !hl_target_addr_is_mapped(&s) || hl_epoch_mode_of(&w->epoch) != HL_EPOCH_ALL ||
                    s.len == 0)) {
        return how->any(origin, target_count, (MPI_Datatype)type, target, disp, target_count, call.tail);
    }
    char *theirs = (char *)(uintptr_t)s.where;
    *call.tail.request = hl_req_handle(hl_req_completed());
    if (HL_LIKELY(s.len == 8)) {
        hl_near_copy(how->dir == HL_PUT ? theirs : origin, how->dir == HL_PUT ? origin : theirs, 8);
        return MPI_SUCCESS;
    }
    return (how->dir == HL_PUT ? put_copy : get_copy)(origin, theirs, (size_t)s.len);
}

HL_INLINE int start_any(void *origin, int64_t origin_count, MPI_Datatype origin_type, int target,
                        int64_t disp, int64_t target_count, struct request_call call)
{
    struct hl_move m = {.win = hl_win_of(call.tail.win),
                        .origin = origin,
                        .origin_count = origin_count,
                        .origin_type = hl_win_type(HL_ARG_ORIGIN, origin_type),
                        .target = target,
                        .disp = disp,
                        .target_count = target_count,
                        .target_type = hl_win_type(HL_ARG_TARGET, call.tail.target_type),
                        .dir = call.how->dir};
    return start_move(&m, &call.tail, call.how->func);
}

/* One row for each call: its name here and for users, direction. */
#define CALLS(X)                                                                                             \
    X(rput, MPI_Rput, HL_PUT)                                                                                \
    X(rput_c, MPI_Rput_c, HL_PUT)                                                                            \
    X(rget, MPI_Rget, HL_GET)                                                                                \
    X(rget_c, MPI_Rget_c, HL_GET)
#define X(name, func, dir)                                                                                   \
    static const struct starter name##_how;                                                                  \
    static HL_NOINLINE int name##_any(void *origin, int64_t origin_count, MPI_Datatype origin_type,          \
                                      int target, int64_t disp, int64_t target_count,                        \
                                      struct request_tail tail)                                              \
    {                                                                                                        \
        return start_any(origin, origin_count, origin_type, target, disp, target_count,                      \
                         (struct request_call){tail, &name##_how});                                          \
    }                                                                                                        \
    static const struct starter name##_how = {dir, #func, name##_any};
CALLS(X)
#undef X
#undef CALLS

HL_API(MPI_Rput);
int PMPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
              MPI_Request *request)
{
    return start_call((void *)(uintptr_t)origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                      target_count, (struct request_call){{target_datatype, win, request}, &rput_how});
}

HL_API(MPI_Rput_c);
int PMPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
                MPI_Win win, MPI_Request *request)
{
    return start_call((void *)(uintptr_t)origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                      target_count, (struct request_call){{target_datatype, win, request}, &rput_c_how});
}

HL_API(MPI_Rget);
int PMPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
              MPI_Request *request)
{
    return start_call(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                      (struct request_call){{target_datatype, win, request}, &rget_how});
}

HL_API(MPI_Rget_c);
int PMPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
                MPI_Request *request)
{
    return start_call(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                      (struct request_call){{target_datatype, win, request}, &rget_c_how});
}
