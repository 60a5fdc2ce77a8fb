/*
 * The state of the whole grid in global zone order, and what is told about it.
 */
#include "field.h"

#include <stdlib.h>
#include <string.h>

enum { RHO = 0, ENERGY = 4, BX = 5, BY = 6, BZ = 7 };

int field_make(struct field *f, const struct domain *d)
{
    *f = (struct field){.domain = *d};
    f->u = calloc((size_t)d->nx * (size_t)d->ny, NVAR * sizeof *f->u);
    return f->u ? 0 : -1;
}

static long plane(const struct field *f)
{
    return (long)f->domain.nx * f->domain.ny;
}

static double at(const struct field *f, int v, int i, int j)
{
    return f->u[v * plane(f) + (long)j * f->domain.nx + i];
}

static uint64_t hash_double(uint64_t hash, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    for (int k = 0; k < 64; k += 8)
        hash = (hash ^ (bits >> k & 0xff)) * UINT64_C(0x100000001b3);
    return hash;
}

/* Divergence of the field at the corner of the zones (i, j) and (i + 1, j + 1); the grid wraps around. */
static double corner_divb(const struct field *f, int i, int j)
{
    int r = (i + 1) % f->domain.nx, t = (j + 1) % f->domain.ny;
    double bx = (at(f, BX, r, j) - at(f, BX, i, j)) + (at(f, BX, r, t) - at(f, BX, i, t));
    double by = (at(f, BY, i, t) - at(f, BY, i, j)) + (at(f, BY, r, t) - at(f, BY, r, j));

    return fabs(0.5 * bx / f->domain.dx + 0.5 * by / f->domain.dy);
}

static double max_divb(const struct field *f)
{
    int inside = f->domain.boundary == BOUNDARY_OUTFLOW;
    double max = 0.0;

    for (int j = 0; j < f->domain.ny - inside; j++)
        for (int i = 0; i < f->domain.nx - inside; i++)
            max = fmax(max, corner_divb(f, i, j));
    return max;
}

static double asymmetry(const struct field *f)
{
    int nx = f->domain.nx, ny = f->domain.ny;
    double max = 0.0;

    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            double rho = at(f, RHO, i, j);

            max = fmax(max, fabs(rho - at(f, RHO, nx - 1 - i, ny - 1 - j)));
            if (nx == ny)
                max = fmax(max, fabs(rho - at(f, RHO, j, i)));
        }
    return max;
}

struct figures field_figures(const struct field *f, const struct problem *p)
{
    struct figures g = {.hash = UINT64_C(0xcbf29ce484222325), .rho_min = HUGE_VAL, .rho_max = -HUGE_VAL};
    double zones = (double)plane(f);

    for (int j = 0; j < f->domain.ny; j++)
        for (int i = 0; i < f->domain.nx; i++) {
            double rho = at(f, RHO, i, j);

            for (int v = 0; v < NVAR; v++)
                g.hash = hash_double(g.hash, at(f, v, i, j));
            g.mean_rho += rho;
            g.mean_energy += at(f, ENERGY, i, j);
            g.rho_min = fmin(g.rho_min, rho);
            g.rho_max = fmax(g.rho_max, rho);
            g.l1_bz += fabs(at(f, BZ, i, j) - problem_zone(p, &f->domain, i, j).bz);
        }
    g.mean_rho /= zones;
    g.mean_energy /= zones;
    g.l1_bz /= zones;
    g.max_divb = max_divb(f);
    g.asymmetry = asymmetry(f);
    return g;
}
