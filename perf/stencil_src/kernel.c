/*
 * One step of one patch, slab by slab, so that all that is derived stays in the nearest cache.
 *
 * A slab is a row in two dimensions and a layer of rows in three; the sweep goes along the last axis, `s`.
 * Slab s of predicted states needs the primitive slabs s - 1, s, s + 1; the fluxes below slab s need
 * predicted slabs s - 1 and s; zones of slab s - 1 are advanced as soon as the fluxes above them are there.
 * Slabs live in small rings, and what only one row needs, in one row.
 *
 * `dims` is a constant in each of the two instances of the sweep.
 */
#include "kernel.h"

enum { MARGIN = 4 };                      /* zones beside a row */
enum { SLABS = 12, ROWS = 6, EDGES = 6 }; /* blocks of eight variables, and of one */
enum { BX = 5, BY = 6, BZ = 7 };

/* Derived values: variables `span` doubles apart, rows `step`, those of one variable `span`. Index i counts
 * from zone 0, j from row 0. */
struct rows {
    long span, step;
    int first, end;          /* rows of a slab with predicted states */
    struct vec half, whole;  /* half the step and the step, over the zone's widths */
    double *w[4];            /* primitive states, ring by slab */
    double *xm, *xp, *ym;    /* predicted states of the row in work at lower x, upper x, lower y, */
    double *yp[2];           /* at upper y, this row and the one below, */
    double *sm;              /* and at lower s */
    double *sp[2];           /* predicted states at upper s: this slab and the one below */
    double *fx[2], *fy[2];   /* x fluxes of the slabs, and fluxes below their rows */
    double *fs[2];           /* fluxes below the slabs */
    double *exs[2], *eys[2]; /* electric field at the edges below the slabs, across x and s, y and s */
    double *exy[2];          /* and at the edges below the rows */
};

/* A multiple of a cache line, and no multiple of the page that would map all variables to one cache set. */
static long span_of(const struct kernel *k)
{
    return ((k->n + 2L * MARGIN + 7) / 8 | 1) * 8;
}

/* Rows of a slab with its ghost zones. */
static long slab_rows(const struct kernel *k)
{
    return k->dims == 3 ? k->n + 2L * NGHOST : 1;
}

long kernel_scratch(const struct kernel *k)
{
    return ((SLABS * slab_rows(k) + ROWS) * NVAR + EDGES * slab_rows(k)) * span_of(k);
}

/* A block of `rows` rows of `vars` variables, and in it row `below`, zone 0. */
static double *take(const struct rows *r, double **next, long rows, int vars)
{
    double *block = *next;

    *next += rows * vars * r->span;
    return block + MARGIN + (rows > 1 ? NGHOST * vars * r->span : 0);
}

static struct rows rows_lay(const struct kernel *k, double dt, double *scratch)
{
    struct rows r = {.span = span_of(k), .step = NVAR * span_of(k), .end = 1};
    struct vec width = k->width;
    long rows = slab_rows(k);

    r.half = (struct vec){0.5 * dt / width.x, 0.5 * dt / width.y, 0.5 * dt / width.z};
    r.whole = (struct vec){dt / width.x, dt / width.y, dt / width.z};
    if (k->dims == 3) {
        r.first = -1;
        r.end = k->n + 1;
    }
    for (int i = 0; i < 4; i++)
        r.w[i] = take(&r, &scratch, rows, NVAR);
    r.xm = take(&r, &scratch, 1, NVAR);
    r.xp = take(&r, &scratch, 1, NVAR);
    r.ym = take(&r, &scratch, 1, NVAR);
    r.sm = take(&r, &scratch, 1, NVAR);
    for (int i = 0; i < 2; i++) {
        r.yp[i] = take(&r, &scratch, 1, NVAR);
        r.sp[i] = take(&r, &scratch, rows, NVAR);
        r.fx[i] = take(&r, &scratch, rows, NVAR);
        r.fy[i] = take(&r, &scratch, rows, NVAR);
        r.fs[i] = take(&r, &scratch, rows, NVAR);
        r.exs[i] = take(&r, &scratch, rows, 1);
        r.eys[i] = take(&r, &scratch, rows, 1);
        r.exy[i] = take(&r, &scratch, rows, 1);
    }
    return r;
}

/* Row j of slab s of a patch's state. */
static const double *state_row(const struct kernel *k, const double *u, int s, int j)
{
    return k->dims == 3 ? u + s * k->layer + j * k->row : u + s * k->row;
}

