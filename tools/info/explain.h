/* Error classes in words: the table that docs/man/calls/generate.py makes. */
#ifndef HL_INFO_EXPLAIN_H
#define HL_INFO_EXPLAIN_H

struct info_error {
    const char *name; /* NULL behind the last row */
    int number;
    const char *words; /* text of MPI_Error_string, or our own where no error handler sees the class */
    const char *calls; /* calls whose manual pages name the class, between commas; "": none */
    const char *cases; /* a line for each wrong call of docs/MISUSE.md: call, what is wrong */
};

extern const struct info_error info_errors[];

#endif
