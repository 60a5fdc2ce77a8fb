/* Performance variables of the tool interface: the rank's counters. A handle counts from zero while it is
 * started, whatever other handles do: it keeps the counter's value at its start and adds the difference at
 * its stop. */
#include <string.h>

#include "api.h"
#include "handle.h"
#include "stat.h"
#include "tool.h"

struct pvar {
    struct hl_handle h;
    struct session *session;
    struct pvar *next; /* of the session */
    int index;
    bool runs;
    uint64_t since, sum; /* since: the counter at the start; sum: what was counted before */
};

struct session {
    struct hl_handle h;
    struct pvar *first;
};

HL_CALL_RETURN(MPI_T_pvar_get_num, (int *num_pvar), hl_tool_give_number(num_pvar, hl_stat_count()))

HL_API(MPI_T_pvar_get_info);
int PMPI_T_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
                         MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind,
                         int *readonly, int *continuous, int *atomic)
{
    int err = hl_tool_check_index(pvar_index, hl_stat_count());

    if (err != MPI_SUCCESS) {
        return err;
    }
    hl_tool_give_text(hl_stat_name(pvar_index), name, name_len);
    hl_tool_give_text(hl_stat_help(pvar_index), desc, desc_len);
    hl_tool_give(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
    hl_tool_give(var_class, MPI_T_PVAR_CLASS_COUNTER);
    hl_tool_give_type(datatype, MPI_UNSIGNED_LONG_LONG);
    hl_tool_give_enum(enumtype, MPI_T_ENUM_NULL);
    hl_tool_give(bind, MPI_T_BIND_NO_OBJECT);
    hl_tool_give(readonly, 0);
    hl_tool_give(continuous, 0);
    hl_tool_give(atomic, 1);
    return MPI_SUCCESS;
}

HL_CALL_RETURN(MPI_T_pvar_get_index, (const char *name, int var_class, int *pvar_index),
               hl_tool_find(name, var_class == MPI_T_PVAR_CLASS_COUNTER ? hl_stat_count() : 0, hl_stat_name,
                            pvar_index))

/* ---- Sessions and handles; callers hold the lock ---- */

static int get_session(MPI_T_pvar_session handle, struct session **s)
{
    int err = hl_tool_check();

    *s = hl_handle_get(handle, HL_KIND_PVAR_SESSION);
    return err == MPI_SUCCESS && *s == NULL ? MPI_T_ERR_INVALID_SESSION : err;
}

static int get_pvar(MPI_T_pvar_session session, MPI_T_pvar_handle handle, struct pvar **p)
{
    struct session *s;
    int err = get_session(session, &s);

    *p = hl_handle_get(handle, HL_KIND_PVAR);
    return err == MPI_SUCCESS && (*p == NULL || (*p)->session != s) ? MPI_T_ERR_INVALID_HANDLE : err;
}

HL_API(MPI_T_pvar_session_create);
int PMPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
    int err = hl_tool_check_out(session);

    if (err != MPI_SUCCESS) {
        return err;
    }
    struct session *s = hl_handle_new(HL_KIND_PVAR_SESSION);
    if (s == NULL) {
        return MPI_T_ERR_OUT_OF_SESSIONS;
    }
    *session = (MPI_T_pvar_session)(void *)s;
    return MPI_SUCCESS;
}

/* Frees the session's handles as well. */
HL_API(MPI_T_pvar_session_free);
int PMPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
    struct session *s;
    int err = hl_tool_check_out(session);

    hl_mutex_lock(&hl_tool_lock);
    err = err == MPI_SUCCESS ? get_session(*session, &s) : err;
    if (err == MPI_SUCCESS) {
        for (struct pvar *p = s->first, *next; p != NULL; p = next) {
            next = p->next;
            hl_handle_free(p);
        }
        hl_handle_free(s);
        *session = MPI_T_PVAR_SESSION_NULL;
    }
    hl_mutex_unlock(&hl_tool_lock);
    return err;
}

static int add_pvar(MPI_T_pvar_session session, int index, struct pvar **p)
{
    struct session *s;
    int err = get_session(session, &s);

    if (err != MPI_SUCCESS) {
        return err;
    }
    *p = hl_handle_new(HL_KIND_PVAR);
    if (*p == NULL) {
        return MPI_T_ERR_OUT_OF_HANDLES;
    }
    (*p)->session = s;
    (*p)->index = index;
    (*p)->next = s->first;
    s->first = *p;
    return MPI_SUCCESS;
}

