/* usage: p2p_large: one message of 4 GiB + 5 bytes, and the sizes around every limit between. */
#include "mpi_test.h"

static size_t memory_free(void)
{
    return (size_t)sysconf(_SC_AVPHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

int main(void)
{
    const MPI_Count n = ((MPI_Count)4 << 30) + 5;
    test_start(2);
    int enough = memory_free() > (size_t)n * 5 / 2;
    MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!enough) {
        if (me == 0) {
            printf("needs 10 GiB of free memory\n");
        }
        MPI_Finalize();
        return 77;
    }
    if (me < 2) {
        unsigned char *buf = calloc(1, (size_t)n);
        CHECK(buf != NULL);
        if (me == 0) {
            buf[0] = 1;
            buf[(size_t)n / 2] = 2;
            buf[n - 1] = 3;
            MPI_Send_c(buf, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Status st;
            MPI_Count got = 0;
            MPI_Recv_c(buf, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &st);
            CHECK(buf[0] == 1 && buf[(size_t)n / 2] == 2 && buf[n - 1] == 3);
            MPI_Get_count_c(&st, MPI_BYTE, &got);
            CHECK_EQ(got, n);
            int small = 0;
            MPI_Get_count(&st, MPI_BYTE, &small);
            CHECK_EQ(small, MPI_UNDEFINED);
        }
        free(buf);
    }
    MPI_Finalize();
    return 0;
}
