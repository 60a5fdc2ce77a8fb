/* Procedures of module mpi and mpif.h that the generator does not make: what Fortran alone has, and the names
 * of MPI-1 that MPI-3 removed, in terms of those that replaced them. Their displacements and addresses are
 * default INTEGERs: what does not fit is an error. */
#include <limits.h>

#include "integer.h"
#include "olds.h"

/* ---- What Fortran alone has ---- */

/* Its call is all that it does: the compiler cannot keep buf in a register over it. */
void pmpi_f_sync_reg_(void *buf)
{
}
HL_FORT_NAME(mpi_f_sync_reg_)

void pmpi_sizeof_(const struct hl_fort_array *x, int *size, int *ierror)
{
    *size = (int)x->elem_len;
    if (ierror != NULL) {
        *ierror = MPI_SUCCESS;
    }
}
HL_FORT_NAME(mpi_sizeof_)

/* Both forms of a status lie in memory alike. */
void pmpi_status_f082f_(const int *f08_status, int *f_status, int *ierror)
{
    memcpy(f_status, f08_status, MPI_F_STATUS_SIZE * sizeof *f_status);
    *ierror = MPI_SUCCESS;
}
HL_FORT_NAME(mpi_status_f082f_)

void pmpi_status_f2f08_(const int *f_status, int *f08_status, int *ierror)
{
    memcpy(f08_status, f_status, MPI_F_STATUS_SIZE * sizeof *f_status);
    *ierror = MPI_SUCCESS;
}
HL_FORT_NAME(mpi_status_f2f08_)

void pmpi_attr_get_(const int *comm, const int *keyval, int *attribute_val, int *flag, int *ierror)
{
    MPI_Aint value = 0;

    *ierror = hl_fort_comm_get_attr(hl_fort_comm_in(*comm), *keyval, &value, flag);
    if (*ierror == MPI_SUCCESS) {
        if (*flag) {
            *attribute_val = (int)value;
        }
        *flag = hl_fort_logical_out(*flag);
    }
}
HL_FORT_NAME(mpi_attr_get_)

/* TYPE(C_PTR) comes as INTEGER(MPI_ADDRESS_KIND) does. */
void pmpi_alloc_mem_cptr_(const MPI_Aint *size, const int *info, MPI_Aint *baseptr, int *ierror)
{
    pmpi_alloc_mem_(size, info, baseptr, ierror);
}
HL_FORT_NAME(mpi_alloc_mem_cptr_)

void pmpi_win_allocate_cptr_(const MPI_Aint *size, const int *disp_unit, const int *info, const int *comm,
                             MPI_Aint *baseptr, int *win, int *ierror)
{
    pmpi_win_allocate_(size, disp_unit, info, comm, baseptr, win, ierror);
}
HL_FORT_NAME(mpi_win_allocate_cptr_)

void pmpi_win_allocate_shared_cptr_(const MPI_Aint *size, const int *disp_unit, const int *info,
                                    const int *comm, MPI_Aint *baseptr, int *win, int *ierror)
{
    pmpi_win_allocate_shared_(size, disp_unit, info, comm, baseptr, win, ierror);
}
HL_FORT_NAME(mpi_win_allocate_shared_cptr_)

void pmpi_win_shared_query_cptr_(const int *win, const int *rank, MPI_Aint *size, int *disp_unit,
                                 MPI_Aint *baseptr, int *ierror)
{
    pmpi_win_shared_query_(win, rank, size, disp_unit, baseptr, ierror);
}
HL_FORT_NAME(mpi_win_shared_query_cptr_)

/* ---- Names of MPI-1 ---- */

/* An address or extent as default INTEGER. */
static int give_small(const char *func, int rc, MPI_Aint value, int *small)
{
    if (rc == MPI_SUCCESS && (value > INT_MAX || value < INT_MIN)) {
        return hl_fort_fail(
            func, MPI_ERR_ARG,
            "the result needs more than a default INTEGER; the procedure that replaced this one in "
            "MPI-2 gives INTEGER(KIND=MPI_ADDRESS_KIND)");
    }
    if (rc == MPI_SUCCESS) {
        *small = (int)value;
    }
    return rc;
}

