/* The bytes between and behind the value and the index of a pair are the program's: no reduction, message or
 * accumulate writes them, in the middle or behind the last pair. */
#include "mpi_test.h"

#include <stddef.h>

enum { N = 3, GUARD = 0x5a };

#define PAIRS(X)                                                                                             \
    X(MPI_DOUBLE_INT, double, DOUBLE)                                                                        \
    X(MPI_LONG_INT, long, LONG)                                                                              \
    X(MPI_SHORT_INT, short, SHORT)                                                                           \
    X(MPI_LONG_DOUBLE_INT, long double, LDOUBLE)                                                             \
    X(MPI_FLOAT_INT, float, FLOAT)                                                                           \
    X(MPI_2INT, int, 2INT)

/* Where a pair's parts lie. */
struct shape {
    MPI_Datatype type;
    size_t value, index, extent; /* bytes of the value, where the index is, bytes of a pair */
};

#define X(handle, c, name)                                                                                   \
    struct pair_##name {                                                                                     \
        c value;                                                                                             \
        int index;                                                                                           \
    };                                                                                                       \
    static void set_##name(char *at, int value, int index)                                                   \
    {                                                                                                        \
        c v = (c)value;                                                                                      \
        memcpy(at, &v, sizeof v);                                                                            \
        memcpy(at + offsetof(struct pair_##name, index), &index, sizeof index);                              \
    }                                                                                                        \
    static int value_##name(const char *at)                                                                  \
    {                                                                                                        \
        c v;                                                                                                 \
        memcpy(&v, at, sizeof v);                                                                            \
        return (int)v;                                                                                       \
    }
PAIRS(X)
#undef X

struct kind {
    const char *words;
    struct shape s;
    void (*set)(char *at, int value, int index);
    int (*value)(const char *at);
};

static char from[N * 64], to[N * 64], other[N * 64];

/* Pairs with `value` and my rank; all other bytes hold the guard. */
static void fill(const struct kind *k, char *pairs, int value, int guard)
{
    memset(pairs, guard, N * 64);
    for (int i = 0; i < N; i++) {
        k->set(pairs + i * k->s.extent, value + i, me);
    }
}

static void check_pairs(const struct kind *k, const char *pairs, int value, const char *what)
{
    for (size_t b = 0; b < N * 64; b++) {
        size_t in = b % k->s.extent;
        bool data =
            b < N * k->s.extent && (in < k->s.value || (in >= k->s.index && in < k->s.index + sizeof(int)));
        if (!data && pairs[b] != GUARD) {
            fprintf(stderr, "rank %d: %s of %s made byte %zu, which is no part of a pair, %#x\n", me, what,
                    k->words, b, (unsigned char)pairs[b]);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    for (int i = 0; i < N; i++) {
        CHECK_EQ(k->value(pairs + i * k->s.extent), value + i);
    }
}

static void reduce(const struct kind *k)
{
    const MPI_Datatype t = k->s.type;
    int last = size - 1, counts[64];
    for (int round = 0; round < 6; round++) { /* later rounds go by the communicator's shared memory */
        fill(k, from, 10 * me, 0x11);
        fill(k, to, -5, GUARD);
        MPI_Allreduce(from, to, N, t, MPI_MAXLOC, MPI_COMM_WORLD);
        check_pairs(k, to, 10 * last, "Allreduce");
        fill(k, to, 10 * me, GUARD);
        MPI_Allreduce(MPI_IN_PLACE, to, N, t, MPI_MINLOC, MPI_COMM_WORLD);
        check_pairs(k, to, 0, "Allreduce in place");
        fill(k, to, -5, GUARD);
        MPI_Reduce(from, to, N, t, MPI_MAXLOC, round % size, MPI_COMM_WORLD);
        check_pairs(k, to, me == round % size ? 10 * last : -5, "Reduce");
        fill(k, to, -5, GUARD);
        MPI_Scan(from, to, N, t, MPI_MAXLOC, MPI_COMM_WORLD);
        check_pairs(k, to, 10 * me, "Scan");
        fill(k, to, -5, GUARD);
        MPI_Exscan(from, to, N, t, MPI_MAXLOC, MPI_COMM_WORLD);
        check_pairs(k, to, me > 0 ? 10 * (me - 1) : -5, "Exscan");
        memset(counts, 0, sizeof counts);
        counts[round % size] = N;
        fill(k, to, -5, GUARD);
        MPI_Reduce_scatter(from, to, counts, t, MPI_MAXLOC, MPI_COMM_WORLD);
        check_pairs(k, to, me == round % size ? 10 * last : -5, "Reduce_scatter");
        fill(k, to, 10 * me, me == 0 ? 0x11 : GUARD);
        MPI_Bcast(to, N, t, 0, MPI_COMM_WORLD);
        if (me != 0) {
            check_pairs(k, to, 0, "Bcast");
        }
    }
    fill(k, to, 1, GUARD);
    MPI_Reduce_local(from, to, N, t, MPI_MAXLOC);
    check_pairs(k, to, 10 * me > 1 ? 10 * me : 1, "Reduce_local");
}

static void exchange(const struct kind *k)
{
    fill(k, from, 10 * me, 0x11);
    fill(k, to, -5, GUARD);
    MPI_Sendrecv(from, N, k->s.type, (me + 1) % size, 1, to, N, k->s.type, (me + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_pairs(k, to, 10 * ((me + size - 1) % size), "Sendrecv");
}

/* Each rank updates its right neighbour's window. */
static void update(const struct kind *k, char *memory, MPI_Win win)
{
    int right = (me + 1) % size, left = (me + size - 1) % size;
    fill(k, memory, 2, GUARD);
    fill(k, from, 10 * me + 3, 0x11);
    fill(k, to, -5, GUARD);
    MPI_Win_fence(0, win);
    MPI_Accumulate(from, N, k->s.type, right, 0, N, k->s.type, MPI_MAXLOC, win);
    MPI_Win_fence(0, win);
    check_pairs(k, memory, 10 * left + 3, "Accumulate with MPI_MAXLOC");
    fill(k, from, 10 * me + 1, 0x11);
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(from, N, k->s.type, to, N, k->s.type, right, 0, N, k->s.type, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    check_pairs(k, memory, 10 * left + 1, "Get_accumulate with MPI_REPLACE");
    check_pairs(k, to, 10 * me + 3, "the result of Get_accumulate");
    fill(k, other, -5, GUARD);
    MPI_Win_fence(0, win);
    MPI_Get(other, N, k->s.type, right, 0, N, k->s.type, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    check_pairs(k, other, 10 * me + 1, "Get");
}

/* Each rank fetches from its right neighbour's window, pair by pair, and into every second place. */
static void fetch(const struct kind *k, char *memory, MPI_Win win)
{
    static char wide[2 * N * 64];
    int right = (me + 1) % size, left = (me + size - 1) % size;
    size_t extent = k->s.extent;
    MPI_Datatype second;
    MPI_Request request;
    fill(k, memory, 2, GUARD);
    fill(k, from, 10 * me + 1, 0x11);
    fill(k, to, -5, GUARD);
    MPI_Win_fence(0, win);
    for (size_t i = 0; i < N; i++) {
        MPI_Fetch_and_op(from + i * extent, to + i * extent, k->s.type, right, (MPI_Aint)(i * extent),
                         MPI_MAXLOC, win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    check_pairs(k, memory, 10 * left + 1 > 2 ? 10 * left + 1 : 2, "Fetch_and_op with MPI_MAXLOC");
    check_pairs(k, to, 2, "the result of Fetch_and_op");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_vector(N, 1, 2, k->s.type, &second);
    MPI_Type_commit(&second);
    memset(wide, GUARD, sizeof wide);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    MPI_Rget_accumulate(NULL, 0, k->s.type, wide, 1, second, right, 0, N, k->s.type, MPI_NO_OP, win,
                        &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(right, win);
    MPI_Type_free(&second);
    memset(other, GUARD, sizeof other);
    for (size_t i = 0; i < N; i++) {
        memcpy(other + i * extent, wide + 2 * i * extent, extent);
        memset(wide + 2 * i * extent, GUARD, extent);
    }
    check_pairs(k, other, 10 * me + 1 > 2 ? 10 * me + 1 : 2, "Rget_accumulate");
    for (size_t b = 0; b < sizeof wide; b++) {
        CHECK_EQ(wide[b], GUARD);
    }
}

/* In memory of the rank's own, where the window ends with the last pair's index, and in memory of the window. */
static void in_windows(const struct kind *k)
{
    static char memory[N * 64];
    char *made;
    MPI_Win win;
    MPI_Win_create(memory, (MPI_Aint)((N - 1) * k->s.extent + k->s.index + sizeof(int)), 1, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
    update(k, memory, win);
    fetch(k, memory, win);
    MPI_Win_free(&win);
    MPI_Win_allocate(sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made, &win);
    update(k, made, win);
    fetch(k, made, win);
    MPI_Win_free(&win);
}

int main(void)
{
#define X(handle, c, name)                                                                                   \
    {#handle,                                                                                                \
     {handle, sizeof(c), offsetof(struct pair_##name, index), sizeof(struct pair_##name)},                   \
     set_##name,                                                                                             \
     value_##name},
    const struct kind kinds[] = {PAIRS(X)};
#undef X
    test_start(1);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        reduce(&kinds[i]);
        exchange(&kinds[i]);
        in_windows(&kinds[i]);
    }
    MPI_Finalize();
    if (me == 0) {
        printf("pair_gaps: only values and indices were written\n");
    }
    return 0;
}
