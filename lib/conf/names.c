/* Unknown names that look like ours: a setting without effect is a trap, so each gets a line. */
#include "conf_internal.h"

#include "log.h"
#include "util.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTES 16
#define NAME_MOST 64

static char notes[NOTES + 1][512]; /* written by hl_conf_load only; the last one counts what has no room */
static int note_count, left_out;

static const char *const others[] = {
#define NAME_ONLY(name, help) name,
    HL_TOOL_VARS(NAME_ONLY)
#undef NAME_ONLY
};

static size_t least_of_three(size_t a, size_t b, size_t c)
{
    return hl_min_size(a, hl_min_size(b, c));
}

static bool is_same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edit distance of a and b: changed, added and lost letters, and swapped neighbours; capital and small
 * letters are one. Both are shorter than NAME_MOST. */
static size_t count_edits(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), rows[3][NAME_MOST + 1];
    for (size_t j = 0; j <= lb; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= la; i++) {
        size_t *now = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            bool differs = !is_same_letter(a[i - 1], b[j - 1]);
            now[j] = least_of_three(up[j] + 1, now[j - 1] + 1, up[j - 1] + differs);
            if (i > 1 && j > 1 && is_same_letter(a[i - 1], b[j - 2]) && is_same_letter(a[i - 2], b[j - 1])) {
                now[j] = hl_min_size(now[j], up2[j - 2] + 1);
            }
        }
    }
    return rows[la % 3][lb];
}

static bool is_known_name(const char *name)
{
    if (hl_conf_var_named(name) != NULL || hl_part_is_name(name)) {
        return true;
    }
    for (size_t i = 0; i < HL_COUNT_OF(others); i++) {
        if (strcmp(others[i], name) == 0) {
            return true;
        }
    }
    return false;
}

const char *hl_conf_nearer(const char *word, const char *known, const char *so_far)
{
    size_t most = hl_min_size(4, strlen(word) / 2 + 1); /* words at this distance are not meant */
    if (strlen(word) >= NAME_MOST || strlen(known) >= NAME_MOST) {
        return so_far;
    }
    most = so_far != NULL ? count_edits(word, so_far) : most;
    return count_edits(word, known) < most ? known : so_far;
}

/* Length of our prefix at the begin of a name; 0: it has none. */
static size_t prefix_of(const char *name)
{
    static const char *const prefixes[] = {"HOTLANE_", "MPICH_ALLOC_"};
    for (size_t i = 0; i < HL_COUNT_OF(prefixes); i++) {
        size_t len = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], len) == 0) {
            return len;
        }
    }
    return 0;
}

/* Compares the parts behind the prefix: with it, all short names would be near. */
const char *hl_conf_nearest(const char *name)
{
    size_t count, prefix = prefix_of(name);
    const struct hl_var *v = hl_conf_vars(&count);
    const char *found = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *other = hl_conf_other_name(&v[i]);
        if (strncmp(v[i].name, name, prefix) == 0) {
            found = hl_conf_nearer(name + prefix, v[i].name + prefix, found);
        }
        if (other != NULL && prefix == 0) {
            found = hl_conf_nearer(name, other, found);
        }
    }
    return found != NULL ? found - prefix : NULL;
}

void hl_conf_note_add(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (note_count < NOTES) {
        vsnprintf(notes[note_count++], sizeof notes[0], fmt, args);
    } else {
        snprintf(notes[NOTES], sizeof notes[0], "%d more such lines are left out", ++left_out);
        note_count = NOTES + 1;
    }
    va_end(args);
}

void hl_conf_note_unknown(const char *name, const char *where)
{
    const char *meant = hl_conf_nearest(name);
    hl_conf_note_add("%s%s%.100s is not a variable of this library and has no effect%s%s%s",
                     where != NULL ? where : "", where != NULL ? ": " : "", name,
                     meant != NULL ? "; did you mean " : "", meant != NULL ? meant : "",
                     meant != NULL ? "?" : "");
}

/* True for a mistyped name of ours. Other libraries' names begin like these, too, so it must be very
 * near to one of ours. */
static bool is_slip(const char *name)
{
    bool beside =
        strncmp(name, "SHMEM_", 6) == 0 || strncmp(name, "MPICH_", 6) == 0 || strncmp(name, "SMA_", 4) == 0;
    const char *meant = beside ? hl_conf_nearest(name) : NULL;
    return meant != NULL && count_edits(name, meant) <= 2;
}

bool hl_conf_is_ours(const char *name)
{
    return prefix_of(name) > 0 || is_slip(name) || is_known_name(name);
}

/* True for a name that looks like ours, but is neither ours nor, spelt exactly so, another library's. */
static bool is_unknown(const char *name)
{
    bool ours = prefix_of(name) > 0, slip = !ours && is_slip(name);
    if ((!ours && !slip) || is_known_name(name)) {
        return false;
    }
    const struct hl_carried *row = slip ? hl_conf_carried_of(name, strlen(name)) : NULL;
    return row == NULL || strcmp(row->name, name) != 0;
}

void hl_conf_check_names(char *const *env)
{
    for (; *env != NULL; env++) {
        char name[128];
        size_t len = strcspn(*env, "=");
        if (len >= sizeof name) {
            continue;
        }
        memcpy(name, *env, len);
        name[len] = '\0';
        if (is_unknown(name)) {
            hl_conf_note_unknown(name, NULL);
        }
    }
}

const char *hl_conf_note(int which)
{
    return which < note_count ? notes[which] : NULL;
}

void hl_conf_tell(void)
{
    static bool told;
    if (told) {
        return;
    }
    told = true;
    for (int i = 0; i < note_count; i++) {
        hl_log(HL_LOG_WARN, "%s", notes[i]);
    }
    char *line = hl_conf.env_notice ? hl_conf_carried_line() : NULL;
    if (line != NULL) {
        hl_log(HL_LOG_WARN, "variables of other libraries: %s (HOTLANE_ENV_NOTICE=0: no word of them)", line);
    }
    free(line);
}
