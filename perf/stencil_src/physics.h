/*
 * Ideal magnetohydrodynamics of one zone: states, limiter, predictor, HLL flux, signal speed.
 *
 * These inline functions are all that the serial run and the patch kernel share. They hold no loop, no index
 * and no branch, so that a compiler turns a row of them into vector code with the bits of the scalar code
 * (the program is compiled without contraction into fused multiply-adds).
 *
 * Scheme: MUSCL-Hancock with the monotonised central limiter, HLL fluxes; the caller adds Toth's
 * flux-constrained transport (J. Comput. Phys. 161, 605, 2000). Everything is written for the x direction;
 * `prim_swap` and `cons_swap` exchange x and y, so the y direction costs the same operations in the same
 * order and symmetric problems stay so.
 */
#ifndef STENCIL_PHYSICS_H
#define STENCIL_PHYSICS_H

#include <math.h>

enum { NVAR = 8 };   /* variables per zone, in the order of struct cons */
enum { NGHOST = 2 }; /* ghost zones on each side of a patch */

/* Conserved state, or a flux of it: density, momentum, total energy, magnetic field. */
struct cons {
    double d, mx, my, mz, e, bx, by, bz;
};

/* Primitive state, or a slope of it: density, velocity, gas pressure, magnetic field. */
struct prim {
    double d, vx, vy, vz, p, bx, by, bz;
};

/* The ideal gas: ratio of specific heats, and heat = 1 / (gamma - 1). */
struct gas {
    double gamma, heat;
};

/* What one zone hands to its four faces half a step later: xm is the state at its lower x face, yp at its
 * upper y face. */
struct faces {
    struct prim xm, xp, ym, yp;
};

/* Zone v of a variable-major array whose variables lie `stride` doubles apart. */
static inline struct cons cons_load(const double *u, long stride)
{
    return (struct cons){u[0],          u[stride],     u[2 * stride], u[3 * stride],
                         u[4 * stride], u[5 * stride], u[6 * stride], u[7 * stride]};
}

static inline void cons_store(double *u, long stride, struct cons c)
{
    u[0] = c.d;
    u[stride] = c.mx;
    u[2 * stride] = c.my;
    u[3 * stride] = c.mz;
    u[4 * stride] = c.e;
    u[5 * stride] = c.bx;
    u[6 * stride] = c.by;
    u[7 * stride] = c.bz;
}

static inline struct prim prim_load(const double *w, long stride)
{
    return (struct prim){w[0],          w[stride],     w[2 * stride], w[3 * stride],
                         w[4 * stride], w[5 * stride], w[6 * stride], w[7 * stride]};
}

static inline void prim_store(double *w, long stride, struct prim p)
{
    w[0] = p.d;
    w[stride] = p.vx;
    w[2 * stride] = p.vy;
    w[3 * stride] = p.vz;
    w[4 * stride] = p.p;
    w[5 * stride] = p.bx;
    w[6 * stride] = p.by;
    w[7 * stride] = p.bz;
}

static inline struct prim prim_swap(struct prim w)
{
    return (struct prim){w.d, w.vy, w.vx, w.vz, w.p, w.by, w.bx, w.bz};
}

static inline struct cons cons_swap(struct cons u)
{
    return (struct cons){u.d, u.my, u.mx, u.mz, u.e, u.by, u.bx, u.bz};
}

static inline double square_sum(double x, double y, double z)
{
    return (x * x + y * y) + z * z;
}

static inline struct prim prim_of(struct cons u, struct gas gas)
{
    double inv = 1.0 / u.d;
    double kinetic = 0.5 * (square_sum(u.mx, u.my, u.mz) * inv);
    double magnetic = 0.5 * square_sum(u.bx, u.by, u.bz);
    double p = (gas.gamma - 1.0) * (u.e - kinetic - magnetic);

    return (struct prim){u.d, u.mx * inv, u.my * inv, u.mz * inv, p, u.bx, u.by, u.bz};
}

static inline struct cons cons_of(struct prim w, struct gas gas)
{
    double kinetic = 0.5 * (w.d * square_sum(w.vx, w.vy, w.vz));
    double magnetic = 0.5 * square_sum(w.bx, w.by, w.bz);
    double e = gas.heat * w.p + kinetic + magnetic;

    return (struct cons){w.d, w.d * w.vx, w.d * w.vy, w.d * w.vz, e, w.bx, w.by, w.bz};
}

