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

#define HL_CALL_SESSION(name, params, check, what)                                                           \
    HL_CALL(name, params, struct hl_session *s, hl_api_get_session(session, &s), check, what,                \
            end_session_call(s, #name, err))

static int give_session_hints(const struct hl_session *s, MPI_Info *info)
{
    struct hl_info *made = NULL;

    return hl_api_give_info(hl_session_get_info(s, &made), &made, info);
}

HL_CALL_SESSION(MPI_Session_get_info, (MPI_Session session, MPI_Info *info_used),
                hl_api_check_out(info_used, "info_used"), give_session_hints(s, info_used))

static int count_psets(MPI_Info info, int *npset_names)
{
    struct hl_info *hints;
    int err = hl_api_get_info(info, &hints);

    return err == 0 ? hl_api_give(npset_names, "npset_names", hl_pset_count()) : err;
}

HL_CALL_SESSION(MPI_Session_get_num_psets, (MPI_Session session, MPI_Info info, int *npset_names), 0,
                count_psets(info, npset_names))

HL_API(MPI_Session_get_nth_pset);
int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name)
{
    struct hl_session *s;
    struct hl_info *hints;
    const char *name;
    int err = hl_api_enter(hl_api_get_session(session, &s));

    err = err == 0 ? hl_api_get_info(info, &hints) : err;
    err = err == 0 ? hl_api_check_out(pset_len, "pset_len") : err;
    err = err == 0 ? hl_api_check_list(*pset_len, pset_name, "pset_name") : err;
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

static int give_pset_info(const char *pset_name, MPI_Info *info)
{
    struct hl_info *made = NULL;
    int n, err = find_pset(pset_name, &n);

    return hl_api_give_info(err == 0 ? hl_pset_info(n, &made) : err, &made, info);
}

HL_CALL_SESSION(MPI_Session_get_pset_info, (MPI_Session session, const char *pset_name, MPI_Info *info),
                hl_api_check_out(info, "info"), give_pset_info(pset_name, info))

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
    return hl_api_make_errh("MPI_Session_create_errhandler", HL_ERRH_SESSION,
                            (hl_errh_fn *)session_errhandler_fn, "session_errhandler_fn", errhandler);
}

static int call_session_errh(struct hl_session *s, int errorcode)
{
    struct hl_errh_site site = {&s->errh, HL_ERRH_SESSION, &s->handle, "a session"};

    hl_errh_call(&site, "MPI_Session_call_errhandler", errorcode);
    return 0;
}

HL_CALL_SESSION(MPI_Session_set_errhandler, (MPI_Session session, MPI_Errhandler errhandler), 0,
                hl_api_set_errh(&s->errh, HL_ERRH_SESSION, errhandler))
HL_CALL_SESSION(MPI_Session_get_errhandler, (MPI_Session session, MPI_Errhandler *errhandler), 0,
                hl_api_give_errh(&s->errh, errhandler))
HL_CALL_SESSION(MPI_Session_call_errhandler, (MPI_Session session, int errorcode), 0,
                call_session_errh(s, errorcode))
