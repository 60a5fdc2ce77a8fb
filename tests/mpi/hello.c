/* Start, one message round the ring, end; at any thread level.
 * usage: hello single|funneled|serialized|multiple [GRANTED] */
#include "mpi_test.h"

static int level_of(const char *name)
{
    const char *const names[] = {"single", "funneled", "serialized", "multiple"};
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, names[i]) == 0) {
            return levels[i];
        }
    }
    return -1;
}

int main(int argc, char **argv)
{
    int level = level_of(argc > 1 ? argv[1] : "single"), provided = -1, v = 0, flag = 0;
    MPI_Initialized(&flag);
    if (flag) {
        return 1;
    }
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_EQ(provided, argc > 2 ? level_of(argv[2]) : level);
    MPI_Query_thread(&level);
    CHECK_EQ(provided, level);
    int left = (me + size - 1) % size, right = (me + 1) % size;
    MPI_Sendrecv(&me, 1, MPI_INT, right, 5, &v, 1, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(v, left);
    MPI_Sendrecv(&me, 1, MPI_INT, MPI_PROC_NULL, 5, &v, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK_EQ(v, left);
    MPI_Finalize();
    MPI_Finalized(&flag);
    return flag ? 0 : 1;
}
