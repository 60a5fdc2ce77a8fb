/* mpiexec: the help text, and the nearest known word for a mistyped one. */
#include "mx.h"
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_AT = 28, WIDTH = 100 };

bool hl_mx_is_shmem(void)
{
    return !strncmp(program_invocation_short_name, "osh", 3);
}

/* Does the word "rank" or "ranks" begin at `at`? */
static bool is_rank(const char *text, const char *at)
{
    if (strncmp(at, "rank", 4) != 0) {
        return false;
    }
    const char *end = at + 4 + (at[4] == 's');
    bool begins = at == text || (!isalnum((unsigned char)at[-1]) && !strchr("-_$.", at[-1]));
    return begins && !isalnum((unsigned char)*end) && (!*end || !strchr("-_", *end));
}

const char *hl_mx_words(const char *text, char *out, size_t cap)
{
    size_t n = 0;
    if (!hl_mx_is_shmem()) {
        return text;
    }
    for (const char *at = text; *at && n + 3 < cap;) {
        if (is_rank(text, at)) {
            out[n++] = 'P';
            out[n++] = 'E';
            at += 4;
        } else {
            out[n++] = *at++;
        }
    }
    out[n] = 0;
    return out;
}

/* Prints `text` from column TEXT_AT on, in lines broken at blanks. */
static void print_text(const char *text)
{
    char shown[1024];
    text = hl_mx_words(text, shown, sizeof shown);
    int at = TEXT_AT;
    for (const char *word = text, *end; *word; word = end + strspn(end, " ")) {
        end = word + strcspn(word, " ");
        const char *blank = word == text ? "" : " ";
        if (at + 1 + (int)(end - word) > WIDTH) {
            printf("\n%*s", TEXT_AT, "");
            at = TEXT_AT;
            blank = "";
        }
        at += printf("%s%.*s", blank, (int)(end - word), word);
    }
    putchar('\n');
}

/* Prints row i with the further spellings behind it; returns the next row. */
static int print_row(int i)
{
    const char *text = hl_mx_rows[i].text;
    char item[80];
    int at = 0;
    do {
        const struct hl_mx_row *r = &hl_mx_rows[i++];
        int len = snprintf(item, sizeof item, "%s%s%s%s", r->name[1] ? "--" : "-", r->name,
                           *r->values ? " " : "", r->values);
        bool full = at > 0 && at + 2 + len >= WIDTH;
        const char *before = full ? ",\n  " : at ? ", " : "  ";
        at = (full ? -2 : at) + printf("%s%s", before, item);
    } while (i < hl_mx_row_count && !hl_mx_rows[i].text);
    if (at > TEXT_AT - 2) {
        putchar('\n');
        at = 0;
    }
    printf("%*s", TEXT_AT - at, "");
    print_text(text);
    return i;
}

static int print_group(const char *title, int i, enum hl_mx_opt last)
{
    printf("%s:\n", title);
    while (i < hl_mx_row_count && hl_mx_rows[i].id <= last) {
        i = print_row(i);
    }
    return i;
}

void hl_mx_help(void)
{
    const char *name = program_invocation_short_name;
    printf("usage: %s [options] program [arguments] [: [options] program [arguments]] ...\n"
           "Starts the %s of a parallel program on this machine. Options begin with one dash or two.\n\n",
           name, hl_mx_is_shmem() ? "PEs" : "ranks");
    int i = print_group("for each part (between colons)", 0, HL_MX_OPT_WDIR);
    i = print_group("for the whole job", i, HL_MX_OPT_VERSION);
    i = print_group("accepted without effect, with one line that names all that were given", i,
                    HL_MX_OPT_NOTHING);
    print_group("refused, and what to write instead", i, HL_MX_OPT_REFUSED);
    printf("\nThe exit code is the first one that is not zero; 128+n for signal n; 127 or 126 for a program\n"
           "that is not there or cannot run. See mpiexec(1).\n");
}

/* Edit distance of two words, at most 63 letters of each. */
static int distance(const char *a, const char *b)
{
    int row[64], la = (int)strnlen(a, 63), lb = (int)strnlen(b, 63);
    for (int j = 0; j <= lb; j++) {
        row[j] = j;
    }
    for (int i = 1; i <= la; i++) {
        int diag = row[0];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int best = diag + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) {
                best = row[j] + 1;
            }
            if (row[j - 1] + 1 < best) {
                best = row[j - 1] + 1;
            }
            diag = row[j];
            row[j] = best;
        }
    }
    return row[lb];
}

const char *hl_mx_nearest(const char *word, const char *const *names, int n)
{
    const char *best = NULL;
    int least = ((int)strlen(word) + 1) / 3 + 1; /* if more than a third differs, it is no typing error */
    for (int i = 0; i < n; i++) {
        int d = distance(word, names[i]);
        if (d < least) {
            least = d;
            best = names[i];
        }
    }
    return best;
}
