/* Messages without data from many threads, as in Balaji et al., Fine-Grained Multithreading Support for
 * Hybrid Threaded MPI Programming (2010). Plain MPI, so that one source runs on any library.
 *
 *   msgrate threads   null|send|isend|burst N TURNS
 *   msgrate processes null|send|isend|burst N TURNS
 *
 * threads: thread t of rank 0 sends to rank t + 1, of N + 1 ranks; processes: rank i sends to rank N + i, of
 * 2 N. null sends to MPI_PROC_NULL, and has no receivers.
 *
 * A turn is 128 messages, to receives that were posted before; the receiver's word starts it. The time is
 * from the first sender's begin to the last one's end: with more of them than cores they do not begin
 * together. In a burst, the receivers sleep outside MPI while it is timed: what
 * sending costs where threads and receivers do not fit on the cores. Prints "rate MESSAGES_PER_S WAIT TAKEN
 * CONTENDED": the share of the senders' time in which they waited for locks, acquisitions and contended ones
 * of one message; -1 where the library does not count. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WINDOW = 128, MOST = 64, WORD = 1, DATA = 2 };

/* Hotlane's; other libraries have none. */
extern int hotlane_counter(const char *name, long long *value) __attribute__((weak));

static bool processes, null, later, burst;
static int me, ranks, n, turns;

/* Of bursts, shared by all ranks. */
static struct {
    pthread_barrier_t asleep; /* of senders and receivers: a burst begins and ends here */
    atomic_long here;         /* senders that are awake, of all bursts */
    double begun[MOST], ended[MOST];
} * meeting;
static double spans; /* of all bursts; sender 0 */

static pthread_barrier_t start;
static double begun[MOST], ended[MOST], busy[MOST]; /* busy: less than that in bursts */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Locks ---- */

struct locks {
    double wait_s, taken, contended;
    bool known;
};

static double counter(const char *kind, const char *what, bool *known)
{
    char name[64];
    long long value = 0;
    snprintf(name, sizeof name, "cs_%s%s", kind, what);
    *known = hotlane_counter != NULL && hotlane_counter(name, &value) == 0;
    return (double)value;
}

static struct locks count_locks(void)
{
    static const char *const kinds[] = {"call", "send", "inbox", "progress", "pool", "request", "comm"};
    struct locks all = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        all.wait_s += counter(kinds[i], "_wait_ns", &all.known) * 1e-9;
        all.taken += counter(kinds[i], "", &all.known);
        all.contended += counter(kinds[i], "_contended", &all.known);
    }
    return all;
}

/* ---- Senders ---- */

static void send_window(int dest)
{
    MPI_Request r[WINDOW];
    if (!later) {
        for (int i = 0; i < WINDOW; i++) {
            MPI_Send(NULL, 0, MPI_BYTE, dest, DATA, MPI_COMM_WORLD);
        }
        return;
    }
    for (int i = 0; i < WINDOW; i++) {
        MPI_Isend(NULL, 0, MPI_BYTE, dest, DATA, MPI_COMM_WORLD, &r[i]);
    }
    MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE);
}

/* The receivers go on to their next wait, and sleep. All senders begin at once if there are cores for them.
 */
static void send_burst(int sender, int dest, int turn)
{
    pthread_barrier_wait(&meeting->asleep);
    atomic_fetch_add(&meeting->here, 1);
    while (atomic_load(&meeting->here) < (long)n * (turn + 1)) {
        sched_yield();
    }
    meeting->begun[sender] = now();
    send_window(dest);
    meeting->ended[sender] = now();
    pthread_barrier_wait(&meeting->asleep);
    double first = meeting->begun[0], last = meeting->ended[0];
    for (int i = 1; i < n && sender == 0; i++) {
        first = meeting->begun[i] < first ? meeting->begun[i] : first;
        last = meeting->ended[i] > last ? meeting->ended[i] : last;
    }
    spans += sender == 0 ? last - first : 0;
}

