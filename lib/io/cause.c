/* Errors of the system, and agreement about them. */
#include "cause.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll.h"
#include "err.h"
#include "type.h"
#include "util.h"

static const struct {
    int error, class_;
} classes[] = {
    {EACCES, HL_ERR_ACCESS},    {EPERM, HL_ERR_ACCESS},        {ENOENT, HL_ERR_NO_SUCH_FILE},
    {ENOTDIR, HL_ERR_BAD_FILE}, {EISDIR, HL_ERR_BAD_FILE},     {ENAMETOOLONG, HL_ERR_BAD_FILE},
    {ELOOP, HL_ERR_BAD_FILE},   {EFAULT, HL_ERR_BUFFER},       {EEXIST, HL_ERR_FILE_EXISTS},
    {EROFS, HL_ERR_READ_ONLY},  {ENOSPC, HL_ERR_NO_SPACE},     {EDQUOT, HL_ERR_QUOTA},
    {EFBIG, HL_ERR_QUOTA},      {ETXTBSY, HL_ERR_FILE_IN_USE}, {EBUSY, HL_ERR_FILE_IN_USE},
    {ENOMEM, HL_ERR_NO_MEM},
};

int hl_io_class(int error)
{
    for (size_t i = 0; i < HL_COUNT_OF(classes); i++) {
        if (classes[i].error == error) {
            return classes[i].class_;
        }
    }
    return HL_ERR_IO;
}

int hl_io_refused(const char *what, const char *name, int error)
{
    char words[128];

    return hl_err_say(hl_io_class(error), "%s failed: %s (errno %d), file '%.300s'", what,
                      strerror_r(error, words, sizeof words), error, name);
}

/* Called when a rank has an error: all get the text of the first rank that has one. */
static HL_NOINLINE int tell_cause(struct hl_comm *comm, int err)
{
    struct {
        int64_t err;
        char words[512]; /* longer than the texts of hl_io_refused */
    } cause = {.err = err};
    int least = 0; /* rank - size of the first rank that failed */

    if (err != 0) {
        snprintf(cause.words, sizeof cause.words, "%s", hl_err_text(err));
    }
    char *own = err != 0 ? strdup(hl_err_text(err)) : NULL;
    int rc = hl_coll_least(comm, err != 0 ? comm->rank - comm->size : 0, &least);
    int first = comm->size + least;
    rc = rc == 0 && least < 0 ? hl_coll_bcast_bytes(comm, &cause, sizeof cause, first) : rc;
    if (err != 0) {
        rc = own != NULL ? hl_err_say(err, "%s", own) : err;
        free(own);
        return rc;
    }
    return rc != 0 ? rc : hl_err_say((int)cause.err, "rank %d of the file: %s", first, cause.words);
}

/* The smallest of all ranks' values. known: they are here, and not only the agreement on them. */
struct findings {
    int64_t least[3];
    bool known;
};

/* The result; 0: no error, and all ranks give the same value. */
enum { DIFFERENT = 1, FAILED };

static int32_t judge_causes(void *findings)
{
    struct findings *f = findings;

    f->known = true;
    /* The smallest complement is the complement of the largest value. */
    return f->least[0] != 0 ? FAILED : f->least[1] != ~f->least[2] ? DIFFERENT : 0;
}

static int refuse_not_same(const struct findings *f, const char *what)
{
    int64_t most = f->least[1], least = ~f->least[2];

    return f->known ? hl_err_say(HL_ERR_NOT_SAME, "%s is %lld on one rank and %lld on another", what,
                                 (long long)most, (long long)least)
                    : hl_err_say(HL_ERR_NOT_SAME, "%s is not the same on all ranks", what);
}

int hl_io_agree_value(struct hl_comm *comm, int err, const char *what, int64_t value)
{
    int64_t mine[3] = {err, err != 0 ? INT64_MAX : value, err != 0 ? INT64_MAX : ~value};
    struct findings f = {.known = false};
    struct hl_type *type = hl_type_of(MPI_INT64_T);
    struct hl_coll_call call = {.what = HL_COLL_ALLREDUCE,
                                .comm = comm,
                                .op = MPI_MIN,
                                .send = {.buf = mine, .count = 3, .type = type},
                                .recv = {.buf = f.least, .count = 3, .type = type}};
    int32_t got = 0;

    if (comm->size == 1) {
        return err;
    }
    char *own = err != 0 ? strdup(hl_err_text(err)) : NULL;
    int rc = hl_coll_settle(&call, judge_causes, &f, &got);
    if (own != NULL) {
        hl_err_say(err, "%s", own);
    }
    free(own);
    if (rc != 0) {
        return err != 0 ? err : rc;
    }
    if (got == FAILED) {
        return tell_cause(comm, err);
    }
    return got == DIFFERENT ? refuse_not_same(&f, what) : 0;
}

int hl_io_agree(struct hl_comm *comm, int err)
{
    return hl_io_agree_value(comm, err, "nothing", 0);
}
