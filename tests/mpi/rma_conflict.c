/* Builds with checked_mode find conflicting accesses of a process: random ones against a model that keeps a
 * byte for each byte, named ones, and none in programs that are right. usage: rma_conflict [STEPS] */
#include "rma.h"

#include <stdint.h>

enum { BYTES = 512, LONGEST = 24 };
enum { PUT = 1, GET = 2, ACC = 4 };

static MPI_Win win;
static char *base;

static uint64_t state;

static unsigned draw(unsigned n)
{
    state += 0x9e3779b97f4a7c15ULL;
    uint64_t x = (state ^ (state >> 33)) * 0xff51afd7ed558ccdULL;
    return (unsigned)((x ^ (x >> 29)) % n);
}

/* What is open on each target byte. */
static unsigned char *model;

static int conflicts(int target, int at, int len, unsigned kind)
{
    static const unsigned bad[] = {[PUT] = PUT | GET | ACC, [GET] = PUT | ACC, [ACC] = PUT | GET};
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

/* Every operation has its own memory on this side: only the targets' bytes meet. */
static void random_ranges(int steps)
{
    static char mine[64][LONGEST];
    int errors = 0, next = 0;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < steps; i++) {
        int target = (int)draw((unsigned)ranks), len = 1 + (int)draw(LONGEST - 1);
        int at = (int)draw((unsigned)(BYTES - len)), code;
        unsigned kind = 1u << draw(3);
        if (next == 64) {
            MPI_Win_flush_all(win);
            memset(model, 0, (size_t)ranks * BYTES);
            next = 0;
        }
        char *buf = mine[next++];
        if (kind == PUT) {
            code = MPI_Put(buf, len, MPI_CHAR, target, at, len, MPI_CHAR, win);
        } else if (kind == GET) {
            code = MPI_Get(buf, len, MPI_CHAR, target, at, len, MPI_CHAR, win);
        } else {
            code = MPI_Accumulate(buf, len, MPI_INT8_T, target, at, len, MPI_INT8_T, MPI_SUM, win);
        }
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
    CHECK(errors > steps / 20 && errors < steps, "%d conflicts", errors);
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

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 3000;
    begin(&argc, &argv);
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    model = calloc((size_t)ranks, BYTES);
    state = (uint64_t)me + 1;
    random_ranges(steps);
    MPI_Barrier(MPI_COMM_WORLD);
    own_memory();
    own_window();
    epochs();
    MPI_Win_free(&win);
    free(model);
    return verdict("rma_conflict");
}
