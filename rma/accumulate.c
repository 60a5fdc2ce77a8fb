/* The accumulate family: handles resolved, then acc.c and cas.c. */
#include "fast.h"

#include "api.h"
#include "err.h"

HL_INLINE int finish(MPI_Win win, const char *func, int rc)
{
    return HL_LIKELY(rc == 0) ? MPI_SUCCESS : hl_win_raise(hl_win_of(win), win, func, rc);
}

static int start(struct hl_acc *a, MPI_Win win, MPI_Request *request, const char *func)
{
    struct hl_req *r;
    int rc = request == NULL ? hl_win_null("request") : hl_win_request_begin(&a->m, &r);
    if (rc == 0) {
        rc = hl_win_acc(a);
        hl_win_request_end(&a->m, rc);
    }
    if (rc == 0) {
        *request = hl_req_handle(r);
    }
    return finish(win, func, rc);
}

__attribute__((noinline)) int hl_accumulate_any(struct hl_acc *a, const MPI_Datatype types[3], MPI_Win win,
                                                const char *func)
{
    a->m.origin_type = hl_type_of(types[0]);
    a->m.target_type = hl_type_of(types[1]);
    a->result_type = a->fetches ? hl_type_of(types[2]) : NULL;
    return finish(win, func, hl_win_acc(a));
}

HL_API(MPI_Accumulate)
int PMPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                    MPI_Win win)
{
    struct hl_acc a = {{NULL, (char *)(uintptr_t)origin_addr, origin_count, NULL, target_rank, target_disp,
                        target_count, NULL, HL_PUT, NULL},
                       NULL,
                       0,
                       NULL,
                       hl_op_kind_of(op),
                       false};
    return hl_accumulate(a, (MPI_Datatype[]){origin_datatype, target_datatype, NULL}, win, "MPI_Accumulate");
}

HL_API(MPI_Accumulate_c)
int PMPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    struct hl_acc a = {{NULL, (char *)(uintptr_t)origin_addr, origin_count, NULL, target_rank, target_disp,
                        target_count, NULL, HL_PUT, NULL},
                       NULL,
                       0,
                       NULL,
                       hl_op_kind_of(op),
                       false};
    return hl_accumulate(a, (MPI_Datatype[]){origin_datatype, target_datatype, NULL}, win,
                         "MPI_Accumulate_c");
}

HL_API(MPI_Raccumulate)
int PMPI_Raccumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                     MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                     MPI_Win win, MPI_Request *request)
{
    struct hl_acc a = {{hl_win_of(win), (char *)(uintptr_t)origin_addr, origin_count,
                        hl_type_of(origin_datatype), target_rank, target_disp, target_count,
                        hl_type_of(target_datatype), HL_PUT, NULL},
                       NULL,
                       0,
                       NULL,
                       hl_op_kind_of(op),
                       false};
    return start(&a, win, request, "MPI_Raccumulate");
}

HL_API(MPI_Raccumulate_c)
int PMPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                       int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                       MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    struct hl_acc a = {{hl_win_of(win), (char *)(uintptr_t)origin_addr, origin_count,
                        hl_type_of(origin_datatype), target_rank, target_disp, target_count,
                        hl_type_of(target_datatype), HL_PUT, NULL},
                       NULL,
                       0,
                       NULL,
                       hl_op_kind_of(op),
                       false};
    return start(&a, win, request, "MPI_Raccumulate_c");
}

HL_API(MPI_Get_accumulate)
int PMPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                        void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank,
                        MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                        MPI_Win win)
{
    struct hl_acc a = {{NULL, (char *)(uintptr_t)origin_addr, origin_count, NULL, target_rank, target_disp,
                        target_count, NULL, HL_PUT, NULL},
                       result_addr,
                       result_count,
                       NULL,
                       hl_op_kind_of(op),
                       true};
    return hl_accumulate(a, (MPI_Datatype[]){origin_datatype, target_datatype, result_datatype}, win,
                         "MPI_Get_accumulate");
}

HL_API(MPI_Get_accumulate_c)
int PMPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                          void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                          int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                          MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    struct hl_acc a = {{NULL, (char *)(uintptr_t)origin_addr, origin_count, NULL, target_rank, target_disp,
                        target_count, NULL, HL_PUT, NULL},
                       result_addr,
                       result_count,
                       NULL,
                       hl_op_kind_of(op),
                       true};
    return hl_accumulate(a, (MPI_Datatype[]){origin_datatype, target_datatype, result_datatype}, win,
                         "MPI_Get_accumulate_c");
}

HL_API(MPI_Rget_accumulate)
int PMPI_Rget_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                         void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank,
                         MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
                         MPI_Win win, MPI_Request *request)
{
    struct hl_acc a = {{hl_win_of(win), (char *)(uintptr_t)origin_addr, origin_count,
                        hl_type_of(origin_datatype), target_rank, target_disp, target_count,
                        hl_type_of(target_datatype), HL_PUT, NULL},
                       result_addr,
                       result_count,
                       hl_type_of(result_datatype),
                       hl_op_kind_of(op),
                       true};
    return start(&a, win, request, "MPI_Rget_accumulate");
}

HL_API(MPI_Rget_accumulate_c)
int PMPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                           void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
                           int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                           MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    struct hl_acc a = {{hl_win_of(win), (char *)(uintptr_t)origin_addr, origin_count,
                        hl_type_of(origin_datatype), target_rank, target_disp, target_count,
                        hl_type_of(target_datatype), HL_PUT, NULL},
                       result_addr,
                       result_count,
                       hl_type_of(result_datatype),
                       hl_op_kind_of(op),
                       true};
    return start(&a, win, request, "MPI_Rget_accumulate_c");
}

HL_API(MPI_Fetch_and_op)
int PMPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    struct hl_acc a = {
        {NULL, (char *)(uintptr_t)origin_addr, 1, NULL, target_rank, target_disp, 1, NULL, HL_PUT, NULL},
        result_addr,
        1,
        NULL,
        hl_op_kind_of(op),
        true};
    return hl_accumulate(a, (MPI_Datatype[]){datatype, datatype, datatype}, win, "MPI_Fetch_and_op");
}

HL_API(MPI_Compare_and_swap)
int PMPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
                          MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    const struct hl_type *t = hl_type_of(datatype);
    struct hl_acc a = {
        {hl_win_of(win), (char *)(uintptr_t)origin_addr, 1, t, target_rank, target_disp, 1, t, HL_PUT, NULL},
        result_addr,
        1,
        t,
        HL_OP_REPLACE,
        true};
    return finish(win, "MPI_Compare_and_swap", hl_win_cas(&a, compare_addr));
}
