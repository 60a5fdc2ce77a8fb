/* A library that the program has opened by dlopen, used and closed again: nothing of it that is gone may be
 * called when threads end, processes fork, and the program exits. Not linked with it.
 *
 * usage: closed LIBRARY bare|mpi|thread|shmem|left, the last of which leaves SHMEM to the exit */
#include <mpi.h>
#include <shmem.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(c) ((c) ? (void)0 : (fprintf(stderr, "%s:%d: wrong: %s\n", __FILE__, __LINE__, #c), _Exit(1)))

enum { ROUNDS = 6 };

struct use {
    const char *file;
    pthread_barrier_t used, closed;
};

static void (*find(void *so, const char *name))(void)
{
    void *at = dlsym(so, name);
    void (*function)(void);
    if (at == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        _Exit(1);
    }
    memcpy(&function, &at, sizeof function);
    return function;
}

/* The library's function of this name, with its type. */
#define FIND(so, name) ((__typeof__(&(name)))find(so, #name))

static void *open_it(const char *file, int round)
{
    void *so = dlopen(file, RTLD_NOW | (round % 2 != 0 ? RTLD_GLOBAL : RTLD_LOCAL));
    if (so == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        _Exit(1);
    }
    return so;
}

static void ask_version(void *so)
{
    int version = 0, minor;
    __typeof__(&MPI_Get_version) get_version = FIND(so, MPI_Get_version);
    CHECK(get_version(&version, &minor) == 0 && version >= 4 /* 0: of an empty function */);
}

static void send_around(void *so)
{
    __typeof__(&MPI_Comm_rank) rank_of = FIND(so, MPI_Comm_rank);
    __typeof__(&MPI_Comm_size) size_of = FIND(so, MPI_Comm_size);
    __typeof__(&MPI_Sendrecv) sendrecv = FIND(so, MPI_Sendrecv);
    int me, n, got = -1;
    CHECK(rank_of(MPI_COMM_WORLD, &me) == 0 && size_of(MPI_COMM_WORLD, &n) == 0);
    int from = (me + n - 1) % n;
    CHECK(sendrecv(&me, 1, MPI_INT, (me + 1) % n, 1, &got, 1, MPI_INT, from, 1, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE) == 0);
    CHECK(got == from);
}

/* Uses MPI, and ends after the library was closed: values of thread keys are destroyed then. */
static void *use_and_outlive(void *arg)
{
    struct use *u = arg;
    void *so = open_it(u->file, 0);
    send_around(so);
    dlclose(so);
    pthread_barrier_wait(&u->used);
    pthread_barrier_wait(&u->closed);
    return NULL;
}

static void use_mpi(void *so, struct use *u)
{
    pthread_t thread;
    int level;
    __typeof__(&MPI_Init_thread) init = FIND(so, MPI_Init_thread);
    CHECK(init(NULL, NULL, MPI_THREAD_MULTIPLE, &level) == 0 && level == MPI_THREAD_MULTIPLE);
    CHECK(pthread_create(&thread, NULL, use_and_outlive, u) == 0);
    pthread_barrier_wait(&u->used);
    send_around(so);
    CHECK(FIND(so, MPI_Finalize)() == 0);
    CHECK(dlclose(so) == 0);
    pthread_barrier_wait(&u->closed);
    pthread_join(thread, NULL);
}

static void use_shmem(void *so, bool finalize)
{
    FIND(so, shmem_init)();
    long *at = FIND(so, shmem_malloc)(sizeof *at);
    *at = 0;
    FIND(so, shmem_barrier_all)();
    FIND(so, shmem_long_atomic_add)(at, 1, 0);
    FIND(so, shmem_barrier_all)();
    int me = FIND(so, shmem_my_pe)();
    CHECK(*at == (me == 0 ? FIND(so, shmem_n_pes)() : 0));
    if (finalize) {
        FIND(so, shmem_finalize)();
    }
    CHECK(dlclose(so) == 0);
}

static void *use_from_thread(void *arg)
{
    struct use *u = arg;
    use_mpi(open_it(u->file, 0), u);
    return NULL;
}

/* No signal is the library's, then or now. */
static void look_at_signals(void)
{
    for (int i = 1; i < NSIG; i++) {
        struct sigaction now;
        CHECK(sigaction(i, NULL, &now) != 0 || now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN);
    }
}

static void fork_and_exit(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* Once started and ended, MPI stays so in this process. */
static void open_again(const char *file, bool mpi)
{
    for (int round = 1; round < ROUNDS; round++) {
        void *so = open_it(file, round);
        int ended = 0;
        if (mpi) {
            CHECK(FIND(so, MPI_Finalized)(&ended) == 0 && ended != 0);
        }
        CHECK(dlclose(so) == 0);
    }
}

static void ask_often(const char *file)
{
    for (int round = 0; round < ROUNDS; round++) {
        void *so = open_it(file, round);
        ask_version(so);
        CHECK(dlclose(so) == 0);
    }
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    struct use u = {.file = argv[1]};
    bool bare = strcmp(argv[2], "bare") == 0, mpi = strcmp(argv[2], "mpi") == 0;
    pthread_t thread;
    pthread_barrier_init(&u.used, NULL, 2);
    pthread_barrier_init(&u.closed, NULL, 2);
    if (bare) {
        ask_often(argv[1]);
    } else if (mpi) {
        use_mpi(open_it(argv[1], 0), &u);
    } else if (strcmp(argv[2], "thread") == 0) {
        CHECK(pthread_create(&thread, NULL, use_from_thread, &u) == 0);
        pthread_join(thread, NULL);
        mpi = true;
    } else {
        use_shmem(open_it(argv[1], 0), strcmp(argv[2], "shmem") == 0);
    }
    look_at_signals();
    if (!bare) {
        open_again(argv[1], mpi);
    }
    fork_and_exit();
    return 0;
}
