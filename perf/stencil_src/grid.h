/*
 * The grid as patches, and which rank owns which.
 *
 * A patch is n zones along each axis with two ghost zones on each side, in arrays `[var][k][j][i]`; in two
 * dimensions there is one layer k, without ghosts. It holds the state twice: a step reads u[step & 1] (and
 * fills its ghost zones) and writes the inner zones of the other, so no neighbour's copy can meet an update.
 *
 * Directions are numbered row by row, layer by layer from the lower left: 0 … 7 in two dimensions, 0 … 25 in
 * three; ndir - 1 - d is the opposite of d.
 */
#ifndef STENCIL_GRID_H
#define STENCIL_GRID_H

#include "problems.h"

enum { MOST_DIR = 26 };

/* The neighbour of a patch in one direction: its owner and its number there; rank -1: beyond an outflow
 * boundary. */
struct link {
    int rank, patch;
};

struct patch {
    int at[3];    /* place in the grid of patches */
    int remote;   /* number of links to other ranks */
    double *u[2]; /* both states; &u[k][origin] is the first inner zone of the first variable */
    struct link link[MOST_DIR];
};

struct grid {
    struct domain domain;
    int ndir;             /* directions of neighbours: 8 or 26 */
    int n[3], ghosts[3];  /* zones of a patch along the axes, ghost zones on each side */
    long step[3], plane;  /* doubles from zone to zone along the axes, and from variable to variable */
    long origin;          /* offset of the first inner zone */
    int patches_along[3]; /* of the whole grid */
    int all;              /* patches of the whole grid */
    int ranks, rank;
    int *owner;  /* [all] rank of each patch, row by row */
    int *number; /* [all] number of each patch at its owner */
    int *counts; /* [ranks] patches of each rank */
    int count;   /* patches of this rank */
    struct patch *patches;
};

/* Zones lo <= … < hi of a patch. */
struct box {
    int lo[3], hi[3];
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

/* The place of patch number `at` of the whole grid. */
void grid_place(const struct grid *g, int at, int place[3]);

/* Fills both states of a patch with the problem's first one. */
void grid_fill(const struct grid *g, struct patch *p, const struct problem *problem);

/* The inner zones of a patch; those that the neighbour in direction d needs; the ghost zones that it fills.
 */
struct box grid_inner_box(const struct grid *g);
struct box grid_send_box(const struct grid *g, int d);
struct box grid_ghost_box(const struct grid *g, int d);

/* Doubles in the block that travels in direction d. */
long grid_block(const struct grid *g, int d);

/* Copies a box of a state to, or from, a block `[var][k][j][i]` without gaps. */
void grid_pack(const struct grid *g, const double *u, struct box b, double *block);
void grid_unpack(const struct grid *g, double *u, struct box b, const double *block);

/* Fills the ghost zones of state k that come from patches of this rank. */
void grid_copy_local(const struct grid *g, struct patch *p, int k);

/* Fills the ghost zones beyond outflow boundaries; all others must be there. */
void grid_outflow(const struct grid *g, struct patch *p, int k);

#endif
