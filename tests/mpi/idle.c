/* Who waits in a blocking call for a rank that computes sleeps, and leaves the core to others: rank 0 waits
 * in each kind of call. */
#include "mpi_test.h"

#include "../idle.h"
#include <hotlane.h>
#include <signal.h>

enum { FLUSHES = 10, FLUSHED_US = 30000, FLUSHED_NAPS = 10 }; /* a nap each millisecond would be 30 */

static MPI_Win win = MPI_WIN_NULL;
static pid_t peer_pid;
static int wait_ms;
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

/* Epochs by groups: rank 0 is the target, then the origin. */
static MPI_Group peers(void)
{
    MPI_Group all, other;
    int rank = 1 - me;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &rank, &other);
    MPI_Group_free(&all);
    return other;
}

static void expose(void)
{
    MPI_Group g = peers();

    MPI_Win_post(g, 0, win);
    MPI_Win_wait(win);
    MPI_Group_free(&g);
}

static void access_it(void)
{
    MPI_Group g = peers();

    MPI_Win_start(g, 0, win);
    MPI_Win_complete(win);
    MPI_Group_free(&g);
}

/* The target is stopped, and only its receive thread could answer. */
static void *go_on(void *unused)
{
    usleep((useconds_t)wait_ms * 1000);
    kill(peer_pid, SIGCONT);
    return NULL;
}

static void flush(void)
{
    MPI_Put(&number, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
}

static void stop(void)
{
    raise(SIGSTOP);
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
    {"fence", fence, fence, true},
    {"lock", lock, unlock, true},
    {"wait of a window", expose, access_it, true},
    {"start", access_it, expose, true},
    {"flush", flush, stop, false},
};

/* Rank 0: what one wait takes. */
static struct idle wait_once(const struct scene *s)
{
    pthread_t other;
    bool stops = s->waiter == flush;
    if (stops) {
        usleep(100000);
        pthread_create(&other, NULL, go_on, NULL);
    }
    /* The receive thread looks after what a flush waits for, every millisecond; it is not counted there. */
    struct idle i = idle_begin(stops ? RUSAGE_THREAD : RUSAGE_SELF);
    s->waiter();
    i = idle_took(&i);
    if (stops) {
        pthread_join(other, NULL);
    }
    return i;
}

/* The same at all ranks: whether it was too much. */
static int play_once(const struct scene *s, bool last)
{
    int much = 0;
    if (s->waiter == lock && me == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) {
        usleep(s->waiter == flush ? 1000 : (useconds_t)wait_ms * 1000);
        s->peer();
    } else {
        if (s->waiter == flush) {
            MPI_Win_lock_all(0, win);
        }
        struct idle i = wait_once(s);
        if (s->waiter == flush) {
            MPI_Win_unlock_all(win);
        }
        much = idle_is_much(&i, s->rings);
        if (much && last) {
            printf(IDLE_FORMAT, IDLE_VALUES(s->name, i));
            fflush(stdout);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    MPI_Bcast(&much, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return much;
}

static void play(const struct scene *s)
{
    for (int turn = 1; turn <= IDLE_TURNS; turn++) {
        wait_ms = IDLE_MS * turn;
        if (!play_once(s, turn == IDLE_TURNS)) {
            return;
        }
    }
}

/* Stopping tells nothing where data are stored without the target. */
static bool has_network(void)
{
    long long lanes;
    CHECK_EQ(hotlane_counter("lanes", &lanes), 0);
    return lanes > 0;
}

static long long play_all(void)
{
    long long before, after;
    void *memory;

    CHECK_EQ(hotlane_counter("late_wakes", &before), 0);
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (scenes[i].waiter == fence && win == MPI_WIN_NULL) {
            MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
        }
        if (scenes[i].waiter != flush || has_network()) {
            play(&scenes[i]);
        }
    }
    CHECK_EQ(hotlane_counter("late_wakes", &after), 0);
    return after - before;
}

/* Naps of the other threads while rank 0 computes behind its flushes, when nothing is under way any more. */
static long naps_behind_flushes(void)
{
    long naps = 0;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < FLUSHES; i++) {
        MPI_Put(&number, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Put(&number, 1, MPI_INT, 1, 4, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
        struct idle behind = idle_begin(RUSAGE_SELF);
        usleep(FLUSHED_US);
        behind = idle_took(&behind);
        naps += behind.all - behind.naps;
    }
    MPI_Win_unlock_all(win);
    return naps;
}

/* The receive thread has looked after the puts, and sleeps. */
static void play_flushes(void)
{
    int much = 1;
    for (int turn = 0; much && turn < IDLE_TURNS; turn++) {
        long naps = me == 0 ? naps_behind_flushes() : 0;
        much = naps > FLUSHES * FLUSHED_NAPS;
        if (much) {
            printf("%ld naps of the receive thread behind %d flushes\n", naps, FLUSHES);
        }
        MPI_Bcast(&much, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    CHECK_EQ(much, 0);
}

/* A ring may be on its way when a nap ends, and on a machine with other work for long: one that is missing is
 * missed each time. */
int main(void)
{
    int turns = 0;
    long long late, most;
    test_start(2);
    peer_pid = getpid();
    MPI_Bcast(&peer_pid, sizeof peer_pid, MPI_BYTE, 1, MPI_COMM_WORLD);
    alltoall();
    for (int i = 0; i < 6; i++) {
        MPI_Barrier(MPI_COMM_WORLD); /* what is made on the way is made */
    }
    do {
        late = play_all();
        MPI_Allreduce(&late, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    } while (most > 0 && ++turns < 4);
    CHECK_EQ(most, 0);
    play_flushes();
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
