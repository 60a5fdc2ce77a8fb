/* Procedures that are written by hand, and those generated ones that they call. */
#ifndef HL_FORT_OLDS_H
#define HL_FORT_OLDS_H

#include "callback.h"
#include "descriptor.h"
#include "sentinel.h"

/* ---- Of mpi_integer.c ---- */
HL_FORT_PUBLIC void pmpi_alloc_mem_(const MPI_Aint *size, const int *info, MPI_Aint *baseptr, int *ierror);
HL_FORT_PUBLIC void pmpi_win_allocate_(const MPI_Aint *size, const int *disp_unit, const int *info,
                                       const int *comm, MPI_Aint *baseptr, int *win, int *ierror);
HL_FORT_PUBLIC void pmpi_win_allocate_shared_(const MPI_Aint *size, const int *disp_unit, const int *info,
                                              const int *comm, MPI_Aint *baseptr, int *win, int *ierror);
HL_FORT_PUBLIC void pmpi_win_shared_query_(const int *win, const int *rank, MPI_Aint *size, int *disp_unit,
                                           MPI_Aint *baseptr, int *ierror);
HL_FORT_PUBLIC void pmpi_type_create_hvector_(const int *count, const int *blocklength,
                                              const MPI_Aint *stride, const int *oldtype, int *newtype,
                                              int *ierror);
HL_FORT_PUBLIC void pmpi_type_create_hindexed_(const int *count, const int *array_of_blocklengths,
                                               const MPI_Aint *array_of_displacements, const int *oldtype,
                                               int *newtype, int *ierror);
HL_FORT_PUBLIC void pmpi_type_create_struct_(const int *count, const int *array_of_blocklengths,
                                             const MPI_Aint *array_of_displacements,
                                             const int *array_of_types, int *newtype, int *ierror);
HL_FORT_PUBLIC void pmpi_comm_create_errhandler_(hl_fort_procedure *comm_errhandler_fn, int *errhandler,
                                                 int *ierror);
HL_FORT_PUBLIC void pmpi_comm_get_errhandler_(const int *comm, int *errhandler, int *ierror);
HL_FORT_PUBLIC void pmpi_comm_set_errhandler_(const int *comm, const int *errhandler, int *ierror);

/* ---- Of olds.c ---- */
HL_FORT_PUBLIC void pmpi_f_sync_reg_(void *buf);
HL_FORT_PUBLIC void pmpi_sizeof_(const struct hl_fort_array *x, int *size, int *ierror);
HL_FORT_PUBLIC void pmpi_status_f082f_(const int *f08_status, int *f_status, int *ierror);
HL_FORT_PUBLIC void pmpi_status_f2f08_(const int *f_status, int *f08_status, int *ierror);
HL_FORT_PUBLIC void pmpi_attr_get_(const int *comm, const int *keyval, int *attribute_val, int *flag,
                                   int *ierror);
HL_FORT_PUBLIC void pmpi_alloc_mem_cptr_(const MPI_Aint *size, const int *info, MPI_Aint *baseptr,
                                         int *ierror);
HL_FORT_PUBLIC void pmpi_win_allocate_cptr_(const MPI_Aint *size, const int *disp_unit, const int *info,
                                            const int *comm, MPI_Aint *baseptr, int *win, int *ierror);
HL_FORT_PUBLIC void pmpi_win_allocate_shared_cptr_(const MPI_Aint *size, const int *disp_unit,
                                                   const int *info, const int *comm, MPI_Aint *baseptr,
                                                   int *win, int *ierror);
HL_FORT_PUBLIC void pmpi_win_shared_query_cptr_(const int *win, const int *rank, MPI_Aint *size,
                                                int *disp_unit, MPI_Aint *baseptr, int *ierror);
HL_FORT_PUBLIC void pmpi_address_(const void *location, int *address, int *ierror);
HL_FORT_PUBLIC void pmpi_type_extent_(const int *datatype, int *extent, int *ierror);
HL_FORT_PUBLIC void pmpi_type_lb_(const int *datatype, int *displacement, int *ierror);
HL_FORT_PUBLIC void pmpi_type_ub_(const int *datatype, int *displacement, int *ierror);
HL_FORT_PUBLIC void pmpi_type_hvector_(const int *count, const int *blocklength, const int *stride,
                                       const int *oldtype, int *newtype, int *ierror);
HL_FORT_PUBLIC void pmpi_type_hindexed_(const int *count, const int *blocklengths, const int *displacements,
                                        const int *oldtype, int *newtype, int *ierror);
HL_FORT_PUBLIC void pmpi_type_struct_(const int *count, const int *blocklengths, const int *displacements,
                                      const int *oldtypes, int *newtype, int *ierror);
HL_FORT_PUBLIC void pmpi_errhandler_create_(hl_fort_procedure *function, int *errhandler, int *ierror);
HL_FORT_PUBLIC void pmpi_errhandler_get_(const int *comm, int *errhandler, int *ierror);
HL_FORT_PUBLIC void pmpi_errhandler_set_(const int *comm, const int *errhandler, int *ierror);

#endif
