/* Wrong calls, one a row: each gives its error class through the error handler, once, with a message that
 * names the call, the rank, the object and the values: the row has the words of it that matter, and nothing else pins
 * it. With --table rank 0 prints docs/MISUSE.md instead, which lists the calls and their classes.
 * usage: rma_misuse [--table] */
#include "rma.h"

#include <hotlane.h>
#include <stdint.h>

enum { WORDS = 8, NOBODY = 1234 };

static MPI_Win win;      /* over all ranks, WORDS longs of each */
static MPI_Win alone;    /* over this rank only */
static MPI_Win unlocked; /* with no_locks */
static MPI_Win freed;
static MPI_Win dynamic; /* with `attached` */
static long attached[4];
static MPI_Comm comm;
static MPI_Group myself, other, none = MPI_GROUP_NULL;
static MPI_Datatype loose, holes, twice;
static MPI_Op own_op;
static MPI_Errhandler comm_handler;
static int comm_key;
static long buf[WORDS];
static void *base;
static MPI_Win made;
static MPI_Aint aint;
static int number, flag;
static MPI_Request request;
static MPI_Request *const no_address = (MPI_Request *)(void *)MPI_REQUEST_NULL;

/* Who is named in the message. */
enum object { WIN, COMM, NOTHING };
static const char *const object_words[] = {"window misuse", "communicator misuse", ""};

static void lock_all(void)
{
    MPI_Win_lock_all(0, win);
}

static void unlock_all(void)
{
    MPI_Win_unlock_all(win);
}

static void lock_me(void)
{
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
}

static void unlock_me(void)
{
    MPI_Win_unlock(me, win);
}

static void lock_dynamic(void)
{
    MPI_Get_address(buf, &aint);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, dynamic);
}

static void unlock_dynamic(void)
{
    MPI_Win_unlock(me, dynamic);
}

static void open_fence(void)
{
    MPI_Win_fence(0, win);
}

