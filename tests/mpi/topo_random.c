/* Random topologies: what is asked back, what is made from them, and all neighbourhood collectives in all
 * forms, with the same neighbour several times, oneself as neighbour, and none. usage: topo_random ROUNDS
 *
 * A message is known by sender, receiver and the number of their common edge: in a grid the slot that it
 * leaves by, which is beside the slot that it arrives in; in graphs edges between two ranks are numbered in
 * the order of each side's list. */
#include "coll_forms.h"

enum { MOST = 16, EDGES = 400, ELEMENTS = 6 };

static uint64_t shared; /* the same on all ranks */
static int round_no;
static MPI_Comm comm; /* under test */
static int my_rank, n_ranks;

static int draw(int n)
{
    return (int)(test_random(&shared) % (uint64_t)n);
}

struct list {
    int n, peer[EDGES], edge[EDGES];
};
static struct list in, out;

/* Numbers the edges in the order of the list. */
static void number(struct list *l)
{
    int seen[MOST] = {0};

    for (int i = 0; i < l->n; i++) {
        l->edge[i] = l->peer[i] >= 0 ? seen[l->peer[i]]++ : 0;
    }
}

static int count_of(int from, int to, int edge)
{
    return (from * 3 + to * 5 + edge * 7 + round_no + 1000) % (ELEMENTS + 1); /* MPI_PROC_NULL is negative */
}

static int value(int from, int to, int edge, int k)
{
    return ((from * 31 + to) * 31 + edge) * 31 + k + round_no * 1000003;
}

/* ---- Neighbourhood collectives ---- */

static int out_buf[EDGES * ELEMENTS], in_buf[EDGES * ELEMENTS + 1];
static int counts[2][EDGES], displs[2][EDGES];
static MPI_Aint bytes[2][EDGES];
static MPI_Datatype types[2][EDGES];

/* Blocks of `different` sizes or of ELEMENTS each, at ELEMENTS from one another. */
static void prepare(bool different, bool same)
{
    for (int i = 0; i < out.n; i++) {
        counts[0][i] = different ? count_of(my_rank, out.peer[i], out.edge[i]) : ELEMENTS;
        displs[0][i] = ELEMENTS * (out.n - 1 - i);
        bytes[0][i] = (MPI_Aint)sizeof(int) * displs[0][i];
        types[0][i] = MPI_INT;
    }
    for (int i = 0; i < in.n; i++) {
        counts[1][i] = !different ? ELEMENTS
                       : same     ? count_of(in.peer[i], 0, 0)
                                  : count_of(in.peer[i], my_rank, in.edge[i]);
        displs[1][i] = ELEMENTS * (in.n - 1 - i);
        bytes[1][i] = (MPI_Aint)sizeof(int) * displs[1][i];
        types[1][i] = MPI_INT32_T;
    }
    for (int i = 0; i < (in.n + 1) * ELEMENTS; i++) {
        in_buf[i] = -7;
    }
}

static void fill_out(bool reversed)
{
    for (int i = 0; i < out.n; i++) {
        for (int k = 0; k < ELEMENTS; k++) {
            out_buf[(reversed ? displs[0][i] : i * ELEMENTS) + k] =
                value(my_rank, out.peer[i], out.edge[i], k);
        }
    }
}

static void fill_same(void)
{
    for (int k = 0; k < ELEMENTS; k++) {
        out_buf[k] = value(my_rank, 0, 0, k);
    }
}

static void check_in(bool reversed, bool same)
{
    for (int i = 0; i < in.n; i++) {
        for (int k = 0; k < ELEMENTS; k++) {
            bool there = in.peer[i] >= 0 && k < counts[1][i];
            int want = !there ? -7
                       : same ? value(in.peer[i], 0, 0, k)
                              : value(in.peer[i], my_rank, in.edge[i], k);
            CHECK_EQ(in_buf[(reversed ? displs[1][i] : i * ELEMENTS) + k], want);
        }
    }
}

/* Who has no neighbours on a side may give NULL for its buffer and arrays. */
#define SENDS(array) (out.n > 0 ? (array) : NULL)
#define RECVS(array) (in.n > 0 ? (array) : NULL)

