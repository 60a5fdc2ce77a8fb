/* Probes tell what comes, matched probes take it, cancelled receives take nothing; with threads beside. */
#include "mpi_test.h"

#define N 200
#define THREADS 4

static int length_of(int i)
{
    static const int lengths[] = {0, 5, 33, 9000, 20000, 100000};
    return lengths[i % 6];
}

static void send_all(int tag)
{
    unsigned char *buf = malloc(100000);
    for (int i = 0; i < N; i++) {
        test_fill(buf, (size_t)length_of(i), i);
        MPI_Send(buf, length_of(i), MPI_BYTE, 1, tag, MPI_COMM_WORLD);
    }
    free(buf);
}

/* Learns the next message in one of five ways and receives it. */
static void receive_one(int i, int tag, unsigned char *buf)
{
    MPI_Status st;
    MPI_Message message = MPI_MESSAGE_NULL;
    int n = -1, flag = 0, source = i % 2 == 0 ? 0 : MPI_ANY_SOURCE;
    switch (i % 4) {
    case 0:
        MPI_Probe(source, tag, MPI_COMM_WORLD, &st);
        break;
    case 1:
        while (!flag) {
            MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &st);
        }
        break;
    case 2:
        MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, &st);
        break;
    default:
        while (!flag) {
            MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, &message, &st);
        }
        break;
    }
    CHECK_EQ(st.MPI_SOURCE, 0);
    CHECK_EQ(st.MPI_TAG, tag);
    MPI_Get_count(&st, MPI_BYTE, &n);
    CHECK_EQ(n, length_of(i));
    if (i % 4 < 2) {
        MPI_Recv(buf, n, MPI_BYTE, st.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Mrecv(buf, n, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        CHECK(message == MPI_MESSAGE_NULL);
    }
    test_verify(buf, (size_t)n, i);
}

static void *run(void *arg)
{
    int tag = (int)(intptr_t)arg;
    if (me == 0) {
        send_all(tag);
        return NULL;
    }
    unsigned char *buf = malloc(100000);
    for (int i = 0; i < N; i++) {
        receive_one(i, tag, buf);
    }
    free(buf);
    return NULL;
}

static void cancelled_receives(void)
{
    static int in[64], out = 7;
    if (me == 1) {
        MPI_Request req[64];
        for (int i = 0; i < 64; i++) {
            MPI_Irecv(&in[i], 1, MPI_INT, i % 2 == 0 ? 0 : MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &req[i]);
        }
        for (int i = 0; i < 63; i++) {
            MPI_Status st;
            int flag = 0;
            MPI_Cancel(&req[i]);
            MPI_Wait(&req[i], &st);
            MPI_Test_cancelled(&st, &flag);
            CHECK(flag);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&req[63], MPI_STATUS_IGNORE); /* the only one left gets it */
        CHECK_EQ(in[63], 7);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == 0) {
            MPI_Send(&out, 1, MPI_INT, 1, 50, MPI_COMM_WORLD);
        }
    }
}

int main(void)
{
    test_start(2);
    if (me < 2) {
        run((void *)0);
        test_threads(THREADS, run);
    }
    cancelled_receives();
    MPI_Finalize();
    return 0;
}
