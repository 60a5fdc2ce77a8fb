/* Callbacks that MPI itself has. */
#include "predefined.h"

#include "facts.h"

/* Registered, these two are told by their address and never called. */
void mpi_conversion_fn_null_(void *user, int *datatype, int *count, void *file, MPI_Offset *position,
                             MPI_Aint *extra, int *ierror)
{
    *ierror = MPI_ERR_CONVERSION;
}

void mpi_conversion_fn_null_c_(void *user, int *datatype, MPI_Count *count, void *file, MPI_Offset *position,
                               MPI_Aint *extra, int *ierror)
{
    *ierror = MPI_ERR_CONVERSION;
}

#define X(object)                                                                                            \
    void object##_dup_fn_(int *handle, int *keyval, MPI_Aint *extra, MPI_Aint *in, MPI_Aint *out, int *flag, \
                          int *ierror)                                                                       \
    {                                                                                                        \
        *out = *in;                                                                                          \
        *flag = hl_fort_true;                                                                                \
        *ierror = MPI_SUCCESS;                                                                               \
    }                                                                                                        \
    void object##_null_copy_fn_(int *handle, int *keyval, MPI_Aint *extra, MPI_Aint *in, MPI_Aint *out,      \
                                int *flag, int *ierror)                                                      \
    {                                                                                                        \
        *flag = hl_fort_false;                                                                               \
        *ierror = MPI_SUCCESS;                                                                               \
    }                                                                                                        \
    void object##_null_delete_fn_(int *handle, int *keyval, MPI_Aint *value, MPI_Aint *extra, int *ierror)   \
    {                                                                                                        \
        *ierror = MPI_SUCCESS;                                                                               \
    }
HL_FORT_ATTR_ROWS(X)
#undef X

void mpi_dup_fn_(int *comm, int *keyval, int *extra, int *in, int *out, int *flag, int *ierror)
{
    *out = *in;
    *flag = hl_fort_true;
    *ierror = MPI_SUCCESS;
}

void mpi_null_copy_fn_(int *comm, int *keyval, int *extra, int *in, int *out, int *flag, int *ierror)
{
    *flag = hl_fort_false;
    *ierror = MPI_SUCCESS;
}

void mpi_null_delete_fn_(int *comm, int *keyval, int *value, int *extra, int *ierror)
{
    *ierror = MPI_SUCCESS;
}
