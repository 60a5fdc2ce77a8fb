/*
 * The serial run: one array for the whole grid, ghost values by index arithmetic, no patch, no thread, no
 * MPI.
 *
 * Every array has a margin of one zone on each side, in which only derived values live: the states at the
 * faces of the zones around the grid are computed from the grid's own zones by index arithmetic.
 */
#include "serial.h"

#include <stdio.h>
#include <stdlib.h>

struct grid {
    struct domain domain;
    struct gas gas;
    long row;             /* zones of a row with its margins */
    struct cons *u;       /* states */
    struct prim *w;       /* the same, primitive */
    struct faces *f;      /* predicted states at the faces */
    struct cons *fx, *fy; /* fluxes through the lower x and lower y face */
    double *e;            /* electric field at the lower corner */
};

static long at(const struct grid *g, int i, int j)
{
    return (long)(j + 1) * g->row + (i + 1);
}

/* The zone that stands for index i outside 0 … n - 1. */
static int inside(const struct grid *g, int i, int n)
{
    if (g->domain.boundary == BOUNDARY_OUTFLOW)
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    return (i + n) % n;
}

static struct prim prim_at(const struct grid *g, int i, int j)
{
    return g->w[at(g, inside(g, i, g->domain.nx), inside(g, j, g->domain.ny))];
}

static void grid_free(struct grid *g)
{
    free(g->u);
    free(g->w);
    free(g->f);
    free(g->fx);
    free(g->fy);
    free(g->e);
}

static int grid_make(struct grid *g, const struct options *o)
{
    size_t zones = ((size_t)o->nx + 2) * ((size_t)o->ny + 2);

    *g = (struct grid){.domain = problem_domain(o->problem, o->nx, o->ny, o->boundary),
                       .gas = problem_gas(o->problem),
                       .row = o->nx + 2};
    g->u = calloc(zones, sizeof *g->u);
    g->w = calloc(zones, sizeof *g->w);
    g->f = calloc(zones, sizeof *g->f);
    g->fx = calloc(zones, sizeof *g->fx);
    g->fy = calloc(zones, sizeof *g->fy);
    g->e = calloc(zones, sizeof *g->e);
    if (g->u && g->w && g->f && g->fx && g->fy && g->e)
        return 0;
    grid_free(g);
    fprintf(stderr, "stencil: --zones %d,%d: not enough memory\n", o->nx, o->ny);
    return -1;
}

/* Primitive states; returns the largest signal speed. */
static double primitives(struct grid *g)
{
    double speed = 0.0;

    for (int j = 0; j < g->domain.ny; j++)
        for (int i = 0; i < g->domain.nx; i++) {
            struct prim w = prim_of(g->u[at(g, i, j)], g->gas);
            double s = signal_speed(w, g->gas);

            g->w[at(g, i, j)] = w;
            speed = s > speed ? s : speed;
        }
    return speed;
}

static void fluxes(struct grid *g, double dt)
{
    int nx = g->domain.nx, ny = g->domain.ny;
    double hx = 0.5 * dt / g->domain.dx, hy = 0.5 * dt / g->domain.dy;

    for (int j = -1; j <= ny; j++)
        for (int i = -1; i <= nx; i++) {
            struct prim c = prim_at(g, i, j);
            struct prim sx = slope_of(prim_at(g, i - 1, j), c, prim_at(g, i + 1, j));
            struct prim sy = slope_of(prim_at(g, i, j - 1), c, prim_at(g, i, j + 1));

            g->f[at(g, i, j)] = predict(c, sx, sy, hx, hy, g->gas);
        }
    for (int j = -1; j <= ny; j++)
        for (int i = 0; i <= nx; i++)
            g->fx[at(g, i, j)] = flux_hll(g->f[at(g, i - 1, j)].xp, g->f[at(g, i, j)].xm, g->gas);
    for (int j = 0; j <= ny; j++)
        for (int i = -1; i <= nx; i++) {
            struct prim low = prim_swap(g->f[at(g, i, j - 1)].yp), high = prim_swap(g->f[at(g, i, j)].ym);

            g->fy[at(g, i, j)] = cons_swap(flux_hll(low, high, g->gas));
        }
}

static void update(struct grid *g, double dt)
{
    int nx = g->domain.nx, ny = g->domain.ny;
    double wx = dt / g->domain.dx, wy = dt / g->domain.dy;

    for (int j = 0; j <= ny; j++)
        for (int i = 0; i <= nx; i++)
            g->e[at(g, i, j)] = corner_field(g->fx[at(g, i, j - 1)].by, g->fx[at(g, i, j)].by,
                                             g->fy[at(g, i - 1, j)].bx, g->fy[at(g, i, j)].bx);
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            struct fluxes flux = {g->fx[at(g, i, j)], g->fx[at(g, i + 1, j)], g->fy[at(g, i, j)],
                                  g->fy[at(g, i, j + 1)]};
            struct corners e = {g->e[at(g, i, j)], g->e[at(g, i + 1, j)], g->e[at(g, i, j + 1)],
                                g->e[at(g, i + 1, j + 1)]};

            g->u[at(g, i, j)] = advance(g->u[at(g, i, j)], flux, e, wx, wy);
        }
}

static int steps_run(struct grid *g, struct pace *pace)
{
    double speed = primitives(g);

    while (!pace_over(pace)) {
        if (pace_choose(pace, speed)) {
            fprintf(stderr, "stencil: density or pressure is not positive after step %ld, time %g\n",
                    pace->step, pace->time);
            return -1;
        }
        fluxes(g, pace->dt);
        update(g, pace->dt);
        speed = primitives(g);
        pace_advance(pace);
    }
    return 0;
}

int serial_run(const struct options *o, struct field *f, struct pace *pace, double *seconds)
{
    struct grid g;

    if (grid_make(&g, o))
        return -1;
    for (int j = 0; j < o->ny; j++)
        for (int i = 0; i < o->nx; i++)
            g.u[at(&g, i, j)] = problem_zone(o->problem, &g.domain, i, j);
    pace_start(pace, o, &g.domain, true);
    int rc = steps_run(&g, pace);
    *seconds = pace_stop(pace);
    if (!rc && field_make(f, &g.domain)) {
        fprintf(stderr, "stencil: --zones %d,%d: not enough memory\n", o->nx, o->ny);
        rc = -1;
    }
    for (int j = 0; !rc && j < o->ny; j++)
        for (int i = 0; i < o->nx; i++)
            cons_store(f->u + (long)j * o->nx + i, (long)o->nx * o->ny, g.u[at(&g, i, j)]);
    if (!rc)
        f->time = pace->time;
    grid_free(&g);
    return rc;
}
