/* Generalized requests and data representations whose functions are Fortran procedures: MPI passes them an
 * extra state. */
#include <mpi.h>
#include <stdlib.h>

#include "callback.h"
#include "facts.h"
#include "fail.h"
#include "predefined.h"
#include "records.h"

/* ---- Generalized requests ---- */

typedef void query_procedure(MPI_Aint *extra, int *status, int *ierror);
typedef void free_procedure(MPI_Aint *extra, int *ierror);
typedef void cancel_procedure(MPI_Aint *extra, int *complete, int *ierror);

/* Freed with the request. */
struct request_state {
    hl_fort_procedure *query, *free_it, *cancel;
    MPI_Aint extra;
};

static int query_called(void *state, MPI_Status *status)
{
    struct request_state *request = state;
    MPI_Status unused = {0};
    int ierror = MPI_SUCCESS;

    ((query_procedure *)request->query)(&request->extra,
                                        (int *)(status == MPI_STATUS_IGNORE ? &unused : status), &ierror);
    return ierror;
}

static int free_called(void *state)
{
    struct request_state *request = state;
    int ierror = MPI_SUCCESS;

    ((free_procedure *)request->free_it)(&request->extra, &ierror);
    free(request);
    return ierror;
}

static int cancel_called(void *state, int complete)
{
    struct request_state *request = state;
    int logical = hl_fort_logical_out(complete), ierror = MPI_SUCCESS;

    ((cancel_procedure *)request->cancel)(&request->extra, &logical, &ierror);
    return ierror;
}

int hl_fort_grequest_start(hl_fort_procedure *query, hl_fort_procedure *free_it, hl_fort_procedure *cancel,
                           MPI_Aint extra, MPI_Request *request)
{
    struct request_state *state = malloc(sizeof *state);
    int rc;

    if (state == NULL) {
        return hl_fort_fail("MPI_Grequest_start", MPI_ERR_NO_MEM, "there is no memory");
    }
    *state = (struct request_state){query, free_it, cancel, extra};
    rc = PMPI_Grequest_start(query_called, free_called, cancel_called, state, request);
    if (rc != MPI_SUCCESS) {
        free(state);
    }
    return rc;
}

/* ---- Data representations ---- */

typedef void conversion_procedure(void *user, int *datatype, int *count, void *file, MPI_Offset *position,
                                  MPI_Aint *extra, int *ierror);
typedef void conversion_procedure_c(void *user, int *datatype, MPI_Count *count, void *file,
                                    MPI_Offset *position, MPI_Aint *extra, int *ierror);
typedef void extent_procedure(int *datatype, MPI_Aint *extent, MPI_Aint *extra, int *ierror);

struct datarep_record {
    hl_fort_procedure *read, *write, *extent;
    MPI_Aint extra;
};

static struct hl_fort_records datareps;

/* Read and write differ in the procedure alone. */
static int convert_data(hl_fort_procedure *f, const struct datarep_record *record, MPI_Datatype datatype,
                        void *user, int count, void *file, MPI_Offset position)
{
    MPI_Aint extra = record->extra;
    int type = PMPI_Type_toint(datatype), ierror = MPI_SUCCESS;

    ((conversion_procedure *)f)(user, &type, &count, file, &position, &extra, &ierror);
    return ierror;
}

static int convert_data_c(hl_fort_procedure *f, const struct datarep_record *record, MPI_Datatype datatype,
                          void *user, MPI_Count count, void *file, MPI_Offset position)
{
    MPI_Aint extra = record->extra;
    int type = PMPI_Type_toint(datatype), ierror = MPI_SUCCESS;

    ((conversion_procedure_c *)f)(user, &type, &count, file, &position, &extra, &ierror);
    return ierror;
}

static int read_called(void *user, MPI_Datatype datatype, int count, void *file, MPI_Offset position,
                       void *state)
{
    const struct datarep_record *record = state;

    return convert_data(record->read, record, datatype, user, count, file, position);
}

static int write_called(void *user, MPI_Datatype datatype, int count, void *file, MPI_Offset position,
                        void *state)
{
    const struct datarep_record *record = state;

    return convert_data(record->write, record, datatype, user, count, file, position);
}

static int read_called_c(void *user, MPI_Datatype datatype, MPI_Count count, void *file, MPI_Offset position,
                         void *state)
{
    const struct datarep_record *record = state;

    return convert_data_c(record->read, record, datatype, user, count, file, position);
}

static int write_called_c(void *user, MPI_Datatype datatype, MPI_Count count, void *file, MPI_Offset position,
                          void *state)
{
    const struct datarep_record *record = state;

    return convert_data_c(record->write, record, datatype, user, count, file, position);
}

static int extent_called(MPI_Datatype datatype, MPI_Aint *extent, void *state)
{
    const struct datarep_record *record = state;
    MPI_Aint extra = record->extra;
    int type = PMPI_Type_toint(datatype), ierror = MPI_SUCCESS;

    ((extent_procedure *)record->extent)(&type, extent, &extra, &ierror);
    return ierror;
}

int hl_fort_register_datarep(const char *name, hl_fort_procedure *read, hl_fort_procedure *write,
                             hl_fort_procedure *extent, MPI_Aint extra)
{
    hl_fort_procedure *none = (hl_fort_procedure *)mpi_conversion_fn_null_;
    struct datarep_record record = {read, write, extent, extra};
    const void *kept = hl_fort_record(&datareps, &record, sizeof record);

    if (kept == NULL) {
        return hl_fort_fail("MPI_Register_datarep", MPI_ERR_NO_MEM, "there is no memory");
    }
    return PMPI_Register_datarep(name, read == none ? MPI_CONVERSION_FN_NULL : read_called,
                                 write == none ? MPI_CONVERSION_FN_NULL : write_called, extent_called,
                                 (void *)kept);
}

int hl_fort_register_datarep_c(const char *name, hl_fort_procedure *read, hl_fort_procedure *write,
                               hl_fort_procedure *extent, MPI_Aint extra)
{
    hl_fort_procedure *none = (hl_fort_procedure *)mpi_conversion_fn_null_c_;
    struct datarep_record record = {read, write, extent, extra};
    const void *kept = hl_fort_record(&datareps, &record, sizeof record);

    if (kept == NULL) {
        return hl_fort_fail("MPI_Register_datarep_c", MPI_ERR_NO_MEM, "there is no memory");
    }
    return PMPI_Register_datarep_c(name, read == none ? MPI_CONVERSION_FN_NULL_C : read_called_c,
                                   write == none ? MPI_CONVERSION_FN_NULL_C : write_called_c, extent_called,
                                   (void *)kept);
}