static void close_fence(void)
{
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void post(void)
{
    MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
}

static void await(void)
{
    MPI_Win_wait(win);
}

/* My own group: exposed to myself, so that start returns. */
static void start(void)
{
    MPI_Win_post(myself, 0, win);
    MPI_Win_start(myself, 0, win);
}

static void complete(void)
{
    MPI_Win_complete(win);
    MPI_Win_wait(win);
}

static void nothing(void)
{
}

/* clang-format off */
/* name, what is wrong, call, class, object, before, the call, after, values that the message shows */
#define ROWS(X) \
    X(rank_high, "a target rank outside the group", "MPI_Put", RANK, WIN, lock_all, \
      MPI_Put(buf, 1, MPI_LONG, NOBODY, 0, 1, MPI_LONG, win), unlock_all, "target rank 1234") \
    X(rank_negative, "a negative target rank", "MPI_Get", RANK, WIN, lock_all, \
      MPI_Get(buf, 1, MPI_LONG, -777, 0, 1, MPI_LONG, win), unlock_all, "target rank -777") \
    X(type_null, "MPI_DATATYPE_NULL", "MPI_Put", TYPE, WIN, lock_all, \
      MPI_Put(buf, 1, MPI_DATATYPE_NULL, me, 0, 1, MPI_LONG, win), unlock_all, "origin datatype") \
    X(type_loose, "a datatype that was not committed", "MPI_Get", TYPE, WIN, lock_all, \
      MPI_Get(buf, 1, MPI_LONG, me, 0, 1, loose, win), unlock_all, "target datatype is not committed") \
    X(type_differs, "elements that differ between origin and target", "MPI_Put", TYPE, WIN, lock_all, \
      MPI_Put(buf, 2, MPI_INT, me, 0, 1, MPI_DOUBLE, win), unlock_all, "32-bit integers") \
    X(type_acc, "elements that differ in an accumulate", "MPI_Accumulate", TYPE, WIN, lock_all, \
      MPI_Accumulate(buf, 1, MPI_LONG, me, 0, 1, MPI_UINT64_T, MPI_SUM, win), unlock_all, "64-bit integers") \
    X(type_cas, "a type that cannot be compared and swapped", "MPI_Compare_and_swap", TYPE, WIN, lock_all, \
      MPI_Compare_and_swap(buf, buf + 1, buf + 2, MPI_DOUBLE, me, 0, win), unlock_all, "64-bit reals") \
    X(made_cas, "a datatype that is not predefined", "MPI_Compare_and_swap", TYPE, WIN, lock_all, \
      MPI_Compare_and_swap(buf, buf + 2, buf + 4, twice, me, 0, win), unlock_all, "made of 64-bit integers") \
    X(made_fetch, "a datatype that is not predefined", "MPI_Fetch_and_op", TYPE, WIN, lock_all, \
      MPI_Fetch_and_op(buf, buf + 2, twice, me, 0, MPI_SUM, win), unlock_all, "not predefined") \
    X(count_negative, "a negative count", "MPI_Put", COUNT, WIN, lock_all, \
      MPI_Put(buf, -3, MPI_LONG, me, 0, 1, MPI_LONG, win), unlock_all, "origin count -3") \
    X(count_result, "a negative count of results", "MPI_Get_accumulate", COUNT, WIN, lock_all, \
      MPI_Get_accumulate(buf, 1, MPI_LONG, buf, -4, MPI_LONG, me, 0, 1, MPI_LONG, MPI_SUM, win), unlock_all, "-4") \
    X(disp_negative, "a negative displacement", "MPI_Put", DISP, WIN, lock_all, \
      MPI_Put(buf, 1, MPI_LONG, me, -2, 1, MPI_LONG, win), unlock_all, "displacement -2") \
    X(range_end, "data behind the end of the window", "MPI_Put", RMA_RANGE, WIN, lock_all, \
      MPI_Put(buf, 2, MPI_LONG, me, 7, 2, MPI_LONG, win), unlock_all, "displacement 7") \
    X(flag_range, "a flag behind the end of the window", "MPIX_Put_notify", RMA_RANGE, WIN, lock_all, \
      MPIX_Put_notify(buf, 1, MPI_LONG, me, 0, 1, MPI_LONG, 8, 1, win), unlock_all, "flag displacement 8") \
    X(flag_epoch, "no epoch", "MPIX_Put_notify", RMA_SYNC, WIN, nothing, \
      MPIX_Put_notify(buf, 1, MPI_LONG, me, 0, 1, MPI_LONG, 1, 1, win), nothing, "epoch") \
    X(flag_compare, "an unknown comparison", "MPIX_Win_flag_wait", ARG, WIN, nothing, \
      MPIX_Win_flag_wait(0, 17, 0, NULL, win), nothing, "17") \
    X(flag_any, "one of many flags behind the end of the window", "MPIX_Win_flag_wait_any", RMA_RANGE, WIN, nothing, \
      MPIX_Win_flag_wait_any(2, (MPI_Aint[]){0, 8}, MPIX_CMP_GE, (uint64_t[]){1, 1}, &number, NULL, win), nothing, \
      "flag displacement 8") \
    X(iflush_epoch, "a target that is not locked", "MPIX_Win_iflush", RMA_SYNC, WIN, nothing, \
      MPIX_Win_iflush(me, win, &request), nothing, "is not locked") \
    X(iflush_rank, "a rank that is not there", "MPIX_Win_iflush_local", RANK, WIN, lock_all, \
      MPIX_Win_iflush_local(ranks, win, &request), unlock_all, "target rank") \
    X(iflush_null, "no place for the request", "MPIX_Win_iflush_all", ARG, WIN, lock_all, \
      MPIX_Win_iflush_all(win, NULL), unlock_all, "request is NULL") \
    X(iflush_handle, "a handle in place of the request's address", "MPIX_Win_iflush", ARG, WIN, lock_all, \
      MPIX_Win_iflush(me, win, no_address), unlock_all, "request is NULL or no address") \
    X(iflush_all_handle, "a handle in place of the request's address", "MPIX_Win_iflush_all", ARG, WIN, lock_all, \
      MPIX_Win_iflush_all(win, no_address), unlock_all, "request is NULL or no address") \
    X(range_type, "a target datatype that reaches behind the end", "MPI_Get", RMA_RANGE, WIN, lock_all, \
      MPI_Get(buf, 3, MPI_LONG, me, 0, 1, holes, win), unlock_all, "64 bytes") \
    X(range_overflow, "a displacement whose bytes overflow", "MPI_Accumulate", RMA_RANGE, WIN, lock_all, \
      MPI_Accumulate(buf, 1, MPI_LONG, me, (MPI_Aint)1 << 62, 1, MPI_LONG, MPI_SUM, win), unlock_all, \
      "4611686018427387904") \
    X(truncate, "more data than the receiving side has room for", "MPI_Put", TRUNCATE, WIN, lock_all, \
      MPI_Put(buf, 3, MPI_LONG, me, 0, 1, MPI_LONG, win), unlock_all, "24 bytes") \
    X(truncate_result, "a result that is too small", "MPI_Get_accumulate", TRUNCATE, WIN, lock_all, \
      MPI_Get_accumulate(buf, 2, MPI_LONG, buf, 1, MPI_LONG, me, 0, 2, MPI_LONG, MPI_SUM, win), unlock_all, "8 bytes") \
    X(op_user, "an operation of the user", "MPI_Accumulate", OP, WIN, lock_all, \
      MPI_Accumulate(buf, 1, MPI_LONG, me, 0, 1, MPI_LONG, own_op, win), unlock_all, "predefined") \
    X(op_none, "MPI_NO_OP where nothing is fetched", "MPI_Accumulate", OP, WIN, lock_all, \
      MPI_Accumulate(buf, 1, MPI_LONG, me, 0, 1, MPI_LONG, MPI_NO_OP, win), unlock_all, "calls that fetch") \
    X(op_undefined, "an operation that the type does not have", "MPI_Fetch_and_op", OP, WIN, lock_all, \
      MPI_Fetch_and_op(buf, buf + 1, MPI_DOUBLE, me, 0, MPI_BXOR, win), unlock_all, "64-bit reals") \
    X(buffer_null, "a NULL origin", "MPI_Put", BUFFER, WIN, lock_all, \
      MPI_Put(NULL, 1, MPI_LONG, me, 0, 1, MPI_LONG, win), unlock_all, "8 bytes") \
    X(result_null, "a NULL result", "MPI_Fetch_and_op", BUFFER, WIN, lock_all, \
      MPI_Fetch_and_op(buf, NULL, MPI_LONG, me, 0, MPI_SUM, win), unlock_all, "result address is NULL") \
    X(request_null, "a NULL request", "MPI_Rput", ARG, WIN, lock_all, \
      MPI_Rput(buf, 1, MPI_LONG, me, 0, 1, MPI_LONG, win, NULL), unlock_all, "request is NULL") \
    X(rput_handle, "a handle in place of the request's address", "MPI_Rput", ARG, WIN, lock_all, \
      MPI_Rput(buf, 1, MPI_LONG, me, 0, 1, MPI_LONG, win, no_address), unlock_all, "request is NULL or no address") \
    X(rget_handle, "a handle in place of the request's address", "MPI_Rget", ARG, WIN, lock_all, \
      MPI_Rget(buf, 1, MPI_LONG, me, 0, 1, MPI_LONG, win, no_address), unlock_all, "request is NULL or no address") \
    X(racc_handle, "a handle in place of the request's address", "MPI_Raccumulate", ARG, WIN, lock_all, \
      MPI_Raccumulate(buf, 1, MPI_LONG, me, 0, 1, MPI_LONG, MPI_SUM, win, no_address), unlock_all, "request is NULL or no address") \
    X(win_freed, "a window that was freed", "MPI_Put", WIN, NOTHING, nothing, \
      MPI_Put(buf, 1, MPI_LONG, me, 0, 1, MPI_LONG, freed), nothing, "freed") \
    X(win_null, "MPI_WIN_NULL", "MPI_Win_flush", WIN, NOTHING, nothing, \
      MPI_Win_flush(me, MPI_WIN_NULL), nothing, "MPI_WIN_NULL") \
    X(no_epoch, "an operation outside of epochs", "MPI_Put", RMA_SYNC, WIN, nothing, \
      MPI_Put(buf, 1, MPI_LONG, me, 0, 1, MPI_LONG, win), nothing, "no epoch is open") \
    X(other_target, "an operation on a target that is not locked", "MPI_Get", RMA_SYNC, WIN, lock_me, \
      MPI_Get(buf, 1, MPI_LONG, (me + 1) % ranks, 0, 1, MPI_LONG, win), unlock_me, "is not locked") \
    X(not_started, "an operation on a target outside the group of start", "MPI_Put", RMA_SYNC, WIN, start, \
      MPI_Put(buf, 1, MPI_LONG, (me + 1) % ranks, 0, 1, MPI_LONG, win), complete, "not in the group") \
    X(request_fence, "an operation with a request in a fence epoch", "MPI_Rget", RMA_SYNC, WIN, open_fence, \
      MPI_Rget(buf, 1, MPI_LONG, me, 0, 1, MPI_LONG, win, &request), close_fence, "needs a lock of its target, ") \
    X(lock_twice, "a second lock of a target", "MPI_Win_lock", RMA_SYNC, WIN, lock_me, \
      MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win), unlock_me, "is locked already") \
    X(lock_in_all, "a lock under lock_all", "MPI_Win_lock", RMA_SYNC, WIN, lock_all, \
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win), unlock_all, "MPI_Win_lock_all") \
    X(all_in_lock, "lock_all under a lock", "MPI_Win_lock_all", RMA_SYNC, WIN, lock_me, \
      MPI_Win_lock_all(0, win), unlock_me, "1 target is") \
    X(all_twice, "a second lock_all", "MPI_Win_lock_all", RMA_SYNC, WIN, lock_all, \
      MPI_Win_lock_all(0, win), unlock_all, "locked already") \
    X(lock_type, "a lock type that there is not", "MPI_Win_lock", LOCKTYPE, WIN, nothing, \
      MPI_Win_lock(4711, me, 0, win), nothing, "4711") \
    X(lock_rank, "a lock of no rank", "MPI_Win_lock", RANK, WIN, nothing, \
      MPI_Win_lock(MPI_LOCK_SHARED, NOBODY, 0, win), nothing, "1234") \
    X(lock_hint, "a lock in spite of no_locks, with HOTLANE_BROKEN_HINTS=error", "MPI_Win_lock", RMA_SYNC, WIN, nothing, \
      MPI_Win_lock(MPI_LOCK_SHARED, me, 0, unlocked), nothing, "no_locks") \
    X(lock_start, "a lock between start and complete", "MPI_Win_lock", RMA_SYNC, WIN, start, \
      MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win), complete, "MPI_Win_start") \
    X(lock_posted, "a lock of memory that is exposed", "MPI_Win_lock", RMA_SYNC, WIN, post, \
      MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win), await, "exposed") \
    X(unlock, "unlock without lock", "MPI_Win_unlock", RMA_SYNC, WIN, nothing, \
      MPI_Win_unlock(me, win), nothing, "is not locked") \
    X(unlock_in_all, "unlock under lock_all", "MPI_Win_unlock", RMA_SYNC, WIN, lock_all, \
      MPI_Win_unlock(me, win), unlock_all, "MPI_Win_unlock_all") \
    X(unlock_all_alone, "unlock_all without lock_all", "MPI_Win_unlock_all", RMA_SYNC, WIN, nothing, \
      MPI_Win_unlock_all(win), nothing, "was not called") \
    X(flush_outside, "a flush outside of epochs", "MPI_Win_flush", RMA_SYNC, WIN, nothing, \
      MPI_Win_flush(me, win), nothing, "is not locked") \
    X(flush_fence, "a flush in a fence epoch", "MPI_Win_flush_all", RMA_SYNC, WIN, open_fence, \
      MPI_Win_flush_all(win), close_fence, "fence") \
    X(flush_start, "a flush between start and complete", "MPI_Win_flush_local", RMA_SYNC, WIN, start, \
      MPI_Win_flush_local(me, win), complete, "start") \
    X(flush_rank, "a flush of no rank", "MPI_Win_flush", RANK, WIN, lock_all, \
      MPI_Win_flush(NOBODY, win), unlock_all, "1234") \
    X(fence_locked, "a fence while targets are locked", "MPI_Win_fence", RMA_SYNC, WIN, lock_me, \
      MPI_Win_fence(0, win), unlock_me, "locked") \
    X(fence_posted, "a fence while the window is exposed", "MPI_Win_fence", RMA_SYNC, WIN, post, \
      MPI_Win_fence(0, win), await, "exposed") \
    X(start_twice, "start twice", "MPI_Win_start", RMA_SYNC, WIN, start, \
      MPI_Win_start(myself, 0, win), complete, "still open") \
    X(start_locked, "start while targets are locked", "MPI_Win_start", RMA_SYNC, WIN, lock_me, \
      MPI_Win_start(myself, 0, win), unlock_me, "locked") \
    X(post_twice, "post twice", "MPI_Win_post", RMA_SYNC, WIN, post, \
      MPI_Win_post(myself, 0, win), await, "exposed already") \
    X(post_locked, "post while one's own memory is locked", "MPI_Win_post", RMA_SYNC, WIN, lock_me, \
      MPI_Win_post(myself, 0, win), unlock_me, "locked") \
    X(complete_alone, "complete without start", "MPI_Win_complete", RMA_SYNC, WIN, nothing, \
      MPI_Win_complete(win), nothing, "MPI_Win_start") \
    X(wait_alone, "wait without post", "MPI_Win_wait", RMA_SYNC, WIN, nothing, \
      MPI_Win_wait(win), nothing, "MPI_Win_post") \
    X(test_alone, "test without post", "MPI_Win_test", RMA_SYNC, WIN, nothing, \
      MPI_Win_test(win, &flag), nothing, "MPI_Win_post") \
    X(test_null, "a NULL flag", "MPI_Win_test", ARG, WIN, post, MPI_Win_test(win, NULL), await, "flag is NULL") \
    X(group_null, "MPI_GROUP_NULL", "MPI_Win_start", GROUP, WIN, nothing, \
      MPI_Win_start(none, 0, win), nothing, "MPI_GROUP_NULL") \
    X(group_other, "a group with ranks outside the window's", "MPI_Win_post", GROUP, WIN, nothing, \
      MPI_Win_post(other, 0, alone), nothing, "member 0") \
    X(assert_lock, "an assertion of another call", "MPI_Win_lock", ASSERT, WIN, nothing, \
      MPI_Win_lock(MPI_LOCK_SHARED, me, MPI_MODE_NOPUT, win), nothing, "assertion 0x1000") \
    X(assert_fence, "an assertion of another call", "MPI_Win_fence", ASSERT, WIN, nothing, \
      MPI_Win_fence(MPI_MODE_NOCHECK, win), nothing, "assertion 0x400") \
    X(assert_post, "an assertion of another call", "MPI_Win_post", ASSERT, WIN, nothing, \
      MPI_Win_post(myself, MPI_MODE_NOPRECEDE, win), nothing, "assertion 0x800") \
    X(assert_start, "an assertion of another call", "MPI_Win_start", ASSERT, WIN, nothing, \
      MPI_Win_start(myself, MPI_MODE_NOSTORE, win), nothing, "assertion 0x2000") \
    X(free_locked, "freed while targets are locked", "MPI_Win_free", RMA_SYNC, WIN, lock_me, \
      MPI_Win_free(&win), unlock_me, "locked") \
    X(free_started, "freed between start and complete", "MPI_Win_free", RMA_SYNC, WIN, start, \
      MPI_Win_free(&win), complete, "MPI_Win_start") \
    X(free_posted, "freed while exposed", "MPI_Win_free", RMA_SYNC, WIN, post, MPI_Win_free(&win), await, "exposed") \
    X(size_negative, "a negative size", "MPI_Win_allocate", SIZE, COMM, nothing, \
      MPI_Win_allocate(-5, 1, MPI_INFO_NULL, comm, &base, &made), nothing, "-5") \
    X(unit_zero, "a displacement unit of 0", "MPI_Win_create", DISP, COMM, nothing, \
      MPI_Win_create(buf, 8, 0, MPI_INFO_NULL, comm, &made), nothing, "unit 0") \
    X(base_null, "a NULL base", "MPI_Win_create", BASE, COMM, nothing, \
      MPI_Win_create(NULL, 8, 1, MPI_INFO_NULL, comm, &made), nothing, "8 bytes") \
    X(comm_null, "MPI_COMM_NULL", "MPI_Win_allocate", COMM, NOTHING, nothing, \
      MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_NULL, &base, &made), nothing, "MPI_COMM_NULL") \
    X(info_bad, "an info object that was freed", "MPI_Win_allocate", INFO, COMM, nothing, \
      MPI_Win_allocate(8, 1, (MPI_Info)(void *)buf, comm, &base, &made), nothing, "info") \
    X(info_null, "no info object", "MPI_Win_set_info", INFO, WIN, nothing, \
      MPI_Win_set_info(win, MPI_INFO_NULL), nothing, "MPI_INFO_NULL") \
    X(query_rank, "shared memory of no rank", "MPI_Win_shared_query", RANK, WIN, nothing, \
      MPI_Win_shared_query(win, NOBODY, &aint, &number, &base), nothing, "1234") \
    X(query_dynamic, "shared memory of a dynamic window", "MPI_Win_shared_query", RMA_FLAVOR, WIN, nothing, \
      MPI_Win_shared_query(dynamic, me, &aint, &number, &base), nothing, "dynamic") \
    X(attach_flavor, "memory for a window that is not dynamic", "MPI_Win_attach", RMA_FLAVOR, WIN, nothing, \
      MPI_Win_attach(win, buf, 8), nothing, "MPI_Win_create_dynamic") \
    X(attach_twice, "memory that is attached already", "MPI_Win_attach", RMA_ATTACH, WIN, nothing, \
      MPI_Win_attach(dynamic, attached + 1, 8), nothing, "attached already") \
    X(attach_size, "memory of a negative size", "MPI_Win_attach", SIZE, WIN, nothing, \
      MPI_Win_attach(dynamic, buf, -9), nothing, "-9") \
    X(attach_null, "NULL as memory", "MPI_Win_attach", BASE, WIN, nothing, \
      MPI_Win_attach(dynamic, NULL, 8), nothing, "8 bytes") \
    X(detach, "memory that is not attached", "MPI_Win_detach", BASE, WIN, nothing, \
      MPI_Win_detach(dynamic, buf), nothing, "no memory is attached at 0x") \
    X(put_unattached, "an operation on memory that is not attached", "MPI_Put", RMA_RANGE, WIN, lock_dynamic, \
      MPI_Put(buf, 1, MPI_LONG, me, aint, 1, MPI_LONG, dynamic), unlock_dynamic, "attached") \
    X(key_other, "an attribute key of communicators", "MPI_Win_set_attr", KEYVAL, WIN, nothing, \
      MPI_Win_set_attr(win, comm_key, buf), nothing, "is not an attribute key") \
    X(key_fixed, "a predefined attribute", "MPI_Win_set_attr", KEYVAL, WIN, nothing, \
      MPI_Win_set_attr(win, MPI_WIN_SIZE, buf), nothing, "is not an attribute key") \
    X(handler_other, "an error handler of communicators", "MPI_Win_set_errhandler", ERRHANDLER, WIN, nothing, \
      MPI_Win_set_errhandler(win, comm_handler), nothing, "made for communicators")

