/* The table of variables and where their values come from. */
#include "conf.h"

#include "err.h"
#include "fault.h"
#include "inside.h"
#include "util.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hl_conf hl_conf;

static struct hl_var vars[] = {
#define HL_CONF_ROW(field, kind, name, fallback, min, max, choices, help)                                    \
    {name,     fallback, choices, help, HL_CONF_##kind, min, max, offsetof(struct hl_conf, field),           \
     fallback, "default"},
    HL_VARS(HL_CONF_ROW)
#undef HL_CONF_ROW
};

const struct hl_var *hl_conf_vars(size_t *count)
{
    *count = HL_COUNT_OF(vars);
    return vars;
}

const struct hl_var *hl_conf_var_of(const void *field)
{
    size_t i = 0;
    while ((const char *)&hl_conf + vars[i].offset != field) {
        i++;
    }
    return &vars[i];
}

const char *hl_conf_env(const char *name)
{
    return getenv(name);
}

static bool is_set(char *const *env, const char *pair)
{
    size_t name = strcspn(pair, "=") + 1;
    for (; *env != NULL; env++) {
        if (strncmp(*env, pair, name) == 0) {
            return true;
        }
    }
    return false;
}

void hl_conf_with_env(const char *const *extra, void (*fn)(void *), void *arg)
{
    char **before = environ;
    size_t count = 0, more = 0;
    while (before != NULL && before[count] != NULL) {
        count++;
    }
    while (extra[more] != NULL) {
        more++;
    }
    /* A new array instead of setenv: readers in other threads keep a whole one, before, during and after. It
     * is never freed for their sake; a chain through the slot in front keeps it known to leak checkers. */
    static char **kept;
    char **during = malloc((count + more + 2) * sizeof *during);
    if (during != NULL) {
        during[0] = (char *)(void *)kept;
        kept = during++;
        if (count > 0) {
            memcpy(during, before, count * sizeof *during);
        }
        during[count] = NULL;
        for (size_t i = 0; i < more; i++) {
            if (!is_set(during, extra[i])) {
                during[count++] = (char *)(uintptr_t)extra[i];
                during[count] = NULL;
            }
        }
        environ = during;
    }
    fn(arg);
    if (during != NULL && environ == during) {
        environ = before;
    }
}

struct hl_var *hl_conf_var_named(const char *name)
{
    for (size_t i = 0; i < HL_COUNT_OF(vars); i++) {
        if (strcmp(vars[i].name, name) == 0) {
            return &vars[i];
        }
    }
    return NULL;
}

int hl_conf_set(struct hl_var *v, const char *value, const char *origin)
{
    int rc = hl_conf_parse(v, value, (char *)&hl_conf + v->offset);
    if (rc == 0) {
        v->value = value;
        v->origin = origin;
    }
    return rc;
}

/* A line of a file, `arg` its path. What it sets lives as long as the process. */
static int take_line(const char *name, const char *value, const char *where, void *arg)
{
    struct hl_var *v = hl_conf_var_named(name);
    if (v == NULL) {
        hl_conf_note_unknown(name, where);
        return 0;
    }
    if (v->offset == offsetof(struct hl_conf, conf_file)) {
        return hl_err_say(HL_ERR_ARG, "%s: %s is for the environment: a file cannot name the files to read",
                          where, name);
    }
    /* The text it lies in goes away, the setting stays. */
    size_t i = (size_t)(v - vars);
    static char *values[HL_COUNT_OF(vars)], *origins[HL_COUNT_OF(vars)];
    char *own_value = strdup(value), *own_origin = strdup(arg);
    if (own_value == NULL || own_origin == NULL) {
        free(own_value);
        free(own_origin);
        return hl_err_say(HL_ERR_NO_MEM, "%s: no memory", where);
    }
    int rc = hl_conf_set(v, own_value, own_origin);
    if (rc != 0) {
        char text[512];
        snprintf(text, sizeof text, "%s", hl_err_text(rc));
        free(own_value);
        free(own_origin);
        return hl_err_say(rc, "%s: %s", where, text);
    }
    free(values[i]);
    free(origins[i]);
    values[i] = own_value;
    origins[i] = own_origin;
    return 0;
}

static int load_files(void)
{
    const char *named = getenv("HOTLANE_CONF");
    char path[PATH_MAX];
    int rc = 0;
    if (named != NULL && strcmp(named, "default") != 0) {
        rc = named[0] != '\0' ? hl_conf_read_file(named, take_line, (void *)(uintptr_t)named) : 0;
        return rc == HL_ERR_NO_SUCH_FILE
                   ? hl_err_say(HL_ERR_ARG, "HOTLANE_CONF=%s: there is no such file", named)
                   : rc;
    }
    for (int which = 0; which < 2 && rc == 0; which++) {
        if (hl_conf_default_file(which, path, sizeof path)) {
            rc = hl_conf_read_file(path, take_line, path);
            rc = rc == HL_ERR_NO_SUCH_FILE ? 0 : rc;
        }
    }
    return rc;
}

#if HL_FAULTS
static int plant_fault(void)
{
    return hl_fault_plant(hl_conf.fault);
}
#else
static int plant_fault(void)
{
    return 0;
}
#endif

static int load(void)
{
    int rc = 0;
    for (size_t i = 0; i < HL_COUNT_OF(vars) && rc == 0; i++) {
        rc = hl_conf_set(&vars[i], vars[i].fallback, "default");
    }
    rc = rc == 0 ? load_files() : rc;
    for (size_t i = 0; i < HL_COUNT_OF(vars) && rc == 0; i++) {
        const char *value = getenv(vars[i].name);
        rc = value != NULL ? hl_conf_set(&vars[i], value, "environment") : 0;
    }
    rc = rc == 0 ? hl_conf_take_old_names() : rc;
    if (environ != NULL) {
        hl_conf_check_names(environ);
    }
    return rc == 0 ? plant_fault() : rc;
}

int hl_conf_load(void)
{
    static bool loaded;
    static int result;
    if (!loaded) {
        loaded = true;
        result = load();
    }
    return result;
}
