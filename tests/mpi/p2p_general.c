/* Generalized requests: completed by other threads, which wakes sleepers; their functions are called as often
 * as they should; freed before and after completion; mixed with messages; errors of users come back.
 *   p2p_general [threads [loops]] */
#include "mpi_test.h"

static int n_threads = 2, loops = 200;

struct work {
    MPI_Request request;
    _Atomic int queried, freed, cancelled, completed_at_cancel;
    int value, query_code, free_code;
};

static int query(void *extra, MPI_Status *status)
{
    struct work *w = extra;
    w->queried++;
    MPI_Status_set_elements(status, MPI_INT, w->value);
    MPI_Status_set_cancelled(status, w->cancelled > 0);
    status->MPI_SOURCE = w->value + 1;
    status->MPI_TAG = w->value + 2;
    return w->query_code;
}

static int gone(void *extra)
{
    struct work *w = extra;
    w->freed++;
    return w->free_code;
}

static int cancel(void *extra, int complete)
{
    struct work *w = extra;
    w->completed_at_cancel = complete;
    w->cancelled++;
    if (!complete) {
        MPI_Grequest_complete(w->request); /* users do that */
    }
    return MPI_SUCCESS;
}

static void begin(struct work *w, int value)
{
    memset(w, 0, sizeof *w);
    w->value = value;
    MPI_Grequest_start(query, gone, cancel, w, &w->request);
    CHECK(w->request != MPI_REQUEST_NULL);
}

static void check(const struct work *w, const MPI_Status *st)
{
    int n;
    MPI_Get_elements(st, MPI_INT, &n);
    CHECK(n == w->value && st->MPI_SOURCE == w->value + 1 && st->MPI_TAG == w->value + 2);
    CHECK_EQ(w->freed, 1);
}

/* ---- Each thread completes what another one waits for ---- */

static struct work pairs[64];
static _Atomic int offered[64];

static void *wait_or_complete(void *arg)
{
    int t = (int)(intptr_t)arg, of = t / 2;
    for (int i = 1; i <= loops; i++) {
        struct work *w = &pairs[of];
        if (t % 2 == 0) {
            MPI_Status st;
            MPI_Request r;
            begin(w, i);
            r = w->request;
            offered[of] = i;
            if (i % 3 == 0) {
                int index;
                MPI_Request both[2] = {MPI_REQUEST_NULL, r};
                MPI_Waitany(2, both, &index, &st);
                CHECK(index == 1 && both[1] == MPI_REQUEST_NULL);
            } else {
                MPI_Wait(&r, &st);
                CHECK(r == MPI_REQUEST_NULL);
            }
            check(w, &st);
            CHECK_EQ(w->queried, 1);
            offered[of] = 0;
        } else {
            while (offered[of] != i) {
                sched_yield();
            }
            if (i % 16 == 0) {
                usleep(2000); /* the other one sleeps */
            }
            MPI_Grequest_complete(w->request);
            while (offered[of] == i) {
                sched_yield();
            }
        }
    }
    return NULL;
}

/* ---- Freed and completed at once: whoever comes second calls the function ---- */

static struct work racing[64];
static pthread_barrier_t meet;

static void *free_or_complete(void *arg)
{
    int t = (int)(intptr_t)arg;
    struct work *w = &racing[t / 2];
    for (int i = 0; i < loops; i++) {
        if (t % 2 == 0) {
            begin(w, i);
        }
        pthread_barrier_wait(&meet);
        MPI_Request r = w->request;
        if (t % 2 == 0) {
            MPI_Request_free(&r);
        } else {
            MPI_Grequest_complete(r);
        }
        pthread_barrier_wait(&meet);
        CHECK(w->freed == 1 && w->queried == 0);
        pthread_barrier_wait(&meet);
    }
    return NULL;
}

