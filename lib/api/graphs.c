/* Graph topologies: those that every rank knows as a whole, and distributed ones. */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "args.h"
#include "coll.h"
#include "shape.h"
#include "topo_args.h"

/* ---- Graphs that every rank knows ---- */

static int check_graph(const struct hl_comm *c, int nnodes, const int *index, const int *edges)
{
    int err = hl_api_check_intra(c);

    if (err == 0 && (nnodes < 0 || nnodes > c->size)) {
        err = hl_err_say(HL_ERR_ARG, "nnodes is %d: 0 to %d are possible, the communicator's ranks", nnodes,
                         c->size);
    }
    err = err == 0 && nnodes > 0 ? hl_api_check_out(index, "indx") : err;
    for (int i = 0; i < nnodes && err == 0; i++) {
        if (index[i] < (i == 0 ? 0 : index[i - 1])) {
            err = hl_err_say(HL_ERR_ARG, "indx[%d] is %d, less than %d, the number before it", i, index[i],
                             i == 0 ? 0 : index[i - 1]);
        }
    }
    int nedges = err == 0 && nnodes > 0 ? index[nnodes - 1] : 0;
    err = err == 0 && nedges > 0 ? hl_api_check_out(edges, "edges") : err;
    for (int i = 0; i < nedges && err == 0; i++) {
        if (edges[i] < 0 || edges[i] >= nnodes) {
            err = hl_err_say(HL_ERR_ARG, "edges[%d] is %d: the graph has %d node%s, counted from 0", i,
                             edges[i], nnodes, hl_plural(nnodes));
        }
    }
    return err;
}

HL_API(MPI_Graph_create);
int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder,
                      MPI_Comm *comm_graph)
{
    struct hl_comm *c, *made = NULL;
    struct hl_shape *shape = NULL;
    int err = hl_api_enter(hl_api_get_comm(comm_old, &c));

    (void)reorder;
    if (err == 0) {
        int wrong = check_graph(c, nnodes, indx, edges);
        wrong = wrong == 0 ? hl_api_check_out(comm_graph, "comm_graph") : wrong;
        if (wrong == 0 && c->rank < nnodes) {
            wrong = hl_shape_make_graph(nnodes, indx, edges, c->rank, &shape);
        }
        err = hl_api_first_ranks(c, wrong, nnodes, &made);
    }
    return hl_api_give_shaped(c, "MPI_Graph_create", err, made, shape, comm_graph);
}

HL_API(MPI_Graph_map);
int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank)
{
    struct hl_comm *c;
    int err = hl_api_enter(hl_api_get_comm(comm, &c));

    err = err == 0 ? check_graph(c, nnodes, indx, edges) : err;
    err = err == 0 ? hl_api_check_out(newrank, "newrank") : err;
    if (err == 0) {
        *newrank = c->rank < nnodes ? c->rank : MPI_UNDEFINED;
    }
    return hl_api_leave(c, "MPI_Graph_map", err);
}

HL_CALL_SHAPE(MPI_Graphdims_get, (MPI_Comm comm, int *nnodes, int *nedges), MPI_GRAPH,
              hl_api_give(nnodes, "nnodes", s->nnodes), hl_api_give(nedges, "nedges", s->nedges))

/* Copies the first `most` of n numbers. */
static void copy_first(int *to, int most, const int *from, int n)
{
    if (most > 0 && n > 0) {
        memcpy(to, from, (size_t)(most < n ? most : n) * sizeof *to);
    }
}

HL_API(MPI_Graph_get);
int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[])
{
    struct hl_comm *c;
    const struct hl_shape *graph;
    int err = hl_api_enter(hl_api_get_shape(comm, MPI_GRAPH, &c, &graph));

    err = err == 0 ? hl_api_check_most(maxindex, "maxindex") : err;
    err = err == 0 ? hl_api_check_most(maxedges, "maxedges") : err;
    err = err == 0 ? hl_api_check_list(maxindex, indx, "indx") : err;
    err = err == 0 ? hl_api_check_list(maxedges, edges, "edges") : err;
    if (err == 0) {
        copy_first(indx, maxindex, graph->index, graph->nnodes);
        copy_first(edges, maxedges, graph->edges, graph->nedges);
    }
    return hl_api_leave(c, "MPI_Graph_get", err);
}

HL_CALL_SHAPE(MPI_Graph_neighbors_count, (MPI_Comm comm, int rank, int *nneighbors), MPI_GRAPH,
              hl_api_check_member(c, rank),
              hl_api_give(nneighbors, "nneighbors", hl_shape_neighbours(s, rank, &(const int *){NULL})))

