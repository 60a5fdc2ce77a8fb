/* Module hotlane: what libhotlane offers beyond MPI, where the program runs on it. */
#include "calls.h"

#pragma weak PMPIX_Put_notify
#pragma weak PMPIX_Win_flag_wait
#pragma weak PMPIX_Win_flag_test

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
