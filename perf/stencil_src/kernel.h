/*
 * One step of one patch.
 */
#ifndef STENCIL_KERNEL_H
#define STENCIL_KERNEL_H

#include "physics.h"

/* Shape and constants of a step; the same for all patches. */
struct kernel {
    int n, dims;            /* zones along a patch's side; 2 or 3 */
    long row, layer, plane; /* doubles between rows, layers and variables of a patch */
    struct vec width;       /* of a zone */
    struct gas gas;
};

/* Doubles of scratch space that a thread needs. */
long kernel_scratch(const struct kernel *k);

/*
 * Writes the inner zones of `next` from `now`, whose ghost zones are filled; both point at the first inner
 * zone of the first variable. Returns the largest signal speed of `next`. Scratch belongs to the calling
 * thread.
 */
double kernel_step(const struct kernel *k, const double *now, double *next, double dt, double *scratch);

/* The largest signal speed of a patch's inner zones. */
double kernel_speed(const struct kernel *k, const double *now);

#endif