HL_API(MPI_Graph_neighbors);
int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    struct hl_comm *c;
    const struct hl_shape *graph;
    const int *first;
    int err = hl_api_enter(hl_api_get_shape(comm, MPI_GRAPH, &c, &graph));

    err = err == 0 ? hl_api_check_member(c, rank) : err;
    err = err == 0 ? hl_api_check_most(maxneighbors, "maxneighbors") : err;
    err = err == 0 ? hl_api_check_list(maxneighbors, neighbors, "neighbors") : err;
    if (err == 0) {
        int n = hl_shape_neighbours(graph, rank, &first);
        copy_first(neighbors, maxneighbors, first, n);
    }
    return hl_api_leave(c, "MPI_Graph_neighbors", err);
}

/* ---- Graphs of which a rank knows a part ---- */

/* A user's list of peers and weights. */
struct list {
    int n;
    const int *peers, *weights;
    const char *name;
};

static bool is_weighted(const struct list *l)
{
    return l->weights != MPI_UNWEIGHTED;
}

static int check_edges(const struct hl_comm *c, const struct list *l)
{
    if (l->n < 0) {
        return hl_err_say(HL_ERR_ARG, "the number of %s, %d, is negative", l->name, l->n);
    }
    int err = l->n > 0 ? hl_api_check_out(l->peers, l->name) : 0;
    if (err == 0 && l->n > 0 && is_weighted(l)) {
        err = l->weights == MPI_WEIGHTS_EMPTY
                  ? hl_err_say(HL_ERR_ARG, "MPI_WEIGHTS_EMPTY is given for %d %s: it is for none", l->n,
                               l->name)
                  : hl_api_check_out(l->weights, "weights");
    }
    for (int i = 0; i < l->n && err == 0; i++) {
        err = hl_api_check_member(c, l->peers[i]);
        if (err == 0 && is_weighted(l) && l->weights[i] < 0) {
            err = hl_err_say(HL_ERR_ARG, "weight %d of %s, %d, is negative", i, l->name, l->weights[i]);
        }
    }
    return err;
}

static int32_t weight_of(const struct list *l, int i)
{
    return is_weighted(l) ? l->weights[i] : 1;
}

/* Makes the topology of a rank that knows both lists of its neighbours. */
static int make_adjacent(const struct list *in, const struct list *out, struct hl_shape **shape)
{
    int64_t n = (int64_t)in->n + out->n;
    struct hl_edge *edges = malloc(((size_t)n + 1) * sizeof *edges);

    if (edges == NULL) {
        return hl_err_say(HL_ERR_NO_MEM, "no memory for %lld edges", (long long)n);
    }
    for (int i = 0; i < in->n; i++) {
        edges[i] = (struct hl_edge){in->peers[i], weight_of(in, i), 1};
    }
    for (int i = 0; i < out->n; i++) {
        edges[in->n + i] = (struct hl_edge){out->peers[i], weight_of(out, i), 0};
    }
    int err = hl_shape_make_dist(edges, n, is_weighted(in), shape);
    free(edges);
    return err;
}

HL_API(MPI_Dist_graph_create_adjacent);
int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                    const int sourceweights[], int outdegree, const int destinations[],
                                    const int destweights[], MPI_Info info, int reorder,
                                    MPI_Comm *comm_dist_graph)
{
    struct list in = {indegree, sources, sourceweights, "sources"};
    struct list out = {outdegree, destinations, destweights, "destinations"};
    struct hl_comm *c, *made = NULL;
    struct hl_info *hints;
    struct hl_shape *shape = NULL;
    int err = hl_api_enter(hl_api_get_comm(comm_old, &c));

    (void)reorder;
    if (err == 0) {
        int wrong = hl_api_check_intra(c);
        wrong = wrong == 0 ? check_edges(c, &in) : wrong;
        wrong = wrong == 0 ? check_edges(c, &out) : wrong;
        if (wrong == 0 && is_weighted(&in) != is_weighted(&out)) {
            wrong = hl_err_say(HL_ERR_ARG, "one list of neighbours has weights and the other has not");
        }
        wrong = wrong == 0 ? hl_api_get_info(info, &hints) : wrong;
        wrong = wrong == 0 ? hl_api_check_out(comm_dist_graph, "comm_dist_graph") : wrong;
        wrong = wrong == 0 ? make_adjacent(&in, &out, &shape) : wrong;
        err = hl_api_first_ranks(c, wrong, c->size, &made);
    }
    return hl_api_give_shaped(c, "MPI_Dist_graph_create_adjacent", err, made, shape, comm_dist_graph);
}

