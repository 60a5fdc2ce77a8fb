/* Any source: several threads of every rank receive from anybody; each message once, nobody starves. */
#include "mpi_test.h"

#define THREADS 3
#define EACH 200

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next_of[64], got[THREADS];

/* Every thread sends EACH messages to every rank, and receives as many as it may. */
static void *run(void *arg)
{
    int t = (int)(intptr_t)arg;
    MPI_Request req[64];
    static int out[THREADS][EACH];
    for (int i = 0; i < EACH; i++) {
        out[t][i] = i;
        for (int r = 0; r < size; r++) {
            MPI_Isend(&out[t][i], 1, MPI_INT, r, t, MPI_COMM_WORLD, &req[r]);
        }
        for (int r = 0; r < size; r++) {
            int v = -1;
            MPI_Status st;
            MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
            CHECK(v >= 0 && v < EACH && st.MPI_TAG < THREADS);
            pthread_mutex_lock(&lock);
            next_of[st.MPI_SOURCE]++;
            got[t]++;
            pthread_mutex_unlock(&lock);
        }
        MPI_Waitall(size, req, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

int main(void)
{
    test_start(1);
    test_threads(THREADS, run);
    for (int r = 0; r < size; r++) {
        CHECK_EQ(next_of[r], THREADS * EACH);
    }
    for (int t = 0; t < THREADS; t++) {
        CHECK_EQ(got[t], size * EACH);
    }
    MPI_Finalize();
    return 0;
}
