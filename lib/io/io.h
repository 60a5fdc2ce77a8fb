/* Files: opening them together, views, and data access by preadv and pwritev.
 *
 * Every rank opens the file for itself and moves its own spans; no data is gathered on some ranks first.
 * Ranks share a communicator of the file's own, and a number at rank 0 for the shared pointer.
 *
 * Functions return 0 or a negative HL_ERR_*. All ranks of the file call those that are called "collective";
 * these take the error that the caller's arguments already have (`err`, else 0), and fail on all ranks or on
 * none. Any thread; collective ones by one thread at a time. */
#ifndef HL_IO_H
#define HL_IO_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comm.h"
#include "counter.h"
#include "errh.h"
#include "handle.h"
#include "info.h"
#include "lock.h"
#include "req.h"
#include "type.h"
#include "view.h"

/* The split collective access that is between its begin and its end. */
enum hl_io_split { HL_IO_NONE, HL_IO_ALL, HL_IO_AT_ALL, HL_IO_ORDERED };

/* Read-only once open, except the fields that say otherwise. */
struct hl_file {
    struct hl_handle h;
    struct hl_comm *comm; /* the file's own communicator */
    char *name;           /* as the user gave it */
    /* at rank 0, if the file is to be deleted at close: its absolute path, whatever the working directory is
     * then */
    char *path;
    int amode, fd;
    int64_t most;         /* first byte that the process may not write (ulimit -f) */
    struct hl_errh *errh; /* changed as errh.h says */
    struct hl_info *info; /* hints; changed as info.h says */
    struct hl_mutex lock;
    struct hl_view *view; /* guarded by lock; with a reference */
    int64_t at;           /* guarded by lock: the individual pointer, in etypes */
    hl_a32 atomic;        /* not 0: atomic mode. atomic; changed by a collective call */
    /* held during an access in atomic mode: range locks do not exclude threads of one process */
    struct hl_mutex one;
    struct hl_counter *shared; /* the shared pointer, in etypes */
    hl_a32 open;               /* number of nonblocking accesses under way. atomic */
    /* The split collective access under way; guarded by lock. */
    enum hl_io_split split;
    bool split_writes;
    const void *split_buf;
    int64_t split_bytes; /* bytes that it moved */
};

/* The file behind a handle; NULL for MPI_FILE_NULL, freed, foreign and garbage values. */
HL_INLINE struct hl_file *hl_file_of(MPI_File handle)
{
    return (uintptr_t)handle < 0x1000 ? NULL : hl_handle_get(handle, HL_KIND_FILE);
}

HL_INLINE MPI_File hl_file_handle(struct hl_file *f)
{
    return (MPI_File)(void *)f;
}

/* The slot of MPI_FILE_NULL's error handler, which new files get; at first MPI_ERRORS_RETURN. */
struct hl_errh **hl_file_null_errh(void);

/* MPI_File_open; collective over `comm`. The view is that of bytes from 0. HL_ERR_AMODE: the mode is
 * impossible, or differs between ranks. Else errors of the system (cause.h). */
struct hl_file_ask {
    int err; /* error of the caller's arguments, or 0 */
    const char *name;
    int amode;
    const struct hl_info *info; /* or NULL */
};
int hl_file_open(struct hl_comm *comm, const struct hl_file_ask *ask, struct hl_file **made);

/* Called before MPI_File_close; collective. HL_ERR_IO: a split collective access is under way; the file stays
 * open. */
int hl_file_may_close(struct hl_file *f);

/* MPI_File_close; collective. It waits for nonblocking accesses under way. Even after an error of the system
 * (a write that failed late, a file that cannot be deleted) only hl_file_free may follow; until then the file
 * keeps its handler for that error. */
int hl_file_close(struct hl_file *f);

/* Frees the file: its handle becomes invalid. */
void hl_file_free(struct hl_file *f);

/* MPI_File_delete. */
int hl_file_delete(const char *name);

/* Collective; all ranks must give the same size: HL_ERR_NOT_SAME. Preallocation never makes a file
 * shorter. */
int hl_file_set_size(struct hl_file *f, int64_t size);
int hl_file_preallocate(struct hl_file *f, int64_t size);

/* Bytes that the file has now. Local; errors of the system. */
int hl_file_get_size(const struct hl_file *f, int64_t *size);