/* The edges that this rank brings, which may be of any ranks: those of sources[i] lead to the next degrees[i]
 * ranks of `to`. */
struct known {
    int n;
    const int *sources, *degrees;
    struct list to; /* n: the sum of degrees */
};

static int check_known(const struct hl_comm *c, struct known *k)
{
    struct list from = {k->n, k->sources, MPI_UNWEIGHTED, "sources"};
    int err = check_edges(c, &from);
    int64_t sum = 0;

    err = err == 0 && k->n > 0 ? hl_api_check_out(k->degrees, "degrees") : err;
    for (int i = 0; i < k->n && err == 0; i++) {
        sum += k->degrees[i];
        if (k->degrees[i] < 0 || sum > INT32_MAX) {
            err = hl_err_say(HL_ERR_ARG, "degrees[%d] is %d: %s", i, k->degrees[i],
                             k->degrees[i] < 0 ? "it is negative" : "all together are above 2147483647");
        }
    }
    k->to.n = (int)sum;
    return err == 0 ? check_edges(c, &k->to) : err;
}

/* Edges that go to each rank and come from it: both ends of an edge are told of it. */
struct mail {
    int64_t *counts, *displs, *in_counts, *in_displs; /* in edges; one allocation, `counts` */
    struct hl_edge *out, *in;
};

/* Visits both ends of all edges. Counts those for each rank, or, with `place`, writes them there. */
static void sort_edges(const struct known *k, int64_t *counts, const int64_t *displs, struct hl_edge *place)
{
    int at = 0;

    for (int i = 0; i < k->n; i++) {
        for (int e = 0; e < k->degrees[i]; e++, at++) {
            int from = k->sources[i], to = k->to.peers[at];
            if (place != NULL) {
                place[displs[from] + counts[from]] = (struct hl_edge){to, weight_of(&k->to, at), 0};
            }
            counts[from]++;
            if (place != NULL) {
                place[displs[to] + counts[to]] = (struct hl_edge){from, weight_of(&k->to, at), 1};
            }
            counts[to]++;
        }
    }
}

static int64_t sum_counts(int n, const int64_t *counts, int64_t *displs)
{
    int64_t all = 0;

    for (int i = 0; i < n; i++) {
        displs[i] = all;
        all += counts[i];
    }
    return all;
}

static int swap_counts(struct hl_comm *c, const struct mail *m)
{
    struct hl_type *type = hl_type_of(MPI_INT64_T);
    struct hl_coll_call call = {.what = HL_COLL_ALLTOALL,
                                .comm = c,
                                .send = {.buf = m->counts, .count = 1, .type = type},
                                .recv = {.buf = m->in_counts, .count = 1, .type = type}};

    return hl_coll_run(&call);
}

static int swap_edges(struct hl_comm *c, const struct mail *m)
{
    struct hl_type *edge = NULL;
    int err = hl_type_make_contiguous(sizeof(struct hl_edge), hl_type_of(MPI_BYTE), &edge);

    err = err == 0 ? hl_type_commit(edge) : err;
    if (err == 0) {
        struct hl_coll_call call = {
            .what = HL_COLL_ALLTOALLV,
            .comm = c,
            .send = {.buf = m->out, .counts = m->counts, .displs = m->displs, .type = edge},
            .recv = {.buf = m->in, .counts = m->in_counts, .displs = m->in_displs, .type = edge}};
        err = hl_coll_run(&call);
    }
    if (edge != NULL) {
        hl_type_free(edge);
    }
    return err;
}

/* Exchanges edges over the new communicator, so that each rank knows its own, and makes its topology. */
static int agree_on_graph(struct hl_comm *c, const struct known *k, struct hl_shape **shape)
{
    size_t n = (size_t)c->size;
    struct mail m = {.counts = calloc(4 * n, sizeof *m.counts),
                     .out = malloc(((size_t)k->to.n + 1) * 2 * sizeof *m.out)};
    int err = m.counts == NULL || m.out == NULL ? HL_ERR_NO_MEM : 0;

    if (err == 0) {
        m.displs = m.counts + n;
        m.in_counts = m.counts + 2 * n;
        m.in_displs = m.counts + 3 * n;
        sort_edges(k, m.counts, NULL, NULL);
        sum_counts(c->size, m.counts, m.displs);
        memset(m.counts, 0, n * sizeof *m.counts);
        sort_edges(k, m.counts, m.displs, m.out);
        err = swap_counts(c, &m);
    }
    int64_t all = err == 0 ? sum_counts(c->size, m.in_counts, m.in_displs) : 0;
    m.in = malloc(((size_t)all + 1) * sizeof *m.in);
    err = err == 0 && m.in == NULL ? HL_ERR_NO_MEM : err;
    err = err == 0 ? swap_edges(c, &m) : err;
    err = err == 0 ? hl_shape_make_dist(m.in, all, is_weighted(&k->to), shape) : err;
    free(m.in);
    free(m.out);
    free(m.counts);
    return err == HL_ERR_NO_MEM ? hl_coll_unable(c, hl_err_say(err, "no memory for the edges of a graph"))
                                : err;
}

