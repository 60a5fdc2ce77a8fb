/*
 * The pace of a run: how long the next step is, when the run ends, and the progress line.
 */
#include "pace.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The step's share of the time in which the fastest signal crosses a zone: fluxes across one axis know
 * nothing of the others, so a third is the most in three dimensions. */
static const double courant[] = {[2] = 0.4, [3] = 0.3};
static const double first_line_s = 3.0, line_every_s = 5.0, terminal_every_s = 0.2;

double pace_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void pace_start(struct pace *p, const struct options *o, const struct domain *d, bool talks)
{
    double now = pace_now();

    *p = (struct pace){.options = o,
                       .width = fmin(d->width[X], fmin(d->width[Y], d->width[Z])),
                       .dims = d->dims,
                       .zones = (double)domain_zones(d),
                       .began = now,
                       .said = now,
                       .terminal = isatty(STDERR_FILENO),
                       .talks = talks && !o->quiet};
}

bool pace_over(const struct pace *p)
{
    return p->options->steps ? p->step >= p->options->steps : p->time >= p->options->end_time;
}

int pace_choose(struct pace *p, double speed)
{
    if (!isfinite(speed) || speed <= 0.0)
        return -1;
    p->dt = courant[p->dims] * p->width / speed;
    if (p->time + p->dt >= p->options->end_time)
        p->dt = p->options->end_time - p->time;
    return 0;
}

static void say(struct pace *p, double now)
{
    const struct options *o = p->options;
    double elapsed = now - p->began;
    double done = o->steps ? (double)p->step / (double)o->steps : p->time / o->end_time;

    fprintf(stderr, "%sstencil: step %ld  time %.4f  %3.0f %%  %.2f Mzone/s  %.0f s left%s",
            p->terminal ? "\r" : "", p->step, p->time, 100.0 * done,
            1e-6 * p->zones * (double)p->step / elapsed, elapsed * (1.0 - done) / done,
            p->terminal ? "   " : "\n");
    p->said = now;
}

void pace_advance(struct pace *p)
{
    p->time = p->time + p->dt >= p->options->end_time ? p->options->end_time : p->time + p->dt;
    p->step++;
    if (!p->talks)
        return;
    double now = pace_now();
    double every = p->terminal ? terminal_every_s : p->said == p->began ? first_line_s : line_every_s;
    if (now - p->said > every)
        say(p, now);
}

double pace_stop(struct pace *p)
{
    double now = pace_now();

    if (p->talks && p->terminal && p->said != p->began) {
        say(p, now);
        fputc('\n', stderr);
    }
    return now - p->began;
}
