/* Many threads of one PE that issue at once.
 *
 *   shmem_mt put|get|add|fetch default|private PARTITION THREADS,... BYTES,... OUTER MILLISECONDS
 *
 * Four PEs: PE 0 is the origin, 1-3 are its targets. One OpenMP loop of OUTER turns, schedule(guided); a turn
 * is 128 operations on one target, then a quiet. The targets take turns. Turns that would begin after
 * MILLISECONDS are left out (0: none). put and get are the forms that return at once (nbi); add and fetch are
 * atomic additions to 8-byte words, without and with their result. Every thread has its own part of the
 * symmetric memory, which comes from PARTITION (0: the default one), and uses the default context or a
 * private one of its own. Afterwards the targets look whether the last turn of every thread has arrived and
 * whether sums are right, and what was got is compared with what is there. Prints "point BYTES THREADS
 * OPERATIONS_PER_S CPU_NS" for each; the last is the processor time of one operation. */
#include "many.h"

enum { INNER = 128, TARGETS = 3, MOST = 64, PART = 32 * 1024, WORD = sizeof(long) };
enum call { PUT, GET, ADD, FETCH };

struct point {
    enum call call;
    bool private;
    int partition, threads;
    long bytes, outer;
    double limit_s;
};

/* Symmetric: what PE 0 tells the targets of a thread's work on each of them. */
struct done {
    long last, turns; /* number of the last turn, -1 without one; how many */
};

static char *base;
static struct done (*done)[TARGETS];

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

static void turn_of(const struct point *p, shmem_ctx_t ctx, int target, char *there, char *mine)
{
    long places = places_of(p->bytes);
    for (long i = 0; i < INNER; i++) {
        char *at = there + i % places * p->bytes, *here = mine + i % places * p->bytes;
        if (p->call == PUT) {
            shmem_ctx_putmem_nbi(ctx, at, here, (size_t)p->bytes, target);
        } else if (p->call == GET) {
            shmem_ctx_getmem_nbi(ctx, here, at, (size_t)p->bytes, target);
        } else if (p->call == ADD) {
            shmem_ctx_long_atomic_add(ctx, (long *)(void *)at, 1, target);
        } else {
            (void)shmem_ctx_long_atomic_fetch_add(ctx, (long *)(void *)at, 1, target);
        }
    }
    shmem_ctx_quiet(ctx);
}

/* A context of the calling thread's own; the default one when there is none or it is asked for. */
static shmem_ctx_t context(const struct point *p)
{
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    if (p->private && shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0) {
        fail("no private context");
    }
    return ctx;
}

struct speed {
    double rate, cpu_ns; /* operations per second, processor time of one */
};

static struct speed measure(const struct point *p)
{
    long issued = 0, wrong = 0, part = places_of(p->bytes) * p->bytes;
    double begin_s = 0, end_s = 0, cpu_s = 0;
#pragma omp parallel num_threads(p->threads) reduction(+ : issued, wrong, cpu_s)
    {
        int thread = omp_get_thread_num();
        char *mine = calloc(1, (size_t)part);
        shmem_ctx_t ctx = context(p);
#pragma omp barrier
#pragma omp master
        begin_s = now_s();
#pragma omp barrier
        cpu_s -= clock_s(CLOCK_THREAD_CPUTIME_ID);
#pragma omp for schedule(guided) nowait
        for (long turn = 0; turn < p->outer; turn++) {
            if (p->limit_s > 0 && now_s() - begin_s > p->limit_s) {
                continue;
            }
            int target = (int)(turn % TARGETS);
            if (p->call == PUT) {
                mine[0] = mine[part - 1] = pattern(thread, turn);
            }
            turn_of(p, ctx, target + 1, base + thread * part, mine);
            if (p->call == GET) {
                wrong += mine[0] != pattern(thread, 0) || mine[part - 1] != pattern(thread, 0);
            }
            done[thread][target].last = turn;
            done[thread][target].turns++;
            issued += INNER;
        }
        cpu_s += clock_s(CLOCK_THREAD_CPUTIME_ID);
#pragma omp barrier
#pragma omp master
        end_s = now_s();
        if (ctx != SHMEM_CTX_DEFAULT) {
            shmem_ctx_destroy(ctx);
        }
        free(mine);
    }
    if (wrong != 0) {
        fail("wrong: turns got something else");
    }
    return (struct speed){(double)issued / (end_s - begin_s), 1e9 * cpu_s / (double)issued};
}

