/* Partitioned sends and receives: any number of partitions on each side, of types that are one block and of
 * such that are not, readied by many threads at once in any order, started in another order than made; what
 * Parrived calls there is there, and comes before the rest is ready.
 *   p2p_parts [threads [rounds]] */
#include "mpi_test.h"

#include "../sanitized.h"

#include <limits.h>

static int next, before, n_threads = 2, rounds = 6;
static uint64_t seed;

/* ---- All partitions by threads ---- */

struct way {
    int send_parts, recv_parts, per_send,
        per_recv; /* elements of a partition: 2 ints with a hole, or one int */
    bool holes;
};

static const struct way ways[] = {
    {1, 1, 10, 20, false},   {8, 8, 100, 200, true},     {6, 4, 2000, 6000, true}, {4, 6, 6000, 8000, false},
    {64, 1, 16, 2048, true}, {1, 64, 1024, 32, false},   {3, 3, 0, 0, true},       {2500, 10, 4, 2000, false},
    {0, 0, 7, 7, false},     {10, 2500, 2000, 16, true},
};

static MPI_Request send_req, recv_req;
static const struct way *now;
static int *out, *in, round_now;

/* The k-th int of the data lies at element k / 2 of the sender, of three ints if there are holes. */
static int *place(int *at, int k)
{
    return now->holes ? at + 3 * (k / 2) + 2 * (k % 2) : at + k;
}

static int value(int rank, int k)
{
    return 1000003 * round_now + 100000 * rank + k;
}

static void *ready(void *arg)
{
    int t = (int)(intptr_t)arg;
    uint64_t state = seed + (uint64_t)(round_now * 64 + t);
    /* Mine, from a random one on. */
    int mine = (now->send_parts - t + n_threads - 1) / n_threads;
    int skip = mine > 0 ? (int)(test_random(&state) % (unsigned)mine) : 0;
    for (int i = 0; i < mine; i++) {
        int part = t + (i + skip) % mine * n_threads;
        for (int k = 2 * part * now->per_send; k < 2 * (part + 1) * now->per_send; k++) {
            *place(out, k) = value(me, k);
        }
        if (i % 2 == 0) {
            MPI_Pready(part, send_req);
        } else {
            MPI_Pready_list(1, &part, send_req);
        }
    }
    /* What arrived is there, whatever else is still missing. */
    for (int part = t; part < now->recv_parts; part += n_threads) {
        int flag;
        do {
            MPI_Parrived(recv_req, part, &flag);
        } while (!flag);
        for (int k = part * now->per_recv; k < (part + 1) * now->per_recv; k++) {
            CHECK_EQ(in[k], value(before, k));
        }
    }
    return NULL;
}

/* What is inactive or null has arrived. */
static void nothing_missing(const struct way *w)
{
    int flag = 0;
    if (w->recv_parts > 0) {
        MPI_Parrived(recv_req, w->recv_parts - 1, &flag);
        CHECK(flag);
    }
    flag = 0;
    MPI_Parrived(MPI_REQUEST_NULL, w->recv_parts, &flag);
    CHECK(flag);
}

