/* Builds with checked_mode find conflicting accesses of a process, and of the processes of a node: random ones
 * against a model that keeps a byte for each byte, named ones, and none in programs that are right. Processes
 * that share no memory are not compared. usage: rma_conflict [STEPS] */
#include "rma.h"

#include <hotlane.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

enum { BYTES = 512, LONGEST = 24 };
enum { PUT = 1, GET = 2, ACC = 4, FETCH = 8, KINDS = 4 };

static MPI_Win win;
static char *base;
static int *node_of; /* [ranks]: the first rank that shares memory with it */

static void find_nodes(void)
{
    MPI_Comm node;
    int first = me;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    node_of = malloc((size_t)ranks * sizeof *node_of);
    MPI_Allgather(&first, 1, MPI_INT, node_of, 1, MPI_INT, MPI_COMM_WORLD);
}

static uint64_t state;

static unsigned draw(unsigned n)
{
    state += 0x9e3779b97f4a7c15ULL;
    uint64_t x = (state ^ (state >> 33)) * 0xff51afd7ed558ccdULL;
    return (unsigned)((x ^ (x >> 29)) % n);
}

/* What is open on each target byte. */
static unsigned char *model;

/* With what each kind conflicts. */
static const unsigned bad[] = {
    [PUT] = PUT | GET | ACC | FETCH, [GET] = PUT | ACC, [ACC] = PUT | GET, [FETCH] = PUT};

static int conflicts(int target, int at, int len, unsigned kind)
{
    unsigned found = 0;
    for (int i = 0; i < len; i++) {
        found |= model[target * BYTES + at + i];
    }
    return (found & bad[kind]) != 0;
}

static void complete(int target)
{
    switch (draw(3)) {
    case 0:
        MPI_Win_flush(target, win);
        memset(model + target * BYTES, 0, BYTES);
        break;
    case 1:
        MPI_Win_flush_all(win);
        memset(model, 0, (size_t)ranks * BYTES);
        break;
    default:
        MPI_Win_flush_local(target, win);
        for (int i = 0; i < BYTES; i++) {
            model[target * BYTES + i] &= PUT | ACC;
        }
    }
}

static int issue(unsigned kind, char *buf, int len, int target, int at)
{
    if (kind == PUT) {
        return MPI_Put(buf, len, MPI_CHAR, target, at, len, MPI_CHAR, win);
    }
    if (kind == GET) {
        return MPI_Get(buf, len, MPI_CHAR, target, at, len, MPI_CHAR, win);
    }
    if (kind == FETCH) {
        return MPI_Get_accumulate(NULL, 0, MPI_INT8_T, buf, len, MPI_INT8_T, target, at, len, MPI_INT8_T,
                                  MPI_NO_OP, win);
    }
    return MPI_Accumulate(buf, len, MPI_INT8_T, target, at, len, MPI_INT8_T, MPI_SUM, win);
}

/* Every operation has its own memory on this side, and every origin its own bytes of each target: only those
 * meet. */
static void random_ranges(int steps)
{
    static char mine[64][LONGEST];
    int errors = 0, next = 0, first = me * BYTES;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < steps; i++) {
        int target = (int)draw((unsigned)ranks), len = 1 + (int)draw(LONGEST - 1);
        int at = (int)draw((unsigned)(BYTES - len));
        unsigned kind = 1u << draw(KINDS);
        if (next == 64) {
            MPI_Win_flush_all(win);
            memset(model, 0, (size_t)ranks * BYTES);
            next = 0;
        }
        int code = issue(kind, mine[next++], len, target, first + at);
        int want = conflicts(target, at, len, kind);
        CHECK(class_of(code) == (want ? MPI_ERR_RMA_CONFLICT : MPI_SUCCESS),
              "step %d: kind %u at %d + %d: class %d", i, kind, at, len, class_of(code));
        errors += want;
        for (int k = 0; !want && k < len; k++) {
            model[target * BYTES + at + k] |= (unsigned char)kind;
        }
        if (draw(6) == 0) {
            complete(target);
        }
    }
    MPI_Win_unlock_all(win);
    CHECK(errors > steps / 30 && errors < steps, "%d conflicts", errors);
}

