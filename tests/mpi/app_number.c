/* usage: app_number N, with N the place of this program in the launcher's command: what MPI_APPNUM says, and
 * that nobody expects more processes than there are (MPI_UNIVERSE_SIZE). */
#include "mpi_test.h"

int main(int argc, char **argv)
{
    int *appnum = NULL, *universe = NULL, flag = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
    CHECK(flag);
    CHECK_EQ(*appnum, atoi(argv[1]));
    MPI_Comm_get_attr(MPI_COMM_SELF, MPI_APPNUM, &appnum, &flag);
    CHECK(flag && *appnum == atoi(argv[1]));
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);
    CHECK(flag);
    CHECK_EQ(*universe, size);
    MPI_Finalize();
    return 0;
}
