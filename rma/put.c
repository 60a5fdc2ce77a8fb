/* Entry points of Put, Get and their forms with a request or a large count: the short way (fast.h), else
 * handles are resolved and xfer.c does the rest. */
#include "fast.h"

#include "api.h"
#include "short.h"

/* ---- where the short way ends ---- */

/* May lanes reach the target now? If not, it is private memory of this node, or its lock must be taken
 * first. */
HL_INLINE bool is_lane_allowed(const struct hl_win *w, int target)
{
    return hl_target_is_plain_far(&w->targets[target]) && hl_epoch_holds_at_once(&w->epoch, target);
}

static HL_NOINLINE int move_slowly(struct hl_win *w, int target, const struct hl_xfer *x, enum hl_dir dir)
{
    struct hl_move m = {.win = w, .origin = x->buf, .target = target, .dir = dir};
    uint64_t at = x->addr - (w->targets[target].where & ~HL_TARGET_BITS);
    return hl_move_unmapped(&m, at, x->len);
}

/* Issues a put that joins no open chain: it goes by itself, or is the first of a chain. The transfer
 * is described before lanes are known to reach the target, which costs the short ways no register. */
static HL_NOINLINE int put_unchained(void *origin, size_t len, const char *func, int target, uint64_t addr,
                                     struct hl_win *w)
{
    struct hl_xfer x = hl_xfer_to_far(w, target, &w->targets[target], addr, origin, len);
    int rc = HL_LIKELY(is_lane_allowed(w, target)) ? hl_lane_write(&x) : move_slowly(w, target, &x, HL_PUT);
    return hl_win_end((MPI_Win)(void *)w, func, rc);
}

/* Puts into memory that is not mapped. A chain with a record of this target proves that the target's lock is
 * taken, if it needs one: the end of an epoch sends all chains. */
HL_INLINE int put_now(void *origin, size_t len, const char *func, int target, uint64_t where,
                      struct hl_win *w)
{
    uint64_t addr = where & ~HL_TARGET_BITS;
    bool done = hl_lane_put_short(hl_win_token(w, target), addr, origin, len);
    return HL_LIKELY(done) ? MPI_SUCCESS : put_unchained(origin, len, func, target, addr, w);
}

/* A put that first waits for the thread's accumulates. It is entered by a jump, so that other puts need no
 * stack frame. */
static HL_NOINLINE int put_behind(void *origin, size_t len, const char *func, int target, uint64_t where,
                                  struct hl_win *w)
{
    hl_win_await_acc(w, target);
    return put_now(origin, len, func, target, where, w);
}

/* A put to memory that is not mapped: of another node, or private memory of this one. */
static HL_NOINLINE int put_unmapped(void *origin, size_t len, const char *func, int target, uint64_t where,
                                    struct hl_win *w)
{
    if (HL_UNLIKELY(hl_win_mixes(w))) {
        return put_behind(origin, len, func, target, where, w);
    }
    return put_now(origin, len, func, target, where, w);
}

HL_INLINE int get_now(void *origin, size_t len, const char *func, int target, uint64_t where,
                      struct hl_win *w)
{
    if (HL_LIKELY(hl_lane_get_short(hl_win_token(w, target), where & ~HL_TARGET_BITS, origin, len))) {
        return MPI_SUCCESS;
    }
    struct hl_xfer x = hl_xfer_to_far(w, target, &w->targets[target], where & ~HL_TARGET_BITS, origin, len);
    int rc = HL_LIKELY(is_lane_allowed(w, target)) ? hl_lane_read(&x) : move_slowly(w, target, &x, HL_GET);
    return hl_win_end((MPI_Win)(void *)w, func, rc);
}

static HL_NOINLINE int get_behind(void *origin, size_t len, const char *func, int target, uint64_t where,
                                  struct hl_win *w)
{
    hl_win_await_acc(w, target);
    return get_now(origin, len, func, target, where, w);
}

