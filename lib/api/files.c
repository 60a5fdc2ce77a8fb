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
        err = hl_err_say(HL_ERR_FILE, "the file is being closed: this is the error handler of that");
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

HL_API(MPI_File_set_size);
int PMPI_File_set_size(MPI_File fh, MPI_Offset size)
{
    struct hl_file *f;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_file_set_size(f, size) : err;
    return hl_api_leave_file(f, "MPI_File_set_size", err);
}

HL_API(MPI_File_preallocate);
int PMPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
    struct hl_file *f;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_file_preallocate(f, size) : err;
    return hl_api_leave_file(f, "MPI_File_preallocate", err);
}

HL_API(MPI_File_get_size);
int PMPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
    struct hl_file *f;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_api_check_out(size, "size") : err;
    err = err == 0 ? hl_file_get_size(f, size) : err;
    return hl_api_leave_file(f, "MPI_File_get_size", err);
}

HL_API(MPI_File_get_group);
int PMPI_File_get_group(MPI_File fh, MPI_Group *group)
{
    struct hl_file *f;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_api_check_out(group, "group") : err;
    if (err == 0) {
        hl_group_ref(f->comm->group);
        *group = hl_group_give(f->comm->group);
    }
    return hl_api_leave_file(f, "MPI_File_get_group", err);
}

HL_API(MPI_File_get_amode);
int PMPI_File_get_amode(MPI_File fh, int *amode)
{
    struct hl_file *f;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_api_check_out(amode, "amode") : err;
    if (err == 0) {
        *amode = f->amode;
    }
    return hl_api_leave_file(f, "MPI_File_get_amode", err);
}

HL_API(MPI_File_set_info);
int PMPI_File_set_info(MPI_File fh, MPI_Info info)
{
    struct hl_file *f;
    struct hl_info *hints = NULL;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    if (err == 0) {
        err = hl_api_get_info(info, &hints);
        err = hl_file_set_hints(f, err, hints);
    }
    return hl_api_leave_file(f, "MPI_File_set_info", err);
}

HL_API(MPI_File_get_info);
int PMPI_File_get_info(MPI_File fh, MPI_Info *info_used)
{
    struct hl_file *f;
    struct hl_info *made = NULL;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_api_check_out(info_used, "info_used") : err;
    err = err == 0 ? hl_file_get_hints(f, &made) : err;
    if (err == 0) {
        *info_used = made->handle;
    }
    return hl_api_leave_file(f, "MPI_File_get_info", err);
}

HL_API(MPI_File_set_atomicity);
int PMPI_File_set_atomicity(MPI_File fh, int flag)
{
    struct hl_file *f;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_file_set_atomicity(f, flag != 0) : err;
    return hl_api_leave_file(f, "MPI_File_set_atomicity", err);
}

HL_API(MPI_File_get_atomicity);
int PMPI_File_get_atomicity(MPI_File fh, int *flag)
{
    struct hl_file *f;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_api_check_out(flag, "flag") : err;
    if (err == 0) {
        *flag = hl_file_is_atomic(f);
    }
    return hl_api_leave_file(f, "MPI_File_get_atomicity", err);
}

HL_API(MPI_File_sync);
int PMPI_File_sync(MPI_File fh)
{
    struct hl_file *f;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_file_sync(f) : err;
    return hl_api_leave_file(f, "MPI_File_sync", err);
}

/* ---- Pointers ---- */

HL_API(MPI_File_seek);
int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
    struct hl_file *f;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_file_seek(f, offset, whence) : err;
    return hl_api_leave_file(f, "MPI_File_seek", err);
}

HL_API(MPI_File_seek_shared);
int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
    struct hl_file *f;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_file_seek_shared(f, offset, whence) : err;
    return hl_api_leave_file(f, "MPI_File_seek_shared", err);
}

HL_API(MPI_File_get_position);
int PMPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
    struct hl_file *f;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_api_check_out(offset, "offset") : err;
    err = err == 0 ? hl_file_check_places(f) : err;
    if (err == 0) {
        *offset = hl_file_tell(f);
    }
    return hl_api_leave_file(f, "MPI_File_get_position", err);
}

HL_API(MPI_File_get_position_shared);
int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
    struct hl_file *f;
    int64_t at = 0;
    int err = hl_api_enter(hl_api_get_file(fh, &f));

    err = err == 0 ? hl_api_check_out(offset, "offset") : err;
    err = err == 0 ? hl_file_tell_shared(f, &at) : err;
    if (err == 0) {
        *offset = at;
    }
    return hl_api_leave_file(f, "MPI_File_get_position_shared", err);
}
