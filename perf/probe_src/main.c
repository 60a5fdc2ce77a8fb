/* Threads that receive messages of unknown length.
 *
 *   probe rate WAY directed|any THREADS MESSAGES BYTES
 *   probe trip WAY directed|any THREADS MESSAGES BYTES
 *   probe listing WAY
 *
 * WAY: matched, locks, map, outside, wrong (not in the listing); and in the listing blocking, which waits for ever.
 * rate: THREADS threads of rank 0 receive from as many senders, threads of the other ranks in turns.
 * trip: of 2 ranks THREADS threads each send and wait for an answer.
 * listing: 2 ranks: a thread's message is sent after another thread's was answered, whose wildcard could take
 * both.
 *
 * Prints "rate MESSAGES_PER_S PROBES LOCKS" or "trip MICROSECONDS PROBES LOCKS", the counts per message.
 * Contents and counts of all messages are looked at. */
#include "probe.h"

#define CREDIT 64 /* messages after which a sender waits for the receiver's word */
#define TAG_CREDIT TAG_OWN

static const struct way *const ways[] = {&way_matched, &way_locks, &way_map,
                                         &way_outside, &way_wrong, &way_blocking};
static const struct way *way;
static int rank, ranks, threads, bytes;
static bool any;
static long messages; /* of one stream */
static pthread_barrier_t all_begin;
static atomic_long *received; /* of each stream */
static atomic_int wrong;
static double begin_s;

struct thread {
    pthread_t id;
    int stream;
    struct counts counts;
};

