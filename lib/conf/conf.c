/* The table of variables and where their values come from. */
#include "conf.h"

#include "err.h"

#include <stdbool.h>
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
    *count = sizeof vars / sizeof vars[0];
    return vars;
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

static int load(void)
{
    for (size_t i = 0; i < sizeof vars / sizeof vars[0]; i++) {
        struct hl_var *v = &vars[i];
        const char *set = getenv(v->name);
        if (set != NULL) {
            v->value = set;
            v->origin = "environment";
        }
        int rc = hl_conf_parse(v, v->value, (char *)&hl_conf + v->offset);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
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
