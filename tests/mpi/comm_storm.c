/* Threads make, use and free communicators at once, each on a parent of its own; every new one keeps its
 * messages to itself. usage: comm_storm THREADS ROUNDS */
#include "mpi_test.h"

static int rounds;
static uint64_t seed;
static MPI_Comm parents[64];

/* All members of `comm` meet in it; rank and size are as expected. */
static void use(MPI_Comm comm, int rank, int n, int mark)
{
    int sum = 0, mine = mark + rank, got = -1, r, s;
    MPI_Request req;

    MPI_Comm_rank(comm, &r);
    MPI_Comm_size(comm, &s);
    CHECK_EQ(r, rank);
    CHECK_EQ(s, n);
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &req);
    MPI_Send(&mine, 1, MPI_INT, (rank + 1) % n, 3, comm);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK_EQ(sum, n * mark + n * (n - 1) / 2);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    CHECK_EQ(got, mark + (rank + n - 1) % n);
}

static void split(MPI_Comm parent, uint64_t *state, int mark)
{
    int colors = 1 + (int)(test_random(state) % 3), up = (int)(test_random(state) % 2), rank = 0, n = 0;
    MPI_Comm part;

    int color = me % colors;
    for (int i = 0; i < size; i++) {
        n += i % colors == color;
        rank += i % colors == color && (up ? i < me : i > me);
    }
    if (test_random(state) % 4 == 0) { /* the last color stays away */
        color = color == colors - 1 ? MPI_UNDEFINED : color;
    }
    MPI_Comm_split(parent, color, up ? me : -me, &part);
    CHECK_EQ(part == MPI_COMM_NULL, color == MPI_UNDEFINED);
    if (part != MPI_COMM_NULL) {
        use(part, rank, n, mark);
        MPI_Comm_free(&part);
    }
}

static void create(MPI_Comm parent, uint64_t *state, int mark)
{
    int low = (int)(test_random(state) % (uint64_t)size), range[1][3] = {{size - 1, low, -1}};
    MPI_Group all, some;
    MPI_Comm made;

    MPI_Comm_group(parent, &all);
    MPI_Group_range_incl(all, 1, range, &some);
    MPI_Comm_create(parent, some, &made);
    CHECK_EQ(made == MPI_COMM_NULL, me < low);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    if (made != MPI_COMM_NULL) {
        use(made, size - 1 - me, size - low, mark);
        MPI_Comm_free(&made);
    }
}

static void *storm(void *number)
{
    intptr_t t = (intptr_t)number;
    uint64_t state = seed + (uint64_t)t;
    MPI_Comm held[4];
    int n = 0, result;

    for (int i = 0; i < rounds; i++) {
        int mark = i * 100 + (int)t * 100000;
        switch (test_random(&state) % 4) {
        case 0:
            split(parents[t], &state, mark);
            break;
        case 1:
            create(parents[t], &state, mark);
            break;
        default: /* several live at once, and children of children */
            MPI_Comm_dup(n > 0 ? held[n - 1] : parents[t], &held[n]);
            MPI_Comm_compare(held[n], parents[t], &result);
            CHECK_EQ(result, MPI_CONGRUENT);
            use(held[n], me, size, mark);
            n++;
            break;
        }
        while (n == 4 || (n > 0 && i == rounds - 1)) {
            MPI_Comm_free(&held[--n]);
        }
    }
    while (n > 0) {
        MPI_Comm_free(&held[--n]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 4;

    rounds = argc > 2 ? atoi(argv[2]) : 50;
    test_start(1);
    seed = test_seed();
    for (int i = 0; i < threads; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &parents[i]);
    }
    test_threads(threads, storm);
    for (int i = 0; i < threads; i++) {
        MPI_Comm_free(&parents[i]);
    }
    MPI_Finalize();
    return 0;
}
