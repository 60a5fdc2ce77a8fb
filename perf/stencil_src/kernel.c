/*
 * One step of one patch, row by row, so that all that is derived stays in the first-level cache.
 *
 * Row j of predicted states needs the primitive rows j - 1, j, j + 1; the fluxes below row j need predicted
 * rows j - 1 and j; zones of row j - 1 are advanced as soon as the fluxes above them are there. Rows live in
 * small rings.
 */
#include "kernel.h"

/* A row of derived values: variables `span` doubles apart; index i counts from zone 0. */
struct rows {
    long span;
    double *w[4];         /* primitive states, ring by row */
    double *xm, *xp, *ym; /* predicted states of the row in work at lower x, upper x, lower y */
    double *yp[2];        /* predicted states at upper y: this row and the one below */
    double *fx[2];        /* x fluxes of the rows */
    double *gy[2];        /* y fluxes below the rows */
    double *e[2];         /* electric field at the lower corners of the rows */
};

enum { MARGIN = 4, ROW_BLOCKS = 13 };

/* A multiple of a cache line, and no multiple of the page that would map all variables to one cache set. */
static long span_of(const struct kernel *k)
{
    return ((k->n + 2L * MARGIN + 7) / 8 | 1) * 8;
}

long kernel_scratch(const struct kernel *k)
{
    return (ROW_BLOCKS * NVAR + 2) * span_of(k);
}

static double *row_take(double **next, long doubles)
{
    double *row = *next + MARGIN;

    *next += doubles;
    return row;
}

static struct rows rows_lay(const struct kernel *k, double *scratch)
{
    struct rows r = {.span = span_of(k)};
    long block = NVAR * r.span;

    for (int i = 0; i < 4; i++)
        r.w[i] = row_take(&scratch, block);
    r.xm = row_take(&scratch, block);
    r.xp = row_take(&scratch, block);
    r.ym = row_take(&scratch, block);
    for (int i = 0; i < 2; i++) {
        r.yp[i] = row_take(&scratch, block);
        r.fx[i] = row_take(&scratch, block);
        r.gy[i] = row_take(&scratch, block);
        r.e[i] = row_take(&scratch, r.span);
    }
    return r;
}

static void primitive_row(const struct kernel *k, const struct rows *r, const double *now, int j)
{
    double *restrict w = r->w[j & 3];
    const double *restrict u = now + j * k->row;
    long span = r->span, plane = k->plane;
    struct gas gas = k->gas;

#pragma omp simd
    for (int i = -NGHOST; i < k->n + NGHOST; i++)
        prim_store(w + i, span, prim_of(cons_load(u + i, plane), gas));
}

static void predict_row(const struct kernel *k, const struct rows *r, int j, double dt)
{
    const double *restrict w = r->w[j & 3], *restrict below = r->w[(j - 1) & 3],
                           *restrict above = r->w[(j + 1) & 3];
    double *restrict xm = r->xm, *restrict xp = r->xp, *restrict ym = r->ym, *restrict yp = r->yp[j & 1];
    double hx = 0.5 * dt / k->dx, hy = 0.5 * dt / k->dy;
    long span = r->span;
    struct gas gas = k->gas;

#pragma omp simd
    for (int i = -1; i <= k->n; i++) {
        struct prim c = prim_load(w + i, span);
        struct prim sx = slope_of(prim_load(w + i - 1, span), c, prim_load(w + i + 1, span));
        struct prim sy = slope_of(prim_load(below + i, span), c, prim_load(above + i, span));
        struct faces f = predict(c, sx, sy, hx, hy, gas);

        prim_store(xm + i, span, f.xm);
        prim_store(xp + i, span, f.xp);
        prim_store(ym + i, span, f.ym);
        prim_store(yp + i, span, f.yp);
    }
}

