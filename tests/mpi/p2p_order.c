/* Messages of one sender on one communicator arrive in order and whole, for every size and any number of
 * threads, each on its own communicator or all on one. */
#include "mpi_test.h"

#define MSGS 200
#define WINDOW 16
#define THREADS 4

static const int sizes[] = {0, 1, 8, 32, 33, 100, 4096, 8192, 8193, 16000, 16384, 20000, 65536, 300000};
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static uint64_t seed;
static MPI_Comm comms[THREADS];
static int one_comm;

static int pick(uint64_t *rnd)
{
    return sizes[test_random(rnd) % N_SIZES];
}

static void send_all(MPI_Comm comm, int dest, int tag, uint64_t rnd)
{
    unsigned char *buf[WINDOW];
    MPI_Request req[WINDOW];
    for (int k = 0; k < WINDOW; k++) {
        buf[k] = malloc(300000);
        req[k] = MPI_REQUEST_NULL;
    }
    for (int i = 0; i < MSGS; i++) {
        int k = i % WINDOW, n = pick(&rnd);
        MPI_Wait(&req[k], MPI_STATUS_IGNORE);
        test_fill(buf[k], (size_t)n, i);
        MPI_Isend(buf[k], n, MPI_BYTE, dest, tag, comm, &req[k]);
    }
    MPI_Waitall(WINDOW, req, MPI_STATUSES_IGNORE);
    for (int k = 0; k < WINDOW; k++) {
        free(buf[k]);
    }
}

static void receive_all(MPI_Comm comm, int src, int tag, uint64_t rnd)
{
    unsigned char *buf = malloc(300000);
    for (int i = 0; i < MSGS; i++) {
        int n = pick(&rnd), count = -1;
        MPI_Status st;
        MPI_Recv(buf, 300000, MPI_BYTE, i % 5 == 0 && !one_comm ? MPI_ANY_SOURCE : src,
                 i % 7 == 0 && !one_comm ? MPI_ANY_TAG : tag, comm, &st);
        CHECK_EQ(st.MPI_SOURCE, src);
        CHECK_EQ(st.MPI_TAG, tag);
        MPI_Get_count(&st, MPI_BYTE, &count);
        CHECK_EQ(count, n);
        test_verify(buf, (size_t)n, i);
    }
    free(buf);
}

static void *pairwise(void *arg)
{
    int t = (int)(intptr_t)arg, tag = t;
    MPI_Comm comm = one_comm ? MPI_COMM_WORLD : comms[t];
    /* Even ranks talk to the odd one above, both ways one after the other. */
    int peer = me ^ 1;
    uint64_t rnd = seed + (uint64_t)t;
    if (peer >= size) {
        return NULL;
    }
    if (me % 2 == 0) {
        send_all(comm, peer, tag, rnd);
        receive_all(comm, peer, tag, rnd);
    } else {
        receive_all(comm, peer, tag, rnd);
        send_all(comm, peer, tag, rnd);
    }
    return NULL;
}

int main(void)
{
    test_start(2);
    seed = test_seed();
    for (int t = 0; t < THREADS; t++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    }
    pairwise((void *)0);
    test_threads(THREADS, pairwise);
    one_comm = 1;
    test_threads(THREADS, pairwise);
    for (int t = 0; t < THREADS; t++) {
        MPI_Comm_free(&comms[t]);
    }
    MPI_Finalize();
    return 0;
}
