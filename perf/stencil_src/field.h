/*
 * The state of the whole grid in global zone order, `[var][k][j][i]`, and what is told about it.
 */
#ifndef STENCIL_FIELD_H
#define STENCIL_FIELD_H

#include "problems.h"

#include <stdbool.h>
#include <stdint.h>

struct field {
    struct domain domain;
    double time;
    double *u; /* NVAR × nz × ny × nx */
};

/* Figures of a field; the last three say how far it is from the exact answers of alfven, blast and sedov. */
struct figures {
    uint64_t hash;
    double mean_rho, mean_energy, rho_min, rho_max, max_divb;
    double l1_bz;     /* mean |bz - first bz|: the error after a whole period of the Alfvén wave */
    double asymmetry; /* largest difference of density between zones opposite each other, and, where the grid
                         is as long, between zones whose places along x and another axis are exchanged */
    double shock_radius; /* three dimensions: where the energy, averaged over spheres around the middle, falls
                            most steeply; else 0 */
};

/* Allocates the array of a field; 0, or -1 without memory. The caller frees f->u. */
int field_make(struct field *f, const struct domain *d);

/* Figures of the field of problem p. The hash is FNV-1a (64 bits) over the zones' variables, little endian.
 */
struct figures field_figures(const struct field *f, const struct problem *p);

#endif