#define FUNCTION(name, what, func, class, object, before, wrong, after, values) \
    static int name(void) { before(); int code = (wrong); after(); return code; }
ROWS(FUNCTION)
/* clang-format on */

static const struct row {
    const char *what, *func, *class_name;
    int class_;
    enum object object;
    int (*run)(void);
    const char *values;
} rows[] = {
#define ROW(name, what, func, class, object, before, wrong, after, values)                                   \
    {what, func, "MPI_ERR_" #class, MPI_ERR_##class, object, name, values},
    ROWS(ROW)
#undef ROW
};

static int runs, last_class;
static char words[MPI_MAX_ERROR_STRING];

static void note(int code)
{
    int len;
    runs++;
    last_class = class_of(code);
    MPI_Error_string(code, words, &len);
}

static void note_win(MPI_Win *w, int *code, ...)
{
    note(*code);
}

static void note_comm(MPI_Comm *c, int *code, ...)
{
    note(*code);
}

static void prepare(void)
{
    MPI_Group world;
    MPI_Info info;
    MPI_Errhandler handler;
    int next = (me + 1) % ranks;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "misuse");
    MPI_Comm_group(comm, &world);
    MPI_Group_incl(world, 1, &me, &myself);
    MPI_Group_incl(world, 1, &next, &other);
    MPI_Group_free(&world);
    MPI_Win_allocate(sizeof buf, sizeof(long), MPI_INFO_NULL, comm, &base, &win);
    MPI_Win_create(buf, sizeof buf, 1, MPI_INFO_NULL, MPI_COMM_SELF, &alone);
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_allocate(8, 1, info, comm, &base, &unlocked);
    MPI_Info_free(&info);
    MPI_Win_allocate(8, 1, MPI_INFO_NULL, comm, &base, &freed);
    MPI_Win gone = freed;
    MPI_Win_free(&gone);
    MPI_Type_contiguous(2, MPI_LONG, &loose);
    MPI_Type_vector(3, 1, 4, MPI_LONG, &holes);
    MPI_Type_commit(&holes);
    MPI_Type_dup(loose, &twice);
    MPI_Type_commit(&twice);
    MPI_Op_create((MPI_User_function *)abort, 1, &own_op);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL);
    MPI_Win_create_errhandler(note_win, &handler);
    MPI_Win *all[] = {&win, &alone, &unlocked, &dynamic};
    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &dynamic);
    MPI_Win_attach(dynamic, attached, sizeof attached);
    for (int i = 0; i < 4; i++) {
        MPI_Win_set_errhandler(*all[i], handler);
        MPI_Win_set_name(*all[i], "misuse");
    }
    MPI_Errhandler_free(&handler);
    MPI_Comm_create_errhandler(note_comm, &comm_handler);
    MPI_Comm_set_errhandler(comm, comm_handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, comm_handler);
}

