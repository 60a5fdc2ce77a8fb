/* Opening, closing and deleting files. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cause.h"
#include "coll.h"
#include "err.h"
#include "io.h"
#include "prog.h"

_Static_assert(sizeof(struct hl_file) <= HL_HANDLE_SIZE, "a file fits the place of a handle");

static struct hl_errh *null_errh;

static void init_null_errh(void)
{
    hl_errh_set(&null_errh, HL_ERRH_FILE, hl_errh_of(MPI_ERRORS_RETURN));
}

struct hl_errh **hl_file_null_errh(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, init_null_errh);
    return &null_errh;
}

#define ACCESS (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR)
#define KNOWN                                                                                                \
    (ACCESS | MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN |            \
     MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND)

static int check_amode(int amode)
{
    int access = amode & ACCESS;

    if ((amode & ~KNOWN) != 0 || access == 0 || (access & (access - 1)) != 0) {
        return hl_err_say(HL_ERR_AMODE,
                          "mode %d must have one of MPI_MODE_RDONLY, _WRONLY and _RDWR and no unknown bits",
                          amode);
    }
    if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0) {
        return hl_err_say(HL_ERR_AMODE, "MPI_MODE_RDONLY excludes MPI_MODE_CREATE and MPI_MODE_EXCL");
    }
    if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0) {
        return hl_err_say(HL_ERR_AMODE, "MPI_MODE_RDWR excludes MPI_MODE_SEQUENTIAL");
    }
    return 0;
}

/* Checks, before anything is touched, that all ranks ask for the same. */
static int check_same_ask(struct hl_comm *comm, const struct hl_file_ask *ask)
{
    int err = ask->err != 0 ? ask->err : check_amode(ask->amode);

    if (err == 0 && *ask->name == '\0') {
        err = hl_err_say(HL_ERR_BAD_FILE, "the file name is empty");
    }
    err = err == 0 ? hl_coll_guard(comm) : err;
    err = hl_io_agree_value(comm, err, "the mode", ask->amode);
    return err == HL_ERR_NOT_SAME ? hl_err_say(HL_ERR_AMODE, "%s", hl_err_text(err)) : err;
}

static int read_permissions(const struct hl_info *info)
{
    char value[MPI_MAX_INFO_VAL], *end = value;
    int len;

    if (!hl_info_hint(info, "file_perm", value, sizeof value, &len)) {
        return 0666;
    }
    long mode = strtol(value, &end, 8);
    return *end == '\0' && end != value && mode >= 0 && mode <= 07777 ? (int)mode : 0666;
}

static int refuse_stream(const char *name, const char *what)
{
    return hl_err_say(
        HL_ERR_UNSUPPORTED_OPERATION,
        "file '%.300s' is %s, which has no places to read or write at, also with MPI_MODE_SEQUENTIAL", name,
        what);
}

/* Refuses pipes and sockets before they are opened, since opening would wait for the other end. */
static int check_kind(const char *name)
{
    struct stat st;
    bool known = stat(name, &st) == 0;

    if (known && S_ISFIFO(st.st_mode)) {
        return refuse_stream(name, "a pipe");
    }
    return known && S_ISSOCK(st.st_mode) ? refuse_stream(name, "a socket") : 0;
}

/* What rank 0 knows of a file that all ranks open. */
struct file_making {
    bool made;    /* by this rank */
    bool lent;    /* the owner got permission to read and write, which the file shall not keep */
    mode_t perms; /* that it shall have */
};

static int open_by_flags(const struct hl_file *f, int flags, const struct hl_info *info)
{
    return (int)TEMP_FAILURE_RETRY(open(f->name, flags | O_CLOEXEC | O_NOCTTY, read_permissions(info)));
}

/* Makes the file, or opens that which is there. The rank that makes a file may write to it, but the others,
 * which find it, need the permissions. */