static void check_exchange(void)
{
    prepare(false, true);
    fill_same();
    MPI_Neighbor_allgather(SENDS(out_buf), ELEMENTS, MPI_INT, RECVS(in_buf), ELEMENTS, MPI_INT, comm);
    check_in(false, true);
    prepare(true, true);
    MPI_Neighbor_allgatherv(SENDS(out_buf), count_of(my_rank, 0, 0), MPI_INT, RECVS(in_buf), RECVS(counts[1]),
                            RECVS(displs[1]), MPI_INT, comm);
    check_in(true, true);
    prepare(false, false);
    fill_out(false);
    MPI_Neighbor_alltoall(SENDS(out_buf), ELEMENTS, MPI_INT, RECVS(in_buf), ELEMENTS, MPI_INT, comm);
    check_in(false, false);
    prepare(true, false);
    fill_out(true);
    MPI_Neighbor_alltoallv(SENDS(out_buf), SENDS(counts[0]), SENDS(displs[0]), MPI_INT, RECVS(in_buf),
                           RECVS(counts[1]), RECVS(displs[1]), MPI_INT, comm);
    check_in(true, false);
    prepare(true, false);
    MPI_Neighbor_alltoallw(SENDS(out_buf), SENDS(counts[0]), SENDS(bytes[0]), SENDS(types[0]), RECVS(in_buf),
                           RECVS(counts[1]), RECVS(bytes[1]), RECVS(types[1]), comm);
    check_in(true, false);
}

/* Three at once, large counts, the communicator freed before they end. */
static void check_many(void)
{
    static int more[3][EDGES * ELEMENTS + 1];
    MPI_Request r[3];
    MPI_Comm twin;

    MPI_Comm_dup(comm, &twin);
    prepare(false, false);
    fill_out(false);
    for (int i = 0; i < 3; i++) {
        if (i != 1) {
            MPI_Ineighbor_alltoall_c(SENDS(out_buf), ELEMENTS, MPI_INT, RECVS(more[i]), ELEMENTS, MPI_INT,
                                     twin, &r[i]);
        } else {
            MPI_Neighbor_alltoall_init_c(SENDS(out_buf), ELEMENTS, MPI_INT, RECVS(more[i]), ELEMENTS, MPI_INT,
                                         twin, MPI_INFO_NULL, &r[i]);
        }
    }
    MPI_Comm_free(&twin);
    MPI_Start(&r[1]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(&r[1]);
    for (int i = 0; i < 3; i++) {
        for (int s = 0; s < in.n; s++) {
            for (int k = 0; k < ELEMENTS && in.peer[s] >= 0; k++) {
                CHECK_EQ(more[i][s * ELEMENTS + k], value(in.peer[s], my_rank, in.edge[s], k));
            }
        }
    }
}

static void check_collectives(void)
{
    MPI_Comm_rank(comm, &my_rank);
    MPI_Comm_size(comm, &n_ranks);
    for (coll_form = 0; coll_form < 3; coll_form++) {
        check_exchange();
    }
    coll_form = 0;
    check_many();
}

/* ---- Grids ---- */

static int rank_at(int n, const int *dims, const int *coords)
{
    int rank = 0;

    for (int i = 0; i < n; i++) {
        rank = rank * dims[i] + coords[i];
    }
    return rank;
}

static void check_grid(int n, const int *dims, const int *periods)
{
    int ndims, status, there[4], round[4], coords[4], twice[4], rank, from, to;

    MPI_Topo_test(comm, &status);
    CHECK_EQ(status, MPI_CART);
    MPI_Cartdim_get(comm, &ndims);
    CHECK_EQ(ndims, n);
    MPI_Cart_get(comm, 4, there, round, coords);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(there[i], dims[i]);
        CHECK_EQ(round[i], periods[i]);
    }
    MPI_Comm_rank(comm, &rank);
    CHECK_EQ(rank_at(n, dims, coords), rank);
    MPI_Cart_coords(comm, rank, n, twice);
    CHECK(n == 0 || memcmp(coords, twice, (size_t)n * sizeof *coords) == 0);
    in.n = 2 * n;
    for (int i = 0; i < 2 * n; i++) {
        int by = i % 2 == 0 ? -1 : 1, at = coords[i / 2] + by, d = dims[i / 2];
        memcpy(twice, coords, sizeof twice);
        twice[i / 2] = (at + d) % d;
        in.peer[i] = !periods[i / 2] && (at < 0 || at >= d) ? MPI_PROC_NULL : rank_at(n, dims, twice);
        MPI_Cart_shift(comm, i / 2, by, &from, &to);
        CHECK_EQ(to, in.peer[i]);
        MPI_Cart_shift(comm, i / 2, -by, &from, &to);
        CHECK_EQ(from, in.peer[i]);
        twice[i / 2] = at + (periods[i / 2] ? 7 * d : 0);
        if (in.peer[i] != MPI_PROC_NULL) {
            MPI_Cart_rank(comm, twice, &to);
            CHECK_EQ(to, in.peer[i]);
        }
    }
    out = in;
    for (int i = 0; i < 2 * n; i++) {
        out.edge[i] = i;
        in.edge[i] = i ^ 1;
    }
}

