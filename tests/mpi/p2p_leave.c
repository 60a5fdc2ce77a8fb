/* Who finalizes does not leave others waiting: a sender's messages may still be on the way, and the receiver
 * gets all of them; a receiver may have freed its receives, and who sends to them later gets through. So do
 * who ends the last session and who disconnects a communicator; and who has freed partitioned requests, whose
 * sides still tell each other their partitions; and who cancels sends that a rank in MPI_Finalize never receives.
 *
 * usage: p2p_leave finalize|session|disconnect|partitions|cancel */
#include "mpi_test.h"

#define N 2000
#define BYTES 8000
#define LARGE (4 << 20)
#define TAG N

static unsigned char large[2][LARGE];
static MPI_Comm comm = MPI_COMM_WORLD;
static MPI_Session session;

static void send_all(void)
{
    static MPI_Request req[N];
    static unsigned char buf[BYTES];
    test_fill(buf, BYTES, 1);
    for (int i = 0; i < N; i++) {
        MPI_Isend(buf, i % BYTES, MPI_BYTE, 1, i, comm, &req[i]);
        MPI_Request_free(&req[i]);
    }
}

static void receive_all(void)
{
    static unsigned char buf[BYTES];
    usleep(100000);
    for (int i = 0; i < N; i++) {
        MPI_Recv(buf, BYTES, MPI_BYTE, 0, i, comm, MPI_STATUS_IGNORE);
        test_verify(buf, (size_t)(i % BYTES), 1);
    }
}

/* To one who is in MPI_Finalize by now. */
static void send_late(void)
{
    MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, comm, MPI_STATUS_IGNORE);
    usleep(200000);
    for (int i = 0; i < 2; i++) {
        test_fill(large[i], LARGE, i);
        MPI_Ssend(large[i], LARGE, MPI_BYTE, 1, TAG + i, comm);
    }
}

static void receive_late(void)
{
    MPI_Request req[2];
    MPI_Irecv(large[0], LARGE, MPI_BYTE, 0, TAG, comm, &req[0]);
    MPI_Irecv(large[1], LARGE, MPI_BYTE, MPI_ANY_SOURCE, TAG + 1, comm, &req[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&req[i]);
    }
    MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, comm);
}

/* More of them than a ring has slots. */
static void free_partitioned(void)
{
    static int buf;
    MPI_Request req[2];
    for (int i = 0; i < N; i++) {
        MPI_Psend_init(&buf, 1, 1, MPI_INT, !me, 1, comm, MPI_INFO_NULL, &req[0]);
        MPI_Precv_init(&buf, 1, 1, MPI_INT, !me, 1, comm, MPI_INFO_NULL, &req[1]);
        MPI_Request_free(&req[0]);
        MPI_Request_free(&req[1]);
    }
}

/* The receiver is in MPI_Finalize by now, and answers all the same (MPI 4.1, 11.2.2). */
static void cancel_late(void)
{
    MPI_Request req;
    MPI_Status status;
    int cancelled;
    const int sizes[] = {4, 4096, LARGE};
    for (int i = 0; i < 3; i++) {
        int bytes = sizes[i];
        usleep(100000);
        MPI_Issend(large[0], bytes, MPI_BYTE, 1, 0, comm, &req);
        MPI_Cancel(&req);
        MPI_Wait(&req, &status);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK(cancelled);
        MPI_Issend(large[0], bytes, MPI_BYTE, 1, 0, comm, &req);
        MPI_Cancel(&req);
        MPI_Request_free(&req);
    }
}

static void open_session(void)
{
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "leave", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &me);
}

static void leave(const char *way)
{
    if (strcmp(way, "session") == 0) {
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
    } else if (strcmp(way, "disconnect") == 0) {
        MPI_Comm_disconnect(&comm);
        CHECK(comm == MPI_COMM_NULL);
    } else {
        MPI_Finalize();
    }
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "finalize";
    if (strcmp(way, "session") == 0) {
        open_session();
    } else {
        test_start(2);
    }
    if (strcmp(way, "disconnect") == 0) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    }
    bool partitions = strcmp(way, "partitions") == 0, cancels = strcmp(way, "cancel") == 0;
    if (partitions) {
        free_partitioned();
    } else if (cancels && me == 0) {
        cancel_late();
    } else if (cancels) {
        /* it leaves at once */
    } else if (me == 0) {
        send_all();
        send_late();
    } else if (me == 1) {
        receive_all();
        receive_late();
    }
    leave(way);
    for (int i = 0; i < 2 && me == 1 && !partitions && !cancels; i++) {
        for (size_t k = 0; k < LARGE; k++) {
            if (large[i][k] != test_byte(i, k)) {
                fprintf(stderr, "byte %zu of a freed receive has not come\n", k);
                return 1;
            }
        }
    }
    if (strcmp(way, "disconnect") == 0) {
        MPI_Finalize();
    }
    return 0;
}
