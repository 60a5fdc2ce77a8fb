/*
 * The pace of a run: how long the next step is, when the run ends, and the progress line.
 */
#ifndef STENCIL_PACE_H
#define STENCIL_PACE_H

#include "options.h"

struct pace {
    const struct options *options;
    int dims;           /* of the grid */
    double width;       /* the smallest zone width */
    double time, dt;    /* now, and the step to take */
    double zones;       /* of the whole grid */
    double began, said; /* seconds of the monotonic clock: start, last progress line */
    long step;          /* steps taken */
    bool terminal;      /* progress goes to a terminal */
    bool talks;         /* this rank shows progress */
};

/* Seconds of the monotonic clock. */
double pace_now(void);

void pace_start(struct pace *p, const struct options *o, const struct domain *d, bool talks);

/* Whether the run is over. */
bool pace_over(const struct pace *p);

/*
 * Sets p->dt from the largest signal speed of the grid. Returns 0, or -1 when the speed says that density or
 * pressure is no longer positive somewhere.
 */
int pace_choose(struct pace *p, double speed);

/* Takes the step: time and count; shows progress now and then. */
void pace_advance(struct pace *p);

/* Seconds since the start; ends the progress line. */
double pace_stop(struct pace *p);

#endif
