/* Inside the module: the checks that every entry point makes first. Below the API nothing is checked again.
 *
 * A `get` turns a handle into its object and always judges the handle. A `check` judges a value and vanishes
 * when the build option `checks` is off. Both return 0, or a negative HL_ERR_* with its text set. */
#ifndef HL_ARGS_H
#define HL_ARGS_H

#include <limits.h>
#include <mpi.h>

#include "api.h"
#include "comm.h"
#include "cs.h"
#include "err.h"
#include "errh.h"
#include "hl_build.h"
#include "info.h"
#include "job.h"
#include "life.h"
#include "type.h"
#include "util.h"

/* The cold parts of the checks: they set the error's text and return its code. */
int hl_api_bad_comm(MPI_Comm comm) HL_COLD;
int hl_api_bad_sort(const struct hl_comm *c) HL_COLD;
int hl_api_bad_type(MPI_Datatype type) HL_COLD;
int hl_api_bad_info(MPI_Info info) HL_COLD;
int hl_api_bad_group(MPI_Group group) HL_COLD;
int hl_api_bad_count(int64_t count) HL_COLD;
int hl_api_bad_rank(const struct hl_comm *c, int rank) HL_COLD;
int hl_api_bad_tag(int tag) HL_COLD;
int hl_api_bad_root(const struct hl_comm *c, int root) HL_COLD;
int hl_api_uncommitted(const struct hl_type *t) HL_COLD;
int hl_api_bad_buffer(const void *buf, int64_t count, const struct hl_type *t) HL_COLD;
int hl_api_no_address(const void *address, const char *what) HL_COLD;

/* Hands a new communicator (NULL: MPI_COMM_NULL for this rank) to the user, with its parent's error
 * handler. */
void hl_api_give_comm(const struct hl_comm *parent, struct hl_comm *made, MPI_Comm *newcomm);

/* The end of a call that makes a communicator, if `err` is 0, and began with hl_api_enter. */
int hl_api_leave_made(struct hl_comm *parent, const char *func, int err, struct hl_comm *made,
                      MPI_Comm *newcomm);

/* Returns `err`, which is an error for certain: so compilers and analyzers see that objects exist
 * otherwise. */
HL_INLINE int hl_api_sure(int err)
{
    if (err >= 0) {
        __builtin_unreachable();
    }
    return err;
}

/* Checks that the library is open. */
HL_INLINE int hl_api_check_open(void)
{
    return HL_LIKELY(hl_job_is_open()) ? 0 : hl_api_sure(hl_job_refuse());
}

/* hl_api_check_intra is for calls that intercommunicators do not have, hl_api_check_inter for those that only
 * they have. */
HL_INLINE int hl_api_check_intra(const struct hl_comm *c)
{
    return hl_comm_is_inter(c) ? hl_api_sure(hl_api_bad_sort(c)) : 0;
}

HL_INLINE int hl_api_check_inter(const struct hl_comm *c)
{
    return hl_comm_is_inter(c) ? 0 : hl_api_sure(hl_api_bad_sort(c));
}

HL_INLINE int hl_api_get_comm(MPI_Comm handle, struct hl_comm **c)
{
    *c = hl_comm_of(handle);
    return HL_LIKELY(*c != NULL) ? 0 : hl_api_sure(hl_api_bad_comm(handle));
}

/* The object of any living datatype. */
HL_INLINE int hl_api_get_type(MPI_Datatype handle, struct hl_type **t)
{
    struct hl_type *found = hl_type_of(handle);

    if (HL_UNLIKELY(found == NULL)) {
        return hl_api_sure(hl_api_bad_type(handle));
    }
    *t = found;
    return 0;
}

