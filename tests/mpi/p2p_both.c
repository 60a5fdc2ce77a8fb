/* usage: p2p_both ROUNDS [alone]: large messages of every shape between two ranks, whoever copies them: sizes
 * around all thresholds, several in flight, by several threads of a pair, both directions, layouts, any
 * source, matched probe, too short a buffer. Bytes before and behind each buffer must stay. `alone`: the
 * sender of some messages makes no call until they have arrived. */
#include "mpi_test.h"

#define EDGE 64 /* bytes on both sides of a buffer, and how far it is off a page */
#define FLYING 6
#define THREADS 4

static const size_t sizes[] = {8192,
                               8193,
                               16384,
                               32767,
                               65535,
                               65536,
                               65537,
                               70001,
                               131072,
                               262147,
                               1048576,
                               1048577,
                               3000000,
                               (5 << 20),
                               (16 << 20) - 4096,
                               (16 << 20) + 1,
                               (33 << 20) + 12345};
#define COUNT (sizeof(sizes) / sizeof(sizes[0]))

static unsigned char byte_of(size_t at, uint64_t what)
{
    return (unsigned char)((at * 2654435761u + what) >> 7);
}

struct buffer {
    unsigned char *all, *data;
    size_t n;
};

static struct buffer take(size_t n, size_t off)
{
    struct buffer b = {malloc(n + 2 * EDGE), NULL, n};
    CHECK(b.all != NULL);
    b.data = b.all + 1 + off % (EDGE - 1);
    memset(b.all, 0xa5, n + 2 * EDGE);
    return b;
}

static void fill(const struct buffer *b, uint64_t what)
{
    for (size_t i = 0; i < b->n; i++) {
        b->data[i] = byte_of(i, what);
    }
}

/* The first n bytes are the message `what`, and nothing else was touched. */
static void check(const struct buffer *b, size_t n, uint64_t what)
{
    for (size_t i = 0; i < n; i++) {
        if (b->data[i] != byte_of(i, what)) {
            fprintf(stderr, "byte %zu of %zu\n", i, n);
            CHECK_EQ(b->data[i], byte_of(i, what));
        }
    }
    const unsigned char *end = b->all + b->n + 2 * EDGE;
    for (const unsigned char *p = b->all; p < end; p = p + 1 == b->data ? b->data + n : p + 1) {
        CHECK_EQ(*p, 0xa5);
    }
}

/* Several at once, in order of their tags or not. */
static void flight(uint64_t *rnd, int tag, MPI_Comm comm)
{
    struct buffer b[FLYING];
    MPI_Request r[FLYING];
    size_t n[FLYING];
    uint64_t what = test_random(rnd);
    int forth = (int)(test_random(rnd) % 2), backwards = (int)(test_random(rnd) % 2);
    int any = (int)(test_random(rnd) % 2), sync = (int)(test_random(rnd) % 2);
    for (int i = 0; i < FLYING; i++) {
        n[i] = sizes[test_random(rnd) % (COUNT - (FLYING > 4 ? 3 : 0))];
    }
    for (int k = 0; k < FLYING; k++) {
        int i = backwards && me == forth ? FLYING - 1 - k : k;
        b[i] = take(n[i], (size_t)(what + (uint64_t)i));
        if (me == forth) {
            MPI_Irecv(b[i].data, (int)n[i], MPI_BYTE, any ? MPI_ANY_SOURCE : !me, tag + i, comm, &r[i]);
            continue;
        }
        fill(&b[i], what + (uint64_t)i);
        if (sync) {
            MPI_Issend(b[i].data, (int)n[i], MPI_BYTE, !me, tag + i, comm, &r[i]);
        } else {
            MPI_Isend(b[i].data, (int)n[i], MPI_BYTE, !me, tag + i, comm, &r[i]);
        }
    }
    MPI_Waitall(FLYING, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < FLYING; i++) {
        if (me == forth) {
            check(&b[i], n[i], what + (uint64_t)i);
        }
        free(b[i].all);
    }
}

