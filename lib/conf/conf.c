/* The table of variables and where their values come from. */
#include "conf.h"

#include "conf_internal.h"
#include "err.h"
#include "lock.h"
#include "util.h"

#include <limits.h>
#include <link.h>
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

const char *hl_conf_other_name(const struct hl_var *v)
{
    static const struct {
        size_t offset;
        const char *name;
    } others[] = {
#define OTHER(field, name) {offsetof(struct hl_conf, field), name},
        HL_OTHER_NAMES(OTHER)
#undef OTHER
    };
    for (size_t i = 0; i < HL_COUNT_OF(others); i++) {
        if (others[i].offset == v->offset) {
            return others[i].name;
        }
    }
    return NULL;
}

static bool is_set_in_env(char *const *env, const char *pair)
{
    size_t name = strcspn(pair, "=") + 1;
    for (; *env != NULL; env++) {
        if (strncmp(*env, pair, name) == 0) {
            return true;
        }
    }
    return false;
}

/* A call of hl_conf_with_env that has not returned. */
struct lender {
    const char *const *extra;
    struct lender *next;
};

static struct hl_mutex env_lock = HL_MUTEX_INIT;
static struct lender *lenders HL_GUARDED_BY(env_lock);
static char **users HL_GUARDED_BY(env_lock); /* the environment without what lenders add, */
static char **lent HL_GUARDED_BY(env_lock);  /* and with it; */
static char **kept HL_GUARDED_BY(env_lock);  /* every array that was made */

static size_t count_pairs(char *const *env)
{
    size_t count = 0;
    while (env != NULL && env[count] != NULL) {
        count++;
    }
    return count;
}

/* Keeps an array, of which one slot in front is free, unless one with the same pairs was made before: that
 * one serves again. Returns the array that is to be used. */
static char **keep_env(char **made) HL_REQUIRES(env_lock)
{
    for (char **slot = kept; slot != NULL; slot = (char **)(void *)slot[0]) {
        size_t i = 0;
        while (slot[1 + i] == made[i] && made[i] != NULL) {
            i++;
        }
        if (slot[1 + i] == made[i]) {
            free(made - 1);
            return slot + 1;
        }
    }
    made[-1] = (char *)(void *)kept;
    kept = made - 1;
    return made;
}

/* Makes an environment of the user's and what the lenders add. A new array instead of setenv: readers in
 * other threads always have a whole one. For their sake it is never freed, but used again; leak checkers find
 * it by a chain through the slot in front. Without memory the environment stays as it is. */
static void lend_env(void) HL_REQUIRES(env_lock)
{
    size_t count = count_pairs(users), most = count + 2;
    for (const struct lender *l = lenders; l != NULL; l = l->next) {
        most += count_pairs((char *const *)(uintptr_t)l->extra);
    }
    char **during = malloc(most * sizeof *during);
    if (during == NULL) {
        return;
    }
    during++;
    if (count > 0) {
        memcpy(during, users, count * sizeof *during);
    }
    during[count] = NULL;
    for (const struct lender *l = lenders; l != NULL; l = l->next) {
        for (size_t i = 0; l->extra[i] != NULL; i++) {
            if (!is_set_in_env(during, l->extra[i])) {
                during[count++] = (char *)(uintptr_t)l->extra[i];
                during[count] = NULL;
            }
        }
    }
    environ = lent = keep_env(during);
}

void hl_conf_with_env(const char *const *extra, void (*fn)(void *), void *arg)
{
    struct lender me = {.extra = extra};
    hl_mutex_lock(&env_lock);
    users = lenders == NULL || environ != lent ? environ : users;
    me.next = lenders;
    lenders = &me;
    lend_env();
    hl_mutex_unlock(&env_lock);
    fn(arg);
    hl_mutex_lock(&env_lock);
    struct lender **at = &lenders;
    while (*at != &me) {
        at = &(*at)->next;
    }
    *at = me.next;
    if (environ == lent && lenders == NULL) {
        environ = users;
    } else if (environ == lent) {
        lend_env();
    }
    hl_mutex_unlock(&env_lock);
}

