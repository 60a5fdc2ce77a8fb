/* Inside the module: PMI-1 on the wire, lines "cmd=NAME key=value ... value=TEXT\n". This header
 * exists for tests. */
#ifndef HL_PMI1_H
#define HL_PMI1_H

#include <stdbool.h>
#include <stddef.h>

/* How long the launcher may take to answer in a handshake, or about MPI_APPNUM; tests make it shorter. */
extern int hl_pmi1_wait_ms;

/* Bytes received and not yet consumed. The user appends bytes; hl_pmi1_take removes them. */
struct hl_pmi1_lines {
    size_t have;
    char data[4096];
};

/* Moves the first whole line, without its end, to line[cap]. Returns 1; 0 when there is no whole line yet; -1
 * when the stream is broken (a line longer than cap or than the buffer, or with a zero byte). */
int hl_pmi1_take(struct hl_pmi1_lines *in, char *line, size_t cap);

/* Copies the value of `key` to out[cap]: up to the next blank, but "value" up to the end of the line. Returns
 * its length, or -1 when the key is not there or its value does not fit. */
int hl_pmi1_field(const char *line, const char *key, char *out, size_t cap);

/* Sets *out to the value of `key`, a decimal integer. False when the key is not there or its value is
 * no integer. */
bool hl_pmi1_number(const char *line, const char *key, int *out);

#endif