/* On the targets: has all of every thread arrived? */
static long missing(const struct point *p, int me)
{
    long part = places_of(p->bytes) * p->bytes, places = places_of(p->bytes), bad = 0;
    shmem_getmem(done, done, MOST * sizeof *done, 0);
    for (int t = 0; t < p->threads; t++) {
        struct done d = done[t][me - 1];
        const char *there = base + t * part;
        if (p->call == PUT && d.last >= 0) {
            bad += there[0] != pattern(t, d.last) || there[part - 1] != pattern(t, d.last);
        }
        for (long i = 0; i < places && p->call >= ADD; i++) {
            bad += ((const long *)(const void *)there)[i] != d.turns * INNER / places;
        }
    }
    return bad;
}

static void forget(void)
{
    for (int t = 0; t < MOST; t++) {
        for (int k = 0; k < TARGETS; k++) {
            done[t][k].last = -1;
        }
    }
}

static void run(const struct point *p)
{
    long part = places_of(p->bytes) * p->bytes;
    int me = shmem_my_pe();
    struct speed speed = {0, 0};
    base = take((size_t)(part * p->threads), p->partition);
    for (int t = 0; t < p->threads; t++) {
        memset(base + t * part, p->call >= ADD ? 0 : pattern(t, 0), (size_t)part);
    }
    memset(done, 0, MOST * sizeof *done);
    forget();
    shmem_barrier_all();
    if (me == 0) {
        struct point warm = *p;
        warm.outer = p->outer < 3 * p->threads ? p->outer : 3 * p->threads;
        measure(&warm);
        forget();
        speed = measure(p);
    }
    shmem_barrier_all();
    if (me > 0 && missing(p, me) != 0) {
        fail("wrong: last turns did not arrive, or sums are wrong");
    }
    if (me == 0) {
        printf("point %ld %d %.1f %.3f\n", p->bytes, p->threads, speed.rate, speed.cpu_ns);
        fflush(stdout);
    }
    shmem_barrier_all();
    shmem_free(base);
}

static int list(const char *words, long out[MOST])
{
    int n = 0;
    for (char *stop; n < MOST && *words != '\0'; words = *stop == ',' ? stop + 1 : stop) {
        out[n] = strtol(words, &stop, 10);
        if (stop == words || out[n++] < 1) {
            fail("not a list of numbers");
        }
    }
    return n;
}

static void points(int argc, char **argv)
{
    static const char *const calls[] = {"put", "get", "add", "fetch"};
    long threads[MOST], bytes[MOST];
    int n_threads = list(argv[4], threads), n_bytes = list(argv[5], bytes);
    struct point p = {.private = strcmp(argv[2], "private") == 0,
                      .partition = (int)number(argv, argc, 3, "partition"),
                      .outer = number(argv, argc, 6, "outer"),
                      .limit_s = 1e-3 * (double)number(argv, argc, 7, "milliseconds")};
    while (p.call < FETCH && strcmp(calls[p.call], argv[1]) != 0) {
        p.call++;
    }
    for (int b = 0; b < n_bytes; b++) {
        for (int t = 0; t < n_threads; t++) {
            p.bytes = p.call >= ADD ? WORD : bytes[b];
            p.threads = (int)threads[t];
            if (threads[t] > MOST) {
                fail("too many threads");
            }
            run(&p);
        }
    }
}

int main(int argc, char **argv)
{
    begin();
    if (argc != 8 || shmem_n_pes() != 1 + TARGETS) {
        fail("shmem_mt: put|get|add|fetch default|private PARTITION THREADS,... BYTES,... OUTER "
             "MILLISECONDS, 4 PEs");
    }
    done = take(MOST * sizeof *done, 0);
    points(argc, argv);
    shmem_free(done);
    end();
    return 0;
}
