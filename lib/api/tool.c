/* The tool interface: start, end, enumerations, and what its parts share. */
#include "tool.h"

#include <stdio.h>
#include <string.h>

#include "api.h"
#include "atomic.h"
#include "err.h"
#include "log.h"

struct hl_mutex hl_tool_lock = HL_MUTEX_INIT;
static hl_a32 users; /* atomic: MPI_T_init_thread less MPI_T_finalize; changed under the lock */

int hl_tool_check(void)
{
    /* acquire: sees the variables' values; pairs with the release in MPI_T_init_thread. */
    return hl_a32_load_acquire(&users) != 0 ? MPI_SUCCESS : MPI_T_ERR_NOT_INITIALIZED;
}

int hl_tool_check_out(const void *out)
{
    int err = hl_tool_check();

    return err == MPI_SUCCESS && out == NULL ? MPI_T_ERR_INVALID : err;
}

int hl_tool_check_index(int index, int n)
{
    int err = hl_tool_check();

    return err == MPI_SUCCESS && (index < 0 || index >= n) ? MPI_T_ERR_INVALID_INDEX : err;
}

int hl_tool_give_number(int *out, int value)
{
    int err = hl_tool_check_out(out);

    if (err == MPI_SUCCESS) {
        *out = value;
    }
    return err;
}

int hl_tool_find(const char *name, int n, const char *(*name_of)(int index), int *index)
{
    int err = hl_tool_check_out(index);

    if (err != MPI_SUCCESS || name == NULL) {
        return err != MPI_SUCCESS ? err : MPI_T_ERR_INVALID;
    }
    for (int i = 0; i < n; i++) {
        if (strcmp(name_of(i), name) == 0) {
            *index = i;
            return MPI_SUCCESS;
        }
    }
    return MPI_T_ERR_INVALID_NAME;
}

void hl_tool_give(int *out, int value)
{
    if (out != NULL) {
        *out = value;
    }
}

void hl_tool_give_type(MPI_Datatype *out, MPI_Datatype value)
{
    if (out != NULL) {
        *out = value;
    }
}

void hl_tool_give_enum(MPI_T_enum *out, MPI_T_enum value)
{
    if (out != NULL) {
        *out = value;
    }
}

void hl_tool_give_text(const char *text, char *out, int *len)
{
    if (len == NULL) {
        return;
    }
    if (out != NULL && *len > 0) {
        snprintf(out, (size_t)*len, "%s", text);
    }
    *len = (int)strlen(text) + 1;
}

/* ---- Start and end ---- */

HL_API(MPI_T_init_thread);
int PMPI_T_init_thread(int required, int *provided)
{
    if (provided == NULL || required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE) {
        return MPI_T_ERR_INVALID;
    }
    hl_mutex_lock(&hl_tool_lock);
    int err = hl_conf_load();
    if (err == 0) {
        /* release: the variables have their values; pairs with the acquire in hl_tool_check. */
        hl_a32_store_release(&users, hl_a32_load_relaxed(&users) + 1); /* relaxed: under lock */
        *provided = MPI_THREAD_MULTIPLE;
    }
    hl_mutex_unlock(&hl_tool_lock);
    if (err != 0) {
        hl_log(HL_LOG_ERROR, "MPI_T_init_thread: %s", hl_err_text(err));
    }
    return err == 0 ? MPI_SUCCESS : MPI_T_ERR_CANNOT_INIT;
}

HL_API(MPI_T_finalize);
int PMPI_T_finalize(void)
{
    hl_mutex_lock(&hl_tool_lock);
    int err = hl_tool_check();
    if (err == MPI_SUCCESS) {
        /* relaxed: under lock, and nothing is published. */
        hl_a32_store_relaxed(&users, hl_a32_load_relaxed(&users) - 1);
    }
    hl_mutex_unlock(&hl_tool_lock);
    return err;
}

/* ---- Enumerations: the handle is the row of the variable ---- */

MPI_T_enum hl_tool_enum_of(const struct hl_var *v)
{
    bool has = v->kind == HL_CONF_CHOICE || v->kind == HL_CONF_BOOL || v->kind == HL_CONF_FLAG ||
               v->kind == HL_CONF_SWITCH;

    return has ? (MPI_T_enum)(uintptr_t)v : MPI_T_ENUM_NULL;
}

/* The variable behind an enumeration's handle. MPI_T_ERR_INVALID_HANDLE for other handles. */
static int get_enum(MPI_T_enum handle, const struct hl_var **v)
{
    size_t n;
    const struct hl_var *all = hl_conf_vars(&n);
    int err = hl_tool_check();

    for (size_t i = 0; err == MPI_SUCCESS && i < n; i++) {
        if (handle != MPI_T_ENUM_NULL && hl_tool_enum_of(&all[i]) == handle) {
            *v = &all[i];
            return MPI_SUCCESS;
        }
    }
    return err != MPI_SUCCESS ? err : MPI_T_ERR_INVALID_HANDLE;
}

HL_API(MPI_T_enum_get_info);
int PMPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    const struct hl_var *v;
    char word[64];
    int n = 0, err = get_enum(enumtype, &v);

    if (err == MPI_SUCCESS) {
        while (hl_conf_word(v, n, word, sizeof word) == 0) {
            n++;
        }
        hl_tool_give(num, n);
        hl_tool_give_text(v->name, name, name_len);
    }
    return err;
}

HL_API(MPI_T_enum_get_item);
int PMPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len)
{
    const struct hl_var *v;
    char word[64];
    int err = get_enum(enumtype, &v);

    if (err == MPI_SUCCESS && (indx < 0 || hl_conf_word(v, indx, word, sizeof word) != 0)) {
        err = MPI_T_ERR_INVALID_INDEX;
    }
    if (err == MPI_SUCCESS) {
        hl_tool_give(value, indx);
        hl_tool_give_text(word, name, name_len);
    }
    return err;
}