static void check_sub(int n, const int *dims, const int *periods)
{
    int remain[4], part_dims[4], part_periods[4], k = 0, members = 1, got;
    MPI_Comm whole = comm, part;

    for (int i = 0; i < n; i++) {
        remain[i] = draw(2);
        if (remain[i]) {
            part_dims[k] = dims[i];
            part_periods[k++] = periods[i];
            members *= dims[i];
        }
    }
    MPI_Cart_sub(comm, remain, &part);
    MPI_Comm_size(part, &got);
    CHECK_EQ(got, members);
    comm = part;
    check_grid(k, part_dims, part_periods);
    check_collectives();
    MPI_Comm_free(&part);
    comm = whole;
}

static void test_cart(void)
{
    int n = draw(5), dims[4], periods[4], cells = 1, mapped;

    for (int i = 0; i < n; i++) {
        dims[i] = 1 + draw(size / cells < 4 ? size / cells : 4);
        cells *= dims[i];
        periods[i] = draw(2);
    }
    MPI_Cart_map(MPI_COMM_WORLD, n, dims, periods, &mapped);
    CHECK_EQ(mapped, me < cells ? me : MPI_UNDEFINED);
    MPI_Cart_create(MPI_COMM_WORLD, n, dims, periods, draw(2), &comm);
    CHECK_EQ(comm != MPI_COMM_NULL, me < cells);
    uint64_t next = test_random(&shared); /* those outside draw less */
    if (comm != MPI_COMM_NULL) {
        check_grid(n, dims, periods);
        check_collectives();
        check_sub(n, dims, periods);
        MPI_Comm_free(&comm);
    }
    shared = next;
}

/* ---- Graphs ---- */

static int times[MOST][MOST]; /* edges from a to b */

static int draw_edges(int n, bool symmetric)
{
    int all = 0;

    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) {
            int many = draw(3) == 0 ? 1 + draw(3) * draw(2) : 0;
            times[a][b] = symmetric && b < a ? times[b][a] : many;
            all += times[a][b];
        }
    }
    return all;
}

static void test_graph(void)
{
    int n = 1 + draw(size), edges = draw_edges(n, true), at = 0, got_n, got_edges, status;
    int *to = malloc(((size_t)edges + 1) * sizeof *to), *back = malloc(((size_t)edges + 1) * sizeof *to);
    int index[MOST], back_index[MOST];

    for (int a = 0; a < n; a++) {
        for (int b = (a + round_no) % n, k = 0; k < n; k++, b = (b + 1) % n) {
            for (int i = 0; i < times[a][b]; i++) {
                to[at++] = b;
            }
        }
        index[a] = at;
    }
    MPI_Graph_create(MPI_COMM_WORLD, n, index, to, 0, &comm);
    CHECK_EQ(comm != MPI_COMM_NULL, me < n);
    if (comm != MPI_COMM_NULL) {
        MPI_Topo_test(comm, &status);
        CHECK_EQ(status, MPI_GRAPH);
        MPI_Graphdims_get(comm, &got_n, &got_edges);
        CHECK(got_n == n && got_edges == edges);
        MPI_Graph_get(comm, n, edges, back_index, back);
        CHECK(memcmp(index, back_index, (size_t)n * sizeof *index) == 0);
        CHECK(edges == 0 || memcmp(to, back, (size_t)edges * sizeof *to) == 0);
        MPI_Graph_neighbors_count(comm, me, &in.n);
        CHECK_EQ(in.n, index[me] - (me > 0 ? index[me - 1] : 0));
        MPI_Graph_neighbors(comm, me, EDGES, in.peer);
        CHECK(in.n == 0 || memcmp(in.peer, to + index[me] - in.n, (size_t)in.n * sizeof(int)) == 0);
        number(&in);
        out = in;
        check_collectives();
        MPI_Comm_free(&comm);
    }
    free(to);
    free(back);
}

static int weight(int from, int to)
{
    return 100 * from + to + round_no;
}

