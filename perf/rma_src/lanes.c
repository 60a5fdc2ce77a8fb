/* Which lanes are leased how often while threads come and go.
 *
 *   lanes THREADS MILLISECONDS BIN     2 ranks; BIN: microseconds between two looks
 *
 * Threads of rank 0 join one after the other and leave in the same order; each puts 8 bytes 128 times and
 * flushes, over and over, on one window. Prints "MICROSECONDS ACTIVE-THREADS LEASES-OF-LANE-0 ..." for each
 * look. */
#include "threads.h"

#include <hotlane.h>

#define INNER 128

static MPI_Win win;
static double begin_s, length_s;
static int threads;

/* Thread `index` of them works from here to here. */
static double joins(int index)
{
    return begin_s + length_s * index / (2 * threads);
}

static double leaves(int index)
{
    return joins(index) + length_s / 2;
}

static void *work(void *arg)
{
    int index = (int)(long)arg;
    long values[INNER] = {0};
    struct timespec start = {(time_t)joins(index), 0};
    start.tv_nsec = (long)(1e9 * (joins(index) - (double)start.tv_sec));
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &start, NULL);
    while (now_s() < leaves(index)) {
        for (int i = 0; i < INNER; i++) {
            MPI_Put(&values[i], 1, MPI_LONG, 1, (MPI_Aint)index * INNER + i, 1, MPI_LONG, win);
        }
        MPI_Win_flush(1, win);
    }
    return NULL;
}

static int active(double now)
{
    int n = 0;
    for (int i = 0; i < threads; i++) {
        n += now >= joins(i) && now < leaves(i);
    }
    return n;
}

static void look(long long *before, int lanes)
{
    double now = now_s();
    printf("%.0f %d", 1e6 * (now - begin_s), active(now));
    for (int i = 0; i < lanes; i++) {
        char name[32];
        long long leases = 0;
        snprintf(name, sizeof name, "leases:%d", i);
        hotlane_counter(name, &leases); /* 0 for a lane that is not open yet */
        printf(" %lld", leases - before[i]);
        before[i] = leases;
    }
    printf("\n");
}

static void watch(double bin)
{
    pthread_t *all = calloc((size_t)threads, sizeof *all);
    long long before[64] = {0};
    begin_s = now_s() + 0.01;
    for (long i = 0; i < threads; i++) {
        pthread_create(&all[i], NULL, work, (void *)i);
    }
    for (long k = 1; begin_s + (double)k * bin < leaves(threads - 1); k++) {
        double at = begin_s + (double)k * bin;
        struct timespec then = {(time_t)at, (long)(1e9 * (at - (double)(time_t)at))};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL);
        look(before, 64);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(all[i], NULL);
    }
    free(all);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    long *base;
    begin(&argc, &argv, &rank, &ranks);
    threads = (int)number(argv, argc, 1, "threads");
    length_s = 1e-3 * (double)number(argv, argc, 2, "milliseconds");
    double bin = 1e-6 * (double)number(argv, argc, 3, "microseconds");
    MPI_Win_allocate((MPI_Aint)threads * INNER * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        long first = 0; /* connects */
        MPI_Put(&first, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        MPI_Win_flush(1, win);
        watch(bin);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
