/* Put, Get and their request and large-count forms: the short way (fast.h), else handles resolved and one
 * path (xfer.c). */
#include "fast.h"

#include "api.h"
#include "short.h"

/* Ends a call: the error, if any, goes to the window's handler. */
HL_INLINE int finish(MPI_Win win, const char *func, int rc)
{
    return HL_LIKELY(rc == 0) ? MPI_SUCCESS : hl_win_raise(hl_win_of(win), win, func, rc);
}

/* ---- beside the short way ---- */

HL_INLINE int move_far(const struct hl_move *m, uint64_t where, size_t len, const char *func)
{
    uint64_t at = where - m->win->targets[m->target].where;
    return finish((MPI_Win)(void *)m->win, func, hl_win_far(m, at, len));
}

static HL_NOINLINE int put_long(void *origin, size_t len, const char *func, int target, uint64_t where,
                                struct hl_win *w)
{
    if (len != 8 && hl_lane_put_short(&w->errors[target], where & ~HL_TARGET_BITS, origin, len)) {
        return MPI_SUCCESS;
    }
    return move_far(&(struct hl_move){.win = w, .origin = origin, .target = target, .dir = HL_PUT}, where,
                    len, func);
}

/* That the chain of a lane has a record of this target proves that its lock is taken, if it needs one: the
 * end of an epoch sends all chains. */
static HL_NOINLINE int put_far(void *origin, size_t len, const char *func, int target, uint64_t where,
                               struct hl_win *w)
{
    if (HL_LIKELY(len == 8) &&
        HL_LIKELY(hl_lane_put_short(&w->errors[target], where & ~HL_TARGET_BITS, origin, 8))) {
        return MPI_SUCCESS;
    }
    return put_long(origin, len, func, target, where, w);
}

static HL_NOINLINE int get_long(void *origin, size_t len, const char *func, int target, uint64_t where,
                                struct hl_win *w)
{
    return move_far(&(struct hl_move){.win = w, .origin = origin, .target = target, .dir = HL_GET}, where,
                    len, func);
}

static HL_NOINLINE int get_far(void *origin, size_t len, const char *func, int target, uint64_t where,
                               struct hl_win *w)
{
    if (HL_LIKELY(hl_lane_get_short(&w->errors[target], where & ~HL_TARGET_BITS, origin, len))) {
        return MPI_SUCCESS;
    }
    return get_long(origin, len, func, target, where, w);
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

/* One row a call: its name here and for users, direction, ends. */
#define CALLS(X)                                                                                             \
    X(put, MPI_Put, HL_PUT, put_copy, put_far)                                                               \
    X(put_c, MPI_Put_c, HL_PUT, put_copy, put_far)                                                           \
    X(get, MPI_Get, HL_GET, get_copy, get_far)                                                               \
    X(get_c, MPI_Get_c, HL_GET, get_copy, get_far)
#define X(name, func, dir, copy, far)                                                                        \
    static HL_NOINLINE int name##_any(void *origin, int64_t origin_count, MPI_Datatype origin_type,          \
                                      int target, int64_t disp, int64_t target_count, struct hl_tail tail)   \
    {                                                                                                        \
        struct hl_move m = {hl_win_of(tail.win),                                                             \
                            origin,                                                                          \
                            origin_count,                                                                    \
                            hl_type_of(origin_type),                                                         \
                            target,                                                                          \
                            disp,                                                                            \
                            target_count,                                                                    \
                            hl_type_of(tail.target_type),                                                    \
                            dir,                                                                             \
                            NULL};                                                                           \
        return finish(tail.win, #func, hl_win_xfer(&m));                                                     \
    }                                                                                                        \
    static const struct hl_mover name##_how = {dir, #func, name##_any, copy, far};
CALLS(X)
#undef X
#undef CALLS

/* ---- public ---- */

HL_API(MPI_Put)
int PMPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    return hl_move((void *)(uintptr_t)origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                   target_count, (struct hl_call){{target_datatype, win}, &put_how});
}

HL_API(MPI_Put_c)
int PMPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    return hl_move((void *)(uintptr_t)origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                   target_count, (struct hl_call){{target_datatype, win}, &put_c_how});
}

HL_API(MPI_Get)
int PMPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    return hl_move(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                   (struct hl_call){{target_datatype, win}, &get_how});
}

HL_API(MPI_Get_c)
int PMPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    return hl_move(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                   (struct hl_call){{target_datatype, win}, &get_c_how});
}

/* ---- with a request ---- */

/* The last three of nine arguments (as hl_tail in fast.h). */
struct request_tail {
    MPI_Datatype target_type;
    MPI_Win win;
    MPI_Request *request;
};

/* True: it was a put that joins a lane's chain. The data was copied, which is all that its request waits for.
 */