static void alone(void)
{
    struct work w, v;
    MPI_Status st, sts[3];
    int flag, in = -1, index[3], n;
    MPI_Request rs[3];
    begin(&w, 5);
    MPI_Test(&w.request, &flag, &st);
    CHECK(!flag && w.queried == 0);
    MPI_Grequest_complete(w.request);
    for (int i = 1; i <= 3; i++) {
        MPI_Request_get_status(w.request, &flag, &st);
        CHECK(flag && w.queried == i && w.freed == 0 && st.MPI_TAG == 7);
    }
    MPI_Request_get_status(w.request, &flag, MPI_STATUS_IGNORE);
    MPI_Test(&w.request, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && w.freed == 1 && w.queried == 5);
    /* With messages. */
    begin(&w, 6);
    begin(&v, 7);
    MPI_Irecv(&in, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &rs[1]);
    rs[0] = w.request;
    rs[2] = v.request;
    MPI_Grequest_complete(v.request);
    MPI_Testsome(3, rs, &n, index, sts);
    CHECK(n == 1 && index[0] == 2 && rs[2] == MPI_REQUEST_NULL);
    check(&v, &sts[0]);
    MPI_Send(&me, 1, MPI_INT, me, 1, MPI_COMM_WORLD);
    MPI_Grequest_complete(w.request);
    MPI_Waitall(3, rs, sts);
    check(&w, &sts[0]);
    CHECK(in == me && sts[1].MPI_TAG == 1);
    /* Cancelled: not yet complete, and complete. */
    begin(&w, 8);
    MPI_Cancel(&w.request);
    CHECK(w.cancelled == 1 && w.completed_at_cancel == 0);
    MPI_Cancel(&w.request);
    CHECK(w.cancelled == 2 && w.completed_at_cancel == 1);
    MPI_Wait(&w.request, &st);
    MPI_Test_cancelled(&st, &flag);
    CHECK(flag && w.freed == 1);
}

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void errors(void)
{
    struct work w;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status st;
    int mine, sub, code, len;
    char words[MPI_MAX_ERROR_STRING];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Add_error_class(&mine);
    MPI_Add_error_code(mine, &sub);
    MPI_Add_error_string(sub, "the disk of the user is full");
    begin(&w, 1);
    w.query_code = mine;
    w.free_code = sub; /* the last function's code is the request's */
    MPI_Grequest_complete(w.request);
    CHECK_EQ(MPI_Wait(&w.request, MPI_STATUS_IGNORE), sub);
    begin(&w, 1);
    w.query_code = sub;
    MPI_Grequest_complete(w.request);
    CHECK_EQ(class_of(MPI_Grequest_complete(w.request)), MPI_ERR_REQUEST); /* twice */
    code = MPI_Wait(&w.request, MPI_STATUS_IGNORE);
    CHECK_EQ(code, sub);
    CHECK_EQ(class_of(code), mine);
    MPI_Error_string(code, words, &len);
    CHECK(strstr(words, "disk of the user") != NULL);
    CHECK_EQ(w.freed, 1);
    begin(&w, 1);
    w.free_code = MPI_ERR_NO_SPACE;
    MPI_Grequest_complete(w.request);
    CHECK_EQ(class_of(MPI_Waitall(1, &w.request, &st)), MPI_ERR_IN_STATUS);
    CHECK_EQ(st.MPI_ERROR, MPI_ERR_NO_SPACE);
    begin(&w, 1);
    w.free_code = MPI_ERR_NO_SPACE;
    MPI_Grequest_complete(w.request);
    CHECK_EQ(class_of(MPI_Request_free(&w.request)), MPI_ERR_NO_SPACE);
    CHECK_EQ(w.queried, 0);
    CHECK_EQ(class_of(MPI_Grequest_complete(MPI_REQUEST_NULL)), MPI_ERR_REQUEST);
    MPI_Irecv(&code, 1, MPI_INT, me, 1, MPI_COMM_WORLD, &r);
    CHECK_EQ(class_of(MPI_Grequest_complete(r)), MPI_ERR_REQUEST);
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(class_of(MPI_Grequest_start(NULL, gone, cancel, &w, &r)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Grequest_start(query, gone, cancel, &w, NULL)), MPI_ERR_ARG);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    test_start(1);
    n_threads = argc > 1 ? atoi(argv[1]) : n_threads;
    loops = argc > 2 ? atoi(argv[2]) : loops;
    alone();
    errors();
    test_threads(2 * n_threads, wait_or_complete);
    pthread_barrier_init(&meet, NULL, (unsigned)(2 * n_threads));
    test_threads(2 * n_threads, free_or_complete);
    MPI_Finalize();
    return 0;
}