/* Asks for my neighbours and counts them. */
static void check_dist(bool weighted)
{
    int flag, status, in_weights[EDGES], out_weights[EDGES], seen[2][MOST] = {{0}, {0}};
    int *volatile none = MPI_UNWEIGHTED; /* gcc 12 takes the constant for an array */

    MPI_Topo_test(comm, &status);
    CHECK_EQ(status, MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(comm, &in.n, &out.n, &flag);
    CHECK_EQ(flag, weighted);
    MPI_Dist_graph_neighbors(comm, in.n, in.peer, weighted ? in_weights : none, out.n, out.peer,
                             weighted ? out_weights : none);
    MPI_Dist_graph_neighbors(comm, in.n, in.peer, none, out.n, out.peer, none); /* peers alone */
    for (int i = 0; i < in.n; i++) {
        seen[0][in.peer[i]]++;
        CHECK(!weighted || in_weights[i] == weight(in.peer[i], me));
    }
    for (int i = 0; i < out.n; i++) {
        seen[1][out.peer[i]]++;
        CHECK(!weighted || out_weights[i] == weight(me, out.peer[i]));
    }
    for (int r = 0; r < size; r++) {
        CHECK_EQ(seen[0][r], times[r][me]);
        CHECK_EQ(seen[1][r], times[me][r]);
    }
    number(&in);
    number(&out);
    check_collectives();
    MPI_Comm_free(&comm);
}

static void test_adjacent(void)
{
    int from[EDGES], to[EDGES], from_weights[EDGES], to_weights[EDGES], n_from = 0, n_to = 0;
    bool weighted = draw(2);

    draw_edges(size, false);
    for (int k = 0; k < size; k++) { /* each rank in another order */
        int peer = (k * (me % 2 ? 1 : size - 1) + me + round_no) % size;
        for (int i = 0; i < times[peer][me]; i++) {
            from_weights[n_from] = weight(peer, me);
            from[n_from++] = peer;
        }
        for (int i = 0; i < times[me][peer]; i++) {
            to_weights[n_to] = weight(me, peer);
            to[n_to++] = peer;
        }
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n_from, from,
                                   !weighted     ? MPI_UNWEIGHTED
                                   : n_from == 0 ? MPI_WEIGHTS_EMPTY
                                                 : from_weights,
                                   n_to, to,
                                   !weighted   ? MPI_UNWEIGHTED
                                   : n_to == 0 ? MPI_WEIGHTS_EMPTY
                                               : to_weights,
                                   MPI_INFO_NULL, 0, &comm);
    check_dist(weighted);
}

/* Rank 0 sends to all the others: nobody has neighbours on both sides. */
static void test_star(void)
{
    int others[MOST], weights[MOST], zero = 0, from_zero = weight(0, me), sent = 77 + me, got = -7;
    MPI_Count ones[MOST];
    MPI_Aint at[MOST] = {0};
    MPI_Datatype ints[MOST];

    memset(times, 0, sizeof times);
    for (int i = 0; i < size; i++) {
        times[0][i] = i > 0;
        others[i] = i + 1;
        weights[i] = weight(0, i + 1);
        ones[i] = 1;
        ints[i] = MPI_INT;
    }
    in.n = me > 0;
    out.n = me > 0 ? 0 : size - 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in.n, &zero, &from_zero, out.n, others, weights,
                                   MPI_INFO_NULL, 0, &comm);
    MPI_Neighbor_alltoallw_c(SENDS(&sent), SENDS(ones), SENDS(at), SENDS(ints), RECVS(&got), RECVS(ones),
                             RECVS(at), RECVS(ints), comm);
    CHECK_EQ(got, me > 0 ? 77 : -7);
    check_dist(true);
}

/* Every edge is known to a rank that chance picks. */
static void test_dist(void)
{
    int from[EDGES], ones[EDGES], to[EDGES], weights[EDGES], n = 0;
    bool weighted = draw(2);

    draw_edges(size, false);
    for (int a = 0; a < size; a++) {
        for (int b = 0; b < size; b++) {
            for (int i = 0; i < times[a][b]; i++) {
                if (draw(size) != me) {
                    continue;
                }
                ones[n] = 1;
                from[n] = a;
                to[n] = b;
                weights[n++] = weight(a, b);
            }
        }
    }
    MPI_Dist_graph_create(MPI_COMM_WORLD, n, from, ones, to,
                          !weighted ? MPI_UNWEIGHTED
                          : n == 0  ? MPI_WEIGHTS_EMPTY
                                    : weights,
                          MPI_INFO_NULL, 0, &comm);
    check_dist(weighted);
}

/* ---- Wrong calls ---- */

