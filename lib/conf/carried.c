/* Variables of other libraries that are set: their rows of the table, and the line about them. */
#include "carried.h"

#include "conf_internal.h"
#include "util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MOST 1200 /* bytes of the line; with LINE_MORE still fewer than hl_log takes */
#define LINE_MORE 128  /* bytes for the words about variables that had no room */

static const struct hl_carried rows[] = {
#define ROW(name, fate, launcher, words) {name, launcher, words, HL_CARRIED_##fate},
    HL_CARRIED_VARS(ROW)
#undef ROW
};

const struct hl_carried *hl_conf_carried_rows(size_t *count)
{
    *count = HL_COUNT_OF(rows);
    return rows;
}

static bool does_fit_pattern(const char *pattern, const char *name, size_t len)
{
    size_t most = strlen(pattern);
    if (pattern[0] == '*') {
        return len >= most && memcmp(name + len - (most - 1), pattern + 1, most - 1) == 0;
    }
    if (pattern[most - 1] == '*') {
        return len >= most - 1 && memcmp(name, pattern, most - 1) == 0;
    }
    return len == most && memcmp(name, pattern, len) == 0;
}

const struct hl_carried *hl_conf_carried_of(const char *name, size_t len)
{
    for (size_t i = 0; i < HL_COUNT_OF(rows); i++) {
        if (does_fit_pattern(rows[i].name, name, len)) {
            return &rows[i];
        }
    }
    return NULL;
}

const char *hl_conf_carried_alias(const struct hl_var *v)
{
    for (size_t i = 0; i < HL_COUNT_OF(rows); i++) {
        if (rows[i].fate == HL_CARRIED_SAME && strcmp(rows[i].words, v->name) == 0 &&
            hl_conf_env(rows[i].name) != NULL) {
            return rows[i].name;
        }
    }
    return NULL;
}

void hl_conf_carried_text(const struct hl_carried *row, bool set, char *out, size_t cap)
{
    bool beaten = false;
    if (set && row->fate == HL_CARRIED_SAME) {
        beaten = strcmp(hl_conf_var_named(row->words)->origin, row->name) != 0;
    }
    static const char *const fates[] = {[HL_CARRIED_HONOURED] = "honoured ",
                                        [HL_CARRIED_SAME] = "means the same as ",
                                        [HL_CARRIED_NEEDLESS] = "not needed: ",
                                        [HL_CARRIED_NONE] = "no effect",
                                        [HL_CARRIED_QUIET] = "never told: "};
    const char *between = row->fate == HL_CARRIED_NONE && row->words[0] != '\0' ? ": " : "";
    snprintf(out, cap, "%s%s%s%s", fates[row->fate], between, row->words,
             beaten ? ", which is set too, or a partition, and wins" : "");
}

/* The row by which the line tells of a pair of the environment; NULL: it does not. */
static const struct hl_carried *told_as(const char *pair, size_t len)
{
    const struct hl_carried *row = hl_conf_carried_of(pair, len);
    char name[128];
    if (row == NULL || row->fate == HL_CARRIED_QUIET ||
        (row->launcher[0] != '\0' && hl_conf_env(row->launcher) != NULL)) {
        return NULL;
    }
    snprintf(name, sizeof name, "%.*s", (int)len, pair);
    return strchr(row->name, '*') == NULL || !hl_conf_is_ours(name) ? row : NULL;
}

size_t hl_conf_carried_set(struct hl_carried_set **out)
{
    size_t most = 0, count = 0;
    while (environ != NULL && environ[most] != NULL) {
        most++;
    }
    *out = calloc(most + 1, sizeof **out);
    for (size_t i = 0; *out != NULL && i < most && environ[i] != NULL; i++) {
        size_t len = strcspn(environ[i], "=");
        const struct hl_carried *row = told_as(environ[i], len);
        if (row != NULL) {
            (*out)[count++] = (struct hl_carried_set){.row = row, .pair = environ[i], .len = len};
        }
    }
    return count;
}

/* Adds the names of all variables with one text: "A, B: no effect". Returns the end of the line; *left counts
 * names that had no room. */
static size_t add_group(char *line, size_t at, struct hl_carried_set *set, size_t count, size_t *left)
{
    char text[256], other[256];
    size_t start = at;
    hl_conf_carried_text(set[0].row, true, text, sizeof text);
    for (size_t i = 0; i < count; i++) {
        hl_conf_carried_text(set[i].row, true, other, sizeof other);
        if (set[i].said || strcmp(text, other) != 0) {
            continue;
        }
        set[i].said = true;
        if (at + set[i].len + strlen(text) + sizeof "; , : " > LINE_MOST) {
            ++*left;
            continue;
        }
        at += (size_t)snprintf(line + at, LINE_MOST - at, "%s%.*s",
                               at > start ? ", "
                               : at > 0   ? "; "
                                          : "",
                               (int)set[i].len, set[i].pair);
    }
    return at > start ? at + (size_t)snprintf(line + at, LINE_MOST - at, ": %s", text) : at;
}

char *hl_conf_carried_line(void)
{
    struct hl_carried_set *set;
    size_t count = hl_conf_carried_set(&set), at = 0, left = 0;
    char *line = count > 0 ? malloc(LINE_MOST + LINE_MORE) : NULL;
    for (size_t i = 0; line != NULL && i < count; i++) {
        at = set[i].said ? at : add_group(line, at, set + i, count - i, &left);
    }
    if (line != NULL && left > 0) {
        snprintf(line + at, LINE_MORE, "; and %zu more, which hotlane-info --env lists", left);
    }
    free(set);
    return line;
}
