/*
 * The problems: their domains, gases, first states and exact answers.
 */
#include "problems.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* Orszag and Tang (J. Fluid Mech. 90, 129, 1979) with the compressible constants everybody uses. */
static struct prim orszag_tang(struct point at)
{
    double b0 = 1.0 / sqrt(4.0 * pi);

    return (struct prim){25.0 / (36.0 * pi), -sin(2.0 * pi * at.y),      sin(2.0 * pi * at.x),      0.0,
                         5.0 / (12.0 * pi),  -b0 * sin(2.0 * pi * at.y), b0 * sin(4.0 * pi * at.x), 0.0};
}

/* Brio and Wu's shock tube (J. Comput. Phys. 75, 400, 1988) along x. */
static struct prim brio_wu(struct point at)
{
    if (at.x < 0.5)
        return (struct prim){1.0, 0.0, 0.0, 0.0, 1.0, 0.75, 1.0, 0.0};
    return (struct prim){0.125, 0.0, 0.0, 0.0, 0.1, 0.75, -1.0, 0.0};
}

/* Circularly polarised Alfvén wave at 30° to the x axis (Toth 2000): an exact solution that moves with
 * speed 1. */
static const double wave_cos = 0.86602540378443864676, wave_sin = 0.5, wave_amplitude = 0.1;

static double wave_phase(double x, double y)
{
    return 2.0 * pi * (x * wave_cos + y * wave_sin);
}

static struct prim alfven(struct point at)
{
    double s = wave_amplitude * sin(wave_phase(at.x, at.y));
    double c = wave_amplitude * cos(wave_phase(at.x, at.y));

    return (struct prim){
        1.0, -s * wave_sin, s * wave_cos, c, 0.1, wave_cos - s * wave_sin, wave_sin + s * wave_cos, c};
}

static double alfven_potential(double x, double y)
{
    return wave_amplitude * cos(wave_phase(x, y)) / (2.0 * pi) + (wave_cos * y - wave_sin * x);
}

/* A hot ball in a cold gas, the field along the diagonal. */
static struct prim blast(struct point at)
{
    double b = sqrt(1.0 / at.dims), bz = at.dims == 3 ? b : 0.0;
    double p = at.x * at.x + at.y * at.y + at.z * at.z < 0.01 ? 10.0 : 0.1;

    return (struct prim){1.0, 0.0, 0.0, 0.0, p, b, b, bz};
}

/* Sedov's explosion (Similarity and Dimensional Methods in Mechanics, 1959): energy 1 in next to no room, a
 * bell of few zones, in cold gas of density 1. */
static const double sedov_gamma = 1.4, sedov_bell = 2.5, sedov_cold = 1e-5;

static struct prim sedov(struct point at)
{
    double bell = sedov_bell * at.width, volume = pow(pi, 1.5) * (bell * bell * bell);
    double r2 = (at.x * at.x + at.y * at.y) + at.z * at.z;
    double p = sedov_cold + (sedov_gamma - 1.0) * exp(-r2 / (bell * bell)) / volume;

    return (struct prim){1.0, 0.0, 0.0, 0.0, p, 0.0, 0.0, 0.0};
}

static const struct problem problems[] = {
    {"orszag-tang",
     "Orszag\u2013Tang vortex",
     5.0 / 3.0,
     {0.0},
     {1.0, 1.0},
     0.5,
     {128, 128, 1},
     16,
     BOUNDARY_PERIODIC,
     orszag_tang,
     NULL},
    {"brio-wu",
     "Brio\u2013Wu shock tube",
     2.0,
     {0.0},
     {1.0},
     0.1,
     {400, 8, 1},
     8,
     BOUNDARY_OUTFLOW,
     brio_wu,
     NULL},
    {"alfven",
     "Circularly polarised Alfv\u00e9n wave",
     5.0 / 3.0,
     {0.0},
     {1.0 / 0.86602540378443864676, 2.0},
     1.0,
     {64, 64, 1},
     16,
     BOUNDARY_PERIODIC,
     alfven,
     alfven_potential},
    {"blast",
     "Magnetised blast wave",
     5.0 / 3.0,
     {-0.5, -0.5, -0.5},
     {1.0, 1.0, 1.0},
     0.2,
     {128, 128, 1},
     16,
     BOUNDARY_PERIODIC,
     blast,
     NULL},
    {"sedov",
     "Sedov explosion",
     sedov_gamma,
     {-0.5, -0.5, -0.5},
     {1.0, 1.0, 1.0},
     0.08,
     {48, 48, 48},
     16,
     BOUNDARY_OUTFLOW,
     sedov,
     NULL},
};

const struct problem *problem_at(int i)
{
    return i >= 0 && i < (int)(sizeof problems / sizeof problems[0]) ? &problems[i] : NULL;
}

const struct problem *problem_find(const char *name)
{
    for (int i = 0; problem_at(i); i++)
        if (!strcmp(problems[i].name, name))
            return &problems[i];
    return NULL;
}

struct domain problem_domain(const struct problem *p, const int n[3], enum boundary boundary)
{
    struct domain d = {.dims = n[Z] > 1 ? 3 : 2, .boundary = boundary};

    for (int a = X; a <= Z; a++) {
        d.n[a] = n[a];
        d.width[a] = p->size[a] > 0.0 && a < d.dims ? p->size[a] / n[a] : d.width[X];
    }
    return d;
}

void domain_text(char text[DOMAIN_TEXT], const int n[3], const char *between)
{
    int used = snprintf(text, DOMAIN_TEXT, "%d%s%d", n[X], between, n[Y]);

    if (n[Z] > 1)
        snprintf(text + used, (size_t)(DOMAIN_TEXT - used), "%s%d", between, n[Z]);
}

long domain_zones(const struct domain *d)
{
    return (long)d->n[X] * d->n[Y] * d->n[Z];
}

struct gas problem_gas(const struct problem *p)
{
    return (struct gas){p->gamma, 1.0 / (p->gamma - 1.0)};
}

/* Coordinate of half-zone h (odd: a centre, even: a face) on an axis: exactly odd about the middle. */
static double coordinate(const struct problem *p, const struct domain *d, int axis, int h)
{
    double width = d->width[axis];
    int n = d->n[axis];

    return (p->lower[axis] + 0.5 * n * width) + (h - n) * (0.5 * width);
}

struct cons problem_zone(const struct problem *p, const struct domain *d, const int at[3])
{
    struct point centre = {.x = coordinate(p, d, X, 2 * at[X] + 1),
                           .y = coordinate(p, d, Y, 2 * at[Y] + 1),
                           .width = d->width[X],
                           .dims = d->dims};

    if (d->dims == 3)
        centre.z = coordinate(p, d, Z, 2 * at[Z] + 1);
    struct prim w = p->state(centre);
    if (p->potential) {
        double xm = coordinate(p, d, X, 2 * at[X]), xp = coordinate(p, d, X, 2 * at[X] + 2);
        double ym = coordinate(p, d, Y, 2 * at[Y]), yp = coordinate(p, d, Y, 2 * at[Y] + 2);
        double mm = p->potential(xm, ym), pm = p->potential(xp, ym);
        double mp = p->potential(xm, yp), pp = p->potential(xp, yp);

        w.bx = 0.5 * ((mp - mm) + (pp - pm)) / d->width[Y];
        w.by = -0.5 * ((pm - mm) + (pp - mp)) / d->width[X];
    }
    return cons_of(w, problem_gas(p));
}
