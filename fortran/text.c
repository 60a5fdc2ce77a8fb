/* Characters between Fortran and C. */
#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Narrows text to what is between its blanks. */
static const char *strip_blanks(const char *text, size_t *len, enum hl_fort_strip strip)
{
    while (*len > 0 && text[*len - 1] == ' ') {
        (*len)--;
    }
    while (strip == HL_FORT_STRIP_BOTH && *len > 0 && *text == ' ') {
        text++;
        (*len)--;
    }
    return text;
}

char *hl_fort_string_in(const char *text, size_t len, enum hl_fort_strip strip)
{
    const char *begin = strip_blanks(text, &len, strip);
    char *string = malloc(len + 1);

    if (string != NULL) {
        memcpy(string, begin, len);
        string[len] = '\0';
    }
    return string;
}

void hl_fort_string_out(char *text, size_t len, const char *string)
{
    size_t used = strnlen(string, len);

    memcpy(text, string, used);
    memset(text + used, ' ', len - used);
}

/* Strings of one piece of memory: the pointers come first. */
static char **copy_strings(const char *texts, size_t len, size_t step, size_t count)
{
    char **strings = malloc((count + 1) * sizeof *strings + count * (len + 1));
    char *at = (char *)(strings + count + 1);

    if (strings == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        size_t used = len;
        const char *begin = strip_blanks(texts + i * step * len, &used, HL_FORT_STRIP_BOTH);

        memcpy(at, begin, used);
        at[used] = '\0';
        strings[i] = at;
        at += used + 1;
    }
    strings[count] = NULL;
    return strings;
}

/* How many strings stand before the blank one. */
static size_t count_strings(const char *texts, size_t len, size_t step)
{
    size_t count = 0;

    for (;; count++) {
        size_t used = len;

        strip_blanks(texts + count * step * len, &used, HL_FORT_STRIP_END);
        if (used == 0) {
            return count;
        }
    }
}

char **hl_fort_strings_in(const char *texts, size_t len, size_t step)
{
    return copy_strings(texts, len, step, count_strings(texts, len, step));
}

char **hl_fort_strings_of(const char *texts, size_t len, int count)
{
    return copy_strings(texts, len, 1, count < 0 ? 0 : (size_t)count);
}

char ***hl_fort_argvs_in(const char *texts, size_t len, int count)
{
    size_t rows = count < 0 ? 0 : (size_t)count, words = 0;
    char ***argvs, **word;
    char *at;

    for (size_t i = 0; i < rows; i++) {
        words += count_strings(texts + i * len, len, rows);
    }
    argvs = malloc((rows + 1) * sizeof *argvs + (words + rows) * sizeof **argvs + words * (len + 1));
    if (argvs == NULL) {
        return NULL;
    }
    word = (char **)(argvs + rows + 1);
    at = (char *)(word + words + rows);
    for (size_t i = 0; i < rows; i++) {
        size_t row = count_strings(texts + i * len, len, rows);

        argvs[i] = word;
        for (size_t j = 0; j < row; j++, word++) {
            size_t used = len;
            const char *begin = strip_blanks(texts + (j * rows + i) * len, &used, HL_FORT_STRIP_BOTH);

            *word = memcpy(at, begin, used);
            at[used] = '\0';
            at += used + 1;
        }
        *word++ = NULL;
    }
    argvs[rows] = NULL;
    return argvs;
}
