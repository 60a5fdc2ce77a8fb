/* On one node, collectives whose sizes do not match end with an error on some ranks, or with none, but end;
 * different calls end with an error that names them; and the next ones on the communicator work. usage: coll_unlike [CALL [verbose]] */
#include "rma.h"

enum { LARGE = 600000 };
static const int sizes[] = {8, 1000, 8192, 20000, 100000, LARGE};
#define SIZES ((int)(sizeof sizes / sizeof sizes[0]))

static char *from, *to;
static int *counts, *places;
static int reported;

static void blocks(int n)
{
    for (int i = 0; i < ranks; i++) {
        counts[i] = n;
        places[i] = i * LARGE;
    }
}

/* A call in which the root, or all others, have blocks of `n` bytes and the rest of `m`. */
typedef int call(int n, int m, int root);

static int gather(int n, int m, int root)
{
    return MPI_Gather(from, m, MPI_CHAR, to, n, MPI_CHAR, root, MPI_COMM_WORLD);
}

static int gatherv(int n, int m, int root)
{
    blocks(n);
    return MPI_Gatherv(from, m, MPI_CHAR, to, counts, places, MPI_CHAR, root, MPI_COMM_WORLD);
}

static int scatter(int n, int m, int root)
{
    return MPI_Scatter(from, m, MPI_CHAR, to, n, MPI_CHAR, root, MPI_COMM_WORLD);
}

static int scatterv(int n, int m, int root)
{
    blocks(m);
    return MPI_Scatterv(from, counts, places, MPI_CHAR, to, n, MPI_CHAR, root, MPI_COMM_WORLD);
}

static int bcast(int n, int m, int root)
{
    return MPI_Bcast(to, me == root ? m : n, MPI_CHAR, root, MPI_COMM_WORLD);
}

static int allgather(int n, int m, int root)
{
    int mine = me == root ? m : n;
    return MPI_Allgather(from, mine, MPI_CHAR, to, mine, MPI_CHAR, MPI_COMM_WORLD);
}

static int alltoall(int n, int m, int root)
{
    int mine = me == root ? m : n;
    return MPI_Alltoall(from, mine, MPI_CHAR, to, mine, MPI_CHAR, MPI_COMM_WORLD);
}

static int barrier(int n, int m, int root)
{
    return MPI_Barrier(MPI_COMM_WORLD);
}

static int reduce(int n, int m, int root)
{
    return MPI_Reduce(from, to, n, MPI_INT8_T, MPI_SUM, root, MPI_COMM_WORLD);
}

static int allreduce(int n, int m, int root)
{
    return MPI_Allreduce(from, to, n, MPI_INT8_T, MPI_SUM, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    call *fn;
} calls[] = {
    {"gather", gather}, {"gatherv", gatherv},     {"scatter", scatter},   {"scatterv", scatterv},
    {"bcast", bcast},   {"allgather", allgather}, {"alltoall", alltoall},
};

static void check_next(const char *name, int n, int m)
{
    int all = -1, mine = me + 1, code = MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(code == MPI_SUCCESS && all == ranks * (ranks + 1) / 2, "after %s of %d for %d: %d", name, m, n,
          all);
    memset(from, me + 1, LARGE);
    memset(to, 0, 2 * (size_t)ranks);
    code = MPI_Allgather(from, 2, MPI_CHAR, to, 2, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) {
        CHECK(code == MPI_SUCCESS && to[2 * i] == (char)(i + 1) && to[2 * i + 1] == to[2 * i],
              "after %s of %d for %d: %d of rank %d", name, m, n, to[2 * i], i);
    }
    code = MPI_Bcast(to, 20000, MPI_CHAR, ranks - 1, MPI_COMM_WORLD);
    CHECK(code == MPI_SUCCESS, "after %s of %d for %d", name, m, n);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS, "after %s of %d for %d", name, m, n);
}

/* One rank is in another call than the others. Who reads what the other call has written names it. (Two calls
 * in which some rank only waits, and data in several cells, may leave ranks that wait for each other: that is the
 * watchdog's matter.) */
static void different_calls(void)
{
    static const struct {
        const char *name;
        call *fn;
        int all; /* each rank writes before it waits for the others */
    } pairs[] = {{"MPI_Barrier", barrier, 1},     {"MPI_Bcast", bcast, 0},
                 {"MPI_Reduce", reduce, 0},       {"MPI_Gather", gather, 0},
                 {"MPI_Allreduce", allreduce, 1}, {"MPI_Allgather", allgather, 1}};
    enum { PAIRS = sizeof pairs / sizeof pairs[0] };
    for (int i = 0; i < PAIRS * PAIRS * ranks; i++) {
        int mine = i % PAIRS, others = i / PAIRS % PAIRS, odd = i / PAIRS / PAIRS % ranks, len, told[2];
        char said[MPI_MAX_ERROR_STRING] = "";
        if (mine == others || (!pairs[mine].all && !pairs[others].all)) {
            continue;
        }
        const char *named = pairs[me == odd ? others : mine].name;
        int code = pairs[me == odd ? mine : others].fn(8, 8, 0);
        if (code != MPI_SUCCESS) {
            MPI_Error_string(code, said, &len);
        }
        int sees[2] = {strstr(said, named) != NULL && strstr(said, "has called") != NULL,
                       code != MPI_SUCCESS};
        for (int k = 0; k < 4; k++) { /* the next calls work */
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_Allreduce(sees, told, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(told[0] > 0, "%s of rank %d, %s of the others: %d of %d errors name it; %s", pairs[mine].name,
              odd, pairs[others].name, told[0], told[1], said);
        check_next(pairs[mine].name, 8, 8);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    from = calloc((size_t)ranks, LARGE);
    to = calloc((size_t)ranks, LARGE);
    counts = malloc((size_t)ranks * sizeof *counts);
    places = malloc((size_t)ranks * sizeof *places);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 40; i++) {
        check_next("nothing", 0, 0);
    }
    for (int k = 0; k < (int)(sizeof calls / sizeof calls[0]); k++) {
        if (argc > 1 && strcmp(argv[1], calls[k].name) != 0) {
            continue;
        }
        for (int i = 0; i < SIZES * SIZES; i++) {
            int n = sizes[i / SIZES], m = sizes[i % SIZES];
            if (argc > 2 && me == 0) {
                fprintf(stderr, "%s %d %d\n", calls[k].name, n, m);
            }
            int code = calls[k].fn(n, m, i % ranks);
            CHECK(n != m || code == MPI_SUCCESS, "%s of %d", calls[k].name, n);
            reported += code != MPI_SUCCESS;
            check_next(calls[k].name, n, m);
        }
    }
    if (argc < 2 && ranks <= 8) { /* more meet in a tree, whose root only waits at first */
        different_calls();
    }
    int all;
    MPI_Allreduce(&reported, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all > 0, "no error at all");
    return finish_checks("coll_unlike");
}
