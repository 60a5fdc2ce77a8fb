/* hotlane-info --explain NAME: prints what an error class, a variable or a counter means. */
#include "explain.h"
#include "info.h"
#include "stat.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define COLUMNS 100

/* Prints words in lines of at most COLUMNS, each indented by four. */
static void print_folded(const char *text)
{
    for (size_t at = 0; *text != '\0';) {
        size_t word = strcspn(text, " ");
        if (at == 0 || at + 1 + word > COLUMNS) {
            printf("%s    ", at == 0 ? "" : "\n");
            at = 4;
        } else {
            putchar(' ');
            at++;
        }
        printf("%.*s", (int)word, text);
        at += word;
        text += word + strspn(text + word, " ");
    }
    putchar('\n');
}

static void print_error(const struct info_error *e)
{
    printf("%s (%d): %s\n", e->name, e->number, e->words);
    if (e->calls[0] != '\0') {
        puts("  calls that give it (their manual pages say when):");
        print_folded(e->calls);
    }
    if (e->cases[0] != '\0') {
        printf("  wrong calls that give it:\n");
    }
    for (const char *line = e->cases; *line != '\0';) {
        size_t len = strcspn(line, "\n");
        printf("    %.*s\n", (int)len, line);
        line += len + 1;
    }
}

static bool is_call(const char *name)
{
    static const char *const prefixes[] = {"MPI_", "MPIX_", "shmem_", "shmemx_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* Length of the prefix of error classes that a name begins with; 0: it has none. */
static size_t error_prefix(const char *name)
{
    return strncasecmp(name, "MPI_ERR_", 8) == 0 ? 8 : strncasecmp(name, "MPI_T_ERR_", 10) == 0 ? 10 : 0;
}

/* The error class that a name with a prefix of that length may mean: one that it is the beginning of, else the
 * nearest behind the prefix; NULL: none is near. */
static const char *nearest_error(const char *name, size_t prefix)
{
    const char *meant = NULL;
    size_t len = strlen(name);
    for (const struct info_error *e = info_errors; e->name != NULL; e++) {
        if (strncasecmp(e->name, name, prefix) != 0) {
            continue;
        }
        if (len > prefix + 2 && strncasecmp(e->name, name, len) == 0) {
            return e->name;
        }
        meant = hl_conf_nearer(name + prefix, e->name + prefix, meant);
    }
    return meant != NULL ? meant - prefix : NULL;
}

/* The name of anything that a name without such a prefix may mean, or NULL. */
static const char *nearest_name(const struct facts *f, const char *name)
{
    const char *meant = NULL;
    for (const struct info_error *e = info_errors; e->name != NULL; e++) {
        meant = hl_conf_nearer(name, e->name, meant);
    }
    for (size_t i = 0; i < f->var_count; i++) {
        meant = hl_conf_nearer(name, f->vars[i].name, meant);
    }
    for (int i = 0; i < hl_stat_count(); i++) {
        meant = hl_conf_nearer(name, hl_stat_name(i), meant);
    }
    return meant;
}

/* Nothing has this name: prints what could be meant, and what names there are, and ends. */
_Noreturn static void refuse_name(const struct facts *f, const char *name)
{
    size_t prefix = error_prefix(name);
    bool call = prefix == 0 && is_call(name);
    const char *meant = prefix > 0 ? nearest_error(name, prefix) : nearest_name(f, name);
    fprintf(stderr,
            "hotlane-info: --explain %s: this is no error class of MPI, and no variable or counter of "
            "Hotlane%s%s (--env lists the variables%s%s%s)\n",
            f->asked, meant != NULL ? "; the nearest is " : "", meant != NULL ? meant : "",
            call ? "; `man " : "", call ? name : "", call ? "` tells of a call" : "");
    exit(2);
}

/* Has the variable this name? One of a family, PARTITION<n>, has that with any number in its range. */
static bool is_named(const struct hl_var *v, const char *known, const char *name)
{
    size_t len = known != NULL ? strcspn(known, "<") : 0;
    if (known == NULL || known[len] == '\0' || strncasecmp(name, known, len) != 0 ||
        !isdigit((unsigned char)name[len])) {
        return known != NULL && strcasecmp(name, known) == 0;
    }
    char *end;
    unsigned long number = strtoul(name + len, &end, 10);
    return *end == '\0' && number >= v->min && number <= v->max;
}

static bool explain_error(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);
    bool numeric = isdigit((unsigned char)name[0]) && *end == '\0';
    for (const struct info_error *e = info_errors; e->name != NULL; e++) {
        if (numeric ? e->number == number : strcasecmp(e->name, name) == 0) {
            print_error(e);
            return true;
        }
    }
    return false;
}

static bool explain_variable(const struct facts *f, const char *name)
{
    for (size_t i = 0; i < f->var_count; i++) {
        const struct hl_var *v = &f->vars[i];
        if (is_named(v, v->name, name) || is_named(v, hl_conf_other_name(v), name)) {
            info_variable(v);
            return true;
        }
    }
    return false;
}

static bool explain_counter(const char *name)
{
    for (int i = 0; i < hl_stat_count(); i++) {
        if (strcasecmp(hl_stat_name(i), name) == 0) {
            printf("%s: a counter: %s\n    HOTLANE_STATS=1 shows it at the end of a job\n", hl_stat_name(i),
                   hl_stat_help(i));
            return true;
        }
    }
    return false;
}

void info_explain(const struct facts *f)
{
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(f->asked, "="), f->asked); /* NAME=VALUE, too */
    if (!explain_error(name) && !explain_variable(f, name) && !explain_counter(name)) {
        refuse_name(f, name);
    }
}
