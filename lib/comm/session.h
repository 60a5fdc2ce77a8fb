/* Sessions and the sets of processes that they name: "mpi://WORLD", "mpi://SELF", "hotlane://NODE" (the ranks
 * that proved to share this node's memory). The caller opens and closes the library for them. (MPI 5.0,
 * section 11.3) */
#ifndef HL_SESSION_H
#define HL_SESSION_H

#include <mpi.h>

#include "atomic.h"
#include "attr.h"
#include "group.h"
#include "handle.h"

struct hl_errh;
struct hl_info;

/* Read-only once made, except the fields that say otherwise. */
struct hl_session {
    struct hl_handle h;
    MPI_Session handle;   /* this address */
    struct hl_errh *errh; /* changed as errh.h says */
    int level;            /* the MPI_THREAD_* that it grants */
    hl_aptr buffered;     /* slot of match's buffered.h for buffered sends; empty when this is freed */
};

/* The object behind a handle; NULL for MPI_SESSION_NULL, finalized, foreign and garbage values. Any thread.
 */
HL_INLINE struct hl_session *hl_session_of(MPI_Session handle)
{
    return (uintptr_t)handle < 0x1000 ? NULL : hl_handle_get(handle, HL_KIND_SESSION);
}

/* hl_session_origin: the origin that groups of the session get. hl_session_alive: the session of an origin;
 * NULL when there is none or it was finalized. */
HL_INLINE struct hl_origin hl_session_origin(struct hl_session *s)
{
    return (struct hl_origin){s, s->h.generation};
}

HL_INLINE struct hl_session *hl_session_alive(const struct hl_origin *o)
{
    struct hl_session *s = o->session;

    return s != NULL && s->h.kind == HL_KIND_SESSION && s->h.generation == o->generation ? s : NULL;
}

/* Makes a session with error handler `errh`. `level` is in force in the process; `asked`: what the user
 * wants, -1: anything. HL_ERR_NO_MEM; HL_ERR_ERRHANDLER for a handler of another sort. */
int hl_session_make(struct hl_errh *errh, int level, int asked, struct hl_session **made);

/* Frees the session: the handle is invalid now. */
void hl_session_free(struct hl_session *s);

/* The MPI_THREAD_* that the info key "thread_level" of `info` (may be NULL) asks for. -1: none; an unknown
 * value is logged. */
int hl_session_asked_level(const struct hl_info *info);

/* Makes the object that MPI_Session_get_info shows, for the caller. HL_ERR_NO_MEM. */
int hl_session_get_info(const struct hl_session *s, struct hl_info **made);

/* Sets of processes: their number, the name of number n, and the number of the set called `name` (in any
 * case). HL_ERR_ARG for unknown numbers and names. */
int hl_pset_count(void);
int hl_pset_name(int n, const char **name);
int hl_pset_find(const char *name, int *n);

/* A number that all members of my set `n` have, and no other rank of the job has for its set `n`. */
int hl_pset_color(int n);

/* hl_pset_group: the processes of set `n`, as a new group. hl_pset_info: what MPI_Session_get_pset_info tells
 * of the set. Both for the caller. HL_ERR_NO_MEM. */
int hl_pset_group(int n, struct hl_group **made);
int hl_pset_info(int n, struct hl_info **made);

#endif
