/* Operations with requests between any two layouts, in every kind of window: what arrives is right, what lies
 * between stays, types may be freed at once; and many small blocks of private memory on the node travel
 * together: their number tells hardly anything about that of copies and of requests to the peer. */
#include "rma.h"

#include <hotlane.h>

#define BASE 1e6

enum layout { DENSE, VECTOR, PAIRS, BOX, BACKWARDS, UNEVEN, STRUCT, REPEATED, LAYOUTS };
enum window { ALLOCATED, PRIVATE, DYNAMIC, WINDOWS };
enum call { GET, PUT, ACC, GET_ACC, CALLS };

/* 4 * quarter doubles, and where they are: computed here, not asked of the library. */
struct shape {
    MPI_Datatype type;
    int count;
    int *at;
};

static int quarter, n, room; /* room: doubles of a buffer */

/* Rows that begin at displs[] and are lens[] long. */
static void note_rows(struct shape *s, int rows, const int *displs, const int *lens)
{
    int k = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < lens[i]; j++) {
            s->at[k++] = displs[i] + j;
        }
    }
    CHECK(k == n, "%d places of %d", k, n);
}

/* Displacements and lengths of a layout's rows; returns how many. */
static int rows_of(enum layout layout, int *displs, int *lens)
{
    int rows = layout == PAIRS || layout == UNEVEN ? n / 2 : n;
    for (int i = 0; i < rows; i++) {
        lens[i] = rows == n ? 1 : 2;
        displs[i] = layout == DENSE ? i : layout == PAIRS ? 5 * i : 3 * i;
        if (layout == BACKWARDS) {
            displs[i] = 3 * (n - 1 - i) + i % 2;
        } else if (layout == UNEVEN) {
            lens[i] = i % 2 != 0 ? 3 : 1;
            displs[i] = 5 * i + i % 3 / 2;
        } else if (layout == BOX) { /* quarter planes of 2 x 2 of 3 x 5 */
            displs[i] = 15 * (i / 4) + 5 * (i / 2 % 2) + 3 * (i % 2);
        } else if (layout == REPEATED) {
            displs[i] = 6 * (i / 2) + 2 * (i % 2);
        }
    }
    return rows;
}

static struct shape shape_of(enum layout layout)
{
    struct shape s = {.count = 1, .at = malloc((size_t)n * sizeof(int))};
    int *displs = malloc((size_t)n * sizeof(int)), *lens = malloc((size_t)n * sizeof(int));
    int rows = rows_of(layout, displs, lens);
    MPI_Datatype inner;
    note_rows(&s, rows, displs, lens);
    if (layout == DENSE) {
        MPI_Type_contiguous(n, MPI_DOUBLE, &s.type);
    } else if (layout == VECTOR || layout == PAIRS) {
        MPI_Type_vector(rows, lens[0], layout == PAIRS ? 5 : 3, MPI_DOUBLE, &s.type);
    } else if (layout == BOX) {
        MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &inner);
        MPI_Type_create_hvector(2, 1, 5 * 8, inner, &s.type);
        MPI_Type_free(&inner);
        inner = s.type;
        MPI_Type_create_hvector(quarter, 1, 15 * 8, inner, &s.type);
        MPI_Type_free(&inner);
    } else if (layout == STRUCT) {
        MPI_Datatype *types = malloc((size_t)n * sizeof(MPI_Datatype));
        MPI_Aint *bytes = malloc((size_t)n * sizeof(MPI_Aint));
        for (int i = 0; i < n; i++) {
            types[i] = MPI_DOUBLE;
            bytes[i] = 8 * (MPI_Aint)displs[i];
        }
        MPI_Type_create_struct(n, lens, bytes, types, &s.type);
        free(types);
        free(bytes);
    } else if (layout == REPEATED) {
        MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &inner);
        MPI_Type_create_resized(inner, 0, 6 * 8, &s.type);
        MPI_Type_free(&inner);
        s.count = n / 2;
    } else {
        MPI_Type_indexed(rows, lens, displs, MPI_DOUBLE, &s.type);
    }
    MPI_Type_commit(&s.type);
    free(displs);
    free(lens);
    return s;
}

static double *base, *mine, *got;
static MPI_Win win;
static MPI_Aint there;

