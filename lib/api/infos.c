/* Entry points of info objects. */
#include <limits.h>
#include <string.h>

#include "api.h"
#include "args.h"

/* The object of a handle that the call may change: not MPI_INFO_NULL or a constant. */
static int get_own(MPI_Info handle, struct hl_info **info)
{
    *info = hl_info_of(handle);
    return *info != NULL ? 0 : hl_api_bad_info(handle);
}

#define HL_CALL_INFO(name, params, check, what)                                                              \
    HL_CALL(name, params, struct hl_info *own, get_own(info, &own), check, what,                             \
            hl_api_leave(NULL, #name, err))

static int check_key(const char *key)
{
    if (!hl_is_address(key) || *key == '\0' || strnlen(key, MPI_MAX_INFO_KEY) == MPI_MAX_INFO_KEY) {
        return hl_err_say(HL_ERR_INFO_KEY, "an info key has 1 to %d characters", MPI_MAX_INFO_KEY - 1);
    }
    return 0;
}

int hl_api_give_info(int err, struct hl_info *const *made, MPI_Info *info)
{
    if (err == 0) {
        *info = (*made)->handle;
    }
    return err;
}

HL_API(MPI_Info_create);
int PMPI_Info_create(MPI_Info *info)
{
    struct hl_info *made = NULL;
    int err = hl_api_enter(hl_api_check_out(info, "info"));

    err = err == 0 ? hl_info_make(&made) : err;
    return hl_api_leave(NULL, "MPI_Info_create", hl_api_give_info(err, &made, info));
}

HL_API(MPI_Info_create_env);
int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{
    struct hl_info *made = NULL;
    int err = hl_api_enter(hl_api_check_out(info, "info"));

    err = err == 0 ? hl_info_make(&made) : err;
    if (err == 0) {
        err = hl_info_fill_env(made);
        if (err != 0) {
            hl_info_free(made);
        }
    }
    return hl_api_leave(NULL, "MPI_Info_create_env", hl_api_give_info(err, &made, info));
}

HL_API(MPI_Info_dup);
int PMPI_Info_dup(MPI_Info info, MPI_Info *newinfo)
{
    struct hl_info *from, *made = NULL;
    int err = hl_api_enter(get_own(info, &from));

    err = err == 0 ? hl_api_check_out(newinfo, "newinfo") : err;
    err = err == 0 ? hl_info_dup(from, &made) : err;
    return hl_api_leave(NULL, "MPI_Info_dup", hl_api_give_info(err, &made, newinfo));
}

HL_API(MPI_Info_free);
int PMPI_Info_free(MPI_Info *info)
{
    struct hl_info *own;
    int err = hl_api_enter(hl_api_check_out(info, "info"));

    err = err == 0 ? get_own(*info, &own) : err;
    if (err == 0 && own->handle == MPI_INFO_ENV) {
        err = hl_err_say(HL_ERR_INFO, "MPI_INFO_ENV cannot be freed");
    }
    if (err == 0) {
        hl_info_free(own);
        *info = MPI_INFO_NULL;
    }
    return hl_api_leave(NULL, "MPI_Info_free", err);
}

HL_API(MPI_Info_set);
int PMPI_Info_set(MPI_Info info, const char *key, const char *value)
{
    struct hl_info *own;
    int err = hl_api_enter(get_own(info, &own));

    err = err == 0 ? check_key(key) : err;
    if (err == 0 && value == NULL) {
        err = hl_err_say(HL_ERR_INFO_VALUE, "the value of info key %s is NULL", key);
    }
    if (err == 0 && own->handle == MPI_INFO_ENV) {
        err = hl_err_say(HL_ERR_INFO, "MPI_INFO_ENV cannot be changed");
    }
    err = err == 0 ? hl_info_set(own, key, value) : err;
    return hl_api_leave(NULL, "MPI_Info_set", err);
}

HL_API(MPI_Info_delete);
int PMPI_Info_delete(MPI_Info info, const char *key)
{
    struct hl_info *own;
    int err = hl_api_enter(get_own(info, &own));

    err = err == 0 ? check_key(key) : err;
    if (err == 0 && own->handle == MPI_INFO_ENV) {
        err = hl_err_say(HL_ERR_INFO, "MPI_INFO_ENV cannot be changed");
    }
    err = err == 0 ? hl_info_delete(own, key) : err;
    return hl_api_leave(NULL, "MPI_Info_delete", err);
}

HL_API(MPI_Info_get);
int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{
    struct hl_info *own;
    int len, err = hl_api_enter(get_own(info, &own));

    err = err == 0 ? check_key(key) : err;
    if (err == 0 && valuelen < 0) {
        err = hl_err_say(HL_ERR_ARG, "valuelen, %d, is negative", valuelen);
    }
    err = err == 0 ? hl_api_check_list(valuelen, value, "value") : err;
    err = err == 0 ? hl_api_check_out(flag, "flag") : err;
    if (err == 0) {
        int cap = value == NULL ? 0 : valuelen == INT_MAX ? valuelen : valuelen + 1;
        *flag = hl_info_get(own, key, value, cap, &len);
    }
    return hl_api_leave(NULL, "MPI_Info_get", err);
}

HL_API(MPI_Info_get_string);
int PMPI_Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag)
{
    struct hl_info *own;
    int len, err = hl_api_enter(get_own(info, &own));

    err = err == 0 ? check_key(key) : err;
    err = err == 0 ? hl_api_check_out(buflen, "buflen") : err;
    err = err == 0 ? hl_api_check_out(flag, "flag") : err;
    if (err == 0) {
        *flag = hl_info_get(own, key, value, value != NULL ? *buflen : 0, &len);
        if (*flag) {
            *buflen = len + 1;
        }
    }
    return hl_api_leave(NULL, "MPI_Info_get_string", err);
}

HL_API(MPI_Info_get_valuelen);
int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag)
{
    struct hl_info *own;
    int len, err = hl_api_enter(get_own(info, &own));

    err = err == 0 ? check_key(key) : err;
    err = err == 0 ? hl_api_check_out(valuelen, "valuelen") : err;
    err = err == 0 ? hl_api_check_out(flag, "flag") : err;
    if (err == 0) {
        *flag = hl_info_get(own, key, NULL, 0, &len);
        if (*flag) {
            *valuelen = len;
        }
    }
    return hl_api_leave(NULL, "MPI_Info_get_valuelen", err);
}

HL_CALL_INFO(MPI_Info_get_nkeys, (MPI_Info info, int *nkeys), 0,
             hl_api_give(nkeys, "nkeys", hl_info_count(own)))
HL_CALL_INFO(MPI_Info_get_nthkey, (MPI_Info info, int n, char *key), hl_api_check_out(key, "key"),
             hl_info_nth(own, n, key))
