/* MPI_Cart_map and MPI_Graph_map: every rank gets the place that the topology's communicator would give it,
 * those outside MPI_UNDEFINED, so that a split by it builds the same communicator; wrong ones are refused.
 * Any number of ranks. */
#include "mpi_test.h"

static MPI_Comm comm; /* the ranks in reverse; errors are returned */
static int mine;

/* What a program does with the number: those that have one split off, in its order. */
static void splits_into(MPI_Comm topology, int newrank)
{
    MPI_Comm part;
    int result;
    CHECK_EQ(topology == MPI_COMM_NULL, newrank == MPI_UNDEFINED);
    MPI_Comm_split(comm, newrank == MPI_UNDEFINED ? MPI_UNDEFINED : 0, newrank, &part);
    if (topology != MPI_COMM_NULL) {
        int rank;
        MPI_Comm_rank(topology, &rank);
        CHECK_EQ(rank, newrank);
        MPI_Comm_compare(part, topology, &result);
        CHECK_EQ(result, MPI_CONGRUENT);
        MPI_Comm_free(&part);
        MPI_Comm_free(&topology);
    }
}

static void grid(int ndims, const int *dims, const int *periods)
{
    MPI_Comm cart;
    int newrank = -1, cells = 1;
    for (int i = 0; i < ndims; i++) {
        cells *= dims[i];
    }
    CHECK_EQ(MPI_Cart_map(comm, ndims, dims, periods, &newrank), MPI_SUCCESS);
    CHECK_EQ(newrank, mine < cells ? mine : MPI_UNDEFINED);
    MPI_Cart_create(comm, ndims, dims, periods, 1, &cart);
    splits_into(cart, newrank);
}

static void grids(void)
{
    static const int periods[3] = {0, 1, 0};
    int dims[3] = {1, 1, 1};
    grid(0, NULL, NULL); /* one cell */
    for (dims[0] = 1; dims[0] <= size; dims[0]++) {
        grid(1, dims, periods);
        for (dims[1] = 1; dims[0] * dims[1] <= size; dims[1]++) {
            dims[2] = size / (dims[0] * dims[1]);
            grid(3, dims, periods);
        }
    }
}

/* A ring of n nodes. */
static void ring(int n)
{
    MPI_Comm graph;
    int newrank = -1, *index = malloc(sizeof *index * (size_t)(n + 1)),
        *edges = malloc(sizeof *edges * 2 * (size_t)(n + 1));
    for (int i = 0; i < n; i++) {
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + n - 1) % n;
        edges[2 * i + 1] = (i + 1) % n;
    }
    CHECK_EQ(MPI_Graph_map(comm, n, index, edges, &newrank), MPI_SUCCESS);
    CHECK_EQ(newrank, mine < n ? mine : MPI_UNDEFINED);
    MPI_Graph_create(comm, n, index, edges, 1, &graph);
    splits_into(graph, newrank);
    free(index);
    free(edges);
}

static void refusals(void)
{
    int newrank = -5, dims[2] = {size, 2}, none[2] = {0, 1}, periods[2] = {0, 0};
    int index[2] = {1, 0}, loose[1] = {1}, edges[1] = {1};
    CHECK_EQ(MPI_Cart_map(comm, 2, dims, periods, &newrank), MPI_ERR_DIMS); /* more cells than ranks */
    CHECK_EQ(MPI_Cart_map(comm, -1, dims, periods, &newrank), MPI_ERR_DIMS);
    CHECK_EQ(MPI_Cart_map(comm, 2, none, periods, &newrank), MPI_ERR_DIMS);
    CHECK_EQ(MPI_Cart_map(comm, 1, NULL, periods, &newrank), MPI_ERR_ARG);
    CHECK_EQ(MPI_Cart_map(comm, 1, dims, periods, NULL), MPI_ERR_ARG);
    CHECK_EQ(MPI_Cart_map(MPI_COMM_NULL, 1, dims, periods, &newrank), MPI_ERR_COMM);
    CHECK_EQ(MPI_Graph_map(comm, size + 1, index, edges, &newrank), MPI_ERR_ARG); /* more nodes than ranks */
    CHECK_EQ(MPI_Graph_map(comm, -1, index, edges, &newrank), MPI_ERR_ARG);
    CHECK_EQ(MPI_Graph_map(comm, 1, NULL, edges, &newrank), MPI_ERR_ARG);
    CHECK_EQ(MPI_Graph_map(comm, 1, loose, edges, &newrank), MPI_ERR_ARG); /* an edge to no node */
    CHECK_EQ(MPI_Graph_map(comm, 1, loose, NULL, &newrank), MPI_ERR_ARG);
    CHECK_EQ(MPI_Graph_map(comm, 1, loose, none, NULL), MPI_ERR_ARG);
    CHECK_EQ(MPI_Graph_map(MPI_COMM_NULL, 1, loose, none, &newrank), MPI_ERR_COMM);
    if (size > 1) {
        CHECK_EQ(MPI_Graph_map(comm, 2, index, edges, &newrank), MPI_ERR_ARG); /* fewer edges than before */
    }
    CHECK_EQ(newrank, -5);
}

/* There are no grids between two groups. */
static void between_groups(void)
{
    MPI_Comm half, inter;
    int newrank = -5, one = 1;
    MPI_Comm_split(comm, mine % 2, 0, &half);
    MPI_Intercomm_create(half, 0, comm, 1 - mine % 2, 0, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_Cart_map(inter, 1, &one, &one, &newrank), MPI_ERR_COMM);
    CHECK_EQ(MPI_Graph_map(inter, 0, NULL, NULL, &newrank), MPI_ERR_COMM);
    CHECK_EQ(newrank, -5);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

int main(void)
{
    test_start(1);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comm);
    MPI_Comm_rank(comm, &mine);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); /* of calls without a communicator */
    grids();
    for (int n = 0; n <= size; n++) {
        ring(n);
    }
    refusals();
    if (size > 1) {
        between_groups();
    }
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
