/* Processes that a rank starts while windows live: forked children get clear errors and disturb nobody,
 * system and popen work, programs that are started inherit no descriptor of ours. Then two threads fork side by
 * side: neither may keep the other, nor the traffic beside, from going on. Arguments: turns; "alone": one
 * thread forks only. */
#include "../sanitized.h"
#include "rma.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Of each of two threads that fork: what the slowest machine does in this time, many times over. */
#define LEAST_ROUNDS 10
#define MOST_SECONDS 60

/* What a child holds when it ends are no leaks, but the sanitizer cannot know. */
#ifdef __SANITIZE_ADDRESS__
#define COUNTS_LEAKS 1
#else
#define COUNTS_LEAKS 0
#endif

enum { ALLOCATED, SHARED, CREATED, DYNAMIC, WINDOWS };
static MPI_Win wins[WINDOWS];
static long *memory, statics[64], attached[64];
static int stop;  /* by __sync calls */
static int added; /* by the thread beside */
static int target;

/* In the child: what a call returned must be an error whose text says why. */
static bool refused(int rc, const char *call)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;
    if (rc == MPI_SUCCESS) {
        fprintf(stderr, "rank %d's child: %s succeeded\n", me, call);
        return false;
    }
    MPI_Error_string(rc, text, &len);
    if (strstr(text, "fork") == NULL) {
        fprintf(stderr, "rank %d's child: %s: %s\n", me, call, text);
        return false;
    }
    return true;
}

static int child(void)
{
    long value = 77;
    int failed = 0;
    void *p;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Request r;
    for (int k = 0; k < WINDOWS; k++) {
        failed += !refused(MPI_Put(&value, 1, MPI_LONG, target, 1, 1, MPI_LONG, wins[k]), "MPI_Put");
        failed += !refused(MPI_Get(&value, 1, MPI_LONG, target, 1, 1, MPI_LONG, wins[k]), "MPI_Get");
        failed += !refused(MPI_Accumulate(&value, 1, MPI_LONG, target, 1, 1, MPI_LONG, MPI_SUM, wins[k]),
                           "MPI_Accumulate");
        failed += !refused(MPI_Rput(&value, 1, MPI_LONG, target, 1, 1, MPI_LONG, wins[k], &r), "MPI_Rput");
        failed += !refused(MPI_Win_flush(target, wins[k]), "MPI_Win_flush");
        failed += !refused(MPI_Win_flush_all(wins[k]), "MPI_Win_flush_all");
        failed += !refused(MPI_Win_unlock_all(wins[k]), "MPI_Win_unlock_all");
        failed += !refused(MPI_Win_fence(0, wins[k]), "MPI_Win_fence");
    }
    win = wins[0];
    failed += !refused(MPI_Win_free(&win), "MPI_Win_free");
    failed += !refused(MPI_Win_attach(wins[DYNAMIC], &value, 8), "MPI_Win_attach");
    failed += !refused(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win), "MPI_Win_allocate");
    failed += !refused(MPI_Send(&value, 1, MPI_LONG, target, 0, MPI_COMM_WORLD), "MPI_Send");
    failed += !refused(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    failed += !refused(MPI_Finalize(), "MPI_Finalize");
    return failed;
}

/* Goes on while the others fork: once at least, however little of a core it gets. */
static void *traffic(void *arg)
{
    long one = 1;
    do {
        CHECK(MPI_Accumulate(&one, 1, MPI_LONG, target, 8, 1, MPI_LONG, MPI_SUM, wins[ALLOCATED]) ==
                  MPI_SUCCESS,
              "add");
        CHECK(MPI_Win_flush(target, wins[ALLOCATED]) == MPI_SUCCESS, "flush");
        added++;
    } while (__sync_fetch_and_add(&stop, 0) == 0);
    return NULL;
}

static void fork_one(int turn)
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int failed = child();
        if (turn % 2 == 0 || COUNTS_LEAKS) {
            _exit(failed);
        }
        exit(failed);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0,
          "turn %d: status %#x", turn, (unsigned)status);
}

