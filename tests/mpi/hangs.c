/* usage: hangs SCENE: ranks that wait for each other for ever; hangs.py reads what the watchdog says.
 *
 * In most scenes rank 0 waits in the call of the scene's name, and rank 1 in MPI_Recv from rank 0. */
#include "mpi_test.h"

#include <signal.h>
#include <sys/prctl.h>

#define LARGE (4 << 20)

static char *large;
static int number, other;
static MPI_Win win;

static void receive(int from, int tag)
{
    MPI_Recv(&number, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- Both ranks do the same ---- */

static void both_recv(void)
{
    receive(other, 5);
}

static void both_ssend(void)
{
    MPI_Ssend(&number, 1, MPI_INT, other, 6, MPI_COMM_WORLD);
}

static void both_send(void)
{
    MPI_Send(large, LARGE, MPI_BYTE, other, 7, MPI_COMM_WORLD);
}

static void both_probe(void)
{
    MPI_Probe(other, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void both_start(void)
{
    MPI_Group world, peer;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &peer);
    MPI_Win_start(peer, 0, win);
}

static void both_wait(void)
{
    MPI_Group world, peer;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &peer);
    MPI_Win_post(peer, 0, win);
    MPI_Win_wait(win);
}

static void both_precv(void)
{
    MPI_Request r;
    MPI_Precv_init(large, 2, LARGE / 2, MPI_BYTE, other, 17, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* Two partitions, of which the first `ready` are ready. */
static void send_parts(int to, int ready)
{
    MPI_Request r;
    MPI_Psend_init(large, 2, LARGE / 2, MPI_BYTE, to, 18, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    MPI_Pready_range(0, ready - 1, r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void both_psend(void)
{
    send_parts(other, 2);
}

/* Each holds its own lock and wants the other's. */
static void both_lock(void)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win);
}

/* ---- Rank 0's part; rank 1 receives ---- */

static void mprobe(void)
{
    MPI_Message m;
    MPI_Mprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
}

static void wait_one(void)
{
    MPI_Request r;
    MPI_Irecv(&number, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void make_two(MPI_Request r[2])
{
    MPI_Irecv(&number, 1, MPI_INT, 1, 10, MPI_COMM_WORLD, &r[0]);
    MPI_Issend(&other, 1, MPI_INT, 1, 11, MPI_COMM_WORLD, &r[1]);
}

static void wait_all(void)
{
    MPI_Request r[2];
    make_two(r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void wait_any(void)
{
    MPI_Request r[2];
    int which;
    make_two(r);
    MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
}

static void wait_some(void)
{
    MPI_Request r[2];
    int n, which[2];
    make_two(r);
    MPI_Waitsome(2, r, &n, which, MPI_STATUSES_IGNORE);
}

static void psend_half(void)
{
    send_parts(1, 1);
}

static void any_source(void)
{
    receive(MPI_ANY_SOURCE, 12);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void named(void)
{
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_name(c, "the ring");
    if (me == 0) {
        MPI_Barrier(c);
    } else {
        receive(0, 1);
    }
}

/* A call that shares memory already. */
static void barrier_later(void)
{
    for (int i = 0; i < 8; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (me == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        receive(0, 1);
    }
}

static void ibarrier(void)
{
    MPI_Request r;
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void bcast(void)
{
    MPI_Bcast(&number, 1, MPI_INT, 1, MPI_COMM_WORLD);
}

/* Each in another call of the communicator; so far none of them has shared memory. */
static void unlike(void)
{
    MPI_Comm c;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_name(c, "the ring");
    if (me == 0) {
        MPI_Bcast(&number, 1, MPI_INT, 1, c);
    } else {
        MPI_Barrier(c);
    }
}

static void reduce(void)
{
    MPI_Reduce(&other, &number, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void allreduce(void)
{
    MPI_Allreduce(&other, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void gather(void)
{
    int all[2];
    MPI_Gather(&other, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void alltoall(void)
{
    int from[2] = {1, 2}, to[2];
    MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD);
}

static void exscan_as_last(void)
{
    MPI_Reduce_scatter_block(&(int[2]){1, 2}, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void comm_split(void)
{
    MPI_Comm made;
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &made);
}

static void win_make(void)
{
    MPI_Win made;
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &large, &made);
}

static void fence(void)
{
    MPI_Win_fence(0, win);
}

static void win_free(void)
{
    MPI_Win_free(&win);
}

static void finalize(void)
{
    MPI_Finalize();
}

/* ---- Each rank its own ---- */

/* What rank 1 does not receive fills its memory, so rank 0 keeps the rest. */
static void throttle(void)
{
    if (me == 1) {
        receive(0, 1);
    }
    for (;;) {
        MPI_Send(large, 4096, MPI_BYTE, 1, 13, MPI_COMM_WORLD);
    }
}

/* Transfers of seconds: into bytes with gaps, which go to their places one by one. */
static void moving(void)
{
    enum { MANY = 1 << 28 };
    MPI_Datatype pair, apart;

    MPI_Type_vector(2, 1, 2, MPI_BYTE, &pair);
    MPI_Type_contiguous(MANY / 2, pair, &apart);
    MPI_Type_commit(&apart);
    large = calloc(2, MANY);
    for (;;) {
        if (me == 0) {
            MPI_Send(large, MANY, MPI_BYTE, 1, 19, MPI_COMM_WORLD);
        } else {
            MPI_Recv(large, 1, apart, 0, 19, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

static void circle(void)
{
    receive((me + 1) % size, 14);
}

static void *also_receive(void *arg)
{
    receive(other, *(int *)arg);
    return NULL;
}

static void threads(void)
{
    pthread_t t;
    int tag = 15;
    pthread_create(&t, NULL, also_receive, &tag);
    receive(other, 16);
}

/* The target is stopped, so nothing that needs its receive thread ends. Its child lets it go on later. */
static void flush(void)
{
    MPI_Win_lock_all(0, win);
    MPI_Put(&number, 1, MPI_INT, other, 0, 1, MPI_INT, win);
    MPI_Win_flush(other, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) {
        raise(SIGSTOP);
    }
    usleep(200000);
    MPI_Put(&number, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
    number++; /* a frame that ends with the call would be gone */
}

static const struct scene {
    const char *name;
    void (*here)(void);
    bool both; /* rank 1 does the same */
} scenes[] = {
    {"both_recv", both_recv, true},
    {"both_ssend", both_ssend, true},
    {"both_send", both_send, true},
    {"both_probe", both_probe, true},
    {"both_start", both_start, true},
    {"both_wait", both_wait, true},
    {"both_lock", both_lock, true},
    {"both_precv", both_precv, true},
    {"both_psend", both_psend, true},
    {"throttle", throttle, true},
    {"moving", moving, true},
    {"circle", circle, true},
    {"ring", circle, true},
    {"threads", threads, true},
    {"named", named, true},
    {"barrier_later", barrier_later, true},
    {"unlike", unlike, true},
    {"flush", flush, true},
    {"mprobe", mprobe, false},
    {"wait", wait_one, false},
    {"waitall", wait_all, false},
    {"waitany", wait_any, false},
    {"waitsome", wait_some, false},
    {"psend_half", psend_half, false},
    {"any_source", any_source, false},
    {"barrier", barrier, false},
    {"ibarrier", ibarrier, false},
    {"bcast", bcast, false},
    {"reduce", reduce, false},
    {"allreduce", allreduce, false},
    {"gather", gather, false},
    {"alltoall", alltoall, false},
    {"reduce_scatter", exscan_as_last, false},
    {"comm_split", comm_split, false},
    {"win_make", win_make, false},
    {"fence", fence, false},
    {"win_free", win_free, false},
    {"finalize", finalize, false},
};

static void make_window(void)
{
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &large, &win);
    MPI_Win_set_name(win, "the window");
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const struct scene *s = scenes, *end = scenes + sizeof scenes / sizeof *scenes;
    bool late = strcmp(name, "init") == 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (s != end && strcmp(s->name, name) != 0) {
        s++;
    }
    if (s == end && !late) {
        return 2;
    }
    if (late && getenv("PMI_RANK") != NULL && strcmp(getenv("PMI_RANK"), "1") == 0) {
        sleep(600);
    }
    test_start(2);
    other = 1 - me;
    large = calloc(1, LARGE);
    if (strstr("both_start both_wait both_lock flush fence win_free", name) != NULL) {
        make_window();
    }
    if (s->both || me == 0) {
        s->here();
    } else {
        receive(0, 1);
    }
    pause();
    return 0;
}
