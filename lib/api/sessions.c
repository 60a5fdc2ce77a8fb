/* Sessions, their error handlers, and groups from sets of processes. */
#include "session.h"

#include <stdio.h>
#include <string.h>

#include "api.h"
#include "args.h"
#include "buffered.h"

int hl_api_get_session(MPI_Session handle, struct hl_session **s)
{
    *s = hl_session_of(handle);
    if (*s != NULL) {
        return hl_api_check_open(); /* an error in a forked child */
    }
    return hl_err_say_none(HL_ERR_SESSION, "session", handle);
}

int hl_api_end_session(struct hl_session *s, const char *func, int err)
{
    if (err == 0 || s == NULL) {
        return hl_api_end(NULL, func, err);
    }
    struct hl_errh_site site = {&s->errh, HL_ERRH_SESSION, &s->handle, "a session"};
    return hl_errh_raise(&site, func, err);
}

static int end_session_call(struct hl_session *s, const char *func, int err)
{
    int code = hl_api_end_session(s, func, err);

    hl_cs_out(HL_CS_call, NULL);
    return code;
}

/* ---- Init and finalize ---- */

/* Opens the library for threads, whatever level this session asks for: the next one may want more. */
static int open_session(const struct hl_info *hints, struct hl_errh *errh, struct hl_session **s)
{
    int level, err = hl_life_open(HL_LIFE_SESSION, MPI_THREAD_MULTIPLE, &level);

    if (err != 0) {
        return err;
    }
    err = hl_session_make(errh, level, hl_session_asked_level(hints), s);
    if (err != 0) {
        hl_life_close(HL_LIFE_SESSION);
    }
    return err;
}

HL_API(MPI_Session_init);
int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    MPI_Session none = MPI_SESSION_NULL;
    struct hl_session *s = NULL;
    struct hl_info *hints = NULL;
    struct hl_errh *e = NULL;
    int err = hl_api_get_errh(errhandler, &e);

    err = err == 0 ? hl_api_check_out(session, "session") : err;
    err = err == 0 ? hl_api_get_info(info, &hints) : err;
    err = err == 0 ? open_session(hints, e, &s) : err;
    if (err == 0) {
        *session = s->handle;
        return MPI_SUCCESS;
    }
    struct hl_errh_site site = {&e, HL_ERRH_SESSION, &none, NULL};
    return e != NULL && (e->how != HL_ERRH_USER || e->sort == HL_ERRH_SESSION)
               ? hl_errh_raise(&site, "MPI_Session_init", err)
               : hl_api_end(NULL, "MPI_Session_init", err);
}

HL_API(MPI_Session_finalize);
int PMPI_Session_finalize(MPI_Session *session)
{
    struct hl_session *s = NULL;
    int err = hl_api_check_out(session, "session");

    err = err == 0 ? hl_api_get_session(*session, &s) : err;
    err = err == 0 ? hl_life_may_close(HL_LIFE_SESSION) : err;
    if (err != 0) {
        return hl_api_end_session(s, "MPI_Session_finalize", err);
    }
    hl_buffered_drop(&s->buffered);
    hl_session_free(s);
    *session = MPI_SESSION_NULL;
    return hl_api_end(NULL, "MPI_Session_finalize", hl_life_close(HL_LIFE_SESSION));
}

/* ---- What a session tells ---- */

static int give_session_info(int err, struct hl_info *const *made, MPI_Info *info)
{
    if (err == 0) {
        *info = (*made)->handle;
    }
    return err;
}

HL_API(MPI_Session_get_info);
int PMPI_Session_get_info(MPI_Session session, MPI_Info *info_used)
{
    struct hl_session *s;
    struct hl_info *made = NULL;
    int err = hl_api_enter(hl_api_get_session(session, &s));

    err = err == 0 ? hl_api_check_out(info_used, "info_used") : err;
    err = err == 0 ? hl_session_get_info(s, &made) : err;
    return end_session_call(s, "MPI_Session_get_info", give_session_info(err, &made, info_used));
}

HL_API(MPI_Session_get_num_psets);
int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int *npset_names)
{
    struct hl_session *s;
    struct hl_info *hints;
    int err = hl_api_enter(hl_api_get_session(session, &s));

    err = err == 0 ? hl_api_get_info(info, &hints) : err;
    err = err == 0 ? hl_api_check_out(npset_names, "npset_names") : err;
    if (err == 0) {
        *npset_names = hl_pset_count();
    }
    return end_session_call(s, "MPI_Session_get_num_psets", err);
}

