/* Dynamic windows: every operation on attached memory of every kind, in every kind of epoch, and misuse.
 * Argument: turns of the random part. */
#include "rma.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define N 1000
#define KINDS 5

static MPI_Win win;
static long statics[N];
static int turns;

/* The kinds of memory that a rank attaches. */
struct piece {
    const char *name;
    long *mine;
    MPI_Aint *at; /* [ranks] */
    MPI_Win other;
};
static struct piece pieces[KINDS];

static MPI_Aint address(const void *p)
{
    MPI_Aint a;
    MPI_Get_address(p, &a);
    return a;
}

static void share(struct piece *p)
{
    MPI_Aint mine = address(p->mine);
    p->at = malloc((size_t)ranks * sizeof *p->at);
    MPI_Allgather(&mine, 1, MPI_AINT, p->at, 1, MPI_AINT, MPI_COMM_WORLD);
}

static void attach_all(long *stack)
{
    MPI_Aint bytes = N * (MPI_Aint)sizeof(long);
    pieces[0] = (struct piece){.name = "malloc", .mine = malloc((size_t)bytes)};
    pieces[1] = (struct piece){.name = "static", .mine = statics};
    pieces[2] = (struct piece){.name = "stack", .mine = stack};
    pieces[3] = (struct piece){.name = "MPI_Alloc_mem"};
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &pieces[3].mine);
    pieces[4] = (struct piece){.name = "another window's"};
    MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &pieces[4].mine, &pieces[4].other);
    for (int k = 0; k < KINDS; k++) {
        memset(pieces[k].mine, 0, (size_t)bytes);
        CHECK(MPI_Win_attach(win, pieces[k].mine, bytes) == MPI_SUCCESS, "%s", pieces[k].name);
        share(&pieces[k]);
    }
}

static void detach_all(void)
{
    for (int k = 0; k < KINDS; k++) {
        CHECK(MPI_Win_detach(win, pieces[k].mine) == MPI_SUCCESS, "%s", pieces[k].name);
        free(pieces[k].at);
    }
    free(pieces[0].mine);
    MPI_Free_mem(pieces[3].mine);
    MPI_Win_free(&pieces[4].other);
}

static MPI_Aint element(const struct piece *p, int rank, int i)
{
    return MPI_Aint_add(p->at[rank], i * (MPI_Aint)sizeof(long));
}

/* ---- each operation, under lock, on each kind of memory ---- */

