/* Broadcasts of more than 2^31 bytes: as many bytes, and as a few elements of a large type with a hole. */
#include "mpi_test.h"

#include <sys/mman.h>

static void check_bcast(char *buf, MPI_Count count, MPI_Datatype type, size_t bytes, size_t hole)
{
    for (size_t k = 0; k < bytes; k += 1048573) {
        buf[k] = me == 0 ? (char)(k % 251) : 0;
    }
    buf[bytes - 1] = me == 0 ? 77 : 0;
    CHECK_EQ(MPI_Bcast_c(buf, count, type, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    for (size_t k = 0; k < bytes; k += 1048573) {
        CHECK_EQ(buf[k], k == hole && me != 0 ? 0 : (char)(k % 251));
    }
    CHECK_EQ(buf[bytes - 1], 77);
}

int main(void)
{
    size_t bytes = ((size_t)1 << 31) + 1048576;

    test_start(2);
    char *buf = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(buf != MAP_FAILED);
    check_bcast(buf, (MPI_Count)bytes - 7, MPI_BYTE, bytes - 7, 1);

    /* One element: all but the byte at `hole`. */
    size_t hole = 1048573 * 3;
    MPI_Count lens[2] = {(MPI_Count)hole, (MPI_Count)(bytes - hole - 1)},
              displs[2] = {0, (MPI_Count)hole + 1};
    MPI_Datatype type;
    MPI_Type_create_hindexed_c(2, lens, displs, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    check_bcast(buf, 1, type, bytes, hole);
    MPI_Type_free(&type);
    munmap(buf, bytes);
    MPI_Finalize();
    return 0;
}
