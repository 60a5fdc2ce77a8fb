/* Who finalizes does not leave others waiting: a sender's messages may still be on the way, and the receiver
 * gets all of them; a receiver may have freed its receives, and who sends to them later gets through. */
#include "mpi_test.h"

#define N 2000
#define BYTES 8000
#define LARGE (4 << 20)
#define TAG N

static unsigned char large[2][LARGE];

static void send_all(void)
{
    static MPI_Request req[N];
    static unsigned char buf[BYTES];
    test_fill(buf, BYTES, 1);
    for (int i = 0; i < N; i++) {
        MPI_Isend(buf, i % BYTES, MPI_BYTE, 1, i, MPI_COMM_WORLD, &req[i]);
        MPI_Request_free(&req[i]);
    }
}

static void receive_all(void)
{
    static unsigned char buf[BYTES];
    usleep(100000);
    for (int i = 0; i < N; i++) {
        MPI_Recv(buf, BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        test_verify(buf, (size_t)(i % BYTES), 1);
    }
}

/* To one who is in MPI_Finalize by now. */
static void send_late(void)
{
    MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(200000);
    for (int i = 0; i < 2; i++) {
        test_fill(large[i], LARGE, i);
        MPI_Ssend(large[i], LARGE, MPI_BYTE, 1, TAG + i, MPI_COMM_WORLD);
    }
}

static void receive_late(void)
{
    MPI_Request req[2];
    MPI_Irecv(large[0], LARGE, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &req[0]);
    MPI_Irecv(large[1], LARGE, MPI_BYTE, MPI_ANY_SOURCE, TAG + 1, MPI_COMM_WORLD, &req[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&req[i]);
    }
    MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
}

int main(void)
{
    test_start(2);
    if (me == 0) {
        send_all();
        send_late();
    } else if (me == 1) {
        receive_all();
        receive_late();
    }
    MPI_Finalize();
    for (int i = 0; i < 2 && me == 1; i++) {
        for (size_t k = 0; k < LARGE; k++) {
            if (large[i][k] != test_byte(i, k)) {
                fprintf(stderr, "byte %zu of a freed receive has not come\n", k);
                return 1;
            }
        }
    }
    return 0;
}
