/* Flushes with a request: what was issued before is there when the request ends, however it is completed,
 * beside blocking flushes of other threads. Thread t of a rank puts to the next rank, completes a flush in a
 * random way and tells thread t there, which looks at its memory. Windows of every kind. usage: rma_iflush
 * THREADS ROUNDS */
#include "mpi_test.h"

#include <hotlane.h>

enum kind { ALLOCATE, CREATE, SHARED, DYNAMIC, KINDS };
enum { WORDS = 4096, PARTS = 8 };

static MPI_Win win;
static uint64_t *base;
static MPI_Aint *bases; /* [rank] what displacements begin with: 0, or addresses of the dynamic window */
static int threads, rounds;
static uint64_t seed;

struct worker {
    int thread;
    uint64_t state;
    uint64_t *out, *back;
};

static unsigned draw(struct worker *k, unsigned below)
{
    k->state = k->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(k->state >> 33) % below;
}

static uint64_t word_of(int from, int thread, int round, int i)
{
    return (uint64_t)from << 56 | (uint64_t)thread << 40 | (uint64_t)round << 16 | (uint64_t)i;
}

static MPI_Aint place(int rank, int thread)
{
    return bases[rank] + (MPI_Aint)sizeof(uint64_t) * WORDS * thread;
}

/* A word that nobody writes while threads run. */
static MPI_Aint spare(int rank)
{
    return bases[rank] + (MPI_Aint)sizeof(uint64_t) * WORDS * threads;
}

/* All words of a round, behind them 0, in some parts: single words, which travel in chains, and large ones.
 */
static void put_round(struct worker *k, int to, int round)
{
    int parts = 1 + (int)draw(k, PARTS), each = draw(k, 2) ? WORDS / PARTS - 1 : 1 + (int)draw(k, 16),
        n = parts * each;
    for (int i = 0; i < n; i++) {
        k->out[i] = word_of(me, k->thread, round, i);
    }
    k->out[n] = 0;
    MPI_Put(&k->out[n], 1, MPI_UINT64_T, to, place(to, k->thread) + 8 * (n), 1, MPI_UINT64_T, win);
    for (int p = 0; p < parts; p++) {
        MPI_Put(&k->out[p * each], each, MPI_UINT64_T, to, place(to, k->thread) + 8 * (MPI_Aint)(p * each),
                each, MPI_UINT64_T, win);
    }
}

/* A flush with a request, of one target or of all. */
static MPI_Request begin(struct worker *k, int to, bool local)
{
    MPI_Request r = MPI_REQUEST_NULL;
    bool all = draw(k, 3) == 0;
    int rc = local ? all ? MPIX_Win_iflush_local_all(win, &r) : MPIX_Win_iflush_local(to, win, &r)
             : all ? MPIX_Win_iflush_all(win, &r)
                   : MPIX_Win_iflush(to, win, &r);
    CHECK_EQ(rc, MPI_SUCCESS);
    CHECK(r != MPI_REQUEST_NULL);
    return r;
}

static void check_status(const MPI_Status *s)
{
    int count = -1, cancelled = -1;
    MPI_Get_count(s, MPI_BYTE, &count);
    MPI_Test_cancelled(s, &cancelled);
    CHECK(count == 0 && cancelled == 0 && s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG);
}

static void end_alone(struct worker *k, MPI_Request r)
{
    MPI_Status status;
    int done = 0;
    switch (draw(k, 3)) {
    case 0:
        CHECK_EQ(MPI_Wait(&r, &status), MPI_SUCCESS);
        break;
    case 1:
        while (!done) {
            CHECK_EQ(MPI_Test(&r, &done, &status), MPI_SUCCESS);
        }
        break;
    default:
        while (!done) {
            CHECK_EQ(MPI_Request_get_status(r, &done, &status), MPI_SUCCESS);
        }
        CHECK(r != MPI_REQUEST_NULL);
        MPI_Request_free(&r);
    }
    check_status(&status);
    CHECK(r == MPI_REQUEST_NULL);
}

