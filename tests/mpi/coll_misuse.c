/* Wrong calls of nonblocking and persistent collectives are refused where they are made, and nothing is
 * begun. usage: coll_misuse [lengths] */
#include "mpi_test.h"

static int value = 7, result;

static void wrong_arguments(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Comm comm = MPI_COMM_SELF;

    CHECK_EQ(MPI_Ibcast(&value, 1, MPI_INT, 1, comm, &r), MPI_ERR_ROOT);
    CHECK_EQ(MPI_Ibcast(&value, -1, MPI_INT, 0, comm, &r), MPI_ERR_COUNT);
    CHECK_EQ(MPI_Ibcast_c(&value, -1, MPI_INT, 0, comm, &r), MPI_ERR_COUNT);
    CHECK_EQ(MPI_Ibcast(NULL, 1, MPI_INT, 0, comm, &r), MPI_ERR_BUFFER);
    CHECK_EQ(MPI_Ibcast(&value, 1, MPI_DATATYPE_NULL, 0, comm, &r), MPI_ERR_TYPE);
    CHECK_EQ(MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_NULL, &r), MPI_ERR_COMM);
    CHECK_EQ(MPI_Ibarrier(comm, NULL), MPI_ERR_ARG);
    CHECK_EQ(MPI_Barrier_init(comm, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    CHECK_EQ(MPI_Barrier_init(comm, (MPI_Info)(void *)&r, &r), MPI_ERR_INFO);
    CHECK_EQ(MPI_Iallreduce(&value, &result, 1, MPI_INT, MPI_OP_NULL, comm, &r), MPI_ERR_OP);
    CHECK_EQ(MPI_Iallreduce(&value, &result, 1, MPI_DOUBLE, MPI_BXOR, comm, &r), MPI_ERR_OP);
    CHECK_EQ(MPI_Allreduce_init(&value, &result, 1, MPI_INT, MPI_REPLACE, comm, MPI_INFO_NULL, &r),
             MPI_ERR_OP);
    CHECK_EQ(MPI_Iallgather(&value, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm, &r), MPI_ERR_BUFFER);
    CHECK_EQ(MPI_Igatherv(&value, 1, MPI_INT, &result, NULL, NULL, MPI_INT, 0, comm, &r), MPI_ERR_ARG);
    CHECK(r == MPI_REQUEST_NULL);
}

/* One block for each rank: NULL where one of them has elements, and what 63 bits cannot count. */
static void wrong_blocks(void)
{
    enum { HUGE_BLOCK = 1 << 30 };
    int *counts = calloc((size_t)size, sizeof *counts), *displs = calloc((size_t)size, sizeof *displs);
    MPI_Count *many = calloc((size_t)size, sizeof *many);
    MPI_Datatype *types = calloc((size_t)size, sizeof(MPI_Datatype)), gib, gibs;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request r = MPI_REQUEST_NULL;

    for (int i = 0; i < size; i++) {
        types[i] = MPI_INT;
    }
    CHECK_EQ(MPI_Allgatherv(NULL, 0, MPI_INT, NULL, counts, displs, MPI_INT, comm), MPI_SUCCESS);
    counts[size - 1] = 1;
    CHECK_EQ(MPI_Allgatherv(&value, 1, MPI_INT, NULL, counts, displs, MPI_INT, comm), MPI_ERR_BUFFER);
    CHECK_EQ(MPI_Alltoallv(NULL, counts, displs, MPI_INT, &result, counts, displs, MPI_INT, comm),
             MPI_ERR_BUFFER);
    CHECK_EQ(MPI_Ialltoallw(&value, counts, displs, types, NULL, counts, displs, types, comm, &r),
             MPI_ERR_BUFFER);
    CHECK_EQ(MPI_Reduce_scatter(NULL, &result, counts, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    counts[size - 1] = -1;
    CHECK_EQ(MPI_Allgatherv(&value, 1, MPI_INT, &result, counts, displs, MPI_INT, comm), MPI_ERR_COUNT);
    CHECK_EQ(MPI_Reduce_scatter_block_c(&value, &result, (MPI_Count)1 << 62, MPI_INT, MPI_SUM, comm),
             MPI_ERR_COUNT);
    CHECK_EQ(MPI_Allgather_c(&value, (MPI_Count)1 << 62, MPI_INT, &result, 1, MPI_INT, comm), MPI_ERR_COUNT);
    many[0] = (MPI_Count)1 << 62;
    CHECK_EQ(MPI_Reduce_scatter_c(&value, &result, many, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
    MPI_Type_contiguous(HUGE_BLOCK, MPI_CHAR, &gib);
    MPI_Type_contiguous(16, gib, &gibs);
    MPI_Type_commit(&gibs);
    counts[size - 1] = HUGE_BLOCK;
    CHECK_EQ(MPI_Allgatherv(&value, 1, MPI_INT, &result, counts, displs, gibs, comm), MPI_ERR_COUNT);
    CHECK(r == MPI_REQUEST_NULL);
    MPI_Type_free(&gibs);
    MPI_Type_free(&gib);
    free(types);
    free(many);
    free(displs);
    free(counts);
}

/* What is read is what is written: MPI 4.1, 2.3 forbids it. */
static void aliased(void)
{
    enum { N = 3 };
    int *b = calloc(2 * (size_t)size * N, sizeof *b), *counts = calloc((size_t)size, sizeof *counts);
    int *displs = calloc((size_t)size, sizeof *displs), *apart = calloc((size_t)size, sizeof *apart);
    int *own = b + N * me, wanted = MPI_ERR_BUFFER;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request r = MPI_REQUEST_NULL;

    for (int i = 0; i < size; i++) {
        counts[i] = N;
        displs[i] = N * i;
        apart[i] = N * (size + i);
    }
    CHECK_EQ(MPI_Allreduce(b, b, N, MPI_INT, MPI_SUM, comm), wanted);
    CHECK_EQ(MPI_Iallreduce(b, b, N, MPI_INT, MPI_SUM, comm, &r), wanted);
    CHECK_EQ(MPI_Scan(b, b, N, MPI_INT, MPI_SUM, comm), wanted);
    CHECK_EQ(MPI_Reduce_scatter(b, b, counts, MPI_INT, MPI_SUM, comm), wanted);
    CHECK_EQ(MPI_Reduce_scatter_block(b, b, N, MPI_INT, MPI_SUM, comm), wanted);
    CHECK_EQ(MPI_Alltoall(b, N, MPI_INT, b, N, MPI_INT, comm), wanted);
    CHECK_EQ(MPI_Alltoall_init(b, N, MPI_INT, b, N, MPI_INT, comm, MPI_INFO_NULL, &r), wanted);
    CHECK_EQ(MPI_Alltoallv(b, counts, displs, MPI_INT, b, counts, displs, MPI_INT, comm), wanted);
    CHECK_EQ(MPI_Allgather(own, N, MPI_INT, b, N, MPI_INT, comm), wanted);
    CHECK_EQ(MPI_Allgather(b, N, MPI_INT, b, N, MPI_INT, comm), wanted);
    CHECK_EQ(MPI_Allgatherv(own, N, MPI_INT, b, counts, displs, MPI_INT, comm), wanted);
    CHECK_EQ(MPI_Gather(b, N, MPI_INT, b, N, MPI_INT, 0, MPI_COMM_SELF), wanted);
    CHECK_EQ(MPI_Scatterv(b, counts, displs, MPI_INT, b, N, MPI_INT, 0, MPI_COMM_SELF), wanted);
    CHECK_EQ(MPI_Reduce_local(b, b, N, MPI_INT, MPI_SUM), wanted);
    CHECK(r == MPI_REQUEST_NULL);
    /* These are right: no data, parts of one array that do not meet, and a result that only the root has. */
    CHECK_EQ(MPI_Allreduce(b, b, 0, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK_EQ(MPI_Alltoallv(b, counts, displs, MPI_INT, b, counts, apart, MPI_INT, comm), MPI_SUCCESS);
    if (me == 0) {
        CHECK_EQ(MPI_Reduce(MPI_IN_PLACE, b, N, MPI_INT, MPI_SUM, 0, comm), MPI_SUCCESS);
        CHECK_EQ(MPI_Exscan(b, b, N, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
        CHECK_EQ(MPI_Iexscan(b, NULL, N, MPI_INT, MPI_SUM, comm, &r), MPI_SUCCESS);
    } else {
        CHECK_EQ(MPI_Reduce(b, b, N, MPI_INT, MPI_SUM, 0, comm), MPI_SUCCESS);
        CHECK_EQ(MPI_Exscan(b, b + N, N, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
        CHECK_EQ(MPI_Iexscan(b, b + N, N, MPI_INT, MPI_SUM, comm, &r), MPI_SUCCESS);
    }
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_Exscan(MPI_IN_PLACE, NULL, N, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    free(apart);
    free(displs);
    free(counts);
    free(b);
}

/* A halo in one array: the ends of the grid have no neighbour, and what stands for its blocks does not count. */
static void aliased_beyond_the_grid(void)
{
    int periods = 0, dims = size, rank, counts[2] = {1, 1}, out[2] = {1, 2}, in[2] = {0, 3};
    int u[4] = {-1, 10 * me, 10 * me + 1, -1}, all[2] = {me, -1}, *own = &u[1];
    MPI_Request r;
    MPI_Comm line;

    MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &line);
    MPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN);
    MPI_Comm_rank(line, &rank);
    if (rank == 0) {
        out[0] = in[0] = 0;
        own = &all[0];
    }
    if (rank == size - 1) {
        out[1] = in[1] = 0;
        own = rank == 0 ? own : &all[1];
    }
    CHECK_EQ(MPI_Neighbor_alltoallv(u, counts, out, MPI_INT, u, counts, in, MPI_INT, line), MPI_SUCCESS);
    CHECK_EQ(u[0], rank == 0 ? -1 : 10 * (rank - 1) + 1);
    CHECK_EQ(u[3], rank == size - 1 ? -1 : 10 * (rank + 1));
    CHECK_EQ(MPI_Ineighbor_alltoallv(u, counts, out, MPI_INT, u, counts, in, MPI_INT, line, &r), MPI_SUCCESS);
    CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_SUCCESS);
    CHECK_EQ(MPI_Neighbor_allgather(own, 1, MPI_INT, all, 1, MPI_INT, line), MPI_SUCCESS);
    MPI_Comm_free(&line);
}

/* Of a graph in which all send to rank 0: its one block lies where that of the last rank is to be received. The
 * refused call begins nothing, so that the others meet rank 0 in the next one. */
static void aliased_with_a_neighbor(void)
{
    int *ranks = calloc((size_t)size, sizeof *ranks), *all = calloc((size_t)size, sizeof *all), root = 0;
    MPI_Comm star;

    for (int i = 0; i < size; i++) {
        ranks[i] = i;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, me == 0 ? size : 0, ranks, MPI_UNWEIGHTED, 1, &root,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star);
    MPI_Comm_set_errhandler(star, MPI_ERRORS_RETURN);
    if (me == 0) {
        CHECK_EQ(MPI_Neighbor_allgather(&all[size - 1], 1, MPI_INT, all, 1, MPI_INT, star), MPI_ERR_BUFFER);
    }
    CHECK_EQ(MPI_Neighbor_allgather(&me, 1, MPI_INT, all, 1, MPI_INT, star), MPI_SUCCESS);
    for (int i = 0; i < size; i++) {
        CHECK_EQ(all[i], me == 0 ? i : 0);
    }
    MPI_Comm_free(&star);
    free(all);
    free(ranks);
}

/* MPI_BOTTOM is NULL, and right where the displacements are addresses. */
static void absolute_blocks(void)
{
    int to[2] = {1, 2}, from[2] = {0, 0}, counts[2] = {1, 1}, dims = 1, periods = 1;
    MPI_Count many = 2;
    MPI_Aint out[2], in[2], bytes = (MPI_Aint)(uintptr_t)from;
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Comm ring;

    for (int i = 0; i < 2; i++) {
        MPI_Get_address(&to[i], &out[i]);
        MPI_Get_address(&from[i], &in[i]);
    }
    MPI_Cart_create(MPI_COMM_SELF, 1, &dims, &periods, 0, &ring);
    CHECK_EQ(MPI_Neighbor_alltoallw(MPI_BOTTOM, counts, out, types, MPI_BOTTOM, counts, in, types, ring),
             MPI_SUCCESS);
    CHECK_EQ(from[0] + from[1], 3); /* what goes left comes from the right */
    types[1] = MPI_DATATYPE_NULL;
    CHECK_EQ(MPI_Neighbor_alltoallw(MPI_BOTTOM, counts, out, types, MPI_BOTTOM, counts, in, types, ring),
             MPI_ERR_TYPE);
    types[1] = MPI_INT;
    out[1] = 0;
    CHECK_EQ(MPI_Neighbor_alltoallw(MPI_BOTTOM, counts, out, types, MPI_BOTTOM, counts, in, types, ring),
             MPI_ERR_BUFFER);
    MPI_Comm_free(&ring);
    CHECK_EQ(MPI_Allgatherv_c("ab", 2, MPI_CHAR, MPI_BOTTOM, &many, &bytes, MPI_CHAR, MPI_COMM_SELF),
             MPI_SUCCESS);
    CHECK_EQ(memcmp(from, "ab", 2), 0);
}

static void wrong_starts(void)
{
    MPI_Request again, other = MPI_REQUEST_NULL, both[2];
    int flag = 0;

    CHECK_EQ(MPI_Start(NULL), MPI_ERR_ARG);
    CHECK_EQ(MPI_Start(&other), MPI_ERR_REQUEST);
    MPI_Recv_init(&result, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &again);
    CHECK_EQ(MPI_Cancel(&again), MPI_ERR_REQUEST); /* nothing is under way */
    MPI_Request_free(&again);
    MPI_Irecv(&result, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &other);
    CHECK_EQ(MPI_Start(&other), MPI_ERR_REQUEST);
    MPI_Allreduce_init(&value, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &again);
    both[0] = again;
    both[1] = other;
    CHECK_EQ(MPI_Startall(2, both), MPI_ERR_REQUEST);
    MPI_Test(&again, &flag, MPI_STATUS_IGNORE); /* nothing was started */
    CHECK(flag && again != MPI_REQUEST_NULL);
    CHECK_EQ(MPI_Cancel(&again), MPI_ERR_REQUEST);
    MPI_Start(&again);
    CHECK_EQ(MPI_Start(&again), MPI_ERR_REQUEST);
    CHECK_EQ(MPI_Request_free(&again), MPI_ERR_REQUEST);
    CHECK_EQ(MPI_Cancel(&again), MPI_ERR_REQUEST);
    MPI_Wait(&again, MPI_STATUS_IGNORE);
    CHECK_EQ(result, 7 * size);
    CHECK_EQ(MPI_Request_free(&again), MPI_SUCCESS);
    MPI_Send(&value, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
}

/* A nonblocking one must not be freed; a message too long is told by the wait. */
static void wrong_afterwards(void)
{
    MPI_Request r;
    MPI_Status st = {.MPI_ERROR = -1};
    int two[2] = {1, 2}, code;

    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    CHECK_EQ(MPI_Request_free(&r), MPI_ERR_REQUEST);
    CHECK(r != MPI_REQUEST_NULL);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Ibcast(two, me == 0 ? 2 : 1, MPI_INT, 0, MPI_COMM_WORLD, &r);
    code = MPI_Waitall(1, &r, &st);
    CHECK_EQ(code, me == 0 ? MPI_SUCCESS : MPI_ERR_IN_STATUS);
    CHECK_EQ(st.MPI_ERROR, me == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Who sends a longer block than the root takes is told of, at any size, and nobody waits for ever. */
static void too_long_a_block(void)
{
    static char from[30000], to[2 * sizeof from];
    int most = size < 2 ? size : 2;

    for (int n = 10; n < (int)sizeof from; n = n * 7 + 1000) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, me < most, me, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        for (int i = 0; i < 4; i++) {
            MPI_Barrier(comm); /* so that they have shared memory */
        }
        if (most == 2 && me < 2) {
            int code = MPI_Gather(from, me == 0 ? n / 2 : n, MPI_CHAR, to, n / 2, MPI_CHAR, 0, comm);
            CHECK_EQ(code, me == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        }
        MPI_Comm_free(&comm);
    }
}

/* One rank gives fewer elements to a long reduction than the others: all are told, and nothing behind its buffers is written. The root
 * of a reduction that takes more than it gets is told at once. */
static void unlike_lengths(void)
{
    enum { FEW = 100000, MANY = 150000 };
    int n = me == size - 1 ? FEW : MANY, *from = calloc(MANY, sizeof *from), *to = calloc(MANY, sizeof *to);
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++) {
        MPI_Barrier(comm); /* so that they have shared memory */
    }
    for (int i = 0; i < MANY; i++) {
        from[i] = i < n ? 1 : 100;
        to[i] = -1;
    }
    for (int k = 0; k < 3; k++) {
        int code = MPI_Allreduce(from, to, n, MPI_INT, MPI_SUM, comm);
        CHECK_EQ(code, size == 1 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
        for (int i = 0; i < MANY; i++) {
            CHECK(i < n ? to[i] <= size : to[i] == -1);
        }
    }
    CHECK_EQ(MPI_Allreduce(from, to, FEW, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    CHECK(to[0] == size && to[FEW - 1] == size);
    CHECK_EQ(MPI_Reduce(from, to, me == 0 ? MANY : 1, MPI_INT, MPI_SUM, 0, comm),
             me == 0 && size > 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    MPI_Comm_free(&comm);
    free(from);
    free(to);
}

/* All send longer blocks than all take: no call ends as if nothing were lost, not the first ones of a communicator
 * either, which go by messages. */
static void too_long_everywhere(void)
{
    int *from = calloc((size_t)size, 2 * sizeof *from), *to = calloc((size_t)size, sizeof *to);
    int *counts = calloc((size_t)size, sizeof *counts), *displs = calloc((size_t)size, sizeof *displs);
    MPI_Comm comm;

    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < 6; i++) {
        MPI_Request r;
        CHECK_EQ(MPI_Allgather(from, 2, MPI_INT, to, 1, MPI_INT, comm), MPI_ERR_TRUNCATE);
        CHECK_EQ(MPI_Allgatherv(from, 2, MPI_INT, to, counts, displs, MPI_INT, comm), MPI_ERR_TRUNCATE);
        CHECK_EQ(MPI_Alltoall(from, 2, MPI_INT, to, 1, MPI_INT, comm), MPI_ERR_TRUNCATE);
        CHECK_EQ(MPI_Scatter(from, 2, MPI_INT, to, 1, MPI_INT, 0, comm), MPI_ERR_TRUNCATE);
        CHECK_EQ(MPI_Gather(from, 2, MPI_INT, to, 1, MPI_INT, 0, comm),
                 me == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        MPI_Iallgather(from, 2, MPI_INT, to, 1, MPI_INT, comm, &r);
        CHECK_EQ(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        MPI_Ialltoall(from, 2, MPI_INT, to, 1, MPI_INT, comm, &r);
        int code = MPI_Wait(&r, MPI_STATUS_IGNORE), length;
        char words[MPI_MAX_ERROR_STRING];
        CHECK_EQ(code, MPI_ERR_TRUNCATE);
        MPI_Error_string(code, words, &length);
        CHECK(strstr(words, "room") != NULL && strstr(words, "-1") == NULL);
    }
    MPI_Comm_free(&comm);
    free(displs);
    free(counts);
    free(to);
    free(from);
}

/* A rank that receives nothing of a sum needs no buffer. */
static void no_share(void)
{
    static int counts[1024];
    int from[3] = {1, 2, 3}, to[3] = {0};
    MPI_Request r;

    counts[0] = 3;
    if (size > (int)(sizeof counts / sizeof *counts)) {
        return;
    }
    CHECK_EQ(MPI_Reduce_scatter(from, me == 0 ? to : NULL, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
             MPI_SUCCESS);
    CHECK_EQ(to[2], me == 0 ? 3 * size : 0);
    CHECK_EQ(MPI_Ireduce_scatter(from, me == 0 ? to : NULL, counts, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &r),
             MPI_SUCCESS);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(to[2], me == 0 ? 3 : 0);
    counts[0] = 0;
    counts[me] = 1;
    CHECK_EQ(MPI_Reduce_scatter(from, NULL, counts, MPI_INT, MPI_SUM, MPI_COMM_SELF),
             me == 0 ? MPI_ERR_BUFFER : 0);
    counts[me] = 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    test_start(1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (argc > 1) {
        unlike_lengths();
        MPI_Finalize();
        return 0;
    }
    wrong_arguments();
    wrong_blocks();
    aliased();
    aliased_beyond_the_grid();
    aliased_with_a_neighbor();
    absolute_blocks();
    wrong_starts();
    wrong_afterwards();
    too_long_a_block();
    too_long_everywhere();
    no_share();
    MPI_Finalize();
    return 0;
}
