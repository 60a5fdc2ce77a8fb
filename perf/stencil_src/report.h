/*
 * What a run tells: the closing table, the JSON file, the trace.
 */
#ifndef STENCIL_REPORT_H
#define STENCIL_REPORT_H

#include "field.h"
#include "parallel.h"

/* Sums over all ranks; numbers below 0 are not known (another MPI than Hotlane, or a serial run). */
struct totals {
    double sum[NPHASE]; /* thread seconds of all threads */
    double *rows; /* [all threads][ROW] rank, thread, seconds per phase; rank 0 only, report_totals_free */
    int nrows;
    double lanes, leases_contended, retries;
    struct dwelling *windows; /* [ranks]; rank 0 only, report_totals_free */
};

enum { ROW = 2 + NPHASE };

/* Everything that is told about a run. */
struct report {
    const struct options *options;
    struct outcome outcome;
    struct totals totals;
    struct figures figures;
    double field_time;
};

/* Collects the sheets and counters of all ranks; collective. 0, or -1 without memory, on all ranks alike. */
int report_totals(struct totals *t, const struct outcome *out);
void report_totals_free(struct totals *t);

/* Prints the closing table: to standard output, or to standard error when the JSON goes there. */
void report_table(const struct report *r);

/* Writes the JSON file of the options. 0, or -1 after a line on standard error. */
int report_json(const struct report *r);

/* Writes the trace of all ranks in the format of chrome://tracing; collective. 0, or -1 after a line by rank
 * 0. */
int report_trace(const char *file, const struct outcome *out);

#endif
