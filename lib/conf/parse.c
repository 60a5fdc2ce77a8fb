/* Strict parsers: a value is taken whole or refused with what would have been allowed. */
#include "conf.h"

#include "conf_internal.h"
#include "err.h"
#include "part.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NODES 64 /* nodes in a set */

static int parse_bool(const char *text, int *out)
{
    static const char *const on[] = {"1", "yes", "on", "true"}, *const off[] = {"0", "no", "off", "false"};
    for (int i = 0; i < 4; i++) {
        if (strcasecmp(text, on[i]) == 0 || strcasecmp(text, off[i]) == 0) {
            *out = strcasecmp(text, on[i]) == 0;
            return 0;
        }
    }
    return HL_ERR_ARG;
}

static int parse_switch(const char *text, enum hl_conf_switch *out)
{
    int on = 0, rc = 0;
    if (strcasecmp(text, "auto") == 0) {
        *out = HL_CONF_AUTO;
    } else if ((rc = parse_bool(text, &on)) == 0) {
        *out = on != 0 ? HL_CONF_ON : HL_CONF_OFF;
    }
    return rc;
}

/* Any text switches on, as standards say for some variables, except words for "no" and an empty text. */
static void parse_flag(const char *text, int *out)
{
    int word = 1;
    *out = text[0] != '\0' && (parse_bool(text, &word) != 0 || word != 0);
}

bool hl_conf_digits(const char **at, uint64_t *out)
{
    const char *first = *at;
    *out = 0;
    for (; isdigit((unsigned char)**at); (*at)++) {
        if (*out > (INT64_MAX - 9) / 10) {
            return false;
        }
        *out = 10 * *out + (uint64_t)(**at - '0');
    }
    return *at > first;
}

/* Parses a whole number without sign. */
static int parse_int(const char *text, int64_t *out)
{
    uint64_t n;
    if (!hl_conf_digits(&text, &n) || *text != '\0') {
        return HL_ERR_ARG;
    }
    *out = (int64_t)n;
    return 0;
}

const char *hl_conf_unit(const char *text, uint64_t *unit)
{
    const char *at = *text != '\0' ? strchr("KMGT", toupper((unsigned char)*text)) : NULL;
    if (at == NULL) {
        *unit = 1;
        return text;
    }
    *unit = (uint64_t)1 << (10 * (at - "KMGT" + 1));
    text += text[1] == 'i' && text[2] == 'B' ? 2 : 1;
    return toupper((unsigned char)*text) == 'B' ? text + 1 : text;
}

/* Does not use strtod, which takes hexadecimal digits and exponents, and in other locales another
 * decimal point. */
int hl_conf_parse_size(const char *text, uint64_t *bytes)
{
    uint64_t whole, part = 0, unit;
    double tens = 1;
    if (!hl_conf_digits(&text, &whole)) {
        return HL_ERR_ARG;
    }
    if (*text == '.') {
        const char *first = ++text;
        if (!hl_conf_digits(&text, &part)) {
            return HL_ERR_ARG;
        }
        for (; first < text; first++) {
            tens *= 10;
        }
    }
    if (*hl_conf_unit(text, &unit) != '\0' || whole > INT64_MAX / unit) {
        return HL_ERR_ARG;
    }
    *bytes = whole * unit + (uint64_t)((double)part / tens * (double)unit);
    return 0;
}

int hl_conf_parse_nodes(const char *text, uint64_t all, uint64_t *out)
{
    if (strcasecmp(text, "all") == 0) {
        *out = all;
        return 0;
    }
    uint64_t set = 0;
    for (const char *at = text;; at++) {
        char *end;
        unsigned long first = strtoul(at, &end, 10), last = first;
        bool bad = end == at || *at < '0' || *at > '9';
        if (!bad && *end == '-') {
            at = end + 1;
            last = strtoul(at, &end, 10);
            bad = end == at || *at < '0' || *at > '9';
        }
        if (bad || last < first || last >= NODES || (*end != ',' && *end != '\0')) {
            return HL_ERR_ARG;
        }
        for (unsigned long n = first; n <= last; n++) {
            set |= (uint64_t)1 << n;
        }
        if (*end == '\0') {
            break;
        }
        at = end;
    }
    *out = set;
    return 0;
}

static int parse_choice(const char *choices, const char *text, int *out)
{
    size_t len = strlen(text);
    int index = 0;
    for (const char *word = choices;; index++) {
        size_t n = strcspn(word, "|");
        if (n == len && strncasecmp(word, text, n) == 0) {
            *out = index;
            return 0;
        }
        if (word[n] == '\0') {
            return HL_ERR_ARG;
        }
        word += n + 1;
    }
}

