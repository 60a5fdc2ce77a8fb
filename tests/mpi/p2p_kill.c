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

/* A partition that will not come is told, and so is each start, not the first alone. */
static void await_lost(MPI_Request req, int partition)
{
    int flag = 0;
    for (told = 0; !told;) {
        judge(MPI_Parrived(req, partition, &flag));
        CHECK(!flag);
    }
    told = 0;
}

static void receive_parts(void)
{
    static int parts[4];
    MPI_Request req;
    MPI_Precv_init(parts, 4, 1, MPI_INT, VICTIM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &req);
    for (int i = 0; i < 2; i++) {
        judge(MPI_Start(&req));
        await_lost(req, 3);
        judge(MPI_Wait(&req, MPI_STATUS_IGNORE));
        CHECK(told);
    }
    MPI_Request_free(&req);
}

/* One partition has come. */
static void receive_part(void)
{
    static int parts[4];
    MPI_Request req;
    int flag = 0;
    MPI_Precv_init(parts, 4, 1, MPI_INT, VICTIM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &req);
    MPI_Start(&req);
    while (!flag) {
        CHECK_EQ(MPI_Parrived(req, 0, &flag), MPI_SUCCESS);
    }
    MPI_Send(NULL, 0, MPI_BYTE, VICTIM, 1, MPI_COMM_WORLD);
    await_lost(req, 1);
    CHECK_EQ(MPI_Parrived(req, 0, &flag), MPI_SUCCESS);
    CHECK(flag && parts[0] == 1);
    judge(MPI_Wait(&req, MPI_STATUS_IGNORE));
    CHECK(told);
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

/* One of its partitions has come. */
static void die_in_parts(void)
{
    static int parts[4] = {1, 2, 3, 4};
    MPI_Request req;
    MPI_Psend_init(parts, 4, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &req);
    MPI_Start(&req);
    MPI_Pready(0, req);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    die(0);
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

#include "p2p_kill_all.h"

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
    ONE(receive_parts, just_die),
    ONE(receive_part, die_in_parts),
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
