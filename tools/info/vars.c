/* Prints the variables: as a list with values, and as a page of the documentation. */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void info_bytes(uint64_t bytes, char *out, size_t cap)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (unit < 4 && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(out, cap, "%" PRIu64 " %s", bytes, units[unit]);
}

/* Writes "a|b|c" as "a, b, c". */
static void choices(const char *words, char *out, size_t cap)
{
    size_t at = 0;
    for (; *words != '\0' && at + 3 < cap; words++) {
        out[at++] = *words == '|' ? ',' : *words;
        if (*words == '|') {
            out[at++] = ' ';
        }
    }
    out[at] = '\0';
}

void info_values(const struct hl_var *v, char *out, size_t cap)
{
    char least[32], most[32];
    switch (v->kind) {
    case HL_CONF_BOOL:
        snprintf(out, cap, "1, 0, yes, no, on, off, true, false");
        break;
    case HL_CONF_SWITCH:
        snprintf(out, cap, "1, 0, yes, no, on, off, true, false, auto");
        break;
    case HL_CONF_FLAG:
        snprintf(out, cap, "any text; 0, no, off, false and nothing switch off");
        break;
    case HL_CONF_HEAP:
        snprintf(out, cap, "bytes, also with a fraction; K, M, G, T may follow; or auto");
        break;
    case HL_CONF_PARTS:
        snprintf(out, cap,
                 "size=bytes[:kind=D|N|S|F][:policy=P|M|I|S][:pgsize=4K|2M|1G...]; without them: D, P, 4K; "
                 "n: %" PRIu64 " to %" PRIu64,
                 v->min, v->max);
        break;
    case HL_CONF_INT:
        snprintf(out, cap, "%s%" PRIu64 " to %" PRIu64, v->choices[0] != '\0' ? "powers of two, " : "",
                 v->min, v->max);
        break;
    case HL_CONF_SIZE:
        info_bytes(v->min, least, sizeof least);
        info_bytes(v->max, most, sizeof most);
        snprintf(out, cap, "bytes, K, M, G, T may follow; at least %s%s%s%s%s", least,
                 v->max != 0 ? ", at most " : "", v->max != 0 ? most : "",
                 v->choices[0] != '\0' ? "; or " : "", v->choices);
        break;
    case HL_CONF_PAGE:
        choices(v->choices, out, cap);
        strncat(out, ", or that in bytes", cap - strlen(out) - 1);
        break;
    case HL_CONF_NODES:
        snprintf(out, cap, "node numbers as in 8-15 or 1,3, or all");
        break;
    default:
        if (v->choices[0] != '\0') {
            choices(v->choices, out, cap);
        } else {
            snprintf(out, cap, "text");
        }
    }
}

void info_variable(const struct hl_var *v)
{
    char values[256];
    info_values(v, values, sizeof values);
    printf("%s=%s  (%s)\n    %s\n    values: %s\n", v->name, v->value, v->origin, v->help, values);
}

void info_env(const struct facts *f)
{
    for (size_t i = 0; i < f->var_count; i++) {
        info_variable(&f->vars[i]);
    }
    struct hl_carried_set *set;
    size_t count = hl_conf_carried_set(&set);
    for (size_t i = 0; i < count; i++) {
        char text[256];
        hl_conf_carried_text(set[i].row, true, text, sizeof text);
        printf("%s  (environment)\n    of another library: %s\n", set[i].pair, text);
    }
    free(set);
    for (int i = 0; hl_conf_note(i) != NULL; i++) {
        printf("note: %s\n", hl_conf_note(i));
    }
}

static void cell(const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("|<*_`\\", *text) != NULL) {
            putchar('\\');
        }
        putchar(*text);
    }
}

static void tool_row(const char *name, const char *help)
{
    printf("| `%s` | ", name);
    cell(help);
    printf(" |\n");
}

static void info_carried(void)
{
    size_t count;
    const struct hl_carried *rows = hl_conf_carried_rows(&count);
    printf("\n## Variables of other libraries\n\n"
           "One line at the start says of those that are set what becomes of them; `HOTLANE_ENV_NOTICE=0` "
           "keeps it away.\n"
           "Names of the tables above are this library's, whatever families they would belong to; of the "
           "rest the "
           "first\nrow that fits counts. What launchers set by themselves is not told.\n\n"
           "| variable | here |\n|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        char text[256];
        hl_conf_carried_text(&rows[i], false, text, sizeof text);
        printf("| `%s` | ", rows[i].name);
        cell(text);
        printf(rows[i].launcher[0] != '\0' ? "; not told beside `%s`, which its launcher sets |\n" : "%s |\n",
               rows[i].launcher);
    }
}

void info_markdown(const struct facts *f)
{
    printf(
        "# Environment variables\n\n"
        "Three questions: Which variables does Hotlane read, and what does each of them do? "
        "Which values are taken, and what is the\n"
        "default? Which place wins when several set one?\n\n"
        "Made by `hotlane-info --markdown` from the table in `lib/conf/vars.h`; a test compares the two.\n\n"
        "A value is taken whole or refused at start-up with a line that says what is allowed. Where a value "
        "comes from,\n"
        "later ones win: the default; `etc/hotlane.conf` under the installation's prefix; `hotlane.conf` in\n"
        "`$XDG_CONFIG_HOME` or `~/.config`; the environment. A file holds `NAME=value` lines and comments "
        "that begin\n"
        "with `#`. `hotlane-info --env` shows what is in force here and where it came from. Names with our "
        "prefixes that\n"
        "are not in the table get one line at start-up, with the name that was probably meant.\n\n"
        "| variable | default | values | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < f->var_count; i++) {
        const struct hl_var *v = &f->vars[i];
        char values[256];
        info_values(v, values, sizeof values);
        const char *other = hl_conf_other_name(v);
        printf("| `%s`%s%s%s | ", v->name, other != NULL ? ", `" : "", other != NULL ? other : "",
               other != NULL ? "`" : "");
        printf(v->fallback[0] != '\0' ? "`%s` | " : "(empty)%s | ", v->fallback);
        cell(values);
        printf(" | ");
        cell(v->help);
        printf(" |\n");
    }
    printf("\n## Read by programs around the library\n\n| variable | meaning |\n|---|---|\n");
#define ROW(name, help) tool_row(name, help);
    HL_TOOL_VARS(ROW)
#undef ROW
    info_carried();
}
