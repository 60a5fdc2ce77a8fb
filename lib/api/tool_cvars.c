/* Control variables of the tool interface: every row of the table of variables. Those that nothing has read
 * yet can be written until the library opens; the log's level and HOTLANE_STATS can be written at any
 * time. */
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "handle.h"
#include "life.h"
#include "log.h"
#include "tool.h"

struct cvar {
    struct hl_handle h;
    const struct hl_var *v;
    int count; /* elements that hold its value */
};

static const struct hl_var *cvar_of(int index)
{
    size_t n;

    return &hl_conf_vars(&n)[index];
}

static int row_count(void)
{
    size_t n;

    hl_conf_vars(&n);
    return (int)n;
}

static bool is_text(const struct hl_var *v)
{
    return v->kind == HL_CONF_TEXT || v->kind == HL_CONF_NODES || v->kind == HL_CONF_PARTS;
}

static MPI_Datatype type_of(const struct hl_var *v)
{
    switch (v->kind) {
    case HL_CONF_INT:
        return MPI_COUNT;
    case HL_CONF_SIZE:
    case HL_CONF_PAGE:
    case HL_CONF_HEAP:
        return MPI_UNSIGNED_LONG_LONG;
    default:
        return is_text(v) ? MPI_CHAR : MPI_INT;
    }
}

static bool is_at(const struct hl_var *v, const void *field)
{
    return hl_conf_var_of(field) == v;
}

/* Does the library read the variable anew each time? */
static bool is_alive(const struct hl_var *v)
{
    return is_at(v, &hl_conf.log) || is_at(v, &hl_conf.stats);
}

/* Does the library read the variable only when it opens, so that it can be written before? Texts cannot, nor
 * can rows that give other rows their values. */
static bool is_early(const struct hl_var *v)
{
    bool kind = v->kind == HL_CONF_BOOL || v->kind == HL_CONF_SWITCH || v->kind == HL_CONF_INT ||
                v->kind == HL_CONF_SIZE || v->kind == HL_CONF_PAGE || v->kind == HL_CONF_CHOICE;

    return kind && !is_at(v, &hl_conf.mem_huge) && !is_at(v, &hl_conf.mem_huge_page);
}

static int scope_of(const struct hl_var *v)
{
    return is_alive(v) ? MPI_T_SCOPE_LOCAL : is_early(v) ? MPI_T_SCOPE_ALL_EQ : MPI_T_SCOPE_READONLY;
}

HL_CALL_RETURN(MPI_T_cvar_get_num, (int *num_cvar), hl_tool_give_number(num_cvar, row_count()))

HL_API(MPI_T_cvar_get_info);
int PMPI_T_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity, MPI_Datatype *datatype,
                         MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope)
{
    int err = hl_tool_check_index(cvar_index, row_count());

    if (err != MPI_SUCCESS) {
        return err;
    }
    const struct hl_var *v = cvar_of(cvar_index);
    hl_tool_give_text(v->name, name, name_len);
    hl_tool_give_text(v->help, desc, desc_len);
    hl_tool_give(verbosity, MPI_T_VERBOSITY_USER_BASIC);
    hl_tool_give_type(datatype, type_of(v));
    hl_tool_give_enum(enumtype, hl_tool_enum_of(v));
    hl_tool_give(bind, MPI_T_BIND_NO_OBJECT);
    hl_tool_give(scope, scope_of(v));
    return MPI_SUCCESS;
}

static const char *cvar_name(int i)
{
    return cvar_of(i)->name;
}

HL_CALL_RETURN(MPI_T_cvar_get_index, (const char *name, int *cvar_index),
               hl_tool_find(name, row_count(), cvar_name, cvar_index))

/* ---- Handles ---- */

HL_API(MPI_T_cvar_handle_alloc);
int PMPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count)
{
    int err = hl_tool_check_index(cvar_index, row_count());

    if (err != MPI_SUCCESS || handle == NULL || count == NULL) {
        return err != MPI_SUCCESS ? err : MPI_T_ERR_INVALID;
    }
    struct cvar *c = hl_handle_new(HL_KIND_CVAR);
    if (c == NULL) {
        return MPI_T_ERR_OUT_OF_HANDLES;
    }
    c->v = cvar_of(cvar_index);
    c->count = is_text(c->v) ? (int)strlen(c->v->value) + 1 : 1;
    *handle = (MPI_T_cvar_handle)(void *)c;
    *count = c->count;
    return MPI_SUCCESS;
}

static int get_cvar(MPI_T_cvar_handle handle, struct cvar **c)
{
    int err = hl_tool_check();

    *c = hl_handle_get(handle, HL_KIND_CVAR);
    return err == MPI_SUCCESS && *c == NULL ? MPI_T_ERR_INVALID_HANDLE : err;
}

HL_API(MPI_T_cvar_handle_free);
int PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    struct cvar *c;
    int err = hl_tool_check_out(handle);

    err = err == MPI_SUCCESS ? get_cvar(*handle, &c) : err;
    if (err == MPI_SUCCESS) {
        hl_handle_free(c);
        *handle = MPI_T_CVAR_HANDLE_NULL;
    }
    return err;
}

HL_API(MPI_T_cvar_read);
int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    struct cvar *c;
    int err = get_cvar(handle, &c);

    err = err == MPI_SUCCESS ? hl_tool_check_out(buf) : err;
    if (err != MPI_SUCCESS) {
        return err;
    }
    hl_mutex_lock(&hl_tool_lock);
    const char *field = (const char *)&hl_conf + c->v->offset;
    if (is_text(c->v)) {
        snprintf(buf, (size_t)c->count, "%s", c->v->value);
    } else {
        memcpy(buf, field, type_of(c->v) == MPI_INT ? sizeof(int) : sizeof(uint64_t));
    }
    hl_mutex_unlock(&hl_tool_lock);
    return MPI_SUCCESS;
}

/* Has the library ever been open in this process? */
static bool has_been_open(void)
{
    return hl_life_opened(HL_LIFE_MPI) || hl_life_opened(HL_LIFE_SESSION) || hl_life_opened(HL_LIFE_SHMEM);
}

HL_API(MPI_T_cvar_write);
int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    struct cvar *c;
    int err = get_cvar(handle, &c);

    err = err == MPI_SUCCESS ? hl_tool_check_out(buf) : err;
    if (err == MPI_SUCCESS && !is_alive(c->v) && (!is_early(c->v) || has_been_open())) {
        err = MPI_T_ERR_CVAR_SET_NEVER;
    }
    if (err != MPI_SUCCESS) {
        return err;
    }
    hl_mutex_lock(&hl_tool_lock);
    err = hl_conf_put(c->v, buf) == 0 ? MPI_SUCCESS : MPI_T_ERR_INVALID;
    if (err == MPI_SUCCESS && is_at(c->v, &hl_conf.log)) {
        hl_log_limit((enum hl_log_level)hl_conf.log);
    }
    hl_mutex_unlock(&hl_tool_lock);
    return err;
}