HL_API(MPI_Dist_graph_create);
int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                           const int destinations[], const int weights[], MPI_Info info, int reorder,
                           MPI_Comm *comm_dist_graph)
{
    struct known k = {n, sources, degrees, {0, destinations, weights, "destinations"}};
    struct hl_comm *c, *made = NULL;
    struct hl_info *hints;
    struct hl_shape *shape = NULL;
    int err = hl_api_enter(hl_api_get_comm(comm_old, &c));

    (void)reorder;
    if (err == 0) {
        int wrong = hl_api_check_intra(c);
        wrong = wrong == 0 ? check_known(c, &k) : wrong;
        wrong = wrong == 0 ? hl_api_get_info(info, &hints) : wrong;
        wrong = wrong == 0 ? hl_api_check_out(comm_dist_graph, "comm_dist_graph") : wrong;
        err = hl_api_first_ranks(c, wrong, c->size, &made);
        err = err == HL_ERR_NO_MEM && wrong == 0 ? hl_coll_unable(c, err) : err;
    }
    if (err == 0) {
        err = agree_on_graph(made, &k, &shape);
        if (err != 0) {
            hl_comm_free(made);
        }
    }
    return hl_api_give_shaped(c, "MPI_Dist_graph_create", err, made, shape, comm_dist_graph);
}

static int give_degrees(const struct hl_shape *s, int *indegree, int *outdegree, int *weighted)
{
    int err = hl_api_give(indegree, "indegree", s->n_in);

    err = err == 0 ? hl_api_give(outdegree, "outdegree", s->n_out) : err;
    return err == 0 ? hl_api_give(weighted, "weighted", s->weighted) : err;
}

HL_CALL_SHAPE(MPI_Dist_graph_neighbors_count, (MPI_Comm comm, int *indegree, int *outdegree, int *weighted),
              MPI_DIST_GRAPH, 0, give_degrees(s, indegree, outdegree, weighted))

/* Has the graph weights, and does the user want them? */
static bool does_give_weights(const struct hl_shape *graph, const int *to)
{
    return graph->weighted && to != MPI_UNWEIGHTED && to != MPI_WEIGHTS_EMPTY;
}

static void give_weights(const struct hl_shape *graph, int *to, int most, const int *from, int n)
{
    if (does_give_weights(graph, to)) {
        copy_first(to, most, from, n);
    }
}

HL_API(MPI_Dist_graph_neighbors);
int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
                              int maxoutdegree, int destinations[], int destweights[])
{
    struct hl_comm *c;
    const struct hl_shape *graph;
    int err = hl_api_enter(hl_api_get_shape(comm, MPI_DIST_GRAPH, &c, &graph));

    err = err == 0 ? hl_api_check_most(maxindegree, "maxindegree") : err;
    err = err == 0 ? hl_api_check_most(maxoutdegree, "maxoutdegree") : err;
    err = err == 0 ? hl_api_check_list(maxindegree, sources, "sources") : err;
    err = err == 0 ? hl_api_check_list(maxoutdegree, destinations, "destinations") : err;
    if (err == 0 && does_give_weights(graph, sourceweights)) {
        err = hl_api_check_list(maxindegree, sourceweights, "sourceweights");
    }
    if (err == 0 && does_give_weights(graph, destweights)) {
        err = hl_api_check_list(maxoutdegree, destweights, "destweights");
    }
    if (err == 0) {
        copy_first(sources, maxindegree, graph->in, graph->n_in);
        copy_first(destinations, maxoutdegree, graph->out, graph->n_out);
        give_weights(graph, sourceweights, maxindegree, graph->in_weights, graph->n_in);
        give_weights(graph, destweights, maxoutdegree, graph->out_weights, graph->n_out);
    }
    return hl_api_leave(c, "MPI_Dist_graph_neighbors", err);
}
