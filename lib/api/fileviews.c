/* Files: views, data representations, error handlers. */
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "args.h"
#include "files.h"

/* Checks a view's arguments and fills *ask; MPI_DISPLACEMENT_CURRENT stays in ask->disp. */
static int check_view(const struct hl_file *f, struct hl_view_ask *ask, const char *datarep)
{
    bool sequential = (f->amode & MPI_MODE_SEQUENTIAL) != 0;

    ask->rep = hl_rep_of(datarep);
    ask->writes = (f->amode & MPI_MODE_RDONLY) == 0;
    if (ask->rep == NULL) {
        return hl_err_say(HL_ERR_UNSUPPORTED_DATAREP,
                          "there is no data representation '%.*s': native, internal and external32 are "
                          "there, and what MPI_Register_datarep has added",
                          MPI_MAX_DATAREP_STRING, datarep);
    }
    return sequential == (ask->disp == MPI_DISPLACEMENT_CURRENT) ? 0
           : sequential
               ? hl_err_say(HL_ERR_DISP,
                            "disp is %lld: a file opened with MPI_MODE_SEQUENTIAL takes only "
                            "MPI_DISPLACEMENT_CURRENT",
                            (long long)ask->disp)
               : hl_err_say(
                     HL_ERR_DISP,
                     "disp is MPI_DISPLACEMENT_CURRENT, which needs a file opened with MPI_MODE_SEQUENTIAL");
}

HL_API(MPI_File_set_view);
int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                       const char *datarep, MPI_Info info)
{
    struct hl_file *f;
    struct hl_info *hints = NULL;
    struct hl_view *v = NULL;
    struct hl_view_ask ask = {.disp = disp};
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    if (err == 0) {
        err = hl_api_get_committed(etype, &ask.etype);
        err = err == 0 ? hl_api_get_committed(filetype, &ask.filetype) : err;
        err = err == 0 ? hl_api_check_out(datarep, "datarep") : err;
        err = err == 0 ? hl_api_get_info(info, &hints) : err;
        err = err == 0 ? check_view(f, &ask, datarep) : err;
        if ((f->amode & MPI_MODE_SEQUENTIAL) != 0) {
            err = hl_file_current(f, err, &ask.disp);
        }
        err = err == 0 ? hl_view_make(&ask, &v) : err;
        err = hl_file_set_view(f, err, v, hints);
    }
    return hl_api_leave_file(f, "MPI_File_set_view", err);
}

/* Gives the user a handle of a type: a predefined one itself, of others a duplicate that is known as such. */
static int give_type(struct hl_type *t, MPI_Datatype *out)
{
    struct hl_type *made = t;
    struct hl_type_args args = {.combiner = MPI_COMBINER_DUP, .n_types = 1, .types = &t};
    int err = t->predefined ? 0 : hl_type_make_dup(t, &made);

    if (err == 0 && !t->predefined) {
        err = hl_type_keep_args(made, &args);
        if (err != 0) {
            hl_type_free(made);
        }
    }
    if (err == 0) {
        *out = made->handle;
    }
    return err;
}

HL_API(MPI_File_get_view);
int PMPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
                       char *datarep)
{
    struct hl_file *f;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_api_check_out(disp, "disp") : err;
    err = err == 0 ? hl_api_check_out(etype, "etype") : err;
    err = err == 0 ? hl_api_check_out(filetype, "filetype") : err;
    err = err == 0 ? hl_api_check_out(datarep, "datarep") : err;
    if (err == 0) {
        struct hl_view *v = hl_file_view(f);
        *disp = v->disp;
        err = give_type(v->etype, etype);
        err = err == 0 ? give_type(v->filetype, filetype) : err;
        snprintf(datarep, MPI_MAX_DATAREP_STRING, "%s", v->rep->name);
        hl_view_unref(v);
    }
    return hl_api_leave_file(f, "MPI_File_get_view", err);
}

HL_API(MPI_File_get_byte_offset);
int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
    struct hl_file *f;
    int64_t at = 0, place = 0;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_api_check_out(disp, "disp") : err;
    err = err == 0 ? hl_file_check_places(f) : err;
    if (err == 0) {
        struct hl_view *v = hl_file_view(f);
        if (offset < 0 || __builtin_mul_overflow(offset, v->unit, &at)) {
            err = hl_err_say(HL_ERR_ARG, "offset %lld is negative or beyond the largest file",
                             (long long)offset);
        }
        err = err == 0 ? hl_view_byte(v, at, &place) : err;
        hl_view_unref(v);
    }
    if (err == 0) {
        *disp = place;
    }
    return hl_api_leave_file(f, "MPI_File_get_byte_offset", err);
}

