/*
 * The problems: their domains, gases, first states and exact answers.
 */
#ifndef STENCIL_PROBLEMS_H
#define STENCIL_PROBLEMS_H

#include "physics.h"

enum boundary { BOUNDARY_PERIODIC, BOUNDARY_OUTFLOW };

/* The whole grid: zones along the axes (one along z in two dimensions), their widths, the boundary on all
 * sides. */
struct domain {
    int n[3], dims;
    double width[3];
    enum boundary boundary;
};

/* A zone's centre, z 0 in two dimensions; its width along x. */
struct point {
    double x, y, z, width;
    int dims;
};

struct problem {
    const char *name;
    const char *title;
    double gamma;
    double lower[3], size[3]; /* lower corner and size of the domain; size 0: zones as wide as along x */
    double end_time;
    int n[3], patch; /* what a run without options takes; n[2] > 1: three dimensions only */
    enum boundary boundary;
    struct prim (*state)(struct point at);   /* first state at a zone's centre */
    double (*potential)(double x, double y); /* field along z whose curl is (bx, by); NULL: from state */
};

/* The problem of that name, NULL when there is none. */
const struct problem *problem_find(const char *name);

/* Problem number i, NULL past the last. */
const struct problem *problem_at(int i);

/* The grid of n[0] × n[1] × n[2] zones over the problem's domain. */
struct domain problem_domain(const struct problem *p, const int n[3], enum boundary boundary);

/* The gas of the problem. */
struct gas problem_gas(const struct problem *p);

/* First conserved state of a zone of the domain, at[3] along the axes. */
struct cons problem_zone(const struct problem *p, const struct domain *d, const int at[3]);

/* The size of a grid in words: NX,NY or NX,NY,NZ with `between` (at most 4 bytes) instead of the comma. */
enum { DOMAIN_TEXT = 40 };
void domain_text(char text[DOMAIN_TEXT], const int n[3], const char *between);

/* Number of zones of the domain. */
long domain_zones(const struct domain *d);

#endif
