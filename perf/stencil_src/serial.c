/*
 * The serial run: one array for the whole grid, ghost values by index arithmetic, no patch, no thread, no
 * MPI.
 *
 * Every array has a margin of one zone on each side, in which only derived values live: the states at the
 * faces of the zones around the grid are computed from the grid's own zones by index arithmetic. In two
 * dimensions there is one layer, without margin.
 */
#include "serial.h"

#include <stdio.h>
#include <stdlib.h>

struct grid {
    struct domain domain;
    struct gas gas;
    int edge;                /* margin along z: 0 or 1 */
    long row, layer;         /* zones of a row with its margins, of a layer */
    struct cons *u;          /* states */
    struct prim *w;          /* the same, primitive */
    struct faces *f;         /* predicted states at the faces */
    struct cons *flux[3];    /* through the lower faces along the axes */
    double *exy, *exz, *eyz; /* electric field at the lower edges across two axes */
};

/* A zone or margin's place in the arrays. */
static long at(const struct grid *g, int i, int j, int k)
{
    return (k + g->edge) * g->layer + (j + 1) * g->row + (i + 1);
}

/* The zone that stands for index i outside 0 … n - 1. */
static int inside(const struct grid *g, int i, int n)
{
    if (g->domain.boundary == BOUNDARY_OUTFLOW)
        return i < 0 ? 0 : i >= n ? n - 1 : i;
    return (i + n) % n;
}

static struct prim prim_at(const struct grid *g, int i, int j, int k)
{
    const int *n = g->domain.n;

    return g->w[at(g, inside(g, i, n[X]), inside(g, j, n[Y]), inside(g, k, n[Z]))];
}

static void grid_free(struct grid *g)
{
    free(g->u);
    free(g->w);
    free(g->f);
    for (int a = X; a <= Z; a++)
        free(g->flux[a]);
    free(g->exy);
    free(g->exz);
    free(g->eyz);
}

static int grid_make(struct grid *g, const struct options *o)
{
    *g = (struct grid){.domain = problem_domain(o->problem, o->n, o->boundary),
                       .gas = problem_gas(o->problem),
                       .edge = o->n[Z] > 1,
                       .row = o->n[X] + 2};
    g->layer = g->row * (o->n[Y] + 2);
    size_t zones = (size_t)(g->layer * (o->n[Z] + 2 * g->edge));

    g->u = calloc(zones, sizeof *g->u);
    g->w = calloc(zones, sizeof *g->w);
    g->f = calloc(zones, sizeof *g->f);
    for (int a = X; a <= Z; a++)
        g->flux[a] = calloc(zones, sizeof *g->flux[a]);
    g->exy = calloc(zones, sizeof *g->exy);
    g->exz = calloc(zones, sizeof *g->exz);
    g->eyz = calloc(zones, sizeof *g->eyz);
    if (g->u && g->w && g->f && g->flux[X] && g->flux[Y] && g->flux[Z] && g->exy && g->exz && g->eyz)
        return 0;
    grid_free(g);
    return -1;
}

/* Primitive states; returns the largest signal speed. */
static double primitives(struct grid *g)
{
    const int *n = g->domain.n;
    double speed = 0.0;

    for (int k = 0; k < n[Z]; k++)
        for (int j = 0; j < n[Y]; j++)
            for (int i = 0; i < n[X]; i++) {
                struct prim w = prim_of(g->u[at(g, i, j, k)], g->gas);
                double s = signal_speed(w, g->gas, g->domain.dims);

                g->w[at(g, i, j, k)] = w;
                speed = s > speed ? s : speed;
            }
    return speed;
}

static void predictions(struct grid *g, double dt)
{
    const int *n = g->domain.n;
    const double *width = g->domain.width;
    struct vec half = {0.5 * dt / width[X], 0.5 * dt / width[Y], 0.5 * dt / width[Z]};

    for (int k = -g->edge; k < n[Z] + g->edge; k++)
        for (int j = -1; j <= n[Y]; j++)
            for (int i = -1; i <= n[X]; i++) {
                struct prim c = prim_at(g, i, j, k);
                struct slopes s = {.x = slope_of(prim_at(g, i - 1, j, k), c, prim_at(g, i + 1, j, k)),
                                   .y = slope_of(prim_at(g, i, j - 1, k), c, prim_at(g, i, j + 1, k))};

                if (g->edge)
                    s.z = slope_of(prim_at(g, i, j, k - 1), c, prim_at(g, i, j, k + 1));
                g->f[at(g, i, j, k)] = predict(c, s, half, g->gas, g->domain.dims);
            }
}

