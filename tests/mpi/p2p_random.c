/* usage: p2p_random ROUNDS [THREADS]: random messages and receives against a plain model of matching. Each
 * thread of each rank sends to all ranks on a communicator of its own and receives in one of many ways; what
 * was received by what must be what MPI's rules of order allow. TEST_SEED repeats a run. */
#include "mpi_test.h"

#define RANKS_MAX 8
#define EACH 12 /* messages between two ranks in a round */
#define ALL (RANKS_MAX * EACH)
#define TAGS 3
#define LONGEST 80000

enum way { SPECIFIC, ANY_TAG, ANY_SOURCE, ANY_BOTH, BY_TAG, WAYS };

struct message {
    int tag, length;
    bool sync;
    int receive; /* that took it */
};

struct receive {
    int source, tag;
    int from, index; /* of the message that it took */
};

struct state {
    MPI_Comm comm;
    uint64_t rnd; /* the same on all ranks, for what all must know */
    uint64_t own; /* of this rank */
    struct message in[RANKS_MAX][EACH], out[RANKS_MAX][EACH];
    struct receive receive[ALL];
    int n;
    unsigned char *buffer[ALL];
};

static MPI_Comm comms[64];
static uint64_t seed;
static int rounds;

static int below(uint64_t *rnd, int n)
{
    return (int)(test_random(rnd) % (uint64_t)n);
}

/* Everybody knows who sends what to whom. */
static void plan(struct state *s)
{
    static const int lengths[] = {8, 9, 32, 33, 100, 4096, 8192, 8193, 16384, 20000, 40000, LONGEST};
    for (int from = 0; from < size; from++) {
        for (int to = 0; to < size; to++) {
            for (int i = 0; i < EACH; i++) {
                struct message m = {below(&s->rnd, TAGS), lengths[below(&s->rnd, 11)], below(&s->rnd, 6) == 0,
                                    -1};
                if (to == me) {
                    s->in[from][i] = m;
                }
                if (from == me) {
                    s->out[to][i] = m;
                }
            }
        }
    }
}

/* One receive for each message, such that all of them end however they match: wildcards of one kind only, or
 * for whole tags. In random order. */
static void choose(struct state *s)
{
    enum way way = (enum way)below(&s->own, WAYS);
    bool any[TAGS];
    for (int t = 0; t < TAGS; t++) {
        any[t] = below(&s->own, 2) == 0;
    }
    s->n = 0;
    for (int from = 0; from < size; from++) {
        for (int i = 0; i < EACH; i++) {
            int tag = s->in[from][i].tag;
            bool no_source = way == ANY_SOURCE || way == ANY_BOTH || (way == BY_TAG && any[tag]);
            bool no_tag = way == ANY_TAG || way == ANY_BOTH;
            s->receive[s->n++] =
                (struct receive){no_source ? MPI_ANY_SOURCE : from, no_tag ? MPI_ANY_TAG : tag, -1, -1};
        }
    }
    for (int i = s->n - 1; i > 0; i--) {
        int k = below(&s->own, i + 1);
        struct receive r = s->receive[i];
        s->receive[i] = s->receive[k];
        s->receive[k] = r;
    }
}

static void send_all(struct state *s, MPI_Request *req, unsigned char **buf)
{
    int order[RANKS_MAX] = {0}, at = 0;
    for (int left = size * EACH; left > 0; left--) {
        int to = below(&s->own, size);
        while (order[to] == EACH) {
            to = (to + 1) % size;
        }
        struct message *m = &s->out[to][order[to]];
        buf[at] = malloc((size_t)m->length);
        test_fill(buf[at], (size_t)m->length, me * 1000 + order[to]);
        int name[2] = {me, order[to]};
        memcpy(buf[at], name, sizeof(name));
        if (m->sync) {
            MPI_Issend(buf[at], m->length, MPI_BYTE, to, m->tag, s->comm, &req[at]);
        } else {
            MPI_Isend(buf[at], m->length, MPI_BYTE, to, m->tag, s->comm, &req[at]);
        }
        order[to]++;
        at++;
    }
}

