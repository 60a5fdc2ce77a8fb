/* Start and end of MPI, and the check that no second MPI library is in the process. */
#include <dlfcn.h>
#include <mpi.h>

#include "api.h"
#include "args.h"
#include "buffered.h"
#include "job.h"
#include "keyval.h"
#include "log.h"

/* Checks that PMPI_Init of no other MPI library comes first in the process: calls would be spread over two
 * libraries. A foreign MPI_Init is a profiler and legal; if none is visible (loaded with RTLD_LOCAL by
 * Python), that is legal, too. */
static int check_only_mpi(void)
{
    Dl_info mine, other;
    void *found = dlsym(RTLD_DEFAULT, "PMPI_Init");

    if (found == NULL || dladdr((void *)(uintptr_t)&check_only_mpi, &mine) == 0 ||
        dladdr(found, &other) == 0 || mine.dli_fbase == other.dli_fbase) {
        return 0;
    }
    return hl_err_say(HL_ERR_OTHER,
                      "two MPI libraries in one process: %s and %s; link the program to one of them",
                      mine.dli_fname, other.dli_fname);
}

static bool is_level(int level)
{
    return level == MPI_THREAD_SINGLE || level == MPI_THREAD_FUNNELED || level == MPI_THREAD_SERIALIZED ||
           level == MPI_THREAD_MULTIPLE;
}

static int start_mpi(const char *func, int required, int *provided)
{
    int err = check_only_mpi();

    if (err == 0 && !is_level(required)) {
        err = hl_err_say(HL_ERR_ARG,
                         "required is %d: it must be MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED or _MULTIPLE",
                         required);
    }
    err = err == 0 ? hl_life_open(HL_LIFE_MPI, required, provided) : err;
    err = err == 0 ? hl_info_open_env() : err;
    return hl_api_end(NULL, func, err);
}

HL_API(MPI_Init);
int PMPI_Init(int *argc, char ***argv)
{
    int provided;

    return start_mpi("MPI_Init", MPI_THREAD_SINGLE, &provided);
}

HL_API(MPI_Init_thread);
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int level;

    return start_mpi("MPI_Init_thread", required, provided != NULL ? provided : &level);
}

HL_API(MPI_Finalize);
int PMPI_Finalize(void)
{
    struct hl_comm *self = hl_comm_of(MPI_COMM_SELF);
    bool open = hl_life_opened(HL_LIFE_MPI) && !hl_life_closed(HL_LIFE_MPI) && !hl_life_is_forked();
    int err = open ? 0 : hl_life_refuse();

    if (err == 0 && self != NULL) {
        err = hl_attr_delete_all(&self->attrs, self->handle); /* first, since callbacks may communicate */
    }
    if (err == 0 && self != NULL) {
        hl_buffered_drop(&self->buffered);
        hl_buffered_drop(&hl_comm_world_object.buffered);
        hl_buffered_drop(&hl_buffered_process);
    }
    err = err == 0 ? hl_life_close(HL_LIFE_MPI) : err;
    return hl_api_end(NULL, "MPI_Finalize", err);
}

HL_API(MPI_Initialized);
int PMPI_Initialized(int *flag)
{
    int err = hl_api_check_out(flag, "flag");

    if (err == 0) {
        *flag = hl_life_opened(HL_LIFE_MPI);
    }
    return hl_api_end(NULL, "MPI_Initialized", err);
}

HL_API(MPI_Finalized);
int PMPI_Finalized(int *flag)
{
    int err = hl_api_check_out(flag, "flag");

    if (err == 0) {
        *flag = hl_life_closed(HL_LIFE_MPI);
    }
    return hl_api_end(NULL, "MPI_Finalized", err);
}

HL_CALL_PLAIN(MPI_Query_thread, (int *provided), hl_api_check_open(),
              hl_api_give(provided, "provided", hl_life_level()))
HL_CALL_PLAIN(MPI_Is_thread_main, (int *flag), hl_api_check_open(),
              hl_api_give(flag, "flag", hl_life_is_main_thread()))

HL_API(MPI_Abort);
int PMPI_Abort(MPI_Comm comm, int errorcode)
{
    hl_log(HL_LOG_ERROR, "MPI_Abort was called with code %d; %s", errorcode, hl_job_end_words());
    hl_job_abort(errorcode);
}
