/* Puts per second of a number of workers, threads or processes, on one window.
 *
 *   workers THREADS MILLISECONDS BYTES INNER      ranks: origins with THREADS threads each, and the target,
 * the last
 *
 * A worker puts BYTES bytes INNER times and flushes until the time is over. The last rank waits in a barrier
 * and then looks whether the last values have arrived. Prints "puts PUTS_PER_S". */
#include "threads.h"

static MPI_Win win;
static int target, bytes, inner;
static double end_s;

struct worker {
    pthread_t thread;
    int index; /* of all workers */
    long puts;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    long turn = 0;
    char *data = malloc((size_t)bytes);
    MPI_Aint mine = (MPI_Aint)w->index * inner * bytes;
    do {
        turn++;
        memset(data, (int)(turn % 100 + 1), (size_t)bytes);
        for (int i = 0; i < inner; i++) {
            MPI_Put(data, bytes, MPI_BYTE, target, mine + (MPI_Aint)i * bytes, bytes, MPI_BYTE, win);
        }
        MPI_Win_flush(target, win);
        w->puts += inner;
    } while (now_s() < end_s);
    free(data);
    return NULL;
}

/* Did every worker's last turn arrive whole? */
static int arrived(const char *base, int workers)
{
    for (int i = 0; i < workers; i++) {
        const char *block = base + (size_t)i * (size_t)inner * (size_t)bytes;
        for (long k = 0; k < (long)inner * bytes; k++) {
            if (block[k] == 0 || block[k] != block[0]) {
                return 0;
            }
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    begin(&argc, &argv, &rank, &ranks);
    int threads = (int)number(argv, argc, 1, "THREADS");
    double seconds = (double)number(argv, argc, 2, "MILLISECONDS") / 1000;
    bytes = (int)number(argv, argc, 3, "BYTES");
    inner = (int)number(argv, argc, 4, "INNER");
    target = ranks - 1;

    char *base;
    int workers = threads * (ranks - 1);
    MPI_Aint size = rank == target ? (MPI_Aint)workers * inner * bytes : 0;
    MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (rank == target) {
        memset(base, 0, (size_t)size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    struct worker *all = calloc((size_t)threads + 1, sizeof *all);
    double begin_s = now_s();
    end_s = begin_s + seconds;
    for (int i = 0; rank != target && i < threads; i++) {
        all[i].index = rank * threads + i;
        pthread_create(&all[i].thread, NULL, work, &all[i]);
    }
    double puts = 0, sum = 0;
    for (int i = 0; rank != target && i < threads; i++) {
        pthread_join(all[i].thread, NULL);
        puts += (double)all[i].puts;
    }
    puts /= now_s() - begin_s;
    MPI_Win_unlock_all(win);
    MPI_Reduce(&puts, &sum, 1, MPI_DOUBLE, MPI_SUM, target, MPI_COMM_WORLD);
    int good = 1;
    if (rank == target) {
        good = arrived(base, workers);
        printf(good ? "puts %.0f\n" : "puts %.0f, but some had not arrived after their flush\n", sum);
    }
    free(all);
    MPI_Win_free(&win);
    MPI_Finalize();
    return good ? 0 : 1;
}
