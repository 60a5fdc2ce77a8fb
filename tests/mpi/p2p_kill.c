/* usage: p2p_kill SCENE [cut], or no argument for the list: rank 1 of at least three dies in the middle of an
 * operation of the others, under mpiexec --keep-going or to see the job end. With "cut" it says so and its
 * process number instead, so that somebody cuts its host off and kills it when the others are through.
 *
 * The operation must end on all of them, with an error that names rank 1 if any, on at least one ("told"),
 * and the survivors go on with each other. */
#include "mpi_test.h"

#include <signal.h>

#define VICTIM 1
#define LARGE (16 << 20)
#define MANY 3000

static char *large;
static int number, told;
static bool cut;

static void die(int milliseconds)
{
    usleep((useconds_t)milliseconds * 1000);
    if (cut) {
        printf("cut %d\n", (int)getpid());
        fflush(stdout);
        pause();
    }
    kill(getpid(), SIGKILL);
}

/* An operation's end: fine, or the error of a dead rank, by name. */
static void judge(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int len, class;
    if (code == MPI_SUCCESS) {
        return;
    }
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &len);
    bool named = strstr(text, "rank 1") != NULL || strstr(text, "target 1") != NULL;
    if ((class != MPI_ERR_PROC_ABORTED && class != MPI_ERR_IN_STATUS) || !named) {
        fprintf(stderr, "rank %d: wrong error: %s\n", me, text);
        return;
    }
    if (!told && cut) {
        printf("rank %d hears\n", me);
        fflush(stdout);
    }
    told = 1;
}

static void wait_for(MPI_Request *req)
{
    judge(MPI_Wait(req, MPI_STATUS_IGNORE));
    CHECK(*req == MPI_REQUEST_NULL);
}

/* ---- What rank 0 does about rank 1, and what rank 1 does before it dies ---- */

static void ssend(void)
{
    judge(MPI_Ssend(&number, 1, MPI_INT, VICTIM, 0, MPI_COMM_WORLD));
}

static void send_large(void)
{
    judge(MPI_Send(large, LARGE, MPI_BYTE, VICTIM, 0, MPI_COMM_WORLD));
}

static void send_many(void)
{
    MPI_Request *req = malloc(MANY * sizeof(*req));
    for (int i = 0; i < MANY; i++) {
        judge(MPI_Isend(large, 5000, MPI_BYTE, VICTIM, 0, MPI_COMM_WORLD, &req[i]));
    }
    judge(MPI_Waitall(MANY, req, MPI_STATUSES_IGNORE));
    free(req);
}

static void send_on(void)
{
    while (!told) {
        judge(MPI_Send(large, 5000, MPI_BYTE, VICTIM, 0, MPI_COMM_WORLD));
    }
}

