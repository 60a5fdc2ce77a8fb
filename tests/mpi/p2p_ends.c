/* Lives of requests: communicators freed under them, truncation, threads that end, requests freed while
 * active. */
#include "mpi_test.h"

static void comm_free_before_wait(void)
{
    MPI_Comm comm;
    MPI_Request req[2];
    static int small[4], big[30000];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (me == 1) {
        MPI_Irecv(small, 2, MPI_INT, 0, 1, comm, &req[0]);
        MPI_Irecv(big, 30000, MPI_INT, 0, 2, comm, &req[1]);
        MPI_Comm_free(&comm);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Status st;
        int code = MPI_Wait(&req[0], &st), class = MPI_SUCCESS;
        MPI_Error_class(code, &class);
        CHECK_EQ(class, MPI_ERR_TRUNCATE);
        CHECK_EQ(small[1], 1);
        CHECK_EQ(small[2], 0);
        CHECK_EQ(MPI_Wait(&req[1], &st), MPI_SUCCESS);
        CHECK_EQ(big[29999], 29999);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == 0) {
            for (int i = 0; i < 30000; i++) {
                big[i] = i;
            }
            MPI_Send(big, 4, MPI_INT, 1, 1, comm);
            MPI_Send(big, 30000, MPI_INT, 1, 2, comm);
        }
        MPI_Comm_free(&comm);
    }
}

#define N 64
static MPI_Request handed[N];
static int handed_buf[N];

static void *issue(void *unused)
{
    (void)unused;
    for (int i = 0; i < N; i++) {
        MPI_Irecv(&handed_buf[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &handed[i]);
    }
    return NULL;
}

static void issuer_ends(void)
{
    if (me == 1) {
        test_threads(1, issue);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Waitall(N, handed, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++) {
            CHECK_EQ(handed_buf[i], i);
            CHECK(handed[i] == MPI_REQUEST_NULL);
        }
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; me == 0 && i < N; i++) {
            MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        }
    }
}

static void freed_while_active(void)
{
    static int out[2][50000], in[50000];
    MPI_Request req;
    if (me == 0) {
        out[0][49999] = 5;
        out[1][49999] = 6;
        MPI_Isend(out[0], 50000, MPI_INT, 1, 1, MPI_COMM_WORLD, &req);
        MPI_Request_free(&req);
        CHECK(req == MPI_REQUEST_NULL);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Isend(out[1], 50000, MPI_INT, 1, 2, MPI_COMM_WORLD, &req); /* Finalize has to wait for it */
        MPI_Request_free(&req);
        return;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) {
        MPI_Recv(in, 50000, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(in[49999], 5);
        usleep(20000);
        MPI_Recv(in, 50000, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(in[49999], 6);
    }
}

int main(void)
{
    test_start(2);
    comm_free_before_wait();
    issuer_ends();
    freed_while_active();
    MPI_Finalize();
    return 0;
}