static void primitive_slab(const struct kernel *k, const struct rows *r, const double *now, int s)
{
    int ghosts = k->dims == 3 ? NGHOST : 0;
    long span = r->span, plane = k->plane;
    struct gas gas = k->gas;

    for (int j = -ghosts; j < (ghosts ? k->n + ghosts : 1); j++) {
        double *restrict w = r->w[s & 3] + j * r->step;
        const double *restrict u = state_row(k, now, s, j);

#pragma omp simd
        for (int i = -NGHOST; i < k->n + NGHOST; i++)
            prim_store(w + i, span, prim_of(cons_load(u + i, plane), gas));
    }
}

ZONE void predict_row(const struct kernel *k, const struct rows *r, int s, int j, const int dims)
{
    const double *restrict w = r->w[s & 3] + j * r->step;
    const double *restrict before = r->w[(s - 1) & 3] + j * r->step;
    const double *restrict behind = r->w[(s + 1) & 3] + j * r->step;
    const double *restrict below = dims == 3 ? w - r->step : before;
    const double *restrict above = dims == 3 ? w + r->step : behind;
    double *restrict xm = r->xm, *restrict xp = r->xp, *restrict sm = r->sm;
    double *restrict ym = r->ym, *restrict yp = r->yp[j & 1], *restrict sp = r->sp[s & 1] + j * r->step;
    long span = r->span;
    struct vec half = r->half;
    struct gas gas = k->gas;

#pragma omp simd
    for (int i = -1; i <= k->n; i++) {
        struct prim c = prim_load(w + i, span);
        struct slopes d = {.x = slope_of(prim_load(w + i - 1, span), c, prim_load(w + i + 1, span)),
                           .y = slope_of(prim_load(below + i, span), c, prim_load(above + i, span))};
        if (dims == 3)
            d.z = slope_of(prim_load(before + i, span), c, prim_load(behind + i, span));
        struct faces f = predict(c, d, half, gas, dims);

        prim_store(xm + i, span, f.xm);
        prim_store(xp + i, span, f.xp);
        prim_store(sm + i, span, dims == 3 ? f.zm : f.ym);
        prim_store(sp + i, span, dims == 3 ? f.zp : f.yp);
        if (dims == 3) {
            prim_store(ym + i, span, f.ym);
            prim_store(yp + i, span, f.yp);
        }
    }
}

/* Fluxes across an axis from the states below and above the faces of zones first … n. */
ZONE void flux_row(const struct kernel *k, long span, const double *restrict low, const double *restrict high,
                   double *restrict flux, int first, const int axis)
{
    struct gas gas = k->gas;

#pragma omp simd
    for (int i = first; i <= k->n; i++)
        cons_store(flux + i, span,
                   flux_across(prim_load(low + i, span), prim_load(high + i, span), gas, axis));
}

/* Predicted states of slab s and the fluxes that they make. */
ZONE void flux_slab(const struct kernel *k, const struct rows *r, int s, const int dims)
{
    int now = s & 1;

    for (int j = r->first; j < r->end; j++) {
        long at = j * r->step;

        predict_row(k, r, s, j, dims);
        flux_row(k, r->span, r->xp - 1, r->xm, r->fx[now] + at, 0, X);
        if (dims == 3 && j >= 0)
            flux_row(k, r->span, r->yp[(j - 1) & 1], r->ym, r->fy[now] + at, -1, Y);
        if (s >= 0)
            flux_row(k, r->span, r->sp[!now] + at, r->sm, r->fs[now] + at, -1, dims == 3 ? Z : Y);
    }
}

static void edge_row(const struct kernel *k, double *restrict e, const double *const flux[4])
{
    const double *restrict low = flux[0], *restrict high = flux[1];
    const double *restrict left = flux[2], *restrict right = flux[3];

#pragma omp simd
    for (int i = 0; i <= k->n; i++)
        e[i] = edge_field(low[i], high[i], left[i], right[i]);
}

/* The electric field at the edges of slab s and below it. */
ZONE void edge_slab(const struct kernel *k, const struct rows *r, int s, const int dims)
{
    const double *fx = r->fx[s & 1], *fy = r->fy[s & 1], *fs = r->fs[s & 1];
    const double *fx_before = r->fx[(s - 1) & 1], *fy_before = r->fy[(s - 1) & 1];
    long bx = BX * r->span, by = BY * r->span, bz = BZ * r->span, last = dims == 3 ? bz : by;

    for (int j = 0; j < r->end; j++) {
        long at = j * r->step, below = at - r->step, edge = j * r->span;

        edge_row(k, r->exs[s & 1] + edge,
                 (const double *[]){fx_before + at + last, fx + at + last, fs + at + bx - 1, fs + at + bx});
        if (dims < 3)
            continue;
        edge_row(k, r->eys[s & 1] + edge,
                 (const double *[]){fy_before + at + bz, fy + at + bz, fs + below + by, fs + at + by});
        edge_row(k, r->exy[s & 1] + edge,
                 (const double *[]){fx + below + by, fx + at + by, fy + at + bx - 1, fy + at + bx});
    }
}

