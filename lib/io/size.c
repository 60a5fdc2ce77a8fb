/* Operations on a whole file: its size, its mode, its pointers. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cause.h"
#include "coll.h"
#include "err.h"
#include "io.h"
#include "util.h"

int hl_file_get_size(const struct hl_file *f, int64_t *size)
{
    struct stat st;

    if (fstat(f->fd, &st) != 0) {
        return hl_io_refused("asking the size", f->name, errno);
    }
    *size = st.st_size;
    return 0;
}

int hl_file_check_places(const struct hl_file *f)
{
    return (f->amode & MPI_MODE_SEQUENTIAL) != 0
               ? hl_err_say(HL_ERR_UNSUPPORTED_OPERATION,
                            "file '%.300s' is open with MPI_MODE_SEQUENTIAL, which has no places and no size "
                            "to change",
                            f->name)
               : 0;
}

static int check_file_size(const struct hl_file *f, int64_t size)
{
    if (size < 0) {
        return hl_err_say(HL_ERR_ARG, "size %lld is negative", (long long)size);
    }
    if ((f->amode & MPI_MODE_RDONLY) != 0) {
        return hl_err_say(HL_ERR_READ_ONLY, "file '%.300s' is open for reading only", f->name);
    }
    return hl_file_check_places(f);
}

/* Rank 0 changes the size for all. */
static int change_size(struct hl_file *f, int64_t size, int (*change)(int fd, int64_t size), const char *what)
{
    int err = check_file_size(f, size);

    err = err != 0 ? err : hl_file_check_split(f);
    err = hl_io_agree_value(f->comm, err, "the size", size);
    if (err != 0) {
        return err;
    }
    int error = f->comm->rank != 0 ? 0 : size > f->most ? EFBIG : change(f->fd, size);
    return hl_io_agree(f->comm, error != 0 ? hl_io_refused(what, f->name, error) : 0);
}

static int truncate_to(int fd, int64_t size)
{
    return TEMP_FAILURE_RETRY(ftruncate(fd, size)) == 0 ? 0 : errno;
}

#define ZEROS ((int64_t)1 << 20)

/* Writes zeros behind the end of the file, up to byte `size`. */
static int write_zeros(int fd, int64_t size)
{
    struct stat st = {0};
    int error = fstat(fd, &st) != 0 ? errno : 0;
    char *zeros = calloc(1, (size_t)ZEROS);

    error = error == 0 && zeros == NULL ? ENOMEM : error;
    for (int64_t at = st.st_size; error == 0 && at < size;) {
        int64_t left = size - at;
        ssize_t n = pwrite(fd, zeros, (size_t)(left < ZEROS ? left : ZEROS), at);
        error = n > 0 ? 0 : n == 0 ? EIO : errno == EINTR ? 0 : errno;
        at += n > 0 ? n : 0;
    }
    free(zeros);
    return error;
}

/* posix_fallocate would read and write back what is there where the file system has no such call; but other
 * ranks may write there, and the file may be open for writing only. */
static int allocate_file(int fd, int64_t size)
{
    int rc;

    do {
        rc = size > 0 ? fallocate(fd, 0, 0, size) : 0;
    } while (rc != 0 && errno == EINTR);
    if (rc == 0) {
        return 0;
    }
    return errno == EOPNOTSUPP || errno == ENOSYS ? write_zeros(fd, size) : errno;
}

int hl_file_set_size(struct hl_file *f, int64_t size)
{
    return change_size(f, size, truncate_to, "changing the size");
}

int hl_file_preallocate(struct hl_file *f, int64_t size)
{
    return change_size(f, size, allocate_file, "taking space");
}

int hl_file_sync(struct hl_file *f)
{
    int err = hl_file_check_split(f);

    if (err != 0) {
        return hl_io_agree(f->comm, err);
    }
    int rc = TEMP_FAILURE_RETRY(fsync(f->fd));
    /* For pipes, terminals and such files there is nothing to sync. */
    return hl_io_agree(
        f->comm, rc != 0 && errno != EINVAL && errno != EROFS ? hl_io_refused("syncing", f->name, errno) : 0);
}

bool hl_file_is_atomic(const struct hl_file *f)
{
    return hl_a32_load_relaxed(&f->atomic) != 0; /* relaxed: changed by a collective call of this rank. */
}

int hl_file_set_atomicity(struct hl_file *f, bool on)
{
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    int err = hl_file_check_split(f);

    if (err == 0 && on && fcntl(f->fd, F_OFD_SETLK, &lock) != 0) {
        err = hl_err_say(
            HL_ERR_UNSUPPORTED_OPERATION,
            "atomic mode needs locks of ranges, which the file system of '%.300s' does not give: %s", f->name,
            strerror(errno));
    }
    err = hl_io_agree_value(f->comm, err, "the atomicity", on);
    if (err == 0) {
        hl_a32_store_relaxed(&f->atomic, on); /* relaxed: changed by a collective call of this rank. */
    }
    return err;
}

