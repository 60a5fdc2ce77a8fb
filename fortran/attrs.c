/* Attributes whose copy and delete functions are Fortran procedures, and their values between Fortran and C.
 */
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#include "callback.h"
#include "facts.h"
#include "fail.h"
#include "records.h"

typedef void copy_procedure(int *handle, int *keyval, MPI_Aint *extra, MPI_Aint *in, MPI_Aint *out, int *flag,
                            int *ierror);
typedef void delete_procedure(int *handle, int *keyval, MPI_Aint *value, MPI_Aint *extra, int *ierror);
typedef void old_copy_procedure(int *comm, int *keyval, int *extra, int *in, int *out, int *flag,
                                int *ierror);
typedef void old_delete_procedure(int *comm, int *keyval, int *value, int *extra, int *ierror);

/* What C gets as extra state. */
struct keyval_record {
    hl_fort_procedure *copy, *del;
    MPI_Aint extra;
};

static struct hl_fort_records keyvals, values;

/* ---- Values ---- */

/* C's value for an integer of Fortran: where that integer lies. NULL: there is no memory. */
static void *value_to_c(MPI_Aint value)
{
    return (void *)hl_fort_record(&values, &value, sizeof value);
}

/* The other way; what C has set is taken as the address that it is. */
static MPI_Aint value_to_fortran(void *value)
{
    MPI_Aint integer = (MPI_Aint)(intptr_t)value;

    if (hl_fort_is_record(&values, value)) {
        memcpy(&integer, value, sizeof integer);
    }
    return integer;
}

/* MPI's own attributes are addresses of integers in C but for MPI_WIN_BASE, which is the address meant. */
static MPI_Aint read_attr(int keyval, void *value)
{
    switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
        return *(int *)value;
    case MPI_WIN_SIZE:
        return *(MPI_Aint *)value;
    default:
        return value_to_fortran(value);
    }
}

static int give_attr(int rc, int keyval, void *found, MPI_Aint *value, int flag)
{
    if (rc == MPI_SUCCESS && flag) {
        *value = read_attr(keyval, found);
    }
    return rc;
}

int hl_fort_comm_get_attr(MPI_Comm comm, int keyval, MPI_Aint *value, int *flag)
{
    void *found = NULL;
    int rc = PMPI_Comm_get_attr(comm, keyval, &found, flag);

    return give_attr(rc, keyval, found, value, *flag);
}

int hl_fort_type_get_attr(MPI_Datatype type, int keyval, MPI_Aint *value, int *flag)
{
    void *found = NULL;
    int rc = PMPI_Type_get_attr(type, keyval, &found, flag);

    return give_attr(rc, keyval, found, value, *flag);
}

int hl_fort_win_get_attr(MPI_Win win, int keyval, MPI_Aint *value, int *flag)
{
    void *found = NULL;
    int rc = PMPI_Win_get_attr(win, keyval, &found, flag);

    return give_attr(rc, keyval, found, value, *flag);
}

int hl_fort_comm_set_attr(MPI_Comm comm, int keyval, MPI_Aint value)
{
    void *set = value_to_c(value);

    return set != NULL ? PMPI_Comm_set_attr(comm, keyval, set)
                       : hl_fort_fail("MPI_Comm_set_attr", MPI_ERR_NO_MEM, "there is no memory");
}

int hl_fort_type_set_attr(MPI_Datatype type, int keyval, MPI_Aint value)
{
    void *set = value_to_c(value);

    return set != NULL ? PMPI_Type_set_attr(type, keyval, set)
                       : hl_fort_fail("MPI_Type_set_attr", MPI_ERR_NO_MEM, "there is no memory");
}

int hl_fort_win_set_attr(MPI_Win win, int keyval, MPI_Aint value)
{
    void *set = value_to_c(value);

    return set != NULL ? PMPI_Win_set_attr(win, keyval, set)
                       : hl_fort_fail("MPI_Win_set_attr", MPI_ERR_NO_MEM, "there is no memory");
}

/* ---- Copy and delete functions: what is the same for communicators, datatypes and windows ---- */

