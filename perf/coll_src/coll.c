/* Times collective operations over MPI_COMM_WORLD. usage: coll MILLISECONDS OPERATION:BYTES,BYTES ...
 *
 * Calls go in batches one after the other; the root is another rank in each call, so that nobody runs ahead.
 * What is sent is written anew before each call, a word in each line, as programs do: data that stays the
 * same would stay in the readers' caches, too. A batch takes as long as its slowest rank. Per operation and
 * size: "point OPERATION BYTES NANOSECONDS INSTRUCTIONS": the median over batches, and the fewest user
 * instructions a call of rank 0 (-1: the kernel does not count). */
#include <linux/perf_event.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BATCHES = 1000 };

static int me, size, counter = -1;
static char *in, *out;

/* Exponents of numbers stay small, and are not zero for long. */
static void renew(char *at, int n)
{
    for (int i = 6; i < n; i += 64) {
        at[i]++;
    }
}

static void barrier(int n, int root)
{
    (void)n;
    (void)root;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(int n, int root)
{
    renew(out, root == me ? n : 0);
    MPI_Bcast(out, n, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void reduce(int n, int root)
{
    renew(in, n);
    MPI_Reduce(in, out, n / 8, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}

static void allreduce(int n, int root)
{
    (void)root;
    renew(in, n);
    MPI_Allreduce(in, out, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void gather(int n, int root)
{
    renew(in, n);
    MPI_Gather(in, n, MPI_BYTE, out, n, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void scatter(int n, int root)
{
    renew(in, root == me ? n * size : 0);
    MPI_Scatter(in, n, MPI_BYTE, out, n, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void allgather(int n, int root)
{
    (void)root;
    renew(in, n);
    MPI_Allgather(in, n, MPI_BYTE, out, n, MPI_BYTE, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*call)(int n, int root);
} operations[] = {{"barrier", barrier},     {"bcast", bcast},   {"reduce", reduce},
                  {"allreduce", allreduce}, {"gather", gather}, {"scatter", scatter},
                  {"allgather", allgather}};

static void open_counter(void)
{
    struct perf_event_attr a = {.type = PERF_TYPE_HARDWARE,
                                .size = sizeof a,
                                .config = PERF_COUNT_HW_INSTRUCTIONS,
                                .exclude_kernel = 1,
                                .exclude_hv = 1};
    counter = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
}

static int64_t instructions(void)
{
    int64_t n = 0;
    return counter >= 0 && read(counter, &n, sizeof n) == sizeof n ? n : -1;
}

/* Seconds of the slowest rank; *fewest: instructions of this one. */
static double batch(void (*call)(int, int), int bytes, int calls, double *fewest)
{
    double mine, most;
    MPI_Barrier(MPI_COMM_WORLD);
    int64_t before = instructions();
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++) {
        call(bytes, i % size);
    }
    mine = MPI_Wtime() - start;
    double each = (double)(instructions() - before) / calls;
    *fewest = *fewest < 0 || each < *fewest ? each : *fewest;
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *name, void (*call)(int, int), int bytes, double seconds)
{
    static double each[BATCHES];
    double fewest = -1, unused = -1;
    int n = 0;
    batch(call, bytes, 4 * size, &unused);
    double once = batch(call, bytes, 4 * size, &unused) / (4 * size);
    int calls = (int)(seconds / 20 / once);
    calls = calls < size ? size : calls - calls % size;
    for (double spent = 0; spent < seconds && n < BATCHES; n++) {
        double took = batch(call, bytes, calls, &fewest);
        each[n] = took / calls;
        spent += took;
    }
    qsort(each, (size_t)n, sizeof *each, by_value);
    if (me == 0) {
        printf("point %s %d %.1f %.0f\n", name, bytes, each[n / 2] * 1e9, counter < 0 ? -1 : fewest);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    enum { MOST = 4 << 20 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    in = calloc((size_t)size, MOST);
    out = calloc((size_t)size, MOST);
    open_counter();
    for (int i = 2; i < argc; i++) {
        char *sizes = strchr(argv[i], ':');
        for (size_t k = 0; sizes != NULL && k < sizeof operations / sizeof *operations; k++) {
            if (strlen(operations[k].name) != (size_t)(sizes - argv[i]) ||
                strncmp(operations[k].name, argv[i], (size_t)(sizes - argv[i])) != 0) {
                continue;
            }
            for (char *at = sizes; at != NULL; at = strchr(at + 1, ',')) {
                int bytes = atoi(at + 1);
                measure(operations[k].name, operations[k].call, bytes < MOST ? bytes : MOST,
                        atoi(argv[1]) / 1e3);
            }
        }
    }
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
