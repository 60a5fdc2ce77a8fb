/* Wrong arguments and wrong synchronization are errors of the right class, through the window's handler. */
#include "rma.h"

static MPI_Win win;
static long buf[8];

#define EXPECT(want, call)                                                                                   \
    do {                                                                                                     \
        int code_ = (call);                                                                                  \
        CHECK(class_of(code_) == (want), "class %d, not %d", class_of(code_), (want));                       \
    } while (0)

static int handler_runs, handler_class;

static void handler(MPI_Win *w, int *code, ...)
{
    handler_runs += *w == win;
    handler_class = class_of(*code);
}

static void without_epoch(void)
{
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Put(buf, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Get(buf, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Accumulate(buf, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_flush(0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_flush_all(win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_unlock_all(win));
}

static void locks(void)
{
    MPI_Win_lock_all(0, win);
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_unlock(0, win));
    MPI_Win_unlock_all(win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
    EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
    if (ranks > 1) {
        EXPECT(MPI_ERR_RMA_SYNC, MPI_Put(buf, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win));
        EXPECT(MPI_ERR_RMA_SYNC, MPI_Win_unlock(1, win));
    }
    MPI_Win_unlock(0, win);
    EXPECT(MPI_ERR_LOCKTYPE, MPI_Win_lock(12345, 0, 0, win));
    EXPECT(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, win));
    EXPECT(MPI_ERR_RANK, MPI_Win_lock(MPI_LOCK_SHARED, -5, 0, win));
}

static void arguments(void)
{
    MPI_Datatype loose, holes;
    MPI_Op own;

    MPI_Win_lock_all(0, win);
    EXPECT(MPI_ERR_RANK, MPI_Put(buf, 1, MPI_LONG, ranks, 0, 1, MPI_LONG, win));
    EXPECT(MPI_ERR_RANK, MPI_Get(buf, 1, MPI_LONG, -2, 0, 1, MPI_LONG, win));
    EXPECT(MPI_ERR_COUNT, MPI_Put(buf, -1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
    EXPECT(MPI_ERR_COUNT, MPI_Get(buf, 1, MPI_LONG, 0, 0, -1, MPI_LONG, win));
    EXPECT(MPI_ERR_TYPE, MPI_Put(buf, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_LONG, win));
    MPI_Type_contiguous(2, MPI_LONG, &loose);
    EXPECT(MPI_ERR_TYPE, MPI_Put(buf, 1, loose, 0, 0, 1, loose, win));
    MPI_Type_free(&loose);
    EXPECT(MPI_ERR_RMA_RANGE, MPI_Put(buf, 1, MPI_LONG, 0, 8, 1, MPI_LONG, win));
    EXPECT(MPI_ERR_RMA_RANGE, MPI_Put(buf, 2, MPI_LONG, 0, 7, 2, MPI_LONG, win));
    EXPECT(MPI_ERR_RMA_RANGE, MPI_Get(buf, 1, MPI_LONG, 0, (MPI_Aint)1 << 60, 1, MPI_LONG, win));
    int code = MPI_Get(buf, 1, MPI_LONG, 0, -1, 1, MPI_LONG, win);
    CHECK(class_of(code) == MPI_ERR_DISP || class_of(code) == MPI_ERR_RMA_RANGE, "class %d", class_of(code));
    EXPECT(MPI_SUCCESS, MPI_Put(buf, 1, MPI_LONG, 0, 7, 1, MPI_LONG, win));
    EXPECT(MPI_SUCCESS, MPI_Put(NULL, 0, MPI_LONG, 0, 0, 0, MPI_LONG, win));
    EXPECT(MPI_SUCCESS, MPI_Put(buf, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win));
    MPI_Type_vector(3, 1, 4, MPI_LONG, &holes);
    MPI_Type_commit(&holes);
    EXPECT(MPI_ERR_RMA_RANGE, MPI_Put(buf, 3, MPI_LONG, 0, 0, 1, holes, win));
    MPI_Type_free(&holes);
    MPI_Op_create((MPI_User_function *)abort, 1, &own);
    EXPECT(MPI_ERR_OP, MPI_Accumulate(buf, 1, MPI_LONG, 0, 0, 1, MPI_LONG, own, win));
    MPI_Op_free(&own);
    EXPECT(MPI_ERR_OP, MPI_Accumulate(buf, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_BXOR, win));
    EXPECT(MPI_ERR_TYPE, MPI_Compare_and_swap(buf, buf + 1, buf + 2, MPI_DOUBLE, 0, 0, win));
    MPI_Win_unlock_all(win);
    EXPECT(MPI_ERR_WIN, MPI_Win_fence(0, MPI_WIN_NULL));
    EXPECT(MPI_ERR_WIN, MPI_Put(buf, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_WIN_NULL));
}

static void own_handler(void)
{
    MPI_Errhandler own, now;
    MPI_Win_create_errhandler(handler, &own);
    MPI_Win_set_errhandler(win, own);
    MPI_Win_get_errhandler(win, &now);
    CHECK(now == own, "the handler that was set");
    MPI_Errhandler_free(&now);
    MPI_Errhandler_free(&own);
    int code = MPI_Win_unlock(0, win);
    CHECK(handler_runs == 1 && handler_class == MPI_ERR_RMA_SYNC, "ran %d times", handler_runs);
    CHECK(class_of(code) == MPI_ERR_RMA_SYNC, "class %d", class_of(code));
    MPI_Win_call_errhandler(win, MPI_ERR_ARG);
    CHECK(handler_runs == 2 && handler_class == MPI_ERR_ARG, "ran %d times", handler_runs);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
}

static void creation(void)
{
    MPI_Win bad;
    void *base;
    EXPECT(MPI_ERR_SIZE, MPI_Win_allocate(-1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &bad));
    int code = MPI_Win_allocate(8, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &bad);
    CHECK(class_of(code) == MPI_ERR_DISP || class_of(code) == MPI_ERR_ARG, "class %d", class_of(code));
    EXPECT(MPI_ERR_COMM, MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &base, &bad));
}

int main(int argc, char **argv)
{
    long *base;
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Win_allocate(sizeof buf, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    without_epoch();
    locks();
    MPI_Barrier(MPI_COMM_WORLD);
    arguments();
    own_handler();
    creation();
    MPI_Win_free(&win);
    return verdict("rma_errors");
}
