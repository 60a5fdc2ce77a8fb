/* How long one thread's put + flush takes while others of its process burst on the same window.
 *
 *   tail BURSTERS SECONDS MEASURE      2 ranks; MEASURE 0: thread 0 only reads the clock, so that it takes as
 *                                      much of the processor
 *
 * Thread 0 puts 8 bytes and flushes, over and over; each burster puts 128 times and flushes. All target rank
 * 1, which waits in a barrier. Prints "burst PUTS_PER_S", then "latency COUNT P50 P99 P999 MAX" in
 * nanoseconds, then "bin NANOSECONDS COUNT" of a histogram with eight bins for each doubling. */
#include "threads.h"

#include <math.h>

#define INNER 128
#define PER_DOUBLING 8
#define BINS (40 * PER_DOUBLING)

static MPI_Win win;
static atomic_bool go, stop;

struct burster {
    pthread_t thread;
    int index;
    long puts;
};

static void *burst(void *arg)
{
    struct burster *b = arg;
    long values[INNER] = {0};
    while (!atomic_load(&go)) {
    }
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        for (int i = 0; i < INNER; i++) {
            MPI_Put(&values[i], 1, MPI_LONG, 1, (MPI_Aint)(b->index + 1) * INNER + i, 1, MPI_LONG, win);
        }
        MPI_Win_flush(1, win);
        b->puts += INNER;
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_tail(double *took, long count)
{
    long bins[BINS] = {0};
    qsort(took, (size_t)count, sizeof *took, compare);
    for (long i = 0; i < count; i++) {
        int bin = (int)(PER_DOUBLING * log2(took[i] > 1 ? took[i] : 1));
        bins[bin < BINS ? bin : BINS - 1]++;
    }
    printf("latency %ld %.0f %.0f %.0f %.0f\n", count, took[count / 2], took[count * 99 / 100],
           took[count * 999 / 1000], took[count - 1]);
    for (int i = 0; i < BINS; i++) {
        if (bins[i] > 0) {
            printf("bin %.1f %ld\n", exp2((double)i / PER_DOUBLING), bins[i]);
        }
    }
}

/* Thread 0: until `seconds` have passed. */
static void measure(double seconds, int measured)
{
    long room = 1 << 22, count = 0;
    double *took = malloc((size_t)room * sizeof *took);
    double begin_s = now_s(), last = begin_s;
    long value = 0;
    while (last - begin_s < seconds && count < room) {
        if (measured) {
            value++;
            MPI_Put(&value, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
            MPI_Win_flush(1, win);
        }
        double now = now_s();
        took[count] = (now - last) * 1e9;
        count += measured;
        last = now;
    }
    if (measured) {
        print_tail(took, count);
    }
    free(took);
}

static void origin(int bursters, double seconds, int measured)
{
    struct burster *all = calloc((size_t)bursters + 1, sizeof *all);
    for (int i = 0; i < bursters; i++) {
        all[i].index = i;
        pthread_create(&all[i].thread, NULL, burst, &all[i]);
    }
    double begin_s = now_s();
    atomic_store(&go, true);
    measure(seconds, measured);
    atomic_store(&stop, true);
    double elapsed = now_s() - begin_s;
    long puts = 0;
    for (int i = 0; i < bursters; i++) {
        pthread_join(all[i].thread, NULL);
        puts += all[i].puts;
    }
    printf("burst %.0f\n", (double)puts / elapsed);
    free(all);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    begin(&argc, &argv, &rank, &ranks);
    long bursters = number(argv, argc, 1, "BURSTERS"), seconds = number(argv, argc, 2, "SECONDS");
    long measured = number(argv, argc, 3, "MEASURE");
    long *base;
    MPI_Win_allocate((bursters + 1) * INNER * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        origin((int)bursters, (double)seconds, (int)measured);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
