/* Put, Get and their request and large-count forms: handles resolved, then one path (xfer.c). */
#include "win.h"

#include "api.h"

/* Ends a call: the error, if any, goes to the window's handler. */
HL_INLINE int finish(const struct hl_move *m, MPI_Win win, const char *func, int rc)
{
    if (HL_LIKELY(rc == 0)) {
        return MPI_SUCCESS;
    }
    return hl_win_raise(m->win, win, func, rc);
}

/* The request forms. */
static int start(struct hl_move *m, MPI_Win win, MPI_Request *request, const char *func)
{
    struct hl_req *r;
    int rc = hl_win_request_begin(m, &r);
    if (rc == 0) {
        rc = hl_win_xfer(m);
        hl_win_request_end(m, rc);
    }
    if (rc == 0) {
        *request = hl_req_handle(r);
    }
    return finish(m, win, func, rc);
}

HL_API(MPI_Put)
int PMPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct hl_move m = {hl_win_of(win), (char *)(uintptr_t)origin_addr,
                        origin_count,   hl_type_of(origin_datatype),
                        target_rank,    target_disp,
                        target_count,   hl_type_of(target_datatype),
                        HL_PUT,         NULL};
    return finish(&m, win, "MPI_Put", hl_win_xfer(&m));
}

HL_API(MPI_Put_c)
int PMPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct hl_move m = {hl_win_of(win), (char *)(uintptr_t)origin_addr,
                        origin_count,   hl_type_of(origin_datatype),
                        target_rank,    target_disp,
                        target_count,   hl_type_of(target_datatype),
                        HL_PUT,         NULL};
    return finish(&m, win, "MPI_Put_c", hl_win_xfer(&m));
}

HL_API(MPI_Get)
int PMPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct hl_move m = {hl_win_of(win), origin_addr, origin_count, hl_type_of(origin_datatype),
                        target_rank,    target_disp, target_count, hl_type_of(target_datatype),
                        HL_GET,         NULL};
    return finish(&m, win, "MPI_Get", hl_win_xfer(&m));
}

HL_API(MPI_Get_c)
int PMPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct hl_move m = {hl_win_of(win), origin_addr, origin_count, hl_type_of(origin_datatype),
                        target_rank,    target_disp, target_count, hl_type_of(target_datatype),
                        HL_GET,         NULL};
    return finish(&m, win, "MPI_Get_c", hl_win_xfer(&m));
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
