/*
 * The trace: each rank writes its events as text, rank 0 joins the texts into one file.
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
    if (!fclose(f) && *len < 0x7fffffff)
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

/* Rank 0 receives the others' texts in order of rank. */
static char *texts_join(const struct outcome *out, char *mine, size_t *len)
{
    for (int r = 1; r < out->ranks; r++) {
        int more = 0;

        MPI_Recv(&more, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        char *longer = realloc(mine, *len + (size_t)more + 1);
        if (!longer) {
            fprintf(stderr, "stencil: --profile: not enough memory for the trace of rank %d\n", r);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        mine = longer;
        MPI_Recv(mine + *len, more, MPI_CHAR, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        *len += (size_t)more;
    }
    return mine;
}

int report_trace(const char *file, const struct outcome *out)
{
    size_t len = 0;
    char *text = events_text(out, &len);
    int cut = is_cut(out), any_cut = 0, rc = 0;

    if (!text) {
        fprintf(stderr, "stencil: --profile: not enough memory for the trace of rank %d\n", out->rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Allreduce(&cut, &any_cut, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (out->rank > 0) {
        int count = (int)len;

        MPI_Send(&count, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Send(text, count, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    } else {
        text = texts_join(out, text, &len);
        rc = text_write(file, text, len);
        if (!rc && any_cut)
            fprintf(stderr, "stencil: --profile %s holds the first steps only; the run was longer\n", file);
    }
    free(text);
    return rc;
}
