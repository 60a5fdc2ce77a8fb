/*
 * Ideal magnetohydrodynamics of one zone in two or three dimensions: states, limiter, predictor, HLL flux,
 * signal speed.
 *
 * These inline functions are all that the serial run and the patch kernel share. They hold no loop, no index
 * and no branch but on `dims` and `axis`, constants in the kernel, so that a compiler turns a row of them
 * into vector code with the bits of the scalar code (the program is compiled without contraction into fused
 * multiply-adds).
 *
 * Scheme: MUSCL-Hancock with the monotonised central limiter, HLL fluxes; the caller adds Toth's
 * flux-constrained transport (J. Comput. Phys. 161, 605, 2000). Everything is written for the x direction;
 * `prim_swap` and `cons_swap` exchange x and another axis, so that each direction costs the same operations,
 * and symmetric problems stay so: to the last bit between x and y, to rounding between those and z.
 */
#ifndef STENCIL_PHYSICS_H
#define STENCIL_PHYSICS_H

#include <math.h>

/* Inlined without exception: one call in a row's loop, and it is no vector code. */
#define ZONE static inline __attribute__((always_inline))

enum { NVAR = 8 };   /* variables per zone, in the order of struct cons */
enum { NGHOST = 2 }; /* ghost zones on each side of a patch */
enum { X, Y, Z };

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

/* A number for each axis. */
struct vec {
    double x, y, z;
};

/* Slopes of a zone along the axes; in two dimensions z is not read. */
struct slopes {
    struct prim x, y, z;
};

/* What one zone hands to its faces half a step later: xm is the state at its lower x face, yp at its upper y
 * face. */
struct faces {
    struct prim xm, xp, ym, yp, zm, zp;
};

/* Zone v of a variable-major array whose variables lie `stride` doubles apart. */
ZONE struct cons cons_load(const double *u, long stride)
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

ZONE struct prim prim_load(const double *w, long stride)
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

/* x and the axis exchange their roles. */
ZONE struct prim prim_swap(struct prim w, int axis)
{
    if (axis == Y)
        return (struct prim){w.d, w.vy, w.vx, w.vz, w.p, w.by, w.bx, w.bz};
    if (axis == Z)
        return (struct prim){w.d, w.vz, w.vy, w.vx, w.p, w.bz, w.by, w.bx};
    return w;
}

ZONE struct cons cons_swap(struct cons u, int axis)
{
    if (axis == Y)
        return (struct cons){u.d, u.my, u.mx, u.mz, u.e, u.by, u.bx, u.bz};
    if (axis == Z)
        return (struct cons){u.d, u.mz, u.my, u.mx, u.e, u.bz, u.by, u.bx};
    return u;
}

ZONE double square_sum(double x, double y, double z)
{
    return (x * x + y * y) + z * z;
}

ZONE struct prim prim_of(struct cons u, struct gas gas)
{
    double inv = 1.0 / u.d;
    double kinetic = 0.5 * (square_sum(u.mx, u.my, u.mz) * inv);
    double magnetic = 0.5 * square_sum(u.bx, u.by, u.bz);
    double p = (gas.gamma - 1.0) * (u.e - kinetic - magnetic);

    return (struct prim){u.d, u.mx * inv, u.my * inv, u.mz * inv, p, u.bx, u.by, u.bz};
}

ZONE struct cons cons_of(struct prim w, struct gas gas)
{
    double kinetic = 0.5 * (w.d * square_sum(w.vx, w.vy, w.vz));
    double magnetic = 0.5 * square_sum(w.bx, w.by, w.bz);
    double e = gas.heat * w.p + kinetic + magnetic;

    return (struct cons){w.d, w.d * w.vx, w.d * w.vy, w.d * w.vz, e, w.bx, w.by, w.bz};
}

/* Monotonised central slope from the differences to the left and to the right. */
ZONE double limit(double left, double right)
{
    double centre = 0.5 * (left + right);
    double l = fabs(left), r = fabs(right), c = fabs(centre);
    double steep = 2.0 * (l < r ? l : r);
    double s = copysign(c < steep ? c : steep, centre);

    return left * right > 0.0 ? s : 0.0;
}

ZONE struct prim slope_of(struct prim l, struct prim c, struct prim r)
{
    return (struct prim){limit(c.d - l.d, r.d - c.d),     limit(c.vx - l.vx, r.vx - c.vx),
                         limit(c.vy - l.vy, r.vy - c.vy), limit(c.vz - l.vz, r.vz - c.vz),
                         limit(c.p - l.p, r.p - c.p),     limit(c.bx - l.bx, r.bx - c.bx),
                         limit(c.by - l.by, r.by - c.by), limit(c.bz - l.bz, r.bz - c.bz)};
}

/* Rate of change of the primitive state by its x slope `s`, times the zone's width; the field in conservation
 * form. */
ZONE struct prim rate_of(struct prim w, struct prim s, struct gas gas)
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

/* Rate of change by the slope along an axis. */
ZONE struct prim rate_along(struct prim w, struct prim s, struct gas gas, int axis)
{
    return prim_swap(rate_of(prim_swap(w, axis), prim_swap(s, axis), gas), axis);
}

/* a·x + b·y, variable by variable. */
ZONE struct prim prim_mix(double a, struct prim x, double b, struct prim y)
{
    return (struct prim){a * x.d + b * y.d, a * x.vx + b * y.vx, a * x.vy + b * y.vy, a * x.vz + b * y.vz,
                         a * x.p + b * y.p, a * x.bx + b * y.bx, a * x.by + b * y.by, a * x.bz + b * y.bz};
}

