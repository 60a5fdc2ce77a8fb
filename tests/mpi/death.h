/* A rank that dies, and the others, who must not leave before all are through: an exit is a death, too. */
#ifndef DEATH_H
#define DEATH_H

#include "mpi_test.h"

#include <signal.h>

/* A thread that kills its process after so many microseconds, a string. */
__attribute__((unused)) static void *die(void *microseconds)
{
    usleep((useconds_t)atoi(microseconds));
    raise(SIGKILL);
    return NULL;
}

/* Rank 0 and ranks `first` to `last`, the survivors, wait for each other by messages. */
__attribute__((unused)) static void meet(int first, int last)
{
    for (int from = first; me == 0 && from <= last; from++) {
        MPI_Recv(NULL, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int to = first; me == 0 && to <= last; to++) {
        MPI_Send(NULL, 0, MPI_BYTE, to, 1, MPI_COMM_WORLD);
    }
    if (me != 0) {
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

#endif