static void cleanup(void)
{
    MPI_Win_free(&win);
    MPI_Win_free(&alone);
    MPI_Win_free(&unlocked);
    MPI_Win_detach(dynamic, attached);
    MPI_Win_free(&dynamic);
    MPI_Type_free(&loose);
    MPI_Type_free(&holes);
    MPI_Type_free(&twice);
    MPI_Op_free(&own_op);
    MPI_Group_free(&myself);
    MPI_Group_free(&other);
    MPI_Comm_free_keyval(&comm_key);
    MPI_Errhandler_free(&comm_handler);
    MPI_Comm_free(&comm);
}

static void check(const struct row *r)
{
    char rank[32];
    snprintf(rank, sizeof rank, "by rank %d", me);
    runs = 0;
    words[0] = 0;
    int class_ = class_of(r->run());
    CHECK(runs == 1, "%s: the handler ran %d times", r->what, runs);
    CHECK(class_ == r->class_ && last_class == r->class_, "%s: class %d and %d in the handler, not %s",
          r->what, class_, last_class, r->class_name);
    CHECK(strstr(words, r->func) != NULL, "%s: no call in: %s", r->what, words);
    CHECK(strstr(words, rank) != NULL, "%s: no rank in: %s", r->what, words);
    CHECK(strstr(words, object_words[r->object]) != NULL, "%s: no object in: %s", r->what, words);
    CHECK(strstr(words, r->values) != NULL, "%s: no %s in: %s", r->what, r->values, words);
}