/* A receive has ended: which message is it, and is it whole? */
static void note(struct state *s, int i, const MPI_Status *st)
{
    struct receive *r = &s->receive[i];
    unsigned char *buf = s->buffer[i];
    int got = -1, name[2];
    MPI_Get_count(st, MPI_BYTE, &got);
    CHECK(got >= 8);
    memcpy(name, buf, sizeof(name));
    CHECK_EQ(name[0], st->MPI_SOURCE);
    CHECK(name[1] >= 0 && name[1] < EACH);
    struct message *m = &s->in[name[0]][name[1]];
    CHECK_EQ(m->tag, st->MPI_TAG);
    CHECK_EQ(m->length, got);
    CHECK_EQ(m->receive, -1);
    for (size_t k = 8; k < (size_t)got; k++) {
        CHECK_EQ(buf[k], test_byte(name[0] * 1000 + name[1], k));
    }
    m->receive = i;
    r->from = name[0];
    r->index = name[1];
}

static void receive_all(struct state *s)
{
    MPI_Request req[ALL];
    MPI_Status st;
    for (int i = 0; i < s->n; i++) {
        const struct receive *r = &s->receive[i];
        MPI_Message message;
        int dice = below(&s->own, 10);
        req[i] = MPI_REQUEST_NULL;
        if (dice == 0) {
            MPI_Recv(s->buffer[i], LONGEST, MPI_BYTE, r->source, r->tag, s->comm, &st);
            note(s, i, &st);
        } else if (dice == 1) {
            MPI_Mprobe(r->source, r->tag, s->comm, &message, &st);
            MPI_Mrecv(s->buffer[i], LONGEST, MPI_BYTE, &message, &st);
            note(s, i, &st);
        } else {
            MPI_Irecv(s->buffer[i], LONGEST, MPI_BYTE, r->source, r->tag, s->comm, &req[i]);
        }
    }
    for (int left = s->n; left > 0; left--) {
        int i = MPI_UNDEFINED;
        MPI_Waitany(s->n, req, &i, &st);
        if (i == MPI_UNDEFINED) {
            break;
        }
        note(s, i, &st);
    }
}

static bool fits(const struct receive *r, int from, const struct message *m)
{
    return (r->source == from || r->source == MPI_ANY_SOURCE) && (r->tag == m->tag || r->tag == MPI_ANY_TAG);
}

/* Of two messages of one source that fit a receive, it takes the first, unless an earlier receive has; of two
 * receives that fit a message, it goes to the first, unless that has an earlier one of this source or one of
 * another. */
static void judge(const struct state *s)
{
    for (int from = 0; from < size; from++) {
        for (int k = 0; k < EACH; k++) {
            const struct message *m = &s->in[from][k];
            CHECK(m->receive >= 0);
            for (int j = 0; j < k; j++) {
                if (fits(&s->receive[m->receive], from, &s->in[from][j])) {
                    CHECK(s->in[from][j].receive < m->receive);
                }
            }
            for (int i = 0; i < m->receive; i++) {
                const struct receive *r = &s->receive[i];
                if (fits(r, from, m)) {
                    CHECK(r->from != from || r->index < k);
                }
            }
        }
    }
}

static void *play(void *arg)
{
    int t = (int)(intptr_t)arg;
    struct state *s = calloc(1, sizeof(*s));
    MPI_Request req[ALL];
    unsigned char *buf[ALL];
    s->comm = comms[t];
    s->rnd = seed + (uint64_t)t;
    s->own = seed + 1000 * (uint64_t)(me + 1) + (uint64_t)t;
    for (int i = 0; i < ALL; i++) {
        s->buffer[i] = malloc(LONGEST);
    }
    for (int round = 0; round < rounds; round++) {
        plan(s);
        choose(s);
        send_all(s, req, buf);
        receive_all(s);
        judge(s);
        MPI_Waitall(size * EACH, req, MPI_STATUSES_IGNORE);
        for (int i = 0; i < size * EACH; i++) {
            free(buf[i]);
        }
        MPI_Barrier(s->comm); /* a round's receives must not take the next one's messages */
    }
    for (int i = 0; i < ALL; i++) {
        free(s->buffer[i]);
    }
    free(s);
    return NULL;
}

int main(int argc, char **argv)
{
    rounds = argc > 1 ? atoi(argv[1]) : 20;
    int threads = argc > 2 ? atoi(argv[2]) : 1;
    test_start(1);
    CHECK(size <= RANKS_MAX);
    seed = test_seed();
    for (int t = 0; t < threads; t++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    }
    test_threads(threads, play);
    for (int t = 0; t < threads; t++) {
        MPI_Comm_free(&comms[t]);
    }
    MPI_Finalize();
    return 0;
}