HL_API(MPI_T_pvar_handle_alloc);
int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index, void *obj_handle,
                             MPI_T_pvar_handle *handle, int *count)
{
    struct pvar *p;
    int err = hl_tool_check_index(pvar_index, hl_stat_count());

    if (err != MPI_SUCCESS || handle == NULL || count == NULL) {
        return err != MPI_SUCCESS ? err : MPI_T_ERR_INVALID;
    }
    hl_mutex_lock(&hl_tool_lock);
    err = add_pvar(session, pvar_index, &p);
    hl_mutex_unlock(&hl_tool_lock);
    if (err == MPI_SUCCESS) {
        *handle = (MPI_T_pvar_handle)(void *)p;
        *count = 1;
    }
    return err;
}

HL_API(MPI_T_pvar_handle_free);
int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    struct pvar *p;
    int err = hl_tool_check_out(handle);

    hl_mutex_lock(&hl_tool_lock);
    err = err == MPI_SUCCESS ? get_pvar(session, *handle, &p) : err;
    if (err == MPI_SUCCESS) {
        struct pvar **at = &p->session->first;
        while (*at != p) {
            at = &(*at)->next;
        }
        *at = p->next;
        hl_handle_free(p);
        *handle = MPI_T_PVAR_HANDLE_NULL;
    }
    hl_mutex_unlock(&hl_tool_lock);
    return err;
}

/* ---- Counting ---- */

static uint64_t read_counter(const struct pvar *p)
{
    uint64_t value = 0;

    hl_stat_get(hl_stat_name(p->index), &value);
    return value;
}

static void begin_pvar(struct pvar *p)
{
    p->since = p->runs ? p->since : read_counter(p);
    p->runs = true;
}

static void stop_pvar(struct pvar *p)
{
    p->sum += p->runs ? read_counter(p) - p->since : 0;
    p->runs = false;
}

static void set_pvar(struct pvar *p, uint64_t value)
{
    p->since = p->runs ? read_counter(p) : 0;
    p->sum = value;
}

static void reset_pvar(struct pvar *p)
{
    set_pvar(p, 0);
}

/* Calls `change` for one handle, or for all of a session. */
static int change_pvars(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void (*change)(struct pvar *))
{
    struct session *s;
    struct pvar *p;

    hl_mutex_lock(&hl_tool_lock);
    int err = handle == MPI_T_PVAR_ALL_HANDLES ? get_session(session, &s) : get_pvar(session, handle, &p);
    if (err == MPI_SUCCESS && handle == MPI_T_PVAR_ALL_HANDLES) {
        for (p = s->first; p != NULL; p = p->next) {
            change(p);
        }
    } else if (err == MPI_SUCCESS) {
        change(p);
    }
    hl_mutex_unlock(&hl_tool_lock);
    return err;
}

HL_CALL_RETURN(MPI_T_pvar_start, (MPI_T_pvar_session session, MPI_T_pvar_handle handle),
               change_pvars(session, handle, begin_pvar))
HL_CALL_RETURN(MPI_T_pvar_stop, (MPI_T_pvar_session session, MPI_T_pvar_handle handle),
               change_pvars(session, handle, stop_pvar))
HL_CALL_RETURN(MPI_T_pvar_reset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle),
               change_pvars(session, handle, reset_pvar))

/* Reads what a handle has counted; with `again` it then counts from zero. */
static int read_pvar(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf, bool again)
{
    struct pvar *p;
    int err = hl_tool_check();

    hl_mutex_lock(&hl_tool_lock);
    err = err == MPI_SUCCESS ? get_pvar(session, handle, &p) : err;
    err = err == MPI_SUCCESS ? hl_tool_check_out(buf) : err;
    if (err == MPI_SUCCESS) {
        uint64_t at = p->runs ? read_counter(p) : 0, value = p->sum + (p->runs ? at - p->since : 0);
        memcpy(buf, &value, sizeof value);
        if (again) {
            p->since = at; /* so that nothing is lost in between */
            p->sum = 0;
        }
    }
    hl_mutex_unlock(&hl_tool_lock);
    return err;
}

HL_CALL_RETURN(MPI_T_pvar_read, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf),
               read_pvar(session, handle, buf, false))
HL_CALL_RETURN(MPI_T_pvar_readreset, (MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf),
               read_pvar(session, handle, buf, true))

HL_API(MPI_T_pvar_write);
int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void *buf)
{
    struct pvar *p;
    uint64_t value;

    hl_mutex_lock(&hl_tool_lock);
    int err = get_pvar(session, handle, &p);
    err = err == MPI_SUCCESS ? hl_tool_check_out(buf) : err;
    if (err == MPI_SUCCESS) {
        memcpy(&value, buf, sizeof value);
        set_pvar(p, value);
    }
    hl_mutex_unlock(&hl_tool_lock);
    return err;
}