struct hl_var *hl_conf_var_named(const char *name)
{
    for (size_t i = 0; i < HL_COUNT_OF(vars); i++) {
        const char *other = hl_conf_other_name(&vars[i]);
        if (strcmp(vars[i].name, name) == 0 || (other != NULL && strcmp(other, name) == 0)) {
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

/* Puts the line's place before an error's text; returns `rc`. */
static int refuse_line(const char *where, int rc)
{
    return hl_err_say(rc, "%s: %s", where, hl_err_text(rc));
}

static int refused; /* the first refusal; its text is in refused_text */
static char refused_text[HL_ERR_TEXT];

/* Marks a row whose new value was refused; its value and field stay. Other rows are read all the same, since
 * hotlane-info shows them. */
static void refuse_var(struct hl_var *v, int rc)
{
    const char *text = hl_err_text(rc);
    char *origin = malloc(strlen(text) + sizeof "refused: ");
    if (origin != NULL) {
        v->origin = strcat(strcpy(origin, "refused: "), text); /* lives as long as the process */
    }
    if (refused == 0) {
        refused = rc;
        snprintf(refused_text, sizeof refused_text, "%s", text);
    }
}

/* Takes a line of a file; `arg` is its path. A value that it sets lives as long as the process. */
static int take_line(const char *name, const char *value, const char *where, void *arg)
{
    struct hl_var *v = hl_conf_var_named(name);
    if (hl_part_is_name(name)) {
        int rc = hl_part_take(name, value, arg);
        return rc == 0 ? 0 : refuse_line(where, rc);
    }
    if (v == NULL) {
        hl_conf_note_unknown(name, where);
        return 0;
    }
    if (v->offset == offsetof(struct hl_conf, conf_file)) {
        return hl_err_say(HL_ERR_ARG, "%s: %s is for the environment: a file cannot name the files to read",
                          where, name);
    }
    /* The file's text goes away, but the setting stays: copies are kept. */
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
        free(own_value);
        free(own_origin);
        refuse_var(v, refuse_line(where, rc));
        return 0;
    }
    free(values[i]);
    free(origins[i]);
    values[i] = own_value;
    origins[i] = own_origin;
    return 0;
}

static int load_files(void)
{
    static char path[PATH_MAX]; /* under the lock of hl_conf_load */
    const char *named = getenv("HOTLANE_CONF");
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
            if (rc == HL_ERR_ACCESS) { /* in a container HOME may be another user's */
                hl_conf_note_add(
                    "%s, so it is not read; HOTLANE_CONF= (empty) keeps it from being looked for",
                    hl_err_text(rc));
            }
            rc = rc == HL_ERR_NO_SUCH_FILE || rc == HL_ERR_ACCESS ? 0 : rc;
        }
    }
    return rc;
}

/* Takes a row's value from the environment, under either name, or, when neither is set, under another
 * library's. */
static int take_env(struct hl_var *v)
{
    const char *other = hl_conf_other_name(v), *value = getenv(v->name);
    const char *second = other != NULL ? getenv(other) : NULL, *origin = "environment";
    if (value != NULL && second != NULL && strcmp(value, second) != 0) {
        return hl_err_say(HL_ERR_ARG, "%s=%s and %s=%s: two names of one setting", v->name, value, other,
                          second);
    }
    if (value == NULL && second == NULL && hl_conf_carried_alias(v) != NULL) {
        origin = other = hl_conf_carried_alias(v);
        second = getenv(other);
    }
    if (value == NULL && second != NULL) {
        struct hl_var named = *v;
        uint64_t scratch;
        named.name = other;
        int rc = hl_conf_parse(&named, second, &scratch); /* a refusal then names the variable that is set */
        return rc == 0 ? hl_conf_set(v, second, origin) : rc;
    }
    return value != NULL ? hl_conf_set(v, value, "environment") : 0;
}

/* Called by dl_iterate_phdr for each object; returning 1 ends the search. */
static int is_of_valgrind(struct dl_phdr_info *object, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    return strstr(object->dlpi_name, "/vgpreload_") != NULL;
}

/* Sets defaults. Valgrind sees no write by another process, so it takes bytes that peers have put for
 * uninitialised: under it HOTLANE_CMA is 0 unless the user sets it. */
static int set_defaults(void)
{
    int rc = 0;
    for (size_t i = 0; i < HL_COUNT_OF(vars) && rc == 0; i++) {
        rc = hl_conf_set(&vars[i], vars[i].fallback, "default");
    }
    if (rc == 0 && dl_iterate_phdr(is_of_valgrind, NULL) != 0) {
        rc = hl_conf_set(hl_conf_var_named("HOTLANE_CMA"), "0", "valgrind");
    }
    return rc;
}

static int load_vars(void)
{
    int rc = set_defaults();
    rc = rc == 0 ? load_files() : rc;
    for (size_t i = 0; i < HL_COUNT_OF(vars) && rc == 0; i++) {
        int bad = take_env(&vars[i]);
        if (bad != 0) {
            refuse_var(&vars[i], bad);
        }
    }
    rc = refused != 0 ? hl_err_say(refused, "%s", refused_text) : rc;
    rc = rc == 0 ? hl_part_take_env(environ) : rc;
    rc = rc == 0 ? hl_part_settle(hl_conf_var_of(&hl_conf.shmem_size)) : rc;
    rc = rc == 0 ? hl_conf_take_old_names() : rc;
    if (environ != NULL) {
        hl_conf_check_names(environ);
    }
    return rc;
}

int hl_conf_load(void)
{
    static struct hl_mutex once = HL_MUTEX_INIT;
    static bool loaded;
    static int result;
    hl_mutex_lock(&once);
    if (!loaded) {
        loaded = true;
        result = load_vars();
    }
    hl_mutex_unlock(&once);
    return result;
}
