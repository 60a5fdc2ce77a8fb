/* Waits that must not hang: a wait progresses everything, Isend never waits for room, delegated receives are
 * not forgotten. */
#include "mpi_test.h"

#include <sys/stat.h>

/* Rank 3 preposts many receives from rank 1, then waits for rank 2, which waits for rank 1. */
static void wait_polls_everything(void)
{
    enum { N = 1500 };
    static int buf[N];
    MPI_Request req[N];
    int v = 0;
    if (me == 3) {
        for (int i = 0; i < N; i++) {
            MPI_Irecv(&buf[i], 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &req[i]);
        }
        MPI_Recv(&v, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQ(v, 99);
        MPI_Waitall(N, req, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++) {
            CHECK_EQ(buf[i], i);
        }
    } else if (me == 1) {
        for (int i = 0; i < N; i++) {
            MPI_Send(&i, 1, MPI_INT, 3, 1, MPI_COMM_WORLD);
        }
        v = 98;
        MPI_Send(&v, 1, MPI_INT, 2, 2, MPI_COMM_WORLD);
    } else if (me == 2) {
        MPI_Recv(&v, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        v++;
        MPI_Send(&v, 1, MPI_INT, 3, 2, MPI_COMM_WORLD);
    }
}

/* More Isends than any ring holds; then the sender writes the file that the receiver waits for outside MPI.
 */
static void isend_never_waits(const char *file)
{
    enum { N = 3000 };
    static int buf[N];
    static MPI_Request req[N];
    if (me == 0) {
        for (int i = 0; i < N; i++) {
            buf[i] = i;
            MPI_Isend(&buf[i], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &req[i]);
        }
        FILE *f = fopen(file, "w");
        CHECK(f != NULL);
        fclose(f);
        MPI_Waitall(N, req, MPI_STATUSES_IGNORE);
    } else if (me == 1) {
        struct stat st;
        while (stat(file, &st) != 0) {
            usleep(1000);
        }
        for (int i = 0; i < N; i++) {
            int v = -1;
            MPI_Recv(&v, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQ(v, i);
        }
        unlink(file);
    }
}

/* Threads that post while another owns the inbox and goes to sleep. */
#define ROUNDS 300
#define THREADS 6

static void *delegate(void *arg)
{
    int t = (int)(intptr_t)arg, v = -1;
    for (int i = 0; i < ROUNDS; i++) {
        if (me == 0) {
            v = i;
            MPI_Ssend(&v, 1, MPI_INT, 1, 10 + t, MPI_COMM_WORLD);
        } else if (me == 1) {
            MPI_Recv(&v, 1, MPI_INT, 0, 10 + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK_EQ(v, i);
        }
    }
    return NULL;
}

int main(void)
{
    char file[256];
    long id = (long)getpid();
    test_start(2);
    MPI_Bcast(&id, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    const char *tmp = getenv("TMPDIR");
    snprintf(file, sizeof(file), "%s/hotlane-test-%ld", tmp != NULL ? tmp : "/tmp", id);
    if (size >= 4) {
        wait_polls_everything();
    }
    isend_never_waits(file);
    if (me < 2) {
        test_threads(THREADS, delegate);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
