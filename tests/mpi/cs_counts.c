/* The table of locks of each mode (HOTLANE_CS): what a blocking send, a nonblocking send with its wait, and
 * both to nobody take; and that calls on objects are whole calls of the global mode, and of no other. Counted
 * before the C library, by address, and by the library itself where HOTLANE_CS_COUNT is 1. One thread, so
 * nothing is contended. It prints "locks" with what each of the four takes (perf/locks).
 *
 *   cs_counts MODE [own]     own: the library counts as well */
#include "mpi_test.h"

#include <hotlane.h>

void lockcount_begin(void);
void lockcount_end(long counts[3]);

enum { TIMES = 200, CALLS = 4 };
static bool own_counts;
enum { SEND, ISEND_WAIT, NULL_SEND, NULL_ISEND_WAIT };

static const struct {
    const char *mode;
    int locks[CALLS]; /* of one call, or pair of calls */
} table[] = {
    {"lockfree", {0, 0, 0, 0}},   {"none", {0, 0, 0, 0}},
    {"global", {1, 2, 1, 2}},     {"brief", {1, 8, 0, 0}},
    {"object", {1, 8, 0, 0}},     {"object+atomic", {1, 4, 0, 0}},
    {"object+tlp", {1, 6, 0, 0}}, {"object+tlp+atomic", {1, 2, 0, 0}},
};

static void call(int which)
{
    int dest = which >= NULL_SEND ? MPI_PROC_NULL : 1;
    MPI_Request r;
    if (which == SEND || which == NULL_SEND) {
        MPI_Send(NULL, 0, MPI_BYTE, dest, 1, MPI_COMM_WORLD);
        return;
    }
    MPI_Isend(NULL, 0, MPI_BYTE, dest, 1, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/* All acquisitions, and in vain at first; false: the library does not count. */
static bool counted(long long *taken, long long *contended)
{
    static const char *const kinds[] = {"call", "send",    "inbox", "progress",
                                        "pool", "request", "comm",  "window"};
    *taken = *contended = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char name[64];
        long long value;
        snprintf(name, sizeof name, "cs_%s:me", kinds[i]);
        if (hotlane_counter(name, &value) != 0) {
            return false;
        }
        *taken += value;
        snprintf(name, sizeof name, "cs_%s_contended:me", kinds[i]);
        CHECK_EQ(hotlane_counter(name, &value), 0);
        *contended += value;
    }
    return true;
}

/* `alone`: the call takes no locks but those of sections. Returns how many all the calls took. */
static long long measure(void (*fn)(int), int which, long expected, bool alone)
{
    long long before, after, contended, unused;
    long counts[3];
    fn(which); /* what is made once is there */
    CHECK_EQ(counted(&before, &unused), own_counts);
    lockcount_begin();
    for (int i = 0; i < TIMES; i++) {
        fn(which);
    }
    lockcount_end(counts);
    counted(&after, &contended);
    if (own_counts) {
        CHECK_EQ(after - before, expected * TIMES);
        CHECK_EQ(contended, 0);
    } else if (alone) {
        CHECK_EQ(counts[0], expected * TIMES);
    } else {
        CHECK(counts[0] >= expected * TIMES);
    }
    return own_counts ? after - before : counts[0];
}

/* ---- Calls on objects ---- */

static struct {
    MPI_Comm cart;
    MPI_Group group;
    MPI_Info info;
    MPI_File file;
    MPI_Datatype type;
    int key;
} made;

static void make_objects(void)
{
    int two[2] = {2, 1}, no[2] = {0, 0};
    char name[] = "/tmp/cs_counts_XXXXXX";
    CHECK(close(mkstemp(name)) == 0);
    MPI_Cart_create(MPI_COMM_WORLD, 2, two, no, 0, &made.cart);
    MPI_Comm_group(MPI_COMM_WORLD, &made.group);
    MPI_Info_create(&made.info);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &made.file);
    MPI_Type_contiguous(3, MPI_INT, &made.type);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made.key, NULL);
}

static void free_objects(void)
{
    MPI_Comm_free(&made.cart);
    MPI_Group_free(&made.group);
    MPI_Info_free(&made.info);
    MPI_File_close(&made.file);
    MPI_Type_free(&made.type);
    MPI_Comm_free_keyval(&made.key);
}

