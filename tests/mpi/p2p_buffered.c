/* Buffered sends: they end although nobody receives, keep what the user's memory held, and fill exactly the
 * buffer that the standard's formula gives; buffers of the process, of communicators, of sessions and of the
 * library; flush and detach wait for their own messages only; the end detaches.
 *   p2p_buffered [threads] */
#include "mpi_test.h"

#include <stdatomic.h>

static int next, before, n_threads = 2;

/* ---- Each thread with a buffer of its own communicator; one buffer of the process for all ---- */

enum { COUNTS = 4, LOOPS = 6 };
static const int counts[COUNTS] = {1, 7, 3000, 40000};
static MPI_Comm own[64];
static bool shared;

static int room_for(int messages)
{
    int bytes = 0;
    for (int i = 0; i < messages; i++) {
        int packed;
        MPI_Pack_size(counts[i % COUNTS], MPI_INT, MPI_COMM_WORLD, &packed);
        bytes += packed + MPI_BSEND_OVERHEAD;
    }
    return bytes;
}

static void *exchange(void *arg)
{
    int t = (int)(intptr_t)arg;
    MPI_Comm comm = own[t];
    int bytes = room_for(COUNTS);
    char *room = malloc((size_t)bytes + 1);
    static _Thread_local int out[40000], in[40001];
    MPI_Request again, r = MPI_REQUEST_NULL;
    if (!shared) {
        MPI_Comm_attach_buffer(comm, room + 1, bytes); /* at an odd address */
    }
    MPI_Bsend_init(out, counts[2], MPI_INT, next, 2, comm, &again);
    for (int loop = 0; loop < LOOPS; loop++) {
        for (int i = 0; i < COUNTS; i++) {
            for (int k = 0; k < counts[i]; k++) {
                out[k] = 1000000 * t + 100000 * i + 10 * k + loop;
            }
            if (i == 1) {
                MPI_Ibsend(out, counts[i], MPI_INT, next, i, comm, &r);
                MPI_Wait(&r, MPI_STATUS_IGNORE);
            } else if (i == 2) {
                MPI_Start(&again);
                MPI_Wait(&again, MPI_STATUS_IGNORE);
            } else {
                MPI_Bsend_c(out, counts[i], MPI_INT, next, i, comm);
            }
            memset(out, 0xff, (size_t)counts[i] * sizeof(int)); /* mine again */
        }
        for (int i = COUNTS - 1; i >= 0; i--) {
            int got;
            MPI_Status st;
            MPI_Recv(in, counts[i] + 1, MPI_INT, before, i, comm, &st);
            MPI_Get_count(&st, MPI_INT, &got);
            CHECK_EQ(got, counts[i]);
            for (int k = 0; k < got; k++) {
                CHECK_EQ(in[k], 1000000 * t + 100000 * i + 10 * k + loop);
            }
        }
        if (shared) {
            continue; /* a flush would wait for other threads, who wait for their peers */
        }
        if (loop % 2 == 0) {
            MPI_Comm_flush_buffer(comm);
        } else {
            MPI_Comm_iflush_buffer(comm, &r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        }
    }
    MPI_Request_free(&again);
    if (!shared) {
        void *base;
        int size_back;
        MPI_Comm_detach_buffer(comm, &base, &size_back);
        CHECK(base == room + 1);
        CHECK_EQ(size_back, bytes);
    }
    free(room);
    return NULL;
}

static void threads(void)
{
    int bytes = LOOPS * n_threads * room_for(COUNTS);
    void *room = malloc((size_t)bytes), *base;
    MPI_Count size_back;
    for (int t = 0; t < n_threads; t++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &own[t]);
    }
    test_threads(n_threads, exchange);
    shared = true;
    MPI_Buffer_attach_c(room, bytes);
    test_threads(n_threads, exchange);
    MPI_Buffer_detach_c(&base, &size_back);
    CHECK(base == room && size_back == bytes);
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    test_threads(n_threads, exchange);
    MPI_Buffer_detach_c(&base, &size_back);
    CHECK(base == MPI_BUFFER_AUTOMATIC);
    MPI_Buffer_detach_c(&base, &size_back);
    CHECK(base == NULL && size_back == 0);
    for (int t = 0; t < n_threads; t++) {
        MPI_Comm_free(&own[t]);
    }
    free(room);
}

/* ---- Exactly full ---- */

enum { LARGE = 100000 }; /* the network's buffers do not take it: it waits for its receive */

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* A send for which the receives of earlier ones make room: that may be known here a little later. */
static void bsend_soon(const char *out, int n, int tag, MPI_Comm comm)
{
    double until = MPI_Wtime() + 20;
    int code;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    do {
        code = MPI_Bsend(out, n, MPI_CHAR, next, tag, comm);
        CHECK(code == MPI_SUCCESS || class_of(code) == MPI_ERR_BUFFER);
    } while (code != MPI_SUCCESS && MPI_Wtime() < until);
    CHECK_EQ(code, MPI_SUCCESS);
}

