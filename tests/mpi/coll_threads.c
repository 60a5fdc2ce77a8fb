/* Threads with a communicator each: blocking, nonblocking and persistent collectives side by side, all of
 * them carried on by whoever polls. usage: coll_threads THREADS ROUNDS */
#include "mpi_test.h"

enum { MOST_THREADS = 32, MOST_RANKS = 16, LONG = 3000 };
static MPI_Comm comms[MOST_THREADS];
static int rounds;

/* A thread's data; what rank r of thread t has in round i is 1000 r + 10 t + i. */
struct work {
    int t;
    MPI_Request again[2];
    int to[MOST_RANKS], from[MOST_RANKS];
    int one, sum;
    int in[LONG], out[LONG];
};

static int value(int rank, int t, int i)
{
    return 1000 * rank + 10 * t + i;
}

static int sum(int t, int i)
{
    return 1000 * (size * (size - 1) / 2) + size * (10 * t + i);
}

static void check_round(struct work *w, int i)
{
    MPI_Comm comm = comms[w->t];
    MPI_Request r[4];
    int root = i % size, lone = value(me, w->t, i), all = 0;

    w->one = lone;
    for (int k = 0; k < size; k++) {
        w->to[k] = value(me, w->t, i) + k;
    }
    for (int k = 0; k < LONG; k++) {
        w->in[k] = lone + k;
    }
    MPI_Startall(2, w->again);
    MPI_Ibarrier(comm, &r[0]);
    MPI_Iallreduce(w->in, w->out, LONG, MPI_INT, MPI_SUM, comm, &r[1]);
    MPI_Allreduce(&lone, &all, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(all, sum(w->t, i));
    r[2] = w->again[0];
    r[3] = w->again[1];
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    CHECK_EQ(w->sum, sum(w->t, i));
    for (int k = 0; k < size; k++) {
        CHECK_EQ(w->from[k], value(k, w->t, i) + me);
    }
    for (int k = 0; k < LONG; k++) {
        CHECK_EQ(w->out[k], sum(w->t, i) + size * k);
    }
    lone = me == root ? w->sum : -1;
    MPI_Bcast(&lone, 1, MPI_INT, root, comm);
    CHECK_EQ(lone, w->sum);
}

static void *thread(void *arg)
{
    static struct work works[MOST_THREADS];
    struct work *w = &works[(intptr_t)arg];
    MPI_Comm comm = comms[(intptr_t)arg];

    w->t = (int)(intptr_t)arg;
    MPI_Alltoall_init(w->to, 1, MPI_INT, w->from, 1, MPI_INT, comm, MPI_INFO_NULL, &w->again[0]);
    MPI_Allreduce_init(&w->one, &w->sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &w->again[1]);
    for (int i = 0; i < rounds; i++) {
        check_round(w, i);
    }
    MPI_Request_free(&w->again[0]);
    MPI_Request_free(&w->again[1]);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 2;

    rounds = argc > 2 ? atoi(argv[2]) : 100;
    test_start(1);
    CHECK(size <= MOST_RANKS && threads <= MOST_THREADS);
    for (int i = 0; i < threads; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    test_threads(threads, thread);
    for (int i = 0; i < threads; i++) {
        MPI_Comm_free(&comms[i]);
    }
    MPI_Finalize();
    return 0;
}
