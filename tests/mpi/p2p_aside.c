/* A rank that computes and takes nothing holds up what others send to each other by no message: rank 0 has
 * many under way to rank 1, which waits outside MPI until ranks 0 and 2 have talked. */
#include "mpi_test.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGES = 20000, BYTES = 1000 };

static char data[BYTES];
static MPI_Request requests[MESSAGES];

static void compute_until(const char *file)
{
    while (access(file, F_OK) != 0) {
        usleep(1000);
    }
}

static void talk(int to)
{
    char word = 0;
    MPI_Sendrecv_replace(&word, 1, MPI_CHAR, to, 2, to, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Lets leave what can. */
static void fill_connection(void)
{
    int done = 0;
    for (int i = 0; i < MESSAGES && !done; i++) {
        MPI_Test(&requests[MESSAGES - 1], &done, MPI_STATUS_IGNORE);
    }
}

int main(void)
{
    char file[64];
    test_start(3);
    snprintf(file, sizeof file, "/tmp/p2p_aside.%d", (int)getpid());
    MPI_Bcast(file, sizeof file, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 1; i < 3; i++) { /* who meets first needs help of both */
        if (me == 0 || me == i) {
            talk(i - me);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 1) {
        compute_until(file);
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Recv(data, BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    } else if (me == 0) {
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Isend(data, BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &requests[i]);
        }
        fill_connection();
        talk(2);
        close(open(file, O_CREAT | O_WRONLY, 0600));
        MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    } else if (me == 2) {
        talk(0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        CHECK_EQ(unlink(file), 0);
    }
    MPI_Finalize();
    return 0;
}
