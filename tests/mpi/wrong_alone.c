/* A call of all ranks that one of them gets wrong: nobody waits for ever, all hear of it where the call can
 * know, and what was there before goes on working. */
#include "rma.h"

static int odd; /* the rank that is wrong */

static MPI_Win allocate(long **base)
{
    MPI_Win win;
    MPI_Win_allocate(sizeof **base, sizeof **base, MPI_INFO_NULL, MPI_COMM_WORLD, base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    **base = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    return win;
}

static void check_works(MPI_Win win, const long *base)
{
    long mine = 100 + me;
    MPI_Win_fence(0, win);
    CHECK(MPI_Put(&mine, 1, MPI_LONG, (me + 1) % ranks, 0, 1, MPI_LONG, win) == MPI_SUCCESS, "put");
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(*base == 100 + (me + ranks - 1) % ranks, "%ld", *base);
}

/* One rank says what is wrong with it, the others that another one failed. */
static void check_text(int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int len;
    MPI_Error_string(code, text, &len);
    CHECK(strstr(text, me == odd ? "MPI_Win_lock" : "another rank") != NULL, "%.200s", text);
}

static void free_in_epoch(void)
{
    long *base;
    MPI_Win win = allocate(&base), same = win;
    if (me == odd) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    }
    int code = MPI_Win_free(&win);
    CHECK(class_of(code) == MPI_ERR_RMA_SYNC, "class %d", class_of(code));
    CHECK(win == same, "the window is still there");
    check_text(code);
    if (me == odd) {
        MPI_Win_unlock(0, win);
    }
    check_works(win, base);
    CHECK(MPI_Win_free(&win) == MPI_SUCCESS && win == MPI_WIN_NULL, "freed");
}

static int deleted, refuses;

static int maybe_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    deleted++;
    return refuses ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* A callback that refuses; and none is called while another rank's epoch is open. */
static void free_with_attribute(void)
{
    long *base;
    int key;
    MPI_Win win = allocate(&base);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, maybe_delete, &key, NULL);
    MPI_Win_set_attr(win, key, &key);
    if (me == odd) {
        MPI_Win_lock_all(0, win);
    }
    CHECK(class_of(MPI_Win_free(&win)) == MPI_ERR_RMA_SYNC, "an epoch is open");
    CHECK(deleted == 0, "attributes stay");
    if (me == odd) {
        MPI_Win_unlock_all(win);
    }
    refuses = me == odd;
    CHECK(class_of(MPI_Win_free(&win)) == MPI_ERR_OTHER, "a callback refuses");
    check_works(win, base);
    refuses = 0;
    CHECK(MPI_Win_free(&win) == MPI_SUCCESS, "freed");
    CHECK(deleted == (me == odd ? 2 : 1), "%d calls", deleted);
    MPI_Win_free_keyval(&key);
}

static void create(void)
{
    MPI_Win win;
    long there = 0, *base;
    int wrong = me == odd;
    int code = MPI_Win_create(&there, sizeof there, wrong ? 0 : 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CHECK(class_of(code) == MPI_ERR_DISP, "create: class %d", class_of(code));
    code = MPI_Win_create(&there, wrong ? -1 : 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CHECK(class_of(code) == MPI_ERR_SIZE, "create: class %d", class_of(code));
    code = MPI_Win_create(&there, sizeof there, 1, MPI_INFO_NULL, MPI_COMM_WORLD, wrong ? NULL : &win);
    CHECK(class_of(code) == MPI_ERR_ARG, "create: class %d", class_of(code));
    code = MPI_Win_create_dynamic(wrong ? (MPI_Info)MPI_COMM_WORLD : MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CHECK(class_of(code) == MPI_ERR_INFO, "create_dynamic: class %d", class_of(code));
    code = MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, wrong ? NULL : &base, &win);
    CHECK(class_of(code) == MPI_ERR_ARG, "allocate: class %d", class_of(code));
}

static void communicators(void)
{
    MPI_Comm made;
    MPI_Group world;
    int wrong = me == odd;
    int code = MPI_Comm_split(MPI_COMM_WORLD, wrong ? -7 : 0, me, &made);
    CHECK(class_of(code) == MPI_ERR_ARG, "split: class %d", class_of(code));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    code = MPI_Comm_create(MPI_COMM_WORLD, wrong ? MPI_GROUP_NULL : world, &made);
    CHECK(class_of(code) == MPI_ERR_GROUP, "create: class %d", class_of(code));
    code = MPI_Comm_dup_with_info(MPI_COMM_WORLD, wrong ? (MPI_Info)MPI_COMM_WORLD : MPI_INFO_NULL, &made);
    CHECK(class_of(code) == (wrong ? MPI_ERR_INFO : MPI_SUCCESS), "dup: class %d", class_of(code));
    if (!wrong) {
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&world);
}

/* The rank that is wrong gets its error. Others that hear of it, too; or they have a communicator. */
static void ends(int code, MPI_Comm *made, const char *call)
{
    int class = class_of(code), wrong = me == odd;
    CHECK(class == MPI_ERR_ARG || (!wrong && class == MPI_SUCCESS), "%s: class %d", call, class);
    if (class == MPI_SUCCESS) {
        MPI_Comm_free(made);
    }
}

/* No place for the result. */
static void nowhere(void)
{
    MPI_Comm made, half, both, *out = me == odd ? NULL : &made;
    MPI_Request request, *r = me == odd ? NULL : &request;
    MPI_Group all;
    int low = me < ranks / 2;
    ends(MPI_Comm_dup(MPI_COMM_WORLD, out), &made, "dup");
    int code = MPI_Comm_idup(MPI_COMM_WORLD, &made, r);
    if (me != odd) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    ends(code, &made, "idup");
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    ends(MPI_Comm_create_group(MPI_COMM_WORLD, all, 3, out), &made, "create_group");
    ends(MPI_Comm_create_from_group(all, "wrong", MPI_INFO_NULL, MPI_ERRORS_RETURN, out), &made,
         "from_group");
    MPI_Group_free(&all);
    MPI_Comm_split(MPI_COMM_WORLD, low, 0, &half);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    ends(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? ranks / 2 : 0, 4, out), &made,
         "intercomm_create");
    CHECK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? ranks / 2 : 0, 4, &both) == MPI_SUCCESS,
          "inter");
    ends(MPI_Intercomm_merge(both, low, out), &made, "merge");
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* Groups that differ between ranks: each gets its own, in its own order. */
static void create_apart(void)
{
    MPI_Comm made;
    MPI_Group world, some;
    int half = ranks / 2, low = me < half, rank;
    int range[1][3] = {{low ? half - 1 : half, low ? 0 : ranks - 1, low ? -1 : 1}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &some);
    MPI_Comm_create(MPI_COMM_WORLD, some, &made);
    MPI_Comm_rank(made, &rank);
    CHECK(rank == (low ? half - 1 - me : me - half), "rank %d", rank);
    MPI_Comm_free(&made);
    MPI_Group_free(&some);
    MPI_Group_free(&world);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (odd = 0; odd < ranks; odd += ranks - 1) {
        deleted = 0;
        free_in_epoch();
        free_with_attribute();
        create();
        communicators();
        nowhere();
        create_apart();
    }
    return finish_checks("wrong_alone");
}
