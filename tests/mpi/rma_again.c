/* Puts in a row that differ in nothing, or in one argument: each is judged for itself and goes where it says, also after an epoch's end and on a window that has another one's handle. */
#include "mpi_test.h"

#include <sys/wait.h>

enum { WORDS = 64 };

static long value, values[WORDS];

static int class_of(int rc)
{
    int class = MPI_SUCCESS;
    if (rc != MPI_SUCCESS) {
        MPI_Error_class(rc, &class);
    }
    return class;
}

static int put(MPI_Aint disp, int target, MPI_Win win)
{
    return class_of(MPI_Put(&value, 1, MPI_LONG, target, disp, 1, MPI_LONG, win));
}

/* The next put finds a chain open, where puts are chained. */
static void prepare(int target, MPI_Win win)
{
    MPI_Win_flush(target, win);
    value = -1;
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(put(i, target, win), MPI_SUCCESS);
    }
}

static void errors(int target, MPI_Win win)
{
    MPI_Win none = MPI_WIN_NULL;
    prepare(target, win);
    CHECK_EQ(put(WORDS + 1, target, win), MPI_ERR_RMA_RANGE);
    CHECK(put(-1, target, win) != MPI_SUCCESS);
    CHECK_EQ(put(0, size, win), MPI_ERR_RANK);
    CHECK_EQ(put(0, -1, win), MPI_ERR_RANK);
    CHECK_EQ(put(0, MPI_PROC_NULL, win), MPI_SUCCESS);
    prepare(target, win);
    CHECK(class_of(MPI_Put(NULL, 1, MPI_LONG, target, 0, 1, MPI_LONG, win)) != MPI_SUCCESS);
    CHECK(class_of(MPI_Put(&value, 2, MPI_LONG, target, 0, 1, MPI_LONG, win)) != MPI_SUCCESS);
    CHECK(class_of(MPI_Put(&value, -1, MPI_LONG, target, 0, -1, MPI_LONG, win)) != MPI_SUCCESS);
    CHECK(class_of(MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_DATATYPE_NULL, win)) != MPI_SUCCESS);
    CHECK(put(0, target, none) != MPI_SUCCESS);
}

/* Operations of other kinds, to other words, between puts that are alike. Word WORDS is nobody's. */
static void mixture(int target, MPI_Win win)
{
    int half = 7, both[2] = {1, 2};
    long got = -1;
    prepare(target, win);
    MPI_Win_flush(target, win);
    for (int i = 3; i < WORDS - 1; i++) {
        values[i] = 1000 + i;
        CHECK_EQ(MPI_Put(&values[i], 1, MPI_LONG, target, i, 1, MPI_LONG, win), MPI_SUCCESS);
        if (i == 10) {
            MPI_Put(&half, 1, MPI_INT, target, WORDS - 1, 1, MPI_INT, win);
        } else if (i == 20) {
            MPI_Put(both, 2, MPI_INT, target, 0, 2, MPI_INT, win);
        } else if (i == 30 || i == 31) {
            MPI_Put_c(both, 2, MPI_INT, target, i - 29, 2, MPI_INT, win);
        } else if (i == 40) {
            MPI_Get(&got, 1, MPI_LONG, target, WORDS, 1, MPI_LONG, win);
        }
    }
    MPI_Win_flush(target, win);
    CHECK_EQ(got, 0);
    for (int i = 0; i < WORDS; i++) {
        long expected = i < WORDS - 1 ? 1000 + i : 0;
        memcpy(&expected, both, i <= 2 ? sizeof both : 0);
        memcpy(&expected, &half, i == WORDS - 1 ? sizeof half : 0);
        MPI_Get(&got, 1, MPI_LONG, target, i, 1, MPI_LONG, win);
        MPI_Win_flush(target, win);
        CHECK_EQ(got, expected);
    }
}

/* A child of a rank that has just put may not put. */
static void forked(int target, MPI_Win win)
{
    int status;
    prepare(target, win);
    pid_t child = fork();
    if (child == 0) {
        _exit(put(1, target, win) == MPI_SUCCESS);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK_EQ(put(3, target, win), MPI_SUCCESS);
}

int main(void)
{
    test_start(2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int target = (me + 1) % size;
    for (int turn = 0; turn < 8; turn++) {
        long *mine;
        MPI_Win win, small;
        MPI_Win_allocate((WORDS + 1) * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        memset(mine, 0, (WORDS + 1) * 8);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, win);
        mixture(target, win);
        errors(target, win);
        if (turn < 2) {
            forked(target, win);
        }
        prepare(target, win);
        MPI_Win_unlock_all(win);
        CHECK_EQ(put(0, target, win), MPI_ERR_RMA_SYNC);
        MPI_Win_free(&win);
        /* Probably with the same handle; a unit of 1, half the size. */
        MPI_Win_allocate(WORDS * 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &small);
        MPI_Win_set_errhandler(small, MPI_ERRORS_RETURN);
        memset(mine, 0, WORDS * 4);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_EQ(put(0, target, small), MPI_ERR_RMA_SYNC);
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, small);
        value = me + turn;
        CHECK_EQ(put(8, target, small), MPI_SUCCESS);
        CHECK_EQ(put(16, target, small), MPI_SUCCESS);
        MPI_Win_unlock(target, small);
        CHECK_EQ(put(0, target, small), MPI_ERR_RMA_SYNC);
        MPI_Barrier(MPI_COMM_WORLD);
        int writer = (me + size - 1) % size;
        CHECK_EQ(mine[0], 0);
        CHECK_EQ(mine[1], writer + turn);
        CHECK_EQ(mine[2], writer + turn);
        MPI_Win_free(&small);
    }
    MPI_Finalize();
    return 0;
}
