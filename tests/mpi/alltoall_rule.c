/* What mailboxes without their rule would get wrong: counts of nothing in one direction, other collectives in
 * between, several operations under way, persistent ones started in another order on each rank, communicators
 * freed while a peer still reads; by threads, each on a communicator of its own. usage: alltoall_rule THREADS
 * ROUNDS */
#include "mpi_test.h"

enum { MOST_THREADS = 32, MOST_RANKS = 16, OUTSTANDING = 3, PERSISTENT = 3, LONG = 3000 };
static const int lengths[] = {0, 1, 7, 264, 265, LONG}; /* uint32_t: around what fits into a mailbox */
enum { LENGTHS = sizeof lengths / sizeof *lengths };
static int rounds;
static MPI_Comm comms[MOST_THREADS];

/* Element k of what `from` sends to `to` in operation `op` of thread t. */
static uint32_t value(int t, int op, int from, int to, int k)
{
    return (uint32_t)(op * 1000003 + t * 65537 + from * 4099 + to * 257 + k);
}

struct data {
    int counts[MOST_RANKS], displs[MOST_RANKS], to[MOST_RANKS], to_at[MOST_RANKS];
    uint32_t *out, *in;
};

static void make(struct data *d)
{
    d->out = malloc((size_t)size * LONG * 4);
    d->in = malloc((size_t)size * LONG * 4);
}

static void drop(struct data *d)
{
    free(d->out);
    free(d->in);
}

/* How much goes from one rank to another: `way` 0 all the same, 1 only up, 2 to the last rank, 3 any. */
static int amount(int way, int op, int from, int to)
{
    int n = lengths[op % LENGTHS];

    switch (way) {
    case 0:
        return n;
    case 1:
        return from < to ? n : 0;
    case 2:
        return to == size - 1 ? n : 0;
    default:
        return lengths[(op + 3 * from + 5 * to) % LENGTHS];
    }
}

static void fill(struct data *d, int t, int way, int op)
{
    for (int i = 0; i < size; i++) {
        d->counts[i] = amount(way, op, i, me);
        d->to[i] = amount(way, op, me, i);
        d->displs[i] = d->to_at[i] = i * LONG;
        for (int k = 0; k < d->to[i]; k++) {
            d->out[i * LONG + k] = value(t, op, me, i, k);
        }
        for (int k = 0; k < LONG; k++) {
            d->in[i * LONG + k] = 0xffffffffu;
        }
    }
}

static void verify(const struct data *d, int t, int op)
{
    for (int i = 0; i < size; i++) {
        for (int k = 0; k < d->counts[i]; k++) {
            CHECK_EQ(d->in[i * LONG + k], value(t, op, i, me, k));
        }
        if (d->counts[i] < LONG) {
            CHECK_EQ(d->in[i * LONG + d->counts[i]], 0xffffffffu);
        }
    }
}

/* One rank is late, another one each time. */
static void dawdle(int op)
{
    if (me == op % size) {
        for (int i = 0; i < 20; i++) {
            sched_yield();
        }
    }
}

static void blocking(int t, int i)
{
    struct data d;
    int word = me == i % size ? i : -1;

    make(&d);
    for (int way = 0; way < 4; way++) {
        fill(&d, t, way, i);
        dawdle(i + way);
        MPI_Alltoallv(d.out, d.to, d.to_at, MPI_UINT32_T, d.in, d.counts, d.displs, MPI_UINT32_T, comms[t]);
        verify(&d, t, i);
        if (way == 0) {
            MPI_Bcast(&word, 1, MPI_INT, i % size, comms[t]);
            CHECK_EQ(word, i);
        }
    }
    drop(&d);
}

static void begin(struct data *d, int t, MPI_Request *r)
{
    MPI_Ialltoallv(d->out, d->to, d->to_at, MPI_UINT32_T, d->in, d->counts, d->displs, MPI_UINT32_T, comms[t],
                   r);
}

/* Several under way, which end in the reverse order on some ranks; a blocking one beside them. */
static void nonblocking(int t, int i)
{
    struct data d[OUTSTANDING + 1];
    MPI_Request r[OUTSTANDING];

    for (int k = 0; k <= OUTSTANDING; k++) {
        make(&d[k]);
        fill(&d[k], t, (i + k) % 4, i + k);
    }
    for (int k = 0; k < OUTSTANDING; k++) {
        begin(&d[k], t, &r[k]);
    }
    dawdle(i);
    struct data *last = &d[OUTSTANDING];
    MPI_Alltoallv(last->out, last->to, last->to_at, MPI_UINT32_T, last->in, last->counts, last->displs,
                  MPI_UINT32_T, comms[t]);
    verify(last, t, i + OUTSTANDING);
    for (int k = 0; k < OUTSTANDING; k++) {
        int which = me % 2 == 0 ? OUTSTANDING - 1 - k : k;
        MPI_Wait(&r[which], MPI_STATUS_IGNORE);
        verify(&d[which], t, i + which);
    }
    for (int k = 0; k <= OUTSTANDING; k++) {
        drop(&d[k]);
    }
}