/* The four edges across the axes of a row, at i and i + 1 of the rows below and above. */
ZONE struct quad quad_x(const double *below, const double *above, int i)
{
    return (struct quad){below[i], below[i + 1], above[i], above[i + 1]};
}

/* Zones of row j of slab s from the fluxes around them; returns their largest signal speed. */
ZONE double advance_row(const struct kernel *k, const struct rows *r, const double *restrict u,
                        double *restrict v, int s, int j, const int dims)
{
    long at = j * r->step, edge = j * r->span, span = r->span, plane = k->plane;
    const double *restrict fx = r->fx[s & 1] + at, *restrict fy = r->fy[s & 1] + at;
    const double *restrict fy_up = fy + r->step;
    const double *restrict fs = r->fs[s & 1] + at, *restrict fs_up = r->fs[(s + 1) & 1] + at;
    const double *restrict exs = r->exs[s & 1] + edge, *restrict exs_up = r->exs[(s + 1) & 1] + edge;
    const double *restrict eys = r->eys[s & 1] + edge, *restrict eys_up = r->eys[(s + 1) & 1] + edge;
    const double *restrict exy = r->exy[s & 1] + edge, *restrict exy_up = exy + span;
    struct vec whole = r->whole;
    struct gas gas = k->gas;
    double speed = 0.0;

#pragma omp simd reduction(max : speed)
    for (int i = 0; i < k->n; i++) {
        struct fluxes f = {.xm = cons_load(fx + i, span), .xp = cons_load(fx + i + 1, span)};
        struct edges e = {.xy = quad_x(exs, exs_up, i)};

        if (dims == 3) {
            f.ym = cons_load(fy + i, span);
            f.yp = cons_load(fy_up + i, span);
            f.zm = cons_load(fs + i, span);
            f.zp = cons_load(fs_up + i, span);
            e.xz = e.xy;
            e.xy = quad_x(exy, exy_up, i);
            e.yz = (struct quad){eys[i], eys[i + span], eys_up[i], eys_up[i + span]};
        } else {
            f.ym = cons_load(fs + i, span);
            f.yp = cons_load(fs_up + i, span);
        }
        struct cons c = advance(cons_load(u + i, plane), f, e, whole, dims);
        double fast = signal_speed(prim_of(c, gas), gas, dims);

        cons_store(v + i, plane, c);
        speed = fast > speed ? fast : speed;
    }
    return speed;
}

ZONE double sweep(const struct kernel *k, const double *now, double *next, double dt, double *scratch,
                  const int dims)
{
    struct rows r = rows_lay(k, dt, scratch);
    double speed = 0.0;

    primitive_slab(k, &r, now, -2);
    primitive_slab(k, &r, now, -1);
    primitive_slab(k, &r, now, 0);
    for (int s = -1; s <= k->n; s++) {
        if (s >= 0)
            primitive_slab(k, &r, now, s + 1);
        flux_slab(k, &r, s, dims);
        if (s >= 0)
            edge_slab(k, &r, s, dims);
        for (int j = 0; s >= 1 && j < (dims == 3 ? k->n : 1); j++) {
            long at = state_row(k, now, s - 1, j) - now;
            double fast = advance_row(k, &r, now + at, next + at, s - 1, j, dims);

            speed = fast > speed ? fast : speed;
        }
    }
    return speed;
}

double kernel_step(const struct kernel *k, const double *now, double *next, double dt, double *scratch)
{
    return k->dims == 3 ? sweep(k, now, next, dt, scratch, 3) : sweep(k, now, next, dt, scratch, 2);
}

double kernel_speed(const struct kernel *k, const double *now)
{
    int rows = k->dims == 3 ? k->n : 1;
    double speed = 0.0;

    for (int s = 0; s < k->n; s++)
        for (int j = 0; j < rows; j++)
            for (int i = 0; i < k->n; i++) {
                struct cons c = cons_load(state_row(k, now, s, j) + i, k->plane);
                double fast = signal_speed(prim_of(c, k->gas), k->gas, k->dims);

                speed = fast > speed ? fast : speed;
            }
    return speed;
}