/* w + a·s, variable by variable; w itself where that would have no density or no pressure left. */
ZONE struct prim prim_face(struct prim w, double a, struct prim s, struct prim safe)
{
    struct prim f = {w.d + a * s.d, w.vx + a * s.vx, w.vy + a * s.vy, w.vz + a * s.vz,
                     w.p + a * s.p, w.bx + a * s.bx, w.by + a * s.by, w.bz + a * s.bz};

    f.d = f.d > 0.0 ? f.d : safe.d;
    f.p = f.p > 0.0 ? f.p : safe.p;
    return f;
}

/*
 * Hancock's predictor: the states of zone c at its faces half a step later. h is half the step over the
 * zone's widths. In two dimensions zm and zp mean nothing.
 */
ZONE struct faces predict(struct prim c, struct slopes s, struct vec h, struct gas gas, int dims)
{
    struct prim change = prim_mix(h.x, rate_along(c, s.x, gas, X), h.y, rate_along(c, s.y, gas, Y));

    if (dims == 3)
        change = prim_mix(1.0, change, h.z, rate_along(c, s.z, gas, Z));
    struct prim half = prim_mix(1.0, c, 1.0, change);
    struct faces f = {.xm = prim_face(half, -0.5, s.x, c),
                      .xp = prim_face(half, 0.5, s.x, c),
                      .ym = prim_face(half, -0.5, s.y, c),
                      .yp = prim_face(half, 0.5, s.y, c)};

    if (dims == 3) {
        f.zm = prim_face(half, -0.5, s.z, c);
        f.zp = prim_face(half, 0.5, s.z, c);
    }
    return f;
}

/* Fast magnetosonic speed along x. */
ZONE double fast_speed(struct prim w, struct gas gas)
{
    double inv = 1.0 / w.d;
    double a2 = gas.gamma * w.p * inv;
    double b2 = square_sum(w.bx, w.by, w.bz) * inv;
    double bn2 = w.bx * w.bx * inv;
    double sum = a2 + b2;
    double disc = sum * sum - 4.0 * (a2 * bn2);

    return sqrt(0.5 * (sum + sqrt(disc > 0.0 ? disc : 0.0)));
}

/* Largest |v| + c_fast of a zone over the directions; infinite when density or pressure is not positive. */
ZONE double signal_speed(struct prim w, struct gas gas, int dims)
{
    double x = fabs(w.vx) + fast_speed(w, gas);
    double y = fabs(w.vy) + fast_speed(prim_swap(w, Y), gas);
    double z = dims == 3 ? fabs(w.vz) + fast_speed(prim_swap(w, Z), gas) : 0.0;
    double s = x > y ? x : y;

    s = s > z ? s : z;
    return w.d > 0.0 && w.p > 0.0 ? s : HUGE_VAL;
}

ZONE struct cons flux_of(struct prim w, struct cons u)
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
ZONE struct cons flux_hll(struct prim l, struct prim r, struct gas gas)
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

/* Flux through a face across an axis. */
ZONE struct cons flux_across(struct prim low, struct prim high, struct gas gas, int axis)
{
    return cons_swap(flux_hll(prim_swap(low, axis), prim_swap(high, axis), gas), axis);
}

/*
 * Electric field along an edge from the four faces around it (Toth), for two axes a before b: low and high
 * are the a fluxes of b's field below and above, left and right the b fluxes of a's field. For x and z that
 * is minus the y component.
 */
ZONE double edge_field(double low, double high, double left, double right)
{
    return 0.25 * ((left + right) - (low + high));
}

/* The four edges of a zone across two axes: m lower, p upper, first axis first: mp is lower a, upper b. */
struct quad {
    double mm, pm, mp, pp;
};

struct edges {
    struct quad xy, xz, yz; /* two dimensions: xy alone */
};

/* The fluxes through a zone's faces. */
struct fluxes {
    struct cons xm, xp, ym, yp, zm, zp;
};

/* Half the difference of the edges along the first, and along the second axis: of two edges each. */
ZONE double along_first(struct quad e)
{
    return 0.5 * ((e.pm + e.pp) - (e.mm + e.mp));
}

ZONE double along_second(struct quad e)
{
    return 0.5 * ((e.mp + e.pp) - (e.mm + e.pm));
}

/* a + w·(p - m), variable by variable. */
ZONE struct cons cons_add(struct cons a, double w, struct cons p, struct cons m)
{
    return (struct cons){a.d + w * (p.d - m.d),    a.mx + w * (p.mx - m.mx), a.my + w * (p.my - m.my),
                         a.mz + w * (p.mz - m.mz), a.e + w * (p.e - m.e),    a.bx + w * (p.bx - m.bx),
                         a.by + w * (p.by - m.by), a.bz + w * (p.bz - m.bz)};
}

/* The zone one step later; w is the step over the zone's widths. */
ZONE struct cons advance(struct cons u, struct fluxes f, struct edges e, struct vec w, int dims)
{
    const struct cons none = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    struct cons out = cons_add(cons_add(none, w.x, f.xp, f.xm), w.y, f.yp, f.ym);
    double bx = u.bx - w.y * along_second(e.xy);
    double by = u.by + w.x * along_first(e.xy);
    double bz = u.bz - out.bz;

    if (dims == 3) {
        out = cons_add(out, w.z, f.zp, f.zm);
        bx -= w.z * along_second(e.xz);
        by -= w.z * along_second(e.yz);
        bz = u.bz + (w.x * along_first(e.xz) + w.y * along_first(e.yz));
    }
    return (struct cons){u.d - out.d, u.mx - out.mx, u.my - out.my, u.mz - out.mz, u.e - out.e, bx, by, bz};
}

#endif