static void make_or_open(struct hl_file *f, const struct hl_file_ask *ask, int flags, struct file_making *m)
{
    struct stat st;

    f->fd = open_by_flags(f, flags | O_CREAT | O_EXCL, ask->info);
    m->made = f->fd >= 0;
    if (!m->made && (f->amode & MPI_MODE_EXCL) == 0) {
        f->fd = open_by_flags(f, flags | O_CREAT, ask->info);
    }
    if (m->made && f->comm->size > 1 && fstat(f->fd, &st) == 0 && (~st.st_mode & 0600) != 0) {
        m->perms = st.st_mode & 07777;
        m->lent = fchmod(f->fd, m->perms | 0600) == 0; /* if not, the others tell */
    }
}

static int take_permissions(const struct hl_file *f, const struct file_making *m)
{
    return !m->lent || fchmod(f->fd, m->perms) == 0 ? 0
                                                    : hl_io_refused("setting permissions", f->name, errno);
}

/* 0 if `path` names the open file, -1 if another one; else errno. */
static int compare_path(const struct hl_file *f, const char *path, struct stat *file)
{
    struct stat there;

    if (fstat(f->fd, file) != 0 || lstat(path, &there) != 0) {
        return errno;
    }
    return file->st_dev == there.st_dev && file->st_ino == there.st_ino ? 0 : -1;
}

/* Deletes the file that this rank has made, unless somebody has data in it. */
static void undo_making(const struct hl_file *f)
{
    struct stat file;

    if (compare_path(f, f->name, &file) == 0 && file.st_size == 0) {
        unlink(f->name);
    }
}

/* Opens the file for this rank. `m`: it is rank 0, for which CREATE, EXCL and DELETE_ON_CLOSE count; else
 * NULL. */