/* All ranks play the same game: in each step one of them issues or completes, and the others wait. What is
 * open is kept for each origin, in as many bits as there are kinds. */
static void random_origins(int steps)
{
    static char mine[1000][LONGEST];
    unsigned *open = calloc((size_t)ranks, BYTES * sizeof *open);
    int found = 0, next = 0;
    state = 99;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < steps; i++) {
        int origin = (int)draw((unsigned)ranks), target = (int)draw((unsigned)ranks);
        int len = 1 + (int)draw(LONGEST - 1), at = (int)draw((unsigned)(BYTES - len));
        unsigned kind = 1u << draw(KINDS), seen = 0, *bytes = &open[target * BYTES];
        for (int k = 0; k < len; k++) {
            for (int r = 0; r < ranks; r++) {
                seen |= node_of[r] == node_of[origin] ? bytes[at + k] >> (KINDS * r) & 15 : 0;
            }
        }
        int want = (seen & bad[kind]) != 0;
        if (origin == me) {
            int code = issue(kind, mine[next], len, target, at);
            next = (next + 1) % 1000;
            CHECK(class_of(code) == (want ? MPI_ERR_RMA_CONFLICT : MPI_SUCCESS),
                  "step %d: kind %u of rank %d at %d + %d of %d: class %d, not %d", i, kind, me, at, len,
                  target, class_of(code), want ? MPI_ERR_RMA_CONFLICT : MPI_SUCCESS);
        }
        found += want;
        for (int k = 0; !want && k < len; k++) {
            bytes[at + k] |= kind << (KINDS * origin);
        }
        bool flushes = draw(6) == 0, local = draw(3) == 0;
        if (flushes && origin == me) {
            local ? MPI_Win_flush_local(target, win) : MPI_Win_flush(target, win);
        }
        for (int k = 0; flushes && k < BYTES; k++) {
            bytes[k] &= ~((local ? GET | FETCH : PUT | GET | ACC | FETCH) << (KINDS * origin));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    CHECK(found > steps / 20 && found < steps, "%d conflicts", found);
    free(open);
}

#define EXPECT(want, call)                                                                                   \
    do {                                                                                                     \
        int code_ = (call);                                                                                  \
        CHECK(class_of(code_) == (want), "class %d, not %d", class_of(code_), (want));                       \
    } while (0)
#define CONFLICT MPI_ERR_RMA_CONFLICT

/* Memory of this side: written once, or read often, until it is complete. */
static void own_memory(void)
{
    long a[4] = {1, 2, 3, 4}, b = 5;
    int t = (me + 1) % ranks;
    MPI_Request request;
    MPI_Win_lock_all(0, win);
    EXPECT(MPI_SUCCESS, MPI_Put(a, 2, MPI_LONG, t, 0, 2, MPI_LONG, win));
    EXPECT(MPI_SUCCESS, MPI_Put(a + 1, 2, MPI_LONG, t, 16, 2, MPI_LONG, win)); /* read twice */
    EXPECT(CONFLICT, MPI_Get(a + 2, 1, MPI_LONG, t, 64, 1, MPI_LONG, win));
    EXPECT(MPI_SUCCESS, MPI_Get(a + 3, 1, MPI_LONG, t, 64, 1, MPI_LONG, win));
    EXPECT(CONFLICT, MPI_Get(a + 3, 1, MPI_LONG, t, 72, 1, MPI_LONG, win));
    EXPECT(CONFLICT, MPI_Accumulate(a + 3, 1, MPI_LONG, t, 80, 1, MPI_LONG, MPI_SUM, win));
    MPI_Win_flush_local_all(win);
    EXPECT(MPI_SUCCESS, MPI_Get(a + 2, 1, MPI_LONG, t, 64, 1, MPI_LONG, win));
    EXPECT(CONFLICT, MPI_Put(&b, 1, MPI_LONG, t, 0, 1, MPI_LONG, win)); /* not complete there */
    EXPECT(CONFLICT, MPI_Fetch_and_op(&b, &b, MPI_LONG, t, 128, MPI_SUM, win));
    MPI_Win_flush_all(win);
    for (int i = 0; i < 3; i++) { /* the user knows that it is complete */
        EXPECT(MPI_SUCCESS, MPI_Rget(&b, 1, MPI_LONG, t, 0, 1, MPI_LONG, win, &request));
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    EXPECT(MPI_SUCCESS, MPI_Rput(&b, 1, MPI_LONG, t, 0, 1, MPI_LONG, win, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(CONFLICT, MPI_Put(a, 1, MPI_LONG, t, 0, 1, MPI_LONG, win));
    MPI_Win_unlock_all(win);
}

/* The window's own memory used as this side's memory, and layouts that name a byte twice. */
static void own_window(void)
{
    MPI_Datatype twice;
    long spare[4] = {0};
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
    EXPECT(CONFLICT, MPI_Put(base, 8, MPI_CHAR, me, 4, 8, MPI_CHAR, win));
    MPI_Win_flush(me, win);
    EXPECT(MPI_SUCCESS, MPI_Put(base, 8, MPI_CHAR, me, 64, 8, MPI_CHAR, win));
    EXPECT(CONFLICT, MPI_Get(base + 64, 8, MPI_CHAR, me, 128, 8, MPI_CHAR, win));
    EXPECT(CONFLICT, MPI_Put(base + 71, 1, MPI_CHAR, me, 200, 1, MPI_CHAR, win));
    EXPECT(CONFLICT, MPI_Accumulate(spare, 8, MPI_INT8_T, me, 0, 8, MPI_INT8_T, MPI_SUM, win));
    EXPECT(MPI_SUCCESS, MPI_Get(spare, 8, MPI_CHAR, me, 0, 8, MPI_CHAR, win));
    MPI_Win_unlock(me, win);
    MPI_Type_create_hvector(2, 2, sizeof(long), MPI_LONG, &twice);
    MPI_Type_commit(&twice);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    EXPECT(CONFLICT, MPI_Put(spare, 4, MPI_LONG, me, 0, 1, twice, win));
    MPI_Win_unlock(me, win);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    EXPECT(MPI_SUCCESS, MPI_Get(spare, 4, MPI_LONG, me, 0, 1, twice, win));
    MPI_Win_unlock(me, win);
    MPI_Type_free(&twice);
}

/* Epochs end what was open. */
static void epochs(void)
{
    int t = (me + 1) % ranks;
    long value = me;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3; i++) {
        EXPECT(MPI_SUCCESS, MPI_Put(&value, 1, MPI_LONG, t, 8, 1, MPI_LONG, win));
        EXPECT(CONFLICT, MPI_Get(&value, 1, MPI_LONG, t, 8, 1, MPI_LONG, win));
        MPI_Win_fence(i == 2 ? MPI_MODE_NOSUCCEED : 0, win);
    }
    for (int i = 0; i < 3; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, t, 0, win);
        EXPECT(MPI_SUCCESS, MPI_Get(&value, 1, MPI_LONG, t, 8, 1, MPI_LONG, win));
        EXPECT(CONFLICT, MPI_Put(&value, 1, MPI_LONG, t, 8, 1, MPI_LONG, win));
        MPI_Win_unlock(t, win);
    }
}

/* What rank 0 has open at a target, another rank meets; the error names both. */
static void other_origins(void)
{
    long v[] = {1, 2, 3, 4};
    char said[MPI_MAX_ERROR_STRING], want[160];
    int len, target = 1, second = ranks - 1;
    while (second > 1 && node_of[second] != node_of[0]) {
        second--;
    }
    int meets = node_of[second] == node_of[0] ? CONFLICT : MPI_SUCCESS;
    snprintf(want, sizeof want,
             "a put of bytes 12 to 19 of target %d by rank %d meets a put of bytes 16 to 23 by rank 0",
             target, second);
    MPI_Win_lock_all(0, win);
    if (me == 0) {
        EXPECT(MPI_SUCCESS, MPI_Put(v, 1, MPI_LONG, target, 16, 1, MPI_LONG, win));
        EXPECT(MPI_SUCCESS, MPI_Accumulate(v, 1, MPI_LONG, target, 64, 1, MPI_LONG, MPI_SUM, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == second) {
        int code = MPI_Put(v, 1, MPI_LONG, target, 12, 1, MPI_LONG, win);
        CHECK(class_of(code) == meets, "class %d, not %d", class_of(code), meets);
        MPI_Error_string(code, said, &len);
        CHECK(meets != CONFLICT || strstr(said, want) != NULL, "%s", said);
        EXPECT(meets, MPI_Get(&v[1], 1, MPI_LONG, target, 64, 1, MPI_LONG, win));
        EXPECT(MPI_SUCCESS, MPI_Get(&v[2], 1, MPI_LONG, target, 128, 1, MPI_LONG, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == second) {
        EXPECT(MPI_SUCCESS, MPI_Put(&v[3], 1, MPI_LONG, target, 16, 1, MPI_LONG, win));
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Between two fences all operations meet, also those of a rank that waits in the second fence already; behind it
 * none of them does. */
static void origins_between_fences(void)
{
    long value = me, got;
    bool late = me == ranks - 1;
    int meets = late && node_of[me] == node_of[0] && ranks > 1 ? CONFLICT : MPI_SUCCESS;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int i = 0; i < 3; i++) {
        if (late) {
            usleep(100000);
        }
        if (late || me == 0) {
            EXPECT(meets, MPI_Put(&value, 1, MPI_LONG, 0, 8, 1, MPI_LONG, win));
            EXPECT(MPI_SUCCESS, MPI_Get(&got, 1, MPI_LONG, 0, 8 * (me + 2), 1, MPI_LONG, win));
        }
        MPI_Win_fence(0, win);
        if (me == 0) {
            EXPECT(MPI_SUCCESS, MPI_Put(&value, 1, MPI_LONG, 0, 8 * (ranks + 1), 1, MPI_LONG, win));
        }
        MPI_Win_fence(i == 2 ? MPI_MODE_NOSUCCEED : 0, win);
    }
}

/* What rank 1 has put to rank 0 and completed is complete there when rank 0's exposure epoch is over; what it has
 * fetched, at once. */
static void origins_of_one_exposure(void)
{
    int last = ranks - 1, members[] = {1, last}, target = 0;
    bool one_node = node_of[1] == node_of[0] && node_of[last] == node_of[0];
    int meets = one_node ? CONFLICT : MPI_SUCCESS;
    long v[] = {1, 2, 3, 4};
    MPI_Group all, from, to;
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 2, members, &from);
    MPI_Group_incl(all, 1, &target, &to);
    for (int i = 0; i < 3; i++) {
        if (me == 0) {
            MPI_Win_post(from, 0, win);
            MPI_Win_wait(win);
        } else if (me == 1 || me == last) {
            MPI_Win_start(to, 0, win);
        }
        if (me == 1) {
            EXPECT(MPI_SUCCESS, MPI_Put(&v[0], 1, MPI_LONG, 0, 8, 1, MPI_LONG, win));
            EXPECT(MPI_SUCCESS, MPI_Accumulate(&v[1], 1, MPI_LONG, 0, 16, 1, MPI_LONG, MPI_SUM, win));
            EXPECT(MPI_SUCCESS, MPI_Get(&v[2], 1, MPI_LONG, 0, 24, 1, MPI_LONG, win));
            MPI_Win_complete(win);
            MPI_Send(NULL, 0, MPI_INT, last, 0, MPI_COMM_WORLD);
        } else if (me == last) {
            MPI_Recv(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            EXPECT(meets, MPI_Put(&v[0], 1, MPI_INT, 0, 12, 1, MPI_INT, win));
            EXPECT(meets, MPI_Get(&v[1], 1, MPI_INT, 0, 20, 1, MPI_INT, win));
            EXPECT(MPI_SUCCESS, MPI_Put(&v[2], 1, MPI_LONG, 0, 24, 1, MPI_LONG, win));
            MPI_Win_complete(win);
        }
        if (me == 0) {
            MPI_Send(NULL, 0, MPI_INT, last, 1, MPI_COMM_WORLD);
        } else if (me == last) { /* behind the exposure epoch */
            MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
            EXPECT(MPI_SUCCESS, MPI_Put(&v[3], 1, MPI_LONG, 0, 8, 1, MPI_LONG, win));
            MPI_Win_unlock(0, win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&all);
}

/* Locks, fences and post-start put origins in order: nothing meets. */
static void origins_in_order(void)
{
    long value = me;
    MPI_Group all, target;
    int first = 0;
    /* Rank 0's locks at other nodes are taken by the put, which waits for who holds them. */
    for (int i = 0; i < 100; i++) {
        me == 0 ? MPI_Win_lock_all(0, win) : MPI_Win_lock(MPI_LOCK_EXCLUSIVE, i % ranks, 0, win);
        EXPECT(MPI_SUCCESS, MPI_Put(&value, 1, MPI_LONG, i % ranks, 8, 1, MPI_LONG, win));
        me == 0 ? MPI_Win_unlock_all(win) : MPI_Win_unlock(i % ranks, win);
    }
    for (int i = 0; i < 20; i++) {
        MPI_Win_fence(0, win);
        if (me == i % ranks) {
            EXPECT(MPI_SUCCESS, MPI_Put(&value, 1, MPI_LONG, 0, 8, 1, MPI_LONG, win));
        }
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &first, &target);
    for (int i = 1; ranks > 1 && i < 20; i++) {
        int origin = 1 + i % (ranks - 1);
        if (me == 0) {
            MPI_Group from;
            MPI_Group_incl(all, 1, &origin, &from);
            MPI_Win_post(from, 0, win);
            MPI_Win_wait(win);
            MPI_Group_free(&from);
        } else if (me == origin) {
            MPI_Win_start(target, 0, win);
            EXPECT(MPI_SUCCESS, MPI_Put(&value, 1, MPI_LONG, 0, 8, 1, MPI_LONG, win));
            MPI_Win_complete(win);
        }
    }
    MPI_Group_free(&target);
    MPI_Group_free(&all);
    MPI_Barrier(MPI_COMM_WORLD);
}

static int put_at(int place)
{
    static long v[8];
    return MPI_Put(&v[place], 1, MPI_LONG, (me + 1) % ranks, me * BYTES + 8 * place, 1, MPI_LONG, win);
}

/* A flush with a request completes what began before it, and that when its request ends. */
static void flushes_with_requests(void)
{
    int t = (me + 1) % ranks, done = 0;
    long got = 0;
    MPI_Request first, second;
    MPI_Win_lock_all(0, win);
    EXPECT(MPI_SUCCESS, put_at(0));
    MPIX_Win_iflush(t, win, &first);
    EXPECT(CONFLICT, put_at(0));
    EXPECT(MPI_SUCCESS, put_at(1)); /* beside the first, and not covered */
    EXPECT(CONFLICT, put_at(1));
    while (!done) {
        EXPECT(CONFLICT, put_at(0));
        MPI_Test(&first, &done, MPI_STATUS_IGNORE);
    }
    EXPECT(MPI_SUCCESS, put_at(0));
    EXPECT(CONFLICT, put_at(1));
    MPIX_Win_iflush_all(win, &first);
    EXPECT(MPI_SUCCESS, put_at(2));
    MPIX_Win_iflush(t, win, &second);
    EXPECT(MPI_SUCCESS, put_at(3));
    MPI_Wait(&second, MPI_STATUS_IGNORE); /* all before it is complete */
    EXPECT(MPI_SUCCESS, put_at(0));
    EXPECT(MPI_SUCCESS, put_at(2));
    EXPECT(CONFLICT, put_at(3));
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++) {
        EXPECT(i == 1 ? MPI_SUCCESS : CONFLICT, put_at(i));
    }
    EXPECT(MPI_SUCCESS, MPI_Get(&got, 1, MPI_LONG, t, me * BYTES + 64, 1, MPI_LONG, win));
    MPIX_Win_iflush_local(t, win, &first);
    EXPECT(CONFLICT, MPI_Get(&got, 1, MPI_LONG, t, me * BYTES + 72, 1, MPI_LONG, win));
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    EXPECT(MPI_SUCCESS, MPI_Get(&got, 1, MPI_LONG, t, me * BYTES + 72, 1, MPI_LONG, win));
    EXPECT(CONFLICT, put_at(0)); /* complete here, not there */
    MPI_Win_flush_all(win);
    for (int i = 0; i < 4; i++) {
        EXPECT(MPI_SUCCESS, put_at(i));
    }
    MPI_Win_unlock_all(win);
}

/* Another rank meets what a flush covers until its request has ended there, whatever was put meanwhile. */
static void others_meet_flushes(void)
{
    long v[3] = {0};
    int looks = ranks - 1, meets = node_of[looks] == node_of[0] ? CONFLICT : MPI_SUCCESS;
    MPI_Request request;
    MPI_Win_lock_all(0, win);
    if (me == 0) {
        EXPECT(MPI_SUCCESS, MPI_Put(&v[0], 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
        MPIX_Win_iflush(0, win, &request);
        EXPECT(MPI_SUCCESS, MPI_Put(&v[1], 1, MPI_LONG, 0, 16, 1, MPI_LONG, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == looks) {
        EXPECT(meets, MPI_Get(&v[0], 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
        EXPECT(meets, MPI_Get(&v[1], 1, MPI_LONG, 0, 16, 1, MPI_LONG, win));
        MPI_Win_flush_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == looks) {
        EXPECT(MPI_SUCCESS, MPI_Get(&v[0], 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
        EXPECT(meets, MPI_Get(&v[1], 1, MPI_LONG, 0, 16, 1, MPI_LONG, win));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
}

/* So many ranges that what a rank shows moves to larger memory again and again, while another looks into it. */
static void many_ranges(void)
{
    enum { MOST = 3000 };
    static char c[2 * MOST];
    int next = (me + 1) % ranks, meets = node_of[me] == node_of[next] ? CONFLICT : MPI_SUCCESS;
    MPI_Win wide;
    char *mine;
    MPI_Win_allocate(8 * MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &wide);
    MPI_Win_set_errhandler(wide, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, wide);
    for (int i = 0; i < MOST; i++) {
        EXPECT(MPI_SUCCESS, MPI_Put(&c[i], 1, MPI_CHAR, 0, 8 * i + me, 1, MPI_CHAR, wide));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MOST; i += 7) {
        EXPECT(meets, MPI_Get(&c[MOST + i], 1, MPI_CHAR, 0, 8 * i + next, 1, MPI_CHAR, wide));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(wide);
    MPI_Win_free(&wide);
}

int main(int argc, char **argv)
{

    int steps = argc > 1 ? atoi(argv[1]) : 3000;
    begin(&argc, &argv);
    find_nodes();
    MPI_Win_allocate(BYTES * ranks, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    model = calloc((size_t)ranks, BYTES);
    state = (uint64_t)me + 1;
    random_ranges(steps);
    MPI_Barrier(MPI_COMM_WORLD);
    random_origins(steps / 3);
    MPI_Barrier(MPI_COMM_WORLD);
    own_memory();
    MPI_Barrier(MPI_COMM_WORLD);
    own_window();
    epochs();
    if (ranks > 1) {
        other_origins();
        others_meet_flushes();
    }
    flushes_with_requests();
    origins_between_fences();
    if (ranks > 2) {
        origins_of_one_exposure();
    }
    origins_in_order();
    many_ranges();
    MPI_Win_free(&win);
    free(model);
    free(node_of);
    return finish_checks("rma_conflict");
}
