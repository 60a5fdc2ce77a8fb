/* Many threads of one rank on one window: the benchmark of the figure 5 of Kandalla et al., CUG 2016.
 *
 *   mt put|get THREADS,… BYTES,… OUTER MILLISECONDS     4 ranks: rank 0 is the origin, 1-3 are its targets
 *   mt early ROUNDS BYTES                               2 ranks: does a flush return before the data are there?
 *
 * One OpenMP loop of OUTER turns, schedule(guided); a turn is 128 operations on one target, then its flush.
 * The targets take turns, none is the origin itself. Turns that would begin after MILLISECONDS are left out
 * (0: none). Every thread has its own part of the window, and operations of a turn follow each other through
 * it. Afterwards the targets look whether the last turn of every thread has arrived, and what was got is
 * compared with what is there. Prints "point BYTES THREADS OPERATIONS_PER_S" for each. */
#include "threads.h"

#include <fcntl.h>
#include <omp.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { INNER = 128, TARGETS = 3, MOST = 64, PART = 32 * 1024 };

static int me, ranks;
static MPI_Win win;
static char *base;

static long places_of(long bytes)
{
    long places = PART / bytes;
    return places < 1 ? 1 : places > INNER ? INNER : places;
}

/* What a thread's turn puts, or what stands at a place before a get. */
static char pattern(int thread, long turn)
{
    return (char)(thread * 31 + turn * 7 + 1);
}

struct point {
    bool get;
    long bytes, outer;
    int threads;
    double limit_s;
};

static void turn_of(const struct point *p, int target, MPI_Aint part, char *mine)
{
    long places = places_of(p->bytes);
    int count = (int)p->bytes;
    for (long i = 0; i < INNER; i++) {
        MPI_Aint at = part + i % places * p->bytes;
        char *here = mine + i % places * p->bytes;
        if (p->get) {
            MPI_Get(here, count, MPI_BYTE, target, at, count, MPI_BYTE, win);
        } else {
            MPI_Put(here, count, MPI_BYTE, target, at, count, MPI_BYTE, win);
        }
    }
    MPI_Win_flush(target, win);
}

