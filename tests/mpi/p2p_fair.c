/* Nobody starves: of requests that are done each is told of in time, although others are posted again at
 * once; what is told of at once never keeps the rest from getting on; receives and probes of any source serve
 * every sender, however much the others send.
 *
 *     p2p_fair MESSAGES, of each sender */
#include "mpi_test.h"

#define N 6
#define CREDIT 8 /* messages that a sender may have under way */

enum { WAITANY, TESTANY, STATUS_ANY, WAITSOME, TESTSOME, STATUS_SOME, WAYS };
static const char *const way_names[] = {"Waitany",  "Testany",  "Request_get_status_any",
                                        "Waitsome", "Testsome", "Request_get_status_some"};

/* ---- requests ---- */

/* Which ones the way tells of: their number; those that it does not end are ended here. */
static int ask(int way, int n, MPI_Request *r, int told[])
{
    int count = 1, flag = 1;
    if (way == WAITANY) {
        MPI_Waitany(n, r, told, MPI_STATUS_IGNORE);
    } else if (way == TESTANY) {
        MPI_Testany(n, r, told, &flag, MPI_STATUS_IGNORE);
    } else if (way == STATUS_ANY) {
        MPI_Request_get_status_any(n, r, told, &flag, MPI_STATUS_IGNORE);
    } else if (way == WAITSOME) {
        MPI_Waitsome(n, r, &count, told, MPI_STATUSES_IGNORE);
    } else if (way == TESTSOME) {
        MPI_Testsome(n, r, &count, told, MPI_STATUSES_IGNORE);
    } else {
        MPI_Request_get_status_some(n, r, &count, told, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; flag && i < count; i++) {
        CHECK(told[i] >= 0 && told[i] < n);
        MPI_Wait(&r[told[i]], MPI_STATUS_IGNORE); /* a null one, mostly */
    }
    return flag ? count : 0;
}

/* A send that is done at once: to nobody, or to me. */
static void send_again(int i, MPI_Request *r)
{
    char byte = 0;
    MPI_Isend(&byte, 1, MPI_CHAR, i % 2 == 0 ? MPI_PROC_NULL : me, 1, MPI_COMM_WORLD, r);
    MPI_Recv(&byte, 1, MPI_CHAR, i % 2 == 0 ? MPI_PROC_NULL : me, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Requests that are done; but for the last two, who asks posts them again as soon as they are told of. */
struct list {
    MPI_Request r[N];
    int told[N];
    char byte[2];
};

static void fill(struct list *l)
{
    memset(l->told, 0, sizeof l->told);
    for (int i = 0; i < N; i++) {
        l->r[i] = MPI_REQUEST_NULL;
        if (i < N - 2) {
            send_again(i, &l->r[i]);
        } else {
            MPI_Irecv(&l->byte[i - (N - 2)], 1, MPI_CHAR, me, 2, MPI_COMM_WORLD, &l->r[i]);
            MPI_Send(&l->byte[0], 1, MPI_CHAR, me, 2, MPI_COMM_WORLD);
            int done = 0;
            while (!done) {
                MPI_Request_get_status(l->r[i], &done, MPI_STATUS_IGNORE);
            }
        }
    }
}

static void ask_once(struct list *l, int way)
{
    int told[N], n = ask(way, N, l->r, told);
    for (int i = 0; i < n; i++) {
        l->told[told[i]]++;
        if (told[i] < N - 2) {
            send_again(told[i], &l->r[told[i]]);
        }
    }
}

static void judge(const struct list *l, int way, const char *what)
{
    for (int i = 0; i < N; i++) {
        if (l->told[i] == 0) {
            fprintf(stderr, "rank %d: MPI_%s, %s: request %d was not told of\n", me, way_names[way], what, i);
            TEST_END();
        }
    }
}

/* One list: within as many calls as it has entries; two in turn: soon. */
static void tell_each(int way)
{
    static struct list a, b;
    fill(&a);
    for (int k = 0; k < N; k++) {
        ask_once(&a, way);
    }
    judge(&a, way, "one list");
    fill(&a);
    fill(&b);
    for (int k = 0; k < 40 * N; k++) {
        ask_once(&a, way);
        ask_once(&b, way);
    }
    judge(&a, way, "first of two lists");
    judge(&b, way, "second of two lists");
    for (int i = 0; i < N; i++) {
        MPI_Wait(&a.r[i], MPI_STATUS_IGNORE);
        MPI_Wait(&b.r[i], MPI_STATUS_IGNORE);
    }
}

/* A new list is told of from its beginning, wherever it lies and whatever was told of before. */
static void tell_in_order(int way, int mode)
{
    static MPI_Request r[N];
    char in[N], out = 1;
    for (int round = 0; round < 20; round++) {
        int told[N];
        for (int i = 0; i < N; i++) {
            if (mode == 0) {
                MPI_Isend(&out, 1, MPI_CHAR, MPI_PROC_NULL, 6, MPI_COMM_WORLD, &r[i]);
            } else {
                MPI_Irecv(&in[i], 1, MPI_CHAR, me, 6, MPI_COMM_WORLD, &r[i]);
            }
        }
        for (int i = 0; mode == 1 && i < N; i++) {
            MPI_Send(&out, 1, MPI_CHAR, me, 6, MPI_COMM_WORLD);
        }
        while (ask(way, N, r, told) == 0) {
        }
        CHECK(told[0] == 0);
        if (mode == 0) {
            MPI_Waitall(N, r, MPI_STATUSES_IGNORE);
        }
        for (int i = 0; mode == 1 && i < N; i++) {
            MPI_Wait(&r[i], MPI_STATUS_IGNORE);
        }
    }
}

/* A message that its sender sends when asked to, while another request is done whenever one looks. */
static void get_on(int way, int count)
{
    char *data = malloc((size_t)count), go = 1;
    int peer = me ^ 1, here = 0, told[2];
    for (int turn = 0; turn < 2 && peer < size; turn++) {
        if (me % 2 == turn) {
            MPI_Recv(&go, 1, MPI_CHAR, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            test_fill(data, (size_t)count, turn);
            MPI_Send(data, count, MPI_CHAR, peer, 4, MPI_COMM_WORLD);
            continue;
        }
        MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Irecv(data, count, MPI_CHAR, peer, 4, MPI_COMM_WORLD, &r[1]);
        MPI_Send(&go, 1, MPI_CHAR, peer, 3, MPI_COMM_WORLD);
        for (here = 0; !here;) {
            if (r[0] == MPI_REQUEST_NULL) {
                MPI_Isend(&go, 1, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[0]);
            }
            for (int n = ask(way, 2, r, told); n > 0; n--) {
                here = here || told[n - 1] == 1;
            }
        }
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        test_verify(data, (size_t)count, turn);
    }
    free(data);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- any source ---- */

enum { RECV, IRECV, PROBE, IPROBE, MPROBE, IMPROBE, TAKES };
enum { DATA = 10, BYE, ANSWER };

static int messages;

/* Receives from anybody in one of the ways; returns who it was. */
static MPI_Status take(int how, void *buf, int bytes)
{
    MPI_Status st;
    MPI_Request r;
    MPI_Message m;
    int flag = 0;
    if (how == RECV) {
        MPI_Recv(buf, bytes, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
    } else if (how == IRECV) {
        MPI_Irecv(buf, bytes, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
        MPI_Wait(&r, &st);
    } else if (how == PROBE || how == IPROBE) {
        if (how == PROBE) {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
        }
        while (how == IPROBE && !flag) {
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &st);
        }
        MPI_Recv(buf, bytes, MPI_CHAR, st.MPI_SOURCE, st.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        if (how == MPROBE) {
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &m, &st);
        }
        while (how == IMPROBE && !flag) {
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, &st);
        }
        MPI_Mrecv(buf, bytes, MPI_CHAR, &m, MPI_STATUS_IGNORE);
    }
    return st;
}

#define LARGE 100000

/* Sends as much as its credit allows until the answer says that all have been served; then says goodbye. */
static void flood(char *buf)
{
    int under_way = 0;
    char more = 1;
    for (int i = 0; more || under_way > 0;) {
        if (more && under_way < CREDIT) {
            MPI_Send(buf, (i + me) % 16 == 0 ? LARGE : 64, MPI_CHAR, 0, DATA, MPI_COMM_WORLD);
            under_way++;
            i++;
        } else {
            char answer;
            MPI_Recv(&answer, 1, MPI_CHAR, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            more = more && answer;
            under_way--;
        }
    }
    MPI_Send(buf, 0, MPI_CHAR, 0, BYE, MPI_COMM_WORLD);
}

/* Everybody is served: who has enough goes on sending until all have. A message that is known to be here is
 * taken after those that were here before it. */
static void serve(int how, char *buf)
{
    int *served = calloc((size_t)size, sizeof *served), *since = calloc((size_t)size, sizeof *since);
    int hungry = size - 1, here = size - 1;
    for (int total = 1; here > 0; total++) {
        int flag, who = 1 + total % (size - 1);
        MPI_Iprobe(who, DATA, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        since[who] = flag && since[who] == 0 ? total : since[who];
        MPI_Status st = take(how, buf, LARGE);
        if (st.MPI_TAG == BYE) {
            here--;
            continue;
        }
        int waited = since[st.MPI_SOURCE] > 0 ? total - since[st.MPI_SOURCE] : 0;
        CHECK(waited <= CREDIT * (size - 1));
        since[st.MPI_SOURCE] = 0;
        hungry -= ++served[st.MPI_SOURCE] == messages;
        char more = hungry > 0;
        MPI_Send(&more, 1, MPI_CHAR, st.MPI_SOURCE, ANSWER, MPI_COMM_WORLD);
    }
    free(served);
    free(since);
}

int main(int argc, char **argv)
{
    test_start(2);
    messages = argc > 1 ? atoi(argv[1]) : 100;
    char *buf = calloc(1, LARGE);
    CHECK(buf != NULL);
    for (int way = 0; way < WAYS; way++) {
        tell_each(way);
        tell_in_order(way, 0);
        tell_in_order(way, 1);
        get_on(way, 1);
        get_on(way, 100000);
        get_on(way, 4000000);
    }
    for (int how = 0; how < TAKES; how++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == 0) {
            serve(how, buf);
        } else {
            flood(buf);
        }
    }
    free(buf);
    MPI_Finalize();
    return 0;
}
