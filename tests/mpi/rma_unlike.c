/* Windows whose targets differ in size and unit: every call, in every kind of epoch, up to the last element
 * of each target and not one further. And a window in private memory beside one that is reached by lanes. */
#include "rma.h"

#include <stdint.h>

enum { SLOT = 6 }; /* elements of each origin in every window */

static long *base, *end; /* mine, and what lies behind it */
static MPI_Win win;

static int unit_of(int rank)
{
    static const int units[] = {8, 2, 4, 1};
    return units[rank % 4];
}

static long elements_of(int rank)
{
    return (long)ranks * SLOT + 3L * rank + 1; /* the last one is its right neighbour's */
}

/* Displacement of an element in the target's units. */
static MPI_Aint at(int target, long element)
{
    return element * (MPI_Aint)sizeof(long) / unit_of(target);
}

enum kind { ALLOCATE, PRIVATE, KINDS };

static void make(enum kind kind)
{
    size_t n = (size_t)elements_of(me);
    if (kind == ALLOCATE) {
        MPI_Win_allocate((MPI_Aint)(n * sizeof *base), unit_of(me), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                         &win);
    } else {
        base = malloc((n + 1) * sizeof *base);
        end = base + n;
        *end = -77;
        MPI_Win_create(base, (MPI_Aint)(n * sizeof *base), unit_of(me), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
}

static void destroy(enum kind kind)
{
    MPI_Win_free(&win);
    if (kind == PRIVATE) {
        CHECK(*end == -77, "behind the end: %ld", *end);
        free(base);
    }
}

/* ---- one target in an epoch that is open ---- */

static void wait_all(int passive, int target)
{
    if (passive) {
        MPI_Win_flush(target, win);
    }
}

/* Operations of which each is seen by the next or by the epoch's end. */
static void operate(int t, int passive)
{
    static long was[2], two = 2, more[2] = {10, 20}, values[3];
    static short half = 7;
    long first = (long)me * SLOT;
    values[0] = 1000 + me;
    values[1] = 2000 + me;
    values[2] = 3000 + me;
    CHECK(MPI_Put(values, 1, MPI_LONG, t, at(t, first), 1, MPI_LONG, win) == MPI_SUCCESS, "put");
    CHECK(MPI_Put_c(values + 1, 2, MPI_LONG, t, at(t, first + 1), 2, MPI_LONG, win) == MPI_SUCCESS,
          "put of two");
    CHECK(MPI_Put(&half, 1, MPI_SHORT, t, at(t, first + 5), 1, MPI_SHORT, win) == MPI_SUCCESS,
          "put of a half");
    if (!passive) {
        return;
    }
    wait_all(passive, t);
    CHECK(MPI_Accumulate(more, 1, MPI_LONG, t, at(t, first), 1, MPI_LONG, MPI_SUM, win) == MPI_SUCCESS,
          "sum");
    CHECK(MPI_Accumulate(more, 2, MPI_LONG, t, at(t, first + 1), 2, MPI_LONG, MPI_SUM, win) == MPI_SUCCESS,
          "sums");
    CHECK(MPI_Fetch_and_op(more, was, MPI_LONG, t, at(t, first), MPI_SUM, win) == MPI_SUCCESS, "fetch");
    wait_all(passive, t);
    CHECK(was[0] == 1010 + me, "fetched %ld", was[0]);
    long compare = 1020 + me;
    CHECK(MPI_Compare_and_swap(&two, &compare, was, MPI_LONG, t, at(t, first), win) == MPI_SUCCESS, "swap");
    wait_all(passive, t);
    CHECK(was[0] == compare, "swapped %ld", was[0]);
    CHECK(MPI_Get_accumulate(more, 2, MPI_LONG, was, 2, MPI_LONG, t, at(t, first + 1), 2, MPI_LONG, MPI_SUM,
                             win) == MPI_SUCCESS,
          "get sums");
    wait_all(passive, t);
    CHECK(was[0] == 2010 + me && was[1] == 3020 + me, "before the sums %ld %ld", was[0], was[1]);
}

static void by_request(int t)
{
    static long value, got, one = 1;
    long slot = (long)me * SLOT + 3;
    MPI_Request r = MPI_REQUEST_NULL;
    value = 4000 + me;
    CHECK(MPI_Rput(&value, 1, MPI_LONG, t, at(t, slot), 1, MPI_LONG, win, &r) == MPI_SUCCESS, "rput");
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    wait_all(1, t);
    CHECK(MPI_Raccumulate(&one, 1, MPI_LONG, t, at(t, slot), 1, MPI_LONG, MPI_SUM, win, &r) == MPI_SUCCESS,
          "rsum");
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    wait_all(1, t);
    CHECK(MPI_Rget(&got, 1, MPI_LONG, t, at(t, slot), 1, MPI_LONG, win, &r) == MPI_SUCCESS, "rget");
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(got == 4001 + me, "rget %ld", got);
}

static void check_class(int code, int want, const char *what)
{
    CHECK(class_of(code) == want, "%s: class %d, not %d", what, class_of(code), want);
}

/* The last element is right, one more is not; nor are displacements that overflow. */
static void edges(int t)
{
    static long value = 5, got;
    static char bytes[4096];
    MPI_Aint behind = at(t, elements_of(t)), last = at(t, elements_of(t) - 1);
    MPI_Aint wrap =
        (MPI_Aint)(UINT64_C(1) << 63) / unit_of(t) * 2; /* 0 bytes, modulo 2^64; 0 in units of 1 */
    if (me == (t + 1) % ranks) {
        CHECK(MPI_Put(&value, 1, MPI_LONG, t, last, 1, MPI_LONG, win) == MPI_SUCCESS, "last element");
    }
    CHECK(MPI_Get(&got, 1, MPI_LONG, t, last, 1, MPI_LONG, win) == MPI_SUCCESS, "last element");
    CHECK(MPI_Put(&value, 0, MPI_LONG, t, behind, 0, MPI_LONG, win) == MPI_SUCCESS, "nothing, at the end");
    check_class(MPI_Put(&value, 1, MPI_LONG, t, behind, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE, "put behind");
    check_class(MPI_Put(bytes, 9, MPI_BYTE, t, last, 9, MPI_BYTE, win), MPI_ERR_RMA_RANGE, "put across");
    check_class(MPI_Get(&got, 1, MPI_LONG, t, behind, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE, "get behind");
    check_class(MPI_Accumulate(&value, 1, MPI_LONG, t, behind, 1, MPI_LONG, MPI_SUM, win), MPI_ERR_RMA_RANGE,
                "sum");
    check_class(MPI_Fetch_and_op(&value, &got, MPI_LONG, t, behind, MPI_SUM, win), MPI_ERR_RMA_RANGE,
                "fetch");
    check_class(MPI_Compare_and_swap(&value, &value, &got, MPI_LONG, t, behind, win), MPI_ERR_RMA_RANGE,
                "swap");
    check_class(MPI_Put(&value, 1, MPI_LONG, t, -1, 1, MPI_LONG, win), MPI_ERR_DISP, "negative");
    check_class(MPI_Put(&value, -1, MPI_LONG, t, 0, -1, MPI_LONG, win), MPI_ERR_COUNT, "negative count");
    check_class(MPI_Put_c(&value, INT64_MAX / 4, MPI_LONG, t, 0, INT64_MAX / 4, MPI_LONG, win), MPI_ERR_COUNT,
                "count");
    if (wrap > 0) {
        check_class(MPI_Put(&value, 1, MPI_LONG, t, wrap, 1, MPI_LONG, win), MPI_ERR_RMA_RANGE, "overflow");
    }
}

/* Without an epoch, and to a target that the epoch does not open. */
static void closed(int t)
{
    static long value = 6, got;
    check_class(MPI_Put(&value, 1, MPI_LONG, t, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC, "put");
    check_class(MPI_Get(&got, 1, MPI_LONG, t, 0, 1, MPI_LONG, win), MPI_ERR_RMA_SYNC, "get");
    check_class(MPI_Fetch_and_op(&value, &got, MPI_LONG, t, 0, MPI_SUM, win), MPI_ERR_RMA_SYNC, "fetch");
    check_class(MPI_Compare_and_swap(&value, &value, &got, MPI_LONG, t, 0, win), MPI_ERR_RMA_SYNC, "swap");
}

/* ---- epochs ---- */

static void clear(void)
{
    for (long i = 0; i < elements_of(me); i++) {
        base[i] = 0;
    }
    meet_outside(win);
}

static void check_slots(int passive)
{
    meet_outside(win);
    for (int o = 0; o < ranks; o++) {
        const long *slot = base + (long)o * SLOT;
        short half;
        memcpy(&half, slot + 5, sizeof half);
        CHECK(slot[0] == (passive ? 2 : 1000 + o), "%ld from %d", slot[0], o);
        CHECK(slot[1] == 2000 + o + (passive ? 20 : 0), "%ld from %d", slot[1], o);
        CHECK(slot[2] == 3000 + o + (passive ? 40 : 0), "%ld from %d", slot[2], o);
        CHECK(slot[3] == (passive ? 4001 + o : 0) && slot[4] == 0 && half == 7, "%ld %ld %d", slot[3],
              slot[4], half);
    }
    CHECK(base[elements_of(me) - 1] == 5, "last %ld", base[elements_of(me) - 1]);
    meet_outside(win);
}

static void all_targets(int passive)
{
    for (int t = 0; t < ranks; t++) {
        operate(t, passive);
        if (passive) {
            by_request(t);
        }
        edges(t);
    }
}

static void in_epochs(void)
{
    clear();
    closed(0);
    MPI_Win_fence(0, win);
    all_targets(0);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    check_slots(0);

    clear();
    MPI_Win_lock_all(0, win);
    all_targets(1);
    MPI_Win_unlock_all(win);
    check_slots(1);

    clear();
    for (int i = 0; i < ranks; i++) {
        int t = (me + i) % ranks;
        MPI_Win_lock(i % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, t, 0, win);
        operate(t, 1);
        by_request(t);
        edges(t);
        if (ranks > 1) {
            closed((t + 1) % ranks);
        }
        MPI_Win_unlock(t, win);
        closed(t);
    }
    check_slots(1);

    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    clear();
    MPI_Win_post(world, 0, win);
    MPI_Win_start(world, 0, win);
    all_targets(0);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    check_slots(0);
    MPI_Group_free(&world);
}

/* ---- private memory of node peers beside targets that lanes reach ---- */

static void beside(void)
{
    static long mine[8], ours[8];
    MPI_Comm node;
    MPI_Win wide, narrow;
    int n, r, seen = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &n);
    MPI_Comm_rank(node, &r);
    memset(mine, 0, sizeof mine);
    memset(ours, 0, sizeof ours);
    MPI_Win_create(mine, sizeof mine, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &wide);
    MPI_Win_create(ours, sizeof ours, 8, MPI_INFO_NULL, node, &narrow);
    MPI_Win_lock_all(0, wide);
    MPI_Win_lock_all(0, narrow);
    MPI_Barrier(MPI_COMM_WORLD);
    /* A chain to each rank of the job is the last one when each peer of the node is put to. */
    for (int t = 0; t < ranks; t++) {
        for (int k = 0; k < n; k++) {
            long far = 100 + me, near = 200 + r, got = -1;
            for (int i = 0; i < 3; i++) {
                MPI_Put(&far, 1, MPI_LONG, t, me % 8, 1, MPI_LONG, wide);
            }
            MPI_Put(&near, 1, MPI_LONG, k, r % 8, 1, MPI_LONG, narrow);
            MPI_Get(&got, 1, MPI_LONG, k, r % 8, 1, MPI_LONG, narrow);
            MPI_Win_flush(k, narrow);
            CHECK(got == near, "%ld from node rank %d", got, k);
        }
    }
    MPI_Win_unlock_all(narrow);
    MPI_Win_unlock_all(wide);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ranks && i < 8; i++) {
        CHECK(mine[i] == 100 + i, "%ld from %d", mine[i], i);
        seen += ours[i] == 200 + i;
    }
    CHECK(seen == n, "%d of %d node peers", seen, n);
    MPI_Win_free(&narrow);
    MPI_Win_free(&wide);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int kind = 0; kind < KINDS; kind++) {
        make((enum kind)kind);
        in_epochs();
        destroy((enum kind)kind);
    }
    beside();
    return finish_checks("rma_unlike");
}