/* Started in another order on each rank, again and again, with an ordinary one in between. */
static void persistent(int t, int i)
{
    struct data d[PERSISTENT];
    MPI_Request r[PERSISTENT];
    int sum = 0, one[MOST_RANKS], all[MOST_RANKS];

    for (int k = 0; k < PERSISTENT; k++) {
        make(&d[k]);
        fill(&d[k], t, 3, i + k);
        MPI_Alltoallv_init(d[k].out, d[k].to, d[k].to_at, MPI_UINT32_T, d[k].in, d[k].counts, d[k].displs,
                           MPI_UINT32_T, comms[t], MPI_INFO_NULL, &r[k]);
    }
    for (int again = 0; again < 3; again++) {
        for (int k = 0; k < PERSISTENT; k++) {
            fill(&d[k], t, 3, i + k);
        }
        for (int k = 0; k < PERSISTENT; k++) {
            MPI_Start(&r[(k + me + again) % PERSISTENT]);
        }
        for (int k = 0; k < size; k++) {
            one[k] = me;
        }
        MPI_Alltoall(one, 1, MPI_INT, all, 1, MPI_INT, comms[t]);
        for (int k = 0; k < size; k++) {
            sum += all[k] == k;
        }
        MPI_Waitall(PERSISTENT, r, MPI_STATUSES_IGNORE);
        for (int k = 0; k < PERSISTENT; k++) {
            verify(&d[k], t, i + k);
        }
    }
    CHECK_EQ(sum, 3 * size);
    for (int k = 0; k < PERSISTENT; k++) {
        MPI_Request_free(&r[k]);
        drop(&d[k]);
    }
}

/* A communicator lives for one operation: the last word of a peer may be read after it has freed its memory.
 */
static void short_lived(int t, int i)
{
    struct data d;
    MPI_Comm comm;

    make(&d);
    fill(&d, t, i % 4, i);
    MPI_Comm_dup(comms[t], &comm);
    MPI_Alltoallv(d.out, d.to, d.to_at, MPI_UINT32_T, d.in, d.counts, d.displs, MPI_UINT32_T, comm);
    MPI_Comm_free(&comm);
    verify(&d, t, i);
    drop(&d);
}

/* Every second element on the way out, and back in place: large ones are not one block. */
static void with_holes(int t, int i)
{
    int n = i % 2 ? 200 : 1000;
    uint32_t *buf = calloc((size_t)size * (size_t)n * 2, 4);
    MPI_Datatype vector, half;

    MPI_Type_vector(n, 1, 2, MPI_UINT32_T, &vector);
    MPI_Type_create_resized(vector, 0, 8 * n, &half);
    MPI_Type_free(&vector);
    MPI_Type_commit(&half);
    for (int to = 0; to < size; to++) {
        for (int k = 0; k < n; k++) {
            buf[2 * (to * n + k)] = value(t, i, me, to, k);
        }
    }
    dawdle(i);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buf, 1, half, comms[t]);
    for (int from = 0; from < size; from++) {
        for (int k = 0; k < n; k++) {
            CHECK_EQ(buf[2 * (from * n + k)], value(t, i, from, me, k));
            CHECK_EQ(buf[2 * (from * n + k) + 1], 0);
        }
    }
    MPI_Type_free(&half);
    free(buf);
}

/* Larger than any ring, two under way: as one block, then with holes. */
static void huge(int t)
{
    enum { N = 90000 };
    MPI_Datatype vector, pairs;
    MPI_Request r[2];
    uint32_t *out = malloc((size_t)size * N * 4), *in[2];

    MPI_Type_vector(N / 3, 2, 3, MPI_UINT32_T, &vector);
    MPI_Type_create_resized(vector, 0, N * 4, &pairs);
    MPI_Type_free(&vector);
    MPI_Type_commit(&pairs);
    for (int i = 0; i < size * N; i++) {
        out[i] = value(t, 1, me, i / N, i % N);
    }
    in[0] = calloc((size_t)size * N, 4);
    in[1] = calloc((size_t)size * N, 4);
    MPI_Ialltoall(out, N, MPI_UINT32_T, in[0], N, MPI_UINT32_T, comms[t], &r[0]);
    MPI_Ialltoall(out, 1, pairs, in[1], 1, pairs, comms[t], &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < size * N; i++) {
        CHECK_EQ(in[0][i], value(t, 1, i / N, me, i % N));
        CHECK_EQ(in[1][i], i % 3 == 2 ? 0 : value(t, 1, i / N, me, i % N));
    }
    MPI_Type_free(&pairs);
    free(out);
    free(in[0]);
    free(in[1]);
}

/* A receiver that makes less room than is sent is told; the next call is right again. */
static void truncated(int t)
{
    int n = lengths[LENGTHS - 1];

    for (int large = 0; large < 2; large++) {
        struct data d;
        make(&d);
        fill(&d, t, 0, large ? LENGTHS - 1 : 2);
        n = d.counts[0];
        for (int i = 0; i < size; i++) {
            d.counts[i] = d.to[i] = i == me ? 0 : n;
        }
        d.counts[(me + 1) % size] = n - 1;
        int err = MPI_Alltoallv(d.out, d.to, d.to_at, MPI_UINT32_T, d.in, d.counts, d.displs, MPI_UINT32_T,
                                comms[t]),
            class = 0;
        MPI_Error_class(err, &class);
        CHECK_EQ(class, size > 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        drop(&d);
        blocking(t, large);
    }
}

static void *run(void *thread)
{
    int t = (int)(intptr_t)thread;

    for (int i = 0; i < rounds; i++) {
        nonblocking(t, i); /* the first one before there are mailboxes */
        blocking(t, i);
        persistent(t, i);
        short_lived(t, i);
        with_holes(t, i);
    }
    if (t < 2) {
        huge(t);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    test_start(1);
    int threads = argc > 1 ? atoi(argv[1]) : 1;
    rounds = argc > 2 ? atoi(argv[2]) : 20;
    for (int t = 0; t < threads; t++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    }
    test_threads(threads, run);
    MPI_Comm_set_errhandler(comms[0], MPI_ERRORS_RETURN);
    truncated(0);
    for (int t = 0; t < threads; t++) {
        MPI_Comm_free(&comms[t]);
    }
    MPI_Finalize();
    return 0;
}
