/*
 * What a run tells: the closing table and the JSON file.
 */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hotlane's counters by name; other libraries do not have the function, and its address is NULL. */
int hotlane_counter(const char *name, long long *value) __attribute__((weak));

enum { TABLE_ROWS = 16 }; /* more threads than this are summed up as mean, least and most */

/* The sum of a counter over the ranks, or its largest value; below 0 when a rank does not have it. */
static double counter_total(const char *name, double (*reduce)(double))
{
    long long value = 0;
    bool known = hotlane_counter && !hotlane_counter(name, &value);
    double total = reduce((double)value);

    return wire->max(known ? 0.0 : 1.0) > 0.0 ? -1.0 : total;
}

/* Rows of this rank's threads. */
static void rows_fill(const struct outcome *out, double *rows)
{
    for (int t = 0; t < out->threads; t++) {
        rows[t * ROW] = out->rank;
        rows[t * ROW + 1] = t;
        memcpy(rows + t * ROW + 2, out->sheets[t].sum, sizeof out->sheets[t].sum);
    }
}

int report_totals(struct totals *t, const struct outcome *out)
{
    size_t bytes = (size_t)out->threads * ROW * sizeof(double), all = 0, windows;
    double *mine = malloc(bytes);
    void *rows = NULL, *where = NULL;

    *t = (struct totals){.lanes = counter_total("lanes", wire->max)};
    t->leases_contended = counter_total("leases_contended", wire->sum);
    t->retries = counter_total("again", wire->sum);
    bool ok = wire->max(mine ? 0.0 : 1.0) <= 0.0;
    if (ok)
        rows_fill(out, mine);
    ok = ok && !wire->gather(mine, bytes, &rows, &all) &&
         !wire->gather(&out->window, sizeof out->window, &where, &windows);
    free(mine);
    t->rows = rows;
    t->windows = where;
    t->nrows = (int)(all / ROW / sizeof(double));
    for (int k = 0; ok && out->rank == 0 && k < t->nrows; k++)
        for (int p = 0; p < NPHASE; p++)
            t->sum[p] += t->rows[k * ROW + 2 + p];
    return ok ? 0 : -1;
}

void report_totals_free(struct totals *t)
{
    free(t->rows);
    free(t->windows);
}

static void row_print(FILE *f, const char *name, const double *seconds)
{
    fprintf(f, "  %-14s", name);
    for (int p = 0; p < NPHASE; p++)
        fprintf(f, "%9.3f", seconds[p]);
    fputc('\n', f);
}

static void rows_print(FILE *f, const struct totals *t)
{
    double mean[NPHASE] = {0}, least[NPHASE], most[NPHASE] = {0};

    for (int k = 0; k < t->nrows; k++) {
        const double *row = t->rows + k * ROW;
        char name[40];

        snprintf(name, sizeof name, "%4.0f %6.0f", row[0], row[1]);
        if (t->nrows <= TABLE_ROWS)
            row_print(f, name, row + 2);
        for (int p = 0; p < NPHASE; p++) {
            mean[p] += row[2 + p] / t->nrows;
            least[p] = k == 0 || row[2 + p] < least[p] ? row[2 + p] : least[p];
            most[p] = row[2 + p] > most[p] ? row[2 + p] : most[p];
        }
    }
    if (t->nrows > TABLE_ROWS) {
        row_print(f, "least", least);
        row_print(f, "most", most);
    }
    if (t->nrows > 1)
        row_print(f, "mean", mean);
}

static bool dwell_alike(const struct dwelling *a, const struct dwelling *b)
{
    return !strcmp(a->page, b->page) && !strcmp(a->nodes, b->nodes);
}

/* One row for neighbouring ranks whose windows live alike. */
static void windows_print(FILE *f, const struct dwelling *windows, int ranks)
{
    for (int first = 0, next; first < ranks && windows[first].page[0]; first = next) {
        for (next = first + 1; next < ranks && dwell_alike(&windows[first], &windows[next]); next++)
            ;
        if (next > first + 1)
            fprintf(f, "  windows of ranks %d to %d", first, next - 1);
        else
            fprintf(f, "  window of rank %d", first);
        fprintf(f, ": pages of %s, on nodes %s\n", windows[first].page, windows[first].nodes);
    }
}

static void threads_print(FILE *f, const struct totals *t)
{
    fprintf(f, "\n  seconds of each thread\n  rank thread   ");
    for (int p = 0; p < NPHASE; p++)
        fprintf(f, "%9s", phase_name((enum phase)p));
    fputc('\n', f);
    rows_print(f, t);
    fprintf(f,
            "\n  communication share %.2f %% (pack, put/get, signal, flush, unpack); with waiting %.2f %%\n",
            100.0 * phase_share(t->sum), 100.0 * phase_share_with_wait(t->sum));
    if (t->lanes >= 0.0)
        fprintf(f, "  lanes leased %.0f   contended leases %.0f   retries %.0f\n", t->lanes,
                t->leases_contended, t->retries);
}

