/* Callbacks that are Fortran procedures. Those of mpi_f08 and those of module mpi and mpif.h are called
 * alike: TYPE(MPI_Comm) and INTEGER come by reference, statuses lie in memory alike, TYPE(C_PTR), VALUE and a
 * choice buffer both are an address. So one function of each kind serves all three interfaces; it turns
 * handles into INTEGERs, and ierror into what is returned.
 *
 * Any number of callbacks may be in use at a time, and any thread may call them. Where MPI passes an extra
 * state, C gets a record of the procedures as extra state. Reductions and error handlers have none: they get
 * a function of their own by trampoline.h. Records of keyvals and data representations are never freed, as
 * MPI does not say when the last use was; equal ones are one. All functions return an error code of MPI and
 * may be called from any thread. (MPI 5.0, sections 6.9.5, 7.7, 9.3, 13.2, 14.5.3 and 19.3) */
#ifndef HL_FORT_CALLBACK_H
#define HL_FORT_CALLBACK_H

#include <mpi.h>
#include <stdbool.h>

typedef void hl_fort_procedure(void);

/* ---- Reductions: SUBROUTINE f(invec, inoutvec, len, datatype), len INTEGER or, if large,
 * INTEGER(MPI_COUNT_KIND) ---- */
int hl_fort_op_create(hl_fort_procedure *f, int commute, MPI_Op *op);
int hl_fort_op_create_c(hl_fort_procedure *f, int commute, MPI_Op *op);

/* ---- Error handlers: SUBROUTINE f(handle, error_code) ---- */
int hl_fort_comm_create_errhandler(hl_fort_procedure *f, MPI_Errhandler *errhandler);
int hl_fort_win_create_errhandler(hl_fort_procedure *f, MPI_Errhandler *errhandler);
int hl_fort_file_create_errhandler(hl_fort_procedure *f, MPI_Errhandler *errhandler);
int hl_fort_session_create_errhandler(hl_fort_procedure *f, MPI_Errhandler *errhandler);

/* ---- Attributes: values are INTEGER(MPI_ADDRESS_KIND); the procedures may be the predefined MPI_COMM_DUP_FN
 * and so on ---- */
int hl_fort_comm_create_keyval(hl_fort_procedure *copy, hl_fort_procedure *del, int *keyval, MPI_Aint extra);
int hl_fort_type_create_keyval(hl_fort_procedure *copy, hl_fort_procedure *del, int *keyval, MPI_Aint extra);
int hl_fort_win_create_keyval(hl_fort_procedure *copy, hl_fort_procedure *del, int *keyval, MPI_Aint extra);
/* MPI_Keyval_create of MPI-1: the procedures' values and extra state are INTEGER. */
int hl_fort_keyval_create(hl_fort_procedure *copy, hl_fort_procedure *del, int *keyval, int extra);
/* C sees an attribute that Fortran has set as the address of an integer of Fortran's; Fortran sees one that C
 * has set as the address it is, and a predefined one as its value. */
int hl_fort_comm_set_attr(MPI_Comm comm, int keyval, MPI_Aint value);
int hl_fort_type_set_attr(MPI_Datatype type, int keyval, MPI_Aint value);
int hl_fort_win_set_attr(MPI_Win win, int keyval, MPI_Aint value);
int hl_fort_comm_get_attr(MPI_Comm comm, int keyval, MPI_Aint *value, int *flag);
int hl_fort_type_get_attr(MPI_Datatype type, int keyval, MPI_Aint *value, int *flag);
int hl_fort_win_get_attr(MPI_Win win, int keyval, MPI_Aint *value, int *flag);

/* ---- Generalized requests: f(extra_state, status, ierror), f(extra_state, ierror), f(extra_state, complete,
 * ierror) ---- */
int hl_fort_grequest_start(hl_fort_procedure *query, hl_fort_procedure *free_it, hl_fort_procedure *cancel,
                           MPI_Aint extra, MPI_Request *request);

/* ---- Data representations: f(userbuf, datatype, count, filebuf, position, extra_state, ierror),
 *      f(datatype, extent, extra_state, ierror); read and write may be MPI_CONVERSION_FN_NULL (or _C if
 * large) ---- */
int hl_fort_register_datarep(const char *name, hl_fort_procedure *read, hl_fort_procedure *write,
                             hl_fort_procedure *extent, MPI_Aint extra);
int hl_fort_register_datarep_c(const char *name, hl_fort_procedure *read, hl_fort_procedure *write,
                               hl_fort_procedure *extent, MPI_Aint extra);

#endif