/* Collective. HL_ERR_NOT_SAME: ranks differ. HL_ERR_UNSUPPORTED_OPERATION: the file system has no range
 * locks. */
int hl_file_set_atomicity(struct hl_file *f, bool on);
bool hl_file_is_atomic(const struct hl_file *f);

/* Collective: returns when all that this process wrote is on the device, and all ranks have called it. */
int hl_file_sync(struct hl_file *f);

/* Collective: hints of `user` (NULL: none) replace those of the same key. Only the standard's reserved keys
 * are kept and shown. hl_file_get_hints is local, and makes an object for the caller. HL_ERR_NO_MEM. */
int hl_file_set_hints(struct hl_file *f, int err, const struct hl_info *user);
int hl_file_get_hints(const struct hl_file *f, struct hl_info **made);

/* Collective: takes over `view` (NULL when err != 0), also when it fails; sets both pointers to 0.
 * HL_ERR_NOT_SAME: ranks differ in the representation or in the etype's size. */
int hl_file_set_view(struct hl_file *f, int err, struct hl_view *view, const struct hl_info *user);

/* The view in force, with a reference for the caller (hl_view_unref). */
struct hl_view *hl_file_view(struct hl_file *f);

/* Pointers, in etypes of the view. Seeking returns HL_ERR_ARG for a place before the view. Seeking the shared
 * pointer is collective: HL_ERR_NOT_SAME when ranks differ. */
int hl_file_check_places(const struct hl_file *f); /* HL_ERR_UNSUPPORTED_OPERATION: a sequential file */
int hl_file_seek(struct hl_file *f, int64_t offset, int whence);
int64_t hl_file_tell(struct hl_file *f);
int hl_file_seek_shared(struct hl_file *f, int64_t offset, int whence);
int hl_file_tell_shared(struct hl_file *f, int64_t *at);

/* The byte of the file at which the shared pointer is when all ranks have called this. Collective; also for
 * sequential files. */
int hl_file_current(struct hl_file *f, int err, int64_t *disp);

/* ---- Data access ---- */

enum hl_io_where {
    HL_IO_AT,     /* at an offset */
    HL_IO_OWN,    /* at the individual pointer */
    HL_IO_SHARED, /* at the shared pointer */
    HL_IO_TURN    /* at the shared pointer, in the order of ranks; collective */
};

struct hl_io_call {
    enum hl_io_where where;
    bool write;
    int64_t offset; /* HL_IO_AT: offset in etypes */
    void *buf;
    int64_t count;
    struct hl_type *type; /* committed */
};

/* Checks the call against the file's mode: HL_ERR_ACCESS, HL_ERR_READ_ONLY, HL_ERR_UNSUPPORTED_OPERATION (a
 * sequential file), HL_ERR_ARG (a negative offset). */
int hl_file_check(const struct hl_file *f, const struct hl_io_call *c);

/* Does the access. *bytes: bytes moved, as they are in memory; fewer than asked at the end of the file. After
 * an error they are those that were moved before. */
int hl_file_move(struct hl_file *f, const struct hl_io_call *c, int64_t *bytes);

/* hl_file_move for all ranks together; collective: an error of one is an error of all. HL_IO_TURN: nothing is
 * moved when a rank's call is wrong. */
int hl_file_move_all(struct hl_file *f, int err, const struct hl_io_call *c, int64_t *bytes);

/* Begins a nonblocking access; *request ends with this rank's error and bytes. It does not take
 * HL_IO_TURN. */
int hl_file_start(struct hl_file *f, const struct hl_io_call *c, struct hl_req **request);

/* Split collective accesses: hl_file_begin does the access, and hl_file_end tells its result. Both must give
 * the same `sort` and `write`: HL_ERR_IO. HL_ERR_IO also for a second begin; HL_ERR_BUFFER: another
 * buffer. */
int hl_file_begin(struct hl_file *f, int err, enum hl_io_split sort, const struct hl_io_call *c);
/* HL_ERR_IO: one is under way, and no other collective call may be made */
int hl_file_check_split(struct hl_file *f);
int hl_file_end(struct hl_file *f, enum hl_io_split sort, bool write, const void *buf, int64_t *bytes);

#endif
