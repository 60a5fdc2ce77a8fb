/* endings MODE: how an MPI program may end, for the launcher's tests. Rank 1 misbehaves, alone or while three
 * threads of each rank communicate. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, TURNS = 50 };
static const char *mode = "", *program;
static int rank, ranks;
static MPI_Win win;

int __lsan_is_turned_off(void);

/* Of LeakSanitizer, which asks here: what is held at ends in the midst of it all, and by children, is not lost. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void)
{
    return 1;
}

/* ---- any thread ---- */

/* What the first thread of rank 1 does in the midst of it all; or all of its threads at once. */
static void end_from_thread(int thread)
{
    if (rank != 1 || (thread != 0 && strcmp(mode, "threads-abort") != 0)) {
        return;
    }
    if (!strcmp(mode, "thread-exit")) {
        exit(0);
    }
    if (!strcmp(mode, "thread-kill")) {
        raise(SIGKILL);
    }
    MPI_Abort(MPI_COMM_WORLD, 7);
}

/* Messages and puts to the next rank, for ever. */
static void *work(void *arg)
{
    int thread = *(int *)arg, next = (rank + 1) % ranks, back = (rank + ranks - 1) % ranks, got;
    for (int turn = 0;; turn++) {
        MPI_Sendrecv(&turn, 1, MPI_INT, next, thread, &got, 1, MPI_INT, back, thread, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Put(&turn, 1, MPI_INT, next, thread, 1, MPI_INT, win);
        MPI_Win_flush(next, win);
        if (turn == TURNS) {
            end_from_thread(thread);
        }
    }
    return NULL;
}

static void run_threads(void)
{
    static int number[THREADS], *memory;
    pthread_t thread[THREADS];
    MPI_Win_allocate(sizeof number, sizeof *number, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win);
    for (int t = 0; t < THREADS; t++) {
        number[t] = t;
        pthread_create(&thread[t], NULL, work, &number[t]);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
    }
}

/* ---- children ---- */

static void need(bool truth, const char *what)
{
    if (truth) {
        return;
    }
    fprintf(stderr, "rank %d: not true: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Children end without touching the job, by exit, by system and by popen. */
static void make_children(void)
{
    char word[16] = "";
    if (!fork()) {
        exit(3);
    }
    FILE *f = popen("echo child", "r");
    need(wait(NULL) > 0 && system("true") == 0 && f && fgets(word, sizeof word, f), "children end");
    pclose(f);
    printf("had a %s", word);
}

/* An error and MPI_Abort in children end these alone. */
static void make_wrong_children(void)
{
    int status;
    for (int i = 0; i < 2; i++) {
        if (!fork()) {
            if (i == 0) {
                MPI_Barrier(MPI_COMM_WORLD);
            }
            MPI_Abort(MPI_COMM_WORLD, 4);
        }
        need(wait(&status) > 0 && status != 0, "a wrong child fails");
    }
}

/* Other MPI programs, started in three ways and all at once, each run alone. */
static void start_programs(void)
{
    char command[4096], word[64] = "";
    int status;
    snprintf(command, sizeof command, "%s solo", program);
    FILE *f = popen(command, "r");
    pid_t child = fork();
    if (!child) {
        execl(program, program, "solo", NULL);
        _exit(9);
    }
    need(system(command) == 0, "system");
    need(f && fgets(word, sizeof word, f) && !strcmp(word, "rank 0 of 1 finalized\n") && pclose(f) == 0,
         "popen");
    need(waitpid(child, &status, 0) == child && status == 0, "fork and exec");
}

/* A whole job of its own: argument 2 is the launcher. */
static void start_job(const char *launcher)
{
    char command[4096];
    snprintf(command, sizeof command, "%s --oversubscribe -n 2 %s solo", launcher, program);
    need(system(command) == 0, "a job within a rank");
}

/* A child that keeps all that this rank has open, and sleeps. */
static void leave_child(void)
{
    if (fork() == 0) {
        sleep(60);
        _exit(0);
    }
}

/* Stopped until somebody else lets this rank go on. */
static void be_stopped(void)
{
    printf("pid %d\n", (int)getpid());
    fflush(stdout);
    raise(SIGSTOP);
}

/* ---- the end, which waits for others ---- */

static void fail_now(int unused)
{
    (void)unused;
    exit(3);
}

static void *fail_later(void *unused)
{
    sleep(1); /* main is in MPI_Finalize by then */
    fail_now(0);
    return unused;
}

/* This rank exits while its main thread waits in MPI_Finalize for those that never come there. */
static void fail_at_the_end(void)
{
    pthread_t thread;
    if (rank != 1) {
        pause();
    }
    if (!strcmp(mode, "end-thread")) {
        pthread_create(&thread, NULL, fail_later, NULL);
    } else {
        signal(SIGALRM, fail_now);
        alarm(1);
    }
}

/* An exit handler older than the library's. */
static void finalize_at_exit(void)
{
    MPI_Finalize();
}

static int leave_session_open(void)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    return 0;
}

/* A program of sessions alone: rank 1 exits after its last one, the others are busy elsewhere. */
static void fail_after_session(int code)
{
    MPI_Session session;
    MPI_Group all;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Comm_create_from_group(all, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&all);
    MPI_Session_finalize(&session);
    if (rank != 1 && code != 0) {
        pause();
    }
    printf("rank %d exits\n", rank);
    exit(rank == 1 ? code : 0);
}

/* ---- a handler that aborts ---- */

static void abort_by_signal(int unused)
{
    (void)unused;
    MPI_Abort(MPI_COMM_WORLD, 7);
}

/* The C library notices at the next allocation, and raises SIGABRT while it holds its lock. */
static void spoil_the_heap(void)
{
    char *volatile first = malloc(2000), *volatile second = malloc(2000), *volatile third = malloc(2000);
    volatile char *end = first;
    signal(SIGABRT, abort_by_signal);
    free(second);
    for (int i = 0; i < 2064; i++) {
        end[i] = 'A';
    }
    first = malloc(3000);
    (void)third;
}

static void misbehave(void)
{
    int number = 0;
    if (!strcmp(mode, "abort")) {
        printf("last words\n"); /* still in stdio's buffer */
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    if (!strcmp(mode, "stops")) {
        be_stopped();
    }
    if (!strcmp(mode, "exit")) {
        exit(0);
    }
    if (!strcmp(mode, "heap")) {
        spoil_the_heap();
        raise(SIGABRT); /* a library that did not notice */
    }
    if (!strcmp(mode, "fail")) {
        exit(6);
    }
    if (!strcmp(mode, "kill") || !strcmp(mode, "orphan-kill")) {
        raise(SIGKILL);
    }
    if (!strcmp(mode, "wait")) {
        printf("waiting\n");
        fflush(stdout);
        MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* which nobody sends */
    }
    if (!strcmp(mode, "wrong-children")) {
        make_wrong_children();
    }
    if (!strcmp(mode, "error")) {
        MPI_Send(&number, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
}

/* Every rank's handlers, and errors that they let pass. */
static void try_handlers(void)
{
    MPI_Errhandler world, self;
    MPI_Comm comm;
    int number = 0;

    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &world);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &self);
    need(world == self, "one handler");
    if (world == MPI_ERRORS_RETURN) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        need(MPI_Send(&number, -1, MPI_INT, 0, 0, comm) == MPI_ERR_COUNT, "an inherited handler");
        need(MPI_Type_contiguous(-1, MPI_INT, &(MPI_Datatype){0}) == MPI_ERR_COUNT, "no object");
        MPI_Comm_free(&comm);
    }
    printf("handler %s\n", world == MPI_ERRORS_RETURN  ? "return"
                           : world == MPI_ERRORS_ABORT ? "abort"
                                                       : "fatal");
}

static void do_in_all(char **argv)
{
    if (!strcmp(mode, "children")) {
        make_children();
    }
    if (!strcmp(mode, "initial")) {
        try_handlers();
    }
    if (!strcmp(mode, "programs")) {
        start_programs();
    }
    if (!strcmp(mode, "job")) {
        start_job(argv[2]);
    }
    if (!strncmp(mode, "orphan", 6)) {
        leave_child();
    }
}

int main(int argc, char **argv)
{
    int sum = 0, provided;
    program = argv[0];
    mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "session")) {
        fail_after_session(atoi(argv[2]));
    }
    if (!strcmp(mode, "session-open")) {
        return leave_session_open();
    }
    if (!strcmp(mode, "handler")) {
        atexit(finalize_at_exit);
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strncmp(mode, "thread", 6)) {
        run_threads();
    }
    do_in_all(argv);
    if (rank == 1) {
        misbehave();
    }
    if (rank == 1 && !strcmp(mode, "return")) {
        return 0;
    }
    if (argc < 3 || strcmp(argv[2], "alone") != 0) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (!strcmp(mode, "stops") && rank == 1) {
        be_stopped(); /* the others have gone on to the end */
    }
    if (!strcmp(mode, "late") && rank == 1) {
        sleep(4);
    }
    if (!strncmp(mode, "end-", 4)) {
        fail_at_the_end();
    }
    if (!strcmp(mode, "handler")) {
        return 0;
    }
    MPI_Finalize();
    printf("rank %d of %d finalized\n", rank, ranks);
    return !strcmp(mode, "after") && rank == 1 ? 4 : 0;
}
