/* Reductions and error handlers that are Fortran procedures: C's functions have no extra state. */
#include <mpi.h>

#include "callback.h"
#include "fail.h"
#include "trampoline.h"

/* Arguments that a caller does not pass, so that the fifth is what a trampoline brings, stand as `none`. */
typedef void op_procedure(void *in, void *inout, int *len, int *datatype);
typedef void op_procedure_c(void *in, void *inout, MPI_Count *len, int *datatype);
typedef void error_procedure(int *handle, int *error_code);

static void reduce_called(void *in, void *inout, int *len, MPI_Datatype *datatype,
                          const struct hl_fort_bound *bound)
{
    int type = PMPI_Type_toint(*datatype);

    ((op_procedure *)bound->procedure)(in, inout, len, &type);
}

static void reduce_called_c(void *in, void *inout, MPI_Count *len, MPI_Datatype *datatype,
                            const struct hl_fort_bound *bound)
{
    int type = PMPI_Type_toint(*datatype);

    ((op_procedure_c *)bound->procedure)(in, inout, len, &type);
}

static void comm_error_called(MPI_Comm *comm, int *code, void *none, void *none_2,
                              const struct hl_fort_bound *bound)
{
    int handle = PMPI_Comm_toint(*comm);

    ((error_procedure *)bound->procedure)(&handle, code);
}

static void win_error_called(MPI_Win *win, int *code, void *none, void *none_2,
                             const struct hl_fort_bound *bound)
{
    int handle = PMPI_Win_toint(*win);

    ((error_procedure *)bound->procedure)(&handle, code);
}

static void file_error_called(MPI_File *file, int *code, void *none, void *none_2,
                              const struct hl_fort_bound *bound)
{
    int handle = PMPI_File_toint(*file);

    ((error_procedure *)bound->procedure)(&handle, code);
}

static void session_error_called(MPI_Session *session, int *code, void *none, void *none_2,
                                 const struct hl_fort_bound *bound)
{
    int handle = PMPI_Session_toint(*session);

    ((error_procedure *)bound->procedure)(&handle, code);
}

int hl_fort_op_create(hl_fort_procedure *f, int commute, MPI_Op *op)
{
    const char *why;
    hl_fort_any *made = hl_fort_trampoline((hl_fort_any *)reduce_called, f, &why);

    return made != NULL ? PMPI_Op_create((MPI_User_function *)made, commute, op)
                        : hl_fort_fail("MPI_Op_create", MPI_ERR_OTHER, why);
}

int hl_fort_op_create_c(hl_fort_procedure *f, int commute, MPI_Op *op)
{
    const char *why;
    hl_fort_any *made = hl_fort_trampoline((hl_fort_any *)reduce_called_c, f, &why);

    return made != NULL ? PMPI_Op_create_c((MPI_User_function_c *)made, commute, op)
                        : hl_fort_fail("MPI_Op_create_c", MPI_ERR_OTHER, why);
}

int hl_fort_comm_create_errhandler(hl_fort_procedure *f, MPI_Errhandler *errhandler)
{
    const char *why;
    hl_fort_any *made = hl_fort_trampoline((hl_fort_any *)comm_error_called, f, &why);

    return made != NULL ? PMPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)made, errhandler)
                        : hl_fort_fail("MPI_Comm_create_errhandler", MPI_ERR_OTHER, why);
}

int hl_fort_win_create_errhandler(hl_fort_procedure *f, MPI_Errhandler *errhandler)
{
    const char *why;
    hl_fort_any *made = hl_fort_trampoline((hl_fort_any *)win_error_called, f, &why);

    return made != NULL ? PMPI_Win_create_errhandler((MPI_Win_errhandler_function *)made, errhandler)
                        : hl_fort_fail("MPI_Win_create_errhandler", MPI_ERR_OTHER, why);
}

int hl_fort_file_create_errhandler(hl_fort_procedure *f, MPI_Errhandler *errhandler)
{
    const char *why;
    hl_fort_any *made = hl_fort_trampoline((hl_fort_any *)file_error_called, f, &why);

    return made != NULL ? PMPI_File_create_errhandler((MPI_File_errhandler_function *)made, errhandler)
                        : hl_fort_fail("MPI_File_create_errhandler", MPI_ERR_OTHER, why);
}

int hl_fort_session_create_errhandler(hl_fort_procedure *f, MPI_Errhandler *errhandler)
{
    const char *why;
    hl_fort_any *made = hl_fort_trampoline((hl_fort_any *)session_error_called, f, &why);

    return made != NULL ? PMPI_Session_create_errhandler((MPI_Session_errhandler_function *)made, errhandler)
                        : hl_fort_fail("MPI_Session_create_errhandler", MPI_ERR_OTHER, why);
}
