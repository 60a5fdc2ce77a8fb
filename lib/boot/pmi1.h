/* PMI-1 on the wire: lines "cmd=NAME key=value ... value=TEXT\n". Private to boot; apart so that tests can
 * feed it. */
#ifndef HL_PMI1_H
#define HL_PMI1_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes received and not yet consumed. Changed by its user only. */
struct hl_pmi1_lines {
    size_t have;
    char data[4096];
};

/* Moves the first whole line, without its end, to line[cap] and consumes it. Returns 1, 0: no whole line yet,
 * -1: the stream is broken (line longer than cap or than the buffer, or with a zero byte). */
int hl_pmi1_take(struct hl_pmi1_lines *in, char *line, size_t cap);

/* Copies the value of `key` to out[cap]: up to the next blank, but "value" up to the end of the line. Returns
 * its length, -1 when the key is not there or does not fit. */
int hl_pmi1_field(const char *line, const char *key, char *out, size_t cap);

/* The same for a decimal integer. False when it is not there or is none. */
bool hl_pmi1_number(const char *line, const char *key, int *out);

#endif
