/* Virtual topologies of communicators: Cartesian grids, graphs, distributed graphs. Read-only once made and
 * shared by counting references. Arguments have been checked by the caller. */
#ifndef HL_SHAPE_H
#define HL_SHAPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "atomic.h"

/* An edge that one rank reports and two must know. */
struct hl_edge {
    int32_t peer, weight;
    int32_t into; /* 1: from the peer to me, 0: from me to the peer */
};

struct hl_shape {
    hl_a32 refs;
    int kind; /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH */
    /* My neighbours in the standard's order, for neighbourhood collectives: whom I receive from and whom I
     * send to. MPI_PROC_NULL beyond the end of a grid. */
    int n_in, n_out;
    int *in, *out;
    /* MPI_CART */
    int ndims;
    int *dims, *periods, *coords; /* [ndims]; coords are mine */
    /* MPI_GRAPH */
    int nnodes, nedges;
    int *index, *edges; /* as the user gave them */
    /* MPI_DIST_GRAPH */
    bool weighted;
    int *in_weights, *out_weights;
};

/* All makers give a new shape with one reference, or HL_ERR_NO_MEM. Arrays stay the caller's. */

int hl_shape_make_cart(int ndims, const int *dims, const int *periods, int rank, struct hl_shape **made);
int hl_shape_make_graph(int nnodes, const int *index, const int *edges, int rank, struct hl_shape **made);

/* My edges in any order, of which those in and those out keep their order. */
int hl_shape_make_dist(const struct hl_edge *edges, int64_t n, bool weighted, struct hl_shape **made);

/* The grid of the dimensions that remain[] says, where I keep my place. */
int hl_shape_make_sub(const struct hl_shape *cart, const int *remain, struct hl_shape **made);

void hl_shape_ref(struct hl_shape *s);
void hl_shape_unref(struct hl_shape *s);

/* Ranks in a grid, or INT64_MAX when they are more than an int counts. */
int64_t hl_shape_cells(int ndims, const int *dims);

/* The rank at some coordinates, which are reduced to the grid in periodic dimensions; MPI_PROC_NULL outside.
 */
int hl_shape_rank(const struct hl_shape *cart, const int *coords);

void hl_shape_coords(const struct hl_shape *cart, int rank, int n, int *coords);

/* The rank `by` steps away from mine in one dimension, or MPI_PROC_NULL. */
int hl_shape_step(const struct hl_shape *cart, int dim, int64_t by);

/* Neighbours of `rank` in a graph: their number, and the first. */
int hl_shape_neighbours(const struct hl_shape *graph, int rank, const int **first);

/* MPI_Dims_create: fills the dimensions that are 0, in descending order, so that the largest and the smallest
 * are as near as they can be. HL_ERR_DIMS when they cannot be filled. */
int hl_shape_balance(int nnodes, int ndims, int *dims);

#endif