/* The loop; returns operations per second. last[thread][target]: the last turn, -1 if there was none. */
static double measure(const struct point *p, long (*last)[TARGETS])
{
    long done = 0, wrong = 0, part = places_of(p->bytes) * p->bytes;
    double begin_s = 0, end_s = 0;
#pragma omp parallel num_threads(p->threads) reduction(+ : done, wrong)
    {
        int thread = omp_get_thread_num();
        char *mine = malloc((size_t)part);
        memset(mine, 0, (size_t)part);
#pragma omp barrier
#pragma omp master
        begin_s = now_s();
#pragma omp barrier
#pragma omp for schedule(guided)
        for (long turn = 0; turn < p->outer; turn++) {
            if (p->limit_s > 0 && now_s() - begin_s > p->limit_s) {
                continue;
            }
            int target = (int)(turn % TARGETS);
            if (!p->get) {
                mine[0] = mine[part - 1] = pattern(thread, turn);
            }
            turn_of(p, target + 1, thread * part, mine);
            if (p->get) {
                wrong += mine[0] != pattern(thread, 0) || mine[part - 1] != pattern(thread, 0);
            }
            last[thread][target] = turn;
            done += INNER;
        }
#pragma omp master
        end_s = now_s();
        free(mine);
    }
    if (wrong != 0) {
        printf("wrong: %ld turns got something else\n", wrong);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return (double)done / (end_s - begin_s);
}

/* On the targets: has the last turn of every thread arrived? */
static long missing(const struct point *p, long (*last)[TARGETS])
{
    long part = places_of(p->bytes) * p->bytes, bad = 0;
    for (int t = 0; t < p->threads && !p->get; t++) {
        long turn = last[t][me - 1];
        char want = pattern(t, turn);
        bad += turn >= 0 && (base[t * part] != want || base[(t + 1) * part - 1] != want);
    }
    return bad;
}

static void run(const struct point *p)
{
    long part = places_of(p->bytes) * p->bytes, bad = 0, all;
    long last[MOST][TARGETS];
    double rate = 0;
    MPI_Win_allocate(me == 0 ? 0 : part * p->threads, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    for (int t = 0; t < p->threads && me != 0; t++) {
        memset(base + t * part, pattern(t, 0), (size_t)part);
    }
    memset(last, -1, sizeof last);
    MPI_Win_lock_all(0, win);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        struct point warm = *p;
        warm.outer = p->outer < 3 * p->threads ? p->outer : 3 * p->threads;
        measure(&warm, last);
        memset(last, -1, sizeof last);
        rate = measure(p, last);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(last, (int)sizeof last, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Win_sync(win);
    bad = me == 0 ? 0 : missing(p, last);
    MPI_Reduce(&bad, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0 && all != 0) {
        printf("wrong: the last turns of %ld threads did not arrive\n", all);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (me == 0) {
        printf("point %ld %d %.1f\n", p->bytes, p->threads, rate);
        fflush(stdout);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* ---- early: the origin flushes and then says so without MPI, in memory of a file that both have mapped ----
 */

struct bell {
    _Atomic long rung, heard;
    _Atomic long early;
};

static struct bell *share_bell(void)
{
    char name[64] = "/tmp/mt-bell-XXXXXX";
    int fd = -1;
    if (me == 0) {
        fd = mkstemp(name);
        if (fd < 0 || ftruncate(fd, sizeof(struct bell)) != 0) {
            perror(name);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    MPI_Bcast(name, (int)sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    fd = me == 0 ? fd : open(name, O_RDWR | O_CLOEXEC);
    struct bell *bell =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *bell, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bell == MAP_FAILED) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        unlink(name);
    }
    return bell;
}

struct watch {
    struct bell *bell;
    long rounds, bytes;
};

/* The target's second thread: makes no call of MPI. */
static void *listen(void *arg)
{
    struct watch *w = arg;
    volatile char *first = base, *end = base + w->bytes - 1;
    for (long round = 1; round <= w->rounds; round++) {
        while (atomic_load(&w->bell->rung) < round) {
            sched_yield();
        }
        if (*first != (char)(round % 100) || *end != (char)(round % 100)) {
            atomic_fetch_add(&w->bell->early, 1);
        }
        atomic_store(&w->bell->heard, round);
    }
    return NULL;
}

static void strike(const struct watch *w)
{
    char *mine = malloc((size_t)w->bytes);
    for (long round = 1; round <= w->rounds; round++) {
        memset(mine, (int)(round % 100), (size_t)w->bytes);
        MPI_Put(mine, (int)w->bytes, MPI_BYTE, 1, 0, (int)w->bytes, MPI_BYTE, win);
        MPI_Win_flush(1, win);
        atomic_store(&w->bell->rung, round);
        while (atomic_load(&w->bell->heard) < round) {
            sched_yield();
        }
    }
    free(mine);
}

static void early(long rounds, long bytes)
{
    struct watch w = {share_bell(), rounds, bytes};
    pthread_t thread;
    MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, (size_t)bytes);
    MPI_Win_lock_all(0, win);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) {
        pthread_create(&thread, NULL, listen, &w);
    } else if (me == 0) {
        strike(&w);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) {
        pthread_join(thread, NULL);
    } else if (me == 0) {
        printf("early %ld %ld\n", atomic_load(&w.bell->early), rounds);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static int list(const char *words, long out[MOST])
{
    int n = 0;
    for (char *end; n < MOST && *words != '\0'; words = *end == ',' ? end + 1 : end) {
        out[n] = strtol(words, &end, 10);
        if (end == words || out[n++] < 1) {
            fprintf(stderr, "mt: not a list of numbers: %s\n", words);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
    }
    return n;
}

static void points(int argc, char **argv)
{
    long threads[MOST], bytes[MOST];
    int n_threads = list(argv[2], threads), n_bytes = list(argv[3], bytes);
    struct point p = {.get = strcmp(argv[1], "get") == 0,
                      .outer = number(argv, argc, 4, "outer"),
                      .limit_s = 1e-3 * (double)number(argv, argc, 5, "milliseconds")};
    for (int b = 0; b < n_bytes; b++) {
        for (int t = 0; t < n_threads; t++) {
            p.bytes = bytes[b];
            p.threads = (int)threads[t];
            if (threads[t] > MOST) {
                fprintf(stderr, "mt: at most %d threads\n", MOST);
                MPI_Abort(MPI_COMM_WORLD, 2);
            }
            run(&p);
        }
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, &me, &ranks);
    if (argc == 6 && ranks == 1 + TARGETS) {
        points(argc, argv);
    } else if (argc == 4 && strcmp(argv[1], "early") == 0 && ranks >= 2) {
        early(number(argv, argc, 2, "rounds"), number(argv, argc, 3, "bytes"));
    } else {
        fprintf(stderr,
                "mt: put|get THREADS,... BYTES,... OUTER MILLISECONDS on 4 ranks, or early ROUNDS BYTES\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Finalize();
    return 0;
}
