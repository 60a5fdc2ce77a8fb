/*
 * The grid as patches, and which rank owns which.
 *
 * A patch is n × n zones with two ghost zones on each side, in arrays `[var][j][i]`. It holds the state
 * twice: a step reads u[step & 1] (and fills its ghost zones) and writes the inner zones of the other, so no
 * neighbour's copy can meet an update.
 *
 * Directions are numbered 0 … 7 row by row from lower left to upper right; 7 - d is the opposite of d.
 */
#ifndef STENCIL_GRID_H
#define STENCIL_GRID_H

#include "problems.h"

enum { NDIR = 8 };

/* The neighbour of a patch in one direction: its owner and its number there; rank -1: beyond an outflow
 * boundary. */
struct link {
    int rank, patch;
};

struct patch {
    int px, py;   /* place in the grid of patches */
    int remote;   /* number of links to other ranks */
    double *u[2]; /* both states; &u[k][origin] is zone (0, 0) of the first variable */
    struct link link[NDIR];
};

struct grid {
    struct domain domain;
    int n;        /* zones along a patch's side */
    int npx, npy; /* patches along x and y */
    int ranks, rank;
    int *owner;  /* [npy][npx] rank of each patch */
    int *number; /* [npy][npx] number of each patch at its owner */
    int *counts; /* [ranks] patches of each rank */
    int count;   /* patches of this rank */
    struct patch *patches;
    long row, plane; /* doubles between rows, and between variables, of a patch */
    long origin;     /* offset of zone (0, 0) */
};

/* Zones i0 <= i < i1, j0 <= j < j1 of a patch. */
struct box {
    int i0, i1, j0, j1;
};

/* What a grid is made of. */
struct grid_shape {
    struct domain domain;
    int n, ranks, rank;
};

/*
 * Makes this rank's part of the grid; states are allocated, not filled. 0; -1 without memory or with more
 * ranks than patches, after a line in `error` (OPTIONS_ERROR bytes). grid_free is right after either.
 */
int grid_make(struct grid *g, const struct grid_shape *shape, char *error);
void grid_free(struct grid *g);

/* Fills both states of a patch with the problem's first one. */
void grid_fill(const struct grid *g, struct patch *p, const struct problem *problem);

/* Zones that the neighbour in direction d needs, and ghost zones that it fills. */
struct box grid_send_box(const struct grid *g, int d);
struct box grid_ghost_box(const struct grid *g, int d);

/* Doubles in the block that travels in direction d. */
long grid_block(const struct grid *g, int d);

/* Copies a box of a state to, or from, a block `[var][j][i]` without gaps. */
void grid_pack(const struct grid *g, const double *u, struct box b, double *block);
void grid_unpack(const struct grid *g, double *u, struct box b, const double *block);

/* Fills the ghost zones of state k that come from patches of this rank. */
void grid_copy_local(const struct grid *g, struct patch *p, int k);

/* Fills the ghost zones beyond outflow boundaries; all others must be there. */
void grid_outflow(const struct grid *g, struct patch *p, int k);

#endif