/* Beside the receive of what the left neighbour says, and a get of my own. */
static void end_among(struct worker *k, MPI_Request flush, int to, MPI_Request *heard)
{
    MPI_Request rs[3] = {*heard, flush, MPI_REQUEST_NULL};
    MPI_Status statuses[3];
    int at = -1, done = 0, n = 0, which[3];
    MPI_Rget(k->back, 1, MPI_UINT64_T, to, spare(to), 1, MPI_UINT64_T, win, &rs[2]);
    switch (draw(k, 4)) {
    case 0:
        while (rs[1] != MPI_REQUEST_NULL) {
            CHECK_EQ(MPI_Waitany(3, rs, &at, &statuses[0]), MPI_SUCCESS);
            at == 1 ? check_status(&statuses[0]) : (void)0;
        }
        break;
    case 1:
        while (rs[1] != MPI_REQUEST_NULL) {
            CHECK_EQ(MPI_Waitsome(3, rs, &n, which, statuses), MPI_SUCCESS);
        }
        break;
    case 2:
        while (!done) {
            CHECK_EQ(MPI_Testall(2, &rs[1], &done, statuses), MPI_SUCCESS);
        }
        check_status(&statuses[0]);
        break;
    default:
        CHECK_EQ(MPI_Waitall(2, &rs[1], statuses), MPI_SUCCESS);
        check_status(&statuses[0]);
    }
    MPI_Wait(&rs[2], MPI_STATUS_IGNORE);
    *heard = rs[0];
}

/* Everything that was put is there when this returns. */
static void complete(struct worker *k, int to, MPI_Request *heard)
{
    unsigned how = draw(k, 5);
    if (how == 0) {
        MPI_Win_flush(to, win);
        return;
    }
    if (how == 1) { /* the origin is mine again before the data are there */
        end_alone(k, begin(k, to, true));
        for (int i = 0; i < WORDS; i++) {
            k->out[i] = UINT64_MAX;
        }
    }
    MPI_Request r = begin(k, to, false);
    if (how == 2) {
        k->back[0] = 1;
        MPI_Get(k->back, 1, MPI_UINT64_T, to, spare(to), 1, MPI_UINT64_T, win);
    }
    how < 4 ? end_alone(k, r) : end_among(k, r, to, heard);
    if (how == 2) {
        end_alone(k, begin(k, to, true));
        CHECK_EQ(k->back[0], 0);
    }
}

static void look(const struct worker *k, int from, int round)
{
    const volatile uint64_t *in = base + (size_t)WORDS * (size_t)k->thread;
    MPI_Win_sync(win);
    for (int i = 0; i < WORDS && in[i] != 0; i++) {
        uint64_t there = in[i];
        CHECK_EQ(there, word_of(from, k->thread, round, i));
    }
    CHECK(in[0] != 0);
}