static void flux_row_x(const struct kernel *k, const struct rows *r, int j)
{
    const double *restrict xm = r->xm, *restrict xp = r->xp;
    double *restrict fx = r->fx[j & 1];
    long span = r->span;
    struct gas gas = k->gas;

#pragma omp simd
    for (int i = 0; i <= k->n; i++)
        cons_store(fx + i, span, flux_hll(prim_load(xp + i - 1, span), prim_load(xm + i, span), gas));
}

static void flux_row_y(const struct kernel *k, const struct rows *r, int j)
{
    const double *restrict ym = r->ym, *restrict yp = r->yp[(j - 1) & 1];
    double *restrict gy = r->gy[j & 1];
    long span = r->span;
    struct gas gas = k->gas;

#pragma omp simd
    for (int i = -1; i <= k->n; i++) {
        struct prim low = prim_swap(prim_load(yp + i, span)), high = prim_swap(prim_load(ym + i, span));

        cons_store(gy + i, span, cons_swap(flux_hll(low, high, gas)));
    }
}

static void corner_row(const struct kernel *k, const struct rows *r, int j)
{
    long bx = 5 * r->span, by = 6 * r->span;
    const double *restrict below = r->fx[(j - 1) & 1] + by, *restrict above = r->fx[j & 1] + by;
    const double *restrict gy = r->gy[j & 1] + bx;
    double *restrict e = r->e[j & 1];

#pragma omp simd
    for (int i = 0; i <= k->n; i++)
        e[i] = corner_field(below[i], above[i], gy[i - 1], gy[i]);
}

/* Zones of row j from the fluxes around them; returns their largest signal speed. */
static double advance_row(const struct kernel *k, const struct rows *r, const double *now, double *next,
                          int j, double dt)
{
    const double *restrict u = now + j * k->row, *restrict fx = r->fx[j & 1];
    const double *restrict gm = r->gy[j & 1], *restrict gp = r->gy[(j + 1) & 1];
    const double *restrict em = r->e[j & 1], *restrict ep = r->e[(j + 1) & 1];
    double *restrict v = next + j * k->row;
    double wx = dt / k->dx, wy = dt / k->dy, speed = 0.0;
    long span = r->span, plane = k->plane;
    struct gas gas = k->gas;

#pragma omp simd reduction(max : speed)
    for (int i = 0; i < k->n; i++) {
        struct fluxes f = {cons_load(fx + i, span), cons_load(fx + i + 1, span), cons_load(gm + i, span),
                           cons_load(gp + i, span)};
        struct corners e = {em[i], em[i + 1], ep[i], ep[i + 1]};
        struct cons c = advance(cons_load(u + i, plane), f, e, wx, wy);
        double s = signal_speed(prim_of(c, gas), gas);

        cons_store(v + i, plane, c);
        speed = s > speed ? s : speed;
    }
    return speed;
}

double kernel_step(const struct kernel *k, const double *now, double *next, double dt, double *scratch)
{
    struct rows r = rows_lay(k, scratch);
    double speed = 0.0;

    primitive_row(k, &r, now, -2);
    primitive_row(k, &r, now, -1);
    primitive_row(k, &r, now, 0);
    for (int j = -1; j <= k->n; j++) {
        if (j >= 0)
            primitive_row(k, &r, now, j + 1);
        predict_row(k, &r, j, dt);
        flux_row_x(k, &r, j);
        if (j < 0)
            continue;
        flux_row_y(k, &r, j);
        corner_row(k, &r, j);
        if (j < 1)
            continue;
        double s = advance_row(k, &r, now, next, j - 1, dt);
        speed = s > speed ? s : speed;
    }
    return speed;
}

double kernel_speed(const struct kernel *k, const double *now)
{
    double speed = 0.0;

    for (int j = 0; j < k->n; j++)
        for (int i = 0; i < k->n; i++) {
            double s = signal_speed(prim_of(cons_load(now + j * k->row + i, k->plane), k->gas), k->gas);

            speed = s > speed ? s : speed;
        }
    return speed;
}
