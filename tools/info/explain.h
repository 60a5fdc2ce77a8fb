/* What is known of error classes: the table that docs/man/calls/generate.py makes. */
#ifndef HL_INFO_EXPLAIN_H
#define HL_INFO_EXPLAIN_H

struct info_error {
    const char *name; /* NULL behind the last row */
    int number;
    const char *words; /* those of MPI_Error_string; "": none, as no error handler sees it */
    const char *calls; /* those whose pages name it, between commas; "": none */
    const char
        *cases; /* a line for each wrong call of docs/MISUSE.md: call, what is wrong, the library's words */
};

extern const struct info_error info_errors[];

#endif