/* The object of a datatype that may be communicated: predefined or committed. */
HL_INLINE int hl_api_get_committed(MPI_Datatype handle, struct hl_type **t)
{
    struct hl_type *found = hl_type_predefined_of(handle);

    if (HL_LIKELY(found != NULL)) {
        *t = found;
        return 0;
    }
    found = hl_type_of(handle);
    if (HL_UNLIKELY(found == NULL)) {
        return hl_api_sure(hl_api_bad_type(handle));
    }
    *t = found;
    return HL_LIKELY(hl_type_is_committed(found)) ? 0 : hl_api_sure(hl_api_uncommitted(found));
}

/* The object of an info handle; MPI_INFO_NULL gives NULL. */
HL_INLINE int hl_api_get_info(MPI_Info handle, struct hl_info **info)
{
    *info = hl_info_of(handle);
    return *info != NULL || handle == MPI_INFO_NULL ? 0 : hl_api_sure(hl_api_bad_info(handle));
}

HL_INLINE int hl_api_get_errh(MPI_Errhandler handle, struct hl_errh **e)
{
    *e = hl_errh_of(handle);
    return *e != NULL ? 0 : hl_err_say_none(HL_ERR_ERRHANDLER, "error handler", handle);
}

/* What calls on error handlers of all sorts of objects do: make one (the whole call; `what` is the name of
 * its argument `fn`), put one into an object's slot, give the user a handle of that in a slot. */
int hl_api_make_errh(const char *func, enum hl_errh_sort sort, hl_errh_fn *fn, const char *what,
                     MPI_Errhandler *errhandler);
int hl_api_set_errh(struct hl_errh **slot, enum hl_errh_sort sort, MPI_Errhandler errhandler);
int hl_api_give_errh(struct hl_errh *const *slot, MPI_Errhandler *errhandler);

HL_INLINE int hl_api_get_group(MPI_Group handle, struct hl_group **g)
{
    *g = hl_group_of(handle);
    return *g != NULL ? 0 : hl_api_sure(hl_api_bad_group(handle));
}

HL_INLINE int hl_api_check_count(int64_t count)
{
    return HL_CHECKS && HL_UNLIKELY(count < 0) ? hl_api_sure(hl_api_bad_count(count)) : 0;
}

/* Checks a rank to send to: a member or MPI_PROC_NULL. */
HL_INLINE int hl_api_check_dest(const struct hl_comm *c, int rank)
{
    return HL_CHECKS && HL_UNLIKELY((unsigned)rank >= (unsigned)c->n_peers) && rank != MPI_PROC_NULL
               ? hl_api_sure(hl_api_bad_rank(c, rank))
               : 0;
}

/* Checks a wildcard: an error or a broken hint if the program has asserted to use none (`assert`: an enum
 * hl_comm_assert). */
HL_INLINE int hl_api_check_wildcard(const struct hl_comm *c, uint32_t assert)
{
    /* relaxed: a thread that receives while the hints change may see either. */
    return HL_CHECKS && HL_UNLIKELY((hl_a32_load_relaxed(&c->asserts) & assert) != 0)
               ? hl_comm_break_hint((struct hl_comm *)(uintptr_t)c, assert,
                                    assert == HL_ASSERT_NO_ANY_TAG ? "MPI_ANY_TAG" : "MPI_ANY_SOURCE")
               : 0;
}

/* Checks a rank to receive from: also MPI_ANY_SOURCE. */
HL_INLINE int hl_api_check_source(const struct hl_comm *c, int rank)
{
    return rank == MPI_ANY_SOURCE ? hl_api_check_wildcard(c, HL_ASSERT_NO_ANY_SOURCE)
                                  : hl_api_check_dest(c, rank);
}

HL_INLINE int hl_api_check_tag(int tag)
{
    return HL_CHECKS && HL_UNLIKELY(tag < 0) ? hl_api_sure(hl_api_bad_tag(tag)) : 0;
}

HL_INLINE int hl_api_check_recv_tag(const struct hl_comm *c, int tag)
{
    return tag == MPI_ANY_TAG ? hl_api_check_wildcard(c, HL_ASSERT_NO_ANY_TAG) : hl_api_check_tag(tag);
}