static void run(const struct way *w)
{
    int ints = 2 * w->send_parts * w->per_send, flag;
    MPI_Datatype type;
    MPI_Status st;
    CHECK_EQ(ints, w->recv_parts * w->per_recv);
    now = w;
    out = calloc((size_t)ints * 2 + 4, sizeof(int));
    in = calloc((size_t)ints + 1, sizeof(int));
    MPI_Type_vector(2, 1, w->holes ? 2 : 1, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Psend_init(out, w->send_parts, w->per_send, type, next, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &send_req);
    MPI_Precv_init_c(in, w->recv_parts, w->per_recv, MPI_INT, before, 3, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &recv_req);
    MPI_Type_free(&type);
    nothing_missing(w); /* not started */
    for (round_now = 1; round_now <= rounds; round_now++) {
        memset(in, 0xff, (size_t)ints * sizeof(int));
        MPI_Start(&recv_req);
        MPI_Start(&send_req);
        if (ints > 0) {
            MPI_Test(&send_req, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
        }
        test_threads(n_threads, ready);
        MPI_Wait(&send_req, MPI_STATUS_IGNORE);
        MPI_Wait(&recv_req, &st);
        MPI_Get_count(&st, MPI_INT, &flag);
        CHECK(flag == ints && st.MPI_SOURCE == before && st.MPI_TAG == 3);
        CHECK(send_req != MPI_REQUEST_NULL && recv_req != MPI_REQUEST_NULL);
    }
    nothing_missing(w);
    MPI_Request_free(&send_req);
    MPI_Request_free(&recv_req);
    free(in);
    free(out);
}

/* ---- Into a layout with holes whose borders cut elements ---- */

static void scattered(void)
{
    enum { N = 30 };
    char data[5 * N * 4];
    struct {
        int a, hole, b;
    } into[N * 10 / 4];
    MPI_Request r[2];
    MPI_Datatype type;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    memset(into, 0, sizeof into);
    /* 5 parts of 120 bytes here, 3 of 25 elements of 8 there. */
    MPI_Psend_init(data, 5, N * 4, MPI_CHAR, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(into, 3, 25, type, before, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    for (int i = 0; i < 5 * N; i++) {
        int v = 1000 * me + i;
        memcpy(data + 4 * i, &v, sizeof v);
    }
    MPI_Startall(2, r);
    MPI_Pready_range(1, 4, r[0]);
    MPI_Pready(0, r[0]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 75; i++) {
        CHECK(into[i].a == 1000 * before + 2 * i && into[i].hole == 0 &&
              into[i].b == 1000 * before + 2 * i + 1);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Type_free(&type);
}

/* ---- Inits pair in order, whatever is started first; one partition arrives before the other is ready ----
 */

enum { PAIRS = 4, UNUSED = 1 };
static MPI_Request sends[PAIRS], recvs[PAIRS];
static int from[PAIRS][2], into[PAIRS][2];

static void start_all(int loop)
{
    for (int k = 0; k < PAIRS; k++) {
        int i = me % 2 == 0 ? k : PAIRS - 1 - k;
        if (i != UNUSED) {
            from[i][0] = 100 * me + 10 * i + loop;
            from[i][1] = -from[i][0];
            MPI_Start(&sends[i]);
            MPI_Pready(0, sends[i]);
        }
    }
    for (int i = PAIRS - 1; i >= 0; i--) {
        if (i != UNUSED) {
            MPI_Start(&recvs[i]);
        }
    }
}

static void see_first_parts(int loop)
{
    for (int i = 0; i < PAIRS; i++) {
        int flag = i == UNUSED;
        while (!flag) {
            MPI_Parrived(recvs[i], 0, &flag);
        }
        if (i != UNUSED) {
            CHECK_EQ(into[i][0], 100 * before + 10 * i + loop);
            MPI_Parrived(recvs[i], 1, &flag);
            CHECK(!flag);
        }
    }
}

static void end_all(int loop)
{
    for (int i = 0; i < PAIRS; i++) {
        if (i != UNUSED) {
            MPI_Pready(1, sends[i]);
            MPI_Wait(&recvs[i], MPI_STATUS_IGNORE);
            CHECK_EQ(into[i][1], -(100 * before + 10 * i + loop));
            MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
        }
    }
}

static void order(void)
{
    int flag, token = 0;
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    for (int i = 0; i < PAIRS; i++) {
        MPI_Psend_init(from[i], 2, 1, MPI_INT, next, 1, dup, MPI_INFO_NULL, &sends[i]);
        MPI_Precv_init(into[i], 2, 1, MPI_INT, before, 1, dup, MPI_INFO_NULL, &recvs[i]);
    }
    MPI_Request_free(&sends[UNUSED]); /* never started, but a pair all the same */
    MPI_Request_free(&recvs[UNUSED]);
    for (int loop = 0; loop < 3; loop++) {
        start_all(loop);
        see_first_parts(loop);
        MPI_Barrier(MPI_COMM_WORLD); /* only now the others: the first ones were seen by all */
        end_all(loop);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    /* Neither plain messages nor probes see any of it. */
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, dup, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    for (int i = 0; i < PAIRS; i++) {
        if (i != UNUSED) {
            MPI_Request_free(&sends[i]);
            MPI_Request_free(&recvs[i]);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(&me, 1, MPI_INT, next, 1, &token, 1, MPI_INT, before, 1, dup, MPI_STATUS_IGNORE);
    CHECK_EQ(token, before);
    MPI_Comm_free(&dup);
}

static void nobody(void)
{
    int buf[4], flag;
    MPI_Request both[2];
    MPI_Psend_init(buf, 4, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
    MPI_Precv_init(buf, 4, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, both);
        MPI_Pready_range(0, 3, both[0]);
        MPI_Parrived(both[1], 3, &flag);
        CHECK(flag);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

/* As many partitions as there may be: readying all would take minutes, so the send stays open. */
static void most(void)
{
    MPI_Request r;
    MPI_Psend_init(&me, INT_MAX, 0, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    MPI_Pready(INT_MAX - 1, r);
    MPI_Pready_range(INT_MAX - 66, INT_MAX - 2, r);
}

/* ---- Wrong calls ---- */

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void misuse(void)
{
    int buf[8], flag, parts[2] = {1, 4};
    MPI_Request plain, s, r;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQ(class_of(MPI_Psend_init(buf, -1, 1, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s)),
             MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Psend_init(buf, 2, -1, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s)),
             MPI_ERR_COUNT);
    const MPI_Count huge = (MPI_Count)1 << 60; /* its lower half is 0 */
    CHECK_EQ(class_of(MPI_Psend_init(buf, 8, huge, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s)),
             MPI_ERR_COUNT);
    CHECK_EQ(class_of(MPI_Precv_init(buf, 8, huge, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r)),
             MPI_ERR_COUNT);
    CHECK_EQ(class_of(MPI_Psend_init_c(buf, 8, huge, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s)),
             MPI_ERR_COUNT);
    CHECK_EQ(
        class_of(MPI_Precv_init(buf, 2, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r)),
        MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Precv_init(buf, 2, 1, MPI_INT, me, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r)),
             MPI_ERR_TAG);
    CHECK_EQ(class_of(MPI_Psend_init(buf, 2, 1, MPI_INT, me, 1, MPI_COMM_WORLD, (MPI_Info)buf, &s)),
             MPI_ERR_INFO);
    MPI_Psend_init(buf, 4, 1, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &s);
    MPI_Precv_init(buf + 4, 2, 1, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r); /* too short */
    MPI_Send_init(buf, 1, MPI_INT, me, 2, MPI_COMM_WORLD, &plain);
    CHECK_EQ(class_of(MPI_Pready(0, s)), MPI_ERR_REQUEST); /* not started */
    MPI_Start(&s);
    MPI_Start(&r);
    CHECK_EQ(class_of(MPI_Start(&s)), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Pready(4, s)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Pready(-1, s)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Pready_range(2, 1, s)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Pready(0, r)), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Pready(0, plain)), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Pready(0, MPI_REQUEST_NULL)), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Parrived(s, 0, &flag)), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Parrived(r, 2, &flag)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Cancel(&s)), MPI_ERR_REQUEST);
    CHECK_EQ(class_of(MPI_Request_free(&s)), MPI_ERR_REQUEST); /* or the receiver waits for ever */
    CHECK_EQ(class_of(MPI_Request_free(&r)), MPI_ERR_REQUEST);
    MPI_Pready(0, s);
    CHECK_EQ(class_of(MPI_Pready(0, s)), MPI_ERR_ARG); /* twice */
    CHECK_EQ(class_of(MPI_Pready_list(-1, parts, s)), MPI_ERR_COUNT);
    CHECK_EQ(class_of(MPI_Pready_list(2, parts, s)), MPI_ERR_ARG); /* the first of them is ready now */
    MPI_Pready_range(2, 3, s);
    MPI_Wait(&s, MPI_STATUS_IGNORE);
    CHECK_EQ(class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    MPI_Request_free(&s);
    MPI_Request_free(&r);
    MPI_Request_free(&plain);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    test_start(1);
    n_threads = argc > 1 ? atoi(argv[1]) : n_threads;
    rounds = argc > 2 ? atoi(argv[2]) : rounds;
    next = (me + 1) % size;
    before = (me + size - 1) % size;
    seed = test_seed();
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        run(&ways[i]);
    }
    scattered();
    order();
    nobody();
    misuse();
    if (size == 1 && !SANITIZED) { /* its bits are a quarter of a GiB */
        most();
    }
    MPI_Finalize();
    return 0;
}