static void *send_all(void *number)
{
    int t = (int)(intptr_t)number, sender = processes ? me : t;
    int dest = null ? MPI_PROC_NULL : processes ? n + me : t + 1;
    pthread_barrier_wait(&start);
    begun[t] = now();
    for (int k = 0; k < turns; k++) {
        if (!null) {
            MPI_Recv(NULL, 0, MPI_BYTE, dest, WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (burst) {
            send_burst(sender, dest, k);
            busy[t] += meeting->ended[sender] - meeting->begun[sender];
        } else {
            send_window(dest);
        }
    }
    ended[t] = now();
    busy[t] = burst ? busy[t] : ended[t] - begun[t];
    return NULL;
}

static void receive_all(int source)
{
    MPI_Request r[WINDOW];
    for (int k = 0; k < turns; k++) {
        for (int i = 0; i < WINDOW; i++) {
            MPI_Irecv(NULL, 0, MPI_BYTE, source, DATA, MPI_COMM_WORLD, &r[i]);
        }
        MPI_Send(NULL, 0, MPI_BYTE, source, WORD, MPI_COMM_WORLD);
        if (burst) {
            pthread_barrier_wait(&meeting->asleep);
            pthread_barrier_wait(&meeting->asleep);
        }
        MPI_Waitall(WINDOW, r, MPI_STATUSES_IGNORE);
    }
}

/* ---- Setting up ---- */

/* Memory of all ranks. */
static MPI_Win make_meeting(int parties)
{
    MPI_Win win;
    MPI_Aint bytes;
    int unit;
    pthread_barrierattr_t attr;
    MPI_Win_allocate_shared(me == 0 ? (MPI_Aint)sizeof *meeting : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                            &meeting, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &meeting);
    if (me == 0) {
        memset(meeting, 0, sizeof *meeting);
        pthread_barrierattr_init(&attr);
        pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
        pthread_barrier_init(&meeting->asleep, &attr, (unsigned)parties);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

static void run_senders(int threads)
{
    pthread_t thread[MOST];
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (intptr_t t = 1; t < threads; t++) {
        pthread_create(&thread[t], NULL, send_all, (void *)t);
    }
    send_all((void *)0);
    for (int t = 1; t < threads; t++) {
        pthread_join(thread[t], NULL);
    }
}

/* From the first sender's begin to the last one's end, in bursts in each of them. Valid on rank 0. */
static double span(int mine)
{
    double first = 1e18, last = 0, all_first, all_last;
    for (int t = 0; t < mine; t++) {
        first = begun[t] < first ? begun[t] : first;
        last = ended[t] > last ? ended[t] : last;
    }
    MPI_Reduce(&first, &all_first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&last, &all_last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return burst ? spans : all_last - all_first;
}

static void report(const struct locks *before, const struct locks *after)
{
    double sum = 0, messages = (double)n * turns * WINDOW;
    int senders = processes ? 1 : n;
    double time = span(me < (processes ? n : 1) ? senders : 0);
    if (me != 0) {
        return;
    }
    for (int t = 0; t < senders; t++) {
        sum += busy[t];
    }
    double sent = messages / (processes ? n : 1);
    printf("rate %.0f", messages / time);
    if (after->known) {
        printf(" %.4f %.4f %.4f\n", (after->wait_s - before->wait_s) / sum,
               (after->taken - before->taken) / sent, (after->contended - before->contended) / sent);
    } else {
        printf(" -1 -1 -1\n");
    }
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: %s threads|processes null|send|isend|burst N TURNS\n", argv[0]);
        return 2;
    }
    int provided;
    processes = strcmp(argv[1], "processes") == 0;
    null = strcmp(argv[2], "null") == 0;
    later = strcmp(argv[2], "isend") == 0;
    burst = strcmp(argv[2], "burst") == 0;
    n = atoi(argv[3]);
    turns = atoi(argv[4]);
    MPI_Init_thread(&argc, &argv, processes ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int senders = processes ? n : 1;
    if (n < 1 || n > MOST || ranks != senders + (null ? 0 : n) ||
        (!processes && n > 1 && provided < MPI_THREAD_MULTIPLE)) {
        fprintf(stderr, "%d ranks and level %d do not go with these arguments\n", ranks, provided);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Win win = burst ? make_meeting(2 * n) : MPI_WIN_NULL;
    struct locks before = count_locks();
    MPI_Barrier(MPI_COMM_WORLD);
    if (me < senders) {
        run_senders(processes ? 1 : n);
    } else {
        receive_all(processes ? me - n : 0);
    }
    struct locks after = count_locks();
    report(&before, &after);
    if (burst) {
        MPI_Win_free(&win);
    }
    MPI_Finalize();
    return 0;
}
