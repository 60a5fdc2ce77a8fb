/*
 * The trace: each rank writes its events as text, rank 0 writes all of them into one file.
 */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void event_write(FILE *f, const struct outcome *out, int thread, const struct span *s)
{
    fprintf(f, ",\n{\"name\":\"%s\",\"ph\":\"X\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%d,\"tid\":%d",
            phase_name((enum phase)s->phase), 1e6 * (s->begin - out->origin), 1e6 * (s->end - s->begin),
            out->rank, thread);
    if (s->patch >= 0)
        fprintf(f, ",\"args\":{\"patch\":%d}", s->patch);
    fputc('}', f);
}

static void events_write(FILE *f, const struct outcome *out)
{
    fprintf(f, "%s{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"rank %d\"}}",
            out->rank ? ",\n" : "", out->rank, out->rank);
    for (int t = 0; t < out->threads; t++) {
        fprintf(f,
                ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"thread "
                "%d\"}}",
                out->rank, t, t);
        for (long k = 0; k < out->sheets[t].count; k++)
            event_write(f, out, t, &out->sheets[t].spans[k]);
    }
}

/* This rank's events as text; *len in bytes. NULL without memory. */
static char *events_text(const struct outcome *out, size_t *len)
{
    char *text = NULL;
    FILE *f = open_memstream(&text, len);

    if (!f)
        return NULL;
    events_write(f, out);
    if (!fclose(f))
        return text;
    free(text);
    return NULL;
}

/* Whether a thread's trace is full: it then holds only the first steps. */
static int is_cut(const struct outcome *out)
{
    int cut = 0;

    for (int t = 0; t < out->threads; t++)
        cut |= out->sheets[t].count == out->sheets[t].room;
    return cut;
}

static int text_write(const char *name, const char *text, size_t len)
{
    FILE *f = fopen(name, "w");

    if (f) {
        fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", f);
        fwrite(text, 1, len, f);
        fputs("\n]}\n", f);
        if (!ferror(f) && !fclose(f))
            return 0;
    }
    fprintf(stderr, "stencil: --profile %s: %s\n", name, strerror(errno));
    return -1;
}

int report_trace(const char *file, const struct outcome *out)
{
    size_t len = 0, all_len = 0;
    char *text = events_text(out, &len);
    void *all = NULL;
    bool cut = wire->max(is_cut(out)) > 0.0, good = wire->max(text ? 0.0 : 1.0) <= 0.0;
    int rc = good ? wire->gather(text, len, &all, &all_len) : -1;

    if (rc && out->rank == 0)
        fprintf(stderr, "stencil: --profile: not enough memory for the trace\n");
    if (!rc && out->rank == 0)
        rc = text_write(file, all, all_len);
    if (!rc && out->rank == 0 && cut)
        fprintf(stderr, "stencil: --profile %s holds the first steps only; the run was longer\n", file);
    free(text);
    free(all);
    return rc;
}
