/* Who waits in a blocking call for a rank that computes sleeps, and leaves the core to others: rank 0 waits
 * in each kind of call. Naps are counted, which a busy machine makes only fewer; CPU time has a bound for
 * noise. */
#include "mpi_test.h"

#include <hotlane.h>
#include <sys/resource.h>

enum { WAIT_MS = 300 };

static MPI_Win win = MPI_WIN_NULL;
static int number, block[2][64];

static void receive(void)
{
    MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive_any(void)
{
    MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_any(void)
{
    MPI_Request r;
    int at;
    MPI_Irecv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &r);
    MPI_Waitany(1, &r, &at, MPI_STATUS_IGNORE);
}

static void probe(void)
{
    MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    receive();
}

static void mprobe(void)
{
    MPI_Message m;
    MPI_Mprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
    MPI_Mrecv(&number, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
}

static void send_one(void)
{
    MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

static void ssend(void)
{
    MPI_Ssend(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
}

static void receive_it(void)
{
    MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void ibarrier(void)
{
    MPI_Request r;
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void allreduce(void)
{
    MPI_Allreduce(&me, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(void)
{
    MPI_Alltoall(block[0], 1, MPI_INT, block[1], 1, MPI_INT, MPI_COMM_WORLD);
}

static void fence(void)
{
    MPI_Win_fence(0, win);
}

static void lock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Win_unlock(1, win);
}

static void unlock(void)
{
    MPI_Win_unlock(1, win);
}

static const struct scene {
    const char *name;
    void (*waiter)(void), (*peer)(void);
    bool rings; /* its end rings: naps grow long, but where lanes must be polled */
} scenes[] = {
    {"receive", receive, send_one, true},
    {"receive any", receive_any, send_one, true},
    {"wait any", wait_any, send_one, true},
    {"probe", probe, send_one, true},
    {"matched probe", mprobe, send_one, true},
    {"synchronous send", ssend, receive_it, true},
    {"barrier", barrier, barrier, true},
    {"ibarrier", ibarrier, ibarrier, true},
    {"allreduce", allreduce, allreduce, true},
    {"alltoall", alltoall, alltoall, true},
    {"fence", fence, fence, false},
    {"lock", lock, unlock, false},
};

static double cpu_s(const struct rusage *u)
{
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
           (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

/* Was rank 0 busy while it waited? Rank 1 does not know. */
static int play(const struct scene *s)
{
    struct rusage before, after;

    if (s->waiter == lock && me == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) {
        usleep(WAIT_MS * 1000);
        s->peer();
        return 0;
    }
    getrusage(RUSAGE_THREAD, &before);
    double since = MPI_Wtime();
    s->waiter();
    double took = MPI_Wtime() - since;
    getrusage(RUSAGE_THREAD, &after);
    long naps = after.ru_nvcsw - before.ru_nvcsw;
    double share = (cpu_s(&after) - cpu_s(&before)) / took;
    /* Nine short ones, then of 5 ms; else of 1 ms. */
    bool busy = naps > (s->rings ? 20 + took * 1e3 / 4 : 20 + took * 1e3 * 1.5) || share > 0.08;
    if (busy) {
        printf("%s: %ld naps and %.1f %% of a core in %.0f ms\n", s->name, naps, share * 100, took * 1e3);
        fflush(stdout);
    }
    return busy;
}

/* A virtual machine that stands still counts that as the time of who ran: who is busy is so each time. */
static void play_thrice(const struct scene *s)
{
    for (int tries = 0, busy = 1; busy; tries++) {
        CHECK(tries < 3);
        busy = play(s);
        MPI_Bcast(&busy, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static long long play_all(void)
{
    long long before, after;
    void *memory;

    CHECK_EQ(hotlane_counter("late_wakes", &before), 0);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (!scenes[i].rings && win == MPI_WIN_NULL) {
            MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        }
        play_thrice(&scenes[i]);
    }
    CHECK_EQ(hotlane_counter("late_wakes", &after), 0);
    return after - before;
}

/* A ring may be on its way when a nap ends, and on a machine with other work for long: one that is missing is
 * missed each time. */
int main(void)
{
    int turns = 0;
    long long late, most;
    test_start(2);
    alltoall();
    for (int i = 0; i < 6; i++) {
        MPI_Barrier(MPI_COMM_WORLD); /* what is made on the way is made */
    }
    do {
        late = play_all();
        MPI_Allreduce(&late, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    } while (most > 0 && ++turns < 4);
    CHECK_EQ(most, 0);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