static int open_here(struct hl_file *f, const struct hl_file_ask *ask, struct file_making *m)
{
    struct stat st;
    int flags = (f->amode & MPI_MODE_RDWR) != 0     ? O_RDWR
                : (f->amode & MPI_MODE_WRONLY) != 0 ? O_WRONLY
                                                    : O_RDONLY;
    int err = check_kind(f->name);

    if (err != 0) {
        return err;
    }
    if (m != NULL && (f->amode & MPI_MODE_CREATE) != 0) {
        make_or_open(f, ask, flags, m);
    } else {
        f->fd = open_by_flags(f, flags, NULL);
    }
    if (f->fd < 0) {
        return hl_io_refused("opening", f->name, errno);
    }
    if (fstat(f->fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        return hl_io_refused("opening", f->name, EISDIR);
    }
    if (lseek(f->fd, 0, SEEK_CUR) < 0 && errno == ESPIPE) {
        return refuse_stream(f->name, isatty(f->fd) ? "a terminal" : "this device");
    }
    if (m != NULL && (f->amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
        f->path = realpath(f->name, NULL);
        return f->path != NULL ? 0 : hl_io_refused("finding the place", f->name, errno);
    }
    return 0;
}

static int prepare_file(struct hl_file *f, const struct hl_file_ask *ask)
{
    struct hl_type *byte = hl_type_of(MPI_BYTE);
    struct rlimit limit;

    f->fd = -1;
    f->amode = ask->amode;
    f->shared = NULL;
    f->lock = f->one = (struct hl_mutex)HL_MUTEX_INIT;
    f->most = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < INT64_MAX ? (int64_t)limit.rlim_cur
                                                                                 : INT64_MAX;
    hl_errh_copy(&f->errh, hl_file_null_errh());
    f->name = strdup(ask->name);
    if (f->name == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a file");
    }
    struct hl_view_ask bytes = {.etype = byte, .filetype = byte, .rep = hl_rep_of("native")};
    return hl_view_make(&bytes, &f->view);
}

void hl_file_free(struct hl_file *f)
{
    hl_counter_close(f->shared);
    if (f->fd >= 0) {
        close(f->fd);
    }
    if (f->view != NULL) {
        hl_view_unref(f->view);
    }
    hl_errh_set(&f->errh, HL_ERRH_FILE, NULL);
    hl_info_free(f->info);
    free(f->name);
    free(f->path);
    struct hl_comm *comm = f->comm;
    hl_handle_free(f);
    hl_comm_free(comm);
}

/* Sets both pointers to the end of the file. */
static int begin_at_end(struct hl_file *f)
{
    int64_t size = 0;
    int err = hl_file_get_size(f, &size);

    f->at = size;
    if (err == 0 && f->comm->rank == 0) {
        hl_counter_set(f->shared, size);
    }
    return hl_io_agree(f->comm, err);
}

static int make_pointer(struct hl_file *f, int err)
{
    err = hl_io_agree(f->comm, err == 0 ? hl_counter_make(f->comm, &f->shared) : err);
    if (err != 0 || f->comm->size == 1) {
        return err;
    }
    struct hl_counter_card *card = hl_counter_card(f->shared);
    return hl_io_agree(f->comm, hl_coll_bcast_bytes(f->comm, card, sizeof *card, 0));
}

/* Rank 0 makes the file, then the others find it. */
static int open_all(struct hl_file *f, const struct hl_file_ask *ask, int err)
{
    bool first = f->comm->rank == 0;
    struct file_making m = {.made = false};

    err = hl_io_agree(f->comm, err == 0 && first ? open_here(f, ask, &m) : err);
    if (err == 0) {
        err = hl_io_agree(f->comm, first ? 0 : open_here(f, ask, NULL));
    }
    int lent = take_permissions(f, &m);
    err = err == 0 ? make_pointer(f, lent) : err;
    err = err == 0 ? hl_file_set_hints(f, 0, ask->info) : err;
    err = err == 0 && (f->amode & MPI_MODE_APPEND) != 0 ? begin_at_end(f) : err;
    if (err != 0 && m.made) {
        undo_making(f);
    }
    return err;
}

int hl_file_open(struct hl_comm *comm, const struct hl_file_ask *ask, struct hl_file **made)
{
    struct hl_comm *own = NULL;
    int err = check_same_ask(comm, ask);

    err = err == 0 ? hl_io_agree(comm, hl_coll_comm_dup(comm, &own)) : err;
    if (err != 0) {
        if (own != NULL) {
            hl_comm_free(own);
        }
        return err;
    }
    struct hl_file *f = hl_handle_new(HL_KIND_FILE), none = {.fd = -1};
    bool out = f == NULL;
    f = out ? &none : f;
    f->comm = own;
    err = open_all(f, ask,
                   out ? hl_err_say(HL_ERR_NO_MEM, "no handle is left for a file: close some")
                       : prepare_file(f, ask));
    if (err == 0) {
        *made = f;
    } else if (out) {
        hl_comm_free(own);
    } else {
        hl_file_free(f);
    }
    return err;
}

static bool is_no_access_open(void *file)
{
    struct hl_file *f = file;

    return hl_a32_load_acquire(&f->open) == 0; /* acquire: pairs with the subtraction in land_access. */
}

static void describe_open(const void *file, struct hl_wait_desc *t)
{
    hl_desc_say(t, "nonblocking accesses to %s", ((const struct hl_file *)file)->name);
}
HL_HANG_WORDS(is_no_access_open, describe_open);

int hl_file_may_close(struct hl_file *f)
{
    return hl_io_agree(f->comm, hl_file_check_split(f));
}

/* Checks that the open file's path still names that file. This must be asked while it is open, when no other
 * file can have its inode number. */
static int check_path(const struct hl_file *f)
{
    struct stat file;
    int rc = compare_path(f, f->path, &file);

    return rc > 0   ? hl_io_refused("deleting", f->path, rc)
           : rc < 0 ? hl_err_say(HL_ERR_NO_SUCH_FILE,
                                 "'%.300s' is another file now than the one that is to be deleted", f->path)
                    : 0;
}

int hl_file_close(struct hl_file *f)
{
    int err = 0, gone = 0;

    hl_prog_wait(is_no_access_open, f);
    if (f->path != NULL) {
        gone = check_path(f);
    }
    if (close(f->fd) != 0 && errno != EINTR) {
        err = hl_io_refused("closing", f->name, errno);
    }
    f->fd = -1;
    err = hl_io_agree(f->comm, err); /* from here on nobody adds to the shared pointer */
    if ((f->amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
        gone = hl_io_agree(f->comm, gone == 0 && f->path != NULL ? hl_file_delete(f->path) : gone);
        err = err != 0 ? err : gone;
    }
    return err;
}

int hl_file_delete(const char *name)
{
    return unlink(name) == 0 ? 0 : hl_io_refused("deleting", name, errno);
}
