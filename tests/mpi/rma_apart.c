/* Windows each of whose parts is a segment of its own: every rank puts into every other's, and finds what all
 * have put. Argument: windows that live at a time. */
#include "rma.h"

#define BYTES ((MPI_Aint)8 << 20) /* too large for an arena */

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int n = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Win *wins = calloc((size_t)n, sizeof *wins);
    long **bases = calloc((size_t)n, sizeof *bases);
    for (int i = 0; i < n; i++) {
        MPI_Win_allocate(BYTES, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &bases[i], &wins[i]);
        MPI_Win_fence(0, wins[i]);
        for (int to = 0; to < ranks; to++) {
            long word = 1000L * i + me;
            MPI_Put(&word, 1, MPI_LONG, to, me, 1, MPI_LONG, wins[i]);
        }
        MPI_Win_fence(0, wins[i]);
    }
    for (int i = 0; i < n; i++) {
        for (int from = 0; from < ranks; from++) {
            CHECK(bases[i][from] == 1000L * i + from, "window %d: %ld from rank %d", i, bases[i][from], from);
        }
        MPI_Win_free(&wins[i]);
    }
    free(wins);
    free(bases);
    return finish_checks("rma_apart");
}
