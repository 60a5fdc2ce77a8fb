/* Data access: checks, finding the place, atomic mode, moving. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "access.h"
#include "cause.h"
#include "err.h"
#include "move.h"

int hl_file_check(const struct hl_file *f, const struct hl_io_call *c)
{
    if ((f->amode & MPI_MODE_SEQUENTIAL) != 0 && (c->where == HL_IO_AT || c->where == HL_IO_OWN)) {
        return hl_err_say(HL_ERR_UNSUPPORTED_OPERATION,
                          "file '%.300s' is open with MPI_MODE_SEQUENTIAL, which allows only calls with the "
                          "shared file pointer (MPI_File_read_shared and its kin)",
                          f->name);
    }
    if (c->write && (f->amode & MPI_MODE_RDONLY) != 0) {
        return hl_err_say(HL_ERR_READ_ONLY, "file '%.300s' is open for reading only", f->name);
    }
    if (!c->write && (f->amode & MPI_MODE_WRONLY) != 0) {
        return hl_err_say(HL_ERR_ACCESS, "file '%.300s' is open for writing only", f->name);
    }
    return c->where == HL_IO_AT && c->offset < 0
               ? hl_err_say(HL_ERR_ARG, "offset %lld is negative", (long long)c->offset)
               : 0;
}

int hl_io_check_place(const struct hl_view *v, int64_t at, int64_t etypes)
{
    int64_t byte;

    if (at < 0 || __builtin_mul_overflow(at, v->unit, &byte)) {
        return hl_err_say(HL_ERR_ARG, "etype %lld of the view is beyond the largest file", (long long)at);
    }
    return etypes == 0 ? 0 : hl_view_check(v, byte, etypes * v->unit);
}

/* Sets the job's place to etype `at` of the view. */
static int put_place(struct hl_io_job *j, int64_t at)
{
    int err = hl_io_check_place(j->view, at, j->bytes / j->view->unit);

    j->at = err == 0 ? at * j->view->unit : 0;
    return err;
}

/* Takes the place from the call's offset or pointer, and moves the pointer on if data can be there. */
static int place_access(struct hl_file *f, const struct hl_io_call *c, int64_t etypes, struct hl_io_job *j)
{
    int64_t at = 0;
    int err;

    if (c->where == HL_IO_OWN) {
        hl_mutex_lock(&f->lock);
        err = put_place(j, f->at);
        f->at += err == 0 ? etypes : 0;
        hl_mutex_unlock(&f->lock);
    } else if (c->where == HL_IO_SHARED) {
        err = hl_io_check_place(j->view, 0, etypes); /* if not even there, others shall not see them added */
        err = err == 0 ? hl_counter_add(f->shared, etypes, &at) : err;
        if (err == 0) {
            err = put_place(j, at);
            int back = err == 0 ? 0 : hl_counter_add(f->shared, -etypes, &at);
            err = back != 0 ? back : err;
        }
    } else {
        err = put_place(j, c->offset);
    }
    return err;
}

int hl_io_etypes(const struct hl_view *v, const struct hl_io_call *c, int64_t *etypes)
{
    int64_t here = 0;
    int err = hl_view_etypes(v, c->type, c->count, etypes);

    if (err != 0 || hl_rep_converts(v->rep, c->write)) {
        return err;
    }
    int64_t there = *etypes * v->unit;
    return hl_type_bytes(c->type, c->count, &here) && here == there
               ? 0
               : hl_err_say(HL_ERR_CONVERSION,
                            "representation '%s' has no function for %s, and its extent function makes %lld "
                            "bytes of these %lld",
                            v->rep->name, c->write ? "writing" : "reading", (long long)there,
                            (long long)here);
}

int hl_io_plan(struct hl_file *f, const struct hl_io_call *c, struct hl_io_job *j)
{
    int64_t etypes = 0;

    j->view = hl_file_view(f);
    int err = hl_io_etypes(j->view, c, &etypes);
    j->bytes = etypes * j->view->unit;
    err = err == 0 ? place_access(f, c, etypes, j) : err;
    if (err != 0) {
        hl_view_unref(j->view);
    }
    return err;
}

/* ---- atomic mode: one lock from the first byte to the last, holes included ---- */

static int set_lock(struct hl_file *f, short type, int64_t first, int64_t len)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = first, .l_len = len};
    int rc = TEMP_FAILURE_RETRY(fcntl(f->fd, F_OFD_SETLKW, &lock));

    return rc == 0 ? 0 : hl_io_refused("locking a range", f->name, errno);
}

static int run_job(struct hl_file *f, const struct hl_io_call *c, const struct hl_io_job *j, int64_t *bytes)
{
    struct hl_io_move m;
    struct hl_io_span span = {j->view, j->at, j->bytes, c->type, c->count, 0, c->buf};

    if (hl_rep_converts(j->view->rep, c->write)) {
        return hl_io_convert(f, c, j, bytes);
    }
    int err = hl_io_move_init(&m, f, c->write, &span);
    if (err != 0) {
        return err;
    }
    while (!hl_io_move_step(&m, INT64_MAX)) {
    }
    *bytes = m.done;
    hl_io_move_fini(&m);
    return m.err;
}

static int run_alone(struct hl_file *f, const struct hl_io_call *c, const struct hl_io_job *j, int64_t *bytes)
{
    int64_t first = 0, end = 0;
    int err = hl_view_range(j->view, j->at, j->bytes, &first, &end);

    if (err != 0) {
        return err;
    }
    hl_mutex_lock(&f->one);
    err = set_lock(f, c->write ? F_WRLCK : F_RDLCK, first, end - first);
    if (err == 0) {
        err = run_job(f, c, j, bytes);
        int left = set_lock(f, F_UNLCK, first, end - first);
        err = err != 0 ? err : left;
    }
    hl_mutex_unlock(&f->one);
    return err;
}

int hl_io_run(struct hl_file *f, const struct hl_io_call *c, const struct hl_io_job *j, int64_t *bytes)
{
    *bytes = 0;
    if (j->bytes == 0) {
        return 0;
    }
    return hl_file_is_atomic(f) ? run_alone(f, c, j, bytes) : run_job(f, c, j, bytes);
}

int hl_file_move(struct hl_file *f, const struct hl_io_call *c, int64_t *bytes)
{
    struct hl_io_job j;
    int err = hl_io_plan(f, c, &j);

    *bytes = 0;
    if (err == 0) {
        err = hl_io_run(f, c, &j, bytes);
        hl_view_unref(j.view);
    }
    return err;
}
