/* A thread is in a call while another one calls MPI_Finalize; left.py reads what is said.
 *
 * usage: left SCENE: recv, wait, probe, barrier, lock, fence: the rank ends with an error that names the call;
 * new: the call begins in this moment; two: two calls; gone: one of two calls returns meanwhile; kept: the error is returned, and the second
 * MPI_Finalize is right; helped: a callback of MPI_Finalize ends the wait, which is right */
#include "../process.h"
#include "mpi_test.h"

static int word, begun, n_callers;
static pid_t callers[2];
static MPI_Win win;

static void in_recv(void)
{
    MPI_Recv(&word, 1, MPI_INT, me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void in_wait(void)
{
    MPI_Request r;
    MPI_Irecv(&word, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void in_probe(void)
{
    MPI_Probe(me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void in_barrier(void)
{
    if (me == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The receive ends within a reduction of another thread, which answers nobody meanwhile and probes then. */
static int adding, received;

static void in_gone(void)
{
    if (me == 0) {
        in_recv();
        __atomic_store_n(&received, 1, __ATOMIC_RELEASE);
    }
}

static void await(const int *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) {
        usleep(1000);
    }
}

static void add_slowly(void *in, void *sum, int *n, MPI_Datatype *type)
{
    __atomic_store_n(&adding, 1, __ATOMIC_RELEASE);
    await(&received);
}

static void *reduce_and_probe(void *unused)
{
    MPI_Op slow;
    int one = 1, sum;
    MPI_Op_create(add_slowly, 1, &slow);
    usleep(300000 * (unsigned)me); /* the other rank waits by then */
    MPI_Reduce(&one, &sum, 1, MPI_INT, slow, 0, MPI_COMM_WORLD);
    if (me == 0) {
        MPI_Probe(0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return NULL;
}

static void *send_late(void *unused)
{
    await(&adding);
    usleep(500000);
    MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    return NULL;
}

/* The other rank holds the lock. */
static void in_lock(void)
{
    if (me == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    }
}

static void lock_window(void)
{
    MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (me == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void *call(void *run)
{
    callers[__atomic_fetch_add(&n_callers, 1, __ATOMIC_RELAXED)] = gettid();
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELEASE);
    ((void (*)(void))(uintptr_t)run)();
    return NULL;
}

/* Waits until the thread waits in its call, or is gone. */
static void await_sleep(pid_t thread)
{
    for (int slept = 0; slept < 10; usleep(10000)) {
        char state = thread_state(thread);
        slept += !state || state == 'S';
    }
}

static int send_word(MPI_Comm comm, int keyval, void *value, void *extra)
{
    MPI_Send(&word, 1, MPI_INT, me, 1, MPI_COMM_WORLD);
    return pthread_join(*(pthread_t *)value, NULL) == 0 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenes[] = {{"recv", in_recv},   {"wait", in_wait}, {"probe", in_probe}, {"barrier", in_barrier},
                  {"lock", in_lock},   {"two", in_probe}, {"new", in_recv},    {"kept", in_recv},
                  {"helped", in_recv}, {"gone", in_gone}};
    pthread_t t, second;
    const char *name = argc > 1 ? argv[1] : "";
    test_start(1);
    if (strcmp(name, "lock") == 0) {
        lock_window();
    }
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (strcmp(name, scenes[i].name) == 0) {
            pthread_create(&t, NULL, call, (void *)(uintptr_t)scenes[i].run);
        }
    }
    if (strcmp(name, "two") == 0) {
        pthread_create(&second, NULL, call, (void *)(uintptr_t)in_recv);
    }
    if (strcmp(name, "gone") == 0) {
        pthread_create(&second, NULL, reduce_and_probe, NULL);
        if (me == 0) {
            pthread_create(&second, NULL, send_late, NULL);
            await(&adding);
        }
    }
    int n = strcmp(name, "two") == 0 ? 2 : 1;
    while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < n) {
        sched_yield();
    }
    for (int i = 0; i < n && strcmp(name, "new") != 0; i++) {
        await_sleep(callers[i]);
    }
    if (strcmp(name, "kept") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        CHECK_EQ(MPI_Finalize(), MPI_ERR_OTHER);
        MPI_Send(&word, 1, MPI_INT, me, 1, MPI_COMM_WORLD);
        pthread_join(t, NULL);
    }
    if (strcmp(name, "helped") == 0) {
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, send_word, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, &t);
    }
    MPI_Finalize();
    if (strcmp(name, "kept") != 0 && strcmp(name, "helped") != 0) {
        pthread_join(t, NULL);
    }
    return 0;
}