/* Each to the other, the larger ones too. */
static void exchange(uint64_t *rnd)
{
    size_t n = sizes[test_random(rnd) % COUNT], m = sizes[test_random(rnd) % COUNT];
    struct buffer out = take(me == 0 ? n : m, 1), in = take(me == 0 ? m : n, 7);
    fill(&out, (uint64_t)me);
    MPI_Sendrecv(out.data, (int)out.n, MPI_BYTE, !me, 1, in.data, (int)in.n, MPI_BYTE, !me, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(&in, in.n, (uint64_t)!me);
    free(out.all);
    free(in.all);
}

/* Unexpected, taken by a matched probe into a buffer that may be too short. */
static void probed(uint64_t *rnd)
{
    size_t n = sizes[test_random(rnd) % COUNT], room = test_random(rnd) % 2 ? n : n - n / 3;
    if (me == 0) {
        struct buffer out = take(n, 3);
        fill(&out, 5);
        MPI_Send(out.data, (int)n, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
        free(out.all);
        return;
    }
    struct buffer in = take(n, 11);
    MPI_Message message;
    MPI_Status st;
    int class, got;
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &st);
    MPI_Get_count(&st, MPI_BYTE, &got);
    CHECK_EQ(got, n);
    MPI_Error_class(MPI_Mrecv(in.data, (int)room, MPI_BYTE, &message, &st), &class);
    CHECK_EQ(class, room < n ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    check(&in, room, 5);
    free(in.all);
}

/* Every second block of `each` bytes, on one side or both. */
static void layouts(uint64_t *rnd)
{
    enum { BLOCKS = 300 };
    int each = 1 + (int)(test_random(rnd) % 2000), sparse = 1 + (int)(test_random(rnd) % 3);
    size_t n = (size_t)each * BLOCKS;
    MPI_Datatype type;
    MPI_Type_vector(BLOCKS, each, 2 * each, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    int mine = (sparse >> me) & 1;
    struct buffer b = take(mine ? 2 * n : n, 5);
    for (size_t i = 0; me == 0 && i < n; i++) {
        b.data[mine ? i / (size_t)each * (size_t)each * 2 + i % (size_t)each : i] = byte_of(i, 9);
    }
    if (me == 0) {
        MPI_Send(b.data, mine ? 1 : (int)n, mine ? type : MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    } else {
        MPI_Recv(b.data, mine ? 1 : (int)n, mine ? type : MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (size_t i = 0; i < n; i++) {
            CHECK_EQ(b.data[mine ? i / (size_t)each * (size_t)each * 2 + i % (size_t)each : i],
                     byte_of(i, 9));
        }
    }
    MPI_Type_free(&type);
    free(b.all);
}

static MPI_Comm threads_comm;
static uint64_t threads_seed;

static void *by_thread(void *arg)
{
    uint64_t rnd = threads_seed + (uint64_t)(intptr_t)arg;
    flight(&rnd, 100 * (1 + (int)(intptr_t)arg), threads_comm);
    return NULL;
}

/* The sender looks at a word that the receiver sets when all has arrived, and calls nothing. */
static void alone(uint64_t *rnd, MPI_Win win)
{
    size_t n = sizes[test_random(rnd) % COUNT];
    MPI_Aint len;
    int unit;
    volatile int *arrived;
    MPI_Win_shared_query(win, 0, &len, &unit, (void *)&arrived);
    struct buffer b = take(n, 9);
    MPI_Request r;
    if (me == 0) {
        *arrived = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        fill(&b, 77);
        MPI_Isend(b.data, (int)n, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &r);
        while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) == 0) {
            sched_yield();
        }
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(b.data, (int)n, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(&b, n, 77);
        __atomic_store_n(arrived, 1, __ATOMIC_RELEASE);
    }
    free(b.all);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    MPI_Win win = MPI_WIN_NULL;
    int *word;
    test_start(2);
    CHECK_EQ(size, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &threads_comm);
    uint64_t rnd = test_seed();
    if (argc > 2) {
        MPI_Win_allocate_shared(me == 0 ? 64 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &word, &win);
    }
    for (int i = 0; i < rounds; i++) {
        flight(&rnd, 10, MPI_COMM_WORLD);
        exchange(&rnd);
        probed(&rnd);
        layouts(&rnd);
        if (i % 4 == 0) {
            threads_seed = test_random(&rnd);
            test_threads(THREADS, by_thread);
        }
        if (win != MPI_WIN_NULL) {
            alone(&rnd, win);
        }
    }
    if (win != MPI_WIN_NULL) {
        MPI_Win_free(&win);
    }
    MPI_Comm_free(&threads_comm);
    MPI_Finalize();
    return 0;
}
