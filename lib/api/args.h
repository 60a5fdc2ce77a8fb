/* Inside the module: what every entry point checks before anything else, once. Below the API nothing is
 * checked again.
 *
 * A `get` turns a handle into its object and always judges the handle; a `check` judges a value and vanishes
 * when the build option `checks` is off. Both return 0 or a negative HL_ERR_* whose words they left. */
#ifndef HL_ARGS_H
#define HL_ARGS_H

#include <mpi.h>

#include "comm.h"
#include "cs.h"
#include "err.h"
#include "errh.h"
#include "hl_build.h"
#include "info.h"
#include "life.h"
#include "type.h"
#include "util.h"

/* The cold halves: say what is wrong and return the code. */
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

/* Hands a new communicator (NULL: none for this rank) to the user, with its parent's error handler. */
void hl_api_give_comm(const struct hl_comm *parent, struct hl_comm *made, MPI_Comm *newcomm);

/* A code that is an error for certain: lets compilers and analyzers see that objects are there otherwise. */
HL_INLINE int hl_api_sure(int err)
{
    if (err >= 0) {
        __builtin_unreachable();
    }
    return err;
}

/* May calls be made that need the library to be open? */
HL_INLINE int hl_api_check_open(void)
{
    return HL_LIKELY(hl_life_is_open()) ? 0 : hl_api_sure(hl_life_refuse());
}

/* For calls that intercommunicators do not have, and for those that only they have. */
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

/* Any living type. */
HL_INLINE int hl_api_get_type(MPI_Datatype handle, struct hl_type **t)
{
    struct hl_type *found = hl_type_of(handle);

    if (HL_UNLIKELY(found == NULL)) {
        return hl_api_sure(hl_api_bad_type(handle));
    }
    *t = found;
    return 0;
}

/* A type that may be communicated. */
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
    return HL_LIKELY(found->committed) ? 0 : hl_api_sure(hl_api_uncommitted(found));
}

/* `info` MPI_INFO_NULL gives NULL. */
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

HL_INLINE int hl_api_get_group(MPI_Group handle, struct hl_group **g)
{
    *g = hl_group_of(handle);
    return *g != NULL ? 0 : hl_api_sure(hl_api_bad_group(handle));
}

HL_INLINE int hl_api_check_count(int64_t count)
{
    return HL_CHECKS && HL_UNLIKELY(count < 0) ? hl_api_sure(hl_api_bad_count(count)) : 0;
}

/* A rank to send to: a member or MPI_PROC_NULL. */
HL_INLINE int hl_api_check_dest(const struct hl_comm *c, int rank)
{
    return HL_CHECKS && HL_UNLIKELY((unsigned)rank >= (unsigned)c->n_peers) && rank != MPI_PROC_NULL
               ? hl_api_sure(hl_api_bad_rank(c, rank))
               : 0;
}

/* A wildcard, unless the program has asserted that it does without (an enum hl_comm_assert). */
HL_INLINE int hl_api_check_wildcard(const struct hl_comm *c, uint32_t assert)
{
    /* relaxed: as said in hints.c. */
    return HL_CHECKS && HL_UNLIKELY((hl_a32_load_relaxed(&c->asserts) & assert) != 0)
               ? hl_comm_break_hint((struct hl_comm *)(uintptr_t)c, assert,
                                    assert == HL_ASSERT_NO_ANY_TAG ? "MPI_ANY_TAG" : "MPI_ANY_SOURCE")
               : 0;
}

/* A rank to receive from: also MPI_ANY_SOURCE. */
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

/* A member; in an intercommunicator a rank of the other group, MPI_ROOT or MPI_PROC_NULL. */
HL_INLINE int hl_api_check_root(const struct hl_comm *c, int root)
{
    return HL_CHECKS && HL_UNLIKELY((unsigned)root >= (unsigned)c->n_peers) &&
                   !(hl_comm_is_inter(c) && (root == MPI_ROOT || root == MPI_PROC_NULL))
               ? hl_api_sure(hl_api_bad_root(c, root))
               : 0;
}

/* NULL is MPI_BOTTOM, and right for data at absolute addresses. */
HL_INLINE int hl_api_check_buffer(const void *buf, int64_t count, const struct hl_type *t)
{
    return HL_CHECKS && HL_UNLIKELY((uintptr_t)buf <= 2) && count > 0 &&
                   (buf != NULL || hl_type_lacks_buffer(t, buf))
               ? hl_api_sure(hl_api_bad_buffer(buf, count, t))
               : 0;
}

/* A pointer through which a result goes: neither NULL nor the constant of a handle. */
HL_INLINE int hl_api_check_out(const void *out, const char *what)
{
    return HL_CHECKS && HL_UNLIKELY(!hl_is_address(out)) ? hl_api_sure(hl_api_no_address(out, what)) : 0;
}

/* The same of a list of `n`. */
HL_INLINE int hl_api_check_list(int64_t n, const void *list, const char *what)
{
    return n > 0 ? hl_api_check_out(list, what) : 0;
}

/* Count, type and buffer of one side of a communication. */
HL_INLINE int hl_api_get_data(const void *buf, int64_t count, MPI_Datatype handle, struct hl_type **t)
{
    int err = hl_api_check_count(count);

    err = err == 0 ? hl_api_get_committed(handle, t) : err;
    return err == 0 ? hl_api_check_buffer(buf, count, *t) : err;
}

/* The same of a message. One with nobody has no data, and needs no buffer. */
HL_INLINE int hl_api_get_message(const void *buf, int64_t count, MPI_Datatype handle, bool nobody,
                                 struct hl_type **t)
{
    int err = hl_api_check_count(count);

    err = err == 0 ? hl_api_get_committed(handle, t) : err;
    return err == 0 && HL_UNLIKELY((uintptr_t)buf <= 2) && !nobody ? hl_api_check_buffer(buf, count, *t)
                                                                   : err;
}

/* sessions.c: the same for sessions. */
struct hl_session;
int hl_api_get_session(MPI_Session handle, struct hl_session **s);
int hl_api_end_session(struct hl_session *s, const char *func, int err); /* s NULL: none */

/* Of a build that checks programs: may this thread call? */
int hl_api_check_thread(void);

/* The end of every entry point: MPI_SUCCESS, or the error through the handler of `c` (NULL: no communicator).
 */
HL_INLINE int hl_api_end(struct hl_comm *c, const char *func, int err)
{
    if (HL_CHECKED && err == 0 && c != NULL) {
        err = hl_api_check_thread();
    }
    return HL_LIKELY(err == 0) ? MPI_SUCCESS : hl_errh_comm(c, func, err);
}

/* The same of a call about a request or message of the context `ctx`: also its file's or window's handler. */
HL_INLINE int hl_api_end_ctx(uint64_t ctx, const char *func, int err)
{
    return HL_LIKELY(err == 0) ? MPI_SUCCESS : hl_errh_ctx(ctx, func, err);
}

/* The end of a call that may have waited on `ctx` of `c`: another thread may have freed the communicator. */
HL_INLINE int hl_api_end_waited(struct hl_comm *c, uint64_t ctx, const char *func, int err)
{
    return HL_LIKELY(err == 0) ? hl_api_end(c, func, 0) : hl_errh_ctx(ctx, func, err);
}

/* Begins a call that hl_api_leave ends: `err` is what a first look at its arguments found, and returned. */
HL_INLINE int hl_api_enter(int err)
{
    hl_cs_in(HL_CS_call, NULL);
    return err;
}

/* The end of a call that began with hl_api_enter. */
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

#endif
