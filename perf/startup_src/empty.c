/* What starting processes costs anyway. Without an argument: nothing at all, linked to what the ranks are
 * linked to. With N: starts N of itself by fork and exec, all at once, and waits for them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The linker leaves out a library of which nothing is used. */
int (*volatile startup_keep)(int *) = MPI_Initialized;

int main(int argc, char **argv)
{
    int failed = 0, status = 0, n = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < n; i++) {
        pid_t pid = fork();
        if (pid < 0)
            return 1;
        if (pid == 0) {
            execl("/proc/self/exe", argv[0], (char *)NULL);
            _exit(127);
        }
    }
    while (n > 0 && wait(&status) > 0)
        failed |= status;
    return failed != 0;
}
