/* Put, Get and their request and large-count forms: handles resolved, then one path (xfer.c). */
#include "fast.h"

#include "api.h"

/* Ends a call: the error, if any, goes to the window's handler. */
HL_INLINE int finish(MPI_Win win, const char *func, int rc)
{
    return HL_LIKELY(rc == 0) ? MPI_SUCCESS : hl_win_raise(hl_win_of(win), win, func, rc);
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

__attribute__((noinline)) int hl_move_any(struct hl_move *m, const MPI_Datatype types[2], MPI_Win win,
                                          const char *func)
{
    m->origin_type = hl_type_of(types[0]);
    m->target_type = hl_type_of(types[1]);
    return finish(win, func, hl_win_xfer(m));
}

__attribute__((noinline)) int hl_move_far(const struct hl_move *m, const struct hl_pass *pass, MPI_Win win,
                                          const char *func)
{
    return finish(win, func, hl_win_far(m, pass->at, pass->len));
}

__attribute__((noinline)) int hl_move_copy(void *to, const void *from, size_t len)
{
    hl_near_copy(to, from, len);
    return MPI_SUCCESS;
}

HL_API(MPI_Put)
int PMPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct hl_move m = {NULL,         (char *)(uintptr_t)origin_addr,
                        origin_count, NULL,
                        target_rank,  target_disp,
                        target_count, NULL,
                        HL_PUT,       NULL};
    return hl_move(m, (MPI_Datatype[]){origin_datatype, target_datatype}, win, "MPI_Put");
}

HL_API(MPI_Put_c)
int PMPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct hl_move m = {NULL,         (char *)(uintptr_t)origin_addr,
                        origin_count, NULL,
                        target_rank,  target_disp,
                        target_count, NULL,
                        HL_PUT,       NULL};
    return hl_move(m, (MPI_Datatype[]){origin_datatype, target_datatype}, win, "MPI_Put_c");
}

HL_API(MPI_Get)
int PMPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct hl_move m = {NULL,        origin_addr,  origin_count, NULL,   target_rank,
                        target_disp, target_count, NULL,         HL_GET, NULL};
    return hl_move(m, (MPI_Datatype[]){origin_datatype, target_datatype}, win, "MPI_Get");
}

HL_API(MPI_Get_c)
int PMPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct hl_move m = {NULL,        origin_addr,  origin_count, NULL,   target_rank,
                        target_disp, target_count, NULL,         HL_GET, NULL};
    return hl_move(m, (MPI_Datatype[]){origin_datatype, target_datatype}, win, "MPI_Get_c");
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
