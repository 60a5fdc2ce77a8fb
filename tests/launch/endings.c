/* endings MODE: how an MPI program may end, for the launcher's tests. Rank 1 misbehaves. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void misbehave(const char *mode)
{
    int number = 0;
    if (!strcmp(mode, "abort")) {
        printf("last words\n"); /* still in stdio's buffer */
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    if (!strcmp(mode, "exit"))
        exit(0);
    if (!strcmp(mode, "kill"))
        raise(SIGKILL);
    if (!strcmp(mode, "error"))
        MPI_Send(&number, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

/* Children end without touching the job, by exit, by system and by popen. */
static void make_children(void)
{
    char word[16] = "";
    if (!fork())
        exit(3);
    FILE *f = popen("echo child", "r");
    if (wait(NULL) < 0 || system("true") != 0 || !f || !fgets(word, sizeof word, f))
        MPI_Abort(MPI_COMM_WORLD, 2);
    pclose(f);
    printf("had a %s", word);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(mode, "children"))
        make_children();
    if (rank == 1)
        misbehave(mode);
    if (strcmp(mode, "kill") != 0 || argc < 3)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    printf("rank %d finalized\n", rank);
    return !strcmp(mode, "after") && rank == 1 ? 4 : 0;
}
