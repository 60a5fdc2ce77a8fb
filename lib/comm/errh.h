/* Error handlers, and the one place where an internal error becomes an MPI error code and the user's handler
 * runs.
 *
 * An object with a handler (communicator, window, session, file) has a slot, a `struct hl_errh *`: NULL for
 * MPI_ERRORS_ARE_FATAL. Only the functions here read and change slots (one lock, cold). */
#ifndef HL_ERRH_H
#define HL_ERRH_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "atomic.h"
#include "attr.h"
#include "err.h"
#include "handle.h"

struct hl_comm;

enum hl_errh_how {
    HL_ERRH_FATAL, /* logs one line, and the job ends */
    HL_ERRH_ABORT, /* ends the job, too; MPI says it of the object's processes only */
    HL_ERRH_RETURN,
    HL_ERRH_USER
};

/* Sorts of objects that errors belong to; a user's handler is for one sort. */
enum hl_errh_sort { HL_ERRH_COMM, HL_ERRH_WIN, HL_ERRH_SESSION, HL_ERRH_FILE };

/* The type of every user handler: the first argument points to the object's handle. */
typedef void hl_errh_fn(void *handle, int *code, ...);

/* Read-only once made, except the atomic counts. */
struct hl_errh {
    struct hl_handle h;
    MPI_Errhandler handle; /* a constant or this address */
    enum hl_errh_how how;
    enum hl_errh_sort sort; /* HL_ERRH_USER only */
    hl_errh_fn *fn;
    /* references of each handle, slot and caller of hl_errh_get; not used by predefined ones */
    hl_a32 refs;
    hl_a32 handles; /* atomic: handles that the user has; counted in `refs`, too */
};

/* The handler behind a handle; NULL for MPI_ERRHANDLER_NULL, freed, foreign and garbage values. */
struct hl_errh *hl_errh_of(MPI_Errhandler handle);

/* Makes a user handler with one reference. HL_ERR_NO_MEM. */
int hl_errh_make(enum hl_errh_sort sort, hl_errh_fn *fn, struct hl_errh **made);

/* Gives a reference back. */
void hl_errh_unref(struct hl_errh *e);

/* hl_errh_give: gives the user a handle, with the caller's reference. hl_errh_take_back: the user frees a
 * handle; HL_ERR_ERRHANDLER when the user has none left. */
MPI_Errhandler hl_errh_give(struct hl_errh *e);
int hl_errh_take_back(struct hl_errh *e);

/* HL_ERR_ERRHANDLER when `e` (may be NULL) is a user handler of another sort. */
int hl_errh_check(const struct hl_errh *e, enum hl_errh_sort sort);

/* Puts `e` (NULL: MPI_ERRORS_ARE_FATAL) into an object's slot, which takes a reference and gives its old one
 * back. HL_ERR_ERRHANDLER: a user handler of another sort. */
int hl_errh_set(struct hl_errh **slot, enum hl_errh_sort sort, struct hl_errh *e);

/* The slot's handler with a reference for the caller; never NULL. */
struct hl_errh *hl_errh_get(struct hl_errh *const *slot);

/* Copies an object's handler to a new object that is made from it (dup). */
void hl_errh_copy(struct hl_errh **to, struct hl_errh *const *from);

/* The object that an error is raised on. */
struct hl_errh_site {
    struct hl_errh *const *slot;
    enum hl_errh_sort sort;
    void *handle;     /* address of the handle, given to user handlers */
    const char *what; /* "communicator NAME", or that it has no name; NULL: the call has no object */
};

/* Reports the error `err` (a negative HL_ERR_*, with the text that hl_err_say left) of the call `func`, and
 * runs the handler. Returns the MPI error code for the caller of `func`, which a user's handler may have
 * changed (MPI 4.1, 9.3), unless the handler ends the job.
 * `err` 0: returns MPI_SUCCESS and does nothing. The caller holds no lock and no lease. */
int hl_errh_raise(const struct hl_errh_site *site, const char *func, int err) HL_COLD;

/* hl_errh_raise for a communicator. NULL (none, or not a living one): runs MPI_COMM_SELF's handler, or
 * MPI_COMM_WORLD's if MPI_COMM_SELF's was not set; before start and after the end the job ends. */
int hl_errh_comm(struct hl_comm *c, const char *func, int err) HL_COLD;

/* Writes what a communicator's site says in `what`. */
#define HL_ERRH_WHAT (MPI_MAX_OBJECT_NAME + 32)
void hl_errh_comm_words(const struct hl_comm *c, char what[HL_ERRH_WHAT]);

/* hl_errh_raise for a request or message with this context, of any plane (0: none). If its communicator was
 * freed, user handlers get MPI_COMM_NULL. */
int hl_errh_ctx(uint64_t ctx, const char *func, int err) HL_COLD;

/* Called when `c` is freed: keeps its handler for hl_errh_ctx. Any thread. */
void hl_errh_keep(const struct hl_comm *c);

/* Forgets the handlers that were kept; called at the end. */
void hl_errh_forget_freed(void);

/* Runs the handler with an MPI code that the user gives (MPI_Comm_call_errhandler and its sisters). */
void hl_errh_call(const struct hl_errh_site *site, const char *func, int code);

/* ---- Error codes of MPI: the classes 1 to 62 themselves, and what the user added above MPI_ERR_LASTCODE
 * ---- */

/* Class of a code, MPI_ERR_UNKNOWN if there is no such code. */
int hl_errh_class(int code);

/* Writes a code's text to out[MPI_MAX_ERROR_STRING]; for the calling thread's last error with its details.
 * HL_ERR_ARG for unknown codes. */
int hl_errh_string(int code, char *out);

/* Classes and codes that the user adds: the largest code in use; adding; removing (in the reverse order
 * only). HL_ERR_ARG, HL_ERR_NO_MEM. */
int hl_errh_last_code(void);
int hl_errh_add_class(int *class_);
int hl_errh_add_code(int class_, int *code);
int hl_errh_set_string(int code, const char *string); /* NULL: removes the text */
int hl_errh_remove_class(int class_);
int hl_errh_remove_code(int code);

#endif
