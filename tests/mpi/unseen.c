/* Under Valgrind, which does not see what another process writes here: nothing that arrives counts as
 * uninitialised. Large messages (which both ends copy, while the sender waits) into memory that nobody has
 * written, and one-sided calls into the user's own memory. Rank 1 alone may run under it. */
#include "mpi_test.h"

#define LARGE ((size_t)4 << 20)
#define ROUNDS 5
#define WORDS 1000

/* A branch for each word: Valgrind complains at those that it takes for uninitialised. */
static void check_words(const uint64_t *at, size_t n, uint64_t first)
{
    for (size_t i = 0; i < n; i++) {
        CHECK_EQ(at[i], first + i);
    }
}

static void message(uint64_t first)
{
    size_t n = LARGE / sizeof(uint64_t);
    uint64_t *data = malloc(LARGE);
    CHECK(data != NULL);
    if (me == 0) {
        for (size_t i = 0; i < n; i++) {
            data[i] = first + i;
        }
        MPI_Send(data, (int)LARGE, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(data, (int)LARGE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_words(data, n, first);
    }
    free(data);
}

static void put(void)
{
    uint64_t *mine = malloc(WORDS * sizeof *mine), given[WORDS];
    CHECK(mine != NULL);
    for (size_t i = 0; i < WORDS; i++) {
        given[i] = 7 + i;
    }
    MPI_Win win;
    MPI_Win_create(mine, WORDS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(given, WORDS, MPI_UINT64_T, !me, 0, WORDS, MPI_UINT64_T, win);
    MPI_Win_fence(0, win);
    check_words(mine, WORDS, 7);
    MPI_Win_free(&win);
    free(mine);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        message(round * LARGE);
    }
    put();
    MPI_Finalize();
    return 0;
}