void pmpi_address_(const void *location, int *address, int *ierror)
{
    MPI_Aint value = 0;
    int rc = PMPI_Get_address(hl_fort_buffer(location), &value);

    *ierror = give_small("MPI_Address (see MPI_Get_address)", rc, value, address);
}
HL_FORT_NAME(mpi_address_)

void pmpi_type_extent_(const int *datatype, int *extent, int *ierror)
{
    MPI_Aint lb = 0, value = 0;
    int rc = PMPI_Type_get_extent(hl_fort_datatype_in(*datatype), &lb, &value);

    *ierror = give_small("MPI_Type_extent (see MPI_Type_get_extent)", rc, value, extent);
}
HL_FORT_NAME(mpi_type_extent_)

void pmpi_type_lb_(const int *datatype, int *displacement, int *ierror)
{
    MPI_Aint lb = 0, extent = 0;
    int rc = PMPI_Type_get_extent(hl_fort_datatype_in(*datatype), &lb, &extent);

    *ierror = give_small("MPI_Type_lb (see MPI_Type_get_extent)", rc, lb, displacement);
}
HL_FORT_NAME(mpi_type_lb_)

void pmpi_type_ub_(const int *datatype, int *displacement, int *ierror)
{
    MPI_Aint lb = 0, extent = 0;
    int rc = PMPI_Type_get_extent(hl_fort_datatype_in(*datatype), &lb, &extent);

    *ierror = give_small("MPI_Type_ub (see MPI_Type_get_extent)", rc, lb + extent, displacement);
}
HL_FORT_NAME(mpi_type_ub_)

void pmpi_type_hvector_(const int *count, const int *blocklength, const int *stride, const int *oldtype,
                        int *newtype, int *ierror)
{
    MPI_Aint bytes = *stride;

    pmpi_type_create_hvector_(count, blocklength, &bytes, oldtype, newtype, ierror);
}
HL_FORT_NAME(mpi_type_hvector_)

/* Displacements as MPI-2 has them, to be freed. NULL: *ierror says that there is no memory. */
static MPI_Aint *widen_displacements(const char *func, const int *small, int count, int *ierror)
{
    MPI_Aint *wide = malloc(sizeof *wide * (size_t)(count > 0 ? count : 1));

    if (wide == NULL) {
        *ierror = hl_fort_no_memory(func);
    }
    for (int i = 0; wide != NULL && i < count; i++) {
        wide[i] = small[i];
    }
    return wide;
}

void pmpi_type_hindexed_(const int *count, const int *blocklengths, const int *displacements,
                         const int *oldtype, int *newtype, int *ierror)
{
    MPI_Aint *wide = widen_displacements("MPI_Type_hindexed", displacements, *count, ierror);

    if (wide != NULL) {
        pmpi_type_create_hindexed_(count, blocklengths, wide, oldtype, newtype, ierror);
    }
    free(wide);
}
HL_FORT_NAME(mpi_type_hindexed_)

void pmpi_type_struct_(const int *count, const int *blocklengths, const int *displacements,
                       const int *oldtypes, int *newtype, int *ierror)
{
    MPI_Aint *wide = widen_displacements("MPI_Type_struct", displacements, *count, ierror);

    if (wide != NULL) {
        pmpi_type_create_struct_(count, blocklengths, wide, oldtypes, newtype, ierror);
    }
    free(wide);
}
HL_FORT_NAME(mpi_type_struct_)

void pmpi_errhandler_create_(hl_fort_procedure *function, int *errhandler, int *ierror)
{
    pmpi_comm_create_errhandler_(function, errhandler, ierror);
}
HL_FORT_NAME(mpi_errhandler_create_)

void pmpi_errhandler_get_(const int *comm, int *errhandler, int *ierror)
{
    pmpi_comm_get_errhandler_(comm, errhandler, ierror);
}
HL_FORT_NAME(mpi_errhandler_get_)

void pmpi_errhandler_set_(const int *comm, const int *errhandler, int *ierror)
{
    pmpi_comm_set_errhandler_(comm, errhandler, ierror);
}
HL_FORT_NAME(mpi_errhandler_set_)
