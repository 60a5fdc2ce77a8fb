/* Many small windows whose memory is wished for: each holds its data, what a window costs does not grow with
 * their number, and descriptors, mappings, memory and huge pages return to their start.
 * Argument: windows. Wishes are tried one after the other; a pool of huge pages is used when there is one. */
#include "../process.h"
#include "rma.h"

#include <time.h>

#define BYTES 1000
#define BATCHES 5

struct counted {
    long files, mappings, shared_kib, huge_kib; /* of this process: others may use the pool meanwhile */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long lines_of(const char *file)
{
    long n = 0;
    FILE *f = fopen(file, "r");
    for (int c; f != NULL && (c = getc(f)) != EOF;) {
        n += c == '\n';
    }
    if (f != NULL) {
        fclose(f);
    }
    return n;
}

/* All ranks count at the same moment, when nobody makes or frees anything. */
static struct counted count(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    struct counted c = {.files = files_open(),
                        .mappings = lines_of("/proc/self/maps"),
                        .shared_kib = number_in("/proc/self/status", "RssShmem:"),
                        .huge_kib = number_in("/proc/self/status", "HugetlbPages:")};
    MPI_Barrier(MPI_COMM_WORLD);
    return c;
}

static double make_all(int n, MPI_Info info, MPI_Win *wins, unsigned char **bases)
{
    double start = now(), first = 0, last = 0;
    for (int i = 0; i < n; i++) {
        MPI_Win_allocate(BYTES, 1, info, MPI_COMM_WORLD, &bases[i], &wins[i]);
        memset(bases[i], 0, BYTES);
        if ((i + 1) % (n / BATCHES) == 0) {
            double t = now();
            first = i + 1 == n / BATCHES ? t - start : first;
            last = t - start;
            start = t;
        }
    }
    if (me == 0) {
        printf("  %.1f us for each of the first windows, %.1f for the last\n", 1e6 * first * BATCHES / n,
               1e6 * last * BATCHES / n);
    }
    return last / first;
}

/* Every window takes one put from the left; all must hold what came. */
static void use_all(int n, MPI_Win *wins, unsigned char *const *bases)
{
    unsigned char data[BYTES];
    int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
    for (int i = 0; i < n; i++) {
        memset(data, i + me, sizeof data);
        MPI_Win_lock(MPI_LOCK_SHARED, right, 0, wins[i]);
        MPI_Put(data, BYTES, MPI_BYTE, right, 0, BYTES, MPI_BYTE, wins[i]);
        MPI_Win_unlock(right, wins[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        int want = (i + left) & 255;
        MPI_Win_lock(MPI_LOCK_SHARED, me, 0, wins[i]);
        CHECK(bases[i][0] == want && bases[i][BYTES - 1] == want, "window %d: %d %d, not %d", i, bases[i][0],
              bases[i][BYTES - 1], want);
        MPI_Win_unlock(me, wins[i]);
    }
}

static void free_all(int n, MPI_Win *wins)
{
    for (int i = 0; i < n; i++) {
        MPI_Win_free(&wins[i * 7 % n]); /* n is no multiple of 7 */
    }
}

/* What is wrong when the counts of one turn are these, or NULL. */
static const char *grown(struct counted before, struct counted after)
{
    return after.files > before.files                    ? "files"
           : after.mappings > before.mappings + 8        ? "mappings"
           : after.shared_kib > before.shared_kib + 1024 ? "shared memory"
           : after.huge_kib != before.huge_kib           ? "huge pages"
                                                         : NULL;
}

static void try_wish(int n, const char *const *pairs)
{
    MPI_Win *wins = malloc((size_t)n * sizeof(MPI_Win));
    unsigned char **bases = malloc((size_t)n * sizeof *bases);
    MPI_Info info;
    double growth = 1e9, stays = 1;
    struct counted before = {0}, during = {0}, after = {0};
    MPI_Info_create(&info);
    for (int i = 0; pairs[i] != NULL; i += 2) {
        MPI_Info_set(info, pairs[i], pairs[i + 1]);
    }
    if (me == 0) {
        printf("%d windows, %s=%s\n", n, pairs[0], pairs[1]);
    }
    /* The first turn makes what stays: arenas, tables, connections; a machine with other work makes some of
     * it later, and disturbs clocks. What is wrong is so in each turn. */
    for (int turn = 0; turn < 2 || (turn < 6 && (growth > 2 || stays > 0)); turn++) {
        double mine;
        before = count();
        mine = make_all(n, info, wins, bases);
        MPI_Allreduce(&mine, &growth, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        during = count();
        use_all(n, wins, bases);
        free_all(n, wins);
        after = count();
        mine = grown(before, after) != NULL;
        MPI_Allreduce(&mine, &stays, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    CHECK(growth <= 2, "the last windows cost %.1f times the first", growth);
    CHECK(
        grown(before, after) == NULL,
        "%s: files %ld -> %ld, mappings %ld -> %ld, shared memory %ld -> %ld KiB, huge pages %ld -> %ld KiB",
        grown(before, after), before.files, after.files, before.mappings, after.mappings, before.shared_kib,
        after.shared_kib, before.huge_kib, after.huge_kib);
    CHECK(during.files - before.files < 64, "%ld files for %d windows", during.files - before.files, n);
    CHECK(during.huge_kib - before.huge_kib <= (long)n * BYTES / 1024 + 8192,
          "%ld KiB of huge pages for them", during.huge_kib - before.huge_kib);
    if (me == 0) {
        printf("  huge pages %ld KiB before, %ld with them, %ld after; files %ld, %ld, %ld\n",
               before.huge_kib, during.huge_kib, after.huge_kib, before.files, during.files, after.files);
    }
    MPI_Info_free(&info);
    free(wins);
    free(bases);
}

int main(int argc, char **argv)
{
    static const char *const wishes[][7] = {
        {"hotlane_page_size", "2M", "hotlane_mem_policy", "P", NULL},
        {"hotlane_mem_kind", "DDR", "hotlane_mem_policy", "M", NULL},
        {"hotlane_page_size", "4K", "hotlane_mem_policy", "I", NULL},
    };
    begin(&argc, &argv);
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        try_wish(n, wishes[i]);
    }
    return finish_checks("rma_wished");
}