#define FAILS(call, class_)                                                                                  \
    do {                                                                                                     \
        int fails_code = (call), fails_class;                                                                \
        MPI_Error_class(fails_code, &fails_class);                                                           \
        CHECK_EQ(fails_class, class_);                                                                       \
    } while (0)

/* One rank is wrong: all hear of it. */
static void test_wrong_weights(void)
{
    int one = 1, minus = -1, *odd = me == 0 ? &minus : &one;
    MPI_Comm world, graph = MPI_COMM_NULL;

    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    FAILS(MPI_Dist_graph_create(world, 1, &me, &one, &me, odd, MPI_INFO_NULL, 0, &graph), MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create_adjacent(world, 1, &me, &one, 1, &me, odd, MPI_INFO_NULL, 0, &graph),
          MPI_ERR_ARG);
    CHECK(graph == MPI_COMM_NULL);
    MPI_Comm_free(&world);
}

static void test_wrong(void)
{
    int dims[2] = {size, 2}, periods[2] = {0, 0}, index[2] = {1, 0}, edge = size, n, minus = -1, one = 1;
    int *volatile none = MPI_UNWEIGHTED; /* as in check_dist */
    MPI_Aint at[2] = {0, 0};
    MPI_Comm world, grid = MPI_COMM_NULL;

    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    FAILS(MPI_Cart_create(world, 2, dims, periods, 0, &grid), MPI_ERR_DIMS);
    FAILS(MPI_Cart_create(world, -1, dims, periods, 0, &grid), MPI_ERR_DIMS);
    dims[1] = me == 0 ? 0 : 1; /* one rank is wrong, all hear of it */
    FAILS(MPI_Cart_create(world, 2, dims, periods, 0, &grid), MPI_ERR_DIMS);
    FAILS(MPI_Graph_create(world, size + 1, index, &edge, 0, &grid), MPI_ERR_ARG);
    FAILS(MPI_Graph_create(world, 1, index, &edge, 0, &grid), MPI_ERR_ARG);
    FAILS(MPI_Dist_graph_create(world, 1, &edge, &one, &edge, none, MPI_INFO_NULL, 0, &grid), MPI_ERR_RANK);
    FAILS(MPI_Dist_graph_create(world, 1, &me, &minus, &edge, none, MPI_INFO_NULL, 0, &grid), MPI_ERR_ARG);
    CHECK(grid == MPI_COMM_NULL);
    FAILS(MPI_Cartdim_get(world, &n), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Graphdims_get(world, &n, &n), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_allgather(&me, 1, MPI_INT, &n, 1, MPI_INT, world), MPI_ERR_TOPOLOGY);
    MPI_Topo_test(world, &n);
    CHECK_EQ(n, MPI_UNDEFINED);
    dims[0] = size;
    MPI_Cart_create(world, 1, dims, periods, 0, &grid);
    MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
    FAILS(MPI_Cart_shift(grid, 1, 1, &n, &n), MPI_ERR_ARG);
    FAILS(MPI_Cart_rank(grid, &edge, &n), MPI_ERR_ARG);
    FAILS(MPI_Cart_coords(grid, size, 1, &n), MPI_ERR_RANK);
    FAILS(MPI_Graphdims_get(grid, &n, &n), MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, &n, 1, MPI_INT, grid), MPI_ERR_BUFFER);
    /* Who has no neighbours needs no buffer. */
    FAILS(MPI_Neighbor_alltoall(NULL, 1, MPI_INT, &n, 1, MPI_INT, grid),
          size == 1 ? MPI_SUCCESS : MPI_ERR_BUFFER);
    FAILS(MPI_Neighbor_alltoallw(&n, dims, at, NULL, &n, dims, at, NULL, grid), MPI_ERR_ARG);
    dims[0] = 0;
    dims[1] = 5;
    FAILS(MPI_Dims_create(12, 2, dims), MPI_ERR_DIMS);
    dims[1] = 4;
    CHECK_EQ(MPI_Dims_create(12, 2, dims), MPI_SUCCESS);
    CHECK(dims[0] == 3 && dims[1] == 4);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&world);
}

int main(int argc, char **argv)
{
    static void (*const tests[])(void) = {test_cart, test_cart, test_graph, test_adjacent, test_dist};
    int rounds = argc > 1 ? atoi(argv[1]) : 50;

    test_start(1);
    CHECK(size <= MOST - 4);
    shared = test_seed();
    test_star();
    test_wrong();
    test_wrong_weights();
    for (round_no = 0; round_no < rounds; round_no++) {
        tests[draw(5)]();
    }
    MPI_Finalize();
    return 0;
}
