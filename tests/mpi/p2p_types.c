/* Layouts: vectors to contiguous and back, structs, at sizes that go inline, by cell and by rendezvous. */
#include "mpi_test.h"

#include <stddef.h>

static void vector_to_dense(int blocks)
{
    MPI_Datatype column;
    MPI_Type_vector(blocks, 3, 7, MPI_INT, &column);
    MPI_Type_commit(&column);
    int *wide = calloc((size_t)blocks * 7, sizeof(int)), *dense = calloc((size_t)blocks * 3, sizeof(int));
    MPI_Status st;
    int count = -1, peer = me ^ 1;
    for (int i = 0; i < blocks * 7; i++) {
        wide[i] = me * 1000000 + i;
    }
    /* Vector out, dense in. */
    MPI_Sendrecv(wide, 1, column, peer, 1, dense, blocks * 3, MPI_INT, peer, 1, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, column, &count);
    CHECK_EQ(count, 1);
    for (int i = 0; i < blocks * 3; i++) {
        CHECK_EQ(dense[i], peer * 1000000 + i / 3 * 7 + i % 3);
    }
    /* Dense out, vector in. */
    memset(wide, 0, (size_t)blocks * 7 * sizeof(int));
    MPI_Sendrecv(dense, blocks * 3, MPI_INT, peer, 2, wide, 1, column, peer, 2, MPI_COMM_WORLD, &st);
    for (int i = 0; i < blocks * 7 - 4; i++) {
        CHECK_EQ(wide[i], i % 7 < 3 ? me * 1000000 + i : 0);
    }
    MPI_Type_free(&column);
    free(wide);
    free(dense);
}

struct mixed {
    char c;
    double d;
    short s;
};

static void structs(int n)
{
    int lens[3] = {1, 1, 1};
    MPI_Aint at[3] = {offsetof(struct mixed, c), offsetof(struct mixed, d), offsetof(struct mixed, s)};
    MPI_Datatype parts[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, type;
    MPI_Type_create_struct(3, lens, at, parts, &type);
    MPI_Type_commit(&type);
    struct mixed *out = calloc((size_t)n, sizeof(*out)), *in = calloc((size_t)n, sizeof(*in));
    for (int i = 0; i < n; i++) {
        out[i] = (struct mixed){(char)i, me + i * 0.5, (short)(i * 3)};
    }
    MPI_Request req[2];
    MPI_Irecv(in, n, type, me ^ 1, 3, MPI_COMM_WORLD, &req[0]);
    MPI_Isend(out, n, type, me ^ 1, 3, MPI_COMM_WORLD, &req[1]);
    MPI_Type_free(&type); /* the operations keep what they need */
    MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
        CHECK(in[i].c == (char)i && in[i].d == (me ^ 1) + i * 0.5 && in[i].s == (short)(i * 3));
    }
    free(out);
    free(in);
}

int main(void)
{
    test_start(2);
    if (me < 2) {
        const int blocks[] = {1, 2, 100, 700, 5000, 40000};
        for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
            vector_to_dense(blocks[i]);
            structs(blocks[i]);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
