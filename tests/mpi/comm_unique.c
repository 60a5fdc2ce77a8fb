/* Threads make communicators on parents of their own, all at once, and keep many: no two of those alive take
 * each other's messages, whatever was freed in between.
 *
 *   comm_unique THREADS COMMUNICATORS    COMMUNICATORS of each thread */
#include "mpi_test.h"

enum { KEPT = 128, WAYS = 5 };

static int makes;
static uint64_t seed;
static MPI_Comm parents[64];

/* Every rank makes the same choices. A parent may be one of those that were made. */
static MPI_Comm make(MPI_Comm parent, unsigned way, int tag)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group;
    MPI_Request r;
    switch (way) {
    case 0:
        MPI_Comm_dup(parent, &made);
        break;
    case 1:
        MPI_Comm_idup(parent, &made, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Comm_split(parent, 0, me, &made);
        break;
    case 3:
        MPI_Comm_group(parent, &group);
        MPI_Comm_create(parent, group, &made);
        MPI_Group_free(&group);
        break;
    default:
        MPI_Comm_group(parent, &group);
        MPI_Comm_create_group(parent, group, tag, &made);
        MPI_Group_free(&group);
        break;
    }
    CHECK_EQ(made == MPI_COMM_NULL, 0);
    return made;
}

/* A receive of anything waits in each; one message goes to each, the last one's first. */
static void use_all(int n, MPI_Comm comms[], int mark)
{
    MPI_Request r[KEPT];
    int out[KEPT], in[KEPT];
    for (int i = 0; i < n; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &r[i]);
    }
    for (int i = n - 1; i >= 0; i--) {
        out[i] = mark + i;
        MPI_Send(&out[i], 1, MPI_INT, (me + 1) % size, i, comms[i]);
    }
    MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(in[i], mark + i);
    }
}

static void *storm(void *number)
{
    int t = (int)(intptr_t)number, n = 0, made = 0;
    uint64_t state = seed + (uint64_t)t * 977;
    MPI_Comm comms[KEPT];
    while (made < makes) {
        for (; n < KEPT && made < makes; n++, made++) {
            bool child = n > 0 && test_random(&state) % 3 == 0;
            MPI_Comm parent = child ? comms[test_random(&state) % (uint64_t)n] : parents[t];
            comms[n] = make(parent, (unsigned)(test_random(&state) % WAYS), t);
        }
        use_all(n, comms, (t << 20) + made);
        while (n > KEPT / 2) { /* any of them */
            uint64_t k = test_random(&state) % (uint64_t)n;
            MPI_Comm_free(&comms[k]);
            comms[k] = comms[--n];
        }
    }
    use_all(n, comms, t << 20);
    while (n > 0) {
        MPI_Comm_free(&comms[--n]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 4;
    makes = argc > 2 ? atoi(argv[2]) : 200;
    test_start(1);
    seed = test_seed();
    for (int t = 0; t < threads; t++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &parents[t]);
    }
    test_threads(threads, storm);
    for (int t = 0; t < threads; t++) {
        MPI_Comm_free(&parents[t]);
    }
    MPI_Finalize();
    return 0;
}
