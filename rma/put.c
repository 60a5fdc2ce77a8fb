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

HL_INLINE int far(const struct hl_move *m, uint64_t where, size_t len, const char *func)
{
    uint64_t at = where - m->win->targets[m->target].where;
    return finish((MPI_Win)(void *)m->win, func, hl_win_far(m, at, len));
}

static HL_NOINLINE int put_far(void *origin, size_t len, const char *func, int target, uint64_t where,
                               struct hl_win *w)
{
    /* That the chain of a lane has a record of this target proves that its lock is taken, if it needs one:
     * the end of an epoch sends all chains. */
    if (HL_LIKELY(len == 8)) {
        if (HL_LIKELY(hl_lane_put_short(&w->errors[target], where & ~HL_TARGET_BITS, origin, 8))) {
            return MPI_SUCCESS;
        }
    } else if (hl_lane_put_short(&w->errors[target], where & ~HL_TARGET_BITS, origin, len)) {
        return MPI_SUCCESS;
    }
    return far(&(struct hl_move){.win = w, .origin = origin, .target = target, .dir = HL_PUT}, where, len,
               func);
}

static HL_NOINLINE int get_far(void *origin, size_t len, const char *func, int target, uint64_t where,
                               struct hl_win *w)
{
    if (hl_lane_get_short(&w->errors[target], where & ~HL_TARGET_BITS, origin, len)) {
        return MPI_SUCCESS;
    }
    return far(&(struct hl_move){.win = w, .origin = origin, .target = target, .dir = HL_GET}, where, len,
               func);
}

HL_NOINLINE int hl_move_copy(void *to, const void *from, size_t len)
{
    hl_near_copy(to, from, len);
    return MPI_SUCCESS;
}

int hl_move_nowhere(MPI_Win win, const char *func)
{
    return hl_win_raise(NULL, win, func, hl_win_bad());
}

/* One row a call: its name here and for users, direction, far end. */
#define CALLS(X)                                                                                             \
    X(put, MPI_Put, HL_PUT, put_far)                                                                         \
    X(put_c, MPI_Put_c, HL_PUT, put_far)                                                                     \
    X(get, MPI_Get, HL_GET, get_far)                                                                         \
    X(get_c, MPI_Get_c, HL_GET, get_far)
#define X(name, func, dir, far_end)                                                                          \
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
    static const struct hl_mover name##_how = {dir, #func, name##_any, far_end};
CALLS(X)
#undef X

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

/* The request forms; m's types are set. */
static int start(struct hl_move *m, MPI_Win win, MPI_Request *request, const char *func)
{
    struct hl_req *r;
    int rc = request == NULL ? hl_win_null("request") : hl_win_request_begin(m, &r);
    if (rc == 0) {
        rc = hl_win_xfer(m);
        hl_win_request_end(m, rc);
    }
    if (rc == 0) {
        *request = hl_req_handle(r);
    }
    return finish(win, func, rc);
}

HL_API(MPI_Rput)
int PMPI_Rput(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
              MPI_Request *request)
{
    struct hl_move m = {hl_win_of(win), (char *)(uintptr_t)origin_addr,
                        origin_count,   hl_type_of(origin_datatype),
                        target_rank,    target_disp,
                        target_count,   hl_type_of(target_datatype),
                        HL_PUT,         NULL};
    return start(&m, win, request, "MPI_Rput");
}

HL_API(MPI_Rput_c)
int PMPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
                MPI_Win win, MPI_Request *request)
{
    struct hl_move m = {hl_win_of(win), (char *)(uintptr_t)origin_addr,
                        origin_count,   hl_type_of(origin_datatype),
                        target_rank,    target_disp,
                        target_count,   hl_type_of(target_datatype),
                        HL_PUT,         NULL};
    return start(&m, win, request, "MPI_Rput_c");
}

HL_API(MPI_Rget)
int PMPI_Rget(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
              MPI_Request *request)
{
    struct hl_move m = {hl_win_of(win), origin_addr, origin_count, hl_type_of(origin_datatype),
                        target_rank,    target_disp, target_count, hl_type_of(target_datatype),
                        HL_GET,         NULL};
    return start(&m, win, request, "MPI_Rget");
}

HL_API(MPI_Rget_c)
int PMPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
                MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
                MPI_Request *request)
{
    struct hl_move m = {hl_win_of(win), origin_addr, origin_count, hl_type_of(origin_datatype),
                        target_rank,    target_disp, target_count, hl_type_of(target_datatype),
                        HL_GET,         NULL};
    return start(&m, win, request, "MPI_Rget_c");
}