static void open_window(enum window kind)
{
    MPI_Aint bytes = (MPI_Aint)room * 8, addr = 0;
    base = kind == ALLOCATED ? NULL : malloc((size_t)bytes);
    if (kind == ALLOCATED) {
        MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    } else if (kind == PRIVATE) {
        MPI_Win_create(base, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, base, bytes);
        MPI_Get_address(base, &addr);
    }
    MPI_Sendrecv(&addr, 1, MPI_AINT, (me + ranks - 1) % ranks, 0, &there, 1, MPI_AINT, (me + 1) % ranks, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void close_window(enum window kind)
{
    if (kind == DYNAMIC) {
        MPI_Win_detach(win, base);
    }
    MPI_Win_free(&win);
    free(kind == ALLOCATED ? NULL : base);
}

static long long trips(void)
{
    long long trays = 0, copies = 0;
    CHECK(hotlane_counter("trays", &trays) == 0 && hotlane_counter("cma_copies", &copies) == 0, "counters");
    return trays + copies;
}

static void issue(enum call call, enum layout mine_is, enum layout theirs_is, int *my_at, int *their_at)
{
    struct shape m = shape_of(mine_is), t = shape_of(theirs_is);
    int target = (me + 1) % ranks;
    long long before = trips();
    MPI_Request request;
    if (call == GET) {
        MPI_Rget(mine, m.count, m.type, target, there, t.count, t.type, win, &request);
    } else if (call == PUT) {
        MPI_Rput(mine, m.count, m.type, target, there, t.count, t.type, win, &request);
    } else if (call == ACC) {
        MPI_Raccumulate(mine, m.count, m.type, target, there, t.count, t.type, MPI_SUM, win, &request);
    } else {
        MPI_Rget_accumulate(mine, m.count, m.type, got, m.count, m.type, target, there, t.count, t.type,
                            MPI_SUM, win, &request);
    }
    MPI_Type_free(&m.type);
    MPI_Type_free(&t.type);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    long long took = trips() - before;
    /* A request takes 16 KiB, a block of 8 bytes needs 24 there; a copy takes 64 blocks. */
    CHECK(took <= 64 + n / 256, "call %d, layouts %d and %d: %d blocks took %lld trips", call, mine_is,
          theirs_is, n, took);
    memcpy(my_at, m.at, (size_t)n * sizeof(int));
    memcpy(their_at, t.at, (size_t)n * sizeof(int));
    free(m.at);
    free(t.at);
}

static void check_window(enum call call, const int *my_at, const int *their_at)
{
    char *touched = calloc((size_t)room, 1);
    for (int i = 0; i < n && call != GET; i++) {
        double sent = -1.0 - my_at[i], old = me * BASE + their_at[i], want = call == PUT ? sent : old + sent;
        touched[their_at[i]] = 1;
        CHECK(base[their_at[i]] == want, "call %d, element %d: %g for %g", call, i, base[their_at[i]], want);
    }
    for (int i = 0; i < room; i++) {
        CHECK(touched[i] || base[i] == me * BASE + i, "call %d: place %d was touched", call, i);
    }
    free(touched);
}

static void check_mine(const double *buf, double gap, const int *my_at, const int *their_at)
{
    char *touched = calloc((size_t)room, 1);
    for (int i = 0; i < n; i++) {
        double want = (me + 1) % ranks * BASE + their_at[i];
        touched[my_at[i]] = 1;
        CHECK(buf[my_at[i]] == want, "element %d: %g for %g", i, buf[my_at[i]], want);
    }
    for (int i = 0; i < room; i++) {
        CHECK(touched[i] || buf[i] == gap * (1 + i), "place %d was touched", i);
    }
    free(touched);
}

static void one_call(enum call call, enum layout mine_is, enum layout theirs_is)
{
    int *my_at = malloc((size_t)n * sizeof(int)), *their_at = malloc((size_t)n * sizeof(int));
    for (int i = 0; i < room; i++) {
        base[i] = me * BASE + i;
        mine[i] = -1.0 - i;
        got[i] = -5.0 * (1 + i);
    }
    MPI_Win_lock_all(0, win);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    issue(call, mine_is, theirs_is, my_at, their_at);
    if (call == GET) {
        check_mine(mine, -1.0, my_at, their_at);
    } else if (call == GET_ACC) {
        check_mine(got, -5.0, my_at, their_at);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win);
    check_window(call, my_at, their_at);
    MPI_Win_unlock(me, win);
    MPI_Barrier(MPI_COMM_WORLD);
    free(my_at);
    free(their_at);
}

int main(int argc, char **argv)
{
    int quarters[] = {1, 5, 60};
    begin(&argc, &argv);
    quarters[2] = argc > 1 ? atoi(argv[1]) : quarters[2];
    for (size_t g = 0; g < sizeof quarters / sizeof quarters[0]; g++) {
        quarter = quarters[g];
        n = 4 * quarter;
        room = 5 * n;
        mine = malloc((size_t)room * sizeof(double));
        got = malloc((size_t)room * sizeof(double));
        for (int w = 0; w < WINDOWS; w++) {
            open_window((enum window)w);
            for (int i = 0; i < LAYOUTS * LAYOUTS * CALLS; i++) {
                one_call((enum call)(i % CALLS), (enum layout)(i / CALLS % LAYOUTS),
                         (enum layout)(i / CALLS / LAYOUTS));
            }
            close_window((enum window)w);
        }
        free(mine);
        free(got);
    }
    return finish_checks("rma_layouts");
}
