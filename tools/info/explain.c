/* hotlane-info --explain NAME: prints what an error class or a variable means. */
#include "explain.h"
#include "info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    printf("%s (%d)%s%s\n", e->name, e->number, e->words[0] != '\0' ? ": " : "", e->words);
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

/* Nothing has this name: prints what could be meant, and what names there are, and ends. */
_Noreturn static void refuse_name(const struct facts *f)
{
    const char *meant = NULL;
    for (const struct info_error *e = info_errors; e->name != NULL; e++) {
        meant = hl_conf_nearer(f->asked, e->name, meant);
    }
    for (size_t i = 0; i < f->var_count; i++) {
        meant = hl_conf_nearer(f->asked, f->vars[i].name, meant);
    }
    fprintf(stderr,
            "hotlane-info: --explain %s: this is neither an error class of MPI nor a variable of Hotlane%s%s "
            "(--env lists the variables; `man %s` tells of a call)\n",
            f->asked, meant != NULL ? "; the nearest is " : "", meant != NULL ? meant : "", f->asked);
    exit(2);
}

void info_explain(const struct facts *f)
{
    for (const struct info_error *e = info_errors; e->name != NULL; e++) {
        if (strcmp(e->name, f->asked) == 0) {
            print_error(e);
            return;
        }
    }
    for (size_t i = 0; i < f->var_count; i++) {
        const char *other = hl_conf_other_name(&f->vars[i]);
        if (strcmp(f->vars[i].name, f->asked) == 0 || (other != NULL && strcmp(other, f->asked) == 0)) {
            info_variable(&f->vars[i]);
            return;
        }
    }
    refuse_name(f);
}
