/* What another thread frees while a call waits: its datatype, its communicator; and requests that nobody
 * waits for, communicators without number. usage: p2p_freed, 2 ranks */
#include "mpi_test.h"

#include <malloc.h>
#include <pthread.h>

#define N 20000 /* numbers of a message, every second one in memory */
#define OTHER (1 - me)

enum { DATA = 1, BACK, FREED };
enum call { SEND, SSEND, RECV, SENDRECV_SENDS, SENDRECV_RECEIVES };

static enum call call;
static int data[2 * N], small;
static MPI_Datatype type;

static bool receives(void)
{
    return call == RECV || call == SENDRECV_RECEIVES;
}

static void *blocked(void *unused)
{
    switch (call) {
    case SEND:
        MPI_Send(data, 1, type, OTHER, DATA, MPI_COMM_WORLD);
        break;
    case SSEND:
        MPI_Ssend(data, 1, type, OTHER, DATA, MPI_COMM_WORLD);
        break;
    case RECV:
        MPI_Recv(data, 1, type, OTHER, BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case SENDRECV_SENDS:
        MPI_Sendrecv(data, 1, type, OTHER, DATA, &small, 1, MPI_INT, OTHER, BACK, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        break;
    case SENDRECV_RECEIVES:
        MPI_Sendrecv(&small, 1, MPI_INT, OTHER, DATA, data, 1, type, OTHER, BACK, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        break;
    }
    return unused;
}

static void say(int tag)
{
    MPI_Send(NULL, 0, MPI_INT, OTHER, tag, MPI_COMM_WORLD);
}

static void hear(int tag)
{
    MPI_Recv(NULL, 0, MPI_INT, OTHER, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 frees its type when rank 1 has seen the call's message, or, of a receive alone, some time later. */
static void free_type(void)
{
    pthread_t thread;
    MPI_Datatype another;
    for (int i = 0; i < 2 * N; i++) {
        data[i] = receives() ? -1 : i;
    }
    MPI_Type_vector(N, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    pthread_create(&thread, NULL, blocked, NULL);
    hear(FREED);
    MPI_Type_free(&type);
    MPI_Type_vector(N / 2, 2, 3, MPI_INT, &another); /* has its place */
    MPI_Type_commit(&another);
    say(FREED);
    pthread_join(thread, NULL);
    for (int i = 0; receives() && i < N; i++) {
        CHECK(data[2 * i] == 2 * i && data[2 * i + 1] == -1);
    }
    MPI_Type_free(&another);
}

static void meet_it(void)
{
    static int numbers[N];
    MPI_Status st;
    if (call == RECV) {
        usleep(20000);
    } else {
        MPI_Probe(0, DATA, MPI_COMM_WORLD, &st);
    }
    say(FREED);
    hear(FREED);
    if (call != RECV) {
        MPI_Recv(numbers, N, MPI_INT, 0, DATA, MPI_COMM_WORLD, &st);
    }
    for (int i = 0; i < N; i++) {
        CHECK(receives() || numbers[i] == 2 * i);
        numbers[i] = 2 * i;
    }
    if (call >= RECV) {
        MPI_Send(numbers, receives() ? N : 1, MPI_INT, 0, BACK, MPI_COMM_WORLD);
    }
}

static void types(void)
{
    for (call = SEND; call <= SENDRECV_RECEIVES; call++) {
        if (me == 0) {
            free_type();
        } else {
            meet_it();
        }
    }
}

/* ---- The communicator of a call that fails ---- */

static MPI_Comm comm;

static void *truncated(void *unused)
{
    int one = 0;
    CHECK_EQ(
        MPI_Sendrecv(&one, 1, MPI_INT, OTHER, DATA, &one, 1, MPI_INT, OTHER, BACK, comm, MPI_STATUS_IGNORE),
        MPI_ERR_TRUNCATE);
    return unused;
}

static void handlers(void)
{
    pthread_t thread;
    MPI_Request r;
    MPI_Comm others[4];
    int three[3] = {0};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (me == 0) {
        MPI_Comm mine = comm;
        pthread_create(&thread, NULL, truncated, NULL);
        hear(FREED);
        MPI_Comm_free(&mine);
        for (int i = 0; i < 4; i++) { /* fatal, one of them in its place */
            MPI_Comm_dup(MPI_COMM_SELF, &others[i]);
        }
        say(FREED);
        pthread_join(thread, NULL);
        for (int i = 0; i < 4; i++) {
            MPI_Comm_free(&others[i]);
        }
    } else {
        MPI_Recv(three, 1, MPI_INT, 0, DATA, comm, MPI_STATUS_IGNORE);
        say(FREED);
        hear(FREED);
        MPI_Isend(three, 3, MPI_INT, 0, BACK, comm, &r);
        MPI_Comm_free(&comm);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
}

/* ---- Nothing is held for ever ---- */

static size_t held(void)
{
    return mallinfo2().uordblks;
}

/* Who receives what is there already never waits: requests that he freed end all the same. */
static void requests(int rounds)
{
    size_t before = held();
    for (int i = 0; i < rounds; i++) {
        MPI_Request r;
        int got;
        MPI_Isend(&i, 1, MPI_INT, me, 5, MPI_COMM_WORLD, &r);
        MPI_Request_free(&r);
        MPI_Recv(&got, 1, MPI_INT, me, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    CHECK(held() < before + (1 << 20));
}

/* Freed receives that are waited for at the end of their session: each is looked at a few times, not all at
 * each turn (this took 3 s and grew with the square of their number). */
static void receives_freed(int n)
{
    MPI_Session s;
    MPI_Group all;
    MPI_Comm own;
    int got;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &s);
    MPI_Group_from_session_pset(s, "mpi://SELF", &all);
    MPI_Comm_create_from_group(all, "own", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &own);
    for (int i = 0; i < 2 * n; i++) {
        MPI_Request r;
        if (i < n) {
            MPI_Irecv(&got, 1, MPI_INT, 0, 0, own, &r);
        } else {
            MPI_Isend(&n, 1, MPI_INT, 0, 0, own, &r);
        }
        MPI_Request_free(&r);
    }
    MPI_Comm_disconnect(&own);
    CHECK_EQ(got, n);
    MPI_Group_free(&all);
    MPI_Session_finalize(&s);
}

/* Handlers of freed communicators, every second one fatal. */
static void communicators(int rounds)
{
    size_t before = held();
    for (int i = 0; i < rounds; i++) {
        MPI_Comm dup;
        MPI_Comm_dup(MPI_COMM_SELF, &dup);
        if (i % 2 == 0) {
            MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
        }
        MPI_Comm_free(&dup);
    }
    CHECK(held() < before + (1 << 20));
}

/* Messages that wait for room go on while their sender receives others, which are all there. */
static void progress(void)
{
    enum { MESSAGES = 3000 };
    static MPI_Request r[MESSAGES];
    volatile int *all;
    MPI_Win win;
    MPI_Win_allocate(sizeof *all, sizeof *all, MPI_INFO_NULL, MPI_COMM_WORLD, &all, &win);
    MPI_Win_lock_all(0, win);
    *all = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Isend(data, 1, MPI_INT, 1, DATA, MPI_COMM_WORLD, &r[i]);
        }
        double end = MPI_Wtime() + 20;
        while (!*all) {
            MPI_Send(data, 1, MPI_INT, me, BACK, MPI_COMM_WORLD);
            MPI_Recv(&small, 1, MPI_INT, me, BACK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(MPI_Wtime() < end);
        }
        MPI_Waitall(MESSAGES, r, MPI_STATUSES_IGNORE);
    } else {
        int one = 1;
        usleep(100000);
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Recv(&small, 1, MPI_INT, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_flush(0, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(void)
{
    test_start(2);
    types();
    handlers();
    requests(500000);
    receives_freed(80000);
    communicators(200000);
    progress();
    MPI_Finalize();
    return 0;
}