static double zones_per_s(const struct report *r)
{
    const struct pace *p = &r->outcome.pace;

    return r->outcome.seconds > 0.0 ? p->zones * (double)p->step / r->outcome.seconds : 0.0;
}

void report_table(const struct report *r)
{
    const struct options *o = r->options;
    FILE *f = o->json && !strcmp(o->json, "-") ? stderr : stdout;
    char text[DOMAIN_TEXT];

    domain_text(text, o->n, " × ");
    fprintf(f, "\n%s, %s zones, ", o->problem->title, text);
    if (o->serial)
        fprintf(f, "serial\n");
    else
        fprintf(f, "patches of %d%s, %d rank%s × %d thread%s, %s over %s signalled by %s, flush per %s%s\n",
                o->patch, o->n[Z] > 1 ? "³" : "²", r->outcome.ranks, r->outcome.ranks == 1 ? "" : "s",
                r->outcome.threads, r->outcome.threads == 1 ? "" : "s", options_transfer(o), options_api(o),
                options_signal(o), options_flush(o), o->overlap ? ", overlap" : "");
    fprintf(f, "\n  %ld step%s to time %.6g in %.2f s: %.3f million zones per second\n", r->outcome.pace.step,
            r->outcome.pace.step == 1 ? "" : "s", r->field_time, r->outcome.seconds, 1e-6 * zones_per_s(r));
    fprintf(f, "  density %.6f to %.6f, mean %.10f; mean energy %.10f; max |div B| %.1e\n",
            r->figures.rho_min, r->figures.rho_max, r->figures.mean_rho, r->figures.mean_energy,
            r->figures.max_divb);
    fprintf(f, "  hash %016llx\n", (unsigned long long)r->figures.hash);
    if (!o->serial) {
        threads_print(f, &r->totals);
        windows_print(f, r->totals.windows, r->outcome.ranks);
    }
    fflush(f);
}

static void json_known(FILE *f, const char *name, const char *format, double value)
{
    fprintf(f, ",\n  \"%s\": ", name);
    if (value >= 0.0)
        fprintf(f, format, value);
    else
        fputs("null", f);
}

static void json_write(FILE *f, const struct report *r)
{
    const struct options *o = r->options;
    const struct totals *t = &r->totals;

    char zones[DOMAIN_TEXT];

    domain_text(zones, o->n, ", ");
    fprintf(f, "{\n  \"problem\": \"%s\",\n  \"zones\": [%s],\n  \"boundary\": \"%s\",\n", o->problem->name,
            zones, o->boundary == BOUNDARY_PERIODIC ? "periodic" : "outflow");
    fprintf(f, "  \"serial\": %s,\n  \"patch\": %d,\n  \"ranks\": %d,\n  \"threads\": %d,\n",
            o->serial ? "true" : "false", o->patch, r->outcome.ranks, r->outcome.threads);
    fprintf(f, "  \"api\": \"%s\",\n  \"transfer\": \"%s\",\n  \"signal\": \"%s\",\n  \"flush\": \"%s\",\n",
            options_api(o), options_transfer(o), options_signal(o), options_flush(o));
    fprintf(f, "  \"overlap\": %s,\n  \"steps\": %ld,\n  \"time\": %.17g,\n", o->overlap ? "true" : "false",
            r->outcome.pace.step, r->field_time);
    fprintf(f, "  \"seconds\": %.6f,\n  \"zones_per_s\": %.1f,\n  \"hash\": \"%016llx\",\n",
            r->outcome.seconds, zones_per_s(r), (unsigned long long)r->figures.hash);
    fprintf(f, "  \"mean_rho\": %.17g,\n  \"mean_energy\": %.17g,\n", r->figures.mean_rho,
            r->figures.mean_energy);
    fprintf(f, "  \"rho_min\": %.17g,\n  \"rho_max\": %.17g,\n", r->figures.rho_min, r->figures.rho_max);
    fprintf(f, "  \"max_divb\": %.6e,\n  \"l1_bz\": %.6e,\n  \"asymmetry\": %.6e,\n", r->figures.max_divb,
            r->figures.l1_bz, r->figures.asymmetry);
    fprintf(f, "  \"shock_radius\": %.6f", r->figures.shock_radius);
    json_known(f, "communication_share", "%.6f", o->serial ? -1.0 : phase_share(t->sum));
    json_known(f, "share_with_wait", "%.6f", o->serial ? -1.0 : phase_share_with_wait(t->sum));
    json_known(f, "lanes", "%.0f", t->lanes);
    json_known(f, "leases_contended", "%.0f", t->leases_contended);
    json_known(f, "retries", "%.0f", t->retries);
    fprintf(f, "\n}\n");
}

int report_json(const struct report *r)
{
    const char *name = r->options->json;
    FILE *f = strcmp(name, "-") ? fopen(name, "w") : stdout;

    if (f)
        json_write(f, r);
    if (f && !fflush(f) && !ferror(f) && (f == stdout || !fclose(f)))
        return 0;
    fprintf(stderr, "stencil: --json %s: %s\n", name, strerror(errno));
    return -1;
}