/* Monotonised central slope from the differences to the left and to the right. */
static inline double limit(double left, double right)
{
    double centre = 0.5 * (left + right);
    double l = fabs(left), r = fabs(right), c = fabs(centre);
    double steep = 2.0 * (l < r ? l : r);
    double s = copysign(c < steep ? c : steep, centre);

    return left * right > 0.0 ? s : 0.0;
}

static inline struct prim slope_of(struct prim l, struct prim c, struct prim r)
{
    return (struct prim){limit(c.d - l.d, r.d - c.d),     limit(c.vx - l.vx, r.vx - c.vx),
                         limit(c.vy - l.vy, r.vy - c.vy), limit(c.vz - l.vz, r.vz - c.vz),
                         limit(c.p - l.p, r.p - c.p),     limit(c.bx - l.bx, r.bx - c.bx),
                         limit(c.by - l.by, r.by - c.by), limit(c.bz - l.bz, r.bz - c.bz)};
}

/* Rate of change of the primitive state by its x slope `s`, times the zone's width; the field in conservation
 * form. */
static inline struct prim rate_of(struct prim w, struct prim s, struct gas gas)
{
    double inv = 1.0 / w.d;

    return (struct prim){-(w.vx * s.d + w.d * s.vx),
                         -(w.vx * s.vx + (s.p + (w.by * s.by + w.bz * s.bz)) * inv),
                         -(w.vx * s.vy - w.bx * s.by * inv),
                         -(w.vx * s.vz - w.bx * s.bz * inv),
                         -(w.vx * s.p + gas.gamma * w.p * s.vx),
                         0.0,
                         -((s.vx * w.by + w.vx * s.by) - (s.vy * w.bx + w.vy * s.bx)),
                         -((s.vx * w.bz + w.vx * s.bz) - (s.vz * w.bx + w.vz * s.bx))};
}

/* w + a·x + b·y, variable by variable. */
static inline struct prim prim_add(struct prim w, double a, struct prim x, double b, struct prim y)
{
    return (struct prim){w.d + (a * x.d + b * y.d),    w.vx + (a * x.vx + b * y.vx),
                         w.vy + (a * x.vy + b * y.vy), w.vz + (a * x.vz + b * y.vz),
                         w.p + (a * x.p + b * y.p),    w.bx + (a * x.bx + b * y.bx),
                         w.by + (a * x.by + b * y.by), w.bz + (a * x.bz + b * y.bz)};
}

/* w + a·s, variable by variable; w itself where that would have no density or no pressure left. */
static inline struct prim prim_face(struct prim w, double a, struct prim s, struct prim safe)
{
    struct prim f = {w.d + a * s.d, w.vx + a * s.vx, w.vy + a * s.vy, w.vz + a * s.vz,
                     w.p + a * s.p, w.bx + a * s.bx, w.by + a * s.by, w.bz + a * s.bz};

    f.d = f.d > 0.0 ? f.d : safe.d;
    f.p = f.p > 0.0 ? f.p : safe.p;
    return f;
}

/*
 * Hancock's predictor: the states of zone c at its faces half a step later. sx and sy are its slopes along x
 * and y; hx and hy are half the step over the zone's widths.
 */
static inline struct faces predict(struct prim c, struct prim sx, struct prim sy, double hx, double hy,
                                   struct gas gas)
{
    struct prim rx = rate_of(c, sx, gas);
    struct prim ry = prim_swap(rate_of(prim_swap(c), prim_swap(sy), gas));
    struct prim half = prim_add(c, hx, rx, hy, ry);

    return (struct faces){prim_face(half, -0.5, sx, c), prim_face(half, 0.5, sx, c),
                          prim_face(half, -0.5, sy, c), prim_face(half, 0.5, sy, c)};
}

/* Fast magnetosonic speed along x. */
static inline double fast_speed(struct prim w, struct gas gas)
{
    double inv = 1.0 / w.d;
    double a2 = gas.gamma * w.p * inv;
    double b2 = square_sum(w.bx, w.by, w.bz) * inv;
    double bn2 = w.bx * w.bx * inv;
    double sum = a2 + b2;
    double disc = sum * sum - 4.0 * (a2 * bn2);

    return sqrt(0.5 * (sum + sqrt(disc > 0.0 ? disc : 0.0)));
}

