/* Operations per second of a number of workers, threads or processes, on one window.
 *
 *   workers THREADS MILLISECONDS BYTES INNER [put|get|fetch|add]  ranks: origins with THREADS threads each,
 *                                                                 and the target, the last
 *
 * A worker puts or gets BYTES bytes INNER times and flushes, until the time is over; or it adds to one word
 * that all share, or to BYTES bytes of doubles that all share. The last rank waits in a barrier and then looks whether all has arrived; who gets looks at
 * what came. Prints "puts OPERATIONS_PER_S". */
#include "threads.h"

#define GOT 7 /* every byte that is got */
#define CLOCK 32
#define WARM_S 0.1 /* before it counts: lanes open and connect while they are used */

static MPI_Win win;
static int target, bytes, inner;
static char what; /* p, g, f, a */
static int count; /* of the type: a word where it is one, else bytes */
static MPI_Datatype type;
static double begin_s, end_s;

struct worker {
    pthread_t thread;
    int index;       /* of all workers */
    long puts, warm; /* in all, and of them before it counts */
    int wrong;       /* bytes that were not what was to be got */
};

static void put(struct worker *w, char *data, long turn)
{
    MPI_Aint mine = (MPI_Aint)w->index * inner * bytes;
    memset(data, (int)(turn % 100 + 1), (size_t)bytes);
    for (int i = 0; i < inner; i++) {
        MPI_Put(data, count, type, target, mine + (MPI_Aint)i * bytes, count, type, win);
    }
    MPI_Win_flush(target, win);
}

static void get(struct worker *w, char *data)
{
    MPI_Aint mine = (MPI_Aint)w->index * inner * bytes;
    data[0] = data[bytes - 1] = 0;
    for (int i = 0; i < inner; i++) {
        MPI_Get(data, count, type, target, mine + (MPI_Aint)i * bytes, count, type, win);
    }
    MPI_Win_flush(target, win);
    w->wrong += data[0] != GOT || data[bytes - 1] != GOT;
}

static void fetch(void)
{
    long one = 1, before;
    for (int i = 0; i < inner; i++) {
        MPI_Fetch_and_op(&one, &before, MPI_LONG, target, 0, MPI_SUM, win);
    }
    MPI_Win_flush(target, win);
}

static void add(double *data)
{
    int doubles = bytes / (int)sizeof *data;
    for (int i = 0; i < doubles; i++) {
        data[i] = 1;
    }
    for (int i = 0; i < inner; i++) {
        MPI_Accumulate(data, doubles, MPI_DOUBLE, target, 0, doubles, MPI_DOUBLE, MPI_SUM, win);
    }
    MPI_Win_flush(target, win);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    long turn = 0;
    char *data = malloc((size_t)bytes);
    double now;
    do {
        turn++;
        if (what == 'p') {
            put(w, data, turn);
        } else if (what == 'g') {
            get(w, data);
        } else if (what == 'a') {
            add((double *)(void *)data);
        } else {
            fetch();
        }
        w->puts += inner;
        /* The clock costs more than a put: it is looked at after some operations. */
        now = turn * inner % CLOCK == 0 ? now_s() : 0;
        w->warm = now != 0 && now < begin_s ? w->puts : w->warm;
    } while (now == 0 || now < end_s);
    free(data);
    return NULL;
}

/* Did every worker's last turn arrive whole, or every addition? */
static int arrived(const char *base, int workers, double all)
{
    const double *sums = (const double *)(const void *)base;
    for (int i = 0; what == 'a' && i < bytes / (int)sizeof *sums; i++) {
        if (sums[i] != all) {
            return 0;
        }
    }
    if (what != 'p') {
        long sum;
        memcpy(&sum, base, sizeof sum);
        return what != 'f' || (double)sum == all;
    }
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
    what = argc > 5 ? argv[5][0] : 'p';
    count = bytes == sizeof(long) ? 1 : bytes;
    type = bytes == sizeof(long) ? MPI_LONG : MPI_BYTE;
    target = ranks - 1;

    char *base;
    int workers = threads * (ranks - 1);
    MPI_Aint size = (MPI_Aint)workers * inner * bytes; /* of all ranks alike, as programs do */
    MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    if (rank == target) {
        memset(base, what == 'g' ? GOT : 0, (size_t)size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    struct worker *all = calloc((size_t)threads + 1, sizeof *all);
    begin_s = now_s() + WARM_S;
    end_s = begin_s + seconds;
    for (int i = 0; rank != target && i < threads; i++) {
        all[i].index = rank * threads + i;
        pthread_create(&all[i].thread, NULL, work, &all[i]);
    }
    double puts = 0, warm = 0, sum = 0, all_puts = 0;
    int wrong = 0, good = 1;
    for (int i = 0; rank != target && i < threads; i++) {
        pthread_join(all[i].thread, NULL);
        puts += (double)all[i].puts;
        warm += (double)all[i].warm;
        wrong += all[i].wrong;
    }
    double took = now_s() - begin_s;
    MPI_Win_unlock_all(win);
    MPI_Reduce(&puts, &all_puts, 1, MPI_DOUBLE, MPI_SUM, target, MPI_COMM_WORLD);
    puts = (puts - warm) / took;
    MPI_Reduce(&puts, &sum, 1, MPI_DOUBLE, MPI_SUM, target, MPI_COMM_WORLD);
    if (rank == target) {
        good = arrived(base, workers, all_puts);
        printf(good ? "puts %.0f\n" : "puts %.0f, but some had not arrived after their flush\n", sum);
    } else if (wrong > 0) {
        good = 0;
        printf("%d gets had not brought their data after their flush\n", wrong);
    }
    free(all);
    MPI_Win_free(&win);
    MPI_Finalize();
    return good ? 0 : 1;
}