static int type_extent(struct hl_file *f, MPI_Datatype datatype, int64_t *extent)
{
    struct hl_type *t, *tile = NULL;
    int err = hl_api_get_type(datatype, &t);

    if (err != 0) {
        return err;
    }
    struct hl_view *v = hl_file_view(f);
    err = hl_rep_tile(v->rep, t, &tile);
    if (err == 0) {
        *extent = hl_type_extent(tile);
        hl_type_unref(tile);
    }
    hl_view_unref(v);
    return err;
}

HL_CALL_FILE(MPI_File_get_type_extent, (MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent),
             hl_api_check_out(extent, "extent"), type_extent(f, datatype, extent))
HL_CALL_FILE(MPI_File_get_type_extent_c, (MPI_File fh, MPI_Datatype datatype, MPI_Count *extent),
             hl_api_check_out(extent, "extent"), type_extent(f, datatype, extent))

/* ---- Representations of the program's own ---- */

static int register_rep(const char *func, const char *datarep, const struct hl_rep_fns *fns)
{
    int err = hl_api_enter(hl_api_check_open());

    err = err == 0 ? hl_api_check_out(datarep, "datarep") : err;
    err = err == 0 ? hl_api_check_out((const void *)(uintptr_t)fns->extent, "dtype_file_extent_fn") : err;
    err = err == 0 ? hl_rep_register(datarep, fns) : err;
    return hl_api_leave_file(NULL, func, err);
}

HL_API(MPI_Register_datarep);
int PMPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
                          MPI_Datarep_conversion_function *write_conversion_fn,
                          MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    struct hl_rep_fns fns = {.read = read_conversion_fn,
                             .write = write_conversion_fn,
                             .extent = dtype_file_extent_fn,
                             .state = extra_state};

    return register_rep("MPI_Register_datarep", datarep, &fns);
}

HL_API(MPI_Register_datarep_c);
int PMPI_Register_datarep_c(const char *datarep, MPI_Datarep_conversion_function_c *read_conversion_fn,
                            MPI_Datarep_conversion_function_c *write_conversion_fn,
                            MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    struct hl_rep_fns fns = {.large = true,
                             .read_c = read_conversion_fn,
                             .write_c = write_conversion_fn,
                             .extent = dtype_file_extent_fn,
                             .state = extra_state};

    return register_rep("MPI_Register_datarep_c", datarep, &fns);
}

/* ---- Error handlers ---- */

/* Finds a file's error handler; MPI_FILE_NULL has one, too, with *f NULL. */
static int get_slot(MPI_File handle, struct hl_file **f, struct hl_errh ***slot)
{
    *f = NULL;
    int err = handle == MPI_FILE_NULL ? hl_api_check_open() : hl_api_get_file(handle, f);

    *slot = *f != NULL ? &(*f)->errh : hl_file_null_errh();
    return err;
}

HL_API(MPI_File_create_errhandler);
int PMPI_File_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn, MPI_Errhandler *errhandler)
{
    return hl_api_make_errh("MPI_File_create_errhandler", HL_ERRH_FILE, (hl_errh_fn *)file_errhandler_fn,
                            "file_errhandler_fn", errhandler);
}

HL_API(MPI_File_set_errhandler);
int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{
    struct hl_file *f;
    struct hl_errh **slot;
    int err = hl_api_enter(get_slot(file, &f, &slot));

    err = err == 0 ? hl_api_set_errh(slot, HL_ERRH_FILE, errhandler) : err;
    return hl_api_leave_file(f, "MPI_File_set_errhandler", err);
}

HL_API(MPI_File_get_errhandler);
int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
{
    struct hl_file *f;
    struct hl_errh **slot;
    int err = hl_api_enter(get_slot(file, &f, &slot));

    err = err == 0 ? hl_api_give_errh(slot, errhandler) : err;
    return hl_api_leave_file(f, "MPI_File_get_errhandler", err);
}

HL_API(MPI_File_call_errhandler);
int PMPI_File_call_errhandler(MPI_File fh, int errorcode)
{
    struct hl_file *f;
    struct hl_errh **slot;
    int err = hl_api_enter(get_slot(fh, &f, &slot));

    if (err == 0) {
        char what[HL_API_FILE_WORDS];
        struct hl_errh_site site = {slot, HL_ERRH_FILE, &fh, hl_api_file_words(f, what)};
        hl_errh_call(&site, "MPI_File_call_errhandler", errorcode);
    }
    return hl_api_leave_file(f, "MPI_File_call_errhandler", err);
}
