/* Threads with small stacks: no call takes more than the library says (lib/base/thread.h).
 *
 * Every step runs on a stack that is painted, of which what was touched is measured: near at most
 * HL_STACK_OWN, over the network that and what libfabric takes. Then threads whose stacks are as small as the
 * documents allow run all steps, and threads of 24 KiB those that move data. */
#include "shmem_test.h"

#include "../../lib/base/thread.h"
#include "../sanitized.h"

#include <mpi.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM ((size_t)512 << 10)
#define PAINT 0xa5
#define MANY 20000 /* doubles: more than a message holds */
#define TIMES 8    /* so that collectives go their warm ways */

static MPI_Win win;
static double *window, *symmetric, from[MANY], into[MANY];
static MPI_Datatype holes;
static int peer;

/* ---- What is called ---- */

static void do_nothing(void)
{
}

static void put(void)
{
    MPI_Put(from, 1, MPI_DOUBLE, peer, 0, 1, MPI_DOUBLE, win);
    MPI_Win_flush(peer, win);
    MPI_Put(from, MANY, MPI_DOUBLE, peer, 0, MANY, MPI_DOUBLE, win);
    MPI_Put(from, 1, holes, peer, 0, 1, holes, win);
    MPI_Win_flush_local_all(win);
    MPI_Win_flush_all(win);
}

