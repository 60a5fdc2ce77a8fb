/* One rank of the start-up benchmark: MPI_Init and MPI_Finalize, and what it shows of itself in between. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Is a library of that name mapped into this process? */
static int is_loaded(const char *name)
{
    char line[4096];
    int found = 0;
    FILE *f = fopen("/proc/self/maps", "re");
    if (!f)
        return 0;
    while (!found && fgets(line, sizeof line, f))
        found = strstr(line, name) != NULL;
    fclose(f);
    return found;
}

/* With the argument "near" libfabric must not be loaded: exit code 9. */
int main(int argc, char **argv)
{
    int rank, loaded = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && !strcmp(argv[1], "near"))
        loaded = is_loaded("libfabric");
    if (loaded)
        printf("rank %d: libfabric is loaded\n", rank);
    MPI_Finalize();
    return loaded ? 9 : 0;
}