static void receive(void)
{
    judge(MPI_Recv(&number, 1, MPI_INT, VICTIM, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void receive_large(void)
{
    usleep(60000);
    judge(MPI_Recv(large, LARGE, MPI_BYTE, VICTIM, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void receive_both(void)
{
    while (!told) {
        judge(MPI_Recv(large, LARGE, MPI_BYTE, VICTIM, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

static void receive_any(void)
{
    judge(MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void receive_on(void)
{
    while (!told) {
        receive();
    }
}

static void sendrecv(void)
{
    judge(MPI_Sendrecv(large, LARGE, MPI_BYTE, VICTIM, 0, &number, 1, MPI_INT, VICTIM, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
}

static void receive_again(void)
{
    MPI_Request req;
    MPI_Recv_init(&number, 1, MPI_INT, VICTIM, 0, MPI_COMM_WORLD, &req);
    MPI_Start(&req);
    judge(MPI_Wait(&req, MPI_STATUS_IGNORE));
    MPI_Request_free(&req);
}

static void wait_any(void)
{
    MPI_Request req[2];
    int at = -1, other;
    MPI_Irecv(&other, 1, MPI_INT, 2, 7, MPI_COMM_WORLD, &req[0]);
    MPI_Irecv(&number, 1, MPI_INT, VICTIM, 0, MPI_COMM_WORLD, &req[1]);
    judge(MPI_Waitany(2, req, &at, MPI_STATUS_IGNORE));
    CHECK_EQ(at, 1);
    MPI_Cancel(&req[0]);
    MPI_Wait(&req[0], MPI_STATUS_IGNORE);
}

static void test_loop(void)
{
    MPI_Request req;
    MPI_Irecv(&number, 1, MPI_INT, VICTIM, 0, MPI_COMM_WORLD, &req);
    for (int flag = 0; !flag;) {
        judge(MPI_Test(&req, &flag, MPI_STATUS_IGNORE));
    }
}

static void probe(void)
{
    judge(MPI_Probe(VICTIM, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void probe_any(void)
{
    judge(MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void mprobe(void)
{
    MPI_Message message;
    judge(MPI_Mprobe(VICTIM, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
}

static void mprobe_any(void)
{
    MPI_Message message;
    judge(MPI_Mprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
}

static void iprobe_loop(void)
{
    for (int flag = 0; !told && !flag;) {
        judge(MPI_Iprobe(VICTIM, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    }
}

static void just_die(void)
{
    die(100);
}

/* In the middle of a large message, coming or going. */
static void die_fetching(void)
{
    MPI_Request req;
    int flag = 0;
    MPI_Irecv(large, LARGE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &req);
    for (int i = 0; i < 20 && !flag; i++) {
        MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
    }
    die(30);
}

static void die_sending(void)
{
    MPI_Request req;
    int flag = 0;
    MPI_Isend(large, LARGE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &req);
    double end = MPI_Wtime() + 0.062; /* about when the receiver begins */
    while (!flag && MPI_Wtime() < end) {
        MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
    }
    die(0);
}

/* While it copies together with the receiver, as far as that can be met (p2p_faults.py meets it). */
static void die_copying(void)
{
    MPI_Request req;
    int flag = 0;
    for (int i = 0; i < 5; i++) {
        MPI_Send(large, LARGE, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Isend(large, LARGE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &req);
    for (int i = 0; i < 3 && !flag; i++) {
        MPI_Test(&req, &flag, MPI_STATUS_IGNORE);
    }
    die(0);
}

/* Its message is announced, and can no longer be fetched. */
static void die_announcing(void)
{
    MPI_Request req;
    MPI_Isend(large, LARGE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &req);
    die(20);
}

/* Between two of its messages, or in the middle of one (p2p_faults.py). */
static void die_between(void)
{
    for (int i = 0; i < 300; i++) {
        MPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    die(0);
}

/* ---- What all survivors do ---- */

static void barrier(void)
{
    judge(MPI_Barrier(MPI_COMM_WORLD));
}

static void bcast(void)
{
    judge(MPI_Bcast(large, 1000, MPI_BYTE, VICTIM, MPI_COMM_WORLD));
}

static void bcast_large(void)
{
    judge(MPI_Bcast(large, LARGE, MPI_BYTE, VICTIM, MPI_COMM_WORLD));
}

static void reduce(void)
{
    int sum;
    judge(MPI_Reduce(&me, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
}

static void allreduce(void)
{
    int sum;
    judge(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

static void allreduce_large(void)
{
    judge(MPI_Allreduce(MPI_IN_PLACE, large, LARGE / 4, MPI_INT, MPI_BOR, MPI_COMM_WORLD));
}

static void gather(void)
{
    int all[64];
    judge(MPI_Gather(&me, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD));
}

static void scatter(void)
{
    int all[64] = {0}, mine;
    judge(MPI_Scatter(all, 1, MPI_INT, &mine, 1, MPI_INT, VICTIM, MPI_COMM_WORLD));
}

static void allgather(void)
{
    int all[64];
    judge(MPI_Allgather(&me, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
}

static void alltoall(void)
{
    static int all[2][64];
    judge(MPI_Alltoall(all[0], 1, MPI_INT, all[1], 1, MPI_INT, MPI_COMM_WORLD));
}

/* By mailboxes that are there already. */
static void alltoall_again(void)
{
    static int all[2][64];
    CHECK_EQ(MPI_Alltoall(all[0], 1, MPI_INT, all[1], 1, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
    judge(MPI_Alltoall(all[0], 1, MPI_INT, all[1], 1, MPI_INT, MPI_COMM_WORLD));
}

static void die_after_alltoall(void)
{
    static int all[2][64];
    MPI_Alltoall(all[0], 1, MPI_INT, all[1], 1, MPI_INT, MPI_COMM_WORLD);
    die(100);
}

static void alltoall_large(void)
{
    char *in = malloc(LARGE);
    judge(MPI_Alltoall(large, LARGE / size, MPI_BYTE, in, LARGE / size, MPI_BYTE, MPI_COMM_WORLD));
    free(in);
}

static void scan(void)
{
    int sum;
    judge(MPI_Scan(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

static void ibarrier(void)
{
    MPI_Request req;
    judge(MPI_Ibarrier(MPI_COMM_WORLD, &req));
    wait_for(&req);
}

static void iallreduce(void)
{
    MPI_Request req;
    int sum;
    judge(MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &req));
    wait_for(&req);
}

static void ialltoall(void)
{
    static int all[2][64];
    MPI_Request req;
    judge(MPI_Ialltoall(all[0], 1, MPI_INT, all[1], 1, MPI_INT, MPI_COMM_WORLD, &req));
    wait_for(&req);
}

static void comm_dup(void)
{
    MPI_Comm comm;
    judge(MPI_Comm_dup(MPI_COMM_WORLD, &comm)); /* whoever needs nothing from rank 1 has one */
    if (!told) {
        judge(MPI_Barrier(comm));
    }
}

static void comm_split(void)
{
    MPI_Comm comm;
    judge(MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comm));
}

static void make(int flavor)
{
    static char memory[64];
    char *base;
    MPI_Win win;
    judge(flavor == MPI_WIN_FLAVOR_CREATE ? MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win)
          : flavor == MPI_WIN_FLAVOR_ALLOCATE
              ? MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win)
          : flavor == MPI_WIN_FLAVOR_DYNAMIC
              ? MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win)
              : MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
}

static void win_create(void)
{
    make(MPI_WIN_FLAVOR_CREATE);
}

static void win_allocate(void)
{
    make(MPI_WIN_FLAVOR_ALLOCATE);
}

static void win_dynamic(void)
{
    make(MPI_WIN_FLAVOR_DYNAMIC);
}

static void win_shared(void)
{
    make(MPI_WIN_FLAVOR_SHARED);
}

/* Odd ranks against even ones: rank 2 hears of rank 1 from rank 0. */
static MPI_Comm open_inter(void)
{
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - me % 2, 3, &inter);
    MPI_Comm_free(&half);
    return inter;
}

static void inter_barrier(void)
{
    judge(MPI_Barrier(open_inter()));
}

static void inter_allreduce(void)
{
    int sum;
    judge(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, open_inter()));
}

static void die_apart(void)
{
    open_inter();
    die(100);
}

/* One-sided with a request: its error is the window's business. */
static void hear_wrongly(MPI_Comm *comm, int *code, ...)
{
    fprintf(stderr, "rank %d: the wrong handler hears\n", me);
}

static MPI_Win open_window(int *pid)
{
    char *base;
    MPI_Win win;
    *pid = (int)getpid();
    MPI_Bcast(pid, 1, MPI_INT, VICTIM, MPI_COMM_WORLD);
    MPI_Win_allocate(LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    MPI_Get(large, 1, MPI_BYTE, VICTIM, 0, 1, MPI_BYTE, win); /* the way is made */
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

static void rget(void)
{
    MPI_Errhandler wrong;
    MPI_Request req;
    int pid;
    MPI_Win win = open_window(&pid);
    MPI_Comm_create_errhandler(hear_wrongly, &wrong);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, wrong);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, wrong);
    usleep(50000); /* it has stopped */
    while (!told) {
        int code = MPI_Rget(large, LARGE, MPI_BYTE, VICTIM, 0, LARGE, MPI_BYTE, win, &req);
        judge(code);
        if (!cut) {
            kill(pid, SIGKILL);
        }
        if (code == MPI_SUCCESS) {
            judge(MPI_Wait(&req, MPI_STATUS_IGNORE));
        }
        if (!told) {
            judge(MPI_Win_flush(VICTIM, win)); /* of a node peer the memory is still there */
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static void die_stopped(void)
{
    int pid;
    open_window(&pid);
    if (cut) {
        die(0);
    }
    raise(SIGSTOP);
}

static const struct scene {
    const char *name;
    void (*survivor)(void), (*victim)(void);
    bool all;   /* what all survivors do; else rank 0 */
    bool maybe; /* may also have succeeded */
} scenes[] = {
#define ONE(name, victim)                                                                                    \
    {                                                                                                        \
#name, name, victim, false, false                                                                    \
    }
#define ALL(name)                                                                                            \
    {                                                                                                        \
#name, name, just_die, true, false                                                                   \
    }
    ONE(ssend, just_die),
    ONE(send_large, just_die),
    {"send_pulled", send_large, die_fetching, false, true},
    {"send_many", send_many, just_die, false, true}, /* what has left is not asked for */
    ONE(send_on, just_die),
    ONE(receive, just_die),
    {"receive_pulled", receive_large, die_sending, false, true},
    ONE(receive_large, die_announcing),
    ONE(receive_both, die_copying),
    ONE(receive_any, just_die),
    ONE(receive_on, die_between),
    ONE(sendrecv, just_die),
    ONE(receive_again, just_die),
    ONE(wait_any, just_die),
    ONE(test_loop, just_die),
    ONE(probe, just_die),
    ONE(probe_any, just_die),
    ONE(mprobe, just_die),
    ONE(mprobe_any, just_die),
    ONE(iprobe_loop, just_die),
    ALL(barrier),
    ALL(bcast),
    ALL(bcast_large),
    ALL(reduce),
    ALL(allreduce),
    ALL(allreduce_large),
    ALL(gather),
    ALL(scatter),
    ALL(allgather),
    ALL(alltoall),
    {"alltoall_again", alltoall_again, die_after_alltoall, true, false},
    ALL(alltoall_large),
    ALL(scan),
    ALL(ibarrier),
    ALL(iallreduce),
    ALL(ialltoall),
    ALL(comm_dup),
    ALL(comm_split),
    ALL(win_create),
    ALL(win_allocate),
    ALL(win_dynamic),
    ALL(win_shared),
    {"inter_barrier", inter_barrier, die_apart, true, false},
    {"inter_allreduce", inter_allreduce, die_apart, true, false},
    {"rget", rget, die_stopped, true, false},
};

int main(int argc, char **argv)
{
    const struct scene *s = NULL;
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
        if (argc < 2) {
            puts(scenes[i].name);
        } else if (strcmp(argv[1], scenes[i].name) == 0) {
            s = &scenes[i];
        }
    }
    if (s == NULL) {
        return argc < 2 ? 0 : 1;
    }
    cut = argc > 2 && strcmp(argv[2], "cut") == 0;
    test_start(3);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    large = calloc(1, LARGE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == VICTIM) {
        s->victim();
    }
    if (me == 0 || s->all) {
        s->survivor();
    }
    /* The others go on. */
    for (int r = 2; me == 0 && r < size; r++) {
        CHECK_EQ(MPI_Send(&r, 1, MPI_INT, r, 8, MPI_COMM_WORLD), MPI_SUCCESS);
        CHECK_EQ(MPI_Recv(&number, 1, MPI_INT, r, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
    if (me > VICTIM) {
        CHECK_EQ(MPI_Recv(&number, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
        CHECK_EQ(number, me);
        CHECK_EQ(MPI_Send(&number, 1, MPI_INT, 0, 9, MPI_COMM_WORLD), MPI_SUCCESS);
    }
    printf("rank %d is through\n", me);
    fflush(stdout);
    MPI_Finalize(); /* waits for all whom the launcher takes for alive */
    printf("rank %d went on%s\n", me, told ? ", told" : s->maybe ? ", perhaps told" : "");
    return 0;
}
