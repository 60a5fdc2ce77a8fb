/*
 * Where a thread's time goes: phases, their sums, and a trace of them.
 */
#include "phase.h"
#include "pace.h"

#include <stdlib.h>

static const char *const names[NPHASE] = {"compute", "pack",   "put/get", "signal", "flush",
                                          "wait",    "unpack", "copy",    "sync"};

const char *phase_name(enum phase p)
{
    return names[p];
}

void sheet_start(struct sheet *s, long room)
{
    *s = (struct sheet){.last = pace_now()};
    if (room)
        s->spans = malloc((size_t)room * sizeof *s->spans);
    s->room = s->spans ? room : 0;
}

void sheet_free(struct sheet *s)
{
    free(s->spans);
}

void sheet_book(struct sheet *s, enum phase p, int patch)
{
    double now = pace_now();

    s->sum[p] += now - s->last;
    if (s->count < s->room)
        s->spans[s->count++] = (struct span){s->last, now, (int)p, patch};
    s->last = now;
}

static double total(const double sum[NPHASE])
{
    double t = 0.0;

    for (int p = 0; p < NPHASE; p++)
        t += sum[p];
    return t > 0.0 ? t : 1.0;
}

static double communication(const double sum[NPHASE])
{
    return sum[PHASE_PACK] + sum[PHASE_TRANSFER] + sum[PHASE_SIGNAL] + sum[PHASE_FLUSH] + sum[PHASE_UNPACK];
}

double phase_share(const double sum[NPHASE])
{
    return communication(sum) / total(sum);
}

double phase_share_with_wait(const double sum[NPHASE])
{
    return (communication(sum) + sum[PHASE_WAIT]) / total(sum);
}
