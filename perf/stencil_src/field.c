/*
 * The state of the whole grid in global zone order, and what is told about it.
 */
#include "field.h"

#include <stdlib.h>
#include <string.h>

enum { RHO = 0, ENERGY = 4, BX = 5, BZ = 7 };

int field_make(struct field *f, const struct domain *d)
{
    *f = (struct field){.domain = *d};
    f->u = calloc((size_t)domain_zones(d), NVAR * sizeof *f->u);
    return f->u ? 0 : -1;
}

/* A visit to all zones in order: a place and its number. */
struct visit {
    int at[3];
    long zone;
};

/* The next zone; false after the last. */
static bool next_zone(const struct domain *d, struct visit *v)
{
    v->zone++;
    for (int a = X; a <= Z; a++) {
        if (++v->at[a] < d->n[a])
            return true;
        v->at[a] = 0;
    }
    return false;
}

static long zone_of(const struct domain *d, const int at[3])
{
    return ((long)at[Z] * d->n[Y] + at[Y]) * d->n[X] + at[X];
}

static const double *variable(const struct field *f, int v)
{
    return f->u + v * domain_zones(&f->domain);
}

static uint64_t hash_double(uint64_t hash, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    for (int k = 0; k < 64; k += 8)
        hash = (hash ^ (bits >> k & 0xff)) * UINT64_C(0x100000001b3);
    return hash;
}

/* Divergence of the field at the upper corner of a zone, from the zones around it; the grid wraps around. */
static double corner_divb(const struct field *f, const int at[3])
{
    const struct domain *d = &f->domain;
    int around = 1 << d->dims;
    double sum = 0.0;

    for (int a = X; a < d->dims; a++) {
        double along = 0.0;

        for (int corner = 0; corner < around; corner++) {
            int place[3];

            for (int b = X; b <= Z; b++)
                place[b] = (at[b] + (corner >> b & 1)) % d->n[b];
            double field = variable(f, BX + a)[zone_of(d, place)];
            along += corner >> a & 1 ? field : -field;
        }
        sum += 2.0 * along / (around * d->width[a]);
    }
    return fabs(sum);
}

/* Whether the upper corner of a zone has zones all around it. */
static bool is_inside(const struct domain *d, const int at[3])
{
    bool inside = true;

    for (int a = X; a <= Z && d->boundary == BOUNDARY_OUTFLOW; a++)
        inside = inside && (a >= d->dims || at[a] + 1 < d->n[a]);
    return inside;
}

static double max_divb(const struct field *f)
{
    struct visit v = {{0, 0, 0}, 0};
    double max = 0.0;

    do {
        if (is_inside(&f->domain, v.at))
            max = fmax(max, corner_divb(f, v.at));
    } while (next_zone(&f->domain, &v));
    return max;
}

static double asymmetry(const struct field *f)
{
    const struct domain *d = &f->domain;
    const double *rho = variable(f, RHO);
    struct visit v = {{0, 0, 0}, 0};
    double max = 0.0;

    do {
        max = fmax(max, fabs(rho[v.zone] - rho[domain_zones(d) - 1 - v.zone]));
        for (int a = Y; a < d->dims; a++) {
            int place[3] = {v.at[X], v.at[Y], v.at[Z]};

            place[X] = v.at[a];
            place[a] = v.at[X];
            if (d->n[a] == d->n[X])
                max = fmax(max, fabs(rho[v.zone] - rho[zone_of(d, place)]));
        }
    } while (next_zone(d, &v));
    return max;
}

/* Means over shells around the middle, one zone thick. */
struct shell {
    double zones, radius, energy;
};

static void shells_fill(const struct field *f, struct shell *shells, int count)
{
    const struct domain *d = &f->domain;
    struct visit v = {{0, 0, 0}, 0};

    do {
        double r2 = 0.0;

        for (int a = X; a <= Z; a++) {
            double along = (v.at[a] + 0.5 - 0.5 * d->n[a]) * d->width[a];

            r2 += along * along;
        }
        int s = (int)(sqrt(r2) / d->width[X]);
        if (s < count) {
            shells[s].zones += 1.0;
            shells[s].radius += sqrt(r2);
            shells[s].energy += variable(f, ENERGY)[v.zone];
        }
    } while (next_zone(d, &v));
    for (int s = 0; s < count; s++) {
        shells[s].radius /= fmax(shells[s].zones, 1.0);
        shells[s].energy /= fmax(shells[s].zones, 1.0);
    }
}

/* How steeply the energy falls from shell s to the next. */
static double descent(const struct shell *s)
{
    return (s[0].energy - s[1].energy) / (s[1].radius - s[0].radius);
}

/* The summit of a parabola through the steepest descent and those beside it. */
static double shock_radius(const struct field *f)
{
    int count = f->domain.dims == 3 ? f->domain.n[X] / 2 : 0, k = 1;
    struct shell *shells = calloc((size_t)count + 1, sizeof *shells);

    if (!shells || count < 4) {
        free(shells);
        return 0.0;
    }
    shells_fill(f, shells, count);
    for (int s = 1; s + 2 < count; s++)
        k = descent(&shells[s]) > descent(&shells[k]) ? s : k;
    double in = descent(&shells[k - 1]), top = descent(&shells[k]), out = descent(&shells[k + 1]);
    double bend = 2.0 * top - in - out, shift = bend > 0.0 ? 0.5 * (out - in) / bend : 0.0;
    double radius = 0.5 * (shells[k].radius + shells[k + 1].radius) + shift * f->domain.width[X];
    free(shells);
    return radius;
}

struct figures field_figures(const struct field *f, const struct problem *p)
{
    struct figures g = {.hash = UINT64_C(0xcbf29ce484222325), .rho_min = HUGE_VAL, .rho_max = -HUGE_VAL};
    double zones = (double)domain_zones(&f->domain);
    struct visit v = {{0, 0, 0}, 0};

    do {
        double rho = variable(f, RHO)[v.zone];

        for (int k = 0; k < NVAR; k++)
            g.hash = hash_double(g.hash, variable(f, k)[v.zone]);
        g.mean_rho += rho;
        g.mean_energy += variable(f, ENERGY)[v.zone];
        g.rho_min = fmin(g.rho_min, rho);
        g.rho_max = fmax(g.rho_max, rho);
        g.l1_bz += fabs(variable(f, BZ)[v.zone] - problem_zone(p, &f->domain, v.at).bz);
    } while (next_zone(&f->domain, &v));
    g.mean_rho /= zones;
    g.mean_energy /= zones;
    g.l1_bz /= zones;
    g.max_divb = max_divb(f);
    g.asymmetry = asymmetry(f);
    g.shock_radius = shock_radius(f);
    return g;
}
