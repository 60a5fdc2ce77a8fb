/*
 * The problems: their domains, gases, first states and exact answers.
 */
#ifndef STENCIL_PROBLEMS_H
#define STENCIL_PROBLEMS_H

#include "physics.h"

enum boundary { BOUNDARY_PERIODIC, BOUNDARY_OUTFLOW };

/* The whole grid: zones along x and y, their widths, the boundary on all four sides. */
struct domain {
    int nx, ny;
    double dx, dy;
    enum boundary boundary;
};

struct problem {
    const char *name;
    const char *title;
    double gamma;
    double x0, y0, lx, ly; /* lower corner and size of the domain; ly 0: square zones */
    double end_time;
    int nx, ny, patch; /* what a run without options takes */
    enum boundary boundary;
    struct prim (*state)(double x, double y); /* first state at a zone's centre */
    double (*potential)(double x, double y);  /* field along z whose curl is (bx, by); NULL: from state */
};

/* The problem of that name, NULL when there is none. */
const struct problem *problem_find(const char *name);

/* Problem number i, NULL past the last. */
const struct problem *problem_at(int i);

/* The grid of nx × ny zones over the problem's domain. */
struct domain problem_domain(const struct problem *p, int nx, int ny, enum boundary boundary);

/* The gas of the problem. */
struct gas problem_gas(const struct problem *p);

/* First conserved state of zone (i, j) of the domain. */
struct cons problem_zone(const struct problem *p, const struct domain *d, int i, int j);

#endif
