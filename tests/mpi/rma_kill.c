/* A target dies while everybody communicates with everybody.
 *
 *   rma_kill VICTIM MILLISECONDS THREADS [cut]     under mpiexec --keep-going, or to see the job end
 *
 * After MILLISECONDS rank VICTIM kills itself. Every thread of the others must get an error that names it
 * (class MPI_ERR_PROC_ABORTED) from an operation on it or its flush, none from the others, and go on with
 * those; their sums must be exact. Each survivor prints "rank R: T threads told after S s", for who knows how
 * busy the machine is.
 * With "cut" the victim says so and its process number instead, so that somebody cuts its host off and kills
 * it when the others were told. */
#include <hotlane.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MORE 200  /* turns with the others after the error */
#define LATE 50.0 /* seconds: never */

static MPI_Win win;
static int rank, ranks, victim;
static bool cut;
static double death_s;
static atomic_int bad;
static _Atomic double told_s; /* the latest thread */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void complain(const char *what, int target, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;
    MPI_Error_string(code, text, &len);
    fprintf(stderr, "rank %d, target %d: %s (%s)\n", rank, target, what, text);
    atomic_fetch_add(&bad, 1);
}

/* Flushes, with a request in every second turn: its wait tells what the flush tells. */
static int flush(int target, long value)
{
    MPI_Request request;
    if (value % 2 == 0) {
        return MPI_Win_flush(target, win);
    }
    int code = MPIX_Win_iflush(target, win, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

/* One turn with a target; returns MPI's code. Words of a target: a sum for each origin, then space for puts.
 */
static int turn(int target, long value)
{
    long one = 1, before, seen;
    int code = MPI_Put(&value, 1, MPI_LONG, target, ranks + rank, 1, MPI_LONG, win);
    if (code == MPI_SUCCESS) {
        code = MPI_Get(&seen, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
    }
    int flushed = flush(target, value);
    if (code != MPI_SUCCESS || flushed != MPI_SUCCESS) {
        return code != MPI_SUCCESS ? code : flushed;
    }
    code = MPI_Fetch_and_op(&one, &before, MPI_LONG, target, rank, MPI_SUM, win);
    flushed = flush(target, value);
    return code != MPI_SUCCESS ? code : flushed;
}

/* An error from the victim: the right one, naming it, and not before it died. */
static void judge(int code)
{
    char text[MPI_MAX_ERROR_STRING], name[32];
    int len, class;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &len);
    snprintf(name, sizeof name, "%d", victim);
    if (class != MPI_ERR_PROC_ABORTED || strstr(text, name) == NULL) {
        complain("not the error of a dead rank", victim, code);
    }
    if (now_s() < death_s - 0.01) {
        complain("an error before the death", victim, code);
    }
    double now = now_s(), last = atomic_load(&told_s);
    while (now > last && !atomic_compare_exchange_weak(&told_s, &last, now)) {
    }
}

static void *work(void *arg)
{
    long *turns = arg; /* with each target, successful */
    int told = 0;
    for (long more = 0; more < MORE && atomic_load(&bad) == 0; more += told) {
        for (int target = 0; target < ranks; target++) {
            if (target == victim && told) {
                continue;
            }
            int code = turn(target, more);
            if (code == MPI_SUCCESS) {
                turns[target]++;
            } else if (target == victim) {
                told = 1;
                judge(code);
            } else {
                complain("an error from a living rank", target, code);
                return NULL;
            }
        }
        if (!told && now_s() > death_s + LATE) {
            complain("no error", victim, MPI_SUCCESS);
        }
    }
    return NULL;
}

static void *die(void *arg)
{
    (void)arg;
    double left = death_s - now_s();
    if (left > 0) {
        usleep((useconds_t)(left * 1e6));
    }
    if (cut) {
        printf("cut %d\n", (int)getpid());
        fflush(stdout);
        pause();
    }
    kill(getpid(), SIGKILL);
    return NULL;
}

/* My sums at the living targets. */
static void check_sums(long *const *turns, int threads)
{
    for (int target = 0; target < ranks; target++) {
        long sum = 0, there = -1;
        for (int i = 0; i < threads; i++) {
            sum += turns[i][target];
        }
        if (target == victim) {
            continue;
        }
        int code = MPI_Get(&there, 1, MPI_LONG, target, rank, 1, MPI_LONG, win);
        int flushed = MPI_Win_flush(target, win);
        if (code != MPI_SUCCESS || flushed != MPI_SUCCESS || there != sum) {
            fprintf(stderr, "rank %d: %ld turns with %d, there it says %ld\n", rank, sum, target, there);
            complain("sum", target, code != MPI_SUCCESS ? code : flushed);
        }
    }
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    victim = atoi(argv[1]);
    int threads = atoi(argv[3]);
    cut = argc > 4 && strcmp(argv[4], "cut") == 0;
    long *words;
    MPI_Win_allocate((MPI_Aint)sizeof(long) * 2 * ranks, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &words,
                     &win);
    memset(words, 0, sizeof(long) * 2 * (size_t)ranks);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now_s();
    MPI_Bcast(&start, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* one machine, one clock */
    death_s = start + atoi(argv[2]) * 1e-3;

    pthread_t killer, ids[64];
    long *turns[64];
    if (rank == victim) {
        pthread_create(&killer, NULL, die, NULL);
    }
    for (int i = 0; i < threads; i++) {
        turns[i] = calloc((size_t)ranks, sizeof(long));
        pthread_create(&ids[i], NULL, work, turns[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        if (rank == victim) {
            pause();
        }
    }
    check_sums(turns, threads);
    printf("rank %d: %d threads told after %.3f s\n", rank, threads, atomic_load(&told_s) - death_s);
    fflush(stdout);
    /* Window and job are not freed together with a dead rank: leave as the launcher knows survivors leave. */
    MPI_Win_unlock_all(win);
    MPI_Finalize();
    return atomic_load(&bad) > 0;
}
