/* The table of variables and where their values come from. */
#include "conf.h"

#include "err.h"

#include <stdbool.h>
#include <stdlib.h>

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
