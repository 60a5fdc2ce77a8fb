/* What the other programs do not call: large-count forms of one-sided operations, every operation to
 * MPI_PROC_NULL, sets of groups, attributes and sizes of types, the modes of sending, some and all of several
 * requests. Any number of ranks. */
#include "rma.h"

#include <hotlane.h>
#include <stdbool.h>

static long *base;
static MPI_Win win;

static void all_to(int t, long first)
{
    static long one[2] = {1, 2}, was[2];
    MPI_Aint at = first;
    MPI_Request r;
    MPI_Put_c(one, 2, MPI_LONG, t, at, 2, MPI_LONG, win);
    MPI_Win_flush(t, win);
    MPI_Accumulate_c(one, 2, MPI_LONG, t, at, 2, MPI_LONG, MPI_SUM, win); /* 2 4 */
    MPI_Win_flush(t, win);
    was[0] = was[1] = -1;
    MPI_Get_accumulate_c(one, 2, MPI_LONG, was, 2, MPI_LONG, t, at, 2, MPI_LONG, MPI_PROD, win); /* 2 8 */
    MPI_Win_flush(t, win);
    CHECK(t < 0 ? was[0] == -1 : was[0] == 2 && was[1] == 4, "%ld %ld", was[0], was[1]);
    MPI_Raccumulate_c(one, 2, MPI_LONG, t, at, 2, MPI_LONG, MPI_SUM, win, &r); /* 3 10 */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_flush(t, win);
    MPI_Rget_accumulate_c(one, 2, MPI_LONG, was, 2, MPI_LONG, t, at, 2, MPI_LONG, MPI_NO_OP, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(t < 0 ? was[0] == -1 : was[0] == 3 && was[1] == 10, "%ld %ld", was[0], was[1]);
    MPI_Rput_c(one + 1, 1, MPI_LONG, t, at, 1, MPI_LONG, win, &r); /* 2 10 */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_flush(t, win);
    MPI_Rget_c(was, 2, MPI_LONG, t, at, 2, MPI_LONG, win, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(t < 0 ? was[0] == -1 : was[0] == 2 && was[1] == 10, "%ld %ld", was[0], was[1]);
    MPIX_Put_notify_c(one, 1, MPI_LONG, t, at, 1, MPI_LONG, at + 1, 77, win); /* 1 77 */
    MPI_Win_flush(t, win);
}

static void large_forms(void)
{
    size_t n = 2 * (size_t)ranks;
    base = calloc(n, sizeof *base);
    MPI_Win_create_c(base, (MPI_Aint)(n * sizeof *base), sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    for (int t = 0; t < ranks; t++) {
        all_to(t, 2L * me);
    }
    meet(win);
    for (int o = 0; o < ranks; o++) {
        CHECK(base[2 * o] == 1 && base[2 * o + 1] == 77, "%ld %ld from %d", base[2 * o], base[2 * o + 1], o);
    }
}

/* Every call returns at once, whatever else it says, and touches nothing. */
static void to_nobody(void)
{
    long a = 5, b = 6, c = 7;
    MPI_Request r[4];
    MPI_Status status;
    int count, nobody = MPI_PROC_NULL;
    all_to(nobody, 1L << 40);
    CHECK(MPI_Put(&a, 1, MPI_LONG, nobody, -3, 1, MPI_LONG, win) == MPI_SUCCESS, "put");
    CHECK(MPI_Get(&b, 1, MPI_LONG, nobody, 0, 1, MPI_LONG, win) == MPI_SUCCESS, "get");
    CHECK(MPI_Accumulate(&a, 1, MPI_LONG, nobody, 0, 1, MPI_LONG, MPI_SUM, win) == MPI_SUCCESS, "sum");
    CHECK(MPI_Get_accumulate(&a, 1, MPI_LONG, &b, 1, MPI_LONG, nobody, 0, 1, MPI_LONG, MPI_SUM, win) ==
              MPI_SUCCESS,
          "get sum");
    CHECK(MPI_Fetch_and_op(&a, &b, MPI_LONG, nobody, 0, MPI_SUM, win) == MPI_SUCCESS, "fetch");
    CHECK(MPI_Compare_and_swap(&a, &c, &b, MPI_LONG, nobody, 0, win) == MPI_SUCCESS, "swap");
    MPI_Rput(&a, 1, MPI_LONG, nobody, 0, 1, MPI_LONG, win, &r[0]);
    MPI_Raccumulate(&a, 1, MPI_LONG, nobody, 0, 1, MPI_LONG, MPI_SUM, win, &r[1]);
    MPI_Rget_accumulate(&a, 1, MPI_LONG, &b, 1, MPI_LONG, nobody, 0, 1, MPI_LONG, MPI_SUM, win, &r[2]);
    MPI_Rget(&b, 1, MPI_LONG, nobody, 0, 1, MPI_LONG, win, &r[3]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    MPI_Wait(&r[3], &status);
    MPI_Get_count(&status, MPI_LONG, &count);
    CHECK(count == 0, "count %d", count);
    CHECK(MPI_Win_lock(MPI_LOCK_SHARED, nobody, 0, win) == MPI_SUCCESS, "lock");
    CHECK(MPI_Win_unlock(nobody, win) == MPI_SUCCESS, "unlock");
    CHECK(MPI_Win_flush_local(nobody, win) == MPI_SUCCESS, "flush");
    CHECK(a == 5 && b == 6 && c == 7, "%ld %ld %ld", a, b, c);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(base);
}

/* MPI 4.1, 12.3.5: such a request is not freed and not cancelled. One of an operation that was complete at once,
 * as on a node, is not known any more. */
static void refused_requests(void)
{
    long word = me, *mine;
    int next = (me + 1) % ranks, length;
    const char *near = getenv("HOTLANE_NEAR");
    bool far = near != NULL && strcmp(near, "0") == 0 && next != me;
    char words[MPI_MAX_ERROR_STRING] = "";
    MPI_Request r;
    MPI_Win_allocate(sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock_all(0, win);
    MPI_Rput(&word, 1, MPI_LONG, next, 0, 1, MPI_LONG, win, &r);
    int code = MPI_Cancel(&r);
    CHECK(!far || class_of(code) == MPI_ERR_REQUEST, "class %d", class_of(code));
    code = MPI_Request_free(&r);
    CHECK(far ? class_of(code) == MPI_ERR_REQUEST && r != MPI_REQUEST_NULL
              : code == MPI_SUCCESS || class_of(code) == MPI_ERR_REQUEST,
          "class %d", class_of(code));
    if (code != MPI_SUCCESS) {
        MPI_Error_string(code, words, &length);
        CHECK(strstr(words, "MPI_Request_free") != NULL && strstr(words, "MPI_Wait") != NULL, "%s", words);
        CHECK(MPI_Wait(&r, MPI_STATUS_IGNORE) == MPI_SUCCESS, "it still can be waited for");
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static MPI_Group range(MPI_Group of, int first, int last)
{
    int r[1][3] = {{first, last, 1}};
    MPI_Group made;
    MPI_Group_range_incl(of, 1, r, &made);
    return made;
}

static void check_group(MPI_Group g, MPI_Group want, const char *what)
{
    int same;
    MPI_Group_compare(g, want, &same);
    CHECK(same == MPI_IDENT, "%s: %d", what, same);
    MPI_Group_free(&g);
    MPI_Group_free(&want);
}

static void groups(void)
{
    MPI_Group all, low, high, made;
    int half = ranks / 2, rank, last[1] = {ranks - 1}, most[1][3] = {{1, ranks - 1, 1}};
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    low = range(all, 0, half);
    high = range(all, half, ranks - 1);
    MPI_Group_rank(high, &rank);
    CHECK(rank == (me < half ? MPI_UNDEFINED : me - half), "rank %d", rank);
    MPI_Group_union(low, high, &made);
    check_group(made, range(all, 0, ranks - 1), "union");
    MPI_Group_intersection(low, high, &made);
    check_group(made, range(all, half, half), "intersection");
    if (half > 0) {
        MPI_Group_difference(low, high, &made);
        check_group(made, range(all, 0, half - 1), "difference");
        MPI_Group_excl(all, 1, last, &made);
        check_group(made, range(all, 0, ranks - 2), "excl");
        MPI_Group_range_excl(all, 1, most, &made);
        check_group(made, range(all, 0, 0), "range_excl");
    }
    MPI_Group_free(&low);
    MPI_Group_free(&high);
    MPI_Group_free(&all);
}

static int copies;

static int copy(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    copies++;
    memcpy(out, &extra, sizeof extra);
    *flag = 1;
    return MPI_SUCCESS;
}

static void types(void)
{
    static int here, there;
    MPI_Datatype vector, twin, found;
    MPI_Count size, lb, extent;
    MPI_Aint true_lb, true_extent;
    int key, flag, length;
    void *value;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Type_vector(3, 2, 5, MPI_INT, &vector);
    MPI_Type_size_x(vector, &size);
    MPI_Type_get_extent_x(vector, &lb, &extent);
    CHECK(size == 24 && lb == 0 && extent == 48, "%lld %lld %lld", (long long)size, (long long)lb,
          (long long)extent);
    MPI_Type_get_true_extent(vector, &true_lb, &true_extent);
    MPI_Type_get_true_extent_x(vector, &lb, &extent);
    CHECK(true_lb == 0 && true_extent == 48 && lb == 0 && extent == 48, "true extent %lld",
          (long long)extent);
    MPI_Type_create_keyval(copy, MPI_TYPE_NULL_DELETE_FN, &key, &there);
    MPI_Type_set_attr(vector, key, &here);
    MPI_Type_set_name(vector, "stripes");
    MPI_Type_dup(vector, &twin);
    MPI_Type_get_attr(twin, key, &value, &flag);
    CHECK(flag && value == &there && copies == 1, "copied %d", copies);
    MPI_Type_delete_attr(vector, key);
    MPI_Type_get_attr(vector, key, &value, &flag);
    CHECK(!flag, "deleted");
    MPI_Type_get_name(vector, name, &length);
    CHECK(strcmp(name, "stripes") == 0, "%s", name);
    MPI_Type_free_keyval(&key);
    MPI_Type_free(&twin);
    MPI_Type_free(&vector);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &found);
    MPI_Type_size_x(found, &size);
    CHECK(size == 8, "%lld", (long long)size);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &found);
    CHECK(found == MPI_DOUBLE_INT, "pair");
}

enum { MESSAGES = 6 };

/* To my right neighbour in every mode; what arrives is taken by Testsome, Waitsome and Testall. */
static void modes(void)
{
    int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks, in[MESSAGES], out[MESSAGES], done = 0,
        flag = 0;
    int which[MESSAGES], n, both = me;
    MPI_Request r[MESSAGES], s[MESSAGES];
    MPI_Status status[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
        in[i] = -1;
        out[i] = 10 * me + i;
        MPI_Irecv_c(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &r[i]);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* the receives are there: modes that need them are allowed */
    MPI_Isend_c(&out[0], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &s[0]);
    MPI_Issend(&out[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &s[1]);
    MPI_Issend_c(&out[2], 1, MPI_INT, right, 2, MPI_COMM_WORLD, &s[2]);
    MPI_Irsend(&out[3], 1, MPI_INT, right, 3, MPI_COMM_WORLD, &s[3]);
    MPI_Irsend_c(&out[4], 1, MPI_INT, right, 4, MPI_COMM_WORLD, &s[4]);
    s[5] = MPI_REQUEST_NULL;
    MPI_Rsend(&out[5], 1, MPI_INT, right, 5, MPI_COMM_WORLD);
    MPI_Testsome(MESSAGES, r, &n, which, status);
    while (n != MPI_UNDEFINED) {
        for (int i = 0; i < n; i++, done++) {
            CHECK(status[i].MPI_TAG == which[i] && in[which[i]] == 10 * left + which[i], "%d", in[which[i]]);
        }
        MPI_Waitsome(MESSAGES, r, &n, which, status);
    }
    CHECK(done == MESSAGES, "%d messages", done);
    while (!flag) {
        MPI_Testall(MESSAGES, s, &flag, MPI_STATUSES_IGNORE);
    }
    CHECK(s[0] == MPI_REQUEST_NULL && s[4] == MPI_REQUEST_NULL, "requests are gone");
    MPI_Sendrecv_replace(&both, 1, MPI_INT, right, 9, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(both == left, "replaced %d", both);
    MPI_Sendrecv_replace_c(&both, 1, MPI_INT, left, 9, right, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(both == me, "replaced back %d", both);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    large_forms();
    to_nobody();
    refused_requests();
    groups();
    types();
    modes();
    return finish_checks("rest_calls");
}
