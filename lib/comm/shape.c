/* Virtual topologies: making them, and asking them. */
#include "shape.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "handle.h"

/* Makes a shape with room for `n` ints behind it; NULL: no memory, the error was recorded. */
static struct hl_shape *make_shape(int kind, int64_t n, int **room)
{
    struct hl_shape *s = calloc(1, sizeof *s + ((size_t)n + 1) * sizeof(int));

    if (s == NULL) {
        hl_err_say(HL_ERR_NO_MEM, "no memory for a topology of %lld numbers", (long long)n);
        return NULL;
    }
    *room = (int *)(void *)(s + 1);
    hl_refs_begin(&s->refs);
    s->kind = kind;
    return s;
}

static int *cut_room(int **room, int64_t n)
{
    int *part = *room;

    *room += n;
    return part;
}

static int *put_ints(int **room, const int *from, int64_t n)
{
    int *part = cut_room(room, n);

    if (n > 0) {
        memcpy(part, from, (size_t)n * sizeof *part);
    }
    return part;
}

void hl_shape_ref(struct hl_shape *s)
{
    hl_refs_add(&s->refs);
}

void hl_shape_unref(struct hl_shape *s)
{
    if (s != NULL && hl_refs_drop(&s->refs)) {
        free(s);
    }
}

/* ---- Grids ---- */

int64_t hl_shape_cells(int ndims, const int *dims)
{
    int64_t cells = 1;

    for (int i = 0; i < ndims; i++) {
        cells *= dims[i];
        if (cells > INT32_MAX) {
            return INT64_MAX;
        }
    }
    return cells;
}

int hl_shape_rank(const struct hl_shape *cart, const int *coords)
{
    int rank = 0;

    for (int i = 0; i < cart->ndims; i++) {
        int at = coords[i], n = cart->dims[i];
        if (cart->periods[i]) {
            at = ((at % n) + n) % n;
        } else if (at < 0 || at >= n) {
            return MPI_PROC_NULL;
        }
        rank = rank * n + at;
    }
    return rank;
}

void hl_shape_coords(const struct hl_shape *cart, int rank, int n, int *coords)
{
    for (int i = cart->ndims - 1; i >= 0; i--) {
        if (i < n) {
            coords[i] = rank % cart->dims[i];
        }
        rank /= cart->dims[i];
    }
}

int hl_shape_step(const struct hl_shape *cart, int dim, int64_t by)
{
    int64_t at = cart->coords[dim] + by, n = cart->dims[dim];
    int rank = 0;

    if (cart->periods[dim]) {
        at = ((at % n) + n) % n;
    } else if (at < 0 || at >= n) {
        return MPI_PROC_NULL;
    }
    for (int i = 0; i < cart->ndims; i++) {
        rank = rank * cart->dims[i] + (i == dim ? (int)at : cart->coords[i]);
    }
    return rank;
}

int hl_shape_make_cart(int ndims, const int *dims, const int *periods, int rank, struct hl_shape **made)
{
    int *room;
    struct hl_shape *s = make_shape(MPI_CART, 5 * (int64_t)ndims, &room);

    if (s == NULL) {
        return HL_ERR_NO_MEM;
    }
    s->ndims = ndims;
    s->dims = put_ints(&room, dims, ndims);
    s->periods = cut_room(&room, ndims);
    s->coords = cut_room(&room, ndims);
    s->in = s->out = cut_room(&room, 2 * (int64_t)ndims);
    s->n_in = s->n_out = 2 * ndims;
    for (int i = 0; i < ndims; i++) {
        s->periods[i] = periods[i] != 0;
    }
    hl_shape_coords(s, rank, ndims, s->coords);
    for (int i = 0; i < ndims; i++) {
        s->in[2 * i] = hl_shape_step(s, i, -1);
        s->in[2 * i + 1] = hl_shape_step(s, i, 1);
    }
    *made = s;
    return 0;
}

int hl_shape_make_sub(const struct hl_shape *cart, const int *remain, struct hl_shape **made)
{
    int n = 0, rank = 0, *kept = malloc(2 * ((size_t)cart->ndims + 1) * sizeof *kept);

    if (kept == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for a part of a grid of %d dimensions", cart->ndims);
    }
    for (int i = 0; i < cart->ndims; i++) {
        if (remain[i]) {
            kept[n] = cart->dims[i];
            kept[cart->ndims + n++] = cart->periods[i];
            rank = rank * cart->dims[i] + cart->coords[i];
        }
    }
    int err = hl_shape_make_cart(n, kept, kept + cart->ndims, rank, made);
    free(kept);
    return err;
}

/* ---- Graphs ---- */

int hl_shape_neighbours(const struct hl_shape *graph, int rank, const int **first)
{
    int from = rank == 0 ? 0 : graph->index[rank - 1];

    *first = graph->edges + from;
    return graph->index[rank] - from;
}

int hl_shape_make_graph(int nnodes, const int *index, const int *edges, int rank, struct hl_shape **made)
{
    int nedges = nnodes > 0 ? index[nnodes - 1] : 0;
    const int *first;
    int *room;
    struct hl_shape *s = make_shape(MPI_GRAPH, (int64_t)nnodes + nedges, &room);

    if (s == NULL) {
        return HL_ERR_NO_MEM;
    }
    s->nnodes = nnodes;
    s->nedges = nedges;
    s->index = put_ints(&room, index, nnodes);
    s->edges = put_ints(&room, edges, nedges);
    s->n_in = s->n_out = hl_shape_neighbours(s, rank, &first);
    s->in = s->out = s->edges + (first - s->edges);
    *made = s;
    return 0;
}

int hl_shape_make_dist(const struct hl_edge *edges, int64_t n, bool weighted, struct hl_shape **made)
{
    int *room, n_in = 0;
    struct hl_shape *s = make_shape(MPI_DIST_GRAPH, 2 * n, &room);

    if (s == NULL) {
        return HL_ERR_NO_MEM;
    }
    for (int64_t i = 0; i < n; i++) {
        n_in += edges[i].into;
    }
    s->weighted = weighted;
    s->in = cut_room(&room, n_in);
    s->in_weights = cut_room(&room, n_in);
    s->out = cut_room(&room, n - n_in);
    s->out_weights = cut_room(&room, n - n_in);
    for (int64_t i = 0; i < n; i++) {
        if (edges[i].into) {
            s->in_weights[s->n_in] = edges[i].weight;
            s->in[s->n_in++] = edges[i].peer;
        } else {
            s->out_weights[s->n_out] = edges[i].weight;
            s->out[s->n_out++] = edges[i].peer;
        }
    }
    *made = s;
    return 0;
}