static void each_call(const struct piece *p, int target)
{
    long out[8] = {1, 2, 3, 4, 5, 6, 7, 8}, in[8] = {0}, one = 1, seven = 7, zero = 0, nine = 9, before;
    int base = 100 + 16 * me; /* my own place in everybody's piece */
    MPI_Aint at = element(p, target, base);
    MPI_Request r;

    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Put(out, 8, MPI_LONG, target, at, 8, MPI_LONG, win);
    MPI_Win_flush(target, win);
    MPI_Get(in, 8, MPI_LONG, target, at, 8, MPI_LONG, win);
    MPI_Win_flush(target, win);
    CHECK(memcmp(in, out, sizeof in) == 0, "%s: get after put: %ld", p->name, in[0]);
    MPI_Accumulate(&one, 1, MPI_LONG, target, at, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_flush(target, win);
    MPI_Fetch_and_op(&seven, &before, MPI_LONG, target, at, MPI_SUM, win);
    MPI_Win_flush(target, win);
    CHECK(before == 2, "%s: fetched %ld", p->name, before);
    MPI_Compare_and_swap(&zero, &nine, &before, MPI_LONG, target, at, win);
    MPI_Win_flush(target, win);
    CHECK(before == 9, "%s: compared %ld", p->name, before);
    MPI_Get_accumulate(&nine, 1, MPI_LONG, &before, 1, MPI_LONG, target, at, 1, MPI_LONG, MPI_REPLACE, win);
    MPI_Win_flush(target, win);
    CHECK(before == 0, "%s: replaced %ld", p->name, before);
    MPI_Rput(out, 4, MPI_LONG, target, element(p, target, base + 8), 4, MPI_LONG, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_flush(target, win); /* puts and accumulates have no order */
    MPI_Raccumulate(out, 4, MPI_LONG, target, element(p, target, base + 8), 4, MPI_LONG, MPI_PROD, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_flush(target, win);
    MPI_Rget_accumulate(NULL, 0, MPI_LONG, in, 4, MPI_LONG, target, element(p, target, base + 8), 4, MPI_LONG,
                        MPI_NO_OP, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Rget_c(in + 4, 1, MPI_LONG, target, at, 1, MPI_LONG, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(in[0] == 1 && in[3] == 16 && in[4] == 9, "%s: %ld %ld %ld", p->name, in[0], in[3], in[4]);
    MPI_Win_unlock(target, win);
}

/* Types with holes, whose parts lie in several attached pieces, by absolute addresses. */
static void scattered(int target)
{
    MPI_Datatype theirs;
    int lens[KINDS];
    MPI_Aint at[KINDS];
    long out[2 * KINDS], in[2 * KINDS];
    for (int k = 0; k < KINDS; k++) {
        lens[k] = 2;
        at[k] = element(&pieces[k], target, 10 + 2 * me);
        out[2 * k] = k * 100 + me;
        out[2 * k + 1] = k * 100 + me + 50;
    }
    MPI_Type_create_hindexed(KINDS, lens, at, MPI_LONG, &theirs);
    MPI_Type_commit(&theirs);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    MPI_Put(out, 2 * KINDS, MPI_LONG, target, (MPI_Aint)(uintptr_t)MPI_BOTTOM, 1, theirs, win);
    MPI_Win_flush(target, win);
    MPI_Accumulate(out, 2 * KINDS, MPI_LONG, target, 0, 1, theirs, MPI_SUM, win);
    MPI_Win_flush(target, win);
    MPI_Get(in, 2 * KINDS, MPI_LONG, target, 0, 1, theirs, win);
    MPI_Win_unlock(target, win);
    for (int i = 0; i < 2 * KINDS; i++) {
        CHECK(in[i] == 2 * out[i], "part %d: %ld, not %ld", i, in[i], 2 * out[i]);
    }
    MPI_Type_free(&theirs);
}

/* Two regions that touch are one memory to who accesses it. */
static void touching(void)
{
    char *m = calloc(1, 3000);
    struct piece p = {"touching", (long *)(void *)m, NULL, MPI_WIN_NULL};
    char out[2000], in[2000];
    int target = (me + 1) % ranks;
    MPI_Win_attach(win, m, 1000);
    MPI_Win_attach(win, m + 1000, 1000);
    share(&p);
    memset(out, me + 1, sizeof out);
    MPI_Win_fence(0, win);
    MPI_Put(out, 2000, MPI_CHAR, target, p.at[target], 2000, MPI_CHAR, win);
    MPI_Win_fence(0, win);
    MPI_Get(in, 2000, MPI_CHAR, target, p.at[target], 2000, MPI_CHAR, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(memcmp(in, out, sizeof in) == 0, "%d", in[0]);
    CHECK(m[0] == (me + ranks - 1) % ranks + 1 && m[1999] == m[0] && m[2000] == 0, "%d %d", m[0], m[2000]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(win, m);
    MPI_Win_detach(win, m + 1000);
    free(p.at);
    free(m);
}

/* Started, posted, completed, waited for. */
static void paired(void)
{
    struct piece *p = &pieces[0];
    MPI_Group all, peers;
    int next = (me + 1) % ranks, last = (me + ranks - 1) % ranks;
    int both[2] = {next, last};
    long out = 1000 + me;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, next == last ? 1 : 2, both, &peers);
    MPI_Win_post(peers, 0, win);
    MPI_Win_start(peers, 0, win);
    MPI_Put(&out, 1, MPI_LONG, next, element(p, next, 5), 1, MPI_LONG, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    CHECK(p->mine[5] == 1000 + last, "%ld", p->mine[5]);
    MPI_Group_free(&peers);
    MPI_Group_free(&all);
}

/* Everybody adds to one place through everything at once, elements of every mechanism. */
static void *adder(void *arg)
{
    int k = (int)(long)arg;
    long one = 1;
    long double half = 0.5L;
    for (int i = 0; i < turns; i++) {
        MPI_Accumulate(&one, 1, MPI_LONG, 0, element(&pieces[k], 0, 2), 1, MPI_LONG, MPI_SUM, win);
        MPI_Accumulate(&half, 1, MPI_LONG_DOUBLE, 0, element(&pieces[k], 0, 4) & -16, 1, MPI_LONG_DOUBLE,
                       MPI_SUM, win);
        MPI_Accumulate(&one, 1, MPI_LONG, 0, element(&pieces[k], 0, 8) + 3, 1, MPI_LONG, MPI_SUM, win);
    }
    MPI_Win_flush(0, win);
    return NULL;
}

static void added(void)
{
    pthread_t threads[KINDS];
    for (int k = 0; k < KINDS && me == 0; k++) {
        memset(pieces[k].mine, 0, 10 * sizeof(long));
    }
    MPI_Win_lock_all(0, win);
    meet(win);
    for (long k = 0; k < KINDS; k++) {
        pthread_create(&threads[k], NULL, adder, (void *)k);
    }
    for (int k = 0; k < KINDS; k++) {
        pthread_join(threads[k], NULL);
    }
    MPI_Win_unlock_all(win);
    meet_outside(win);
    for (int k = 0; k < KINDS && me == 0; k++) {
        long all = (long)ranks * turns, odd;
        long double wide;
        memcpy(&odd, (char *)&pieces[k].mine[8] + 3, sizeof odd);
        memcpy(&wide, (void *)((uintptr_t)&pieces[k].mine[4] & ~(uintptr_t)15), sizeof wide);
        CHECK(pieces[k].mine[2] == all && odd == all && wide == (long double)all / 2,
              "%s: %ld, %ld, %g of %ld", pieces[k].name, pieces[k].mine[2], odd, (double)wide, all);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- regions that come and go ---- */

static int moving; /* by __sync calls */

/* What stays is found at every moment, whatever comes and goes beside it. */
static void *looker(void *arg)
{
    int k = (int)(long)arg, target = (me + 1) % ranks, place = 400 + 16 * me + k;
    for (long i = 1; __sync_fetch_and_add(&moving, 0) != 0; i++) {
        long got = 0;
        MPI_Aint at = element(&pieces[k], target, place);
        int rc = MPI_Put(&i, 1, MPI_LONG, target, at, 1, MPI_LONG, win);
        MPI_Win_flush(target, win);
        rc = rc != MPI_SUCCESS ? rc : MPI_Get(&got, 1, MPI_LONG, target, at, 1, MPI_LONG, win);
        MPI_Win_flush(target, win);
        CHECK(rc == MPI_SUCCESS && got == i, "%s: class %d, got %ld of %ld", pieces[k].name, class_of(rc),
              got, i);
    }
    return NULL;
}

static void beside(void)
{
    static long memory[64][4], numbers[64];
    pthread_t threads[KINDS];
    MPI_Win_lock_all(0, win);
    __sync_fetch_and_add(&moving, 1);
    for (long k = 0; k < KINDS; k++) {
        pthread_create(&threads[k], NULL, looker, (void *)k);
    }
    for (int turn = 0; turn < turns; turn++) { /* each is remembered here before it goes */
        for (long i = 0; i < 64; i++) {
            MPI_Win_attach(win, memory[i], sizeof memory[i]);
            numbers[i] = i + turn;
            CHECK(MPI_Put(&numbers[i], 1, MPI_LONG, me, address(memory[i]), 1, MPI_LONG, win) == MPI_SUCCESS,
                  "%ld", i);
        }
        for (long i = 0; i < 64; i++) {
            MPI_Win_flush(me, win);
            CHECK(memory[i][0] == i + turn, "turn %d: %ld of %ld", turn, memory[i][0], i + turn);
            MPI_Win_detach(win, memory[i]);
        }
    }
    __sync_fetch_and_sub(&moving, 1);
    for (int k = 0; k < KINDS; k++) {
        pthread_join(threads[k], NULL);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same address attached again and again, with other memory behind it as far as the network knows. */
static void again(void)
{
    enum { PLACES = 40 };
    static long memory[PLACES][16];
    unsigned state = 12345;
    bool there[PLACES] = {false};
    struct piece p = {"again", &memory[0][0], NULL, MPI_WIN_NULL};
    share(&p);
    for (int turn = 0; turn < turns / 4 + 4; turn++) {
        for (int i = 0; i < PLACES; i++) { /* the same choices on all ranks */
            state = state * 1103515245u + 12345u;
            if ((state >> 16) % 2 == 0) {
                CHECK((there[i] ? MPI_Win_detach(win, memory[i])
                                : MPI_Win_attach(win, memory[i], sizeof memory[i])) == MPI_SUCCESS,
                      "place %d", i);
                there[i] = !there[i];
                memory[i][me] = -1;
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, win);
        for (int i = 0; i < PLACES; i++) {
            long value = turn * 1000 + i;
            int target = (me + turn) % ranks;
            MPI_Aint at = p.at[target] + (i * 16 + me) * (MPI_Aint)sizeof(long);
            int rc = MPI_Put(&value, 1, MPI_LONG, target, at, 1, MPI_LONG, win);
            CHECK(class_of(rc) == (there[i] ? MPI_SUCCESS : MPI_ERR_RMA_RANGE), "turn %d place %d: %d", turn,
                  i, class_of(rc));
        }
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < PLACES; i++) {
            int origin = (me + ranks - turn % ranks) % ranks;
            CHECK(!there[i] || memory[i][origin] == turn * 1000 + i, "turn %d place %d: %ld", turn, i,
                  memory[i][origin]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < PLACES; i++) {
        if (there[i] && i % 2 == 0) {
            MPI_Win_detach(win, memory[i]); /* the others are attached when the window is freed */
        }
    }
    free(p.at);
}

/* Larger than what one message, request slot or piece takes. */
static void large(void)
{
    size_t n = 3 * 1024 * 1024 + 13;
    unsigned char *theirs = malloc(n), *out = malloc(n), *in = malloc(n);
    struct piece p = {"large", (long *)(void *)theirs, NULL, MPI_WIN_NULL};
    int target = (me + 1) % ranks;
    for (size_t i = 0; i < n; i++) {
        out[i] = (unsigned char)(i * 7 + (size_t)me + i / 251);
    }
    memset(theirs, 0, n);
    MPI_Win_attach(win, theirs, (MPI_Aint)n);
    share(&p);
    MPI_Win_lock_all(0, win);
    meet(win);
    MPI_Put_c(out, (MPI_Count)n, MPI_BYTE, target, p.at[target], (MPI_Count)n, MPI_BYTE, win);
    MPI_Win_flush(target, win);
    MPI_Get_c(in, (MPI_Count)n, MPI_BYTE, target, p.at[target], (MPI_Count)n, MPI_BYTE, win);
    MPI_Win_flush(target, win);
    CHECK(memcmp(in, out, n) == 0, "got %d", in[0]);
    memset(in, 0, n);
    MPI_Get_accumulate(out, (int)n, MPI_BYTE, in, (int)n, MPI_BYTE, target, p.at[target], (int)n, MPI_BYTE,
                       MPI_BXOR, win);
    MPI_Win_flush(target, win);
    CHECK(memcmp(in, out, n) == 0, "fetched %d", in[0]);
    MPI_Get(in, (int)n, MPI_BYTE, target, p.at[target], (int)n, MPI_BYTE, win);
    MPI_Win_flush(target, win);
    CHECK(in[0] == 0 && in[n / 2] == 0 && in[n - 1] == 0, "%d %d", in[0], in[n - 1]);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(win, theirs);
    free(p.at);
    free(theirs);
    free(out);
    free(in);
}

/* ---- what it says of itself, and misuse ---- */

static void attributes(void)
{
    void *base = &base;
    MPI_Aint *size;
    int *unit, *flavor, flag;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base == MPI_BOTTOM, "%p", base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    CHECK(flag && *size == 0, "%ld", (long)*size);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
    CHECK(flag && *unit == 1, "%d", *unit);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    CHECK(flag && *flavor == MPI_WIN_FLAVOR_DYNAMIC, "%d", *flavor);
}

static void expect(int rc, int want, const char *what)
{
    CHECK(class_of(rc) == want, "%s: class %d, not %d", what, class_of(rc), want);
}

static void misuse(void)
{
    MPI_Aint bytes = N * (MPI_Aint)sizeof(long);
    long *a = pieces[0].mine, value = 1, got[4];
    int target = (me + 1) % ranks;
    MPI_Aint end = element(&pieces[0], target, N);
    MPI_Win other;

    expect(MPI_Win_attach(win, a, bytes), MPI_ERR_RMA_ATTACH, "attached twice");
    expect(MPI_Win_attach(win, a + N - 1, 8), MPI_ERR_RMA_ATTACH, "the end is attached");
    expect(MPI_Win_attach(win, (char *)a - 8, 9), MPI_ERR_RMA_ATTACH, "the beginning is attached");
    expect(MPI_Win_attach(win, (char *)a - 8, bytes + 16), MPI_ERR_RMA_ATTACH, "the middle is attached");
    expect(MPI_Win_attach(win, a, -1), MPI_ERR_SIZE, "negative size");
    expect(MPI_Win_attach(win, NULL, 8), MPI_ERR_BASE, "no memory");
    expect(MPI_Win_attach(win, got, 0), MPI_SUCCESS, "of no bytes");
    expect(MPI_Win_attach(win, a + 1, 0), MPI_SUCCESS, "of no bytes, inside");
    expect(MPI_Win_detach(win, got), MPI_SUCCESS, "of no bytes");
    expect(MPI_Win_detach(win, a + 1), MPI_SUCCESS, "of no bytes, inside");
    expect(MPI_Win_detach(win, got), MPI_ERR_BASE, "detached twice");
    expect(MPI_Win_detach(win, a + 2), MPI_ERR_BASE, "not where it begins");
    expect(MPI_Win_attach(pieces[4].other, got, 8), MPI_ERR_RMA_FLAVOR, "not a dynamic window");
    expect(MPI_Win_detach(pieces[4].other, got), MPI_ERR_RMA_FLAVOR, "not a dynamic window");

    expect(MPI_Put(&value, 1, MPI_LONG, target, end - 8, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC, "no epoch");
    MPI_Win_lock_all(0, win);
    expect(MPI_Put(&value, 1, MPI_LONG, target, 16, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE, "nobody's");
    expect(MPI_Put(&value, 1, MPI_LONG, target, -8, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE, "negative");
    expect(MPI_Get(got, 2, MPI_LONG, target, end - 8, 2, MPI_LONG, win), MPI_ERR_RMA_RANGE, "over the end");
    expect(MPI_Accumulate(&value, 1, MPI_LONG, target, end - 4, 1, MPI_LONG, MPI_SUM, win), MPI_ERR_RMA_RANGE,
           "an element over the end");
    expect(MPI_Fetch_and_op(&value, got, MPI_LONG, target, end, MPI_SUM, win), MPI_ERR_RMA_RANGE, "behind");
    expect(MPI_Compare_and_swap(&value, &value, got, MPI_LONG, target, end, win), MPI_ERR_RMA_RANGE,
           "behind");
    expect(MPI_Put(&value, 0, MPI_LONG, target, 16, 0, MPI_LONG, win), MPI_SUCCESS, "nothing");
    expect(MPI_Put(&value, 0, MPI_LONG, target, 0, 0, MPI_LONG, win), MPI_SUCCESS, "nothing, nowhere");
    expect(MPI_Put(&value, 1, MPI_LONG, MPI_PROC_NULL, 16, 1, MPI_LONG, win), MPI_SUCCESS, "to nobody");
    MPI_Win_unlock_all(win);

    /* Another window's attachments are its own. */
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &other);
    MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, other);
    expect(MPI_Put(&value, 1, MPI_LONG, target, end - 8, 1, MPI_LONG, other), MPI_ERR_RMA_RANGE, "other's");
    MPI_Win_unlock_all(other);
    MPI_Win_free(&other);
}

/* The last rank detaches memory while the first one's operations are on their way: what says so. */
static void leaving(void)
{
    static long there[4];
    const int last = ranks - 1;
    MPI_Aint at = address(there);
    MPI_Datatype ends;
    long values[2] = {1, 1};
    int over = 0;

    MPI_Bcast(&at, 1, MPI_AINT, last, MPI_COMM_WORLD);
    if (me == last) {
        for (int i = 0; i < 20 * turns; i++) {
            expect(MPI_Win_attach(win, there, sizeof there), MPI_SUCCESS, "attached again");
            for (double until = MPI_Wtime() + 1e-6 * (i % 100); MPI_Wtime() < until;) {
            }
            expect(MPI_Win_detach(win, there), MPI_SUCCESS, "detached again");
        }
        MPI_Send(&over, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else if (me == 0) {
        char text[MPI_MAX_ERROR_STRING], first[32], second[32]; /* addresses of both blocks */
        int len;
        snprintf(first, sizeof first, "%#llx", (unsigned long long)at);
        snprintf(second, sizeof second, "%#llx", (unsigned long long)at + 3 * sizeof *there);
        MPI_Type_vector(2, 1, 3, MPI_LONG, &ends);
        MPI_Type_commit(&ends);
        MPI_Win_lock_all(0, win);
        while (!over) {
            int rc = MPI_Accumulate(values, 2, MPI_LONG, last, at, 1, ends, MPI_SUM, win);
            rc = rc == MPI_SUCCESS ? MPI_Win_flush(last, win) : rc;
            if (rc != MPI_SUCCESS) {
                expect(rc, MPI_ERR_RMA_RANGE, "detached meanwhile");
                MPI_Error_string(rc, text, &len);
                CHECK(strstr(text, first) != NULL || strstr(text, second) != NULL ||
                          strstr(text, "has detached") != NULL,
                      "%s", text);
            }
            MPI_Iprobe(last, 0, MPI_COMM_WORLD, &over, MPI_STATUS_IGNORE);
        }
        MPI_Win_unlock_all(win);
        MPI_Type_free(&ends);
        MPI_Recv(&over, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    long stack[N];
    begin(&argc, &argv);
    turns = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    attributes();
    attach_all(stack);
    MPI_Win_set_errhandler(pieces[4].other, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int target = 0; target < ranks; target++) {
        for (int k = 0; k < KINDS; k++) {
            each_call(&pieces[k], target);
        }
        scattered(target);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    touching();
    if (ranks > 1) {
        paired();
    }
    added();
    beside();
    again();
    large();
    misuse();
    if (ranks > 1) {
        leaving();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    detach_all();
    MPI_Win_free(&win);
    return finish_checks("rma_dynamic");
}
