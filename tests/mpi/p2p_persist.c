/* Persistent sends and receives: started again and again they move what the buffer holds at the start, from
 * one source or any, all modes and sizes, of types that were freed meanwhile; cancelled, freed under way,
 * started by threads that end before others complete them. p2p_persist [threads [loops]] */
#include "mpi_test.h"

#define SIZES 5
static const int sizes[SIZES] = {0, 1, 9, 3000, 60000}; /* ints */
static int loops = 20, next, before;

typedef int init_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static init_fn *const modes[3] = {MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init};

/* One thread's requests: for each size and mode a send of every second int of `out`, and its receive. */
struct mine {
    int base; /* tags */
    int *out[SIZES], *in[SIZES][3];
    MPI_Request send[SIZES][3], recv[SIZES][3];
};

static void make(struct mine *x, int thread)
{
    x->base = 1000 * thread;
    for (int i = 0; i < SIZES; i++) {
        MPI_Datatype every2nd;
        MPI_Type_vector(sizes[i], 1, 2, MPI_INT, &every2nd);
        MPI_Type_commit(&every2nd);
        x->out[i] = calloc(2 * (size_t)sizes[i] + 1, sizeof(int));
        for (int m = 0; m < 3; m++) {
            int tag = x->base + 10 * i + m;
            x->in[i][m] = calloc((size_t)sizes[i] + 1, sizeof(int));
            modes[m](x->out[i], 1, every2nd, next, tag, MPI_COMM_WORLD, &x->send[i][m]);
            MPI_Recv_init_c(x->in[i][m], sizes[i] + 1, MPI_INT, m == 1 ? MPI_ANY_SOURCE : before, tag,
                            MPI_COMM_WORLD, &x->recv[i][m]);
        }
        MPI_Type_free(&every2nd);
    }
}

static void check(struct mine *x, int loop, MPI_Status st[SIZES][3])
{
    for (int i = 0; i < SIZES; i++) {
        for (int m = 0; m < 3; m++) {
            int got;
            MPI_Get_count(&st[i][m], MPI_INT, &got);
            CHECK_EQ(got, sizes[i]);
            CHECK_EQ(st[i][m].MPI_SOURCE, before);
            CHECK_EQ(st[i][m].MPI_TAG, x->base + 10 * i + m);
            CHECK(x->recv[i][m] != MPI_REQUEST_NULL);
            for (int k = 0; k < sizes[i]; k++) {
                CHECK_EQ(x->in[i][m][k], 100000 * loop + 10000 * before + k);
            }
        }
    }
}

static void fill(struct mine *x, int loop)
{
    for (int i = 0; i < SIZES; i++) {
        for (int k = 0; k < sizes[i]; k++) {
            x->out[i][2 * k] = 100000 * loop + 10000 * me + k;
            x->out[i][2 * k + 1] = -1;
        }
        for (int m = 0; m < 3; m++) {
            memset(x->in[i][m], 0xff, (size_t)sizes[i] * sizeof(int));
        }
    }
}

static void *work(void *arg)
{
    struct mine x;
    MPI_Status st[SIZES][3];
    make(&x, (int)(intptr_t)arg);
    for (int loop = 1; loop <= loops; loop++) {
        fill(&x, loop);
        MPI_Startall(3 * SIZES, &x.recv[0][0]);
        /* The receiver is ready: my successor knows. */
        MPI_Sendrecv(NULL, 0, MPI_INT, before, x.base + 999, NULL, 0, MPI_INT, next, x.base + 999,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < SIZES; i++) {
            MPI_Start(&x.send[i][0]);
            MPI_Startall(2, &x.send[i][1]);
        }
        if (loop % 2 == 0) {
            MPI_Waitall(3 * SIZES, &x.recv[0][0], &st[0][0]);
        } else {
            for (int n = 0; n < 3 * SIZES; n++) {
                int index;
                MPI_Status one;
                MPI_Waitany(3 * SIZES, &x.recv[0][0], &index, &one);
                CHECK(index >= 0 && index < 3 * SIZES);
                (&st[0][0])[index] = one;
            }
        }
        MPI_Waitall(3 * SIZES, &x.send[0][0], MPI_STATUSES_IGNORE);
        check(&x, loop, st);
    }
    for (int i = 0; i < SIZES; i++) {
        for (int m = 0; m < 3; m++) {
            MPI_Request_free(&x.send[i][m]);
            MPI_Request_free(&x.recv[i][m]);
            free(x.in[i][m]);
        }
        free(x.out[i]);
    }
    return NULL;
}

