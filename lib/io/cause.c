/* Errors of the system, and agreement about them. */
#include "cause.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "coll.h"
#include "err.h"
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

/* The smallest of all ranks' values, element by element. */
static int smallest(struct hl_comm *comm, const int64_t *mine, int64_t *all, int64_t n)
{
    struct hl_type *type = hl_type_of(MPI_INT64_T);
    struct hl_coll_call call = {.what = HL_COLL_ALLREDUCE,
                                .comm = comm,
                                .op = MPI_MIN,
                                .send = {.buf = (void *)(uintptr_t)mine, .count = n, .type = type},
                                .recv = {.buf = all, .count = n, .type = type}};

    return hl_coll_run(&call);
}

/* Somebody has an error: the first one's words for all. */
static int tell_cause(struct hl_comm *comm, int err)
{
    struct {
        int64_t err;
        char words[HL_ERR_TEXT];
    } cause = {.err = err};
    int64_t mine = err != 0 ? comm->rank : comm->size, first;
    int rc;

    if (err != 0) {
        snprintf(cause.words, sizeof cause.words, "%s", hl_err_text(err));
    }
    char own[sizeof cause.words];
    memcpy(own, cause.words, sizeof own);
    rc = smallest(comm, &mine, &first, 1);
    rc = rc == 0 && first < comm->size ? hl_coll_bcast_bytes(comm, &cause, sizeof cause, (int)first) : rc;
    if (err != 0) {
        return hl_err_say(err, "%s", own);
    }
    return rc != 0 ? rc : hl_err_say((int)cause.err, "rank %d of the file: %s", (int)first, cause.words);
}

int hl_io_agree_value(struct hl_comm *comm, int err, const char *what, int64_t value)
{
    /* The complement's smallest is the largest's complement. */
    int64_t mine[3] = {err, err != 0 ? INT64_MAX : value, err != 0 ? INT64_MAX : ~value}, all[3];

    if (comm->size == 1) {
        return err;
    }
    char own[HL_ERR_TEXT];
    snprintf(own, sizeof own, "%s", err != 0 ? hl_err_text(err) : "");
    int rc = smallest(comm, mine, all, 3);
    if (err != 0) {
        hl_err_say(err, "%s", own);
    }
    if (rc != 0) {
        return err != 0 ? err : rc;
    }
    if (all[0] != 0) {
        return tell_cause(comm, err);
    }
    int64_t most = all[1], least = ~all[2];
    return most == least ? 0
                         : hl_err_say(HL_ERR_NOT_SAME, "%s is %lld on one rank and %lld on another", what,
                                      (long long)most, (long long)least);
}

int hl_io_agree(struct hl_comm *comm, int err)
{
    return hl_io_agree_value(comm, err, "nothing", 0);
}
