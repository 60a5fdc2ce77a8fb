/* No thread keeps another one out of the library while it waits, whatever the granularity (HOTLANE_CS).
 *
 *   crossed    on both ranks some threads receive what others send, synchronously
 *   windows    a thread waits in MPI_Win_lock, flush or unlock, and what it waits for comes after another
 *              thread's receive
 *   callbacks  functions of the user's that the library calls make calls themselves
 *
 *   cs_cross THREADS ROUNDS    on one rank, by messages to itself and without windows, or on two */
#include "mpi_test.h"

static int threads, rounds;
static MPI_Comm comms[64];

/* ---- Crossed: Balaji et al., figure 1 ---- */

static void *cross(void *number)
{
    int t = (int)(intptr_t)number, pair = t / 2, other = size > 1 ? 1 - me : 0;
    /* One thread of a pair sends on rank 0 and receives on rank 1. A thread alone does both in turns. */
    bool sends = (t + me) % 2 == 0;
    for (int i = 0; i < rounds; i++) {
        int got = -1;
        if (sends) {
            MPI_Ssend(&i, 1, MPI_INT, other, pair, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&got, 1, MPI_INT, other, pair, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQ(got, i);
        }
        sends = threads == 1 ? !sends : sends;
    }
    return NULL;
}

/* The same without blocking calls' own ends. */
static void *cross_later(void *number)
{
    int t = (int)(intptr_t)number, other = size > 1 ? 1 - me : 0;
    for (int i = 0; i < rounds; i++) {
        int got = -1, flag = 0;
        MPI_Request r[2];
        MPI_Issend(&i, 1, MPI_INT, other, 100 + t, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(&got, 1, MPI_INT, other, 100 + t, MPI_COMM_WORLD, &r[1]);
        if (i % 2 == 0) {
            MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        }
        while (i % 2 != 0 && !flag) {
            MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
        }
        CHECK_EQ(got, i);
    }
    return NULL;
}

/* ---- Windows ---- */

static MPI_Win win;
static pthread_barrier_t gate;

/* Rank 1 holds its own lock until rank 0's other thread has received. */
static void *lock_and_wait(void *unused)
{
    int value = 7;
    for (int i = 0; i < rounds; i++) {
        pthread_barrier_wait(&gate);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
        MPI_Win_unlock(1, win);
        pthread_barrier_wait(&gate);
    }
    return unused;
}

static void *receive_meanwhile(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        int got;
        MPI_Recv(&got, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* the lock is held now */
        pthread_barrier_wait(&gate);
        for (int k = 0; k < i % 50; k++) {
            sched_yield(); /* the other thread may be waiting already, or not yet */
        }
        MPI_Recv(&got, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(got, i);
        pthread_barrier_wait(&gate);
        MPI_Ssend(&got, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    }
    return unused;
}

static void hold(void)
{
    for (int i = 0; i < rounds; i++) {
        int got;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Ssend(&i, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        MPI_Win_unlock(1, win);
        MPI_Recv(&got, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void windows(void)
{
    int *base;
    pthread_t first, second;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (me == 0) {
        pthread_barrier_init(&gate, NULL, 2);
        pthread_create(&first, NULL, lock_and_wait, NULL);
        pthread_create(&second, NULL, receive_meanwhile, NULL);
        pthread_join(first, NULL);
        pthread_join(second, NULL);
    } else {
        hold();
    }
    MPI_Win_free(&win);
}

/* ---- Callbacks ---- */

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int bytes, rank;
    MPI_Type_size(*type, &bytes);
    CHECK_EQ(bytes, sizeof(int));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK_EQ(rank, me);
    for (int i = 0; i < *n; i++) {
        ((int *)inout)[i] += ((int *)in)[i];
    }
}

/* Attributes may be copied by functions that communicate, while others wait in the library. */
static int copy(MPI_Comm comm, int key, void *extra, void *value, void *copied, int *flag)
{
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(sum, size);
    *(void **)copied = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    int mine = me, got = -1;
    MPI_Sendrecv(&mine, 1, MPI_INT, (me + 1) % size, 5, &got, 1, MPI_INT, (me + size - 1) % size, 5, comm,
                 MPI_STATUS_IGNORE);
    CHECK_EQ(got, (me + size - 1) % size);
    return MPI_SUCCESS;
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    int class, one = 1, sum = 0;
    MPI_Error_class(*code, &class);
    CHECK_EQ(class, MPI_ERR_RANK);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, *comm);
    CHECK_EQ(sum, size);
}

static int key;
static MPI_Op op;
static MPI_Errhandler handler;

static void *call_back(void *number)
{
    MPI_Comm mine = comms[(intptr_t)number], made;
    for (int i = 0; i < 1 + rounds / 20; i++) {
        int one = 1, sum = 0;
        MPI_Request r;
        MPI_Comm_set_attr(mine, key, &key);
        MPI_Comm_dup(mine, &made);
        MPI_Comm_set_errhandler(made, handler);
        CHECK_EQ(MPI_Send(NULL, 0, MPI_BYTE, size, 1, made) == MPI_SUCCESS, 0);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, made);
        CHECK_EQ(sum, size);
        MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, op, made, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        CHECK_EQ(sum, size * size);
        MPI_Comm_free(&made);
        MPI_Comm_delete_attr(mine, key);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : 2;
    rounds = argc > 2 ? atoi(argv[2]) : 200;
    test_start(1);
    for (int t = 0; t < threads; t++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    }
    MPI_Comm_create_keyval(copy, forget, &key, NULL);
    MPI_Op_create(add, 1, &op);
    MPI_Comm_create_errhandler(on_error, &handler);
    if (size > 1 || threads % 2 == 0) { /* to itself, one thread would wait for itself */
        test_threads(threads, cross);
    }
    test_threads(threads, cross_later);
    if (size > 1) {
        windows();
    }
    test_threads(threads, call_back);
    MPI_Op_free(&op);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free_keyval(&key);
    for (int t = 0; t < threads; t++) {
        MPI_Comm_free(&comms[t]);
    }
    MPI_Finalize();
    return 0;
}