/* A cancelled one can be started again; one with nobody ends at once. */
static void cancels(void)
{
    int value = -1, flag;
    MPI_Request r[3];
    MPI_Status st;
    for (int any = 0; any < 2; any++) {
        MPI_Recv_init(&value, 1, MPI_INT, any ? MPI_ANY_SOURCE : me, 5, MPI_COMM_WORLD, &r[0]);
        MPI_Wait(&r[0], &st); /* inactive */
        CHECK(st.MPI_SOURCE == MPI_ANY_SOURCE && st.MPI_TAG == MPI_ANY_TAG);
        for (int i = 0; i < 3; i++) {
            MPI_Start(&r[0]);
            MPI_Cancel(&r[0]);
            MPI_Wait(&r[0], &st);
            MPI_Test_cancelled(&st, &flag);
            CHECK(flag);
            MPI_Start(&r[0]);
            MPI_Send(&i, 1, MPI_INT, me, 5, MPI_COMM_WORLD);
            do {
                MPI_Request_get_status(r[0], &flag, &st);
            } while (!flag);
            CHECK_EQ(st.MPI_SOURCE, me);
            MPI_Cancel(&r[0]); /* too late */
            MPI_Wait(&r[0], &st);
            MPI_Test_cancelled(&st, &flag);
            CHECK(!flag && value == i && st.MPI_TAG == 5);
        }
        MPI_Request_free(&r[0]);
    }
    MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &r[1]);
    MPI_Ssend_init_c(&value, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &r[2]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(3, r);
        MPI_Cancel(&r[0]);
        MPI_Wait(&r[1], &st);
        CHECK(st.MPI_SOURCE == MPI_PROC_NULL && st.MPI_TAG == MPI_ANY_TAG);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 3; i++) {
        MPI_Request_free(&r[i]);
    }
}

/* Freed while under way, over a communicator that goes too: the message arrives. */
static void frees(void)
{
    enum { N = 50000 };
    static int out[N], in[N];
    MPI_Comm dup;
    MPI_Request r[2];
    for (int i = 0; i < 5; i++) {
        out[N - 1] = 100 * me + i;
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        MPI_Recv_init(in, N, MPI_INT, MPI_ANY_SOURCE, 7, dup, &r[0]);
        MPI_Send_init(out, N, MPI_INT, next, 7, dup, &r[1]);
        MPI_Startall(2, r);
        MPI_Request_free(&r[1]);
        CHECK(r[1] == MPI_REQUEST_NULL);
        MPI_Comm_free(&dup);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        CHECK_EQ(in[N - 1], 100 * before + i);
        MPI_Request_free(&r[0]);
        MPI_Barrier(MPI_COMM_WORLD); /* my send is over: I may write */
    }
}

/* Started by threads that end; completed by this one. */
static MPI_Request given[8][2];
static int given_in[8], given_out[8];

static void *give(void *arg)
{
    int t = (int)(intptr_t)arg;
    given_out[t] = 1000 * me + t;
    MPI_Recv_init(&given_in[t], 1, MPI_INT, before, 50 + t, MPI_COMM_WORLD, &given[t][0]);
    MPI_Ssend_init(&given_out[t], 1, MPI_INT, next, 50 + t, MPI_COMM_WORLD, &given[t][1]);
    MPI_Startall(2, given[t]);
    return NULL;
}

static void handed_over(int n)
{
    test_threads(n, give);
    MPI_Waitall(2 * n, &given[0][0], MPI_STATUSES_IGNORE);
    for (int t = 0; t < n; t++) {
        CHECK_EQ(given_in[t], 1000 * before + t);
        MPI_Request_free(&given[t][0]);
        MPI_Request_free(&given[t][1]);
    }
}

int main(int argc, char **argv)
{
    test_start(1);
    int n = argc > 1 ? atoi(argv[1]) : 2;
    loops = argc > 2 ? atoi(argv[2]) : loops;
    next = (me + 1) % size;
    before = (me + size - 1) % size;
    test_threads(n, work);
    cancels();
    frees();
    handed_over(n < 8 ? n : 8);
    MPI_Finalize();
    return 0;
}