/* After all of it the window still works. */
static void check_window(void)
{
    long value = 10 + me, got = 0;
    runs = 0;
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_LONG, (me + 1) % ranks, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    MPI_Get(&got, 1, MPI_LONG, (me + 1) % ranks, 0, 1, MPI_LONG, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(runs == 0 && got == value, "%d errors, got %ld", runs, got);
}

/* Handlers are counted objects, and run when the user says so. */
static void check_handler(void)
{
    MPI_Errhandler now, fresh;
    MPI_Win_get_errhandler(win, &now);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    runs = 0;
    CHECK(class_of(MPI_Win_unlock(me, win)) == MPI_ERR_RMA_SYNC && runs == 0, "MPI_ERRORS_RETURN");
    MPI_Win_set_errhandler(win, now);
    MPI_Win_get_errhandler(win, &fresh);
    CHECK(fresh == now, "the handler that was set");
    MPI_Errhandler_free(&fresh);
    MPI_Errhandler_free(&now);
    MPI_Win_call_errhandler(win, MPI_ERR_ARG);
    CHECK(runs == 1 && last_class == MPI_ERR_ARG, "ran %d times, class %d", runs, last_class);
}

int main(int argc, char **argv)
{
    const int n = (int)(sizeof rows / sizeof rows[0]);
    int table = argc > 1 && strcmp(argv[1], "--table") == 0;
    setenv("HOTLANE_BROKEN_HINTS", "error", 1); /* else such a call goes on after one line */
    begin(&argc, &argv);
    if (ranks < 2) {
        printf("needs 2 ranks\n");
        MPI_Finalize();
        return 77;
    }
    prepare();
    if (table && me == 0) {
        printf(
            "# Misuse of one-sided calls\n\n"
            "Three questions: Which wrong calls are noticed? Which error class does each of them give? "
            "What does its message name?\n\n"
            "Each of these %d calls gives its error class through the error handler of the object; "
            "`MPI_Error_string` gives a\nmessage that names the call, the rank, the object, what was asked "
            "and what was there. Made by\n`mpiexec -n 2 mpi_rma_misuse --table`, whose rank 0 made the "
            "mistakes; a test compares.\n\n| what | call | class |\n|---|---|---|\n",
            n);
    }
    for (int i = 0; i < n; i++) {
        check(&rows[i]);
        if (table && me == 0) {
            printf("| %s | %s | %s |\n", rows[i].what, rows[i].func, rows[i].class_name);
        }
    }
    if (table && me == 0) {
        puts(
            "\nBuilds with `-Dchecked_mode=true` also find conflicting accesses of the ranks of a node "
            "(`MPI_ERR_RMA_CONFLICT`): bytes of a\ntarget that are put and touched again, by the same rank "
            "or "
            "another, before a call completes the first access (a fence: when\nall ranks have come to it), "
            "or accumulated and read; own memory that an "
            "operation writes while another uses it; target layouts that name a byte\ntwice in a put. The "
            "message names the bytes, and both ranks where they are two. What is not found: conflicts between"
            "\nranks of different nodes, puts with notification, and the program's own loads and stores.");
    }
    check_handler();
    check_window();
    cleanup();
    if (!table) {
        return finish_checks("rma_misuse");
    }
    MPI_Finalize();
    return rma_failures != 0;
}
