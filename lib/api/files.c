/* Files: opening, closing, size and other properties, file pointers. */
#include "files.h"

#include <stdio.h>
#include <string.h>

#include "api.h"
#include "args.h"

int hl_api_get_file(MPI_File handle, struct hl_file **f)
{
    *f = hl_file_of(handle);
    return *f != NULL ? 0 : hl_err_say_none(HL_ERR_FILE, "file", handle);
}

const char *hl_api_file_words(const struct hl_file *f, char what[HL_API_FILE_WORDS])
{
    snprintf(what, HL_API_FILE_WORDS, f != NULL ? "file '%.300s'" : "MPI_FILE_NULL",
             f != NULL ? f->name : "");
    return what;
}

static int end_file(struct hl_file *f, const char *func, int err)
{
    char what[HL_API_FILE_WORDS];
    MPI_File handle = f != NULL ? hl_file_handle(f) : MPI_FILE_NULL;
    struct hl_errh_site site = {f != NULL ? &f->errh : hl_file_null_errh(), HL_ERRH_FILE, &handle, NULL};

    if (HL_LIKELY(err == 0)) {
        return MPI_SUCCESS;
    }
    if (f != NULL) {
        site.what = hl_api_file_words(f, what);
    }
    return hl_errh_raise(&site, func, err);
}

int hl_api_leave_file(struct hl_file *f, const char *func, int err)
{
    int code = end_file(f, func, err);

    hl_cs_out(HL_CS_call, NULL);
    return code;
}

static int raise_file_request(void *file, const char *func, int err)
{
    return end_file(file, func, err);
}

/* ---- Opening and closing ---- */

HL_API(MPI_File_open);
int PMPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    struct hl_comm *c;
    struct hl_info *hints = NULL;
    struct hl_file *f = NULL;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? hl_api_check_intra(c) : err;
    if (err != 0) {
        return hl_api_leave_file(NULL, "MPI_File_open", err);
    }
    err = hl_api_check_out(filename, "filename");
    err = err == 0 ? hl_api_check_out(fh, "fh") : err;
    err = err == 0 ? hl_api_get_info(info, &hints) : err;
    struct hl_file_ask ask = {err, filename, amode, hints};
    err = hl_file_open(c, &ask, &f);
    if (err == 0) {
        f->comm->raise = raise_file_request;
        f->comm->owner = f;
    }
    if (hl_is_address(fh)) {
        *fh = err == 0 ? hl_file_handle(f) : MPI_FILE_NULL;
    }
    return hl_api_leave_file(NULL, "MPI_File_open", err);
}

HL_API(MPI_File_close);
int PMPI_File_close(MPI_File *fh)
{
    struct hl_file *f = NULL;
    int err = hl_api_enter(hl_api_check_out(fh, "fh"));

    err = err == 0 ? hl_api_get_file(*fh, &f) : err;
    if (err == 0 && f->fd < 0) {
        err = hl_err_say(HL_ERR_FILE,
                         "MPI_File_close has begun for this file: its error handler cannot close it again");
    }
    if (err != 0) {
        return hl_api_leave_file(NULL, "MPI_File_close", err);
    }
    err = hl_file_may_close(f);
    if (err != 0) {
        return hl_api_leave_file(f, "MPI_File_close", err);
    }
    int code = end_file(f, "MPI_File_close", hl_file_close(f));
    hl_file_free(f);
    *fh = MPI_FILE_NULL;
    hl_cs_out(HL_CS_call, NULL);
    return code;
}

HL_API(MPI_File_delete);
int PMPI_File_delete(const char *filename, MPI_Info info)
{
    struct hl_info *hints;
    int err = hl_api_enter(hl_api_check_open());

    err = err == 0 ? hl_api_check_out(filename, "filename") : err;
    err = err == 0 ? hl_api_get_info(info, &hints) : err;
    err = err == 0 ? hl_file_delete(filename) : err;
    return hl_api_leave_file(NULL, "MPI_File_delete", err);
}

/* ---- The file as a whole ---- */

static int set_file_info(struct hl_file *f, MPI_Info info)
{
    struct hl_info *hints = NULL;
    int err = hl_api_get_info(info, &hints);

    return hl_file_set_hints(f, err, hints);
}

static int give_file_info(struct hl_file *f, MPI_Info *info)
{
    struct hl_info *made = NULL;

    return hl_api_give_info(hl_file_get_hints(f, &made), &made, info);
}

HL_CALL_FILE(MPI_File_set_size, (MPI_File fh, MPI_Offset size), 0, hl_file_set_size(f, size))
HL_CALL_FILE(MPI_File_preallocate, (MPI_File fh, MPI_Offset size), 0, hl_file_preallocate(f, size))
HL_CALL_FILE(MPI_File_get_size, (MPI_File fh, MPI_Offset *size), hl_api_check_out(size, "size"),
             hl_file_get_size(f, size))
HL_CALL_FILE(MPI_File_get_group, (MPI_File fh, MPI_Group *group), 0, hl_api_give_group(f->comm->group, group))
HL_CALL_FILE(MPI_File_get_amode, (MPI_File fh, int *amode), 0, hl_api_give(amode, "amode", f->amode))
HL_CALL_FILE(MPI_File_set_info, (MPI_File fh, MPI_Info info), 0, set_file_info(f, info))
HL_CALL_FILE(MPI_File_get_info, (MPI_File fh, MPI_Info *info_used), hl_api_check_out(info_used, "info_used"),
             give_file_info(f, info_used))
HL_CALL_FILE(MPI_File_set_atomicity, (MPI_File fh, int flag), 0, hl_file_set_atomicity(f, flag != 0))
HL_CALL_FILE(MPI_File_get_atomicity, (MPI_File fh, int *flag), 0,
             hl_api_give(flag, "flag", hl_file_is_atomic(f)))
HL_CALL_FILE(MPI_File_sync, (MPI_File fh), 0, hl_file_sync(f))

/* ---- Pointers ---- */

static int give_position(struct hl_file *f, MPI_Offset *offset)
{
    int err = hl_file_check_places(f);

    return err == 0 ? hl_api_give_count(offset, "offset", hl_file_tell(f)) : err;
}

HL_CALL_FILE(MPI_File_seek, (MPI_File fh, MPI_Offset offset, int whence), 0, hl_file_seek(f, offset, whence))
HL_CALL_FILE(MPI_File_seek_shared, (MPI_File fh, MPI_Offset offset, int whence), 0,
             hl_file_seek_shared(f, offset, whence))
HL_CALL_FILE(MPI_File_get_position, (MPI_File fh, MPI_Offset *offset), hl_api_check_out(offset, "offset"),
             give_position(f, offset))
HL_CALL_FILE(MPI_File_get_position_shared, (MPI_File fh, MPI_Offset *offset),
             hl_api_check_out(offset, "offset"), hl_file_tell_shared(f, offset))