struct hl_view *hl_file_view(struct hl_file *f)
{
    hl_mutex_lock(&f->lock);
    struct hl_view *v = f->view;
    hl_view_ref(v);
    hl_mutex_unlock(&f->lock);
    return v;
}

static void put_view(struct hl_file *f, struct hl_view *view)
{
    hl_mutex_lock(&f->lock);
    struct hl_view *old = f->view;
    f->view = view;
    f->at = 0;
    hl_mutex_unlock(&f->lock);
    hl_view_unref(old);
}

/* A hash of the name, which is the same on all ranks; the order of registering may differ. */
static int64_t hash_name(const char *text)
{
    static const uint64_t key[2];

    return (int64_t)hl_siphash(key, text, strlen(text));
}

int hl_file_set_view(struct hl_file *f, int err, struct hl_view *view, const struct hl_info *user)
{
    err = err != 0 ? err : hl_file_check_split(f);
    err = hl_io_agree_value(f->comm, err, "the size of the etype", err == 0 ? view->unit : 0);
    if (err == 0) {
        err = hl_io_agree_value(f->comm, 0, "the hash of the data representation's name",
                                hash_name(view->rep->name));
    }
    if (err != 0) {
        if (view != NULL) {
            hl_view_unref(view);
        }
        return err;
    }
    put_view(f, view);
    if (f->comm->rank == 0) {
        hl_counter_set(f->shared, 0);
    }
    return hl_file_set_hints(f, 0, user); /* it ends when the pointer is set */
}

/* Finds the place that `offset` and `whence` name, from `now`. */
static int find_seek_place(struct hl_file *f, int64_t offset, int whence, int64_t now, int64_t *to)
{
    int64_t from = whence == MPI_SEEK_CUR ? now : 0, size = 0;
    int err = hl_file_check_places(f);

    if (err == 0 && whence == MPI_SEEK_END) {
        struct hl_view *v = hl_file_view(f);
        err = hl_file_get_size(f, &size);
        err = err == 0 ? hl_view_end(v, size, &from) : err;
        hl_view_unref(v);
    } else if (err == 0 && whence != MPI_SEEK_CUR && whence != MPI_SEEK_SET) {
        err = hl_err_say(HL_ERR_ARG, "whence is %d: it must be MPI_SEEK_SET, _CUR or _END", whence);
    }
    if (err == 0 && (__builtin_add_overflow(from, offset, to) || *to < 0)) {
        err = hl_err_say(HL_ERR_ARG, "%lld etypes from place %lld of file '%.300s' are before its view",
                         (long long)offset, (long long)from, f->name);
    }
    return err;
}

int hl_file_seek(struct hl_file *f, int64_t offset, int whence)
{
    int64_t now, to = 0;
    bool moved = false;
    int err = 0;

    while (err == 0 && !moved) { /* again when another thread has moved the pointer meanwhile */
        now = hl_file_tell(f);
        err = find_seek_place(f, offset, whence, now, &to);
        hl_mutex_lock(&f->lock);
        moved = err == 0 && f->at == now;
        f->at = moved ? to : f->at;
        hl_mutex_unlock(&f->lock);
    }
    return err;
}

int64_t hl_file_tell(struct hl_file *f)
{
    hl_mutex_lock(&f->lock);
    int64_t at = f->at;
    hl_mutex_unlock(&f->lock);
    return at;
}

int hl_file_seek_shared(struct hl_file *f, int64_t offset, int whence)
{
    int64_t now = 0, to = 0;
    int err = hl_file_check_places(f);

    err = err != 0 ? err : hl_file_check_split(f);
    err = hl_io_agree_value(f->comm, err, "the direction", whence);
    err = err == 0 ? hl_io_agree_value(f->comm, 0, "the offset", offset) : err;
    if (err != 0) {
        return err;
    }
    if (f->comm->rank == 0) {
        err = hl_counter_add(f->shared, 0, &now);
        err = err == 0 ? find_seek_place(f, offset, whence, now, &to) : err;
        if (err == 0) {
            hl_counter_set(f->shared, to);
        }
    }
    return hl_io_agree(f->comm, err);
}

int hl_file_tell_shared(struct hl_file *f, int64_t *at)
{
    int err = hl_file_check_places(f);

    return err == 0 ? hl_counter_add(f->shared, 0, at) : err;
}

int hl_file_current(struct hl_file *f, int err, int64_t *disp)
{
    int64_t at = 0;

    err = hl_io_agree(f->comm, err); /* from here on nobody moves the pointer */
    if (err == 0 && f->comm->rank == 0) {
        struct hl_view *v = hl_file_view(f);
        err = hl_counter_add(f->shared, 0, &at);
        err = err == 0 ? hl_view_byte(v, at * v->unit, disp) : err;
        hl_view_unref(v);
    }
    err = hl_io_agree(f->comm, err);
    return err == 0 ? hl_io_agree(f->comm, hl_coll_bcast_bytes(f->comm, disp, sizeof *disp, 0)) : err;
}