/* Checks a root: a member; in an intercommunicator a rank of the other group, MPI_ROOT or MPI_PROC_NULL. */
HL_INLINE int hl_api_check_root(const struct hl_comm *c, int root)
{
    return HL_CHECKS && HL_UNLIKELY((unsigned)root >= (unsigned)c->n_peers) &&
                   !(hl_comm_is_inter(c) && (root == MPI_ROOT || root == MPI_PROC_NULL))
               ? hl_api_sure(hl_api_bad_root(c, root))
               : 0;
}

/* Checks a buffer. NULL is MPI_BOTTOM, which is right for types with absolute addresses. */
HL_INLINE int hl_api_check_buffer(const void *buf, int64_t count, const struct hl_type *t)
{
    return HL_CHECKS && HL_UNLIKELY((uintptr_t)buf <= 2) && count > 0 &&
                   (buf != NULL || hl_type_lacks_buffer(t, buf))
               ? hl_api_sure(hl_api_bad_buffer(buf, count, t))
               : 0;
}

/* Checks a pointer through which a result goes: neither NULL nor the constant of a handle. */
HL_INLINE int hl_api_check_out(const void *out, const char *what)
{
    return HL_CHECKS && HL_UNLIKELY(!hl_is_address(out)) ? hl_api_sure(hl_api_no_address(out, what)) : 0;
}

/* Checks the pointers of a text that the user gets and of its length. */
HL_INLINE int hl_api_check_text(const char *text, const char *what, const int *len)
{
    int err = hl_api_check_out(text, what);

    return err == 0 ? hl_api_check_out(len, "resultlen") : err;
}

/* Give the user a result through a pointer. HL_ERR_ARG. */
HL_INLINE int hl_api_give(int *out, const char *what, int value)
{
    int err = hl_api_check_out(out, what);

    if (HL_LIKELY(err == 0)) {
        *out = value;
    }
    return err;
}

HL_INLINE int hl_api_give_count(int64_t *out, const char *what, int64_t value)
{
    int err = hl_api_check_out(out, what);

    if (err == 0) {
        *out = value;
    }
    return err;
}

/* A number as int, or MPI_UNDEFINED when it does not fit. */
HL_INLINE int hl_api_narrow(int64_t v)
{
    return v >= INT_MIN && v <= INT_MAX ? (int)v : MPI_UNDEFINED;
}

/* Give the user a handle: of a group that others have, too, and of the new info object *made, if it could be
 * made (`err` is 0). Return the error. */
int hl_api_give_group(struct hl_group *g, MPI_Group *group);
int hl_api_give_info(int err, struct hl_info *const *made, MPI_Info *info);

/* Checks the pointer of a list of `n` entries, which matters only if n > 0. */
HL_INLINE int hl_api_check_list(int64_t n, const void *list, const char *what)
{
    return n > 0 ? hl_api_check_out(list, what) : 0;
}

/* Checks count, type and buffer of one side of a communication; *t is the type. */
HL_INLINE int hl_api_get_data(const void *buf, int64_t count, MPI_Datatype handle, struct hl_type **t)
{
    int err = hl_api_check_count(count);

    err = err == 0 ? hl_api_get_committed(handle, t) : err;
    return err == 0 ? hl_api_check_buffer(buf, count, *t) : err;
}

/* Checks count, type and buffer of a message. With MPI_PROC_NULL (`nobody`) there are no data, and no buffer
 * is needed. */
HL_INLINE int hl_api_get_message(const void *buf, int64_t count, MPI_Datatype handle, bool nobody,
                                 struct hl_type **t)
{
    int err = hl_api_check_count(count);

    err = err == 0 ? hl_api_get_committed(handle, t) : err;
    return err == 0 && HL_UNLIKELY((uintptr_t)buf <= 2) && !nobody ? hl_api_check_buffer(buf, count, *t)
                                                                   : err;
}

/* For sessions (sessions.c): the object of a handle, and the end of a call. */
struct hl_session;
int hl_api_get_session(MPI_Session handle, struct hl_session **s);
int hl_api_end_session(struct hl_session *s, const char *func, int err); /* s NULL: none */