/* Messages that nobody receives yet, as many as the buffer holds and one more; freed in the middle. */
static void fill_up(void)
{
    enum { N = 6 };
    int bytes = N * (LARGE + MPI_BSEND_OVERHEAD), flag;
    char *room = malloc((size_t)bytes), *out = malloc(LARGE + 1), *in = malloc(LARGE + 1),
         words[MPI_MAX_ERROR_STRING];
    void *base;
    MPI_Request flush;
    MPI_Buffer_attach(room, bytes);
    for (int i = 0; i < N; i++) {
        memset(out, i, LARGE);
        MPI_Bsend(out, LARGE, MPI_CHAR, next, i, MPI_COMM_WORLD);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Bsend(out, LARGE, MPI_CHAR, next, 99, MPI_COMM_WORLD), len;
    int asked = 0, overhead = 0, all = 0, left = 0;
    CHECK_EQ(class_of(code), MPI_ERR_BUFFER);
    MPI_Error_string(code, words, &len);
    const char *at = strstr(words, "a message of");
    CHECK(at != NULL &&
          sscanf(at,
                 "a message of %d bytes and MPI_BSEND_OVERHEAD (%d) do not fit: of the attached "
                 "buffer of %d bytes %d",
                 &asked, &overhead, &all, &left) == 4);
    CHECK(asked == LARGE && overhead == MPI_BSEND_OVERHEAD && all == bytes && left == 0);
    MPI_Buffer_iflush(&flush);
    MPI_Test(&flush, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    /* The second and third are received: a longer one fits into their places, wherever they are. */
    for (int i = 1; i <= 2; i++) {
        MPI_Recv(in, LARGE, MPI_CHAR, before, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(in[0] == i && in[LARGE - 1] == i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    memset(out, 77, LARGE + 1);
    bsend_soon(out, LARGE + 1, 100, MPI_COMM_WORLD);
    MPI_Test(&flush, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        if (i != 1 && i != 2) {
            MPI_Recv(in, LARGE, MPI_CHAR, before, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(in[0] == i && in[LARGE - 1] == i);
        }
    }
    MPI_Wait(&flush, MPI_STATUS_IGNORE); /* though the last one is still there */
    MPI_Recv(in, LARGE + 1, MPI_CHAR, before, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in[0] == 77 && in[LARGE] == 77);
    MPI_Buffer_detach(&base, &len);
    CHECK(base == room && len == bytes);
    code = MPI_Bsend(out, 1, MPI_CHAR, next, 99, MPI_COMM_WORLD);
    CHECK_EQ(class_of(code), MPI_ERR_BUFFER);
    CHECK_EQ(MPI_Bsend(out, 1, MPI_CHAR, MPI_PROC_NULL, 99, MPI_COMM_WORLD), MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    free(room);
    free(out);
    free(in);
}

/* The standard's model over many steps: the buffer of w messages takes w outstanding ones, whose sizes vary
 * and which are received in order. */
static void window(uint64_t seed)
{
    enum { W = 5, STEPS = 200, MOST = 20000 };
    int bytes = 2 * W * (MOST + MPI_BSEND_OVERHEAD),
        sizes[STEPS]; /* twice: what goes round leaves a piece at the end */
    char *room = malloc((size_t)bytes), *out = malloc(MOST), *in = malloc(MOST);
    void *base;
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_attach_buffer_c(dup, room, bytes);
    for (int i = 0; i < STEPS; i++) {
        sizes[i] = (int)(test_random(&seed) % MOST);
    }
    for (int i = 0; i < STEPS + W; i++) {
        if (i >= W) {
            MPI_Recv(in, MOST, MPI_CHAR, before, 3, dup, MPI_STATUS_IGNORE);
            CHECK(sizes[i - W] == 0 || in[sizes[i - W] - 1] == (char)(i - W));
            MPI_Barrier(dup); /* so is mine */
        }
        if (i < STEPS) {
            memset(out, i, (size_t)sizes[i]);
            bsend_soon(out, sizes[i], 3, dup);
        }
    }
    MPI_Comm_detach_buffer(dup, &base, &bytes);
    CHECK(base == room);
    /* Freed with a buffer and messages in it: both sides get what they should. */
    MPI_Comm_attach_buffer(dup, room, bytes);
    MPI_Request r;
    MPI_Irecv(in, MOST, MPI_CHAR, before, 4, dup, &r);
    memset(out, 5, MOST);
    MPI_Bsend(out, MOST, MPI_CHAR, next, 4, dup);
    MPI_Comm_disconnect(&dup);
    memset(room, 0xff, (size_t)bytes);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(in[0] == 5 && in[MOST - 1] == 5);
    free(room);
    free(out);
    free(in);
}

static atomic_bool over;

static void *look(void *unused)
{
    int flag;
    while (!atomic_load(&over)) {
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    }
    return unused;
}

/* Room for one message, and each was received, and that said, before the next: it is room for all, also where
 * another thread has just taken the word that one has left. */
static void one_by_one(void)
{
    enum { BYTES = 20000, MESSAGES = 4000 };
    static char room[BYTES + MPI_BSEND_OVERHEAD], message[BYTES];
    pthread_t thread[3];
    void *base;
    int n = 0;
    MPI_Buffer_attach(room, sizeof room);
    for (int t = 0; t < 3; t++) {
        pthread_create(&thread[t], NULL, look, NULL);
    }
    for (int i = 0; i < MESSAGES && size > 1; i++) {
        if (me == 0) {
            MPI_Bsend(message, BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (me == 1) {
            MPI_Recv(message, BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD);
        }
    }
    atomic_store(&over, true);
    for (int t = 0; t < 3; t++) {
        pthread_join(thread[t], NULL);
    }
    MPI_Buffer_detach(&base, &n);
}

/* Of a session: communicators from it use its buffer, after their own. */
static void sessions(void)
{
    MPI_Session s;
    MPI_Group world, all;
    MPI_Comm comm, dup;
    static char room[4000 + MPI_BSEND_OVERHEAD], small[1], in[4000];
    void *base;
    int bytes, rank;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
    MPI_Group_from_session_pset(s, "mpi://WORLD", &world);
    MPI_Group_union(MPI_GROUP_EMPTY, world, &all);
    MPI_Comm_create_from_group(all, "p2p_buffered", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_split(comm, 0, -me, &dup);
    MPI_Comm_rank(dup, &rank);
    MPI_Session_attach_buffer(s, room, sizeof room);
    CHECK_EQ(MPI_Session_attach_buffer(s, room, sizeof room), MPI_ERR_BUFFER);
    CHECK_EQ(MPI_Bsend(in, 4000, MPI_CHAR, (rank + 1) % size, 1, dup), MPI_SUCCESS);
    MPI_Recv(in, 4000, MPI_CHAR, MPI_ANY_SOURCE, 1, dup, MPI_STATUS_IGNORE);
    MPI_Session_flush_buffer(s);
    MPI_Comm_attach_buffer(dup, small, 1);
    CHECK_EQ(class_of(MPI_Bsend(in, 0, MPI_CHAR, 0, 1, dup)), MPI_ERR_BUFFER);
    MPI_Comm_free(&dup);
    CHECK_EQ(MPI_Bsend(in, 4000, MPI_CHAR, next, 1, comm), MPI_SUCCESS);
    MPI_Recv(in, 4000, MPI_CHAR, before, 1, comm, MPI_STATUS_IGNORE);
    MPI_Session_detach_buffer(s, &base, &bytes);
    CHECK(base == room && bytes == sizeof room);
    CHECK_EQ(class_of(MPI_Bsend(in, 0, MPI_CHAR, 0, 1, comm)), MPI_ERR_BUFFER);
    MPI_Session_attach_buffer(s, MPI_BUFFER_AUTOMATIC, 0);
    MPI_Comm_free(&comm);
    MPI_Group_free(&world);
    MPI_Group_free(&all);
    MPI_Session_finalize(&s);
}

static void misuse(void)
{
    char room[8];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK_EQ(class_of(MPI_Buffer_attach(NULL, 8)), MPI_ERR_BUFFER);
    CHECK_EQ(class_of(MPI_Buffer_attach(room, -1)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Comm_attach_buffer(MPI_COMM_NULL, room, 8)), MPI_ERR_COMM);
    CHECK_EQ(class_of(MPI_Session_attach_buffer(MPI_SESSION_NULL, room, 8)), MPI_ERR_SESSION);
    CHECK_EQ(class_of(MPI_Session_flush_buffer((MPI_Session)room)), MPI_ERR_SESSION);
    CHECK_EQ(class_of(MPI_Buffer_iflush(NULL)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Bsend(room, -1, MPI_CHAR, 0, 0, MPI_COMM_WORLD)), MPI_ERR_COUNT);
    CHECK_EQ(class_of(MPI_Bsend(room, 1, MPI_CHAR, size, 0, MPI_COMM_WORLD)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Bsend(room, 1, MPI_CHAR, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Ibsend(room, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, NULL)), MPI_ERR_ARG);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    test_start(1);
    n_threads = argc > 1 ? atoi(argv[1]) : n_threads;
    next = (me + 1) % size;
    before = (me + size - 1) % size;
    uint64_t seed = test_seed();
    threads();
    fill_up();
    window(seed);
    sessions();
    one_by_one();
    misuse();
    /* In the buffer when the program ends: received by somebody who looks for it late. */
    static char room[LARGE + MPI_BSEND_OVERHEAD], data[LARGE], sent[LARGE];
    MPI_Request r;
    MPI_Irecv(data, LARGE, MPI_CHAR, before, 9, MPI_COMM_WORLD, &r);
    MPI_Comm_attach_buffer(MPI_COMM_WORLD, room, sizeof room);
    MPI_Bsend(memset(sent, 3, LARGE), LARGE, MPI_CHAR, next, 9, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(data[LARGE - 1] == 3);
    MPI_Finalize();
    return 0;
}