/* Largest |v| + c_fast of a zone over the two directions; infinite when density or pressure is not positive.
 */
static inline double signal_speed(struct prim w, struct gas gas)
{
    double x = fabs(w.vx) + fast_speed(w, gas);
    double y = fabs(w.vy) + fast_speed(prim_swap(w), gas);
    double s = x > y ? x : y;

    return w.d > 0.0 && w.p > 0.0 ? s : HUGE_VAL;
}

static inline struct cons flux_of(struct prim w, struct cons u)
{
    double pt = w.p + 0.5 * square_sum(w.bx, w.by, w.bz);
    double vb = (w.vx * w.bx + w.vy * w.by) + w.vz * w.bz;

    return (struct cons){u.mx,
                         u.mx * w.vx + pt - w.bx * w.bx,
                         u.mx * w.vy - w.bx * w.by,
                         u.mx * w.vz - w.bx * w.bz,
                         (u.e + pt) * w.vx - w.bx * vb,
                         0.0,
                         w.vx * w.by - w.vy * w.bx,
                         w.vx * w.bz - w.vz * w.bx};
}

/* HLL flux through an x face between the states l and r; the flux of bx is left to the constrained transport.
 */
static inline struct cons flux_hll(struct prim l, struct prim r, struct gas gas)
{
    struct cons ul = cons_of(l, gas), ur = cons_of(r, gas);
    struct cons fl = flux_of(l, ul), fr = flux_of(r, ur);
    double cl = fast_speed(l, gas), cr = fast_speed(r, gas);
    double lo = l.vx - cl < r.vx - cr ? l.vx - cl : r.vx - cr;
    double hi = l.vx + cl > r.vx + cr ? l.vx + cl : r.vx + cr;
    double sl = lo < 0.0 ? lo : 0.0;
    double sr = hi > 0.0 ? hi : 0.0;
    double inv = 1.0 / (sr - sl);
    double a = sr * inv, b = -sl * inv, c = sl * sr * inv;

    return (struct cons){
        (a * fl.d + b * fr.d) + c * (ur.d - ul.d),     (a * fl.mx + b * fr.mx) + c * (ur.mx - ul.mx),
        (a * fl.my + b * fr.my) + c * (ur.my - ul.my), (a * fl.mz + b * fr.mz) + c * (ur.mz - ul.mz),
        (a * fl.e + b * fr.e) + c * (ur.e - ul.e),     0.0,
        (a * fl.by + b * fr.by) + c * (ur.by - ul.by), (a * fl.bz + b * fr.bz) + c * (ur.bz - ul.bz)};
}

/*
 * Electric field at a corner from the four faces around it (Toth): fb and ft are the x fluxes of by below and
 * above, gl and gr the y fluxes of bx at the left and at the right.
 */
static inline double corner_field(double fb, double ft, double gl, double gr)
{
    return 0.25 * ((gl + gr) - (fb + ft));
}

/* Corners of a zone: m lower, p upper, x first: mp is lower x, upper y. */
struct corners {
    double mm, pm, mp, pp;
};

/* The fluxes through a zone's lower and upper x face, then y face. */
struct fluxes {
    struct cons xm, xp, ym, yp;
};

/* The zone one step later; wx and wy are the step over the zone's widths. */
static inline struct cons advance(struct cons u, struct fluxes f, struct corners e, double wx, double wy)
{
    return (struct cons){u.d - (wx * (f.xp.d - f.xm.d) + wy * (f.yp.d - f.ym.d)),
                         u.mx - (wx * (f.xp.mx - f.xm.mx) + wy * (f.yp.mx - f.ym.mx)),
                         u.my - (wx * (f.xp.my - f.xm.my) + wy * (f.yp.my - f.ym.my)),
                         u.mz - (wx * (f.xp.mz - f.xm.mz) + wy * (f.yp.mz - f.ym.mz)),
                         u.e - (wx * (f.xp.e - f.xm.e) + wy * (f.yp.e - f.ym.e)),
                         u.bx - 0.5 * wy * ((e.mp + e.pp) - (e.mm + e.pm)),
                         u.by + 0.5 * wx * ((e.pm + e.pp) - (e.mm + e.mp)),
                         u.bz - (wx * (f.xp.bz - f.xm.bz) + wy * (f.yp.bz - f.ym.bz))};
}

#endif