void *need(size_t size)
{
    void *p = malloc(size > 0 ? size : 1);
    if (p == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

void message_of(MPI_Status *s, struct message *m)
{
    MPI_Get_count(s, MPI_BYTE, &m->bytes);
    m->src = s->MPI_SOURCE;
    m->tag = s->MPI_TAG;
    m->data = need((size_t)m->bytes);
}

/* Which rank sends stream k: threads of the others, in turns. */
static int sender_of(int stream)
{
    return 1 + stream % (ranks - 1);
}

static void look_at(struct message *m)
{
    const char *data = m->data;
    wrong += m->bytes != bytes || (bytes > 0 && (data[0] != (char)m->tag || data[bytes - 1] != (char)m->tag));
    free(m->data);
}

/* ---- rate ---- */

static void *receive_stream(void *arg)
{
    struct thread *t = arg;
    pthread_barrier_wait(&all_begin);
    for (long i = 0; i < messages; i++) {
        struct message m;
        way->receive(any ? MPI_ANY_SOURCE : sender_of(t->stream), any ? MPI_ANY_TAG : t->stream, &m,
                     &t->counts);
        int stream = m.tag;
        look_at(&m);
        if ((received[stream] += 1) % CREDIT == 0) {
            MPI_Send(NULL, 0, MPI_BYTE, sender_of(stream), TAG_CREDIT + stream, MPI_COMM_WORLD);
        }
    }
    return NULL;
}

static void await_credit(int stream)
{
    MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_CREDIT + stream, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Two windows of messages are under way at most. */
static void *send_stream(void *arg)
{
    const struct thread *t = arg;
    char *data = need((size_t)bytes);
    memset(data, (char)t->stream, (size_t)bytes);
    pthread_barrier_wait(&all_begin);
    for (long i = 1; i <= messages; i++) {
        MPI_Send(data, bytes, MPI_BYTE, 0, t->stream, MPI_COMM_WORLD);
        if (i % CREDIT == 0 && i > CREDIT) {
            await_credit(t->stream);
        }
    }
    if (messages >= CREDIT) {
        await_credit(t->stream);
    }
    free(data);
    return NULL;
}

/* ---- round trip ---- */

static void *bounce(void *arg)
{
    struct thread *t = arg;
    char *data = need((size_t)bytes);
    memset(data, (char)t->stream, (size_t)bytes);
    pthread_barrier_wait(&all_begin);
    for (long i = 0; i < messages; i++) {
        struct message m;
        if (rank == 0) {
            MPI_Send(data, bytes, MPI_BYTE, 1, t->stream, MPI_COMM_WORLD);
        }
        way->receive(any ? MPI_ANY_SOURCE : 1 - rank, any ? MPI_ANY_TAG : t->stream, &m, &t->counts);
        look_at(&m);
        if (rank == 1) {
            MPI_Send(data, bytes, MPI_BYTE, 0, t->stream, MPI_COMM_WORLD);
        }
    }
    free(data);
    return NULL;
}

/* ---- the listing ---- */

static void *wait_for_word(void *unused)
{
    struct message m;
    struct counts c = {0};
    way->receive(1, 5, &m, &c);
    wrong += m.tag != 5;
    free(m.data);
    return unused;
}

/* Rank 0: one thread waits for tag 5 alone. Only then another asks for any tag: it gets 6, and its answer
 * lets rank 1 send 5. */
static void play_listing(void)
{
    if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_OWN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 6, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
    } else if (rank == 0) {
        pthread_t directed;
        struct message m;
        struct counts c = {0};
        way->open(2);
        pthread_create(&directed, NULL, wait_for_word, NULL);
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        MPI_Send(NULL, 0, MPI_BYTE, 1, TAG_OWN, MPI_COMM_WORLD);
        way->receive(1, MPI_ANY_TAG, &m, &c);
        wrong += m.tag != 6;
        free(m.data);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
        pthread_join(directed, NULL);
        way->close();
        printf("ended\n");
    }
}

/* ---- the run ---- */

static double run(struct thread *t, int n, void *(*body)(void *))
{
    pthread_barrier_init(&all_begin, NULL, (unsigned)n + 1);
    for (int i = 0; i < n; i++) {
        pthread_create(&t[i].id, NULL, body, &t[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    begin_s = now_s();
    pthread_barrier_wait(&all_begin);
    for (int i = 0; i < n; i++) {
        pthread_join(t[i].id, NULL);
    }
    return now_s() - begin_s;
}

static void measure(bool trip)
{
    struct thread *t = calloc((size_t)threads, sizeof *t);
    bool receives = trip || rank == 0;
    int n = 0;
    received = calloc((size_t)threads, sizeof *received);
    for (int k = 0; k < threads; k++) {
        if (receives || sender_of(k) == rank) {
            t[n++].stream = k;
        }
    }
    if (receives) {
        way->open(messages * threads);
    }
    double seconds = run(t, n, trip ? bounce : rank == 0 ? receive_stream : send_stream);
    if (receives) {
        way->close();
    }
    struct counts sum = {0};
    for (int k = 0; k < n; k++) {
        sum.probes += t[k].counts.probes;
        sum.locks += t[k].counts.locks;
    }
    double all = (double)messages * threads;
    if (rank == 0) {
        printf("%s %.4f %.3f %.3f\n", trip ? "trip" : "rate",
               trip ? seconds / (double)messages * 1e6 : all / seconds, (double)sum.probes / all,
               (double)sum.locks / all);
    }
    free(t);
    free(received);
}

static void parse(int argc, char **argv)
{
    const char *name = argc > 2 ? argv[2] : "";
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        way = strcmp(ways[i]->name, name) == 0 ? ways[i] : way;
    }
    if (way == NULL || ranks < 2) {
        fprintf(stderr, "usage: probe rate|trip|listing matched|locks|map|outside|wrong|blocking ..., at "
                        "least 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (strcmp(argv[1], "listing") != 0) {
        any = argc > 3 && strcmp(argv[3], "any") == 0;
        threads = (int)number(argv, argc, 4, "threads");
        messages = number(argv, argc, 5, "messages");
        bytes = (int)number(argv, argc, 6, "bytes");
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, &rank, &ranks);
    parse(argc, argv);
    if (strcmp(argv[1], "listing") == 0) {
        play_listing();
    } else {
        measure(strcmp(argv[1], "trip") == 0);
    }
    if (wrong > 0) {
        fprintf(stderr, "rank %d: %d messages were not what was sent\n", rank, (int)wrong);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Finalize();
    return 0;
}
