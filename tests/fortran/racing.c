/* Threads that call from Fortran, for ThreadSanitizer: racing.f90 has what each does, on a communicator of its
 * own. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4 };

/* racing.f90 */
void racing_begin(int threads);
void racing_end(void);
int racing_work(int thread, int comm);

static struct worker {
    pthread_t thread;
    MPI_Comm comm;
    int number, wrong;
} workers[THREADS];

static void *work(void *arg)
{
    struct worker *me = arg;

    me->wrong = racing_work(me->number, MPI_Comm_toint(me->comm));
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, wrong = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    racing_begin(THREADS);
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    }
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            perror("pthread_create");
            return 1;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        wrong += workers[i].wrong;
        MPI_Comm_free(&workers[i].comm);
    }
    racing_end();
    MPI_Finalize();
    if (wrong != 0) {
        printf("%d elements are wrong\n", wrong);
    }
    return wrong != 0;
}