/* In a checking build: may this thread call, at the thread level that was granted? */
int hl_api_check_thread(void);

/* The end of every entry point: returns MPI_SUCCESS, or raises the error through the handler of `c` (NULL: no
 * communicator) and returns its code. */
HL_INLINE int hl_api_end(struct hl_comm *c, const char *func, int err)
{
    if (HL_CHECKED && err == 0 && c != NULL) {
        err = hl_api_check_thread();
    }
    return HL_LIKELY(err == 0) ? MPI_SUCCESS : hl_errh_comm(c, func, err);
}

/* The end of a call on a request or message of context `ctx`: the handler may also be that of a file or
 * window. */
HL_INLINE int hl_api_end_ctx(uint64_t ctx, const char *func, int err)
{
    return HL_LIKELY(err == 0) ? MPI_SUCCESS : hl_errh_ctx(ctx, func, err);
}

/* The end of a call that may have waited, on context `ctx` of `c`: another thread may have freed `c`
 * meanwhile. */
HL_INLINE int hl_api_end_waited(struct hl_comm *c, uint64_t ctx, const char *func, int err)
{
    return HL_LIKELY(err == 0) ? hl_api_end(c, func, 0) : hl_errh_ctx(ctx, func, err);
}

/* Begins a call that hl_api_leave ends. Returns `err`, what the first check of its arguments found. */
HL_INLINE int hl_api_enter(int err)
{
    hl_cs_in(HL_CS_call, NULL);
    return err;
}

/* Ends a call that began with hl_api_enter; returns its MPI code as hl_api_end. */
HL_INLINE int hl_api_leave(struct hl_comm *c, const char *func, int err)
{
    int code = hl_api_end(c, func, err);

    hl_cs_out(HL_CS_call, NULL);
    return code;
}

HL_INLINE int hl_api_leave_waited(struct hl_comm *c, uint64_t ctx, const char *func, int err)
{
    int code = hl_api_end_waited(c, ctx, func, err);

    hl_cs_out(HL_CS_call, NULL);
    return code;
}

HL_INLINE int hl_api_leave_ctx(uint64_t ctx, const char *func, int err)
{
    int code = hl_api_end_ctx(ctx, func, err);

    hl_cs_out(HL_CS_call, NULL);
    return code;
}

/* Rows that make functions: name, parameters, what is checked beside the handle (0: nothing), what is done.
 * Both are expressions of 0 or HL_ERR_*, which see the object of the handle: `c` that of `comm`, `t` of
 * `datatype`, `g` of `group`. Calls of HL_CALL_PLAIN have no handle. */
#define HL_CALL_PLAIN(name, params, check, what)                                                             \
    HL_CALL(name, params, , 0, check, what, hl_api_leave(NULL, #name, err))
#define HL_CALL_COMM(name, params, check, what)                                                              \
    HL_CALL(name, params, struct hl_comm *c, hl_api_get_comm(comm, &c), check, what,                         \
            hl_api_leave(c, #name, err))
#define HL_CALL_TYPE(name, params, check, what)                                                              \
    HL_CALL(name, params, struct hl_type *t, hl_api_get_type(datatype, &t), check, what,                     \
            hl_api_leave(NULL, #name, err))
#define HL_CALL_GROUP(name, params, check, what)                                                             \
    HL_CALL(name, params, struct hl_group *g, hl_api_get_group(group, &g), check, what,                      \
            hl_api_leave(NULL, #name, err))
#define HL_CALL(name, params, object, get, check, what, leave)                                               \
    HL_API(name);                                                                                            \
    int P##name params                                                                                       \
    {                                                                                                        \
        object;                                                                                              \
        int err = hl_api_enter(get);                                                                         \
                                                                                                             \
        err = err == 0 ? (check) : err;                                                                      \
        err = err == 0 ? (what) : err;                                                                       \
        return leave;                                                                                        \
    }

#endif
