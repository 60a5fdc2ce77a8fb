/* A sender may finalize while its messages are still on the way; the receiver gets all of them. */
#include "mpi_test.h"

#define N 2000
#define BYTES 8000

int main(void)
{
    test_start(2);
    if (me == 0) {
        static MPI_Request req[N];
        static unsigned char buf[BYTES];
        test_fill(buf, BYTES, 1);
        for (int i = 0; i < N; i++) {
            MPI_Isend(buf, i % BYTES, MPI_BYTE, 1, i, MPI_COMM_WORLD, &req[i]);
            MPI_Request_free(&req[i]);
        }
    } else if (me == 1) {
        static unsigned char buf[BYTES];
        usleep(100000);
        for (int i = 0; i < N; i++) {
            MPI_Recv(buf, BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            test_verify(buf, (size_t)(i % BYTES), 1);
        }
    }
    MPI_Finalize();
    return 0;
}
