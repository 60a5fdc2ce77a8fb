/* Isendrecv in a ring with every kind of partner and size, in place too; get_status of any, all and some
 * tells the truth and ends nothing; with MPI_PROC_NULL, wrong arguments are found as they are with others. */
#include "mpi_test.h"

#include <stdint.h>

static int next, before;

static void ring(int n, bool large)
{
    int *out = malloc((size_t)n * sizeof *out + 4), *in = malloc((size_t)n * sizeof *in + 4), got;
    MPI_Request reqs[4];
    MPI_Status st[4];

    for (int i = 0; i < n; i++) {
        out[i] = 1000 * me + i;
        in[i] = -1;
    }
    if (large) {
        MPI_Isendrecv_c(out, n, MPI_INT, next, 1, in, n + 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
                        &reqs[0]);
    } else {
        MPI_Isendrecv(out, n, MPI_INT, next, 1, in, n, MPI_INT, before, MPI_ANY_TAG, MPI_COMM_WORLD,
                      &reqs[0]);
    }
    MPI_Wait(&reqs[0], &st[0]);
    CHECK(reqs[0] == MPI_REQUEST_NULL);
    MPI_Get_count(&st[0], MPI_INT, &got);
    CHECK_EQ(got, n);
    CHECK_EQ(st[0].MPI_SOURCE, before);
    CHECK_EQ(st[0].MPI_TAG, 1);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(in[i], 1000 * before + i);
    }
    MPI_Isendrecv_replace(out, n, MPI_INT, next, 2, before, 2, MPI_COMM_WORLD, &reqs[0]);
    MPI_Isendrecv_replace(in, 0, MPI_INT, MPI_PROC_NULL, 2, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &reqs[1]);
    MPI_Isendrecv_replace_c(in, n, MPI_INT, next, 3, before, 3, MPI_COMM_WORLD, &reqs[2]);
    MPI_Isendrecv(NULL, 0, MPI_INT, next, 4, NULL, 0, MPI_INT, before, 4, MPI_COMM_WORLD, &reqs[3]);
    MPI_Waitall(4, reqs, st);
    CHECK_EQ(st[1].MPI_SOURCE, MPI_PROC_NULL);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(out[i], 1000 * before + i);
        CHECK_EQ(in[i], 1000 * ((before + size - 1) % size) + i);
    }
    free(in);
    free(out);
}

static void statuses(void)
{
    MPI_Request reqs[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status st[3];
    int in[2] = {-1, -1}, flag, index, n, which[3];

    MPI_Request_get_status_any(3, reqs, &index, &flag, st);
    CHECK(flag && index == MPI_UNDEFINED);
    MPI_Request_get_status_all(3, reqs, &flag, MPI_STATUSES_IGNORE);
    CHECK(flag);
    MPI_Request_get_status_some(3, reqs, &n, which, st);
    CHECK_EQ(n, MPI_UNDEFINED);
    MPI_Irecv(&in[0], 1, MPI_INT, me, 1, MPI_COMM_WORLD, &reqs[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, me, 2, MPI_COMM_WORLD, &reqs[2]);
    MPI_Request_get_status_any(3, reqs, &index, &flag, st);
    CHECK(!flag && index == MPI_UNDEFINED);
    MPI_Request_get_status_some(3, reqs, &n, which, st);
    CHECK_EQ(n, 0);
    MPI_Send(&size, 1, MPI_INT, me, 2, MPI_COMM_WORLD);
    do {
        MPI_Request_get_status_any(3, reqs, &index, &flag, st);
    } while (!flag);
    CHECK_EQ(index, 2);
    CHECK_EQ(st[0].MPI_TAG, 2);
    MPI_Request_get_status_all(3, reqs, &flag, st);
    CHECK(!flag);
    MPI_Request_get_status_some(3, reqs, &n, which, st);
    CHECK(n == 1 && which[0] == 2 && st[0].MPI_TAG == 2);
    MPI_Send(&size, 1, MPI_INT, me, 1, MPI_COMM_WORLD);
    do {
        MPI_Request_get_status_all(3, reqs, &flag, st);
    } while (!flag);
    CHECK(st[0].MPI_TAG == 1 && st[1].MPI_TAG == MPI_ANY_TAG && st[2].MPI_TAG == 2);
    CHECK(reqs[0] != MPI_REQUEST_NULL && reqs[2] != MPI_REQUEST_NULL);
    MPI_Waitall(3, reqs, MPI_STATUSES_IGNORE);
    CHECK(in[0] == size && in[1] == size);
}

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* The same answers from a send, a receive and their nonblocking forms. */
static void expect(int class, const void *buf, int n, MPI_Datatype type, int tag, MPI_Comm comm)
{
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status st[2] = {{0}, {0}};
    void *in = (void *)(uintptr_t)buf;
    CHECK_EQ(class_of(MPI_Send(buf, n, type, MPI_PROC_NULL, tag, comm)), class);
    CHECK_EQ(class_of(MPI_Recv(in, n, type, MPI_PROC_NULL, tag, comm, &st[0])), class);
    CHECK(class != MPI_SUCCESS || (st[0].MPI_SOURCE == MPI_PROC_NULL && st[0].MPI_TAG == MPI_ANY_TAG));
    CHECK_EQ(class_of(MPI_Recv(in, n, type, MPI_PROC_NULL, tag, comm, MPI_STATUS_IGNORE)), class);
    CHECK_EQ(class_of(MPI_Isend(buf, n, type, MPI_PROC_NULL, tag, comm, &r[0])), class);
    CHECK_EQ(class_of(MPI_Irecv(in, n, type, MPI_PROC_NULL, tag, comm, &r[1])), class);
    CHECK((r[0] != MPI_REQUEST_NULL) == (class == MPI_SUCCESS));
    CHECK_EQ(MPI_Waitall(2, r, st), MPI_SUCCESS);
    CHECK(class != MPI_SUCCESS || (st[1].MPI_SOURCE == MPI_PROC_NULL && st[1].MPI_TAG == MPI_ANY_TAG));
}

static void nobody(void)
{
    MPI_Comm dup;
    MPI_Datatype pair, raw;
    int data[2] = {0, 0};
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_dup(pair, &raw);
    MPI_Type_commit(&pair);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
    MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF, dup};
    for (int i = 0; i < 3; i++) {
        expect(MPI_SUCCESS, data, 2, MPI_INT, 3, comms[i]);
        expect(MPI_SUCCESS, data, 1, pair, 3, comms[i]);
        expect(MPI_SUCCESS, NULL, 0, MPI_INT, 0, comms[i]);
        expect(MPI_ERR_COUNT, data, -1, MPI_INT, 3, comms[i]);
        expect(MPI_ERR_TAG, data, 1, MPI_INT, -7, comms[i]);
        expect(MPI_ERR_TYPE, data, 1, MPI_DATATYPE_NULL, 3, comms[i]);
        expect(MPI_ERR_TYPE, data, 1, raw, 3, comms[i]);
        expect(MPI_SUCCESS, NULL, 1, MPI_INT, 3, comms[i]); /* nothing moves: no buffer is needed */
    }
    expect(MPI_ERR_COMM, data, 1, MPI_INT, 3, MPI_COMM_NULL);
    MPI_Type_free(&raw);
    MPI_Type_free(&pair);
    MPI_Comm_free(&dup);
}

int main(void)
{
    test_start(1);
    next = (me + 1) % size;
    before = (me + size - 1) % size;
    for (int n = 0; n < 200000; n = 3 * n + 1) {
        ring(n, n % 2 == 0);
    }
    statuses();
    nobody();
    MPI_Finalize();
    return 0;
}
