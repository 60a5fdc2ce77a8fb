/* Procedures of mpi_f08 that C does not have, and how handles are compared. */
#include "calls.h"

HL_FORT_PUBLIC void mpi_f_sync_reg_f08ts_(const struct hl_fort_array *buf);
HL_FORT_PUBLIC void mpi_sizeof_f08ts_(const struct hl_fort_array *x, int *size, int *ierror);
HL_FORT_PUBLIC void mpi_status_f082f_f08_(const MPI_Status *f08_status, int *f_status, int *ierror);
HL_FORT_PUBLIC void mpi_status_f2f08_f08_(const int *f_status, MPI_Status *f08_status, int *ierror);

/* The call alone tells the compiler that buf may have changed. */
void mpi_f_sync_reg_f08ts_(const struct hl_fort_array *buf)
{
}
HL_FORT_ALIAS(mpi_f_sync_reg_f08ts_, pmpi_f_sync_reg_f08ts_, void, (const struct hl_fort_array *buf))

void mpi_sizeof_f08ts_(const struct hl_fort_array *x, int *size, int *ierror)
{
    *size = (int)x->elem_len;
    hl_fort_end(ierror, MPI_SUCCESS);
}
HL_FORT_ALIAS(mpi_sizeof_f08ts_, pmpi_sizeof_f08ts_, void,
              (const struct hl_fort_array *x, int *size, int *ierror))

void mpi_status_f082f_f08_(const MPI_Status *f08_status, int *f_status, int *ierror)
{
    memcpy(f_status, f08_status, sizeof *f08_status);
    hl_fort_end(ierror, MPI_SUCCESS);
}
HL_FORT_ALIAS(mpi_status_f082f_f08_, pmpi_status_f082f_f08_, void,
              (const MPI_Status *f08_status, int *f_status, int *ierror))

void mpi_status_f2f08_f08_(const int *f_status, MPI_Status *f08_status, int *ierror)
{
    memcpy(f08_status, f_status, sizeof *f08_status);
    hl_fort_end(ierror, MPI_SUCCESS);
}
HL_FORT_ALIAS(mpi_status_f2f08_f08_, pmpi_status_f2f08_f08_, void,
              (const int *f_status, MPI_Status *f08_status, int *ierror))

/* Operators == and /= of handles; the result is LOGICAL. */
#define COMPARE(name)                                                                                        \
    HL_FORT_PUBLIC int mpi_fortran_##name##_eq_(const int *a, const int *b);                                 \
    HL_FORT_PUBLIC int mpi_fortran_##name##_ne_(const int *a, const int *b);                                 \
    int mpi_fortran_##name##_eq_(const int *a, const int *b)                                                 \
    {                                                                                                        \
        return hl_fort_logical_out(*a == *b);                                                                \
    }                                                                                                        \
    int mpi_fortran_##name##_ne_(const int *a, const int *b)                                                 \
    {                                                                                                        \
        return hl_fort_logical_out(*a != *b);                                                                \
    }
COMPARE(comm)
COMPARE(group)
COMPARE(win)
COMPARE(file)
COMPARE(session)
COMPARE(message)
COMPARE(info)
COMPARE(errhandler)
COMPARE(request)
COMPARE(op)
COMPARE(datatype)
#undef COMPARE