static int number, flag, several[4];
static char words[MPI_MAX_OBJECT_NAME];
static MPI_Offset offset;
static MPI_Group part;
static MPI_Info copy;
static MPI_Datatype another;
static MPI_Errhandler handler;

/* X(calls, takes no other locks, what is done) */
#define OBJECT_ROWS(X)                                                                                       \
    X(1, true, MPI_Cart_coords(made.cart, 0, 2, several))                                                    \
    X(1, true, MPI_Cartdim_get(made.cart, &number))                                                          \
    X(1, true, MPI_Topo_test(made.cart, &number))                                                            \
    X(1, true, MPI_Group_rank(made.group, &number))                                                          \
    X(1, true, MPI_Group_compare(made.group, made.group, &number))                                           \
    X(2, false, MPI_Group_incl(made.group, 1, several, &part); MPI_Group_free(&part))                        \
    X(1, false, MPI_Info_get_nkeys(made.info, &number))                                                      \
    X(1, false, MPI_Info_set(made.info, "key", "value"))                                                     \
    X(2, false, MPI_Info_dup(made.info, &copy); MPI_Info_free(&copy))                                        \
    X(1, true, MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &offset, &flag))                                \
    X(2, false, MPI_Comm_set_attr(made.cart, made.key, words); MPI_Comm_delete_attr(made.cart, made.key))    \
    X(1, false, MPI_Comm_get_name(MPI_COMM_WORLD, words, &number))                                           \
    X(2, false, MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler); MPI_Errhandler_free(&handler))            \
    X(1, true, MPI_Type_get_envelope(made.type, several, several + 1, several + 2, several + 3))             \
    X(2, false, MPI_Type_dup(made.type, &another); MPI_Type_free(&another))                                  \
    X(1, true, MPI_Op_commutative(MPI_SUM, &flag))                                                           \
    X(1, true, MPI_File_get_amode(made.file, &number))                                                       \
    X(1, false, MPI_File_get_size(made.file, &offset))                                                       \
    X(1, false, MPI_File_seek(made.file, 0, MPI_SEEK_SET))                                                   \
    X(1, false, MPI_File_write_at(made.file, 0, words, 8, MPI_BYTE, MPI_STATUS_IGNORE))                      \
    X(2, false, MPI_Bsend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD); MPI_Buffer_flush())

enum {
#define ROW(calls, alone, what) +1
    OBJECTS = 0 OBJECT_ROWS(ROW)
#undef ROW
};

static void call_object(int which)
{
    int at = 0;
#define ROW(calls, alone, what)                                                                              \
    if (which == at++) {                                                                                     \
        what;                                                                                                \
    }
    OBJECT_ROWS(ROW)
#undef ROW
}

static void measure_objects(bool whole_calls)
{
    static const struct {
        int calls;
        bool alone;
    } rows[] = {
#define ROW(calls, alone, what) {calls, alone},
        OBJECT_ROWS(ROW)
#undef ROW
    };
    for (int i = 0; i < OBJECTS; i++) {
        measure(call_object, i, whole_calls ? rows[i].calls : 0, rows[i].alone);
    }
}

static void receive_all(void)
{
    for (int i = 0; i < 2 * (TIMES + 1); i++) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "lockfree";
    bool none = strcmp(mode, "none") == 0;
    own_counts = argc > 2;
    size_t row = 0;
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    CHECK_EQ(provided, none ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    while (strcmp(table[row].mode, mode) != 0) {
        CHECK(++row < sizeof table / sizeof table[0]);
    }
    double taken[CALLS];
    for (int which = 0; which < CALLS && me == 0; which++) {
        taken[which] = (double)measure(call, which, table[row].locks[which], true) / TIMES;
    }
    if (me == 0) {
        printf("locks %g %g %g %g\n", taken[SEND], taken[ISEND_WAIT], taken[NULL_SEND],
               taken[NULL_ISEND_WAIT]);
    }
    make_objects();
    measure_objects(strcmp(mode, "global") == 0);
    free_objects();
    if (me == 1) {
        receive_all();
    }
    MPI_Finalize();
    return 0;
}