static void start_programs(void)
{
    char line[64] = "";
    CHECK(system("exit 3") == 3 << 8, "%s", "system");
    FILE *f = popen("echo here", "r");
    CHECK(f != NULL && fgets(line, sizeof line, f) != NULL && strcmp(line, "here\n") == 0, "%s", line);
    CHECK(f != NULL && pclose(f) == 0, "%s", "pclose");
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Rounds that ended in time, through the argument. */
static void *fork_rounds(void *arg)
{
    int *rounds = arg;
    for (double end = seconds_now() + MOST_SECONDS; *rounds < LEAST_ROUNDS && seconds_now() < end;) {
        fork_one(*rounds);
        *rounds += seconds_now() < end;
    }
    return NULL;
}

/* In two threads at once; the speed is shown and decides nothing. */
static void fork_side_by_side(void)
{
    pthread_t beside;
    int rounds[2] = {0, 0};
    double start = seconds_now();
    pthread_create(&beside, NULL, fork_rounds, &rounds[1]);
    fork_rounds(&rounds[0]);
    pthread_join(beside, NULL);
    CHECK(rounds[0] == LEAST_ROUNDS && rounds[1] == LEAST_ROUNDS, "%d and %d forks of %d in %d seconds",
          rounds[0], rounds[1], LEAST_ROUNDS, MOST_SECONDS);
    if (me == 0) {
        printf("two threads: %.0f forks a second\n", (rounds[0] + rounds[1]) / (seconds_now() - start));
    }
}

/* Connections that a started program would inherit: peers would not notice this process's end. */
static int inherited(void)
{
    int count = 0;
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_storage a;
        socklen_t len = sizeof a;
        int flags = fcntl(fd, F_GETFD);
        count += flags >= 0 && (flags & FD_CLOEXEC) == 0 &&
                 getsockname(fd, (struct sockaddr *)&a, &len) == 0 && a.ss_family != AF_UNIX;
    }
    return count;
}

/* The receive thread marks new sockets close-on-exec soon after they are made. */
static void inherits_nothing(int ms)
{
    int count = inherited();
    for (int tries = 0; tries < ms && count != 0; tries++) {
        usleep(1000);
        count = inherited();
    }
    CHECK(count == 0, "a program inherits %d connections", count);
}

/* A connection that is made long after those of the start. (After two seconds the other rank asks what this
 * one is at, by a new one.) */
static void connect_late(void)
{
    if (me == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (me == 0 && ranks > 1) {
        usleep(400000);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    }
    inherits_nothing(1000);
}

static void make_windows(void)
{
    long *base;
    MPI_Win_allocate(64 * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &wins[ALLOCATED]);
    memset(memory, 0, 64 * 8);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared(64 * 8, 8, MPI_INFO_NULL, node, &base, &wins[SHARED]);
    MPI_Comm_free(&node);
    MPI_Win_create(statics, sizeof statics, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &wins[CREATED]);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &wins[DYNAMIC]);
    MPI_Win_attach(wins[DYNAMIC], attached, sizeof attached);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    long value = 5, got = 0;
    begin(&argc, &argv);
    int turns = argc > 1 ? atoi(argv[1]) : 5;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    target = (me + 1) % ranks;
    connect_late();
    make_windows();
    for (int k = 0; k < WINDOWS; k++) {
        MPI_Win_lock_all(0, wins[k]);
    }
    meet(wins[ALLOCATED]);
    pthread_create(&thread, NULL, traffic, NULL);
    for (int turn = 0; turn < turns; turn++) {
        fork_one(turn);
        start_programs();
        CHECK(MPI_Put(&value, 1, MPI_LONG, target, turn, 1, MPI_LONG, wins[CREATED]) == MPI_SUCCESS, "%d",
              turn);
        MPI_Win_flush_all(wins[CREATED]);
        MPI_Get(&got, 1, MPI_LONG, target, turn, 1, MPI_LONG, wins[CREATED]);
        MPI_Win_flush_all(wins[CREATED]);
        CHECK(got == value, "turn %d: %ld", turn, got);
    }
    /* Sanitizers have locks of their own, which a child may find taken when several threads are at work. */
    if (!SANITIZED && (argc <= 2 || strcmp(argv[2], "alone") != 0)) {
        fork_side_by_side();
    }
    __sync_fetch_and_add(&stop, 1);
    pthread_join(thread, NULL);
    inherits_nothing(2000);
    for (int k = 0; k < WINDOWS; k++) {
        MPI_Win_unlock_all(wins[k]);
    }
    int all = 0;
    MPI_Sendrecv(&added, 1, MPI_INT, target, 0, &all, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(memory[1] == 0 && memory[8] == all, "%ld %ld of %d", memory[1], memory[8], all);
    for (int k = 0; k < WINDOWS; k++) {
        MPI_Win_free(&wins[k]);
    }
    return finish_checks("rma_fork");
}
