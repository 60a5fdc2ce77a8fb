/* Values that the program itself gives, after files and environment. */
#include "conf.h"

#include "conf_internal.h"
#include "err.h"

#include <stdio.h>
#include <string.h>

enum { WORD = 32 };
#define HL_CONF_ONE(...) 1 +

int hl_conf_word(const struct hl_var *v, int n, char *out, size_t cap)
{
    const char *word = v->kind == HL_CONF_BOOL || v->kind == HL_CONF_FLAG ? "no|yes"
                       : v->kind == HL_CONF_SWITCH                        ? "no|yes|auto"
                                                                          : v->choices;
    for (; n > 0 && word != NULL; n--) {
        word = strchr(word, '|');
        word = word != NULL ? word + 1 : NULL;
    }
    if (n != 0 || word == NULL) {
        return HL_ERR_ARG;
    }
    snprintf(out, cap, "%.*s", (int)strcspn(word, "|"), word);
    return 0;
}

/* Writes the words that hl_conf_parse turns into this value. */
static int value_words(const struct hl_var *v, const void *value, char *out, size_t cap)
{
    switch (v->kind) {
    case HL_CONF_BOOL:
    case HL_CONF_SWITCH:
    case HL_CONF_CHOICE:
        return hl_conf_word(v, *(const int *)value, out, cap);
    case HL_CONF_INT:
        snprintf(out, cap, "%lld", (long long)*(const int64_t *)value);
        return 0;
    case HL_CONF_SIZE:
    case HL_CONF_PAGE:
        snprintf(out, cap, "%llu", (unsigned long long)*(const uint64_t *)value);
        if (*(const uint64_t *)value == UINT64_MAX) {
            snprintf(out, cap, "auto");
        }
        return 0;
    default:
        return HL_ERR_ARG;
    }
}

int hl_conf_put(const struct hl_var *v, const void *value)
{
    static char words[HL_VARS(HL_CONF_ONE) + 0][WORD]; /* the value of each row that was put */
    char text[WORD];
    size_t count;
    uint64_t scratch; /* a first parse into this: a refused value changes nothing */
    if (value_words(v, value, text, sizeof text) != 0) {
        return hl_err_say(HL_ERR_ARG, "the value is not one that %s takes", v->name);
    }
    int rc = hl_conf_parse(v, text, &scratch);
    if (rc != 0) {
        return rc;
    }
    char *own = words[v - hl_conf_vars(&count)];
    memcpy(own, text, sizeof text);
    return hl_conf_set(hl_conf_var_named(v->name), own, "program");
}
