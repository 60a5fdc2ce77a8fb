/* Who sleeps until a message comes: rank 1 receives what rank 0 sends after it has slept for a while itself.
 * The test counts how often that woke rank 1's receive thread (wakes.py). */
#include "mpi_test.h"

#include <unistd.h>

enum { MESSAGES = 200, PAUSE_US = 3000 };

int main(int argc, char **argv)
{
    int rank, got = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MESSAGES; i++) {
        if (rank == 0) {
            usleep(PAUSE_US);
            MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&got, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(got == i);
        }
    }
    MPI_Finalize();
    return 0;
}