static void get(void)
{
    MPI_Request r;
    MPI_Get(into, 1, MPI_DOUBLE, peer, 0, 1, MPI_DOUBLE, win);
    MPI_Win_flush(peer, win);
    MPI_Get(into, 1, holes, peer, 0, 1, holes, win);
    MPI_Rget(into, MANY, MPI_DOUBLE, peer, 0, MANY, MPI_DOUBLE, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_flush_all(win);
}

static void accumulate(void)
{
    long long one = 1, got, zero = 0;
    MPI_Accumulate(from, 1, MPI_DOUBLE, peer, 0, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Accumulate(from, MANY, MPI_DOUBLE, peer, 0, MANY, MPI_DOUBLE, MPI_MAX, win);
    MPI_Accumulate(from, 1, holes, peer, 0, 1, holes, MPI_SUM, win);
    MPI_Get_accumulate(from, 9, MPI_DOUBLE, into, 9, MPI_DOUBLE, peer, 0, 9, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(peer, win);
    MPI_Fetch_and_op(&one, &got, MPI_LONG_LONG, peer, MANY, MPI_SUM, win);
    MPI_Win_flush(peer, win);
    MPI_Compare_and_swap(&one, &zero, &got, MPI_LONG_LONG, peer, MANY, win);
    MPI_Win_flush(peer, win);
}

static void send(int count, MPI_Datatype type)
{
    MPI_Request r[2];
    int before = (me + n_pes - 1) % n_pes;
    MPI_Irecv(into, count, type, before, 3, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(from, count, type, peer, 3, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void messages(void)
{
    MPI_Status s;
    int before = (me + n_pes - 1) % n_pes;
    send(1, MPI_DOUBLE);
    send(MANY, MPI_DOUBLE);
    send(1, holes);
    MPI_Sendrecv(from, 2, MPI_DOUBLE, peer, 4, into, 2, MPI_DOUBLE, before, 4, MPI_COMM_WORLD, &s);
    MPI_Send(from, 1, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD);
    MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &s);
    MPI_Recv(into, 1, MPI_DOUBLE, s.MPI_SOURCE, 5, MPI_COMM_WORLD, &s);
}

static void collect(int n)
{
    for (int i = 0; i < TIMES; i++) {
        int root = i % n_pes;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(into, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
        MPI_Allreduce(from, into, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Reduce(from, into, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
        MPI_Gather(from, n, MPI_DOUBLE, into, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
        MPI_Scatter(from, n, MPI_DOUBLE, into, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
        MPI_Alltoall(from, n, MPI_DOUBLE, into, n, MPI_DOUBLE, MPI_COMM_WORLD);
        MPI_Allgather(from, n, MPI_DOUBLE, into, n, MPI_DOUBLE, MPI_COMM_WORLD);
        MPI_Exscan(from, into, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void small_collectives(void)
{
    collect(1);
}

static void large_collectives(void)
{
    collect(MANY / n_pes);
}

static void shmem_data(void)
{
    shmem_double_p(symmetric, 1, peer);
    shmem_double_put(symmetric, from, MANY, peer);
    shmem_quiet();
    shmem_double_get(into, symmetric, MANY, peer);
    (void)shmem_double_g(symmetric, peer);
    (void)shmem_long_atomic_fetch_add((long *)(void *)symmetric, 1, peer);
    shmem_double_iput(symmetric, from, 2, 2, 9, peer);
    shmem_fence();
}

static void shmem_collectives(void)
{
    for (int i = 0; i < TIMES; i++) {
        shmem_barrier_all();
        shmem_double_sum_reduce(SHMEM_TEAM_WORLD, symmetric + MANY, symmetric, 100);
        shmem_double_broadcast(SHMEM_TEAM_WORLD, symmetric + MANY, symmetric, 100, i % n_pes);
        shmem_double_fcollect(SHMEM_TEAM_WORLD, symmetric + MANY, symmetric, 10);
    }
}

static void shmem_heap(void)
{
    void *at = shmem_malloc(100);
    CHECK(at != NULL);
    shmem_free(at);
}

static void communicators(void)
{
    MPI_Comm dup, half;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(dup, me % 2, me, &half);
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
}

static void windows(void)
{
    MPI_Win made;
    void *base;
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &made);
    MPI_Win_fence(0, made);
    MPI_Put(from, 1, MPI_DOUBLE, peer, 0, 1, MPI_DOUBLE, made);
    MPI_Win_fence(0, made);
    MPI_Win_free(&made);
    MPI_Win_create(into, sizeof into, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, made);
    MPI_Get(from, 1, MPI_DOUBLE, peer, 0, 1, MPI_DOUBLE, made);
    MPI_Win_unlock(peer, made);
    MPI_Win_free(&made);
}

static void a_file(void)
{
    char name[] = "small_stack.XXXXXX";
    MPI_File f;
    int fd = me == 0 ? mkstemp(name) : -1;
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK_EQ(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f),
             0);
    MPI_File_write_at_all(f, me * 8, from, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
    if (fd >= 0) {
        close(fd);
    }
}

static void errors(void)
{
    CHECK(MPI_Put(from, 1, MPI_DOUBLE, n_pes + 7, 0, 1, MPI_DOUBLE, win) != MPI_SUCCESS);
    CHECK(MPI_Send(from, 1, MPI_DOUBLE, n_pes + 7, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Bcast(from, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
}

static const struct step {
    const char *name;
    void (*run)(void);
    bool data; /* also on a thread of 24 KiB over the network */
} steps[] = {
    {"put", put, true},
    {"get", get, true},
    {"accumulate", accumulate, true},
    {"messages", messages, true},
    {"small collectives", small_collectives, true},
    {"large collectives", large_collectives, true},
    {"SHMEM's data", shmem_data, true},
    {"SHMEM's collectives", shmem_collectives, true},
    {"SHMEM's heap", shmem_heap, true},
    {"communicators", communicators, false},
    {"windows", windows, false},
    {"a file", a_file, false},
    {"errors", errors, true},
};
#define STEPS (sizeof steps / sizeof steps[0])

/* ---- Measuring ---- */

static void (*step)(void);

static void *run_step(void *unused)
{
    step();
    return NULL;
}

/* What a thread that calls `fn` touches of its stack. */
static size_t touched_by(unsigned char *stack, void (*fn)(void))
{
    pthread_attr_t attr;
    pthread_t thread;
    size_t at = 0;

    memset(stack, PAINT, ROOM);
    step = fn;
    pthread_attr_init(&attr);
    CHECK_EQ(pthread_attr_setstack(&attr, stack, ROOM), 0);
    CHECK_EQ(pthread_create(&thread, &attr, run_step, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
    while (at < ROOM && stack[at] == PAINT) {
        at++;
    }
    return ROOM - at;
}

static void measure(size_t bound)
{
    unsigned char *stack = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stack != MAP_FAILED);
    size_t base = touched_by(stack, do_nothing);
    for (size_t i = 0; i < STEPS; i++) {
        size_t most = 0;
        for (int k = 0; k < 3; k++) {
            size_t took = touched_by(stack, steps[i].run) - base;
            most = took > most ? took : most;
        }
        if (me == 0 || most > bound) {
            printf("PE %d: %s: %zu bytes of stack (bar %zu)\n", me, steps[i].name, most, bound);
        }
        CHECK(most <= bound);
    }
    munmap(stack, ROOM);
}

/* ---- Small stacks ---- */

static bool data_only;

static void *run_all(void *unused)
{
    for (size_t i = 0; i < STEPS; i++) {
        if (steps[i].data || !data_only) {
            steps[i].run();
        }
    }
    return NULL;
}

static void live_on(size_t bytes, bool data)
{
    pthread_attr_t attr;
    pthread_t thread;
    long least = sysconf(_SC_THREAD_STACK_MIN);

    bytes = least > (long)bytes ? (size_t)least : bytes;
    data_only = data;
    pthread_attr_init(&attr);
    CHECK_EQ(pthread_attr_setstacksize(&attr, bytes), 0);
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(pthread_create(&thread, &attr, run_all, NULL), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
    }
    pthread_attr_destroy(&attr);
}

int main(void)
{
    const char *near = getenv("HOTLANE_NEAR");
    bool net = (near != NULL && strcmp(near, "0") == 0) || getenv("HOTLANE_CLIQUES") != NULL;

    if (SANITIZED) {
        printf("sanitizers' frames are larger\n");
        return 77;
    }
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    test_start(2);
    peer = (me + 1) % n_pes;
    symmetric = test_zeroed((2 * MANY + 100) * sizeof *symmetric);
    MPI_Win_allocate((MANY + 1) * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window,
                     &win);
    MPI_Type_vector(50, 1, 3, MPI_DOUBLE, &holes);
    MPI_Type_commit(&holes);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    measure(net ? HL_STACK_OWN + HL_STACK_FABRIC : HL_STACK_OWN);
    live_on((size_t)24 << 10, net);
    live_on((size_t)(net ? 32 : 16) << 10, false);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Type_free(&holes);
    shmem_finalize();
    MPI_Finalize();
    return 0;
}
