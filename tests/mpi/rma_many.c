/* Many at once: windows alive, requests outstanding, threads that make windows, handles that come again.
 * Arguments: windows, requests. Prints what a window and a request cost. */
#include "rma.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Resident bytes of this process. */
static double resident(void)
{
    long all = 0, here = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld", &all, &here) != 2) {
        here = 0;
    }
    if (f != NULL) {
        fclose(f);
    }
    return (double)here * (double)sysconf(_SC_PAGESIZE);
}

/* Window i: allocated, created over one array (all overlap), dynamic, or of no bytes on some ranks. */
static void make(int i, long *memory, MPI_Win *win)
{
    long *base;
    switch (i % 4) {
    case 0:
        MPI_Win_allocate(8 * (1 + me), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, win);
        base[0] = 0;
        break;
    case 1:
        MPI_Win_create(memory, 64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win);
        break;
    case 2:
        MPI_Win_create(memory, 8 + 8 * me, me + 1, MPI_INFO_NULL, MPI_COMM_WORLD, win);
        break;
    default:
        MPI_Win_create((i / 4 + me) % 2 == 0 ? NULL : memory, (i / 4 + me) % 2 == 0 ? 0 : 64, 8,
                       MPI_INFO_NULL, MPI_COMM_WORLD, win);
    }
}

static void many_windows(int n, int turn)
{
    MPI_Win *wins = malloc((size_t)n * sizeof(MPI_Win));
    static long memory[64];
    double before = resident(), start = now();
    memset(memory, 0, sizeof memory);
    for (int i = 0; i < n; i++) {
        make(i, memory, &wins[i]);
    }
    double made = now();
    if (me == 0) {
        printf("%d windows: %.1f us and %.0f bytes of memory each\n", n, 1e6 * (made - start) / n,
               (resident() - before) / n);
    }
    int target = (me + 1) % ranks;
    long one = 1;
    for (int i = 0; i < n; i += 4) { /* each works: the allocated ones and those over one array */
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, wins[i]);
        MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, wins[i]);
        MPI_Win_unlock(target, wins[i]);
        if (i + 2 < n) {
            MPI_Win_lock(MPI_LOCK_SHARED, target, 0, wins[i + 2]);
            MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, wins[i + 2]);
            MPI_Win_unlock(target, wins[i + 2]);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    meet_outside(wins[0]);
    CHECK(memory[0] == (n + 1) / 4, "%ld of %d", memory[0], (n + 1) / 4);
    for (int i = 0; i < n; i += 4) {
        long *base;
        int flag;
        MPI_Win_get_attr(wins[i], MPI_WIN_BASE, &base, &flag);
        CHECK(base[0] == 1, "window %d: %ld", i, base[0]);
    }
    start = now();
    for (int i = 0; i < n; i++) {
        MPI_Win_free(&wins[i == 0 ? 0 : n - i]);
    }
    double left = (resident() - before) / n;
    if (me == 0) {
        printf("freed: %.1f us each; %.0f bytes of memory each are left\n", 1e6 * (now() - start) / n, left);
    }
    /* Beside ours: the provider touches its buffers one after the other. */
    CHECK(n < 10000 || left < (turn == 0 ? 10000 : 2500), "turn %d: %.0f bytes for each window", turn, left);
    free(wins);
}

static void wait_all(MPI_Request *requests, int n, const char *what, double start)
{
    double issued = now();
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    if (me == 0) {
        printf("%s: %.0f ns to issue, %.0f ns to wait for, each\n", what, 1e9 * (issued - start) / n,
               1e9 * (now() - issued) / n);
    }
}

/* All outstanding at once. */
static void many_requests(int n)
{
    MPI_Request *requests = malloc((size_t)n * sizeof(MPI_Request));
    int *from = malloc((size_t)n * sizeof *from), *to = malloc((size_t)n * sizeof *to), *base;
    int target = (me + 1) % ranks;
    MPI_Win win;
    MPI_Win_allocate((MPI_Aint)n * 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int turn = 0; turn < 2; turn++) {
        double before = resident(), start = now();
        for (int i = 0; i < n; i++) {
            from[i] = i ^ (turn << 20);
            to[i] = -1;
        }
        MPI_Win_lock_all(0, win);
        start = now();
        for (int i = 0; i < n; i++) {
            MPI_Rput(&from[i], 1, MPI_INT, target, i, 1, MPI_INT, win, &requests[i]);
        }
        wait_all(requests, n, "Rput", start);
        MPI_Win_flush(target, win);
        start = now();
        for (int i = 0; i < n; i++) {
            MPI_Raccumulate(&from[i], 1, MPI_INT, target, i, 1, MPI_INT, MPI_SUM, win, &requests[i]);
        }
        wait_all(requests, n, "Raccumulate", start);
        MPI_Win_flush(target, win);
        start = now();
        for (int i = 0; i < n; i++) {
            MPI_Rget(&to[i], 1, MPI_INT, target, i, 1, MPI_INT, win, &requests[i]);
        }
        wait_all(requests, n, "Rget", start);
        MPI_Win_unlock_all(win);
        int wrong = 0;
        for (int i = 0; i < n; i++) {
            wrong += to[i] != 2 * from[i];
        }
        CHECK(wrong == 0, "%d of %d wrong", wrong, n);
        double grown = (resident() - before) / n;
        if (me == 0) {
            printf("memory grew by %.0f bytes a request\n", grown);
        }
        CHECK(n < 1000000 || grown < (turn == 0 ? 256 : 64), "turn %d: %.0f bytes for each request", turn,
              grown);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
    free(requests);
    free(from);
    free(to);
}

/* Each thread makes, uses and frees windows on a communicator of its own. */
static void *maker(void *arg)
{
    MPI_Comm comm = (MPI_Comm)arg;
    long *base, one = 1;
    MPI_Win win;
    for (int i = 0; i < 20; i++) {
        MPI_Win_allocate(64, 8, MPI_INFO_NULL, comm, &base, &win);
        memset(base, 0, 64);
        MPI_Win_fence(0, win);
        for (int t = 0; t < ranks; t++) {
            MPI_Accumulate(&one, 1, MPI_LONG, t, i % 8, 1, MPI_LONG, MPI_SUM, win);
        }
        MPI_Win_fence(0, win);
        CHECK(base[i % 8] == ranks, "turn %d: %ld", i, base[i % 8]);
        MPI_Win_free(&win);
    }
    return NULL;
}

static void making_threads(void)
{
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    MPI_Comm comms[THREADS];
    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, maker, (void *)comms[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(&comms[i]);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    making_threads();
    for (int turn = 0; turn < 2; turn++) { /* the second time, handles and memory come again */
        many_windows(argc > 1 ? atoi(argv[1]) : 200, turn);
    }
    many_requests(argc > 2 ? atoi(argv[2]) : 20000);
    return finish_checks("rma_many");
}
