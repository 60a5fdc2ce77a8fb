/* Virtual topologies of communicators: Cartesian grids, graphs, distributed graphs. A topology never changes
 * once it is made, and is shared by counting references. The caller has checked the arguments. */
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
    /* My neighbours in the standard's order, for neighbourhood collectives: the ranks that I receive from and
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

/* All makers give a new shape with one reference, or return HL_ERR_NO_MEM. Arrays stay the caller's. */

int hl_shape_make_cart(int ndims, const int *dims, const int *periods, int rank, struct hl_shape **made);
int hl_shape_make_graph(int nnodes, const int *index, const int *edges, int rank, struct hl_shape **made);

/* A distributed graph of my edges, in any order; incoming ones keep their order, and so do outgoing ones. */
int hl_shape_make_dist(const struct hl_edge *edges, int64_t n, bool weighted, struct hl_shape **made);

/* The grid of the dimensions that remain[] selects, at my place in the others. */
int hl_shape_make_sub(const struct hl_shape *cart, const int *remain, struct hl_shape **made);

void hl_shape_ref(struct hl_shape *s);
void hl_shape_unref(struct hl_shape *s);

/* Number of ranks in a grid; INT64_MAX when an int cannot hold it. */
int64_t hl_shape_cells(int ndims, const int *dims);

/* The rank at these coordinates, which wrap in periodic dimensions; MPI_PROC_NULL outside the grid. */
int hl_shape_rank(const struct hl_shape *cart, const int *coords);

/* The first `n` coordinates of a rank in a grid. */
void hl_shape_coords(const struct hl_shape *cart, int rank, int n, int *coords);

/* The rank `by` steps away from mine in one dimension, or MPI_PROC_NULL. */
int hl_shape_step(const struct hl_shape *cart, int dim, int64_t by);

/* Neighbours of `rank` in a graph: returns their number; *first is the first. */
int hl_shape_neighbours(const struct hl_shape *graph, int rank, const int **first);

/* MPI_Dims_create: fills the dimensions that are 0, in descending order, so that the largest and the smallest
 * are as near to each other as possible. HL_ERR_DIMS when that is impossible, HL_ERR_NO_MEM. */
int hl_shape_balance(int nnodes, int ndims, int *dims);

#endif