/* Fluxes through the lower faces of the zones and, where an edge needs them, of those around the grid. */
static void fluxes(struct grid *g)
{
    const int *n = g->domain.n;

    for (int k = -g->edge; k < n[Z] + g->edge; k++)
        for (int j = -1; j <= n[Y]; j++)
            for (int i = -1; i <= n[X]; i++) {
                const struct faces *f = &g->f[at(g, i, j, k)];

                if (i >= 0)
                    g->flux[X][at(g, i, j, k)] = flux_across(g->f[at(g, i - 1, j, k)].xp, f->xm, g->gas, X);
                if (j >= 0)
                    g->flux[Y][at(g, i, j, k)] = flux_across(g->f[at(g, i, j - 1, k)].yp, f->ym, g->gas, Y);
                if (g->edge && k >= 0)
                    g->flux[Z][at(g, i, j, k)] = flux_across(g->f[at(g, i, j, k - 1)].zp, f->zm, g->gas, Z);
            }
}

static void edges(struct grid *g)
{
    const int *n = g->domain.n;
    const struct cons *fx = g->flux[X], *fy = g->flux[Y], *fz = g->flux[Z];

    for (int k = 0; k < n[Z] + g->edge; k++)
        for (int j = 0; j <= n[Y]; j++)
            for (int i = 0; i <= n[X]; i++) {
                long z = at(g, i, j, k), left = z - 1, below = z - g->row, before = z - g->layer;

                g->exy[z] = edge_field(fx[below].by, fx[z].by, fy[left].bx, fy[z].bx);
                if (!g->edge)
                    continue;
                g->exz[z] = edge_field(fx[before].bz, fx[z].bz, fz[left].bx, fz[z].bx);
                g->eyz[z] = edge_field(fy[before].bz, fy[z].bz, fz[below].by, fz[z].by);
            }
}

/* The four edges around a zone, `a` and `b` zones apart. */
static struct quad quad_at(const double *e, long a, long b)
{
    return (struct quad){e[0], e[a], e[b], e[a + b]};
}

static void update(struct grid *g, double dt)
{
    const int *n = g->domain.n;
    const double *width = g->domain.width;
    struct vec whole = {dt / width[X], dt / width[Y], dt / width[Z]};

    for (int k = 0; k < n[Z]; k++)
        for (int j = 0; j < n[Y]; j++)
            for (int i = 0; i < n[X]; i++) {
                long z = at(g, i, j, k);
                struct fluxes f = {.xm = g->flux[X][z],
                                   .xp = g->flux[X][z + 1],
                                   .ym = g->flux[Y][z],
                                   .yp = g->flux[Y][z + g->row]};
                struct edges e = {.xy = quad_at(g->exy + z, 1, g->row)};

                if (g->edge) {
                    f.zm = g->flux[Z][z];
                    f.zp = g->flux[Z][z + g->layer];
                    e.xz = quad_at(g->exz + z, 1, g->layer);
                    e.yz = quad_at(g->eyz + z, g->row, g->layer);
                }
                g->u[z] = advance(g->u[z], f, e, whole, g->domain.dims);
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
        predictions(g, pace->dt);
        fluxes(g);
        edges(g);
        update(g, pace->dt);
        speed = primitives(g);
        pace_advance(pace);
    }
    return 0;
}

/* First states into the grid, or the last ones out into the field. */
static void states_move(struct grid *g, const struct options *o, struct field *out)
{
    for (int k = 0; k < o->n[Z]; k++)
        for (int j = 0; j < o->n[Y]; j++)
            for (int i = 0; i < o->n[X]; i++) {
                long zone = ((long)k * o->n[Y] + j) * o->n[X] + i;

                if (out)
                    cons_store(out->u + zone, domain_zones(&g->domain), g->u[at(g, i, j, k)]);
                else
                    g->u[at(g, i, j, k)] = problem_zone(o->problem, &g->domain, (const int[]){i, j, k});
            }
}

int serial_run(const struct options *o, struct field *f, struct pace *pace, double *seconds)
{
    struct grid g;
    char zones[DOMAIN_TEXT];
    int rc = grid_make(&g, o);

    if (!rc && field_make(f, &g.domain)) {
        grid_free(&g);
        rc = -1;
    }
    if (rc) {
        domain_text(zones, o->n, ",");
        fprintf(stderr, "stencil: --zones %s: not enough memory\n", zones);
        return -1;
    }
    states_move(&g, o, NULL);
    pace_start(pace, o, &g.domain, true);
    rc = steps_run(&g, pace);
    *seconds = pace_stop(pace);
    if (!rc)
        states_move(&g, o, f);
    f->time = pace->time;
    grid_free(&g);
    return rc;
}