/* Parses one of the sizes in `choices`, in any spelling of sizes except fractions. */
static int parse_page_choice(const char *choices, const char *text, uint64_t *out)
{
    uint64_t number;
    if (strpbrk(text, ".|") != NULL || hl_conf_parse_size(text, &number) != 0) {
        return HL_ERR_ARG;
    }
    for (const char *word = choices;; word++) {
        char one[16];
        uint64_t bytes;
        size_t n = strcspn(word, "|");
        snprintf(one, sizeof one, "%.*s", (int)n, word);
        if (hl_conf_parse_size(one, &bytes) == 0 && number == bytes) {
            *out = bytes;
            return 0;
        }
        word += n;
        if (*word == '\0') {
            return HL_ERR_ARG;
        }
    }
}

static bool is_out_of_bounds(const struct hl_var *v, uint64_t n)
{
    bool unlike = v->kind == HL_CONF_INT && v->choices[0] != '\0' && (n & (n - 1)) != 0;
    return n < v->min || (v->max != 0 && n > v->max) || unlike;
}

static int refuse_value(const struct hl_var *v, const char *value)
{
    char most[40] = "";
    switch (v->kind) {
    case HL_CONF_BOOL:
        return hl_err_say(HL_ERR_ARG, "%s=%s: expected 1, 0, yes, no, on, off, true or false", v->name,
                          value);
    case HL_CONF_SWITCH:
        return hl_err_say(HL_ERR_ARG, "%s=%s: expected 1, 0, yes, no, on, off, true, false or auto", v->name,
                          value);
    case HL_CONF_INT:
        return hl_err_say(HL_ERR_ARG, "%s=%s: expected %s from %llu to %llu", v->name, value,
                          v->choices[0] == '\0' ? "a whole number"
                          : v->min == 0         ? "0 or a power of two"
                                                : "a power of two",
                          (unsigned long long)v->min, (unsigned long long)v->max);
    case HL_CONF_SIZE:
        if (v->max != 0) {
            snprintf(most, sizeof most, ", at most %llu", (unsigned long long)v->max);
        }
        return hl_err_say(HL_ERR_ARG,
                          "%s=%s: expected a number of bytes (K, M, G, T may follow), at least %llu%s%s%s",
                          v->name, value, (unsigned long long)v->min, most,
                          v->choices[0] != '\0' ? ", or " : "", v->choices);
    case HL_CONF_PAGE:
        return hl_err_say(HL_ERR_ARG, "%s=%s: expected one of %s, or that in bytes", v->name, value,
                          v->choices);
    case HL_CONF_HEAP:
        return hl_err_say(HL_ERR_ARG, "%s=%s: expected bytes as in 20m or 3.1M (K, M, G, T), or auto",
                          v->name, value);
    case HL_CONF_NODES:
        return hl_err_say(HL_ERR_ARG, "%s=%s: expected node numbers as in 8-15 or 1,3, or all", v->name,
                          value);
    default:
        return hl_err_say(HL_ERR_ARG, "%s=%s: expected one of %s", v->name, value, v->choices);
    }
}

int hl_conf_parse(const struct hl_var *v, const char *value, void *out)
{
    int rc = 0, word;
    uint64_t nodes;
    struct hl_part part;
    char why[HL_PART_WHY];
    switch (v->kind) {
    case HL_CONF_BOOL:
        rc = parse_bool(value, out);
        break;
    case HL_CONF_SWITCH:
        rc = parse_switch(value, out);
        break;
    case HL_CONF_FLAG:
        parse_flag(value, out);
        break;
    case HL_CONF_HEAP:
        *(uint64_t *)out = UINT64_MAX;
        rc = strcasecmp(value, "auto") == 0 ? 0 : hl_part_parse_size(value, true, out);
        break;
    case HL_CONF_PARTS:
        rc = value[0] != '\0' ? hl_part_parse(value, &part, why) : 0;
        *(const char **)out = value;
        break;
    case HL_CONF_INT:
        rc = parse_int(value, out);
        rc = rc == 0 && is_out_of_bounds(v, (uint64_t) * (int64_t *)out) ? HL_ERR_ARG : rc;
        break;
    case HL_CONF_SIZE:
        if (v->choices[0] != '\0' && parse_choice(v->choices, value, &word) == 0) {
            *(uint64_t *)out = UINT64_MAX;
            break;
        }
        rc = hl_conf_parse_size(value, out);
        rc = rc == 0 && is_out_of_bounds(v, *(uint64_t *)out) ? HL_ERR_ARG : rc;
        break;
    case HL_CONF_PAGE:
        if (strncmp(v->choices, "auto|", 5) == 0 && strcasecmp(value, "auto") == 0) {
            *(uint64_t *)out = UINT64_MAX;
            break;
        }
        rc = parse_page_choice(v->choices, value, out);
        break;
    case HL_CONF_TEXT:
        rc = v->choices[0] != '\0' ? parse_choice(v->choices, value, &word) : 0;
        *(const char **)out = value;
        break;
    case HL_CONF_NODES:
        rc = value[0] != '\0' ? hl_conf_parse_nodes(value, 0, &nodes) : 0;
        *(const char **)out = value;
        break;
    case HL_CONF_CHOICE:
        rc = parse_choice(v->choices, value, out);
        break;
    }
    return rc == 0 ? 0 : refuse_value(v, value);
}
