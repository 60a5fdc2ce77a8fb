/* Module hotlane: what libhotlane offers beyond MPI, where the program runs on it. */
#include "calls.h"

#pragma weak PMPIX_Put_notify
#pragma weak PMPIX_Win_flag_wait
#pragma weak PMPIX_Win_flag_test
#pragma weak PMPIX_Win_iflush
#pragma weak PMPIX_Win_iflush_all
#pragma weak PMPIX_Win_iflush_local
#pragma weak PMPIX_Win_iflush_local_all
#pragma weak PMPIX_Win_flag_wait_any

HL_FORT_PUBLIC void mpix_put_notify_f08ts_(const struct hl_fort_array *origin_addr, const int *origin_count,
                                           const int *origin_datatype, const int *target_rank,
                                           const MPI_Aint *target_disp, const int *target_count,
                                           const int *target_datatype, const MPI_Aint *flag_disp,
                                           const int64_t *value, const int *win, int *ierror);
HL_FORT_PUBLIC void mpix_win_flag_wait_f08_(const MPI_Aint *flag_disp, const int *compare,
                                            const int64_t *value, int64_t *seen, const int *win, int *ierror);
HL_FORT_PUBLIC void mpix_win_flag_test_f08_(const MPI_Aint *flag_disp, const int *compare,
                                            const int64_t *value, int64_t *seen, int *done, const int *win,
                                            int *ierror);
HL_FORT_PUBLIC void mpix_win_iflush_f08_(const int *rank, const int *win, int *request, int *ierror);
HL_FORT_PUBLIC void mpix_win_iflush_all_f08_(const int *win, int *request, int *ierror);
HL_FORT_PUBLIC void mpix_win_iflush_local_f08_(const int *rank, const int *win, int *request, int *ierror);
HL_FORT_PUBLIC void mpix_win_iflush_local_all_f08_(const int *win, int *request, int *ierror);
HL_FORT_PUBLIC void mpix_win_flag_wait_any_f08_(const int *count, const MPI_Aint *flag_disps,
                                                const int *compare, const int64_t *values, int *index,
                                                int64_t *seen, const int *win, int *ierror);

static int elsewhere(const char *func)
{
    return hl_fort_fail(func, MPI_ERR_UNSUPPORTED_OPERATION,
                        "the MPI library that the program runs on is not Hotlane");
}

void mpix_put_notify_f08ts_(const struct hl_fort_array *origin_addr, const int *origin_count,
                            const int *origin_datatype, const int *target_rank, const MPI_Aint *target_disp,
                            const int *target_count, const int *target_datatype, const MPI_Aint *flag_disp,
                            const int64_t *value, const int *win, int *ierror)
{
    static const char func[] = "MPIX_Put_notify";
    struct hl_fort_part part = {0};
    int rc = PMPIX_Put_notify == NULL ? elsewhere(func)
                                      : hl_fort_part_begin(&part, origin_addr, *origin_count,
                                                           hl_fort_datatype_in(*origin_datatype), func);
    if (rc == MPI_SUCCESS) {
        rc = PMPIX_Put_notify(hl_fort_buffer(part.addr), (int)part.count, part.type, *target_rank,
                              *target_disp, *target_count, hl_fort_datatype_in(*target_datatype), *flag_disp,
                              (uint64_t)*value, hl_fort_win_in(*win));
    }
    hl_fort_part_end(&part);
    hl_fort_end(ierror, rc);
}

void mpix_win_flag_wait_f08_(const MPI_Aint *flag_disp, const int *compare, const int64_t *value,
                             int64_t *seen, const int *win, int *ierror)
{
    int rc = PMPIX_Win_flag_wait == NULL ? elsewhere("MPIX_Win_flag_wait")
                                         : PMPIX_Win_flag_wait(*flag_disp, *compare, (uint64_t)*value,
                                                               (uint64_t *)seen, hl_fort_win_in(*win));
    hl_fort_end(ierror, rc);
}

void mpix_win_flag_test_f08_(const MPI_Aint *flag_disp, const int *compare, const int64_t *value,
                             int64_t *seen, int *done, const int *win, int *ierror)
{
    int is = 0;
    int rc = PMPIX_Win_flag_test == NULL ? elsewhere("MPIX_Win_flag_test")
                                         : PMPIX_Win_flag_test(*flag_disp, *compare, (uint64_t)*value,
                                                               (uint64_t *)seen, &is, hl_fort_win_in(*win));
    *done = hl_fort_logical_out(is);
    hl_fort_end(ierror, rc);
}

void mpix_win_iflush_f08_(const int *rank, const int *win, int *request, int *ierror)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int rc = PMPIX_Win_iflush == NULL ? elsewhere("MPIX_Win_iflush")
                                      : PMPIX_Win_iflush(*rank, hl_fort_win_in(*win), &r);
    if (rc == MPI_SUCCESS) {
        *request = hl_fort_request_out(r);
    }
    hl_fort_end(ierror, rc);
}

void mpix_win_iflush_all_f08_(const int *win, int *request, int *ierror)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int rc = PMPIX_Win_iflush_all == NULL ? elsewhere("MPIX_Win_iflush_all")
                                          : PMPIX_Win_iflush_all(hl_fort_win_in(*win), &r);
    if (rc == MPI_SUCCESS) {
        *request = hl_fort_request_out(r);
    }
    hl_fort_end(ierror, rc);
}

void mpix_win_iflush_local_f08_(const int *rank, const int *win, int *request, int *ierror)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int rc = PMPIX_Win_iflush_local == NULL ? elsewhere("MPIX_Win_iflush_local")
                                            : PMPIX_Win_iflush_local(*rank, hl_fort_win_in(*win), &r);
    if (rc == MPI_SUCCESS) {
        *request = hl_fort_request_out(r);
    }
    hl_fort_end(ierror, rc);
}

void mpix_win_iflush_local_all_f08_(const int *win, int *request, int *ierror)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int rc = PMPIX_Win_iflush_local_all == NULL ? elsewhere("MPIX_Win_iflush_local_all")
                                                : PMPIX_Win_iflush_local_all(hl_fort_win_in(*win), &r);
    if (rc == MPI_SUCCESS) {
        *request = hl_fort_request_out(r);
    }
    hl_fort_end(ierror, rc);
}

/* Indices count from 1. */
void mpix_win_flag_wait_any_f08_(const int *count, const MPI_Aint *flag_disps, const int *compare,
                                 const int64_t *values, int *index, int64_t *seen, const int *win,
                                 int *ierror)
{
    int at = MPI_UNDEFINED;
    int rc = PMPIX_Win_flag_wait_any == NULL
                 ? elsewhere("MPIX_Win_flag_wait_any")
                 : PMPIX_Win_flag_wait_any(*count, flag_disps, *compare, (const uint64_t *)values, &at,
                                           (uint64_t *)seen, hl_fort_win_in(*win));
    if (rc == MPI_SUCCESS) {
        *index = at == MPI_UNDEFINED ? at : at + 1;
    }
    hl_fort_end(ierror, rc);
}
