/* A thread is in a call while another one calls MPI_Finalize; left.py reads what is said.
 *
 * usage: left SCENE: recv, wait, probe, barrier, lock, fence: the rank ends with an error that names the call;
 * new: the call begins in this moment; two: two calls; kept: the error is returned, and the second
 * MPI_Finalize is right; helped: a callback of MPI_Finalize ends the wait, which is right */
#include "mpi_test.h"

static int word, begun;
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
    __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
    ((void (*)(void))(uintptr_t)run)();
    return NULL;
}

static void *run_recv(void *unused)
{
    in_recv();
    return NULL;
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
    } scenes[] = {{"recv", in_recv},       {"wait", in_wait}, {"probe", in_probe},
                  {"barrier", in_barrier}, {"lock", in_lock}, {"two", in_probe},
                  {"new", in_recv},        {"kept", in_recv}, {"helped", in_recv}};
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
        pthread_create(&second, NULL, run_recv, NULL);
    }
    while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    if (strcmp(name, "new") != 0) {
        usleep(100000);
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
