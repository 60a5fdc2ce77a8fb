/* usage: p2p_flood N: N messages that nobody wants yet, and the wanted one last. */
#include "mpi_test.h"

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 10000, v = 0;
    test_start(2);
    if (me == 0) {
        for (int i = 0; i < n; i++) {
            MPI_Send(NULL, 0, MPI_BYTE, 1, i % 5, MPI_COMM_WORLD);
        }
        v = 77;
        MPI_Send(&v, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
        MPI_Recv(&v, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(v, 78);
    } else if (me == 1) {
        MPI_Recv(&v, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(v, 77);
        for (int i = 0; i < n; i++) {
            MPI_Status st;
            MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
            CHECK_EQ(st.MPI_TAG, i % 5);
        }
        v = 78;
        MPI_Send(&v, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
