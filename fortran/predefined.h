/* Callbacks that MPI itself has, as Fortran procedures of every interface: a program passes or calls them. */
#ifndef HL_FORT_PREDEFINED_H
#define HL_FORT_PREDEFINED_H

#include "sentinel.h"

HL_FORT_PUBLIC void mpi_conversion_fn_null_(void *user, int *datatype, int *count, void *file,
                                            MPI_Offset *position, MPI_Aint *extra, int *ierror);
HL_FORT_PUBLIC void mpi_conversion_fn_null_c_(void *user, int *datatype, MPI_Count *count, void *file,
                                              MPI_Offset *position, MPI_Aint *extra, int *ierror);

/* One row a kind of object with attributes. */
#define HL_FORT_ATTR_ROWS(X)                                                                                 \
    X(mpi_comm)                                                                                              \
    X(mpi_type)                                                                                              \
    X(mpi_win)

#define X(object)                                                                                            \
    HL_FORT_PUBLIC void object##_dup_fn_(int *handle, int *keyval, MPI_Aint *extra, MPI_Aint *in,            \
                                         MPI_Aint *out, int *flag, int *ierror);                             \
    HL_FORT_PUBLIC void object##_null_copy_fn_(int *handle, int *keyval, MPI_Aint *extra, MPI_Aint *in,      \
                                               MPI_Aint *out, int *flag, int *ierror);                       \
    HL_FORT_PUBLIC void object##_null_delete_fn_(int *handle, int *keyval, MPI_Aint *value, MPI_Aint *extra, \
                                                 int *ierror);
HL_FORT_ATTR_ROWS(X)
#undef X

/* Those of MPI-1, whose values are INTEGER. */
HL_FORT_PUBLIC void mpi_dup_fn_(int *comm, int *keyval, int *extra, int *in, int *out, int *flag,
                                int *ierror);
HL_FORT_PUBLIC void mpi_null_copy_fn_(int *comm, int *keyval, int *extra, int *in, int *out, int *flag,
                                      int *ierror);
HL_FORT_PUBLIC void mpi_null_delete_fn_(int *comm, int *keyval, int *value, int *extra, int *ierror);

#endif