HL_INLINE bool joins_chain(const struct hl_move *m, MPI_Datatype type)
{
    const struct hl_win *w = m->win;
    struct hl_spot s;
    return m->dir == HL_PUT && w != NULL && (uint32_t)m->target < (uint32_t)w->size && m->origin != NULL &&
           m->origin_type == m->target_type && m->origin_count == m->target_count &&
           (uintptr_t)type < HL_TYPE_PREDEFINED_END &&
           hl_is_open(w, m->target, m->disp, m->target_count, &hl_type_dense[(uintptr_t)type], &s) &&
           !hl_spot_is_mapped(&s) && s.len != 0 && hl_epoch_mode_of(&w->epoch) == HL_EPOCH_ALL &&
           hl_lane_put_short(&w->errors[m->target], s.where & ~HL_TARGET_BITS, m->origin, (size_t)s.len);
}

static int start(struct hl_move *m, const struct request_tail *tail, const char *func)
{
    if (tail->request != NULL && joins_chain(m, tail->target_type)) {
        *tail->request = hl_req_handle(hl_req_completed());
        return MPI_SUCCESS;
    }
    struct hl_req *r;
    int rc = tail->request == NULL ? hl_win_null("request") : hl_win_request_begin(m, &r);
    if (rc == 0) {
        rc = hl_win_xfer(m);
        hl_win_request_end(m, rc);
    }
    if (rc == 0) {
        *tail->request = hl_req_handle(r);
    }
    return finish(tail->win, func, rc);
}

/* Which call it is: constants to the compiler (as hl_mover in fast.h). */
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

/* The short way: all is done when the call returns, so the shared completed request serves everybody. */
HL_INLINE int start_call(void *origin, int64_t origin_count, MPI_Datatype origin_type, int target,
                         int64_t disp, int64_t target_count, struct request_call call)
{
    const struct starter *how = call.how;
    const struct hl_win *w = hl_win_of(call.tail.win);
    uintptr_t type = (uintptr_t)call.tail.target_type;
    struct hl_spot s;
    if (HL_UNLIKELY(w == NULL)) {
        return hl_move_nowhere(call.tail.win, how->func);
    }
    call.tail.win = (MPI_Win)(void *)(uintptr_t)w; /* the same: one register for both */
    if (HL_UNLIKELY((uint32_t)target >= (uint32_t)w->size || origin_type != call.tail.target_type ||
                    origin_count != target_count || origin == NULL || call.tail.request == NULL)) {
        return how->any(origin, origin_count, origin_type, target, disp, target_count, call.tail);
    }
    if (HL_UNLIKELY(type >= HL_TYPE_PREDEFINED_END ||
                    !hl_is_open(w, target, disp, target_count, &hl_type_dense[type], &s) ||
                    !hl_spot_is_mapped(&s) || hl_epoch_mode_of(&w->epoch) != HL_EPOCH_ALL || s.len == 0)) {
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

/* One row a call: its name here and for users, direction. */
#define CALLS(X)                                                                                             \
    X(rput, MPI_Rput, HL_PUT)                                                                                \
    X(rput_c, MPI_Rput_c, HL_PUT)                                                                            \
    X(rget, MPI_Rget, HL_GET)                                                                                \
    X(rget_c, MPI_Rget_c, HL_GET)
#define X(name, func, dir)                                                                                   \
    static HL_NOINLINE int name##_any(void *origin, int64_t origin_count, MPI_Datatype origin_type,          \
                                      int target, int64_t disp, int64_t target_count,                        \
                                      struct request_tail tail)                                              \
    {                                                                                                        \
        struct hl_move m = {hl_win_of(tail.win),                                                             \
                            origin,                                                                          \
                            origin_count,                                                                    \
                            hl_type_of(origin_type),                                                         \
                            target,                                                                          \
                            disp,                                                                            \
                            target_count,                                                                    \
                            hl_type_of(tail.target_type),                                                    \
                            dir,                                                                             \
                            NULL};                                                                           \
        return start(&m, &tail, #func);                                                                      \
    }                                                                                                        \
    static const struct starter name##_how = {dir, #func, name##_any};
CALLS(X)
#undef X
#undef CALLS

HL_API(MPI_Rput)
int PMPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
              MPI_Request *request)
{
    return start_call((void *)(uintptr_t)origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                      target_count, (struct request_call){{target_datatype, win, request}, &rput_how});
}

HL_API(MPI_Rput_c)
int PMPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
                MPI_Win win, MPI_Request *request)
{
    return start_call((void *)(uintptr_t)origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                      target_count, (struct request_call){{target_datatype, win, request}, &rput_c_how});
}

HL_API(MPI_Rget)
int PMPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
              MPI_Request *request)
{
    return start_call(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                      (struct request_call){{target_datatype, win, request}, &rget_how});
}

HL_API(MPI_Rget_c)
int PMPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
                MPI_Request *request)
{
    return start_call(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                      (struct request_call){{target_datatype, win, request}, &rget_c_how});
}