/* A value set by C that Fortran's procedure has passed on unchanged stays C's. */
static int give_copy(void *in, MPI_Aint copied, void *out)
{
    void *made =
        copied == (MPI_Aint)(intptr_t)in && !hl_fort_is_record(&values, in) ? in : value_to_c(copied);

    memcpy(out, &made, sizeof made);
    return made != NULL || copied == 0 ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int copy_attr(int handle, int keyval, void *state, void *in, void *out, int *flag)
{
    const struct keyval_record *record = state;
    MPI_Aint extra = record->extra, value = value_to_fortran(in), copied = 0;
    int logical = hl_fort_false, ierror = MPI_SUCCESS;

    ((copy_procedure *)record->copy)(&handle, &keyval, &extra, &value, &copied, &logical, &ierror);
    *flag = hl_fort_logical_in(logical);
    return ierror == MPI_SUCCESS && *flag ? give_copy(in, copied, out) : ierror;
}

static int delete_attr(int handle, int keyval, void *state, void *value)
{
    const struct keyval_record *record = state;
    MPI_Aint extra = record->extra, integer = value_to_fortran(value);
    int ierror = MPI_SUCCESS;

    ((delete_procedure *)record->del)(&handle, &keyval, &integer, &extra, &ierror);
    return ierror;
}

static int comm_copy_called(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag)
{
    return copy_attr(PMPI_Comm_toint(comm), keyval, state, in, out, flag);
}

static int type_copy_called(MPI_Datatype type, int keyval, void *state, void *in, void *out, int *flag)
{
    return copy_attr(PMPI_Type_toint(type), keyval, state, in, out, flag);
}

static int win_copy_called(MPI_Win win, int keyval, void *state, void *in, void *out, int *flag)
{
    return copy_attr(PMPI_Win_toint(win), keyval, state, in, out, flag);
}

static int comm_delete_called(MPI_Comm comm, int keyval, void *value, void *state)
{
    return delete_attr(PMPI_Comm_toint(comm), keyval, state, value);
}

static int type_delete_called(MPI_Datatype type, int keyval, void *value, void *state)
{
    return delete_attr(PMPI_Type_toint(type), keyval, state, value);
}

static int win_delete_called(MPI_Win win, int keyval, void *value, void *state)
{
    return delete_attr(PMPI_Win_toint(win), keyval, state, value);
}

static int old_copy_called(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag)
{
    const struct keyval_record *record = state;
    int handle = PMPI_Comm_toint(comm), extra = (int)record->extra, value = (int)value_to_fortran(in),
        copied = 0;
    int logical = hl_fort_false, ierror = MPI_SUCCESS;

    ((old_copy_procedure *)record->copy)(&handle, &keyval, &extra, &value, &copied, &logical, &ierror);
    *flag = hl_fort_logical_in(logical);
    if (ierror == MPI_SUCCESS && *flag && copied == value) {
        memcpy(out, &in, sizeof in);
        return MPI_SUCCESS;
    }
    return ierror == MPI_SUCCESS && *flag ? give_copy(in, copied, out) : ierror;
}

static int old_delete_called(MPI_Comm comm, int keyval, void *value, void *state)
{
    const struct keyval_record *record = state;
    int handle = PMPI_Comm_toint(comm), extra = (int)record->extra, integer = (int)value_to_fortran(value);
    int ierror = MPI_SUCCESS;

    ((old_delete_procedure *)record->del)(&handle, &keyval, &integer, &extra, &ierror);
    return ierror;
}

/* ---- Keyvals ---- */

/* What C gets as extra state. NULL: there is no memory; *rc is the error. */
static void *record_keyval(const char *func, hl_fort_procedure *copy, hl_fort_procedure *del, MPI_Aint extra,
                           int *rc)
{
    struct keyval_record record = {copy, del, extra};
    const void *kept = hl_fort_record(&keyvals, &record, sizeof record);

    if (kept == NULL) {
        *rc = hl_fort_fail(func, MPI_ERR_NO_MEM, "there is no memory");
    }
    return (void *)kept;
}

int hl_fort_comm_create_keyval(hl_fort_procedure *copy, hl_fort_procedure *del, int *keyval, MPI_Aint extra)
{
    int rc;
    void *record = record_keyval("MPI_Comm_create_keyval", copy, del, extra, &rc);

    return record != NULL ? PMPI_Comm_create_keyval(comm_copy_called, comm_delete_called, keyval, record)
                          : rc;
}

int hl_fort_type_create_keyval(hl_fort_procedure *copy, hl_fort_procedure *del, int *keyval, MPI_Aint extra)
{
    int rc;
    void *record = record_keyval("MPI_Type_create_keyval", copy, del, extra, &rc);

    return record != NULL ? PMPI_Type_create_keyval(type_copy_called, type_delete_called, keyval, record)
                          : rc;
}

int hl_fort_win_create_keyval(hl_fort_procedure *copy, hl_fort_procedure *del, int *keyval, MPI_Aint extra)
{
    int rc;
    void *record = record_keyval("MPI_Win_create_keyval", copy, del, extra, &rc);

    return record != NULL ? PMPI_Win_create_keyval(win_copy_called, win_delete_called, keyval, record) : rc;
}

int hl_fort_keyval_create(hl_fort_procedure *copy, hl_fort_procedure *del, int *keyval, int extra)
{
    int rc;
    void *record = record_keyval("MPI_Keyval_create", copy, del, extra, &rc);

    return record != NULL ? PMPI_Comm_create_keyval(old_copy_called, old_delete_called, keyval, record) : rc;
}