HL_API(MPI_Session_get_nth_pset);
int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name)
{
    struct hl_session *s;
    struct hl_info *hints;
    const char *name;
    int err = hl_api_enter(hl_api_get_session(session, &s));

    err = err == 0 ? hl_api_get_info(info, &hints) : err;
    err = err == 0 ? hl_api_check_out(pset_len, "pset_len") : err;
    err = err == 0 ? hl_pset_name(n, &name) : err;
    if (err == 0) {
        if (*pset_len > 0) { /* with 0 the caller only asks for the length */
            snprintf(pset_name, (size_t)*pset_len, "%s", name);
        }
        *pset_len = (int)strlen(name) + 1;
    }
    return end_session_call(s, "MPI_Session_get_nth_pset", err);
}

static int find_pset(const char *name, int *n)
{
    int err = hl_api_check_out(name, "pset_name");
    return err == 0 ? hl_pset_find(name, n) : err;
}

HL_API(MPI_Session_get_pset_info);
int PMPI_Session_get_pset_info(MPI_Session session, const char *pset_name, MPI_Info *info)
{
    struct hl_session *s;
    struct hl_info *made = NULL;
    int n, err = hl_api_enter(hl_api_get_session(session, &s));

    err = err == 0 ? hl_api_check_out(info, "info") : err;
    err = err == 0 ? find_pset(pset_name, &n) : err;
    err = err == 0 ? hl_pset_info(n, &made) : err;
    return end_session_call(s, "MPI_Session_get_pset_info", give_session_info(err, &made, info));
}

HL_API(MPI_Group_from_session_pset);
int PMPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup)
{
    struct hl_session *s;
    struct hl_group *made = NULL;
    int n, err = hl_api_enter(hl_api_get_session(session, &s));

    err = err == 0 ? hl_api_check_out(newgroup, "newgroup") : err;
    if (err == 0) {
        *newgroup = MPI_GROUP_NULL; /* as the standard requires for an unknown name */
        err = find_pset(pset_name, &n);
    }
    err = err == 0 ? hl_pset_group(n, &made) : err;
    if (err == 0) {
        made->origin = hl_session_origin(s);
        *newgroup = hl_group_give(made);
    }
    return end_session_call(s, "MPI_Group_from_session_pset", err);
}

/* ---- Error handlers: made before any session is there ---- */

HL_API(MPI_Session_create_errhandler);
int PMPI_Session_create_errhandler(MPI_Session_errhandler_function *session_errhandler_fn,
                                   MPI_Errhandler *errhandler)
{
    struct hl_errh *e;
    int err = hl_api_enter(
        hl_api_check_out((const void *)(uintptr_t)session_errhandler_fn, "session_errhandler_fn"));

    err = err == 0 ? hl_api_check_out(errhandler, "errhandler") : err;
    err = err == 0 ? hl_errh_make(HL_ERRH_SESSION, (hl_errh_fn *)session_errhandler_fn, &e) : err;
    if (err == 0) {
        *errhandler = hl_errh_give(e);
    }
    return hl_api_leave(NULL, "MPI_Session_create_errhandler", err);
}

HL_API(MPI_Session_set_errhandler);
int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler)
{
    struct hl_session *s;
    struct hl_errh *e;
    int err = hl_api_enter(hl_api_get_session(session, &s));

    err = err == 0 ? hl_api_get_errh(errhandler, &e) : err;
    err = err == 0 ? hl_errh_set(&s->errh, HL_ERRH_SESSION, e) : err;
    return end_session_call(s, "MPI_Session_set_errhandler", err);
}

HL_API(MPI_Session_get_errhandler);
int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler)
{
    struct hl_session *s;
    int err = hl_api_enter(hl_api_get_session(session, &s));

    err = err == 0 ? hl_api_check_out(errhandler, "errhandler") : err;
    if (err == 0) {
        *errhandler = hl_errh_give(hl_errh_get(&s->errh));
    }
    return end_session_call(s, "MPI_Session_get_errhandler", err);
}

HL_API(MPI_Session_call_errhandler);
int PMPI_Session_call_errhandler(MPI_Session session, int errorcode)
{
    struct hl_session *s;
    int err = hl_api_enter(hl_api_get_session(session, &s));

    if (err == 0) {
        struct hl_errh_site site = {&s->errh, HL_ERRH_SESSION, &s->handle, "a session"};
        hl_errh_call(&site, "MPI_Session_call_errhandler", errorcode);
    }
    return end_session_call(s, "MPI_Session_call_errhandler", err);
}