static void *work(void *arg)
{
    struct worker *k = arg;
    int to = (me + 1) % size, from = (me + size - 1) % size;
    for (int round = 1; round <= rounds; round++) {
        MPI_Request heard;
        MPI_Irecv(NULL, 0, MPI_BYTE, from, k->thread, MPI_COMM_WORLD, &heard);
        put_round(k, to, round);
        complete(k, to, &heard);
        MPI_Send(NULL, 0, MPI_BYTE, to, k->thread, MPI_COMM_WORLD);
        MPI_Wait(&heard, MPI_STATUS_IGNORE);
        look(k, from, round);
        MPI_Sendrecv(NULL, 0, MPI_BYTE, from, threads + k->thread, NULL, 0, MPI_BYTE, to, threads + k->thread,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* read: the next round may come */
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t *ids = calloc((size_t)threads, sizeof *ids);
    struct worker *k = calloc((size_t)threads, sizeof *k);
    for (int t = 0; t < threads; t++) {
        k[t] = (struct worker){t, seed + (uint64_t)(me * threads + t), calloc(WORDS + 1, 8), calloc(1, 8)};
        CHECK_EQ(pthread_create(&ids[t], NULL, work, &k[t]), 0);
    }
    for (int t = 0; t < threads; t++) {
        pthread_join(ids[t], NULL);
        free(k[t].out);
        free(k[t].back);
    }
    free(ids);
    free(k);
}

/* False: the ranks have no such window. */
static bool make(enum kind kind)
{
    int rc = MPI_SUCCESS;
    MPI_Aint bytes = (MPI_Aint)sizeof(uint64_t) * (WORDS * threads + 1), mine = 0;
    base = NULL;
    switch (kind) {
    case ALLOCATE:
        MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        break;
    case SHARED:
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        rc = MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        break;
    case CREATE:
        base = calloc(1, (size_t)bytes);
        MPI_Win_create(base, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        break;
    default:
        base = calloc(1, (size_t)bytes);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, base, bytes);
        MPI_Get_address(base, &mine);
    }
    MPI_Allgather(&mine, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
    return rc == MPI_SUCCESS;
}

static void expect(int code, int class)
{
    int got;
    MPI_Error_class(code, &got);
    CHECK_EQ(got, class);
}

/* As the flushes that wait. */
static void refuse(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int next = (me + 1) % size;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    expect(MPIX_Win_iflush(next, win, &r), MPI_ERR_RMA_SYNC);
    expect(MPIX_Win_iflush_local_all(win, &r), MPI_ERR_RMA_SYNC);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    CHECK_EQ(MPIX_Win_iflush_local(next, win, &r), MPI_SUCCESS);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (size > 1) {
        expect(MPIX_Win_iflush(me, win, &r), MPI_ERR_RMA_SYNC);
    }
    expect(MPIX_Win_iflush(size, win, &r), MPI_ERR_RANK);
    expect(MPIX_Win_iflush(-7, win, &r), MPI_ERR_RANK);
    expect(MPIX_Win_iflush(next, win, NULL), MPI_ERR_ARG);
    expect(MPIX_Win_iflush_all(win, NULL), MPI_ERR_ARG);
    CHECK(r == MPI_REQUEST_NULL);
    CHECK_EQ(MPIX_Win_iflush(MPI_PROC_NULL, win, &r), MPI_SUCCESS);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_unlock(next, win);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect(MPIX_Win_iflush(next, MPI_WIN_NULL, &r), MPI_ERR_WIN);
    expect(MPIX_Win_iflush_all(MPI_WIN_NULL, &r), MPI_ERR_WIN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* A request is completed after its epoch, another after its window is gone, one is freed at once. */
static void outlive(MPI_Request *late)
{
    MPI_Request early;
    int next = (me + 1) % size;
    uint64_t word = UINT64_MAX;
    MPI_Win_lock_all(0, win);
    MPI_Put(&word, 1, MPI_UINT64_T, next, spare(next), 1, MPI_UINT64_T, win);
    MPIX_Win_iflush(next, win, &early);
    MPIX_Win_iflush_all(win, late);
    MPI_Win_unlock_all(win);
    CHECK_EQ(MPI_Wait(&early, MPI_STATUS_IGNORE), MPI_SUCCESS);
    MPI_Win_lock_all(0, win);
    MPI_Put(&word, 1, MPI_UINT64_T, next, spare(next), 1, MPI_UINT64_T, win);
    MPIX_Win_iflush(next, win, &early);
    CHECK_EQ(MPI_Request_free(&early), MPI_SUCCESS);
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
    threads = argc > 1 ? atoi(argv[1]) : 2;
    rounds = argc > 2 ? atoi(argv[2]) : 40;
    test_start(1);
    seed = test_seed();
    bases = calloc((size_t)size, sizeof *bases);
    for (int kind = 0; kind < KINDS; kind++) {
        MPI_Request late;
        if (!make(kind)) {
            continue;
        }
        refuse();
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, win);
        run_threads();
        MPI_Win_unlock_all(win);
        outlive(&late);
        if (kind == DYNAMIC) {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Win_detach(win, base);
        }
        MPI_Win_free(&win);
        CHECK_EQ(MPI_Wait(&late, MPI_STATUS_IGNORE), MPI_SUCCESS);
        kind == CREATE || kind == DYNAMIC ? free(base) : (void)0;
    }
    free(bases);
    MPI_Finalize();
    return 0;
}
