/* Alltoall by many threads: figure 6 of Kandalla et al., CUG 2016.
 *
 *   alltoall_mt blocking|nonblocking|persistent|serial THREADS,… BYTES,… MILLISECONDS
 *
 * Each thread calls it on a duplicate of MPI_COMM_WORLD of its own; the BYTES for each peer are divided by
 * the threads (serial: one thread carries them all). Prints "point BYTES THREADS MICROSECONDS LOCKS": of one
 * round of all threads, and locks of the C library that a call takes. */
#include "../rma_src/threads.h"
#include "locks.h"

#include <stdint.h>

enum { MOST = 128 };

static int me, ranks;
static const char *way;
static MPI_Comm comms[MOST];

struct point {
    long bytes; /* of one thread for each peer */
    int threads;
    long times;
    pthread_barrier_t *line;
};

struct worker {
    const struct point *p;
    int number;
    pthread_t id;
    double begin_s, end_s;
    long locks, wrong;
    char *out, *in;
};

static unsigned char pattern(int from, int to, int thread, long i)
{
    return (unsigned char)(from * 7 + to * 31 + thread * 13 + i);
}

static void call(const struct worker *w, MPI_Request *again)
{
    int n = (int)w->p->bytes;
    MPI_Comm comm = comms[w->number];

    if (*again != MPI_REQUEST_NULL) {
        MPI_Start(again);
        MPI_Wait(again, MPI_STATUS_IGNORE);
    } else if (way[0] == 'n') {
        MPI_Request r;
        MPI_Ialltoall(w->out, n, MPI_BYTE, w->in, n, MPI_BYTE, comm, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Alltoall(w->out, n, MPI_BYTE, w->in, n, MPI_BYTE, comm);
    }
}

static void *work(void *worker)
{
    struct worker *w = worker;
    const struct point *p = w->p;
    MPI_Request again = MPI_REQUEST_NULL;
    long all = p->bytes * ranks;

    w->out = malloc((size_t)all);
    w->in = malloc((size_t)all);
    for (long i = 0; i < all; i++) {
        w->out[i] = (char)pattern(me, (int)(i / p->bytes), w->number, i % p->bytes);
        w->in[i] = 0;
    }
    if (way[0] == 'p') {
        MPI_Alltoall_init(w->out, (int)p->bytes, MPI_BYTE, w->in, (int)p->bytes, MPI_BYTE, comms[w->number],
                          MPI_INFO_NULL, &again);
    }
    MPI_Alltoall(w->out, 1, MPI_BYTE, w->in, 1, MPI_BYTE, comms[w->number]);
    call(w, &again);
    if (w->number == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    pthread_barrier_wait(p->line);
    w->locks = -locks_taken();
    w->begin_s = now_s();
    for (long i = 0; i < p->times; i++) {
        call(w, &again);
    }
    w->end_s = now_s();
    w->locks += locks_taken();
    for (long i = 0; i < all; i++) {
        w->wrong += (unsigned char)w->in[i] != pattern((int)(i / p->bytes), me, w->number, i % p->bytes);
    }
    if (again != MPI_REQUEST_NULL) {
        MPI_Request_free(&again);
    }
    free(w->out);
    free(w->in);
    return NULL;
}

/* Microseconds of a round; *locks: of one call. */
static double measure(struct point *p, double *locks)
{
    struct worker workers[MOST];
    pthread_barrier_t line;
    double first_s = 0, last_s = 0, mine_s, all_s;
    long taken = 0, wrong = 0;

    pthread_barrier_init(&line, NULL, (unsigned)p->threads);
    p->line = &line;
    for (int i = 0; i < p->threads; i++) {
        workers[i] = (struct worker){.p = p, .number = i};
        pthread_create(&workers[i].id, NULL, work, &workers[i]);
    }
    for (int i = 0; i < p->threads; i++) {
        struct worker *w = &workers[i];
        pthread_join(w->id, NULL);
        first_s = i == 0 || w->begin_s < first_s ? w->begin_s : first_s;
        last_s = i == 0 || w->end_s > last_s ? w->end_s : last_s;
        taken += w->locks;
        wrong += w->wrong;
    }
    pthread_barrier_destroy(&line);
    if (wrong != 0) {
        printf("wrong: %ld bytes\n", wrong);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    mine_s = last_s - first_s;
    MPI_Allreduce(&mine_s, &all_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    *locks = (double)taken / (double)p->threads / (double)p->times;
    return all_s * 1e6 / (double)p->times;
}

static void run(long bytes, int threads, long milliseconds)
{
    bool serial = way[0] == 's';
    struct point p = {.threads = serial ? 1 : threads, .times = 20};
    double locks, us;

    p.bytes = bytes / p.threads > 0 ? bytes / p.threads : 1;
    us = measure(&p, &locks);
    p.times = (long)((double)milliseconds * 1e3 / us);
    p.times = p.times < 20 ? 20 : p.times;
    us = measure(&p, &locks);
    if (me == 0) {
        printf("point %ld %d %.3f %.3f\n", bytes, threads, us, locks);
        fflush(stdout);
    }
}

/* Calls fn for each of a comma-separated list of numbers. */
static void each(const char *words, void (*fn)(long n, void *arg), void *arg)
{
    char *end = (char *)(uintptr_t)words;

    for (const char *at = words; *at != '\0'; at = *end == ',' ? end + 1 : end) {
        long n = strtol(at, &end, 10);
        if (end == at || n < 1) {
            fprintf(stderr, "numbers and commas, not %s\n", words);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        fn(n, arg);
    }
}

struct sweep {
    const char *sizes;
    long milliseconds, bytes;
};

static void with_threads(long threads, void *sweep)
{
    const struct sweep *s = sweep;

    if (threads <= MOST) {
        run(s->bytes, (int)threads, s->milliseconds);
    }
}

static const char *thread_words;

static void with_size(long bytes, void *sweep)
{
    struct sweep *s = sweep;

    s->bytes = bytes;
    each(thread_words, with_threads, s);
}

int main(int argc, char **argv)
{
    struct sweep s;

    begin(&argc, &argv, &me, &ranks);
    if (argc != 5) {
        fprintf(stderr,
                "usage: %s blocking|nonblocking|persistent|serial THREADS,... BYTES,... MILLISECONDS\n",
                argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    way = argv[1];
    thread_words = argv[2];
    s.milliseconds = number(argv, argc, 4, "milliseconds");
    for (int i = 0; i < MOST; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    each(argv[3], with_size, &s);
    for (int i = 0; i < MOST; i++) {
        MPI_Comm_free(&comms[i]);
    }
    MPI_Finalize();
    return 0;
}