static HL_NOINLINE int get_unmapped(void *origin, size_t len, const char *func, int target, uint64_t where,
                                    struct hl_win *w)
{
    if (HL_UNLIKELY(hl_win_mixes(w))) {
        return get_behind(origin, len, func, target, where, w);
    }
    return get_now(origin, len, func, target, where, w);
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

/* The eight arguments of a put or get, in the order of the user's call. */
#define MOVE_PARAMETERS                                                                                      \
    void *origin, int64_t origin_count, MPI_Datatype origin_type, int target, int64_t disp,                  \
        int64_t target_count, MPI_Datatype target_type, MPI_Win win
#define MOVE_ARGUMENTS(how)                                                                                  \
    origin, origin_count, origin_type, target, disp, target_count, (struct hl_move_call)                     \
    {                                                                                                        \
        {target_type, win}, &(how)                                                                           \
    }

/* Where the short way of each call goes on: the way between and the long way, with all arguments where the
 * user's call has them. */
static const struct hl_mover put_how;

static HL_NOINLINE int put_any(MOVE_PARAMETERS)
{
    return hl_move_apart(MOVE_ARGUMENTS(put_how));
}

static HL_NOINLINE int put_all(MOVE_PARAMETERS)
{
    return move_anyhow(MOVE_ARGUMENTS(put_how));
}

static const struct hl_mover put_how = {.func = "MPI_Put",
                                        .dir = HL_PUT,
                                        .any = put_any,
                                        .all = put_all,
                                        .copy = put_copy,
                                        .unmapped = put_unmapped};

static const struct hl_mover put_c_how;

static HL_NOINLINE int put_c_any(MOVE_PARAMETERS)
{
    return hl_move_apart(MOVE_ARGUMENTS(put_c_how));
}

static HL_NOINLINE int put_c_all(MOVE_PARAMETERS)
{
    return move_anyhow(MOVE_ARGUMENTS(put_c_how));
}

static const struct hl_mover put_c_how = {.func = "MPI_Put_c",
                                          .dir = HL_PUT,
                                          .any = put_c_any,
                                          .all = put_c_all,
                                          .copy = put_copy,
                                          .unmapped = put_unmapped};

static const struct hl_mover get_how;

static HL_NOINLINE int get_any(MOVE_PARAMETERS)
{
    return hl_move_apart(MOVE_ARGUMENTS(get_how));
}

static HL_NOINLINE int get_all(MOVE_PARAMETERS)
{
    return move_anyhow(MOVE_ARGUMENTS(get_how));
}

static const struct hl_mover get_how = {.func = "MPI_Get",
                                        .dir = HL_GET,
                                        .any = get_any,
                                        .all = get_all,
                                        .copy = get_copy,
                                        .unmapped = get_unmapped};

static const struct hl_mover get_c_how;

static HL_NOINLINE int get_c_any(MOVE_PARAMETERS)
{
    return hl_move_apart(MOVE_ARGUMENTS(get_c_how));
}

static HL_NOINLINE int get_c_all(MOVE_PARAMETERS)
{
    return move_anyhow(MOVE_ARGUMENTS(get_c_how));
}

static const struct hl_mover get_c_how = {.func = "MPI_Get_c",
                                          .dir = HL_GET,
                                          .any = get_c_any,
                                          .all = get_c_all,
                                          .copy = get_copy,
                                          .unmapped = get_unmapped};

/* ---- public ---- */

HL_API(MPI_Put);
int PMPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    void *origin = (void *)(uintptr_t)origin_addr;
    return hl_move_short(origin, origin_count, origin_datatype, target_rank, target_disp, target_count,
                         (struct hl_move_call){{target_datatype, win}, &put_how});
}

HL_API(MPI_Put_c);
int PMPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    void *origin = (void *)(uintptr_t)origin_addr;
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
    struct hl_win *w = m->win;
    struct hl_target_addr s;
    if (w == NULL || (uint32_t)m->target >= (uint32_t)w->size || m->origin == NULL ||
        m->origin_type != m->target_type || m->origin_count != m->target_count ||
        (uintptr_t)type >= HL_TYPE_PREDEFINED_END ||
        !hl_is_open_apart(w, m->target, m->disp, m->target_count, &hl_type_dense[(uintptr_t)type], &s) ||
        s.len == 0 || (hl_epoch_mode_of(&w->epoch) & (HL_EPOCH_ALL | HL_EPOCH_LOCKS)) == 0) {
        return false;
    }
    if (!hl_target_addr_is_mapped(&s)) {
        if (m->dir != HL_PUT) {
            return false;
        }
        hl_win_follow_acc(w, m->target);
        return hl_lane_put_short(hl_win_token(w, m->target), s.where & ~HL_TARGET_BITS, m->origin,
                                 (size_t)s.len);
    }
    char *there = (char *)(uintptr_t)s.where;
    hl_near_copy(m->dir == HL_PUT ? there : m->origin, m->dir == HL_PUT ? m->origin : there, (size_t)s.len);
    return true;
}

static int start_move(struct hl_move *m, const struct request_tail *tail, const char *func)
{
    if (hl_is_address(tail->request) && is_done_at_once(m, tail->target_type)) {
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

/* Which call it is. Each call has a constant one, whose fields the compiler knows. */
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

/* One row for each call: its name here and for users, direction. Each row makes a function that has the
 * arguments where the user's call has them, so that the short way goes on there by a jump; direction and
 * name, for which no argument is left, are constants in it. */
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
