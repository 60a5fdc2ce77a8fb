/* Errors of requests go where the communicator's handler sends them, also while another thread frees it.
 *
 * usage: comm_freed ROUNDS */
#include "mpi_test.h"

#include <pthread.h>
#include <stdatomic.h>

#define N 8 /* requests of a round */

static int rounds;
static MPI_Comm comm;
static atomic_int begun, freed; /* rounds; each hands `comm` over */

static void wait_for(atomic_int *word, int round)
{
    while (atomic_load(word) != round) {
    }
}

static void *free_comms(void *unused)
{
    uint64_t state = seed_of_run();
    for (int i = 1; i <= rounds; i++) {
        wait_for(&begun, i);
        for (volatile uint64_t left = test_random(&state) % 2000; left > 0; left--) {
        }
        MPI_Comm_free(&comm);
        atomic_store(&freed, i);
    }
    return unused;
}

/* Messages that are longer than their receives. */
static void play(int round)
{
    MPI_Request req[N];
    char in[N], out[2] = "";
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int i = 0; i < N; i++) {
        MPI_Irecv(&in[i], 1, MPI_CHAR, 0, i, comm, &req[i]);
        MPI_Send(out, 2, MPI_CHAR, 0, i, comm);
    }
    atomic_store(&begun, round);
    for (int i = 0; i < N; i++) {
        CHECK_EQ(MPI_Wait(&req[i], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    }
    wait_for(&freed, round);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    rounds = argc > 1 ? atoi(argv[1]) : 1;
    test_start(1);
    pthread_create(&thread, NULL, free_comms, NULL);
    for (int i = 1; i <= rounds; i++) {
        play(i);
    }
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
