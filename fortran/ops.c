/* Reductions and error handlers that are Fortran procedures: C's functions have no extra state. */
#include <mpi.h>

#include "callback.h"
#include "fail.h"
#include "trampoline.h"

/* Arguments that a caller does not pass, so that the fifth is what a trampoline brings, stand as `none`. */
typedef void op_procedure(void *in, void *inout, int *len, int *datatype);
typedef void op_procedure_c(void *in, void *inout, MPI_Count *len, int *datatype);
typedef void error_procedure(int *handle, int *error_code);

/* What MPI calls for a reduction whose lengths are `length`, and the function that makes an operation of f.
 */
#define REDUCTION(suffix, length)                                                                            \
    static void reduce_called##suffix(void *in, void *inout, length *len, MPI_Datatype *datatype,            \
                                      const struct hl_fort_bound *bound)                                     \
    {                                                                                                        \
        int type = PMPI_Type_toint(*datatype);                                                               \
        ((op_procedure##suffix *)bound->procedure)(in, inout, len, &type);                                   \
    }                                                                                                        \
    int hl_fort_op_create##suffix(hl_fort_procedure *f, int commute, MPI_Op *op)                             \
    {                                                                                                        \
        const char *why;                                                                                     \
        hl_fort_any *made = hl_fort_trampoline((hl_fort_any *)reduce_called##suffix, f, &why);               \
        return made != NULL ? PMPI_Op_create##suffix((MPI_User_function##suffix *)made, commute, op)         \
                            : hl_fort_fail("MPI_Op_create" #suffix, MPI_ERR_OTHER, why);                     \
    }
REDUCTION(, int)
REDUCTION(_c, MPI_Count)

/* What MPI calls for an error of such an object, and the function that makes an error handler of f. */
#define ERROR_HANDLER(object, Object)                                                                        \
    static void object##_error_called(MPI_##Object *handle, int *code, void *none, void *none_2,             \
                                      const struct hl_fort_bound *bound)                                     \
    {                                                                                                        \
        int number = PMPI_##Object##_toint(*handle);                                                         \
        ((error_procedure *)bound->procedure)(&number, code);                                                \
    }                                                                                                        \
    int hl_fort_##object##_create_errhandler(hl_fort_procedure *f, MPI_Errhandler *errhandler)               \
    {                                                                                                        \
        const char *why;                                                                                     \
        hl_fort_any *made = hl_fort_trampoline((hl_fort_any *)object##_error_called, f, &why);               \
        return made != NULL ? PMPI_##Object##_create_errhandler((MPI_##Object##_errhandler_function *)made,  \
                                                                errhandler)                                  \
                            : hl_fort_fail("MPI_" #Object "_create_errhandler", MPI_ERR_OTHER, why);         \
    }
ERROR_HANDLER(comm, Comm)
ERROR_HANDLER(win, Win)
ERROR_HANDLER(file, File)
ERROR_HANDLER(session, Session)
