/*
 * The problems: their domains, gases, first states and exact answers.
 */
#include "problems.h"

#include <stddef.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* Orszag and Tang (J. Fluid Mech. 90, 129, 1979) with the compressible constants everybody uses. */
static struct prim orszag_tang(double x, double y)
{
    double b0 = 1.0 / sqrt(4.0 * pi);

    return (struct prim){25.0 / (36.0 * pi), -sin(2.0 * pi * y),      sin(2.0 * pi * x),      0.0,
                         5.0 / (12.0 * pi),  -b0 * sin(2.0 * pi * y), b0 * sin(4.0 * pi * x), 0.0};
}

/* Brio and Wu's shock tube (J. Comput. Phys. 75, 400, 1988) along x. */
static struct prim brio_wu(double x, double y)
{
    (void)y;
    if (x < 0.5)
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

static struct prim alfven(double x, double y)
{
    double s = wave_amplitude * sin(wave_phase(x, y));
    double c = wave_amplitude * cos(wave_phase(x, y));

    return (struct prim){
        1.0, -s * wave_sin, s * wave_cos, c, 0.1, wave_cos - s * wave_sin, wave_sin + s * wave_cos, c};
}

static double alfven_potential(double x, double y)
{
    return wave_amplitude * cos(wave_phase(x, y)) / (2.0 * pi) + (wave_cos * y - wave_sin * x);
}

/* A hot disc in a cold gas, the field along the diagonal. */
static struct prim blast(double x, double y)
{
    double b = sqrt(0.5);
    double p = x * x + y * y < 0.01 ? 10.0 : 0.1;

    return (struct prim){1.0, 0.0, 0.0, 0.0, p, b, b, 0.0};
}

static const struct problem problems[] = {
    {"orszag-tang", "Orszag\u2013Tang vortex", 5.0 / 3.0, 0.0, 0.0, 1.0, 1.0, 0.5, 128, 128, 16,
     BOUNDARY_PERIODIC, orszag_tang, NULL},
    {"brio-wu", "Brio\u2013Wu shock tube", 2.0, 0.0, 0.0, 1.0, 0.0, 0.1, 400, 8, 8, BOUNDARY_OUTFLOW, brio_wu,
     NULL},
    {"alfven", "Circularly polarised Alfv\u00e9n wave", 5.0 / 3.0, 0.0, 0.0, 1.0 / 0.86602540378443864676,
     2.0, 1.0, 64, 64, 16, BOUNDARY_PERIODIC, alfven, alfven_potential},
    {"blast", "Magnetised blast wave", 5.0 / 3.0, -0.5, -0.5, 1.0, 1.0, 0.2, 128, 128, 16, BOUNDARY_PERIODIC,
     blast, NULL},
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

struct domain problem_domain(const struct problem *p, int nx, int ny, enum boundary boundary)
{
    double dx = p->lx / nx;
    double dy = p->ly > 0.0 ? p->ly / ny : dx;

    return (struct domain){nx, ny, dx, dy, boundary};
}

struct gas problem_gas(const struct problem *p)
{
    return (struct gas){p->gamma, 1.0 / (p->gamma - 1.0)};
}

/* Coordinate of half-zone h (odd: a centre, even: a face) on an axis of n zones: exactly odd about the
 * middle. */
static double coordinate(double lower, double width, int n, int h)
{
    return (lower + 0.5 * n * width) + (h - n) * (0.5 * width);
}

struct cons problem_zone(const struct problem *p, const struct domain *d, int i, int j)
{
    double x = coordinate(p->x0, d->dx, d->nx, 2 * i + 1);
    double y = coordinate(p->y0, d->dy, d->ny, 2 * j + 1);
    struct prim w = p->state(x, y);

    if (p->potential) {
        double xm = coordinate(p->x0, d->dx, d->nx, 2 * i), xp = coordinate(p->x0, d->dx, d->nx, 2 * i + 2);
        double ym = coordinate(p->y0, d->dy, d->ny, 2 * j), yp = coordinate(p->y0, d->dy, d->ny, 2 * j + 2);
        double mm = p->potential(xm, ym), pm = p->potential(xp, ym);
        double mp = p->potential(xm, yp), pp = p->potential(xp, yp);

        w.bx = 0.5 * ((mp - mm) + (pp - pm)) / d->dy;
        w.by = -0.5 * ((pm - mm) + (pp - mp)) / d->dx;
    }
    return cons_of(w, problem_gas(p));
}
