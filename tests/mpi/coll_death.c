/* Ranks 1 to DEATHS die in the middle of collective operations: the others get an error that says so. usage:
 * mpiexec --keep-going -n RANKS coll_death OPERATION MICROSECONDS COMMUNICATORS DEATHS; each survivor prints
 * "told". An operation with "+" has large blocks, with "=" middling ones. There are five calls on each of the
 * communicators, which get their shared memory meanwhile, and then calls on the last one. */
#include "death.h"

enum { LARGE = 40000, MIDDLE = 2500, CALLS = 5 };
static MPI_Comm comm = MPI_COMM_WORLD;
static double in[8 * LARGE], out[8 * LARGE];

/* One call; the root is the rank that dies, or not. */
static int call(const char *what, int root)
{
    int n = strchr(what, '+') != NULL ? LARGE : strchr(what, '=') != NULL ? MIDDLE : 5;
    if (strncmp(what, "barrier", 7) == 0) {
        return MPI_Barrier(comm);
    }
    if (strncmp(what, "bcast", 5) == 0) {
        return MPI_Bcast(in, n, MPI_DOUBLE, root, comm);
    }
    if (strncmp(what, "allreduce", 9) == 0) {
        return MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_MAX, comm);
    }
    if (strncmp(what, "reduce", 6) == 0) {
        return MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_MAX, root, comm);
    }
    if (strncmp(what, "gather", 6) == 0) {
        return MPI_Gather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, root, comm);
    }
    if (strncmp(what, "scatter", 7) == 0) {
        return MPI_Scatter(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, root, comm);
    }
    if (strncmp(what, "alltoall", 8) == 0) {
        return MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm);
    }
    if (strncmp(what, "ialltoall", 9) == 0) {
        MPI_Request r;
        int code = MPI_Ialltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm, &r);
        return code != MPI_SUCCESS ? code : MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    return MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, comm);
}

int main(int argc, char **argv)
{
    pthread_t killer;
    MPI_Comm *made;
    char words[MPI_MAX_ERROR_STRING];
    int len, code = MPI_SUCCESS, class;
    test_start(2);
    CHECK(argc == 5);
    int n = atoi(argv[3]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < CALLS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    made = calloc((size_t)n + 1, sizeof *made);
    for (int i = 0; i < n; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &made[i]);
    }
    bool doomed = me >= 1 && me <= atoi(argv[4]);
    if (doomed) {
        pthread_create(&killer, NULL, die, argv[2]);
    }
    for (int i = 0; code == MPI_SUCCESS; i++) {
        comm = i < n * CALLS ? made[i / CALLS] : comm;
        code = call(argv[1], i % size);
    }
    if (doomed) {
        pthread_join(killer, NULL); /* one of the others was faster */
    }
    MPI_Error_string(code, words, &len);
    MPI_Error_class(code, &class);
    printf("%s: %s\n", class == MPI_ERR_PROC_ABORTED ? "told" : "wrong", words);
    fflush(stdout);
    _exit(argc < 0);
}
